"""Checks the quotes in answers against the files of their chat."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.chats.answers.services.grounding import Grounding
from app.chats.history.values.conversation import StoredMessage
from app.documents.citations.values import (
    CheckedAnswer,
    CitationCheck,
    CopyState,
    GivenPassage,
)
from app.documents.values.documents import Document, PromptSource, TextSpan

_MOST_CHECKS: Final = 2
"""How many prepared sets of files stay in memory; a chat has one or a few."""

_BEGINNING: Final = 300
"""Characters of a passage that are shown where it can be opened."""

_Files = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Prepared:
    """A set of files, ready for the check of answers.

    Attributes:
        documents: The files by SHA-256.
        missing: The names of files that are no longer stored.
    """

    check: CitationCheck
    documents: Mapping[str, Document]
    missing: tuple[str, ...]


class Citing:
    """Checks answers against their files. Qt-free; usable from any thread.

    Args:
        state_of: Returns the state of the stored copy of a file, given the file's hash.
    """

    def __init__(self, grounding: Grounding, state_of: Callable[[str], CopyState]) -> None:
        self._grounding = grounding
        self._state_of = state_of
        self._lock = threading.Lock()
        self._checks: dict[_Files, _Prepared] = {}

    def check(self, path: Sequence[StoredMessage], text: str) -> CheckedAnswer:
        """Check the answer at the end of a path.

        Args:
            text: The answer's words as the user reads them.
        """
        with self._lock:
            prepared = self._prepared(path)
            citations = prepared.check.check(text)
        hashes = {citation.document for citation in citations if citation.document}
        return CheckedAnswer(
            citations,
            {sha256: self._state_of(sha256) for sha256 in hashes},
            prepared.missing,
            tuple(_given(path, prepared.documents)),
        )

    def _prepared(self, path: Sequence[StoredMessage]) -> _Prepared:
        """Return the check against a path's files."""
        names = {source.document: source.name for message in path for source in message.sources}
        names |= {
            attachment.sha256: attachment.name
            for message in path
            for attachment in message.attachments
        }
        key = tuple(names.items())
        if key not in self._checks:
            files = self._grounding.files(path)
            documents = {file.document.sha256: file.document for file in files}
            missing = tuple(name for sha256, name in names.items() if sha256 not in documents)
            self._checks[key] = _Prepared(CitationCheck(files), documents, missing)
            if len(self._checks) > _MOST_CHECKS:
                del self._checks[next(iter(self._checks))]
        return self._checks[key]


def _given(
    path: Sequence[StoredMessage], documents: Mapping[str, Document]
) -> Iterator[GivenPassage]:
    """Yield the parts of files in the prompt of the answer at the end of a path, each once."""
    for source in dict.fromkeys(source for message in path for source in message.sources):
        document = documents.get(source.document)
        if document is not None:
            yield _passage(source, document)


def _passage(source: PromptSource, document: Document) -> GivenPassage:
    if not 0 < source.place <= len(document.sections):
        text = document.sections[0].text if document.sections else ""
        return GivenPassage(source.name, source.document, text=text[:_BEGINNING])
    section = document.sections[source.place - 1]
    span = TextSpan(section.place, source.start, source.end)
    text = section.text[source.start : min(source.end, source.start + _BEGINNING)]
    return GivenPassage(source.name, source.document, (span,), text)
