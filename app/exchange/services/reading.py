"""Finds the chats of other programs in files, folders and archives."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from sys import getsizeof
from typing import Any

from app.documents.values.documents import Document
from app.exchange.services.documents import ImportFile, documents
from app.exchange.store import ollama_chats
from app.exchange.values import gpt4all, jan
from app.exchange.values.found import (
    Broken,
    FileFound,
    FoundChat,
    FoundChats,
    NotRead,
    ReadyChat,
    SkippedFile,
)
from app.exchange.values.recognise import NO_CHATS, WHOLE_FILE, chats_in, read_each, thread_in
from engines.cancel import CancelToken
from engines.sentences import N_

MOST_IN_MEMORY = 400_000_000
_OF_A_MESSAGE, _OF_NOT_READ = 2_000, 500
"""Limits and estimates in bytes of memory.

The most for all that is found in one file or folder, and the size of one message and of one report
about something unread.
"""

_TOO_MUCH = N_("It is too large for the memory; the part before that was read.")
_OF_CHATS = re.compile(
    r"(.*\.conversation\.json|thread\.json|messages\.jsonl|conversations.*\.json"
    r"|chat-export.*\.json|.*\.chat|db\.sqlite)",
    re.IGNORECASE,
)
"""File names that programs give to their chats."""

_BESIDE_CHATS = frozenset({
    "user.json", "user_settings.json", "export_manifest.json", "message_feedback.json",
    "group_chats.json", "shared_conversations.json", "model_comparisons.json", "shopping.json",
    "sora.json",
})  # fmt: skip
"""Files that ChatGPT exports beside its chats."""


Check = Callable[[Document, CancelToken], Document]
"""Checks the pictures and sounds of an imported document, and removes those that cannot be read."""


def read_files(
    paths: Sequence[Path], cancel: CancelToken, check: Check = lambda document, _: document
) -> Iterator[FileFound]:
    """Read files one after the other; one that cannot be read does not stop the others.

    Raises:
        Cancelled: `check` was cancelled.
    """
    for path in paths:
        if cancel.cancelled:
            return
        try:
            yield _checked(_read(path, cancel), cancel, check)
        except OSError as error:
            why = N_("The system says: {strerror}.", strerror=error.strerror or error)
            yield FileFound(path, (), (NotRead(path.name, why),))


def _checked(found: FileFound, cancel: CancelToken, check: Check) -> FileFound:
    chats = (
        replace(chat, documents=tuple(check(document, cancel) for document in chat.documents))
        for chat in found.chats
    )
    return replace(found, chats=tuple(chats))


@dataclass
class _Threads:
    """Joins the two halves of each chat of Jan, by their folder."""

    heads: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    bodies: dict[str, str] = field(default_factory=dict)
    size: int = 0
    """Bytes that the halves take in memory."""


def _read(path: Path, cancel: CancelToken) -> FileFound:
    chats: list[ReadyChat] = []
    not_read: list[NotRead] = []
    passed_over: list[SkippedFile] = []
    threads = _Threads()
    left = MOST_IN_MEMORY
    for result in _all_of(path, threads, cancel):
        if isinstance(result, ReadyChat):
            left -= _weight(result)
            chats.append(result)
        else:
            left -= _OF_NOT_READ
            if isinstance(result, NotRead):
                not_read.append(result)
            else:
                passed_over.append(result)
        if left < 0:
            not_read.append(NotRead(path.name, _TOO_MUCH, partly=True))
            break
    if not chats and not not_read:
        why = next((file.why for file in passed_over if file.name == path.name), NO_CHATS)
        not_read.append(NotRead(path.name, why))
        passed_over = [file for file in passed_over if file.name != path.name]
    return FileFound(path, tuple(chats), tuple(not_read), tuple(passed_over))


def _all_of(
    path: Path, threads: _Threads, cancel: CancelToken
) -> Iterator[ReadyChat | NotRead | SkippedFile]:
    """Yield the chats of a file or folder, and a reason for each file without chats."""
    kinds: set[str] = set()
    empty: list[SkippedFile] = []
    for document in documents(path):
        if cancel.cancelled:
            break
        if isinstance(document, NotRead):
            yield document
        elif isinstance(document, SkippedFile):
            empty.append(document)
        else:
            for chat in _chats(document, threads, path):
                if isinstance(chat, SkippedFile):
                    empty.append(chat)
                    continue
                if isinstance(chat, ReadyChat):
                    kinds.add(_kind(document.name))
                yield chat
        del document  # free it before the next one is read
        if threads.size > MOST_IN_MEMORY:
            yield NotRead(path.name, _TOO_MUCH, partly=True)
            break
    yield from _jan(threads)
    for name in empty:
        yield NotRead(name.name, name.why) if _should_be_chats(name.name, kinds) else name


def _kind(name: str) -> str:
    """Return the folder and the ending of a file, which the chats of one program have in common."""
    path = PurePosixPath(name.replace("\\", "/"))
    return str(path.with_name(f"x{path.suffix.lower()}"))


def _should_be_chats(name: str, kinds: Container[str]) -> bool:
    """Return whether a file without chats should be reported as not read.

    Args:
        kinds: The kinds, as `_kind` returns them, of the files that contain chats.
    """
    last = PurePosixPath(name.replace("\\", "/")).name
    if last.lower() in _BESIDE_CHATS:
        return False
    return bool(_OF_CHATS.fullmatch(last)) or _kind(name) in kinds


def _weight(chat: ReadyChat) -> int:
    """Estimate the bytes that a chat takes in memory."""
    texts = (text for message in chat.messages for text in (message.text, message.reasoning))
    media = (medium for document in chat.documents for medium in _media_of(document))
    of_messages = _OF_A_MESSAGE * (1 + len(chat.messages))
    return sum(map(getsizeof, texts)) + sum(map(getsizeof, media)) + of_messages


def _media_of(document: Document) -> tuple[str | bytes, ...]:
    return (document.media, document.text, *(page.data for page in document.pages))


def _chats(
    document: ImportFile, threads: _Threads, within: Path
) -> Iterator[ReadyChat | NotRead | SkippedFile]:
    data = document.data
    if data.startswith(ollama_chats.SIGN):
        yield from _ollama(document)
    elif gpt4all.is_chat(data):
        for result in read_each([data], gpt4all.read):
            yield result if isinstance(result, ReadyChat) else replace(result, what=document.name)
    else:
        text = data.decode("utf-8-sig", "replace")
        if (thread := thread_in(text)) is not None:
            threads.heads[document.folder] = thread
            threads.size += getsizeof(text) + _OF_A_MESSAGE
        elif jan.is_messages(text):
            threads.bodies[document.folder] = text
            threads.size += getsizeof(text)
        else:
            source, found = chats_in(text)
            read = list(islice(found, 1))
            if not source and not read:
                yield SkippedFile(document.name, NO_CHATS)
            place = document.name if document.path != within else ""
            yield from _placed(chain(read, found), place)


def _placed(found: FoundChats, place: str) -> FoundChats:
    """Add the file's name to reports of unread parts, unless the user named just that file."""
    for result in found:
        if isinstance(result, ReadyChat) or not place:
            yield result
        else:
            yield replace(
                result,
                what=place
                if result.what in WHOLE_FILE
                else N_("{place}: {part}", place=place, part=result.what),
            )


def _ollama(document: ImportFile) -> Iterator[ReadyChat | NotRead]:
    if document.path is None:
        chats = ollama_chats.ollama_chats_in(document.data)
    else:
        chats = ollama_chats.ollama_chats(document.path)
    found: list[FoundChat] = []
    try:
        found.extend(chats)  # the chats before an error are kept
    except Broken as error:
        yield NotRead(document.name, str(error))
    yield from read_each(found, lambda chat: chat)


def _jan(threads: _Threads) -> Iterator[ReadyChat | NotRead]:
    for folder in dict.fromkeys((*threads.heads, *threads.bodies)):
        messages, broken = jan.lines(threads.bodies.get(folder, ""))
        chat = partial(jan.read, messages=messages, broken=broken)
        yield from _placed(read_each([threads.heads.get(folder, {})], chat), folder)
