"""A conversation is a tree of messages; a chat shows the path from its root to one leaf.

Regenerating or editing adds a sibling, so nothing that was written is ever overwritten.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from engines.errors import EngineError, UserError

if TYPE_CHECKING:
    from app.documents.values.documents import Attachment, PromptSource
    from engines.types import Medium, Message, MtpReport, Role

MessageState = Literal["complete", "streaming", "stopped", "interrupted", "failed"]
"""streaming: being written now. stopped: by the user, or as it repeated itself. interrupted: by a
crash or a power cut."""

OverflowPolicy = Literal["leave_out", "compact", "stop"]
"""When a chat outgrows the context: leave out the oldest, sum them up, or ask nothing."""


@dataclass(frozen=True)
class AnswerFacts:
    """The figures of one answer; times in seconds, speeds in tokens per second.

    mtp: what multi-token prediction did for it; None for answers from before it was there.
    notes: what of the plan the engine did otherwise, one sentence each.
    guessed: nobody counted the answer's tokens. why: this engine answered, a sentence where
    Hearth chose it.
    """

    model: str
    engine: str
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    context: int = 0
    left_out: int = 0
    ttft_s: float = 0.0
    decode_tok_s: float = 0.0
    seed: int = 0
    finish_reason: str = ""
    mtp: MtpReport | None = None
    notes: tuple[str, ...] = ()
    guessed: bool = False
    why: str = ""


@dataclass(frozen=True)
class Failure:
    """The three parts of the error that ended an answer, and its code.

    action: what a button can do about it, by the kinds of `engines.errors.Action`, with its value.
    terminal: what to do for those who type commands, where that is another sentence.
    """

    code: str
    what: str
    why: str
    do: str
    action: str = ""
    value: int | str = ""
    terminal: str = ""

    @classmethod
    def of(cls, error: UserError) -> Failure:
        action = error.action if isinstance(error, EngineError) else None
        kind, value = (action.kind, action.value) if action else ("", "")
        terminal = error.terminal if error.terminal != error.do else ""
        return cls(error.code, error.what, error.why, error.do, kind, value, terminal)


@dataclass(frozen=True)
class StoredMessage:
    """A message as it lies in the store. created is in seconds since 1970, UTC.

    reasoning_s: how long the model reasoned, in seconds. rating: 1 good, -1 bad, 0 not rated.
    pinned: it stays in the prompt when others leave. asked: how the answer was asked for, so that
    it can be asked for again in just that way; JSON, as `app.chats.answers.values.asked` has it.
    attachments: the files that go with a question. sources: what an answer was told besides the
    words of its question, by where it comes from.
    """

    id: str
    chat_id: str
    parent_id: str | None
    role: Role
    text: str
    created: float
    state: MessageState = "complete"
    reasoning: str = ""
    facts: AnswerFacts | None = None
    failure: Failure | None = None
    reasoning_s: float = 0.0
    rating: int = 0
    pinned: bool = False
    asked: str = ""
    attachments: tuple[Attachment, ...] = ()
    sources: tuple[PromptSource, ...] = ()

    @property
    def repeats(self) -> bool:
        """Whether it was ended as it repeated itself."""
        reason = self.facts.finish_reason if self.facts else ""
        return self.state == "stopped" and reason == "repetition"


@dataclass(frozen=True)
class ToldMessage(StoredMessage):
    """A message as a model is told it, in memory alone: with what its files show or play."""

    media: tuple[Medium, ...] = ()


def path_to(messages: Iterable[StoredMessage], leaf_id: str | None) -> tuple[StoredMessage, ...]:
    """Return the path from the root to the leaf, oldest first; empty without a leaf."""
    by_id = {message.id: message for message in messages}
    path: list[StoredMessage] = []
    step = leaf_id
    while step is not None and step in by_id:
        message = by_id.pop(step)
        path.append(message)
        step = message.parent_id
    path.reverse()
    return tuple(path)


def said(path: Iterable[StoredMessage]) -> tuple[StoredMessage, ...]:
    """Pick the messages of a path that an engine is sent: all but failed and empty answers.

    Reasoning without an answer counts at the end of a path: there it is gone on with.
    A question whose answer is missing keeps its place only if it is the last one: a chat
    template wants user and assistant to take turns.
    """
    turns: list[StoredMessage] = []
    messages = list(path)
    for message in messages:
        goes_on = message is messages[-1] and message.reasoning
        if message.role == "assistant" and not message.text and not goes_on:
            continue
        if turns and message.role == "user" and turns[-1].role == "user":
            turns.pop()
        turns.append(message)
    return tuple(turns)


def as_message(message: StoredMessage) -> Message:
    """Turn a stored message into one for an engine."""
    from engines.types import Message

    return Message(
        message.role,
        message.text,
        pinned=message.pinned,
        reasoning=message.reasoning,
        media=message.media if isinstance(message, ToldMessage) else (),
    )
