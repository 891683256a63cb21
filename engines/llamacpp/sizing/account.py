"""Reads from llama.cpp's log which memory it uses. Pure.

A real load names each buffer with its size. Without allocation, the buffers of weights and caches
have no size; then a cache reports its total, and nothing is reported for the weights. See
`Account`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from engines.memory.buffers import CPU, Buffers, DeviceBuffers

_MIB: Final = 1 << 20
_BUFFER: Final = re.compile(
    r"^\w+: +(\S+) +(model|KV|RS|output|compute) buffer size = +([\d.]+) MiB"
)
_CACHE: Final = re.compile(r"^llama_kv_cache: size = +([\d.]+) MiB")
_ASSIGNED: Final = re.compile(r"^load_tensors: layer +(\d+) assigned to device (\S+),")
_MODEL: Final = "llama_model_loader: loaded meta data"
_CONTEXT: Final = "llama_context: constructing llama_context"
_RESERVED: Final = "sched_reserve: reserve took"
_PROJECTOR: Final = "reserve_compute_meta:"
_MAPPED: Final = "_Mapped"


@dataclass
class ModelMemory:
    """The memory of one model and its context, in bytes by the names of buffers.

    Attributes:
        weights: The weights.
        kv: The KV caches.
        state: The recurrent states.
        compute: The buffers for computing and output.
        caches: The total of the KV caches that have their own buffers. A context that shares the
            cache of another one names it, but allocates none.
    """

    weights: dict[str, int] = field(default_factory=dict)
    kv: dict[str, int] = field(default_factory=dict)
    state: dict[str, int] = field(default_factory=dict)
    compute: dict[str, int] = field(default_factory=dict)
    caches: int = 0


@dataclass
class Account:
    """The memory of a model and of its drafter, as a log reports it.

    Attributes:
        model: The memory of the model.
        drafter: The memory of the drafter.
        assigned: The device of each layer of the model; the output counts as one more layer.
    """

    model: ModelMemory
    drafter: ModelMemory
    assigned: Mapping[int, str]


def read_account(lines: Iterable[str]) -> Account:
    """Read a log from before a model is loaded until after its contexts are created."""
    model, drafter = ModelMemory(), ModelMemory()
    assigned: dict[int, str] = {}
    models = contexts = 0
    owned = reserved = False
    for line in lines:
        if line.startswith(_MODEL):
            models += 1
        elif line.startswith(_CONTEXT):
            contexts += 1
            reserved = False
        # Later sizes come from a context that plans its memory again after a change. They are
        # skipped, as the log does not tell which of two contexts that is.
        reserved = reserved or line.startswith(_RESERVED)
        part = drafter if models > 1 or contexts > 1 else model
        if line.startswith(_PROJECTOR):
            continue  # this is a projector's memory, whose weights are not reported either
        if found := _BUFFER.match(line):
            name, kind, size = found[1], found[2], round(float(found[3]) * _MIB)
            if reserved and kind == "compute":
                continue
            sizes = {"model": part.weights, "KV": part.kv, "RS": part.state}.get(kind, part.compute)
            sizes[name] = sizes.get(name, 0) + size
            owned = owned or kind == "KV"
        elif found := _CACHE.match(line):
            part.caches += round(float(found[1]) * _MIB) if owned else 0
            owned = False
        elif models <= 1 and (found := _ASSIGNED.match(line)):
            assigned[int(found[1])] = device_of(found[2])
    return Account(model, drafter, assigned)


def device_of(buffer: str) -> str:
    """Return the device that a buffer or its type is named after.

    Buffers laid out for the processor, or kept for a card in the computer's own memory, are "CPU".
    """
    if buffer.startswith(CPU) or buffer.endswith("_Host") or buffer == "AMX":
        return CPU
    return buffer.removesuffix(_MAPPED)


def allocated(account: Account) -> Buffers:
    """Return the buffers of a real load."""
    model, drafter = account.model, account.drafter
    names = {device_of(name) for sizes in _sizes(model) + _sizes(drafter) for name in sizes}
    mapped = [
        {name: size for name, size in part.weights.items() if name.endswith(_MAPPED)}
        for part in (model, drafter)
    ]
    return Buffers(
        tuple(
            DeviceBuffers(
                device,
                weights=on(device, model.weights),
                kv=on(device, model.kv, model.state),
                compute=on(device, model.compute),
                drafter=on(device, *_sizes(drafter)),
                mapped=on(device, *mapped),
            )
            for device in sorted(names | {CPU})
        )
    )


def on(device: str, *sizes: Mapping[str, int]) -> int:
    """Return the total bytes on one device."""
    return sum(size for each in sizes for name, size in each.items() if device_of(name) == device)


def _sizes(part: ModelMemory) -> list[dict[str, int]]:
    return [part.weights, part.kv, part.state, part.compute]
