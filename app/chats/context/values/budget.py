"""The share of a model's context that a chat takes, and which messages the model still sees: pure.

All lengths are tokens. Where no model is loaded that could count them, they are estimated.
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
"""Bytes of English text in a token, about; other languages take more tokens for their bytes."""

_FEWEST, _MOST = 1.5, 6.0
"""Bounds for what a chat's own answers say of that: short ones can be far off."""

_DOUBT = 1.15
_ENOUGH = 50
"""Tokens from which on a chat says how many bytes each of its own has."""

_WORDS = 120
"""Characters by which a message is known again."""

OF_A_PICTURE = 1000
"""Tokens, between the 256 of Gemma and the 4,000 of Qwen for a large photo."""

_OF_A_SECOND = 25
"""Tokens of a second of sound: that many in Gemma, a few less in Qwen."""

_MARKUP = 5
"""Tokens that a chat template writes around a message, about."""


@dataclass(frozen=True)
class MeasuredMessage:
    """One message of the prompt, with its length in tokens.

    left: it would be left out. id: of the stored message, or "". words: how it begins. pinned: by
    the user; others of its turn stay with it. files: the tokens among them that come from files.
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

    tokens: of what is in. whole: of all of it, estimated where not all is in. share: how much of
    its places is in. new: it goes with the next question.
    """

    sha256: str
    share: FileShare
    tokens: int
    whole: int
    new: bool = False


@dataclass(frozen=True)
class ContextUse:
    """The part of the context that a chat's next question takes, with the draft as its text.

    total: of the prompt with all its parts. prompt: of what would really be asked. kept: room for
    the answer. context: of the model as it is loaded, 0 where a server does not tell; most: as it
    was trained. exact: counted by the loaded model, not estimated. summary: stands for `summed`,
    messages that are not among the parts. bytes_per_token: of this chat's text. files: attached to
    any of the messages.
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
        """The tokens of the context that are left for the prompt."""
        return self.context - self.kept

    @property
    def fits(self) -> bool:
        """Whether nothing has to be left out, as far as is known."""
        return not self.context or self.total <= self.room

    @property
    def possible(self) -> bool:
        """Whether the question can be answered under the chat's policy for a full context."""
        return self.fits or (self.policy != "stop" and self.prompt < self.context)

    @property
    def left(self) -> tuple[str, ...]:
        """The stored messages that would not be in the prompt, oldest first."""
        return tuple(part.id for part in self.parts if part.left and part.id)

    def tokens_of(self, place: Place) -> int:
        """Count the tokens of the parts in a place that stay in the prompt."""
        return sum(it.tokens for it in self.parts if it.place == place and not it.left)

    def tokens_of_files(self, place: Place | None = None) -> int:
        """Count the tokens of files that are in; of all parts, or of those in a place."""
        return sum(it.files for it in self.parts if not it.left and place in (None, it.place))

    def file(self, sha256: str) -> FileUse | None:
        """Return what is in of a file; None where it goes with no message."""
        return next((it for it in self.files if it.sha256 == sha256), None)

    @property
    def pinned(self) -> int:
        """The tokens of the pinned parts."""
        return sum(part.tokens for part in self.parts if part.pinned)

    def asks_first(self, *, told: bool) -> bool:
        """Whether to warn before this is sent. told: the user knows that messages are left out.

        What is estimated has to be clearly too much.
        """
        if not self.context:
            return False
        over = self.total > self.room * (1 if self.exact else _DOUBT)
        if self.prompt >= self.context * (1 if self.exact else _DOUBT):
            return True
        return over and (self.policy == "stop" or (self.policy == "leave_out" and not told))

    def with_draft(self, draft: str) -> ContextUse:
        """Return the use with another text for the next question, by its length in bytes."""
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
        """Return the use with another draft, which takes so many tokens more (or fewer).

        None where that may change what has to leave: then all is to be measured again.
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
    """Lay out the parts of a measured prompt; its last message may be the draft, not yet stored.

    own: the same prompt without the text of files, and measured, where some is in.
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
    """Estimate what `Engine.measure` would count, without a loaded model."""
    lengths = [
        estimated_tokens(it.text, bytes_per_token) + _MARKUP + sum(map(medium_tokens, it.media))
        for it in messages
    ]
    kept = conversation.answer_room(context, max_tokens)
    left: tuple[int, ...] = ()
    if context and sum(lengths) > context - kept:
        left = conversation.cuts(messages, lengths, context - kept, context)[0]
    prompt = sum(lengths) - sum(lengths[at] for at in left)
    return Measured(tuple(lengths), sum(lengths), kept, context, left, prompt)


def medium_tokens(medium: Medium) -> int:
    """Estimate what a picture or a sound takes; each model has a number of its own."""
    if medium.kind == "image":
        return OF_A_PICTURE
    return math.ceil((sound_seconds(medium.data) or 0.0) * _OF_A_SECOND)


def estimated_tokens(text: str, bytes_per_token: float) -> int:
    return math.ceil(len(text.encode(errors="replace")) / bytes_per_token)


def bytes_per_token(path: Iterable[StoredMessage]) -> float:
    """Return how many bytes of text a token takes, as models counted this chat's answers."""
    counted = [it for it in path if it.facts and it.facts.completion_tokens]
    tokens = sum(it.facts.completion_tokens for it in counted if it.facts)
    written = sum(len((it.reasoning + it.text).encode(errors="replace")) for it in counted)
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
