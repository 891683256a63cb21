"""The hardware of a computer as values. Sizes are in bytes; None means unknown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NativeDevice:
    """A device in llama.cpp's own list, which the caller that loaded llama.cpp gives to `detect`.

    Attributes:
        kind: "cpu", "gpu", "igpu" or "accelerator".
        pci_id: PCI address, such as 0000:01:00.0.
        why_not: One sentence on why it must not be used, or "".
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
        """True if it is graphics: a card, or a part of the processor."""
        return self.kind in {"gpu", "igpu"}


@dataclass(frozen=True)
class Cpu:
    """The processor: its cores, and those that this process can use.

    Attributes:
        physical_cores: Physical cores of the computer.
        logical_cores: Logical cores of the computer.
        usable_threads: Logical cores that this process can keep busy, by its affinity and its
            container's limits; at least 1.
        usable_cores: Physical cores that it can run on.
        performance_cores: The same without the slow cores of a hybrid processor.
        features: Instruction sets that matter to llama.cpp, in its spelling.
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

    Attributes:
        available_bytes: Memory that can be used now without swapping, within the container's limit.
        limit_bytes: The container's limit; None if there is none below the total.
    """

    total_bytes: int
    available_bytes: int
    limit_bytes: int | None = None


@dataclass(frozen=True)
class Gpu:
    """A graphics card or an integrated graphics unit.

    Attributes:
        vendor: "nvidia", "amd", "intel", "apple" or "other".
        backend: Part of llama.cpp that would use it, such as "CUDA"; "" if this build has none.
        integrated: Its memory is a part of the computer's.
        usable: llama.cpp can use it.
        why_not: One sentence on why it is not usable, or "".
        device: Its name in llama.cpp, or "".
        capability: CUDA compute capability; None if unknown.
        shows: It draws a screen.
        hidden: CUDA_VISIBLE_DEVICES hides it from programs that compute.
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
    """A computer.

    Attributes:
        os: Its operating system and architecture.
        notes: Sentences for the user.
    """

    os: str
    cpu: Cpu
    memory: Memory
    gpus: tuple[Gpu, ...] = ()
    notes: tuple[str, ...] = ()
