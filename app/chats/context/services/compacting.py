"""Makes room in a full chat: the model summarises the turns that would be left out."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

from app.chats.answers.values.answers import Compaction
from app.chats.context.store import SummaryStore
from app.chats.context.values.summary import (
    REQUEST,
    ChatPrompt,
    Summary,
    covered,
    in_effect,
    prompt_of,
)
from app.chats.history.values.conversation import StoredMessage
from app.runtime.services.lease import Lease
from engines.cancel import CancelToken
from engines.errors import UserError
from engines.sentences import N_
from engines.types import ChatRequest, Done, Measured, Message, Sampling, TextDelta

_LONGEST: Final = 512
"""Most tokens of a summary; in a small context, an eighth of the context."""
_SHORTEST: Final = 48
_WORDS_PER_TOKEN: Final = 0.6
_MARGIN: Final = 32
"""Safety margin in tokens, because lengths of single messages are not exact."""


class _NoSummary(Exception):
    """The model wrote no usable summary; the message is a sentence with the reason."""


class Compacting:
    """Makes room for an answer, on the thread that writes it. Qt-free."""

    def __init__(self, summaries: SummaryStore) -> None:
        self._summaries = summaries

    def free_space(
        self,
        model: Lease,
        path: Sequence[StoredMessage],
        system_prompt: str,
        request: ChatRequest,
        cancel: CancelToken,
    ) -> Generator[Compaction, None, ChatPrompt]:
        """Return the prompt for an answer, with summaries in place of turns that do not fit.

        Turns that cannot be summarised are left to the engine to leave out; the last event then
        says so.

        Args:
            model: The model that answers.
            request: The answer's request; its messages are ignored.

        Raises:
            EngineError: The prompt could not be measured.
        """
        known = in_effect(path, self._summaries.of_chat(path[-1].chat_id)) if path else None
        prompt = prompt_of(path, system_prompt, known)
        while not cancel.cancelled:
            measured = model.measure(replace(request, messages=prompt.messages), cancel)
            if not measured.left:
                break
            yield Compaction("begun", len(measured.left))
            try:
                summary, count = self._sum_up(model, path, prompt, measured, request, cancel)
                shorter = prompt_of(path, system_prompt, summary)
                after = model.measure(replace(request, messages=shorter.messages), cancel)
                if after.total >= measured.total:
                    raise _NoSummary(
                        N_("The summary is not shorter than the messages that it replaces.")
                    )
                self._summaries.save(summary)
            except (_NoSummary, UserError) as error:
                why = error.why if isinstance(error, UserError) else str(error)
                yield Compaction("failed", len(measured.left), why=why)
                break
            prompt = shorter
            yield Compaction("done", count, summary)
        return prompt

    def _sum_up(
        self,
        model: Lease,
        path: Sequence[StoredMessage],
        prompt: ChatPrompt,
        measured: Measured,
        request: ChatRequest,
        cancel: CancelToken,
    ) -> tuple[Summary, int]:
        """Summarise as many of the turns that must go as fit the context at once.

        The request follows those turns as they are in the prompt, so that the KV cache already
        holds them.

        Returns:
            The summary, and the number of messages that it replaces.

        Raises:
            _NoSummary: No usable summary was written.
            EngineError: The engine failed.
        """
        longest = max(_SHORTEST, min(_LONGEST, measured.context // 8))
        closing = Message("user", REQUEST.format(round(longest * _WORDS_PER_TOKEN)))
        summary_request = replace(
            request,
            sampling=Sampling(temperature=0.0),
            max_tokens=longest,
            stop=(),
            mtp="off",
            depth=None,
            thinking=False,
            overflow="stop",
        )
        closing_alone = model.measure(replace(summary_request, messages=(closing,)), cancel)
        room = measured.context - closing_alone.kept - closing_alone.total - _MARGIN
        end = _end(prompt.messages, measured, room)
        if end is None:
            raise _NoSummary(N_("The oldest messages are too long to be read at once."))
        summary_request = replace(summary_request, messages=(*prompt.messages[: end + 1], closing))
        text, tokens = _written(model, summary_request, cancel)
        if cancel.cancelled:
            raise _NoSummary(N_("It was stopped."))
        if not text:
            raise _NoSummary(N_("The model wrote nothing."))
        last = prompt.ids[end]
        summary = Summary(last, text, model.entry.name, tokens, time.time(), covered(path, last))
        return summary, sum(at <= end for at in measured.left)


def _written(model: Lease, request: ChatRequest, cancel: CancelToken) -> tuple[str, int]:
    """Return the model's answer and its number of tokens. Raises EngineError."""
    text, tokens = "", 0
    for event in model.chat(request, cancel):
        if isinstance(event, TextDelta):
            text += event.text
        elif isinstance(event, Done):
            tokens = event.usage.completion_tokens
    return text.strip(), tokens


def _end(messages: Sequence[Message], measured: Measured, room: int) -> int | None:
    """Return the index of the last message that must go and, with all before it, fits the room."""
    sums = list(accumulate(measured.lengths))
    ends = [at for at in measured.left if messages[at + 1].role == "user" and sums[at] <= room]
    return max(ends, default=None)
