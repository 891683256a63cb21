"""The files behind answers: copies of attached ones, and those of collections where they lie."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

from app.core.citations import CopyState
from app.services.documents import Documents
from app.services.knowledge.knowledge import Knowledge


class FileOriginals:
    """Finds files by their hashes. Qt-free; from any thread."""

    def __init__(self, documents: Documents, knowledge: Knowledge) -> None:
        self._documents = documents
        self._knowledge = knowledge
        self._lock = threading.Lock()
        self._hashes: dict[tuple[Path, int, int], str] = {}

    def state_of(self, sha256: str) -> CopyState:
        """Tell whether a file is still what was read; each is hashed once, until it changes."""
        state = self._documents.state_of(sha256)
        path = self._knowledge.path_of(sha256) if state == "missing" else None
        if path is None:
            return state
        try:
            return "here" if self._hash(path) == sha256 else "changed"
        except OSError:
            return "missing"

    def copy_of(self, sha256: str) -> Path | None:
        """Return where a file lies; None where it is not there."""
        return self._documents.copy_of(sha256) or self._knowledge.path_of(sha256)

    def _hash(self, path: Path) -> str:
        facts = path.stat()
        key = (path, facts.st_size, facts.st_mtime_ns)
        with self._lock:
            known = self._hashes.get(key)
        if known is None:
            with path.open("rb") as file:
                known = hashlib.file_digest(file, "sha256").hexdigest()
            with self._lock:
                self._hashes[key] = known
        return known
