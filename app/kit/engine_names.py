"""The names of the engines as the user sees them."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.base.engine_names import PROPER_NAMES
from engines.sentences import N_
from engines.types import EngineName


def engine_name(engine: EngineName) -> str:
    """Return the proper name of an engine, or "Another server" if it has none."""
    return PROPER_NAMES.get(engine) or QCoreApplication.translate("engines", N_("Another server"))
