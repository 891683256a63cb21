"""The composition root: the only place that makes stores, services and engines.

`core` makes what window and terminal share, `window` what the window has besides. The other
modules each make one part of these.
"""

from app.wiring.core import Core, complete, hardware, open_core
from app.wiring.shipped import CATALOGUE, STARTER, STARTER_DRAFTER

__all__ = [
    "CATALOGUE",
    "STARTER",
    "STARTER_DRAFTER",
    "Core",
    "complete",
    "hardware",
    "open_core",
]
