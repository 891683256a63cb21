"""One answer of a model on a server: its request, stream and figures."""

from __future__ import annotations

import logging
import re
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final

from engines.cancel import CancelToken
from engines.connection import Connection
from engines.errors import EngineError, ModelNotFound, ServerFailed
from engines.openai.access import ServedModelAccess
from engines.openai.body import DECLINED, EXTRAS, Body, chat_body, completion_body
from engines.openai.faults import FieldRefused, TooLong
from engines.openai.features import TOOLS
from engines.openai.fitting import FittedMessages, Fitter, measure
from engines.openai.media import media_refused
from engines.openai.reading import AnswerReader, Delta
from engines.openai.unused import unused
from engines.sentences import N_
from engines.types import (
    ChatRequest,
    Done,
    Event,
    FinishReason,
    PromptEcho,
    PromptProgress,
    PromptReady,
    Timing,
    ToolCall,
    Usage,
)

__all__ = ["ServedModelAccess", "answer", "measure"]

_log = logging.getLogger(__name__)

_TRIES: Final = 8
_SEEDS: Final = 1 << 31
_MOST_SEEDS: Final = 1 << 63
"""Servers keep a seed in a signed 64-bit number."""
_DECLINES: Final = re.compile(
    r"(?:not|n't) (?:\w+ )?(?:support|permit|allow|accept)|unsupported|unrecogni[sz]ed|unknown"
    r"|unexpected|extra",
    re.IGNORECASE,
)
"""Words of a server that does not accept a field; without them, the field's value is wrong."""

_NO_TOOLS: Final = re.compile(r"not support tools|--tool-call-parser|requires --jinja")
"""Messages of Ollama, vLLM and llama-server for a model that cannot be given tools."""

Pieces = Generator[dict[str, Any], None, None]


def answer(request: ChatRequest, access: ServedModelAccess, cancel: CancelToken) -> Iterator[Event]:
    """Answer a request, and yield the events of `Engine.chat`.

    Cancelling closes the connection, which ends the answer on the server too, and yields
    Done("cancelled").

    Raises:
        EngineError: The answer failed; events that were already yielded stay valid.
    """
    with Connection.ended_by(cancel) as connection:
        yield from _Answer(request, access, cancel, connection).events()


@dataclass
class _Clock:
    """Times of an answer, in seconds of perf_counter.

    Attributes:
        started: Time of the request.
        first: Time of the first text, or None.
        last: Time of the latest text.
        tokens_before: Completion tokens that had arrived at `first`.
    """

    started: float
    first: float | None = None
    last: float = 0.0
    tokens_before: int = 0

    def note_text(self, completion: int | None) -> None:
        """Note that text has arrived; `completion` is the number of completion tokens so far."""
        time = perf_counter()
        if self.first is None:
            self.first = time
            self.tokens_before = completion or 1
        self.last = time


class _Answer:
    """An answer in progress, from the request to its figures."""

    def __init__(
        self,
        request: ChatRequest,
        access: ServedModelAccess,
        cancel: CancelToken,
        connection: Connection,
    ) -> None:
        self._request = request
        self._access = access
        self._cancel = cancel
        self._connection = connection
        self._seed = _seed(request)
        self._omitted = set(access.omitted)
        self._clock = _Clock(perf_counter())
        last_message = request.messages[-1] if request.messages else None
        continues = (
            last_message is not None
            and last_message.role == "assistant"
            and bool(last_message.text)
        )
        self._reading = AnswerReader(
            "answer" if continues else "start",
            # Only the server knows where an echoed prompt ends, so stop strings are left to it
            # there.
            () if request.judges_prompt else request.stop,
            expected=not continues
            and request.prompt is None
            and access.expects_reasoning(request.thinking),
            raw=request.prompt is not None,
            tools=request.tools if request.tool_choice != "none" else (),
            server_name=access.client.server_name,
        )
        self._ready: PromptReady | None = None

    def events(self) -> Iterator[Event]:
        """Yield the events of the answer."""
        fitted: FittedMessages | None = None
        reason: FinishReason = "cancelled"
        try:
            if not self._cancel.cancelled:
                fitted, stream = self._open()
                with closing(stream) as pieces:
                    yield from self._stream_events(fitted, pieces)
                reason = self._finish()
        except EngineError:
            if not self._cancel.cancelled:
                yield from self._reading.flush()
                raise
            reason = "cancelled"
        if self._ready is None:
            yield self._prompt(fitted)
        yield from self._reading.flush()
        yield self._done(reason)

    def _open(self) -> tuple[FittedMessages, Pieces]:
        """Open the stream and read its first piece; retry without parts that the server refuses."""
        fitter = Fitter(self._request, self._access, self._connection)
        omitted = self._omitted
        for _ in range(_TRIES):
            fitted = fitter.fit()
            stream = self._send(self._body(fitted, omitted))
            try:
                return fitted, _with_first_piece(stream)
            except TooLong as error:
                fitter.learn_from_refusal(error, fitted)
                last: EngineError = error
            except ServerFailed as error:
                extra = (
                    _refused_field(error.message, omitted)
                    if isinstance(error, FieldRefused)
                    else None
                )
                if extra is None:
                    raise media_refused(
                        self._request.messages,
                        self._access.client.server_name,
                        self._access.model,
                        error,
                    ) from error
                _log.info(
                    "%s refuses %s, so it goes without", self._access.client.server_name, extra
                )
                omitted.add(extra)
                last = error
        raise last

    def _send(self, body: Body) -> Pieces:
        client = self._access.client
        send = client.chat if self._request.prompt is None else client.completion
        return send(body, self._connection)

    def _body(self, fitted: FittedMessages, omitted: set[str]) -> Body:
        request, access, max_tokens = self._request, self._access, fitted.max_tokens
        if request.prompt is not None:
            return completion_body(
                request, access.model, access.kind, self._seed, max_tokens,
                drafts=access.drafts, omitted=omitted,
                keep_special_tokens=access.keep_special_tokens,
            )  # fmt: skip
        body = chat_body(
            request, access.model, access.kind, fitted.messages, self._seed, max_tokens,
            drafts=access.drafts, keep_special_tokens=access.keep_special_tokens,
            thinks=access.expects_reasoning(request.thinking),
            omitted=omitted, enforces_calls=access.enforces_calls,
        )  # fmt: skip
        if "max_tokens" in omitted and fitted.max_tokens is not None:
            body["max_completion_tokens"] = fitted.max_tokens
        return body

    def _stream_events(
        self, fitted: FittedMessages, pieces: Iterator[dict[str, Any]]
    ) -> Iterator[Event]:
        """Yield the events of the stream, until a stop string or a cancellation."""
        reading, request = self._reading, self._request
        reported: PromptProgress | None = None
        for piece in pieces:
            deltas = list(reading.feed(piece))
            if self._ready is None:
                self._require_model(piece)
                yield self._prompt(fitted)
                if request.echo and not request.judges_prompt and isinstance(request.prompt, str):
                    yield PromptEcho(request.prompt)
            progress = reading.figures.progress
            if progress is not None and progress is not reported and self._clock.first is None:
                yield (reported := progress)
            if deltas or reading.has_calls:
                self._clock.note_text(reading.figures.completion)
            for delta in deltas:
                if self._cancel.cancelled:
                    return
                yield delta
            if self._cancel.cancelled or reading.stopped:
                return
        yield from self._rest()
        if reading.figures.prompt is not None and fitted.messages:
            self._access.estimator.learn(fitted.messages, max(1, reading.figures.prompt))

    def _require_model(self, piece: dict[str, Any]) -> None:
        """Refuse a llama-server with another model, because it would answer with that model."""
        access, served = self._access, piece.get("model")
        if access.kind != "llama-server" or not isinstance(served, str) or served == access.model:
            return
        offered = [model.id for model in access.client.models()]
        if access.model not in offered:
            raise ModelNotFound(
                N_(
                    "{called} no longer has the model “{model}”.",
                    called=access.client.server_name,
                    model=access.model,
                ),
                N_(
                    "It was started with another model and would answer with that one: {served}.",
                    served=served,
                ),
                N_("Test the server again under Servers, and choose a model that it offers."),
            )

    def _rest(self) -> Iterator[Delta]:
        for delta in self._reading.end():
            if isinstance(delta, ToolCall) and not delta.name:
                raise ServerFailed(
                    N_("The model asked for a tool without naming it."),
                    N_("The server sent an incomplete tool call."),
                    N_("Ask again."),
                )
            yield delta

    def _prompt(self, fitted: FittedMessages | None) -> PromptReady:
        reported = self._reading.figures.prompt
        estimate = (
            fitted.tokens if fitted else self._access.estimator.estimate(self._request.messages)
        )
        left = fitted.left if fitted else ()
        cached = self._reading.figures.cached
        self._ready = PromptReady(
            estimate if reported is None else reported, cached, len(left), left
        )
        return self._ready

    def _finish(self) -> FinishReason:
        """Return why the answer ended. Raises ServerFailed if the server cut it off."""
        reading, reason = self._reading, self._reading.finish
        if self._cancel.cancelled:
            return "cancelled"
        if reading.stopped:
            return "stop"
        if reason in ("abort", "error", "content_filter"):
            filtered = reason == "content_filter"
            raise ServerFailed(
                N_(
                    "{called} ended the answer before it was complete.",
                    called=self._access.client.server_name,
                ),
                N_("A filter on the server stopped it.")
                if filtered
                else N_("It is being shut down."),
                N_("Ask differently, or another server.")
                if filtered
                else N_("Ask again in a while."),
            )
        if reason == "length":
            return "length"  # a truncated call must not be carried out
        return "tool" if reading.has_calls else "stop"

    def _done(self, finish: FinishReason) -> Done:
        reading, figures, access = self._reading, self._reading.figures, self._access
        ready = self._ready or self._prompt(None)
        completion = figures.completion
        if completion is None:
            completion = access.estimator.estimate_bytes(
                reading.reasoning_bytes + reading.answer_bytes
            )
        return Done(
            finish,
            Usage(
                prompt_tokens=figures.prompt or ready.prompt_tokens,
                cached_tokens=figures.cached,
                completion_tokens=completion,
                context=access.context,
                left_out=ready.left_out,
                reasoning_tokens=self._reasoning_tokens(completion),
                guessed=figures.completion is None,
            ),
            self._timing(),
            access.report(self._request, figures.drafted),
            self._seed,
            unused(self._request, access.kind, self._omitted, drafts=access.drafts),
            reading.stop_string if reading.stop_string in self._request.stop else "",
        )

    def _reasoning_tokens(self, completion: int) -> int:
        """Return the reasoning tokens as reported, else as counted, else by their share of text."""
        reading = self._reading
        if not reading.reasoning_bytes:
            return 0
        tokens = reading.figures.reasoning or reading.reasoning_tokens
        if tokens:
            return min(tokens, completion)
        return (
            completion * reading.reasoning_bytes // (reading.reasoning_bytes + reading.answer_bytes)
        )

    def _timing(self) -> Timing:
        """Return the timing; the decoding speed is 0 if nobody counted the tokens."""
        clock, figures = self._clock, self._reading.figures
        completion = figures.completion or 0
        if clock.first is None:
            return Timing(self._access.load_s, 0.0, 0.0, 0.0)
        ttft = clock.first - clock.started
        prompt = (figures.prompt or 0) - figures.cached
        seconds, tokens = clock.last - clock.first, completion - clock.tokens_before
        if tokens <= 0 or seconds <= 0:
            seconds, tokens = clock.last - clock.started, completion
        return Timing(
            load_s=self._access.load_s,
            ttft_s=ttft,
            prefill_tok_s=figures.prefill or _rate(prompt, ttft),
            decode_tok_s=figures.decode or _rate(tokens, seconds),
        )


def _with_first_piece(stream: Pieces) -> Pieces:
    """Return the stream with its first piece already read, so that a refusal is raised now."""
    first = next(stream, None)

    def all_pieces() -> Pieces:
        with closing(stream):
            if first is not None:
                yield first
                yield from stream

    return all_pieces()


def _refused_field(message: str, omitted: set[str]) -> str | None:
    """Return the field that a refusal names, if the request can go without it."""
    if "max_completion_tokens" in message and "max_tokens" not in omitted:
        return "max_tokens"  # OpenAI's newer models use another name for it.
    if TOOLS not in omitted and _NO_TOOLS.search(message):
        return TOOLS
    names = (*EXTRAS, *DECLINED) if _DECLINES.search(message) else EXTRAS
    return next((name for name in names if name in message and name not in omitted), None)


def _seed(request: ChatRequest) -> int:
    import secrets

    seed = request.sampling.seed
    return secrets.randbelow(_SEEDS) if seed is None else seed % _MOST_SEEDS


def _rate(count: int, seconds: float) -> float:
    return count / seconds if seconds > 0 and count > 0 else 0.0
