"""The connection to a model on a server: the client, and the known facts about the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engines import conversation
from engines.openai.client import OpenAiClient
from engines.openai.media import media_size, most_tokens
from engines.openai.values import Drafted, ServerKind
from engines.sentences import N_
from engines.types import ChatRequest, Message, MtpReport, Thinking

Report = Callable[[ChatRequest, Drafted | None], MtpReport]
"""Makes the report on MTP after an answer, from the server's counts of drafts, if any."""


def no_report(request: ChatRequest, drafted: Drafted | None) -> MtpReport:
    """Report on MTP for a server that mentions drafts only in its answers."""
    if drafted is None:
        return MtpReport(
            request.mtp,
            active=False,
            reason=N_("The server decides about this, and does not report it."),
        )
    return MtpReport(
        request.mtp,
        active=drafted.drafted > 0,
        reason=N_("The server guesses ahead, as was set when it was started."),
        kind="drafter",
        drafted=drafted.drafted,
        accepted=drafted.accepted,
    )


class TokenEstimator:
    """Estimates the tokens of messages, and learns from the counts that a server returns."""

    _EACH = 24
    """Bytes that a template writes around a message."""

    def __init__(self) -> None:
        self._per_byte = 0.3

    def estimate(self, messages: Sequence[Message]) -> int:
        """Estimate the tokens of messages."""
        return max(1, round(self._size(messages) * self._per_byte))

    def learn(self, messages: Sequence[Message], tokens: int) -> None:
        """Adjust the estimates to the tokens that a server counted for messages."""
        self._per_byte = tokens / self._size(messages)

    def estimate_bytes(self, size: int) -> int:
        """Estimate the tokens of an answer of `size` bytes that the server does not count."""
        return round(size * self._per_byte)

    def raise_estimates(self) -> None:
        """Raise the estimates, because the last one was too low by an unknown amount."""
        self._per_byte *= 1.25

    def upper_limit(self, messages: Sequence[Message]) -> int:
        """Return an upper limit for the messages' tokens, each of which has at least one byte."""
        return 256 + sum(
            conversation.size(message)
            + len(message.reasoning)
            + 64 * (1 + len(message.calls))
            + most_tokens(message)
            for message in messages
        )

    def _size(self, messages: Sequence[Message]) -> int:
        sizes = (
            conversation.size(message) + media_size(message) + self._EACH for message in messages
        )
        return sum(sizes) + self._EACH


@dataclass(frozen=True)
class ServedModelAccess:
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
        omitted: Fields that must not be sent to this server.
        keep_special_tokens: Ask for special tokens in the text, as markers of reasoning can be
            some, and the server omits them by default.
        enforces_calls: The server enforces required tool calls, if it accepts tools.
        estimator: Estimates tokens.
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
    omitted: frozenset[str] = frozenset()
    keep_special_tokens: bool = False
    enforces_calls: bool = True
    estimator: TokenEstimator = field(default_factory=TokenEstimator)

    def expects_reasoning(self, thinking: bool | None) -> bool:
        """Return whether the model will reason for this value of `ChatRequest.thinking`."""
        if self.thinking == "always" or thinking is None:
            return self.thinks
        return thinking
