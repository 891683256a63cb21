"""Texts of a report on an import, in the window's language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from PySide6.QtCore import QCoreApplication

from app.base.language import translated
from app.exchange.values.report import MOST_LISTED, MOST_NAMED, FileReport
from app.kit.look.format import figure


def _tr(text: str) -> str:
    return QCoreApplication.translate("exchange", text)


def report_text(reports: Iterable[FileReport], *, done: bool) -> str:
    """Return the whole report as text.

    Args:
        done: Whether the import has happened, as opposed to a preview.
    """
    return "\n\n".join(
        "\n".join((report.name, *sentences(report, done=done))) for report in reports
    )


def sentences(report: FileReport, *, done: bool) -> list[str]:
    """Return the report on one file, a sentence each.

    Args:
        done: As in `told`.
    """
    lines = []
    if report.new:
        verb = _tr("Imported: {what}.") if done else _tr("Can be imported: {what}.")
        what = _tr("{new} with {messages}").format(
            new=_chats(report.new), messages=_messages(report.messages)
        )
        if report.sources:
            what = _tr("{what} from {sources}").format(what=what, sources=", ".join(report.sources))
        lines.append(verb.format(what=what))
    if report.back:
        lines.append(_tr("Restored from the trash: {back}.").format(back=_chats(report.back)))
    if report.here:
        lines.append(_tr("Already here: {here}.").format(here=_chats(report.here)))
    for what, count in sorted(report.left_out.items()):
        words = _tr("Left out, because Hearth does not support it: {what} ({count}).")
        lines.append(words.format(what=translated(what), count=figure(count)))
    return [*lines, *_not_read(report)]


def _not_read(report: FileReport) -> Iterator[str]:
    """Yield a line for each part of a file that was not read, or only in part."""
    groups = (
        (_tr("Read in part: {count}."), report.partly_read),
        (_tr("Not read: {count}."), report.wholly_unread),
    )
    for words, found in groups:
        if found:
            yield words.format(count=figure(len(found)))
        for entry in found[:MOST_LISTED]:
            yield f"  {translated(entry.what)}: {translated(entry.why)}"
        if (more := len(found) - MOST_LISTED) > 0:
            yield "  " + _tr("and {more} more.").format(more=figure(more))
    for why, names in report.passed_by_reason.items():
        named = ", ".join(names[:MOST_NAMED])
        if (more := len(names) - MOST_NAMED) > 0:
            named = _tr("{named} and {count} more").format(named=named, count=figure(more))
        yield _tr("Passed over: {named}. {why}").format(named=named, why=translated(why))


def _chats(count: int) -> str:
    return _tr("1 chat") if count == 1 else _tr("{count} chats").format(count=figure(count))


def _messages(count: int) -> str:
    return _tr("1 message") if count == 1 else _tr("{count} messages").format(count=figure(count))
