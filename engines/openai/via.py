"""The connection to a model on a server: the client, and the known facts about the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engines import conversation
from engines.openai.client import OpenAiClient
from engines.openai.media import most_tokens, size_of
from engines.openai.values import Drafted, ServerKind
from engines.sentences import N_
from engines.types import ChatRequest, Message, MtpReport, Thinking

Report = Callable[[ChatRequest, Drafted | None], MtpReport]
"""Makes the report on MTP after an answer, from the server's counts of drafts, if any."""


def no_report(request: ChatRequest, drafted: Drafted | None) -> MtpReport:
    """Report on MTP for a server that mentions drafts only in its answers."""
    if drafted is None:
        return MtpReport(
            request.mtp, active=False, reason=N_("The server decides, and does not say.")
        )
    return MtpReport(
        request.mtp,
        active=drafted.drafted > 0,
        reason=N_("The server guesses ahead, as it was set to when it was started."),
        kind="drafter",
        drafted=drafted.drafted,
        accepted=drafted.accepted,
    )


class Gauge:
    """Estimates the tokens of messages, and learns from the counts that a server returns."""

    _EACH = 24
    """Bytes that a template writes around a message."""

    def __init__(self) -> None:
        self._per_byte = 0.3

    def guess(self, messages: Sequence[Message]) -> int:
        """Estimate the tokens of messages."""
        return max(1, round(self._size(messages) * self._per_byte))

    def learn(self, messages: Sequence[Message], tokens: int) -> None:
        """Adjust the estimates to the tokens that a server counted for messages."""
        self._per_byte = tokens / self._size(messages)

    def of_bytes(self, size: int) -> int:
        """Estimate the tokens of an answer of `size` bytes that the server does not count."""
        return round(size * self._per_byte)

    def more(self) -> None:
        """Raise the estimates, because the last one was too low by an unknown amount."""
        self._per_byte *= 1.25

    def most(self, messages: Sequence[Message]) -> int:
        """Return an upper limit for the messages' tokens, each of which has at least one byte."""
        return 256 + sum(
            conversation.size(it) + len(it.reasoning) + 64 * (1 + len(it.calls)) + most_tokens(it)
            for it in messages
        )

    def _size(self, messages: Sequence[Message]) -> int:
        sizes = (conversation.size(it) + size_of(it) + self._EACH for it in messages)
        return sum(sizes) + self._EACH


@dataclass(frozen=True)
class Via:
    """The connection to a model: the server, and the known facts about the model.

    Attributes:
        model: Name of the model on the server.
        context: Context in tokens; 0 if unknown.
        load_s: Value for `Timing.load_s`.
        report: Makes the MtpReport of `Done`.
        tokenizes: The server counts tokens.
        measures: `measure` also asks the server, which then sees messages that were not sent yet.
        drafts: The server drafts tokens ahead.
        thinking: As in `LoadedModel`.
        thinks: As in `LoadedModel`.
        without: Fields that must not be sent to this server.
        special: Markers of reasoning can be special tokens, which the server omits by default.
        holds_calls: The server enforces required tool calls, if it accepts tools.
        gauge: Estimates tokens.
    """

    client: OpenAiClient
    model: str
    kind: ServerKind = "openai"
    context: int = 0
    load_s: float = 0.0
    report: Report = no_report
    tokenizes: bool = False
    measures: bool = False
    drafts: bool = False
    thinking: Thinking = "none"
    thinks: bool = False
    without: frozenset[str] = frozenset()
    special: bool = False
    holds_calls: bool = True
    gauge: Gauge = field(default_factory=Gauge)

    def expects(self, thinking: bool | None) -> bool:
        """Return whether the model will reason for this value of `ChatRequest.thinking`."""
        if self.thinking == "always" or thinking is None:
            return self.thinks
        return thinking
