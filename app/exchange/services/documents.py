"""Reads the documents in a file, a folder or an archive that can contain chats.

Nothing is unpacked to disk, so names in an archive cannot point outside it. Every size is limited,
so that a small file cannot fill the memory.
"""

from __future__ import annotations

import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

from app.exchange.store.ollama_chats import SIGN
from app.exchange.values import gpt4all
from app.exchange.values.found import NotRead, SkippedFile
from app.exchange.values.recognise import (
    ARCHIVE,
    EMPTY,
    LINK,
    MARKS,
    NO_CHATS,
    NO_FILE,
    ZEROS,
)
from app.exchange.values.torn_zip import torn_members
from engines.regular import open_regular, read_regular

MOST_BYTES = 200_000_000
"""Largest document in bytes: it is kept in memory together with the chats read from it."""

MOST_OF_ARCHIVE = 1_000_000_000
"""Most bytes unpacked from an archive, one document after the other."""

_PIECE = 1 << 20
_MOST_FILES = 100_000
_BEGINNING = 64
_GUESSED_FROM = 200_000
_TORN_BYTES = 8_000_000
_MOST_LOOKED_AT, _MOST_GUESSED = 2_000, 50
"""Files of a folder or archive of which the first bytes are read, and of which more is read."""
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, ValueError)
"""The errors that `zipfile` raises for an archive with wrong bytes."""
_PARTS_OF_DOCUMENTS = frozenset({"[Content_Types].xml", "META-INF/container.xml", "mimetype"})
_DOCUMENTS = frozenset({".docx", ".xlsx", ".pptx", ".epub"})
"""Documents that are zip archives: the members that mark them, and their file name endings."""
_TORN = "The archive breaks off; what is left of it was read."
_TOO_LARGE = f"It is larger than {MOST_BYTES // 1_000_000} MB."


@dataclass(frozen=True)
class ImportFile:
    """The content of a file or of a member of an archive.

    Attributes:
        name: Its name within the folder or archive.
        path: The file's path; None for a member of an archive.
    """

    name: str
    data: bytes
    path: Path | None = None

    @property
    def folder(self) -> str:
        """The folder that contains it; a chat of Jan is two files in one folder."""
        return self.name.replace("\\", "/").rpartition("/")[0]


Found = ImportFile | NotRead | SkippedFile


def documents(path: Path) -> Iterator[Found]:
    """Yield the files that can contain chats, and each other file with the reason why not.

    The first bytes of a file decide.

    Raises:
        OSError: `path` itself cannot be read.
    """
    if path.is_dir():
        yield from _of_folder(path)
        return
    if path.exists() and not path.is_file():
        yield NotRead(path.name, NO_FILE)
        return
    with open_regular(path) as file:
        begin = file.read(_BEGINNING)
    if begin.startswith(b"PK"):
        yield from _of_archive(path)
        return
    yield from _of_file(path, path.name)
    if sibling := _sibling(path):
        yield from _of_file(sibling, sibling.name)


def _of_file(path: Path, name: str) -> Iterator[Found]:
    if path.stat().st_size > MOST_BYTES:
        yield NotRead(name, _TOO_LARGE)
        return
    data = read_regular(path)
    if _may_be_chats(data[:_BEGINNING]):
        yield ImportFile(name, data, path)
    else:
        yield SkippedFile(name, _why_none(data))


def _sibling(path: Path) -> Path | None:
    """Return the other half of a thread of Jan, if it exists."""
    other = {"thread.json": "messages.jsonl", "messages.jsonl": "thread.json"}.get(path.name)
    found = path.with_name(other) if other else None
    return found if found and found.is_file() else None


def _of_folder(root: Path) -> Iterator[Found]:
    count = 0
    closed: list[OSError] = []
    for folder, inner, names in os.walk(root, onerror=closed.append):
        inner.sort()
        for name in sorted(names):
            count += 1
            if count > _MOST_FILES:
                yield NotRead(root.name, f"It holds more than {_MOST_FILES:,} files.", partly=True)
                return
            path = Path(folder) / name
            within = path.relative_to(root).as_posix()
            try:
                # Reading a pipe could block for ever.
                if path.is_symlink():
                    yield SkippedFile(within, LINK)
                elif not path.is_file():
                    yield SkippedFile(within, NO_FILE)
                else:
                    yield from _of_inner_file(path, within)
            except OSError as error:
                yield NotRead(within, f"The system says: {error.strerror or error}.")
    for failure in closed:
        yield NotRead(str(failure.filename), f"The system says: {failure.strerror or failure}.")


def _of_inner_file(path: Path, name: str) -> Iterator[Found]:
    with open_regular(path) as file:
        begin = file.read(_BEGINNING)
    if _may_be_chats(begin):
        yield from _of_file(path, name)
    else:
        yield SkippedFile(name, _why_none(begin))


def _why_none(begin: bytes) -> str:
    """Return why a file that begins like this cannot contain chats."""
    if not begin:
        return EMPTY
    if begin.startswith(b"PK"):
        return ARCHIVE
    if not begin.strip(b"\0"):
        return ZEROS
    return NO_CHATS


def _of_archive(path: Path) -> Iterator[Found]:
    left = MOST_OF_ARCHIVE
    try:
        archive = zipfile.ZipFile(path)
    except (*_DAMAGED, NotImplementedError):
        if path.stat().st_size > MOST_BYTES:
            yield NotRead(path.name, _TOO_LARGE)
            return
        for name, data in torn_members(read_regular(path), MOST_BYTES):
            if _may_be_chats(data[:_BEGINNING]):
                yield ImportFile(name, data)
            else:
                yield SkippedFile(name, _why_none(data))
        yield NotRead(path.name, _TORN, partly=True)
        return
    with archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        for member in members[:_MOST_FILES]:
            found = _member(archive, member, min(left, MOST_BYTES))
            if isinstance(found, ImportFile):
                left -= len(found.data)
            yield found
        if len(members) > _MOST_FILES:
            yield NotRead(path.name, f"It holds more than {_MOST_FILES:,} files.", partly=True)


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> Found:
    try:
        with archive.open(member) as file:
            begin = file.read(_BEGINNING)
            if not _may_be_chats(begin):
                return SkippedFile(member.filename, _why_none(begin))
            if member.file_size > most:
                return NotRead(member.filename, _TOO_LARGE)
            data = _read(file, begin, most)
    except (*_DAMAGED, OSError) as error:
        return NotRead(member.filename, f"It is damaged: {error}.")
    except (NotImplementedError, RuntimeError):
        return NotRead(member.filename, "It is encrypted, or packed in a way Hearth cannot read.")
    return (
        NotRead(member.filename, _TOO_LARGE)
        if len(data) > most
        else ImportFile(member.filename, data)
    )


def _read(file: IO[bytes], begin: bytes, most: int) -> bytes:
    """Read a member, at most a little beyond the limit, because its declared size can be wrong."""
    pieces, size = [begin], len(begin)
    while size <= most and (piece := file.read(_PIECE)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _may_be_chats(begin: bytes) -> bool:
    text = begin.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text[:1] in (b"[", b"{") or begin.startswith(SIGN[:8]) or gpt4all.is_chat(begin)


def looks_like_chats(path: Path) -> bool:
    """Guess quickly whether a file, a folder or an archive contains chats.

    Of folders and archives, the first files are looked at that can contain chats.
    """
    try:
        if path.is_dir():
            return _folder_has_chats(path)
        if not path.is_file():
            return False
        begin = _begin(path)
        if begin.startswith(b"PK\x03\x04"):
            return not _is_document(path) and _archive_has_chats(path)
    except OSError:
        return False
    return _begins_like_chats(begin)


def _begins_like_chats(begin: bytes) -> bool:
    if begin.startswith(SIGN) or gpt4all.is_chat(begin):
        return True
    return _may_be_chats(begin[:_BEGINNING]) and any(mark in begin for mark in MARKS)


def _begin(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read(_GUESSED_FROM)


def _folder_has_chats(root: Path) -> bool:
    paths = (Path(folder, name) for folder, _, names in os.walk(root) for name in sorted(names))
    guessed = 0
    for path in islice(paths, _MOST_LOOKED_AT):
        try:
            with open_regular(path) as file:
                begin = file.read(_BEGINNING)
                if not _may_be_chats(begin):
                    continue
                begin += file.read(_GUESSED_FROM)
        except (OSError, ValueError):
            continue
        if _begins_like_chats(begin):
            return True
        guessed += 1
        if guessed == _MOST_GUESSED:
            break
    return False


def _archive_has_chats(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(map(_begins_like_chats, _first_members(archive)))
    except (*_DAMAGED, NotImplementedError):
        with open_regular(path) as file:
            start = file.read(_TORN_BYTES)
        members = islice(torn_members(start, _TORN_BYTES), _MOST_GUESSED)
        return any(_begins_like_chats(content[:_GUESSED_FROM]) for _, content in members)


def _first_members(archive: zipfile.ZipFile) -> Iterator[bytes]:
    """Yield the beginnings of the first members that can contain chats."""
    guessed = 0
    for member in archive.infolist()[:_MOST_LOOKED_AT]:
        try:
            with archive.open(member) as file:
                begin = file.read(_BEGINNING)
                if not _may_be_chats(begin):
                    continue
                yield begin + file.read(_GUESSED_FROM)
        except (*_DAMAGED, OSError, NotImplementedError, RuntimeError):
            continue
        guessed += 1
        if guessed == _MOST_GUESSED:
            return


def _is_document(path: Path) -> bool:
    """Return whether an archive is an office document or an e-book, whose text can be attached."""
    try:
        with zipfile.ZipFile(path) as archive:
            return not _PARTS_OF_DOCUMENTS.isdisjoint(archive.namelist())
    except (*_DAMAGED, NotImplementedError, OSError):
        return path.suffix.lower() in _DOCUMENTS
