"""Reports of what an import would do or has done, file by file, in numbers and sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.exchange.values.found import FileFound, NotRead, SkippedFile
from engines.sentences import N_, joined, listed

_MOST_LISTED = 100
"""How many unread chats of a file are named one by one."""

_MOST_NAMED = 20
"""How many files that were skipped for the same reason are named."""


@dataclass(frozen=True)
class FileReport:
    """The numbers of an import from one file.

    Attributes:
        new, back, here: Number of chats that are new, come back from the trash, or are here
            already.
        messages: Number of messages of the new chats.
        left_out: As in `ReadyChat`, summed over the new chats.
        not_read, passed_over: As in `FileFound`.
    """

    name: str
    sources: tuple[str, ...]
    new: int
    back: int
    here: int
    messages: int
    left_out: Mapping[str, int]
    not_read: tuple[NotRead, ...]
    passed_over: tuple[SkippedFile, ...] = ()

    @property
    def wholly_unread(self) -> tuple[NotRead, ...]:
        """The parts of which nothing could be read."""
        return tuple(entry for entry in self.not_read if not entry.partly)

    @property
    def partly_read(self) -> tuple[NotRead, ...]:
        """The parts that could be read only partly."""
        return tuple(entry for entry in self.not_read if entry.partly)

    @property
    def passed_by_reason(self) -> Mapping[str, Sequence[str]]:
        """Names of the skipped files, by the reason."""
        names: dict[str, list[str]] = {}
        for file in self.passed_over:
            names.setdefault(file.why, []).append(file.name)
        return names

    @property
    def imported(self) -> int:
        """The number of chats that are new or restored."""
        return self.new + self.back


def reports(files: Sequence[FileFound], known: Mapping[str, bool]) -> tuple[FileReport, ...]:
    """Report on each file.

    Args:
        known: The chats that Hearth already has, and whether each is in the trash.
    """
    seen = dict(known)
    return tuple(_report(file, seen) for file in files)


def report_text(reports: Iterable[FileReport], *, done: bool) -> str:
    """Return the whole report as text.

    Args:
        done: Whether the import has happened, as opposed to a preview.
    """
    return joined(
        "\n\n",
        (joined("\n", (report.name, *sentences(report, done=done))) for report in reports),
    )


def sentences(report: FileReport, *, done: bool) -> list[str]:
    """Return the report on one file, a sentence each.

    Args:
        done: As in `report_text`.
    """
    lines = []
    if report.new:
        lines.append(_new(report, done=done))
    if report.back:
        lines.append(N_("Restored from the trash: {back}.", back=_counted(report.back, "chat")))
    if report.here:
        lines.append(N_("Already here: {here}.", here=_counted(report.here, "chat")))
    for what, count in sorted(report.left_out.items()):
        lines.append(
            N_(
                "Left out, because Hearth does not support it: {what} ({count}).",
                what=what,
                count=f"{count:,}",
            )
        )
    partly, unread = report.partly_read, report.wholly_unread
    groups = (
        (N_("Read in part: {count}.", count=f"{len(partly):,}"), partly),
        (N_("Not read: {count}.", count=f"{len(unread):,}"), unread),
    )
    for words, found in groups:
        if found:
            lines.append(words)
            lines += [
                N_("  {what}: {why}", what=entry.what, why=entry.why)
                for entry in found[:_MOST_LISTED]
            ]
        if len(found) > _MOST_LISTED:
            lines.append(N_("  and {count} more.", count=f"{len(found) - _MOST_LISTED:,}"))
    for why, names in report.passed_by_reason.items():
        named = ", ".join(names[:_MOST_NAMED])
        if len(names) > _MOST_NAMED:
            named = N_(
                "{named} and {count} more", named=named, count=f"{len(names) - _MOST_NAMED:,}"
            )
        lines.append(N_("Passed over: {named}. {why}", named=named, why=why))
    return lines


def _new(report: FileReport, *, done: bool) -> str:
    what = N_(
        "{chats} with {messages}",
        chats=_counted(report.new, "chat"),
        messages=_counted(report.messages, "message"),
    )
    if report.sources:
        what = N_("{what} from {sources}", what=what, sources=listed(report.sources))
    template = N_("Imported: {what}.") if done else N_("Can be imported: {what}.")
    return N_(template, what=what)


def _report(file: FileFound, seen: dict[str, bool]) -> FileReport:
    counts: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    messages = 0
    for chat in file.chats:
        state = seen.get(chat.chat.id)
        counts["new" if state is None else "back" if state else "here"] += 1
        seen[chat.chat.id] = False
        if state is None:
            messages += len(chat.messages)
            left_out.update(chat.left_out)
    return FileReport(
        name=file.path.name,
        sources=tuple(dict.fromkeys(chat.source for chat in file.chats)),
        new=counts["new"],
        back=counts["back"],
        here=counts["here"],
        messages=messages,
        left_out=left_out,
        not_read=file.not_read,
        passed_over=file.passed_over,
    )


def _counted(count: int, noun: str) -> str:
    one, many = (
        (N_("1 chat"), N_("{count} chats"))
        if noun == "chat"
        else (N_("1 message"), N_("{count} messages"))
    )
    return one if count == 1 else N_(many, count=f"{count:,}")
