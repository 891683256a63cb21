"""The sequences that are not live, in memory, and on disk those of named chats."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from engines.llamacpp.resume.records import StateKey, StateRecord
from engines.llamacpp.resume.states import StateFile, StateFolder


class StatesInMemory:
    """Records within a budget of bytes; of too many, the one used longest ago leaves."""

    def __init__(self, budget_bytes: int) -> None:
        self.budget = budget_bytes
        self.records: list[StateRecord] = []

    def add(self, record: StateRecord) -> list[StateRecord]:
        """Keep `record` as the one used last; returns those that leave, perhaps only itself.

        What it is just a longer version of is dropped.
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
        while sum(kept.size for kept in self.records) > self.budget:
            leaving.append(self.records.pop(0))
        return leaving

    def drop(self, unwanted: Callable[[StateRecord], bool]) -> None:
        self.records = [record for record in self.records if not unwanted(record)]


WORTH: Final = 16
"""Tokens from which on a sequence is worth a copy."""


class Kept:
    """The sequences that are not live: in memory first; what finds no room there goes to disk.

    folder: None keeps nothing on disk. key: of the loaded model, None does the same. keys: of the
    model with each of its adapters.
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

    def having(
        self, token: int, place: int, adapter: str = ""
    ) -> Iterator[tuple[Sequence[int], list[int], StateRecord | StateFile]]:
        """Yield sequences with `token` at `place`: tokens, checkpoints' lengths, what to `load`."""
        for record in self._memory.records:
            if record.adapter != adapter:
                continue
            if len(record.tokens) > place and record.tokens[place] == token:
                lengths = [checkpoint.length for checkpoint in record.checkpoints]
                yield record.tokens, lengths, record
        if (disk := self._disk(adapter)) is not None:
            folder, key = disk
            for entry in folder.entries(key):
                tokens = entry.head.tokens
                if len(tokens) > place and tokens[place] == token:
                    yield tokens, entry.head.checkpoints, entry

    def release(self, found: StateRecord | StateFile) -> None:
        """Take a record out of memory, if it is there: it becomes the live one."""
        self._memory.drop(lambda record: record is found)

    def load(self, found: StateRecord | StateFile) -> StateRecord | None:
        """Return the record itself; None if its file is damaged or gone."""
        if isinstance(found, StateRecord) or self._folder is None:
            return found if isinstance(found, StateRecord) else None
        return self._folder.load(found)

    def discard(self, found: StateRecord | StateFile) -> None:
        """Remove the file of a record that llama.cpp does not take."""
        if isinstance(found, StateFile) and self._folder is not None:
            self._folder.discard(found, "llama.cpp does not take it")

    def takes(self, size: int, *, for_disk: bool) -> bool:
        """Tell whether a record of so many bytes finds a place, in memory or if need be on disk."""
        return size <= self._memory.budget or (for_disk and self._folder is not None)

    def add(self, record: StateRecord) -> None:
        """Keep a record in memory; what leaves for it goes to disk, except older ones of a chat."""
        for leaving in self._memory.add(record):
            alone_too_large = leaving is record
            if alone_too_large or all(kept.chat != leaving.chat for kept in self._memory.records):
                self.store(leaving)

    def wanted_on_disk(self, chat: str | None, tokens: array[int], adapter: str = "") -> bool:
        """Tell whether the disk takes it, and does not have it yet."""
        disk = self._disk(adapter)
        if disk is None or chat is None or len(tokens) < WORTH:
            return False
        folder, key = disk
        return not folder.has_forgotten(chat) and not folder.holds(key, chat, tokens)

    def store(self, record: StateRecord) -> None:
        """Write a record to disk, if it is wanted there."""
        disk = self._disk(record.adapter)
        if disk and self.wanted_on_disk(record.chat, record.tokens, record.adapter):
            folder, key = disk
            folder.store(key, record)

    def put_away(self) -> None:
        """Write everything to disk, the newest first, and give the memory back."""
        while self._memory.records:
            self.store(self._memory.records.pop())

    def known(self, chat: str | None) -> list[list[int]]:
        """The conversations of this chat, in tokens, with those ahead of what was evaluated."""
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
        return chat is not None and self._folder is not None and self._folder.has_forgotten(chat)

    def forget_deleted(self) -> None:
        """Drop the sequences of chats that were deleted meanwhile."""
        self._memory.drop(lambda record: self.is_deleted(record.chat))

    def _disk(self, adapter: str) -> tuple[StateFolder, StateKey] | None:
        """The folder and the key for what an adapter computed; None where it goes to no disk."""
        key = self._keys.get(adapter)
        return (self._folder, key) if self._folder is not None and key is not None else None
