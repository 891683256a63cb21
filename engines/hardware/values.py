"""The hardware of a computer as values. Sizes are bytes; None means that nobody could tell."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NativeDevice:
    """A device as llama.cpp's own list has it; handed to `detect` by whoever loaded llama.cpp.

    kind: "cpu", "gpu", "igpu" or "accelerator". pci_id: as in 0000:01:00.0.
    why_not: one sentence, where it is there but must not be used.
    """

    name: str
    description: str
    backend: str
    kind: str
    total_bytes: int
    free_bytes: int
    pci_id: str | None = None
    why_not: str = ""

    @property
    def is_card(self) -> bool:
        """Whether it is graphics: a card, or a part of the processor."""
        return self.kind in {"gpu", "igpu"}


@dataclass(frozen=True)
class Cpu:
    """The processor: its cores, and those that this process may use.

    physical_cores, logical_cores: of the computer.

    usable_threads: logical cores this process may keep busy, by its affinity and by the limits
    of the container it runs in; at least 1.
    usable_cores, performance_cores: physical cores it may run on; the second without the slow
    ones of a hybrid processor.
    features: instruction sets that matter to llama.cpp, in its spelling.
    """

    name: str
    physical_cores: int
    logical_cores: int
    usable_threads: int
    usable_cores: int
    performance_cores: int
    features: tuple[str, ...] = ()


@dataclass(frozen=True)
class Memory:
    """The computer's memory, in bytes.

    available_bytes: what can be used now without swapping, the container's limit considered.

    limit_bytes: the container's limit, None if there is none below the total.
    """

    total_bytes: int
    available_bytes: int
    limit_bytes: int | None = None


@dataclass(frozen=True)
class Gpu:
    """A graphics card or an integrated graphics unit.

    vendor: "nvidia", "amd", "intel", "apple" or "other".
    backend: the part of llama.cpp that would use it, such as "CUDA"; "" if this build has none.
    integrated: its memory is a share of the computer's.
    why_not: one sentence, when it is not usable. device: its name in llama.cpp, "" if it has none.
    capability: of NVIDIA's computing units, None where it is not known. shows: a screen is drawn
    by it. hidden: the environment keeps it from programs that compute (CUDA_VISIBLE_DEVICES).
    """

    name: str
    vendor: str
    backend: str
    total_bytes: int | None
    free_bytes: int | None
    integrated: bool
    driver: str
    usable: bool
    why_not: str = ""
    pci_id: str | None = None
    device: str = ""
    capability: tuple[int, int] | None = None
    shows: bool = False
    hidden: bool = False


@dataclass(frozen=True)
class Hardware:
    """A computer. os: its system and the kind of processor. notes: sentences for the user."""

    os: str
    cpu: Cpu
    memory: Memory
    gpus: tuple[Gpu, ...] = ()
    notes: tuple[str, ...] = ()
