"""The sequences of other chats, in memory: there is one live sequence, and copying is cheap."""

from __future__ import annotations

from collections.abc import Callable

from engines.llamacpp.resume.records import Record


class Remembered:
    """Records within a budget of bytes; of too many, the one used longest ago leaves."""

    def __init__(self, budget_bytes: int) -> None:
        self.budget = budget_bytes
        self.records: list[Record] = []

    def add(self, record: Record) -> list[Record]:
        """Keep `record` as the one used last. Returns those that leave, perhaps only itself.

        What it is just a longer version of is dropped.
        """
        if record.size > self.budget:
            return [record]
        self.drop(
            lambda old: old.chat == record.chat and record.tokens[: len(old.tokens)] == old.tokens
        )
        self.records.append(record)
        leaving = []
        while sum(kept.size for kept in self.records) > self.budget:
            leaving.append(self.records.pop(0))
        return leaving

    def drop(self, unwanted: Callable[[Record], bool]) -> None:
        self.records = [record for record in self.records if not unwanted(record)]
