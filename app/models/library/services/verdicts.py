"""Judges for every list which of its models fit into this computer's memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from app.models.library.services.library import Library
from app.models.library.services.load_options import load_options_of
from app.models.library.values.entry import ModelEntry
from app.models.library.values.memory_use import Fits
from app.settings.values.fields import Settings
from engines.errors import UserError
from engines.hardware import Hardware

if TYPE_CHECKING:
    from app.models.library.services.fitting import FitReport, Fitting
    from engines.memory.load_options import LoadOptions


class Verdicts:
    """The verdicts on models for lists, from the rules by which they are loaded.

    Do not call it on the UI thread: it detects the memory that is free, and reads the headers of
    models whose size alone does not decide.

    Args:
        fitting: Returns the judge of llama.cpp's models.
        judge: Judges a model of another engine.
        hardware: Returns the computer as it would be without the models that Hearth has loaded.
    """

    def __init__(
        self,
        library: Library,
        fitting: Callable[[], Fitting],
        judge: Callable[[ModelEntry, LoadOptions], FitReport],
        hardware: Callable[[], Hardware],
    ) -> None:
        self._library = library
        self._fitting = fitting
        self._judge = judge
        self._hardware = hardware

    def of(self, entries: Sequence[ModelEntry], settings: Settings) -> dict[str, Fits]:
        """Return the verdicts by id; a model that cannot be judged has none."""
        hardware = self._hardware()
        found: dict[str, Fits] = {}
        for entry in entries:
            if entry.on_server:
                continue
            try:
                found[entry.id] = self._verdict(entry, settings, hardware)
            except UserError:
                continue  # its row says why its file cannot be read
        return found

    def _verdict(self, entry: ModelEntry, settings: Settings, hardware: Hardware) -> Fits:
        options = load_options_of(self._library.effective(entry, settings), entry.engine)
        if entry.engine != "llamacpp":
            return self._judge(entry, options).fit.verdict
        drafter = partial(self._library.drafter_for, entry)
        return self._fitting().listed(entry, options, hardware, drafter)
