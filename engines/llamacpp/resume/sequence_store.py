"""The sequences that are not live: in memory, and on disk those of named chats."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from engines.llamacpp.resume.records import StateKey, StateRecord
from engines.llamacpp.resume.states import StateFile, StateFolder


class StatesInMemory:
    """Records within a budget of bytes; if there are too many, the least recently used leaves."""

    def __init__(self, budget_bytes: int) -> None:
        self.budget = budget_bytes
        self.records: list[StateRecord] = []

    def add(self, record: StateRecord) -> list[StateRecord]:
        """Keep `record` as the most recently used.

        Records that are just the beginning of the new one are dropped.

        Returns:
            The records that must leave, possibly only the new one itself.
        """
        if record.size > self.budget:
            return [record]
        self.drop(
            lambda old: (
                (old.chat, old.adapter) == (record.chat, record.adapter)
                and record.tokens[: len(old.tokens)] == old.tokens
            )
        )
        self.records.append(record)
        leaving = []
        while sum(stored.size for stored in self.records) > self.budget:
            leaving.append(self.records.pop(0))
        return leaving

    def drop(self, matches: Callable[[StateRecord], bool]) -> None:
        """Drop the records for which `matches` returns True."""
        self.records = [record for record in self.records if not matches(record)]


LEAST_TOKENS: Final = 16
"""The least number of tokens for which a sequence is worth a copy."""


class SequenceStore:
    """The sequences that are not live: first in memory, then, if memory is full, on disk.

    Args:
        memory_bytes: The budget for records in memory.
        folder: The folder for records on disk; None keeps nothing on disk.
        key: The key of the loaded model; None keeps nothing on disk.
        keys: The key of the model with each of its adapters.
    """

    def __init__(
        self,
        memory_bytes: int,
        folder: StateFolder | None,
        key: StateKey | None,
        keys: Mapping[str, StateKey] = MappingProxyType({}),
    ) -> None:
        self._memory = StatesInMemory(memory_bytes)
        self._folder = folder
        self._keys = {**keys, "": key} if key is not None else dict(keys)

    @property
    def in_memory(self) -> Sequence[StateRecord]:
        """The states in memory, the latest last."""
        return self._memory.records

    def with_token(
        self, token: int, place: int, adapter: str = ""
    ) -> Iterator[tuple[Sequence[int], list[int], StateRecord | StateFile]]:
        """Yield the sequences that have `token` at index `place`.

        Yields:
            The tokens, the lengths of the state snapshots, and the object for `load`.
        """
        for record in self._memory.records:
            if record.adapter != adapter:
                continue
            if len(record.tokens) > place and record.tokens[place] == token:
                lengths = [snapshot.length for snapshot in record.snapshots]
                yield record.tokens, lengths, record
        if (disk := self._disk(adapter)) is not None:
            folder, key = disk
            for entry in folder.entries(key):
                tokens = entry.head.tokens
                if len(tokens) > place and tokens[place] == token:
                    yield tokens, entry.head.snapshots, entry

    def release(self, found: StateRecord | StateFile) -> None:
        """Take a record out of memory, if it is there, as it becomes the live one."""
        self._memory.drop(lambda record: record is found)

    def load(self, found: StateRecord | StateFile) -> StateRecord | None:
        """Return the record itself; None if its file is damaged or gone."""
        if isinstance(found, StateRecord) or self._folder is None:
            return found if isinstance(found, StateRecord) else None
        return self._folder.load(found)

    def discard(self, found: StateRecord | StateFile) -> None:
        """Remove the file of a record that llama.cpp does not accept."""
        if isinstance(found, StateFile) and self._folder is not None:
            self._folder.discard(found, "llama.cpp does not take it")

    def can_keep(self, size: int, *, for_disk: bool) -> bool:
        """Return whether a record of `size` bytes fits in memory, or goes to disk if allowed."""
        return size <= self._memory.budget or (for_disk and self._folder is not None)

    def add(self, record: StateRecord) -> None:
        """Keep a record in memory, and write records that leave for it to disk.

        Older records of a chat that still has one in memory are dropped.
        """
        for leaving in self._memory.add(record):
            is_too_large = leaving is record
            if is_too_large or all(other.chat != leaving.chat for other in self._memory.records):
                self.store(leaving)

    def belongs_on_disk(self, chat: str | None, tokens: array[int], adapter: str = "") -> bool:
        """Return whether the sequence belongs on disk and is not there yet."""
        disk = self._disk(adapter)
        if disk is None or chat is None or len(tokens) < LEAST_TOKENS:
            return False
        folder, key = disk
        return not folder.has_forgotten(chat) and not folder.holds(key, chat, tokens)

    def store(self, record: StateRecord) -> None:
        """Write a record to disk, if it belongs there."""
        disk = self._disk(record.adapter)
        if disk and self.belongs_on_disk(record.chat, record.tokens, record.adapter):
            folder, key = disk
            folder.store(key, record)

    def save_all(self) -> None:
        """Write everything to disk, the newest first, and free the memory."""
        while self._memory.records:
            self.store(self._memory.records.pop())

    def known(self, chat: str | None) -> list[list[int]]:
        """Return the tokens of this chat's sequences, including those drawn but not evaluated."""
        found = [
            [*record.tokens, *record.ahead]
            for record in self._memory.records
            if record.chat == chat
        ]
        if chat is not None:
            for adapter in self._keys:
                if (disk := self._disk(adapter)) is not None:
                    folder, key = disk
                    found += folder.known(key, chat)
        return found

    def is_deleted(self, chat: str | None) -> bool:
        """Return whether the chat was deleted, so that nothing of it may be stored."""
        return chat is not None and self._folder is not None and self._folder.has_forgotten(chat)

    def forget_deleted(self) -> None:
        """Drop the sequences of chats that have been deleted."""
        self._memory.drop(lambda record: self.is_deleted(record.chat))

    def _disk(self, adapter: str) -> tuple[StateFolder, StateKey] | None:
        """Return the folder and the key for an adapter's sequences.

        None if they are not kept on disk.
        """
        key = self._keys.get(adapter)
        return (self._folder, key) if self._folder is not None and key is not None else None
