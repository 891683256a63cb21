"""Chooses which messages go to a server whose context is limited, as all engines do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engines import conversation
from engines.cancel import CancelToken
from engines.connection import Connection
from engines.errors import Cancelled, EngineError, Unsupported
from engines.openai.body import Body, prompt_body
from engines.openai.faults import TooLong
from engines.openai.kinds import HABITS
from engines.openai.media import size_of, tokens_about
from engines.openai.via import Via
from engines.overflow import full, prompt_too_long, too_long
from engines.types import ChatRequest, Measured, Message


def count(
    request: ChatRequest,
    via: Via,
    messages: Sequence[Message],
    connection: Connection | None = None,
) -> int | None:
    """Count the prompt's tokens for these messages; None where the server does not count."""
    if not via.tokenizes:
        return None
    # No server counts what it is shown: it would be sent there for nothing.
    words = [replace(it, media=()) for it in messages]
    body = countable(prompt_body(request, via.model, via.kind, words, via.without))
    if via.kind == "llama-server":
        counted = _by_template(via, body, connection)
    else:
        tokens = via.client.tokenize(body, connection)
        counted = None if tokens is None else len(tokens)
    return None if counted is None else counted + tokens_about(messages)


def count_prompt(
    prompt: str | Sequence[int], via: Via, connection: Connection | None = None
) -> int:
    """Count the tokens of a prompt that goes in as it is; a guess where the server does not."""
    if not isinstance(prompt, str):
        return len(prompt)
    tokens: list[int] | None = None
    if via.tokenizes:
        tokens = via.client.tokenize(tokenizing(via, prompt, special=True), connection)
    return (
        via.gauge.of_bytes(len(prompt.encode(errors="replace"))) if tokens is None else len(tokens)
    )


def tokenizing(via: Via, text: str, *, special: bool) -> Body:
    """Build the body of POST /tokenize for a text. special: its markers are their tokens."""
    if via.kind == "llama-server":
        return {"content": text, "add_special": special, "parse_special": special}
    return {"model": via.model, "prompt": text, "add_special_tokens": special}


def countable(body: Body) -> Body:
    """Return the part of a request that /tokenize and /apply-template know."""
    effort = body.pop("reasoning_effort", None)
    if effort is not None:
        body["chat_template_kwargs"] = {
            **body.get("chat_template_kwargs", {}),
            "reasoning_effort": effort,
        }
    return body


def _by_template(via: Via, body: Body, connection: Connection | None) -> int | None:
    """Count by llama-server, which writes the prompt, then tokenises it with its markers."""
    written = via.client.post("/apply-template", body, wanted=False, connection=connection)
    prompt = written.get("prompt") if isinstance(written, dict) else None
    if not isinstance(prompt, str):
        return None
    text = {"content": prompt, "add_special": True, "parse_special": True}
    tokens = via.client.tokenize(text, connection)
    return None if tokens is None else len(tokens)


_SHRINK = 0.8
_LEAST = 16


@dataclass(frozen=True)
class FittedMessages:
    """The messages that fit the context.

    tokens: of the prompt, as far as it is known before. left: messages that stay away.
    """

    messages: tuple[Message, ...]
    left: tuple[int, ...]
    tokens: int
    max_tokens: int | None


class Fitter:
    """Fits one request to the context, and learns when the server says that it was too long."""

    def __init__(self, request: ChatRequest, via: Via, connection: Connection) -> None:
        if not request.messages and request.prompt is None:
            raise ValueError("there is no message to answer")
        self._request = request
        self._via = via
        self._connection = connection
        self._context = via.context
        self._told: dict[int, int] = {}

    def fit(self) -> FittedMessages:
        """Choose the messages.

        Raises ContextFull, MessageTooLong, Unsupported and the server's errors.
        """
        request, messages = self._request, self._request.messages
        if request.suffix:
            raise Unsupported(
                "This engine fills no gap in a text.",
                "It takes what comes before an answer, and nothing that comes behind.",
                "Send nothing behind the gap, or choose a model that runs in llama.cpp.",
            )
        if request.prompt is not None:
            return self._as_it_is(request.prompt)
        if not self._context:
            return FittedMessages(messages, (), self._count(messages), request.max_tokens)
        kept = conversation.answer_room(self._context, request.max_tokens)
        room = self._context - kept
        most = self._most(messages)
        if not self._told and most <= self._context - (request.max_tokens or kept):
            # It fits whatever the tokens are, so they need not be counted.
            return FittedMessages(messages, (), self._via.gauge.guess(messages), request.max_tokens)
        total = self._count(messages)
        if total <= room:
            return self._with(messages, (), total)
        if request.overflow != "stop":
            return self._shorter(total, room)
        if self._knows(messages):
            raise full(total, kept, self._context)
        return FittedMessages(messages, (), total, request.max_tokens)

    def refused(self, error: TooLong, sent: FittedMessages) -> None:
        """Learn from the server's refusal; raises it again where nothing more can leave."""
        if self._request.prompt is not None:
            raise error
        if error.context is not None and error.context != self._context:
            self._context = error.context
            if error.prompt is None:
                return
        if not self._context:
            self._context = max(_LEAST, int(sent.tokens * _SHRINK))
        if error.prompt is not None and error.prompt != self._told.get(len(sent.messages)):
            self._told[len(sent.messages)] = error.prompt
            self._via.gauge.learn(sent.messages, error.prompt)
            return
        nothing_more = not list(conversation.turns(sent.messages))
        if nothing_more or self._request.overflow == "stop":
            raise error
        self._told.setdefault(-1, 0)
        self._via.gauge.more()

    def _as_it_is(self, prompt: str | Sequence[int]) -> FittedMessages:
        """Find the room behind a prompt of which nothing leaves: many servers write 16 tokens only.

        Raises MessageTooLong and the server's errors.
        """
        tokens = count_prompt(prompt, self._via, self._connection)
        if self._context and tokens >= self._context and self._via.tokenizes:
            raise prompt_too_long(tokens, self._context)
        wanted = self._request.max_tokens
        if wanted is None and self._context:
            wanted = max(1, self._context - tokens)
        return FittedMessages((), (), tokens, wanted)

    def _shorter(self, total: int, room: int) -> FittedMessages:
        messages = self._request.messages
        lengths = apportioned(messages, total)
        kept: tuple[Message, ...] = messages
        left: tuple[int, ...] = ()
        tokens = total
        for left in conversation.cuts(messages, lengths, room, self._context):
            kept = conversation.without(messages, left)
            tokens = self._count(kept)
            if tokens <= room:
                break
        if tokens >= self._context and not self._knows(kept):
            return FittedMessages(kept, left, tokens, self._request.max_tokens)
        if tokens >= self._context:
            fast = sum(lengths[at] for at in conversation.pinned(messages))
            raise too_long(tokens, fast, self._context)
        return self._with(kept, left, tokens)

    def _with(
        self, messages: tuple[Message, ...], left: tuple[int, ...], tokens: int
    ) -> FittedMessages:
        """Limit the tokens asked for to the room there is: some servers refuse more."""
        wanted = self._request.max_tokens
        if wanted is not None:
            wanted = max(1, min(wanted, self._context - tokens))
        return FittedMessages(messages, left, tokens, wanted)

    def _count(self, messages: Sequence[Message]) -> int:
        if (told := self._told.get(len(messages))) is not None:
            return told
        exact = count(self._request, self._via, messages, self._connection)
        return self._via.gauge.guess(messages) if exact is None else exact

    def _knows(self, messages: Sequence[Message]) -> bool:
        """Whether `_count` may refuse a request; a guess may not, where the server would tell."""
        via = self._via
        if any(message.media for message in messages):
            return len(messages) in self._told  # what pictures take is always a guess
        return via.tokenizes or len(messages) in self._told or HABITS[via.kind].cuts_off

    def _most(self, messages: Sequence[Message]) -> int:
        tools = sum(len(str(tool).encode()) + 64 for tool in self._request.tools)
        return self._via.gauge.most(messages) + tools


def apportioned(messages: Sequence[Message], total: int) -> list[int]:
    """Share the tokens out among messages, by their lengths."""
    sizes = [conversation.size(it) + size_of(it) + 24 for it in messages]
    whole, lengths, before = sum(sizes), [], 0
    for at in range(len(sizes)):
        upto = total * sum(sizes[: at + 1]) // whole
        lengths.append(upto - before)
        before = upto
    return lengths


def measure(request: ChatRequest, via: Via, cancel: CancelToken) -> Measured:
    """Measure a request's context. See `Engine.measure`; context 0 is not known.

    Where the server may not be asked, it is a guess, which each answer makes better.
    """
    try:
        with Connection.ended_by(cancel) as connection:
            return _measured(request, via, connection)
    except EngineError:
        if cancel.cancelled:
            raise Cancelled from None
        raise


def _measured(request: ChatRequest, via: Via, connection: Connection) -> Measured:
    messages, gauge = request.messages, via.gauge
    if request.prompt is not None:
        total = count_prompt(request.prompt, via, connection)
        room = conversation.answer_room(via.context, request.max_tokens)
        return Measured((), total, room, via.context, (), total)

    def tokens(some: Sequence[Message]) -> int:
        exact = count(request, via, some, connection) if via.measures else None
        return gauge.guess(some) if exact is None else exact

    total = prompt = tokens(messages)
    lengths = apportioned(messages, total)
    left: tuple[int, ...] = ()
    kept = conversation.answer_room(via.context, request.max_tokens)
    if via.context and total > via.context - kept:
        for left in conversation.cuts(messages, lengths, via.context - kept, via.context):
            prompt = tokens(conversation.without(messages, left))
            if prompt <= via.context - kept:
                break
    return Measured(tuple(lengths), total, kept, via.context, left, prompt)
