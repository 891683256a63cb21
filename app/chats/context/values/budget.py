"""The share of a model's context that a chat takes, and the messages the model still sees: pure.

All lengths are in tokens. They are estimated if no loaded model can count them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.chats.context.values.summary import ChatPrompt, Summary
from app.chats.history.values.conversation import OverflowPolicy, StoredMessage
from app.documents.values.documents import FileShare
from engines import conversation
from engines.media import sound_seconds
from engines.types import Measured, Medium, Message, Role

Place = Literal["system", "summary", "message", "draft"]

BYTES_PER_TOKEN = 4.0
"""Approximate bytes per token of English text; other languages have fewer bytes per token."""

_FEWEST, _MOST = 1.5, 6.0
"""Bounds for the bytes per token computed from a chat's own answers, as short ones mislead."""

_DOUBT = 1.15
_ENOUGH = 50
"""Tokens that a chat must have for its own bytes per token to be used."""

_WORDS = 120
"""How many characters of a message are shown to recognise it."""

OF_A_PICTURE = 1000
"""Tokens of a picture, between the 256 of Gemma and the 4,000 of Qwen for a large photo."""

_OF_A_SECOND = 25
"""Tokens per second of sound: exact for Gemma, a few too many for Qwen."""

_MARKUP = 5
"""Approximate tokens that a chat template adds around a message."""


@dataclass(frozen=True)
class MeasuredMessage:
    """One message of the prompt with its length in tokens.

    Attributes:
        id: The id of the stored message, or "".
        words: The beginning of its text.
        left: Whether it would be left out.
        pinned: Whether the user pinned it; the other messages of its turn stay with it.
        files: How many of its tokens come from files.
    """

    place: Place
    id: str
    role: Role
    words: str
    tokens: int
    left: bool = False
    pinned: bool = False
    files: int = 0


@dataclass(frozen=True)
class FileUse:
    """An attached file in the prompt.

    Attributes:
        share: How much of the file is in.
        tokens: Tokens of the parts that are in.
        whole: Tokens of the whole file, estimated if only parts are in.
        new: Whether it goes with the next question.
    """

    sha256: str
    share: FileShare
    tokens: int
    whole: int
    new: bool = False


@dataclass(frozen=True)
class ContextUse:
    """The part of the context that a chat's next question takes, with the draft as its text.

    Attributes:
        total: Tokens of the prompt with all its parts.
        prompt: Tokens of the prompt that would really be sent.
        kept: Tokens reserved for the answer.
        context: The loaded model's context in tokens; 0 if a server does not report it.
        exact: Whether the loaded model counted, as opposed to an estimate.
        most: The context that the model was trained for, in tokens.
        summary: Replaces the messages in `summed`, which are not among the parts.
        bytes_per_token: Measured from this chat's text.
        files: The files attached to any of the messages.
    """

    parts: tuple[MeasuredMessage, ...]
    total: int
    prompt: int
    kept: int
    context: int
    exact: bool
    policy: OverflowPolicy
    most: int = 0
    summary: Summary | None = None
    summed: tuple[MeasuredMessage, ...] = ()
    draft: str = ""
    bytes_per_token: float = BYTES_PER_TOKEN
    files: tuple[FileUse, ...] = ()

    @property
    def room(self) -> int:
        """Tokens of the context that are left for the prompt."""
        return self.context - self.kept

    @property
    def fits(self) -> bool:
        """True if everything fits, as far as is known."""
        return not self.context or self.total <= self.room

    @property
    def possible(self) -> bool:
        """True if the question can be answered under the chat's policy for a full context."""
        return self.fits or (self.policy != "stop" and self.prompt < self.context)

    @property
    def left(self) -> tuple[str, ...]:
        """Ids of the stored messages that would be left out, oldest first."""
        return tuple(part.id for part in self.parts if part.left and part.id)

    def tokens_of(self, place: Place) -> int:
        """Count the tokens of all parts of this kind that stay in the prompt."""
        return sum(part.tokens for part in self.parts if part.place == place and not part.left)

    def tokens_of_files(self, place: Place | None = None) -> int:
        """Count the tokens from files that stay in the prompt, in all parts or in one kind."""
        return sum(
            part.files for part in self.parts if not part.left and place in (None, part.place)
        )

    def file(self, sha256: str) -> FileUse | None:
        """Return the use of a file; None if it is attached to no message."""
        return next((file for file in self.files if file.sha256 == sha256), None)

    @property
    def pinned(self) -> int:
        """Tokens of the pinned parts."""
        return sum(part.tokens for part in self.parts if part.pinned)

    def asks_first(self, *, user_knows: bool) -> bool:
        """Return whether to warn before this is sent.

        An estimate has to be clearly too large.

        Args:
            user_knows: Whether the user knows that messages are left out.
        """
        if not self.context:
            return False
        over = self.total > self.room * (1 if self.exact else _DOUBT)
        if self.prompt >= self.context * (1 if self.exact else _DOUBT):
            return True
        return over and (self.policy == "stop" or (self.policy == "leave_out" and not user_knows))

    def with_draft(self, draft: str) -> ContextUse:
        """Return the use with another draft, estimated from its length in bytes."""
        if draft == self.draft:
            return self
        more = estimated_tokens(draft, self.bytes_per_token) - estimated_tokens(
            self.draft, self.bytes_per_token
        )
        return replace(
            self,
            total=max(0, self.total + more),
            prompt=max(0, self.prompt + more),
            draft=draft,
            exact=False,
        )

    def recounted(self, draft: str, more: int) -> ContextUse | None:
        """Return the use with another draft, or None if everything has to be measured again.

        It must be measured again if the new length can change which messages are left out.

        Args:
            more: How many tokens the new draft adds; negative if it is shorter.
        """
        if not self.parts or self.parts[-1].place != "draft" or self.prompt + more > self.room:
            return None
        last = self.parts[-1]
        last = replace(last, words=_beginning(draft), tokens=max(0, last.tokens + more))
        return replace(
            self,
            parts=(*self.parts[:-1], last),
            total=self.total + more,
            prompt=self.prompt + more,
            draft=draft,
        )


def use_of(
    prompt: ChatPrompt,
    measured: Measured,
    *,
    exact: bool,
    policy: OverflowPolicy,
    most: int = 0,
    draft: str = "",
    summary: Summary | None = None,
    summed: Sequence[StoredMessage] = (),
    own: tuple[ChatPrompt, Measured] | None = None,
    files: Sequence[FileUse] = (),
) -> ContextUse:
    """Divide a measured prompt into its parts; its last message can be the unsaved draft.

    Args:
        own: The same prompt without the text of files, and its measure; None if no file is in.
    """
    left = set(measured.left) if policy == "leave_out" else set()
    words, lengths = (own[0], own[1].lengths) if own else (prompt, measured.lengths)
    parts = tuple(
        MeasuredMessage(
            _place(prompt, at, summary),
            prompt.ids[at],
            message.role,
            _beginning(words.messages[at].text),
            tokens,
            at in left,
            words.messages[at].pinned,
            max(0, tokens - lengths[at]),
        )
        for at, (message, tokens) in enumerate(zip(prompt.messages, measured.lengths, strict=True))
    )
    written = sum(len(message.text.encode(errors="replace")) for message in prompt.messages)
    counted = measured.total - _MARKUP * len(parts)
    ratio = _bounded(written / counted) if counted > _ENOUGH else BYTES_PER_TOKEN
    return ContextUse(
        parts=parts,
        total=measured.total,
        prompt=measured.prompt,
        kept=measured.kept,
        context=measured.context,
        exact=exact,
        policy=policy,
        most=most,
        summary=summary,
        summed=tuple(
            MeasuredMessage(
                "message",
                message.id,
                message.role,
                _beginning(message.text),
                estimated_tokens(message.text, ratio) + _MARKUP,
            )
            for message in summed
        ),
        draft=draft,
        bytes_per_token=ratio,
        files=tuple(files),
    )


def estimate(
    messages: Sequence[Message], context: int, max_tokens: int | None, bytes_per_token: float
) -> Measured:
    """Estimate the result of `Engine.measure` without a loaded model."""
    lengths = [
        estimated_tokens(message.text, bytes_per_token)
        + _MARKUP
        + sum(map(medium_tokens, message.media))
        for message in messages
    ]
    reserved = conversation.answer_room(context, max_tokens)
    left: tuple[int, ...] = ()
    if context and sum(lengths) > context - reserved:
        left = conversation.cuts(messages, lengths, context - reserved, context)[0]
    prompt = sum(lengths) - sum(lengths[at] for at in left)
    return Measured(tuple(lengths), sum(lengths), reserved, context, left, prompt)


def medium_tokens(medium: Medium) -> int:
    """Estimate the tokens of a picture or a sound; the real number depends on the model."""
    if medium.kind == "image":
        return OF_A_PICTURE
    return math.ceil((sound_seconds(medium.data) or 0.0) * _OF_A_SECOND)


def estimated_tokens(text: str, bytes_per_token: float) -> int:
    """Estimate the number of tokens of a text."""
    return math.ceil(len(text.encode(errors="replace")) / bytes_per_token)


def bytes_per_token(path: Iterable[StoredMessage]) -> float:
    """Return the bytes of text per token, as models counted this chat's answers."""
    counted = [message for message in path if message.facts and message.facts.completion_tokens]
    tokens = sum(message.facts.completion_tokens for message in counted if message.facts)
    written = sum(
        len((message.reasoning + message.text).encode(errors="replace")) for message in counted
    )
    return _bounded(written / tokens) if tokens >= _ENOUGH else BYTES_PER_TOKEN


def _place(prompt: ChatPrompt, at: int, summary: Summary | None) -> Place:
    if prompt.ids[at]:
        return "message"
    if prompt.messages[at].role == "user":
        return "draft"
    following = prompt.messages[at + 1] if at + 1 < len(prompt.messages) else None
    last_of_system = following is None or following.role != "system"
    return "summary" if summary is not None and last_of_system else "system"


def _beginning(text: str) -> str:
    return " ".join(text[: 2 * _WORDS].split())[:_WORDS]


def _bounded(ratio: float) -> float:
    return min(_MOST, max(_FEWEST, ratio))
