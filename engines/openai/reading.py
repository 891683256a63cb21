"""Reads the pieces of a streamed answer: text, reasoning, tool calls and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from typing import Any, Final

from engines.dialect.formats import ANY_FORMAT
from engines.dialect.splitter import Begins, open_splitter
from engines.dialect.tools import CallReader
from engines.openai.faults import too_large
from engines.openai.logprobs import ServerLogprobs, logprobs_in
from engines.openai.parsing import parse_json
from engines.openai.values import Drafted
from engines.redaction import StreamRedactor, redact_certain
from engines.sentences import N_
from engines.text import SEAM, StopStrings
from engines.types import (
    PromptProgress,
    ReasoningDelta,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallDelta,
    WasReasoning,
)

Delta = TextDelta | ReasoningDelta | WasReasoning | ToolCallDelta | ToolCall

_MOST: Final = 1 << 40
"""Larger values are not plausible as a count or a rate of tokens."""

MOST_ANSWER: Final = 8 << 20
"""Most characters of an answer with its reasoning and calls: one or two million tokens."""

MOST_CALL: Final = 4 << 20
"""Most characters of one call."""

MOST_CALLS: Final = 256


@dataclass
class Figures:
    """A server's figures of an answer so far: tokens, and rates in tokens per second.

    Attributes:
        progress: The latest part of the prompt after which more of it was left.
    """

    prompt: int | None = None
    cached: int = 0
    completion: int | None = None
    reasoning: int | None = None
    prefill: float | None = None
    decode: float | None = None
    drafted: Drafted | None = None
    progress: PromptProgress | None = None

    def update(self, piece: Mapping[str, Any]) -> None:
        """Read the protocol's usage, llama-server's progress and timings, and vLLM's metrics."""
        usage = _object(piece, "usage")
        self.prompt = _number(usage, "prompt_tokens", self.prompt)
        self.completion = _number(usage, "completion_tokens", self.completion)
        cached = _number(_object(usage, "prompt_tokens_details"), "cached_tokens", self.cached)
        details = _object(usage, "completion_tokens_details")
        self.reasoning = _number(details, "reasoning_tokens", self.reasoning)
        progress = _object(piece, "prompt_progress")
        self.prompt = _number(progress, "total", self.prompt)
        cached = _number(progress, "cache", cached)
        self._note_progress(progress)
        timings = _object(piece, "timings")
        cached = _number(timings, "cache_n", cached)
        self.completion = _number(timings, "predicted_n", self.completion)
        self.prefill = _rate(timings, "prompt_per_second", self.prefill)
        self.decode = _rate(timings, "predicted_per_second", self.decode)
        self.cached = cached or 0
        self._drafts(timings, "draft_n", "draft_n_accepted")
        metrics = _object(piece, "metrics")
        if (interval_ms := _rate(metrics, "mean_itl_ms", None)) is not None:
            self.decode = 1000 / interval_ms
        drafts = _object(metrics, "speculative_decoding")
        self._drafts(drafts, "num_draft_tokens", "num_accepted_draft_tokens")

    def _note_progress(self, source: Mapping[str, Any]) -> None:
        """Note the progress, which is also reported before the first part and more than once."""
        cached, read, total, time_ms = (
            _number(source, name, 0) or 0 for name in ("cache", "processed", "total", "time_ms")
        )
        before = 0 if self.progress is None else self.progress.read_tokens
        if max(before, cached) < read < total:
            left_s = time_ms / 1000 / (read - cached) * (total - read)
            self.progress = PromptProgress(read, total, left_s or None)

    def _drafts(self, source: Mapping[str, Any], drafted: str, accepted: str) -> None:
        if (count := _number(source, drafted, None)) is not None:
            self.drafted = Drafted(count, _number(source, accepted, 0) or 0)


@dataclass
class _Call:
    """A tool call that is still arriving.

    Attributes:
        passed_on: Characters of its arguments that were passed on; -1 before its name was.
    """

    id: str = ""
    name: str = ""
    arguments: StringIO = field(default_factory=StringIO)
    passed_on: int = -1

    @property
    def size(self) -> int:
        """Number of characters of the call so far."""
        return len(self.id) + len(self.name) + self.arguments.tell()

    def take_new_arguments(self) -> str:
        """Return the arguments that were not passed on yet, and mark them as passed on."""
        self.arguments.seek(self.passed_on)
        rest = self.arguments.read()
        self.passed_on = self.arguments.tell()
        return rest


class AnswerReader:
    """Turns the objects of a stream into deltas.

    Args:
        begins: Part of the answer in which the stream begins.
        stops: Stop strings to apply here.
        expected: The model is expected to reason first.
        raw: The answer continues a raw prompt, so nothing in it is reasoning.
        tools: Tools whose calls to look for in the text.
        server_name: Name of the server in error messages.

    Attributes:
        finish: The server's finish reason, or None.
        reasoning_bytes: Bytes of reasoning so far.
        answer_bytes: Bytes of the answer so far.
        reasoning_tokens: Completion tokens when reasoning last arrived.
    """

    def __init__(
        self,
        begins: Begins,
        stops: Sequence[str],
        *,
        expected: bool,
        raw: bool = False,
        tools: Sequence[Tool] = (),
        server_name: str = N_("The server"),
    ) -> None:
        self._server_name = server_name
        self._splitter = open_splitter(None if raw else ANY_FORMAT, begins, expected=expected)
        self._has_reasoning_field = False
        self._stops = StopStrings(stops)
        # A server that does not know the form of calls leaves them in the text.
        self._reader = CallReader(tools=tools) if tools else None
        self._calls: dict[int, _Call] = {}
        self.figures = Figures()
        self.finish: str | None = None
        self._server_stop = ""
        self.reasoning_bytes = self.answer_bytes = 0
        self._length = 0
        self._text_redactor, self._reasoning_redactor = StreamRedactor(), StreamRedactor()
        self._call_redactors: dict[str, StreamRedactor] = {}
        self.reasoning_tokens: int | None = None
        self._logprobs = ServerLogprobs()

    @property
    def stopped(self) -> bool:
        """True if a stop string was found here."""
        return bool(self._stops.hit)

    @property
    def stop_string(self) -> str:
        """The stop string that was found, here or on the server, as far as it reports one."""
        return self._stops.hit or self._server_stop

    @property
    def has_calls(self) -> bool:
        """True if the model has called a tool."""
        return bool(self._calls) or (self._reader is not None and self._reader.called > 0)

    def feed(self, piece: Mapping[str, Any]) -> Iterator[Delta]:
        """Read a piece and yield deltas without secrets. Raises ServerFailed if too much came."""
        deltas = [redacted for delta in self._read_piece(piece) for redacted in self._redact(delta)]
        if self.stopped:
            deltas += self.flush()
        yield from self._logprobs.attach(deltas)

    def flush(self) -> Iterator[Delta]:
        """Yield text held back as the possible beginning of a secret, now that nothing follows."""
        if rest := self._reasoning_redactor.finish():
            yield ReasoningDelta(rest)
        if rest := self._text_redactor.finish():
            yield TextDelta(rest)

    def _read_piece(self, piece: Mapping[str, Any]) -> Iterator[Delta]:
        """Read a piece. Raises ServerFailed for too long an answer."""
        self.figures.update(piece)
        choices = piece.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return
        choice = choices[0]
        finish = choice.get("finish_reason")
        self.finish = finish if isinstance(finish, str) and finish else self.finish
        # vLLM's field: the stop string, or the id of a token.
        server_stop = choice.get("stop_reason")
        self._server_stop = server_stop if isinstance(server_stop, str) else self._server_stop
        # An answer that is not streamed is a complete message.
        delta = _object(choice, "delta") or _object(choice, "message")
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            yield from self._call(call)
        thought = delta.get("reasoning") or delta.get("reasoning_content")
        if isinstance(thought, str) and thought:
            if not self._has_reasoning_field:
                self._has_reasoning_field, self._splitter = True, open_splitter(None)
            self._count(thought)
            yield from self._split_calls([ReasoningDelta(thought)])
        self._logprobs.add_tokens(logprobs_in(choice))
        text = delta.get("content") or choice.get("text")
        if isinstance(text, str) and text:
            self._count(text)
            yield from self._split_calls(self._splitter.feed(text.replace(SEAM, "")))
            if self._reader is not None and self._reader.pending_chars > MOST_CALL:
                raise too_large(self._server_name)

    def end(self) -> Iterator[Delta]:
        """Yield the text that was held back and the tool calls, after the last piece."""
        deltas = [redacted for delta in self._final_deltas() for redacted in self._redact(delta)]
        yield from self._logprobs.attach([*deltas, *self.flush()])

    def _redact(self, delta: Delta) -> Iterator[Delta]:
        """Redact secrets, even across pieces; release held text before text of another kind."""
        if isinstance(delta, ReasoningDelta):
            if text := self._reasoning_redactor.feed(delta.text):
                yield ReasoningDelta(text)
            return
        if not isinstance(delta, TextDelta):
            yield from self.flush()
        if isinstance(delta, ToolCallDelta):
            redacted = self._call_redactors.setdefault(delta.id, StreamRedactor())
            yield replace(
                delta,
                name=redact_certain(delta.name),
                id=redact_certain(delta.id),
                arguments=redacted.feed(delta.arguments),
            )
        elif isinstance(delta, ToolCall):
            yield ToolCall(
                redact_certain(delta.name),
                redact_certain(delta.arguments),
                redact_certain(delta.id),
            )
        elif isinstance(delta, WasReasoning):
            yield delta
        else:
            if rest := self._reasoning_redactor.finish():
                yield ReasoningDelta(rest)
            self._logprobs.add_text(delta.text)
            if text := self._text_redactor.feed(delta.text):
                yield TextDelta(text)

    def _final_deltas(self) -> Iterator[Delta]:
        if not self.stopped:
            yield from self._split_calls(self._splitter.finish())
            if self._reader is not None:
                is_complete = self.finish != "length"
                yield from self._cut_at_stop(self._reader.finish(ended=is_complete))
            if rest := self._stops.finish():
                yield TextDelta(rest)
        for _, call in sorted(self._calls.items()):
            arguments = call.arguments.getvalue()
            if self.finish != "length" or _is_json(arguments):
                yield ToolCall(call.name, arguments, call.id)

    def _count(self, text: str) -> None:
        self._length += len(text)
        if self._length > MOST_ANSWER:
            raise too_large(self._server_name)

    def _split_calls(self, deltas: Sequence[Delta]) -> Iterator[Delta]:
        for delta in deltas:
            if isinstance(delta, WasReasoning):
                if rest := self._stops.finish():
                    yield TextDelta(rest)
                self.reasoning_bytes, self.answer_bytes = (
                    self.reasoning_bytes + self.answer_bytes,
                    0,
                )
            if isinstance(delta, ReasoningDelta | WasReasoning):
                self.reasoning_tokens = self.figures.completion
            if isinstance(delta, ReasoningDelta):
                self.reasoning_bytes += len(delta.text.encode())
            if self._reader is not None and isinstance(delta, TextDelta):
                yield from self._cut_at_stop(self._reader.feed(delta.text))
            else:
                yield from self._cut_at_stop((delta,))

    def _cut_at_stop(self, deltas: Sequence[Delta]) -> Iterator[Delta]:
        """Cut text at a stop string, which does not apply to the arguments of tools."""
        for delta in deltas:
            if not isinstance(delta, TextDelta):
                yield delta
            elif text := self._stops.feed(delta.text):
                self.answer_bytes += len(text.encode())
                yield TextDelta(text)

    def _call(self, piece: Any) -> Iterator[Delta]:
        """Read a piece of a tool call, which has the call's number and a part of its text."""
        if not isinstance(piece, dict):
            return
        number = piece.get("index")
        if not isinstance(number, int):
            number = len(self._calls)
        call = self._calls.setdefault(number, _Call())
        function = _object(piece, "function")
        call.id = _text(piece, "id") or call.id
        call.name = _text(function, "name") or call.name
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            self._count(arguments)
            call.arguments.write(arguments)
        if call.size > MOST_CALL or len(self._calls) > MOST_CALLS:
            raise too_large(self._server_name)
        if call.name:
            if call.passed_on < 0:
                yield ToolCallDelta(number, call.name, call.id, "")
                call.passed_on = 0
            if call.arguments.tell() > call.passed_on:
                yield ToolCallDelta(number, call.name, call.id, call.take_new_arguments())


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def _object(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    nested = value.get(name)
    return nested if isinstance(nested, dict) else {}


def _text(value: Mapping[str, Any], name: str) -> str:
    text = value.get(name)
    return text if isinstance(text, str) else ""


def _number(value: Mapping[str, Any], name: str, default: int | None) -> int | None:
    number = value.get(name)
    if not isinstance(number, int) or isinstance(number, bool):
        return default
    return number if 0 <= number < _MOST else default


def _rate(value: Mapping[str, Any], name: str, default: float | None) -> float | None:
    rate = value.get(name)
    if not isinstance(rate, int | float) or isinstance(rate, bool):
        return default
    return float(rate) if 0 < rate < _MOST else default
