"""Chooses the messages that fit a server's limited context, by the rules of all engines."""

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
from engines.sentences import N_
from engines.types import ChatRequest, Measured, Message


def count(
    request: ChatRequest,
    via: Via,
    messages: Sequence[Message],
    connection: Connection | None = None,
) -> int | None:
    """Count the prompt's tokens for these messages; return None if the server cannot count."""
    if not via.tokenizes:
        return None
    # No server counts media, so sending them would be useless.
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
    """Count the tokens of a raw prompt; estimate them if the server cannot count."""
    if not isinstance(prompt, str):
        return len(prompt)
    tokens: list[int] | None = None
    if via.tokenizes:
        tokens = via.client.tokenize(tokenizing(via, prompt, special=True), connection)
    return (
        via.gauge.of_bytes(len(prompt.encode(errors="replace"))) if tokens is None else len(tokens)
    )


def tokenizing(via: Via, text: str, *, special: bool) -> Body:
    """Build the body of POST /tokenize for a text.

    Args:
        special: Parse markers as special tokens, and add those that begin a text.
    """
    if via.kind == "llama-server":
        return {"content": text, "add_special": special, "parse_special": special}
    return {"model": via.model, "prompt": text, "add_special_tokens": special}


def countable(body: Body) -> Body:
    """Return the part of a request that /tokenize and /apply-template accept."""
    effort = body.pop("reasoning_effort", None)
    if effort is not None:
        body["chat_template_kwargs"] = {
            **body.get("chat_template_kwargs", {}),
            "reasoning_effort": effort,
        }
    return body


def _by_template(via: Via, body: Body, connection: Connection | None) -> int | None:
    """Count with llama-server, which first renders the prompt and then tokenises it."""
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

    Attributes:
        left: Indices of the messages that are left out.
        tokens: Tokens of the prompt, as far as they are known before the request.
        max_tokens: Most tokens of the answer, or None.
    """

    messages: tuple[Message, ...]
    left: tuple[int, ...]
    tokens: int
    max_tokens: int | None


class Fitter:
    """Fits one request to the context, and learns from the server's refusals."""

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

        Raises:
            ContextFull: They do not fit, and the request forbids leaving any out.
            MessageTooLong: The messages that cannot be left out do not fit.
            Unsupported: The request has a suffix.
            EngineError: The server failed.
        """
        request, messages = self._request, self._request.messages
        if request.suffix:
            raise Unsupported(
                N_("This engine fills no gap in a text."),
                N_("It takes what comes before an answer, and nothing that comes behind."),
                N_("Send nothing behind the gap, or choose a model that runs in llama.cpp."),
            )
        if request.prompt is not None:
            return self._as_it_is(request.prompt)
        if not self._context:
            return FittedMessages(messages, (), self._count(messages), request.max_tokens)
        kept = conversation.answer_room(self._context, request.max_tokens)
        room = self._context - kept
        most = self._most(messages)
        if not self._told and most <= self._context - (request.max_tokens or kept):
            # It fits even in the worst case, so the tokens need not be counted.
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
        """Learn from the server's refusal; raise it again if no further message can be left out."""
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
        """Fit a raw prompt, which is never shortened.

        The answer is limited to the rest of the context, because many servers write only 16 tokens
        by default. Raises MessageTooLong and the server's errors.
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
        """Limit the answer's tokens to the room that is left, because some servers refuse more."""
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
        """Return whether `_count` is reliable enough to refuse a request without asking."""
        via = self._via
        if any(message.media for message in messages):
            return len(messages) in self._told  # the tokens of media are always estimated
        return via.tokenizes or len(messages) in self._told or HABITS[via.kind].cuts_off

    def _most(self, messages: Sequence[Message]) -> int:
        tools = sum(len(str(tool).encode()) + 64 for tool in self._request.tools)
        return self._via.gauge.most(messages) + tools


def apportioned(messages: Sequence[Message], total: int) -> list[int]:
    """Distribute the tokens over the messages in proportion to their lengths."""
    sizes = [conversation.size(it) + size_of(it) + 24 for it in messages]
    whole, lengths, before = sum(sizes), [], 0
    for at in range(len(sizes)):
        upto = total * sum(sizes[: at + 1]) // whole
        lengths.append(upto - before)
        before = upto
    return lengths


def measure(request: ChatRequest, via: Via, cancel: CancelToken) -> Measured:
    """Measure a request's context. See `Engine.measure`; a context of 0 is unknown.

    If the server must not be asked, the result is an estimate, which improves with each answer.
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
