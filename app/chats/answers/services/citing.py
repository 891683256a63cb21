"""Checks the quotes in answers against the files of their chat."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final

from app.chats.answers.services.grounding import Grounding
from app.chats.history.values.conversation import StoredMessage
from app.documents.citations.values import CheckedAnswer, CitationCheck, CopyState

_MOST_CHECKS: Final = 2
"""How many prepared sets of files stay in memory; a chat has one or a few."""

_Files = tuple[tuple[str, str], ...]


class Citing:
    """Checks answers against their files. Qt-free; usable from any thread.

    Args:
        state_of: Returns the state of the stored copy of a file, given the file's hash.
    """

    def __init__(self, grounding: Grounding, state_of: Callable[[str], CopyState]) -> None:
        self._grounding = grounding
        self._state_of = state_of
        self._lock = threading.Lock()
        self._checks: dict[_Files, tuple[CitationCheck, tuple[str, ...]]] = {}

    def check(self, path: Sequence[StoredMessage], text: str) -> CheckedAnswer:
        """Check the answer at the end of a path.

        Args:
            text: The answer's words as the user reads them.
        """
        with self._lock:
            check, missing = self._prepared(path)
            citations = check.check(text)
        hashes = {citation.document for citation in citations if citation.document}
        return CheckedAnswer(
            citations, {sha256: self._state_of(sha256) for sha256 in hashes}, missing
        )

    def _prepared(self, path: Sequence[StoredMessage]) -> tuple[CitationCheck, tuple[str, ...]]:
        """Return the check against a path's files, and the names of missing files."""
        names = {source.document: source.name for message in path for source in message.sources}
        names |= {
            attachment.sha256: attachment.name
            for message in path
            for attachment in message.attachments
        }
        key = tuple(names.items())
        if key not in self._checks:
            files = self._grounding.files(path)
            present = {file.document.sha256 for file in files}
            missing = tuple(name for sha256, name in names.items() if sha256 not in present)
            self._checks[key] = CitationCheck(files), missing
            if len(self._checks) > _MOST_CHECKS:
                del self._checks[next(iter(self._checks))]
        return self._checks[key]
