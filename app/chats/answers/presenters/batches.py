"""Joins an engine's token-by-token events into pieces that suit a window: pure."""

from __future__ import annotations

from collections.abc import Iterable

from app.chats.answers.values.answers import AnswerEvent, Ended
from engines.types import Done, MtpReport, PromptProgress, ReasoningDelta, TextDelta


def joined(events: Iterable[AnswerEvent]) -> list[AnswerEvent]:
    """Join neighbouring pieces of text.

    Of neighbouring reports on reading a prompt, only the last is kept. Of all reports on MTP,
    including the one in a Done, only the last is kept; it becomes the last event, or the last
    before an Ended.
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
        elif isinstance(event, PromptProgress) and isinstance(last, PromptProgress):
            result[-1] = event
        else:
            result.append(event)
    if report is not None:
        ends = bool(result) and isinstance(result[-1], Ended)
        result.insert(len(result) - ends, report)
    return result
