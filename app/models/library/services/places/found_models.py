"""Finds all models on this computer, and searches again only where something has changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from app.models.library.services.places.folders import scan_folder
from app.models.library.services.places.gpt4all import scan_gpt4all
from app.models.library.services.places.hub_cache import scan_hub
from app.models.library.services.places.jan import scan_jan
from app.models.library.services.places.lm_studio import scan_lm_studio
from app.models.library.services.places.ollama import scan_ollama
from app.models.library.services.places.places import Places
from app.models.library.services.places.scan import (
    INVALID_NAME,
    FoundModel,
    Inode,
    Scan,
    changed,
    is_text,
    skipped,
)
from engines.sentences import N_

_SETTLED_NS: Final = 2_000_000_000
"""A folder that changed less than this before a scan can change again without a new time stamp."""

_NEVER: Final = -1
"""The stamp of a place that is scanned again each time."""

_ScanPlace = Callable[[], Scan]


class FoundModels:
    """The models found in all places; for use from any thread.

    Args:
        own: Hearth's folder of models.
        further: Returns the folders that the settings name at the moment.
    """

    def __init__(self, places: Places, own: Path, further: Callable[[], Sequence[Path]]) -> None:
        self._places = places
        self.own = own
        self._further = further
        self._lock = threading.Lock()
        self._scans: dict[tuple[str, object], tuple[Scan, int]] = {}
        self._models: tuple[FoundModel, ...] = ()

    @property
    def hub(self) -> Path:
        """The folder of the Hub's cache."""
        return self._places.hub

    def models(self) -> tuple[FoundModel, ...]:
        """Return each file once, however many paths lead to it.

        The same tuple is returned as long as nothing changes.
        """
        with self._lock:
            scanners = self._scanners()
            stale = {
                key: scan_place for key, scan_place in scanners.items() if not self._is_current(key)
            }
            removed = self._scans.keys() - scanners.keys()
            if stale or removed:
                for key in removed:
                    del self._scans[key]
                for key, scan_place in stale.items():
                    self._scans[key] = (_scan_or_skip(scan_place), time.time_ns())
                models_now = _unique(
                    [model for key in scanners for model in self._scans[key][0].models]
                )
                # Keep the tuple if the list is equal, so that callers can compare by identity.
                if models_now != self._models:
                    self._models = models_now
            return self._models

    def drafters(self) -> list[Path]:
        """Return files that draft for some model, as found by the last search.

        This is called for each model, so it does not search again.
        """
        if not self._scans:
            self.models()
        with self._lock:
            return [path for scan, _ in self._scans.values() for path in scan.drafters]

    def draft_checkpoints(self) -> list[Path]:
        """Return checkpoints that draft for others, as found by the last search."""
        if not self._scans:
            self.models()
        with self._lock:
            return [path for scan, _ in self._scans.values() for path in scan.draft_checkpoints]

    def notes(self) -> list[str]:
        """Return a sentence for each thing that could not be listed."""
        self.models()
        with self._lock:
            return [note for scan, _ in self._scans.values() for note in scan.notes]

    def refresh(self) -> None:
        """Scan every place again at the next request for models."""
        with self._lock:
            self._scans.clear()

    def _scanners(self) -> dict[tuple[str, object], _ScanPlace]:
        """Return the places to scan; a file in several places counts for the first of them."""
        places = self._places
        scanners: dict[tuple[str, object], _ScanPlace] = {
            # The cache comes first: only there does every file have a known origin.
            ("hub", places.hub): partial(scan_hub, places.hub),
            ("own", self.own): partial(scan_folder, self.own),
        }
        for folder in self._further():
            scanners["further", folder] = partial(scan_folder, folder)
        scanners["lmstudio", None] = partial(scan_lm_studio, places.lm_studio)
        scanners["jan", None] = partial(scan_jan, places.jan)
        scanners["gpt4all", None] = partial(scan_gpt4all, places.gpt4all, places.gpt4all_settings)
        for folder in places.ollama:
            scanners["ollama", folder] = partial(scan_ollama, folder)
        return scanners

    def _is_current(self, key: tuple[str, object]) -> bool:
        if key not in self._scans:
            return False
        scan, scanned_at = self._scans[key]
        return all(
            changed(folder) == stamp and (stamp is None or stamp < scanned_at - _SETTLED_NS)
            for folder, stamp in scan.seen.items()
        )


def _scan_or_skip(scan_place: _ScanPlace) -> Scan:
    """Scan a place; if it changes meanwhile or is forbidden, skip it with a note.

    A file whose name is not valid text is skipped too, because nothing about it could be stored.
    """
    try:
        scan = scan_place()
    except OSError as error:
        place = Path(str(error.filename))
        return Scan(notes=[skipped(place, error)], seen={place: _NEVER})
    nameless = [model for model in scan.models if not is_text(f"{model.identity} {model.files[0]}")]
    return replace(
        scan,
        models=[model for model in scan.models if model not in nameless],
        drafters=[path for path in scan.drafters if is_text(str(path))],
        notes=scan.notes
        + [
            N_("{file} was skipped: {reason}", file=model.files[0], reason=INVALID_NAME)
            for model in nameless
        ],
    )


def _unique(models: Sequence[FoundModel]) -> tuple[FoundModel, ...]:
    """Keep the first path to each file.

    Repositories on the Hub that hold the same bytes stay separate models, because users ask for
    each by its name.
    """
    repos: dict[Inode, set[str | None]] = {}
    identities: set[str] = set()
    unique: list[FoundModel] = []
    for model in models:
        before = repos.setdefault(model.inode, set())
        another = model.source == "hub" and model.repo not in before
        if (not before or another) and model.identity not in identities:
            identities.add(model.identity)
            unique.append(model)
        before.add(model.repo)
    return tuple(unique)
