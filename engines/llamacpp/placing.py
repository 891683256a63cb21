"""Places a plan's layers on llama.cpp's devices or in the computer's own memory."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

from engines.errors import EngineFailed
from engines.llamacpp.native import Native
from engines.memory.formula.weights import EXPERTS
from engines.sentences import N_
from engines.types import LlamaPlan


class _Override(ctypes.Structure):
    """`struct llama_model_tensor_buft_override` in llama.h."""

    _fields_ = (("pattern", ctypes.c_char_p), ("buffer_type", ctypes.c_void_p))


@dataclass(frozen=True)
class TensorPlacement:
    """The placement of a model's tensors.

    Attributes:
        devices: For `devices` of llama_model_params.
        overrides: For `tensor_buft_overrides` of llama_model_params.
        arrays: The arrays that the pointers refer to.
    """

    devices: ctypes.c_void_p | None
    overrides: ctypes.c_void_p | None
    arrays: list[Any] = field(repr=False)


def placement_of(native: Native, plan: LlamaPlan) -> TensorPlacement:
    """Return the placement for a plan; load the cards' back ends if the plan uses any.

    Raises:
        EngineFailed: A device of the plan does not exist.
    """
    if plan.gpu_layers == 0:
        nothing = (ctypes.c_void_p * 1)()
        return TensorPlacement(ctypes.cast(nothing, ctypes.c_void_p), None, [nothing])
    native.load_cards()
    arrays: list[Any] = []
    devices = overrides = None
    if plan.devices:
        # Ends with a null pointer, as does the array of overrides.
        named = (ctypes.c_void_p * (len(plan.devices) + 1))(
            *(_device(native, plan, name) for name in plan.devices)
        )
        arrays.append(named)
        devices = ctypes.cast(named, ctypes.c_void_p)
    if plan.experts_in_ram:
        patterns = _overrides(native.own_memory(), plan.experts_in_ram)
        arrays.append(patterns)
        overrides = ctypes.cast(patterns, ctypes.c_void_p)
    return TensorPlacement(devices, overrides, arrays)


def _device(native: Native, plan: LlamaPlan, name: str) -> int:
    address = native.device(name)
    if address is None:
        raise EngineFailed(
            N_("“{name}” could not be loaded.", name=plan.model.name),
            N_("This computer has no device {name}.", name=name),
            N_("Look at the devices in the settings, and choose another."),
        )
    return address


def _overrides(memory: int, layers: int) -> Any:
    """Return a pattern for the experts of each of the first layers, with their buffer type."""
    patterns = [rf"blk\.{layer}\.{EXPERTS}".encode() for layer in range(layers)]
    return (_Override * (layers + 1))(*(_Override(pattern, memory) for pattern in patterns))
