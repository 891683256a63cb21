"""Computers to recommend models for: their free memory, and the models that suit them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from engines.hardware import Cpu, Gpu, Hardware, Memory
from engines.hardware.bandwidth import Bandwidth

GIB = 1 << 30
CPU = Cpu("Processor", 8, 16, 16, 8, 8, ("avx2",))
TINY = ("Qwen 3.5 0.8B", "Qwen 3.5 2B")
SMALL = ("Gemma 4 E2B",)
MEDIUM = ("Gemma 4 E4B",)
TWELVE = ("Gemma 4 12B",)
TWENTY = ("Gemma 4 12B", "gpt-oss 20B")
MOE = ("Gemma 4 26B-A4B",)
LARGE_MOE = ("Gemma 4 26B-A4B", "Qwen 3.6 35B-A3B")
DENSE = ("Qwen 3.6 27B",)
HUGE = ("gpt-oss 120B", "Qwen 3.6 35B-A3B")


@dataclass(frozen=True)
class Machine:
    """A computer, and the recommendation that it should get.

    Attributes:
        total: Its memory, in GiB.
        free: The free part of its memory, in GiB.
        limit: The limit on its memory, in GiB.
        rate: The bandwidth of its memory, in GB/s.
        rates: The bandwidth of its cards, in GB/s.
        suits: The models of which one must be the default; empty if no model fits.
        device: The device on which the default must run.
        says: Words that the note must contain.
    """

    name: str
    total: float
    free: float
    rate: float
    suits: tuple[str, ...]
    device: str = "processor"
    gpus: tuple[Gpu, ...] = ()
    rates: dict[str, float] = field(default_factory=dict)
    limit: float | None = None
    disk: float = 500.0
    says: str = ""
    os: str = "Linux"

    @property
    def hardware(self) -> Hardware:
        limit = int(self.limit * GIB) if self.limit else None
        memory = Memory(int(self.total * GIB), int(self.free * GIB), limit)
        return Hardware(self.os, CPU, memory, self.gpus)

    @property
    def bandwidth(self) -> Bandwidth:
        cards = tuple((name, rate * 1e9) for name, rate in self.rates.items())
        return Bandwidth(self.rate * 1e9, cards)


def card(name: str, total: float, free: float | None = None, vendor: str = "nvidia") -> Gpu:
    """Return a graphics card with this much memory in total and free, in GiB."""
    backend = "CUDA" if vendor == "nvidia" else "Vulkan"
    available = total - 0.5 if free is None else free
    return Gpu(name, vendor, backend, int(total * GIB), int(available * GIB), False, "", True)


def unit(total: float, free: float, name: str = "Integrated graphics") -> Gpu:
    """Return integrated graphics, which may use half of the computer's memory."""
    half = int(total * GIB / 2)
    return Gpu(name, "intel", "Vulkan", half, min(half, int(free * GIB)), True, "", True)


def mac(total: float, free: float, rate: float, suits: Sequence[str], name: str = "") -> Machine:
    allowed = total * GIB * (2 / 3 if total < 40 else 3 / 4)
    gpu = Gpu(
        "Apple M", "apple", "Metal", int(allowed), int(min(allowed, free * GIB)), True, "", True
    )
    return Machine(
        name or f"Apple {total:.0f} GB",
        total,
        free,
        rate,
        tuple(suits),
        "graphics card" if suits else "processor",
        (gpu,),
        os="macOS",
    )


def with_card(
    total: float,
    rate: float,
    suits: Sequence[str],
    name: str = "",
    *,
    ram: float = 32,
    free: float = 26,
    own: float = 45,
    device: str = "graphics card",
    count: int = 1,
) -> Machine:
    gpus = tuple(card("Card", total) for _ in range(count))
    return Machine(
        name or f"card {total:.0f} GB",
        ram,
        free,
        own,
        tuple(suits),
        device,
        gpus,
        {"Card": rate},
    )


UNUSABLE = Gpu(
    "GeForce RTX 3060",
    "nvidia",
    "",
    12 * GIB,
    11 * GIB,
    False,
    "NVIDIA 580",
    False,
    "This build of llama.cpp does not support NVIDIA cards (CUDA or Vulkan).",
)

SPLIT = "graphics card and processor"

MACHINES = (
    Machine("8 GB laptop", 8, 4.6, 35, SMALL),
    Machine("8 GB laptop, little else open", 8, 5.5, 35, SMALL),
    Machine("8 GB laptop, old and slow", 8, 5.0, 15, SMALL),
    Machine("8 GB laptop, busy", 8, 2.2, 35, TINY, says="closed"),
    Machine("8 GB laptop, full", 8, 0.5, 35, (), says="No model"),
    Machine("12 GB laptop", 12, 8, 40, MEDIUM),
    Machine("16 GB laptop", 16, 10.5, 40, MEDIUM),
    Machine("16 GB laptop, busy", 16, 5.0, 40, SMALL, says="closed"),
    Machine("16 GB laptop, fast memory", 16, 11, 80, MEDIUM),
    Machine("16 GB laptop, 2015", 16, 11, 18, (*TINY, *SMALL)),
    Machine("24 GB laptop", 24, 19.5, 60, MOE),
    Machine("32 GB laptop", 32, 26, 45, MOE),
    Machine("32 GB laptop, 22 GB free", 32, 22, 50, MOE),
    Machine("64 GB desktop", 64, 57, 50, LARGE_MOE),
    Machine("128 GB workstation", 128, 118, 120, HUGE),
    Machine("512 GB server without cards", 512, 490, 250, HUGE),
    Machine("16 GB with integrated graphics", 16, 10.5, 45, MEDIUM, "graphics card",
            (unit(16, 10.5),)),
    Machine("32 GB with integrated graphics", 32, 26, 70, MOE, "graphics card", (unit(32, 26),)),
    Machine("64 GB with integrated graphics", 64, 57, 90, LARGE_MOE, "processor",
            (unit(64, 57),)),
    mac(8, 4.5, 60, SMALL),
    mac(8, 1.8, 60, TINY, "Apple 8 GB, busy"),
    mac(16, 10.5, 60, MEDIUM),
    mac(24, 17, 100, TWENTY),
    mac(36, 27, 120, MOE),
    mac(64, 52, 170, LARGE_MOE),
    mac(96, 84, 200, (*DENSE, *LARGE_MOE)),
    mac(128, 112, 220, HUGE),
    mac(512, 480, 300, HUGE, "Apple 512 GB"),
    with_card(1, 14, MOE, "1 GB card beside 32 GB", device="processor"),
    Machine("card that tells no memory", 32, 26, 45, MOE, "processor",
            (replace(card("Card", 12), total_bytes=None, free_bytes=None),),
            says="does not say how much memory it has"),
    with_card(2, 48, MEDIUM, "2 GB card beside 16 GB", ram=16, free=11, own=40,
              device="processor"),
    with_card(4, 128, SMALL, "4 GB card", ram=16, free=11),
    with_card(6, 192, (*SMALL, *LARGE_MOE), "GTX 1060 6 GB", own=30, device=SPLIT),
    with_card(6, 192, SMALL, "GTX 1060 6 GB beside 8 GB", ram=8, free=4.5, own=25),
    with_card(8, 272, MEDIUM),
    with_card(8, 272, MEDIUM, "8 GB card beside 64 GB, 50 free", ram=64, free=50),
    with_card(8, 272, MEDIUM, "8 GB card beside 64 GB of fast memory", ram=64, free=50, own=70),
    with_card(12, 360, TWELVE),
    with_card(12, 360, TWELVE, "12 GB card beside 8 GB", ram=8, free=5),
    with_card(16, 448, TWENTY),
    with_card(24, 936, DENSE),
    with_card(32, 1792, DENSE),
    with_card(48, 960, DENSE),
    with_card(80, 3350, HUGE, ram=256, free=240),
    with_card(24, 936, DENSE, "two cards of 24 GB", count=2),
    with_card(12, 360, DENSE, "two cards of 12 GB", count=2),
    with_card(80, 3350, HUGE, "eight cards of 80 GB", count=8, ram=1024, free=900),
    Machine("24 GB card, half in use by a game", 32, 24, 45, TWENTY, "graphics card",
            (card("Card", 24, 14.5),), {"Card": 936}),
    Machine("card of 16 GB of which nothing is known", 32, 26, 45, TWENTY, "graphics card",
            (card("Radeon", 16, vendor="amd"),)),
    Machine("card that this build cannot use", 32, 26, 45, MOE, "processor", (UNUSABLE,),
            says="is not used"),
    Machine("WSL with half of 32 GB", 16, 13.5, 45, MEDIUM, os="Ubuntu on WSL"),
    Machine("WSL with a card", 16, 13.5, 45, TWELVE, "graphics card", (card("Card", 12),),
            {"Card": 360}, os="Ubuntu on WSL"),
    Machine("container of 4 GB on a large server", 256, 3.7, 60, SMALL, limit=4, says="container"),
    Machine("container of 16 GB on a large server", 256, 15, 60, TWENTY, limit=16),
    Machine("board with 4 GB", 4, 2.9, 10, TINY),
    Machine("board with 8 GB", 8, 6.8, 14, TINY),
    Machine("board with 1 GB", 1, 0.6, 5, (), says="No model"),
    Machine("16 GB laptop with a full disk", 16, 10.5, 40, MEDIUM, disk=1.0, says="The disk"),
)  # fmt: skip
