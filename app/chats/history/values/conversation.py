"""A conversation as a tree of messages; a chat shows the path from the root to one leaf.

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
"""The state of a message.

"streaming" means that it is being written now; "stopped", that the user stopped it or that it
repeated itself; "interrupted", that Hearth crashed or the power failed.
"""

OverflowPolicy = Literal["leave_out", "compact", "stop"]
"""What to do when a chat outgrows the context.

Leave out the oldest messages, summarise them, or refuse the question.
"""


@dataclass(frozen=True)
class AnswerFacts:
    """The figures of one answer; times in seconds, speeds in tokens per second.

    Attributes:
        mtp: The report of multi-token prediction; None for answers older than that.
        notes: How the engine deviated from the plan, one sentence each.
        guessed: Whether the token count is an estimate, because nobody counted the answer's tokens.
        why: A sentence saying why this engine answered, if Hearth chose it.
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
    """The error that ended an answer: its code and its three parts.

    Attributes:
        action: The kind of button that can help, as in `engines.errors.Action`.
        value: The button's value.
        terminal: The advice for the terminal, if it differs from `do`.
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
        """Return the record of an error."""
        action = error.action if isinstance(error, EngineError) else None
        kind, value = (action.kind, action.value) if action else ("", "")
        terminal = error.terminal if error.terminal != error.do else ""
        return cls(error.code, error.what, error.why, error.do, kind, value, terminal)


@dataclass(frozen=True)
class StoredMessage:
    """A message as it is stored.

    Attributes:
        created: Seconds since 1970, UTC.
        reasoning_s: How long the model reasoned, in seconds.
        rating: 1 good, -1 bad, 0 not rated.
        pinned: Whether it stays in the prompt when others are left out.
        asked: How the answer was requested, so that it can be requested again in the same way;
            JSON, see `app.chats.answers.values.answer_record`.
        attachments: The files that go with a question.
        sources: The sources of the text that an answer's prompt had besides the question.
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
        """True if the answer was stopped because it repeated itself."""
        reason = self.facts.finish_reason if self.facts else ""
        return self.state == "stopped" and reason == "repetition"


@dataclass(frozen=True)
class MessageWithMedia(StoredMessage):
    """A message as it is sent to a model, with the media of its files; never stored."""

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


def sent_messages(path: Iterable[StoredMessage]) -> tuple[StoredMessage, ...]:
    """Select the messages of a path that an engine receives, without failed and empty answers.

    Reasoning without an answer counts at the end of a path, because it will be continued there. A
    question without an answer is kept only if it is the last one: a chat template wants user and
    assistant to take turns.
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
        media=message.media if isinstance(message, MessageWithMedia) else (),
    )
