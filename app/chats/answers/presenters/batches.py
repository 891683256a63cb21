"""Joins an engine's token-by-token events into pieces that suit a window: pure."""

from __future__ import annotations

from collections.abc import Iterable

from app.chats.answers.values.answers import AnswerEvent, Ended
from engines.types import Done, MtpReport, ReasoningDelta, TextDelta


def joined(events: Iterable[AnswerEvent]) -> list[AnswerEvent]:
    """Join neighbouring pieces of text.

    Only the last MTP report is kept, counting the one in a Done; it becomes the last event, or the
    last before an Ended.
    """
    result: list[AnswerEvent] = []
    report: MtpReport | None = None
    for event in events:
        last = result[-1] if result else None
        if isinstance(event, MtpReport):
            report = event
        elif isinstance(event, Done):
            report = event.mtp
        elif isinstance(event, TextDelta) and isinstance(last, TextDelta):
            result[-1] = TextDelta(last.text + event.text)
        elif isinstance(event, ReasoningDelta) and isinstance(last, ReasoningDelta):
            result[-1] = ReasoningDelta(last.text + event.text)
        else:
            result.append(event)
    if report is not None:
        ends = bool(result) and isinstance(result[-1], Ended)
        result.insert(len(result) - ends, report)
    return result
