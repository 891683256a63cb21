"""The recognition of Hearth's data folder among folders of other files, and its mark."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from engines.private import make_private_file, walk

MARK: Final = ".hearth-data"
"""The name of the file that marks a data folder."""

_OF_THE_SYSTEM: Final = frozenset(
    {"lost+found", "$recycle.bin", "desktop.ini", "thumbs.db"}
    | {".ds_store", ".trashes", ".fseventsd", ".spotlight-v100", ".localized", ".directory"}
)
"""Names, in lower case, of files that systems and file managers put into empty folders."""

_FILES: Final = re.compile(
    r"\.hearth-data|window\.lock|chats(\.before-v\d+)?\.db(-wal|-shm|-journal)?"
    r"|search\.db(-wal|-shm|-journal)?"
    r"|settings\.json(\.damaged(-\d+)?)?"
    r"|(window|speeds|costs|probed|sizes|devices|bandwidth|catalogue(-sizes|-seen)?)\.json"
    r"|\..+\.\d+\.part"
)
"""A pattern for the names of the files that Hearth writes beside its folders."""

_EMPTY_AT_FIRST: Final = frozenset(
    {
        "models",
        "logs",
        "snapshots",
        "headers",
        "states",
        "attachments",
        "knowledge",
        "requests",
        "wishes",
    }
)
"""Hearth's folders whose names other programs use, too; `wishes` is the old name of `requests`."""

_CHATS: Final = frozenset({"chats", "messages", "messages_of_chat"})
"""Tables and an index that the database of every version contains."""

_ENGINES: Final = frozenset({"vllm", "vllm-worker", "llamacpp"})
_LOGS: Final = ("hearth.log", "native-crash.txt")
_SETTING: Final = re.compile(r"[a-z]+(_[a-z]+)*")
_MOST_SETTINGS: Final = 10_000_000


def contents(root: Path) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of a folder, without those that the system creates. Raises OSError."""
    with os.scandir(root) as entries:
        yield from (entry for entry in entries if not _is_of_the_system(entry.name))


def is_own_file(name: str) -> bool:
    """Return whether Hearth writes a file of this name beside its folders."""
    return _FILES.fullmatch(name) is not None


def is_data_folder(root: Path) -> bool:
    """Return whether Hearth created a folder, or began to. Raises OSError.

    Folders of earlier versions have no mark and are recognised by their files: the chats, copies of
    them, or a log. If there are none of these, as after a crash at the first start, the folder may
    contain only files and empty folders with Hearth's names.
    """
    if _is_file(root / MARK) or any(_is_file(root / "logs" / name) for name in _LOGS):
        return True
    if any((root / "logs").glob("report-????????-??????-*.txt")):
        return True
    if any((root / "snapshots").glob("chats-*.db")) or _names_in(root / "chats.db") >= _CHATS:
        return True
    return all(_can_be_ours(entry) for entry in contents(root))


def mark(root: Path) -> None:
    """Mark a folder as Hearth's. Raises OSError."""
    if not _is_file(root / MARK):
        make_private_file(root / MARK)


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _can_be_ours(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry can be part of a data folder that has no chats yet, or lost them."""
    path = Path(entry.path)
    if entry.is_dir(follow_symlinks=False):
        if entry.name == "engines":
            return all(entry.name in _ENGINES for entry in contents(path))
        return entry.name in _EMPTY_AT_FIRST and not any(map(_is_foreign_content, walk(path)))
    if entry.is_symlink() and entry.name in {"engines", *_EMPTY_AT_FIRST}:
        return path.is_dir()  # a folder on another disk, which is left unchanged
    if entry.name == "settings.json":
        return _can_be_settings(path)
    if entry.name == "chats.db":
        return not _names_in(path)  # it is damaged or unfinished
    return is_own_file(entry.name)


def _is_foreign_content(path: Path) -> bool:
    return not path.is_dir() and not _is_of_the_system(path.name)


def _is_of_the_system(name: str) -> bool:
    return name.lower() in _OF_THE_SYSTEM


def _names_in(path: Path) -> set[str]:
    """Return the names of the tables and indexes in a database; none if it cannot be read."""
    import sqlite3

    if not path.is_file():
        return set()
    # Opened in any other way, a database may get files beside it.
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with suppress(sqlite3.Error), closing(sqlite3.connect(uri, uri=True)) as db:
        return {str(row[0]) for row in db.execute("SELECT name FROM sqlite_master")}
    return set()


def _can_be_settings(path: Path) -> bool:
    """Return whether a file can contain settings: an object of plain values, perhaps empty."""
    with suppress(OSError, ValueError, RecursionError):
        if not path.is_file() or path.stat().st_size > _MOST_SETTINGS:
            return False
        settings = json.loads(path.read_text(encoding="utf-8") or "{}")
        return isinstance(settings, dict) and all(
            _SETTING.fullmatch(name) and isinstance(value, str | int | float)
            for name, value in settings.items()
        )
    return False
