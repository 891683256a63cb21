"""The way to a model on a server: the server's client, and what is known of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engines import conversation
from engines.openai.client import OpenAiClient
from engines.openai.media import most_tokens, size_of
from engines.openai.values import Drafted, ServerKind
from engines.types import ChatRequest, Message, MtpReport, Thinking

Report = Callable[[ChatRequest, Drafted | None], MtpReport]
"""Reports on MTP behind an answer, from what the server said of its drafts, if anything."""


def no_report(request: ChatRequest, drafted: Drafted | None) -> MtpReport:
    """Report on MTP for a server that tells of drafts only with the answer."""
    if drafted is None:
        return MtpReport(request.mtp, active=False, reason="The server decides, and does not say.")
    return MtpReport(
        request.mtp,
        active=drafted.drafted > 0,
        reason="The server guesses ahead, as it was set to when it was started.",
        kind="drafter",
        drafted=drafted.drafted,
        accepted=drafted.accepted,
    )


class Gauge:
    """Guesses how many tokens messages take; learns from what a server says of others."""

    _EACH = 24
    """The bytes that a template writes around a message."""

    def __init__(self) -> None:
        self._per_byte = 0.3

    def guess(self, messages: Sequence[Message]) -> int:
        return max(1, round(self._size(messages) * self._per_byte))

    def learn(self, messages: Sequence[Message], tokens: int) -> None:
        self._per_byte = tokens / self._size(messages)

    def of_bytes(self, size: int) -> int:
        """Guess the tokens of an answer of so many bytes, whose server does not count them."""
        return round(size * self._per_byte)

    def more(self) -> None:
        """Guess higher from now on: it was too little, by nobody knows how much."""
        self._per_byte *= 1.25

    def most(self, messages: Sequence[Message]) -> int:
        """Return more tokens than the messages can take: each has at least one byte."""
        return 256 + sum(
            conversation.size(it) + len(it.reasoning) + 64 * (1 + len(it.calls)) + most_tokens(it)
            for it in messages
        )

    def _size(self, messages: Sequence[Message]) -> int:
        sizes = (conversation.size(it) + size_of(it) + self._EACH for it in messages)
        return sum(sizes) + self._EACH


@dataclass(frozen=True)
class Via:
    """The way to a model: the server, and what is known of it.

    model: its name there. context: in tokens, 0 where the server does not tell.
    load_s: what `Timing.load_s` says. report: makes the MtpReport of `Done`.
    tokenizes: the server counts tokens. measures: it is asked to for `measure` as well, though a
    draft that nobody has sent goes to it then. drafts: it drafts tokens ahead.
    thinking, thinks: as in `LoadedModel`. without: fields that this server must not be sent.
    special: its model's markers of reasoning may be tokens that it leaves out unless it is asked.
    holds_calls: a model that has to call a tool cannot answer without, if the server takes tools.
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
        """Whether the model will reason if it is asked for this."""
        if self.thinking == "always" or thinking is None:
            return self.thinks
        return thinking
