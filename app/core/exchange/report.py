"""Reports of what an import would do or has done, file by file, in numbers and sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.core.exchange.found import FileFound, NotRead

MOST_TOLD = 100
"""Chats that were not read are named one by one up to so many in a file."""


@dataclass(frozen=True)
class FileReport:
    """The numbers of an import from one file.

    new, back, here: chats that are new, come back from the trash, or are here already. messages: of
    those that are new. left_out, not_read: as in `ReadyChat` and `FileFound`.
    """

    name: str
    sources: tuple[str, ...]
    new: int
    back: int
    here: int
    messages: int
    left_out: Mapping[str, int]
    not_read: tuple[NotRead, ...]

    @property
    def taken(self) -> int:
        return self.new + self.back


def reports(files: Sequence[FileFound], known: Mapping[str, bool]) -> tuple[FileReport, ...]:
    """Report on each file. known: the chats that Hearth has, and whether they are in the trash."""
    seen = dict(known)
    return tuple(_report(file, seen) for file in files)


def told(reports: Iterable[FileReport], *, done: bool) -> str:
    """Write the whole report. done: it has happened; otherwise it is what would."""
    return "\n\n".join("\n".join((it.name, *sentences(it, done=done))) for it in reports)


def sentences(report: FileReport, *, done: bool) -> list[str]:
    """Say what became of one file, a sentence each; done: as in `told`."""
    said = []
    source = f" from {' and '.join(report.sources)}" if report.sources else ""
    if report.new:
        verb = "Imported" if done else "Can be imported"
        said.append(
            f"{verb}: {_counted(report.new, 'chat')} with "
            f"{_counted(report.messages, 'message')}{source}."
        )
    if report.back:
        said.append(f"Restored from the trash: {_counted(report.back, 'chat')}.")
    if report.here:
        said.append(f"Already here: {_counted(report.here, 'chat')}.")
    for what, count in sorted(report.left_out.items()):
        said.append(f"Left out, because Hearth does not support it: {what} ({count:,}).")
    if report.not_read:
        said.append(f"Not read: {len(report.not_read):,}.")
        said += [f"  {it.what}: {it.why}" for it in report.not_read[:MOST_TOLD]]
        if len(report.not_read) > MOST_TOLD:
            said.append(f"  and {len(report.not_read) - MOST_TOLD:,} more.")
    return said


def _report(file: FileFound, seen: dict[str, bool]) -> FileReport:
    counts: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    messages = 0
    for it in file.chats:
        state = seen.get(it.chat.id)
        counts["new" if state is None else "back" if state else "here"] += 1
        seen[it.chat.id] = False
        if state is None:
            messages += len(it.messages)
            left_out.update(it.left_out)
    return FileReport(
        name=file.path.name,
        sources=tuple(dict.fromkeys(it.source for it in file.chats)),
        new=counts["new"],
        back=counts["back"],
        here=counts["here"],
        messages=messages,
        left_out=left_out,
        not_read=file.not_read,
    )


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
