"""Chooses the messages that fit a server's limited context, by the rules of all engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engines import conversation
from engines.cancel import CancelToken
from engines.connection import Connection
from engines.errors import Cancelled, EngineError, Unsupported
from engines.openai.access import ServedModelAccess
from engines.openai.body import Body, prompt_body
from engines.openai.faults import TooLong
from engines.openai.features import FEATURES
from engines.openai.media import estimate_media_tokens, media_size
from engines.overflow import full, prompt_too_long, too_long
from engines.sentences import N_
from engines.types import ChatRequest, Measured, Message


def count(
    request: ChatRequest,
    access: ServedModelAccess,
    messages: Sequence[Message],
    connection: Connection | None = None,
) -> int | None:
    """Count the prompt's tokens for these messages; return None if the server cannot count."""
    if not access.tokenizes:
        return None
    # No server counts media, so sending them would be useless.
    texts = [replace(message, media=()) for message in messages]
    body = tokenize_fields(prompt_body(request, access.model, access.kind, texts, access.omitted))
    if access.kind == "llama-server":
        counted = _by_template(access, body, connection)
    else:
        tokens = access.client.tokenize(body, connection)
        counted = None if tokens is None else len(tokens)
    return None if counted is None else counted + estimate_media_tokens(messages)


def count_prompt(
    prompt: str | Sequence[int], access: ServedModelAccess, connection: Connection | None = None
) -> int:
    """Count the tokens of a raw prompt; estimate them if the server cannot count."""
    if not isinstance(prompt, str):
        return len(prompt)
    tokens: list[int] | None = None
    if access.tokenizes:
        tokens = access.client.tokenize(tokenize_body(access, prompt, special=True), connection)
    return (
        access.estimator.estimate_bytes(len(prompt.encode(errors="replace")))
        if tokens is None
        else len(tokens)
    )


def tokenize_body(access: ServedModelAccess, text: str, *, special: bool) -> Body:
    """Build the body of POST /tokenize for a text.

    Args:
        special: Parse markers as special tokens, and add those that begin a text.
    """
    if access.kind == "llama-server":
        return {"content": text, "add_special": special, "parse_special": special}
    return {"model": access.model, "prompt": text, "add_special_tokens": special}


def tokenize_fields(body: Body) -> Body:
    """Return the part of a request that /tokenize and /apply-template accept."""
    effort = body.pop("reasoning_effort", None)
    if effort is not None:
        body["chat_template_kwargs"] = {
            **body.get("chat_template_kwargs", {}),
            "reasoning_effort": effort,
        }
    return body


def _by_template(
    access: ServedModelAccess, body: Body, connection: Connection | None
) -> int | None:
    """Count with llama-server, which first renders the prompt and then tokenises it."""
    reply = access.client.post("/apply-template", body, required=False, connection=connection)
    prompt = reply.get("prompt") if isinstance(reply, dict) else None
    if not isinstance(prompt, str):
        return None
    text = {"content": prompt, "add_special": True, "parse_special": True}
    tokens = access.client.tokenize(text, connection)
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

    def __init__(
        self, request: ChatRequest, access: ServedModelAccess, connection: Connection
    ) -> None:
        if not request.messages and request.prompt is None:
            raise ValueError("there is no message to answer")
        self._request = request
        self._access = access
        self._connection = connection
        self._context = access.context
        self._known_counts: dict[int, int] = {}

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
                N_("This engine cannot fill a gap in a text."),
                N_("It takes the text before an answer, but none after it."),
                N_("Send no text after the gap, or choose a model that runs in llama.cpp."),
            )
        if request.prompt is not None:
            return self._fit_prompt(request.prompt)
        if not self._context:
            return FittedMessages(messages, (), self._count(messages), request.max_tokens)
        answer_room = conversation.answer_room(self._context, request.max_tokens)
        room = self._context - answer_room
        upper_limit = self._upper_limit(messages)
        if not self._known_counts and upper_limit <= self._context - (
            request.max_tokens or answer_room
        ):
            # It fits even in the worst case, so the tokens need not be counted.
            return FittedMessages(
                messages, (), self._access.estimator.estimate(messages), request.max_tokens
            )
        total = self._count(messages)
        if total <= room:
            return self._limit_answer(messages, (), total)
        if request.overflow != "stop":
            return self._shorten(total, room)
        if self._is_count_reliable(messages):
            raise full(total, answer_room, self._context)
        return FittedMessages(messages, (), total, request.max_tokens)

    def learn_from_refusal(self, error: TooLong, sent: FittedMessages) -> None:
        """Learn from the server's refusal; raise it again if no further message can be left out."""
        if self._request.prompt is not None:
            raise error
        if error.context is not None and error.context != self._context:
            self._context = error.context
            if error.prompt is None:
                return
        if not self._context:
            self._context = max(_LEAST, int(sent.tokens * _SHRINK))
        if error.prompt is not None and error.prompt != self._known_counts.get(len(sent.messages)):
            self._known_counts[len(sent.messages)] = error.prompt
            self._access.estimator.learn(sent.messages, error.prompt)
            return
        is_shortest = not list(conversation.turns(sent.messages))
        if is_shortest or self._request.overflow == "stop":
            raise error
        self._known_counts.setdefault(-1, 0)
        self._access.estimator.raise_estimates()

    def _fit_prompt(self, prompt: str | Sequence[int]) -> FittedMessages:
        """Fit a raw prompt, which is never shortened.

        The answer is limited to the rest of the context, because many servers write only 16 tokens
        by default. Raises MessageTooLong and the server's errors.
        """
        tokens = count_prompt(prompt, self._access, self._connection)
        if self._context and tokens >= self._context and self._access.tokenizes:
            raise prompt_too_long(tokens, self._context)
        max_tokens = self._request.max_tokens
        if max_tokens is None and self._context:
            max_tokens = max(1, self._context - tokens)
        return FittedMessages((), (), tokens, max_tokens)

    def _shorten(self, total: int, room: int) -> FittedMessages:
        messages = self._request.messages
        lengths = apportion(messages, total)
        kept: tuple[Message, ...] = messages
        left: tuple[int, ...] = ()
        tokens = total
        for left in conversation.cuts(messages, lengths, room, self._context):
            kept = conversation.without(messages, left)
            tokens = self._count(kept)
            if tokens <= room:
                break
        if tokens >= self._context and not self._is_count_reliable(kept):
            return FittedMessages(kept, left, tokens, self._request.max_tokens)
        if tokens >= self._context:
            pinned_tokens = sum(lengths[index] for index in conversation.pinned(messages))
            raise too_long(tokens, pinned_tokens, self._context)
        return self._limit_answer(kept, left, tokens)

    def _limit_answer(
        self, messages: tuple[Message, ...], left: tuple[int, ...], tokens: int
    ) -> FittedMessages:
        """Limit the answer's tokens to the room that is left, because some servers refuse more."""
        max_tokens = self._request.max_tokens
        if max_tokens is not None:
            max_tokens = max(1, min(max_tokens, self._context - tokens))
        return FittedMessages(messages, left, tokens, max_tokens)

    def _count(self, messages: Sequence[Message]) -> int:
        if (known_count := self._known_counts.get(len(messages))) is not None:
            return known_count
        exact = count(self._request, self._access, messages, self._connection)
        return self._access.estimator.estimate(messages) if exact is None else exact

    def _is_count_reliable(self, messages: Sequence[Message]) -> bool:
        """Return whether `_count` is reliable enough to refuse a request without asking."""
        access = self._access
        if any(message.media for message in messages):
            return len(messages) in self._known_counts  # the tokens of media are always estimated
        return (
            access.tokenizes
            or len(messages) in self._known_counts
            or FEATURES[access.kind].truncates_silently
        )

    def _upper_limit(self, messages: Sequence[Message]) -> int:
        tools = sum(len(str(tool).encode()) + 64 for tool in self._request.tools)
        return self._access.estimator.upper_limit(messages) + tools


def apportion(messages: Sequence[Message], total: int) -> list[int]:
    """Distribute the tokens over the messages in proportion to their lengths."""
    sizes = [conversation.size(message) + media_size(message) + 24 for message in messages]
    total_size, lengths, assigned = sum(sizes), [], 0
    for index in range(len(sizes)):
        total_so_far = total * sum(sizes[: index + 1]) // total_size
        lengths.append(total_so_far - assigned)
        assigned = total_so_far
    return lengths


def measure(request: ChatRequest, access: ServedModelAccess, cancel: CancelToken) -> Measured:
    """Measure a request's context. See `Engine.measure`; a context of 0 is unknown.

    If the server must not be asked, the result is an estimate, which improves with each answer.
    """
    try:
        with Connection.ended_by(cancel) as connection:
            return _measure(request, access, connection)
    except EngineError:
        if cancel.cancelled:
            raise Cancelled from None
        raise


def _measure(request: ChatRequest, access: ServedModelAccess, connection: Connection) -> Measured:
    messages, estimator = request.messages, access.estimator
    if request.prompt is not None:
        total = count_prompt(request.prompt, access, connection)
        room = conversation.answer_room(access.context, request.max_tokens)
        return Measured((), total, room, access.context, (), total)

    def tokens(subset: Sequence[Message]) -> int:
        exact = count(request, access, subset, connection) if access.measures else None
        return estimator.estimate(subset) if exact is None else exact

    total = prompt = tokens(messages)
    lengths = apportion(messages, total)
    left: tuple[int, ...] = ()
    answer_room = conversation.answer_room(access.context, request.max_tokens)
    if access.context and total > access.context - answer_room:
        for left in conversation.cuts(
            messages, lengths, access.context - answer_room, access.context
        ):
            prompt = tokens(conversation.without(messages, left))
            if prompt <= access.context - answer_room:
                break
    return Measured(tuple(lengths), total, answer_room, access.context, left, prompt)
