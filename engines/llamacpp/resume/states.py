"""The states of chats on disk, with which a chat continues after a restart where it stopped.

A state holds the keys and values of a chat's tokens and the tokens themselves, so reading it means
reading the chat. The files are as private as the chat database beside them, are readable only by
their owner, and are removed when the chat is deleted. Their names reveal only which of them belong
to the same chat.

A state is large: 4,000 tokens of a model with 4 billion parameters take about half a GB. So nothing
is written while a chat continues, but only when its model is unloaded, or when the memory for other
chats is full.

Losing a state costs only time. So a file is not forced to the disk, is removed if anything is wrong
with it, and a failing disk is only logged.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import time_ns
from typing import Final

from engines.llamacpp.resume.records import (
    DamagedState,
    Head,
    StateKey,
    StateRecord,
    encode_head,
    read_head,
    read_record,
)
from engines.private import UNFINISHED, make_private_folder, replacing

logger = logging.getLogger(__name__)

_STATES: Final = "*.state"
_UNFINISHED: Final = f"*{UNFINISHED}"
_WRITER: Final = re.compile(r"\.(\d+)\.part$")
_NEWEST: Final = 1 << 63


@dataclass(frozen=True)
class StateFile:
    """A file of the folder.

    Attributes:
        path: The file.
        size: Its size in bytes.
        used: The time of its last use, in nanoseconds since the epoch.
        head: The head of the file.
    """

    path: Path
    size: int
    used: int
    head: Head


class StateFolder:
    """States within a budget of bytes; if there are too many, the least recently used are removed.

    Any thread can use it, and other processes can use the same folder.
    """

    def __init__(self, path: Path, budget_bytes: int) -> None:
        self._path = path
        self._budget = budget_bytes
        self._heads: dict[tuple[Path, int], Head] = {}
        self._forgotten: set[str] = set()
        self._lock = threading.Lock()
        with self._lock, _logged("tidied up"):
            self._remove_unfinished()
            self._make_room(0, _NEWEST)

    def entries(self, key: StateKey) -> list[StateFile]:
        """List the states for `key`, and remove those that can no longer be used.

        Those are the states of its model under another key, and states of any model that another
        build of llama.cpp has written, whose bytes might mean something else.
        """
        found = []
        with self._lock, _logged("read"):
            for entry in self._entries():
                if entry.head.key == key:
                    found.append(entry)
                elif entry.head.key.build != key.build:
                    _remove(entry.path, f"another build has written it: {entry.head.key.build}")
                elif entry.head.key.place == key.place:
                    _remove(entry.path, "the model file or a setting has changed")
        return found

    def known(self, key: StateKey, chat: str) -> list[list[int]]:
        """Return the tokens of a chat's states, including those drawn but not evaluated."""
        found: list[list[int]] = []
        with self._lock, _logged("read"):
            found += [[*at.head.tokens, *at.head.ahead] for at in self._of_chat(key, chat)]
        return found

    def load(self, entry: StateFile) -> StateRecord | None:
        """Return the record and mark it as used now; None if the file is damaged or gone."""
        with _logged("read"):
            try:
                with entry.path.open("rb") as file:
                    record = read_record(file, entry.head)
                os.utime(entry.path)
            except DamagedState as error:
                _remove(entry.path, str(error))
            else:
                return record
        return None

    def discard(self, entry: StateFile, why: str) -> None:
        """Remove a file that proved useless."""
        with _logged("removed"):
            _remove(entry.path, why)

    def holds(self, key: StateKey, chat: str, tokens: array[int]) -> bool:
        """Return whether a file of this chat begins with `tokens`, and mark it as used now."""
        with self._lock, _logged("read"):
            for entry in self._of_chat(key, chat):
                if entry.head.tokens[: len(tokens)] == tokens:
                    os.utime(entry.path)
                    return True
        return False

    def store(self, key: StateKey, record: StateRecord) -> bool:
        """Write the state of a named chat in place of shorter ones; return False if it is not kept.

        Only states that were used longer ago are removed to make room for it.
        """
        if record.chat is None:
            raise ValueError("the state of a chat without a name may not go to disk")
        with self._lock:
            try:
                return self._store(key, record, record.chat)
            except OSError as error:
                logger.warning("a state of %d MB cannot be written: %s", record.size >> 20, error)
                return False

    def forget(self, chat: str) -> None:
        """Remove the states of a deleted chat, and keep none of it from now on."""
        with self._lock, _logged("removed"):
            self._forgotten.add(_name(chat))
            for path in self._path.glob(f"{_name(chat)}-*"):
                path.unlink(missing_ok=True)

    def has_forgotten(self, chat: str) -> bool:
        """Return whether the chat's states were removed because it was deleted."""
        return _name(chat) in self._forgotten

    def clear(self) -> None:
        """Remove every state."""
        with self._lock, _logged("removed"):
            for path in [*self._path.glob(_STATES), *self._path.glob(_UNFINISHED)]:
                path.unlink(missing_ok=True)

    def _store(self, key: StateKey, record: StateRecord, chat: str) -> bool:
        if _name(chat) in self._forgotten:
            return False
        for entry in self._of_chat(key, chat):
            if record.tokens[: len(entry.head.tokens)] == entry.head.tokens:
                entry.path.unlink(missing_ok=True)
        head = encode_head(key, record)
        if not self._make_room(len(head) + record.size, record.used):
            logger.info("a state of %d MB finds no room on disk", record.size >> 20)
            return False
        self._write(head, record, _name(chat))
        return True

    def _entries(self) -> Iterator[StateFile]:
        """Yield the complete files of all models, and remove incomplete files."""
        for path in self._path.glob(_STATES):
            try:
                status = path.stat()
                known = (path, status.st_size)
                if known not in self._heads:
                    with path.open("rb") as file:
                        self._heads[known] = read_head(file, status.st_size)
            except FileNotFoundError:
                continue  # another process removed it first
            except DamagedState as error:
                _remove(path, str(error))
            else:
                # A clock that was set back must not make a file the newest forever.
                used = status.st_mtime_ns if status.st_mtime_ns <= time_ns() else 0
                yield StateFile(path, status.st_size, used, self._heads[known])

    def _of_chat(self, key: StateKey, chat: str) -> list[StateFile]:
        return [
            entry
            for entry in self._entries()
            if entry.head.key == key and entry.path.name.startswith(f"{_name(chat)}-")
        ]

    def _make_room(self, size: int, used: int) -> bool:
        """Remove states used before `used`, oldest first, until `size` bytes fit in the budget."""
        entries = sorted(self._entries(), key=lambda entry: entry.used)
        excess = sum(entry.size for entry in entries) + size - self._budget
        older = [entry for entry in entries if entry.used < used]
        if excess > sum(entry.size for entry in older):
            return False
        for entry in older:
            if excess <= 0:
                break
            entry.path.unlink(missing_ok=True)
            excess -= entry.size
        return True

    def _write(self, head: bytes, record: StateRecord, name: str) -> None:
        """Write under another name first, so that a file with the right name is complete."""
        import secrets

        make_private_folder(self._path)
        path = self._path / f"{name}-{secrets.token_hex(4)}.state"
        with replacing(path) as unfinished:
            with unfinished.open("wb") as file:
                file.write(head)
                file.writelines(data for _, _, data in record.parts())
            os.utime(unfinished, ns=(record.used, record.used))

    def _remove_unfinished(self) -> None:
        """Remove half-written files of processes that have ended."""
        import psutil

        for path in self._path.glob(_UNFINISHED):
            writer = _WRITER.search(path.name)
            if not writer or int(writer[1]) == os.getpid() or not psutil.pid_exists(int(writer[1])):
                path.unlink(missing_ok=True)


def _name(chat: str) -> str:
    """Return the beginning of the file names for a chat."""
    from hashlib import blake2b

    return blake2b(chat.encode(errors="surrogatepass"), digest_size=12).hexdigest()


def _remove(path: Path, why: str) -> None:
    logger.info("a saved state is removed: %s", why)
    path.unlink(missing_ok=True)


@contextmanager
def _logged(done: str) -> Iterator[None]:
    """Log a failing disk: it costs time later, but is not an error now."""
    try:
        yield
    except OSError as error:
        logger.warning("saved states could not be %s: %s", done, error)
