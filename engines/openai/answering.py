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
from engines.openai.body import DECLINED, EXTRAS, Body, chat_body, completion_body
from engines.openai.faults import TooLong, Unwanted
from engines.openai.fitting import FittedMessages, Fitter, measure
from engines.openai.kinds import TOOLS
from engines.openai.media import media_refused
from engines.openai.reading import AnswerReader, Delta
from engines.openai.unused import unused
from engines.openai.via import Via
from engines.sentences import N_
from engines.types import (
    ChatRequest,
    Done,
    Event,
    FinishReason,
    PromptEcho,
    PromptReady,
    Timing,
    ToolCall,
    Usage,
)

__all__ = ["Via", "answer", "measure"]

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


def answer(request: ChatRequest, via: Via, cancel: CancelToken) -> Iterator[Event]:
    """Answer a request, and yield the events of `Engine.chat`.

    Cancelling closes the connection, which ends the answer on the server too, and yields
    Done("cancelled").

    Raises:
        EngineError: The answer failed; events that were already yielded stay valid.
    """
    with Connection.ended_by(cancel) as connection:
        yield from _Answering(request, via, cancel, connection).events()


@dataclass
class _Clock:
    """Times of an answer, in seconds of perf_counter.

    Attributes:
        began: Time of the request.
        first: Time of the first text, or None.
        last: Time of the latest text.
        before: Completion tokens that had arrived at `first`.
    """

    began: float
    first: float | None = None
    last: float = 0.0
    before: int = 0

    def saw(self, completion: int | None) -> None:
        """Note that text has arrived; `completion` is the number of completion tokens so far."""
        now = perf_counter()
        if self.first is None:
            self.first = now
            self.before = completion or 1
        self.last = now


class _Answering:
    """An answer in progress, from the request to its figures."""

    def __init__(
        self, request: ChatRequest, via: Via, cancel: CancelToken, connection: Connection
    ) -> None:
        self._request = request
        self._via = via
        self._cancel = cancel
        self._connection = connection
        self._seed = _seed(request)
        self._without = set(via.without)
        self._clock = _Clock(perf_counter())
        begun = request.messages[-1] if request.messages else None
        goes_on = begun is not None and begun.role == "assistant" and bool(begun.text)
        self._reading = AnswerReader(
            "answer" if goes_on else "start",
            # Only the server knows where an echoed prompt ends, so stop strings are left to it
            # there.
            () if request.judges_prompt else request.stop,
            expected=not goes_on and request.prompt is None and via.expects(request.thinking),
            raw=request.prompt is not None,
            tools=request.tools if request.tool_choice != "none" else (),
            called=via.client.called,
        )
        self._ready: PromptReady | None = None

    def events(self) -> Iterator[Event]:
        """Yield the events of the answer."""
        fitted: FittedMessages | None = None
        finish: FinishReason = "cancelled"
        try:
            if not self._cancel.cancelled:
                fitted, stream = self._open()
                with closing(stream) as pieces:
                    yield from self._told(fitted, pieces)
                finish = self._finish()
        except EngineError:
            if not self._cancel.cancelled:
                yield from self._reading.held()
                raise
            finish = "cancelled"
        if self._ready is None:
            yield self._prompt(fitted)
        yield from self._reading.held()
        yield self._done(finish)

    def _open(self) -> tuple[FittedMessages, Pieces]:
        """Open the stream and read its first piece; retry without parts that the server refuses."""
        fitter = Fitter(self._request, self._via, self._connection)
        without = self._without
        for _ in range(_TRIES):
            fitted = fitter.fit()
            stream = self._ask(self._body(fitted, without))
            try:
                return fitted, _begun(stream)
            except TooLong as error:
                fitter.refused(error, fitted)
                last: EngineError = error
            except ServerFailed as error:
                extra = _named_in(error.said, without) if isinstance(error, Unwanted) else None
                if extra is None:
                    raise media_refused(
                        self._request.messages, self._via.client.called, self._via.model, error
                    ) from error
                _log.info("%s refuses %s, so it goes without", self._via.client.called, extra)
                without.add(extra)
                last = error
        raise last

    def _ask(self, body: Body) -> Pieces:
        client = self._via.client
        ask = client.chat if self._request.prompt is None else client.completion
        return ask(body, self._connection)

    def _body(self, fitted: FittedMessages, without: set[str]) -> Body:
        request, via, most = self._request, self._via, fitted.max_tokens
        if request.prompt is not None:
            return completion_body(
                request, via.model, via.kind, self._seed, most,
                drafts=via.drafts, special=via.special, without=without,
            )  # fmt: skip
        body = chat_body(
            request, via.model, via.kind, fitted.messages, self._seed, most,
            drafts=via.drafts, special=via.special, thinks=via.expects(request.thinking),
            without=without, holds_calls=via.holds_calls,
        )  # fmt: skip
        if "max_tokens" in without and fitted.max_tokens is not None:
            body["max_completion_tokens"] = fitted.max_tokens
        return body

    def _told(self, fitted: FittedMessages, pieces: Iterator[dict[str, Any]]) -> Iterator[Event]:
        """Yield the events of the stream, until a stop string or a cancellation."""
        reading, request = self._reading, self._request
        for piece in pieces:
            deltas = list(reading.feed(piece))
            if self._ready is None:
                self._require_model(piece)
                yield self._prompt(fitted)
                if request.echo and not request.judges_prompt and isinstance(request.prompt, str):
                    yield PromptEcho(request.prompt)
            if deltas or reading.calls:
                self._clock.saw(reading.figures.completion)
            for delta in deltas:
                if self._cancel.cancelled:
                    return
                yield delta
            if self._cancel.cancelled or reading.stopped:
                return
        yield from self._rest()
        if reading.figures.prompt is not None and fitted.messages:
            self._via.gauge.learn(fitted.messages, max(1, reading.figures.prompt))

    def _require_model(self, piece: dict[str, Any]) -> None:
        """Refuse a llama-server with another model, because it would answer with that model."""
        via, told = self._via, piece.get("model")
        if via.kind != "llama-server" or not isinstance(told, str) or told == via.model:
            return
        offered = [it.id for it in via.client.models()]
        if via.model not in offered:
            raise ModelNotFound(
                N_(
                    "{called} has no model “{model}” any more.",
                    called=via.client.called,
                    model=via.model,
                ),
                N_(
                    "It was started with another one, and would answer with that: {served}.",
                    served=told,
                ),
                N_("Test the server again under Servers, and choose a model that it offers."),
            )

    def _rest(self) -> Iterator[Delta]:
        for delta in self._reading.end():
            if isinstance(delta, ToolCall) and not delta.name:
                raise ServerFailed(
                    N_("The model asked for a tool without saying for which."),
                    N_("What the server sent of it is incomplete."),
                    N_("Ask again."),
                )
            yield delta

    def _prompt(self, fitted: FittedMessages | None) -> PromptReady:
        told = self._reading.figures.prompt
        guess = fitted.tokens if fitted else self._via.gauge.guess(self._request.messages)
        left = fitted.left if fitted else ()
        cached = self._reading.figures.cached
        self._ready = PromptReady(guess if told is None else told, cached, len(left), left)
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
                    called=self._via.client.called,
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
        return "tool" if reading.calls else "stop"

    def _done(self, finish: FinishReason) -> Done:
        reading, figures, via = self._reading, self._reading.figures, self._via
        ready = self._ready or self._prompt(None)
        completion = figures.completion
        if completion is None:
            completion = via.gauge.of_bytes(reading.thought + reading.said)
        return Done(
            finish,
            Usage(
                prompt_tokens=figures.prompt or ready.prompt_tokens,
                cached_tokens=figures.cached,
                completion_tokens=completion,
                context=via.context,
                left_out=ready.left_out,
                reasoning_tokens=self._reasoned(completion),
                guessed=figures.completion is None,
            ),
            self._timing(),
            via.report(self._request, figures.drafted),
            self._seed,
            unused(self._request, via.kind, self._without, drafts=via.drafts),
            reading.met if reading.met in self._request.stop else "",
        )

    def _reasoned(self, completion: int) -> int:
        """Return the reasoning tokens as reported, else as counted, else by their share of text."""
        reading = self._reading
        if not reading.thought:
            return 0
        told = reading.figures.reasoning or reading.thought_tokens
        if told:
            return min(told, completion)
        return completion * reading.thought // (reading.thought + reading.said)

    def _timing(self) -> Timing:
        """Return the timing; the decoding speed is 0 if nobody counted the tokens."""
        clock, figures = self._clock, self._reading.figures
        completion = figures.completion or 0
        if clock.first is None:
            return Timing(self._via.load_s, 0.0, 0.0, 0.0)
        ttft = clock.first - clock.began
        prompt = (figures.prompt or 0) - figures.cached
        seconds, tokens = clock.last - clock.first, completion - clock.before
        if tokens <= 0 or seconds <= 0:
            seconds, tokens = clock.last - clock.began, completion
        return Timing(
            load_s=self._via.load_s,
            ttft_s=ttft,
            prefill_tok_s=figures.prefill or _rate(prompt, ttft),
            decode_tok_s=figures.decode or _rate(tokens, seconds),
        )


def _begun(stream: Pieces) -> Pieces:
    """Return the stream with its first piece already read, so that a refusal is raised now."""
    first = next(stream, None)

    def whole() -> Pieces:
        with closing(stream):
            if first is not None:
                yield first
                yield from stream

    return whole()


def _named_in(said: str, without: set[str]) -> str | None:
    """Return the field that a refusal names, if the request can go without it."""
    if "max_completion_tokens" in said and "max_tokens" not in without:
        return "max_tokens"  # OpenAI's newer models use another name for it.
    if TOOLS not in without and _NO_TOOLS.search(said):
        return TOOLS
    names = (*EXTRAS, *DECLINED) if _DECLINES.search(said) else EXTRAS
    return next((name for name in names if name in said and name not in without), None)


def _seed(request: ChatRequest) -> int:
    import secrets

    seed = request.sampling.seed
    return secrets.randbelow(_SEEDS) if seed is None else seed % _MOST_SEEDS


def _rate(count: int, seconds: float) -> float:
    return count / seconds if seconds > 0 and count > 0 else 0.0
