"""Reads the pieces of a streamed answer: text, reasoning, tool calls and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from typing import Any, Final

from engines.dialect.formats import ANY_FORMAT
from engines.dialect.splitter import Begins, open_splitter
from engines.dialect.tools import CallReader
from engines.openai.faults import endless
from engines.openai.logprobs import ServerLogprobs, logprobs_in
from engines.openai.parsing import parsed
from engines.openai.values import Drafted
from engines.redaction import StreamRedactor, redact_certain
from engines.sentences import N_
from engines.text import SEAM, StopStrings
from engines.types import (
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
    """A server's figures of an answer so far: tokens, and rates in tokens per second."""

    prompt: int | None = None
    cached: int = 0
    completion: int | None = None
    reasoning: int | None = None
    prefill: float | None = None
    decode: float | None = None
    drafted: Drafted | None = None

    def take(self, piece: Mapping[str, Any]) -> None:
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
        timings = _object(piece, "timings")
        cached = _number(timings, "cache_n", cached)
        self.completion = _number(timings, "predicted_n", self.completion)
        self.prefill = _rate(timings, "prompt_per_second", self.prefill)
        self.decode = _rate(timings, "predicted_per_second", self.decode)
        self.cached = cached or 0
        self._drafts(timings, "draft_n", "draft_n_accepted")
        metrics = _object(piece, "metrics")
        if (between := _rate(metrics, "mean_itl_ms", None)) is not None:
            self.decode = 1000 / between
        drafts = _object(metrics, "speculative_decoding")
        self._drafts(drafts, "num_draft_tokens", "num_accepted_draft_tokens")

    def _drafts(self, told: Mapping[str, Any], drafted: str, accepted: str) -> None:
        if (count := _number(told, drafted, None)) is not None:
            self.drafted = Drafted(count, _number(told, accepted, 0) or 0)


@dataclass
class _Call:
    """A tool call that is still arriving.

    Attributes:
        told: Number of characters of its arguments that were passed on; -1 before its name was.
    """

    id: str = ""
    name: str = ""
    arguments: StringIO = field(default_factory=StringIO)
    told: int = -1

    @property
    def size(self) -> int:
        """Number of characters of the call so far."""
        return len(self.id) + len(self.name) + self.arguments.tell()

    def untold(self) -> str:
        """Return the arguments that were not passed on yet, and mark them as passed on."""
        self.arguments.seek(self.told)
        rest = self.arguments.read()
        self.told = self.arguments.tell()
        return rest


class AnswerReader:
    """Turns the objects of a stream into deltas.

    Args:
        begins: Part of the answer in which the stream begins.
        stops: Stop strings to apply here.
        expected: The model is expected to reason first.
        raw: The answer continues a raw prompt, so nothing in it is reasoning.
        tools: Tools whose calls to look for in the text.
        called: Name of the server in error messages.

    Attributes:
        finish: The server's finish reason, or None.
        thought: Bytes of reasoning so far.
        said: Bytes of the answer so far.
        thought_tokens: Completion tokens when reasoning last arrived.
    """

    def __init__(
        self,
        begins: Begins,
        stops: Sequence[str],
        *,
        expected: bool,
        raw: bool = False,
        tools: Sequence[Tool] = (),
        called: str = N_("The server"),
    ) -> None:
        self._called = called
        self._splitter = open_splitter(None if raw else ANY_FORMAT, begins, expected=expected)
        self._apart = False
        self._stops = StopStrings(stops)
        # A server that does not know the form of calls leaves them in the text.
        self._reader = CallReader(tools=tools) if tools else None
        self._calls: dict[int, _Call] = {}
        self.figures = Figures()
        self.finish: str | None = None
        self._met = ""
        self.thought = self.said = 0
        self._taken = 0
        self._clean_text, self._clean_thought = StreamRedactor(), StreamRedactor()
        self._clean_calls: dict[str, StreamRedactor] = {}
        self.thought_tokens: int | None = None
        self._logprobs = ServerLogprobs()

    @property
    def stopped(self) -> bool:
        """Whether a stop string was found here."""
        return bool(self._stops.hit)

    @property
    def met(self) -> str:
        """The stop string that was found, here or on the server, as far as it reports one."""
        return self._stops.hit or self._met

    @property
    def calls(self) -> bool:
        """Whether the model has called a tool."""
        return bool(self._calls) or (self._reader is not None and self._reader.called > 0)

    def feed(self, piece: Mapping[str, Any]) -> Iterator[Delta]:
        """Read a piece and yield deltas without secrets. Raises ServerFailed if too much came."""
        deltas = [clean for delta in self._fed(piece) for clean in self._clean(delta)]
        if self.stopped:
            deltas += self.held()
        yield from self._logprobs.attached(deltas)

    def held(self) -> Iterator[Delta]:
        """Yield text held back as the possible beginning of a secret, now that nothing follows."""
        if rest := self._clean_thought.finish():
            yield ReasoningDelta(rest)
        if rest := self._clean_text.finish():
            yield TextDelta(rest)

    def _fed(self, piece: Mapping[str, Any]) -> Iterator[Delta]:
        """Read a piece. Raises ServerFailed for too long an answer."""
        self.figures.take(piece)
        choices = piece.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return
        choice = choices[0]
        finish = choice.get("finish_reason")
        self.finish = finish if isinstance(finish, str) and finish else self.finish
        met = choice.get("stop_reason")  # vLLM's field: the stop string, or the id of a token
        self._met = met if isinstance(met, str) else self._met
        # An answer that is not streamed is a complete message.
        delta = _object(choice, "delta") or _object(choice, "message")
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            yield from self._call(call)
        thought = delta.get("reasoning") or delta.get("reasoning_content")
        if isinstance(thought, str) and thought:
            if not self._apart:
                self._apart, self._splitter = True, open_splitter(None)
            self._take(thought)
            yield from self._shown([ReasoningDelta(thought)])
        self._logprobs.told(logprobs_in(choice))
        text = delta.get("content") or choice.get("text")
        if isinstance(text, str) and text:
            self._take(text)
            yield from self._shown(self._splitter.feed(text.replace(SEAM, "")))
            if self._reader is not None and self._reader.pending_chars > MOST_CALL:
                raise endless(self._called)

    def end(self) -> Iterator[Delta]:
        """Yield the text that was held back and the tool calls, after the last piece."""
        deltas = [clean for delta in self._ending() for clean in self._clean(delta)]
        yield from self._logprobs.attached([*deltas, *self.held()])

    def _clean(self, delta: Delta) -> Iterator[Delta]:
        """Redact secrets, even across pieces; release held text before text of another kind."""
        if isinstance(delta, ReasoningDelta):
            if text := self._clean_thought.feed(delta.text):
                yield ReasoningDelta(text)
            return
        if not isinstance(delta, TextDelta):
            yield from self.held()
        if isinstance(delta, ToolCallDelta):
            clean = self._clean_calls.setdefault(delta.id, StreamRedactor())
            yield replace(
                delta,
                name=redact_certain(delta.name),
                id=redact_certain(delta.id),
                arguments=clean.feed(delta.arguments),
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
            if rest := self._clean_thought.finish():
                yield ReasoningDelta(rest)
            self._logprobs.said(delta.text)
            if text := self._clean_text.feed(delta.text):
                yield TextDelta(text)

    def _ending(self) -> Iterator[Delta]:
        if not self.stopped:
            yield from self._shown(self._splitter.finish())
            if self._reader is not None:
                whole = self.finish != "length"
                yield from self._ended(self._reader.finish(ended=whole))
            if rest := self._stops.finish():
                yield TextDelta(rest)
        for _, call in sorted(self._calls.items()):
            arguments = call.arguments.getvalue()
            if self.finish != "length" or _is_json(arguments):
                yield ToolCall(call.name, arguments, call.id)

    def _take(self, text: str) -> None:
        self._taken += len(text)
        if self._taken > MOST_ANSWER:
            raise endless(self._called)

    def _shown(self, deltas: Sequence[Delta]) -> Iterator[Delta]:
        for delta in deltas:
            if isinstance(delta, WasReasoning):
                if rest := self._stops.finish():
                    yield TextDelta(rest)
                self.thought, self.said = self.thought + self.said, 0
            if isinstance(delta, ReasoningDelta | WasReasoning):
                self.thought_tokens = self.figures.completion
            if isinstance(delta, ReasoningDelta):
                self.thought += len(delta.text.encode())
            if self._reader is not None and isinstance(delta, TextDelta):
                yield from self._ended(self._reader.feed(delta.text))
            else:
                yield from self._ended((delta,))

    def _ended(self, deltas: Sequence[Delta]) -> Iterator[Delta]:
        """Cut text at a stop string, which does not apply to the arguments of tools."""
        for delta in deltas:
            if not isinstance(delta, TextDelta):
                yield delta
            elif text := self._stops.feed(delta.text):
                self.said += len(text.encode())
                yield TextDelta(text)

    def _call(self, told: Any) -> Iterator[Delta]:
        """Read a piece of a tool call, which has the call's number and a part of its text."""
        if not isinstance(told, dict):
            return
        number = told.get("index")
        if not isinstance(number, int):
            number = len(self._calls)
        call = self._calls.setdefault(number, _Call())
        function = _object(told, "function")
        call.id = _text(told, "id") or call.id
        call.name = _text(function, "name") or call.name
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            self._take(arguments)
            call.arguments.write(arguments)
        if call.size > MOST_CALL or len(self._calls) > MOST_CALLS:
            raise endless(self._called)
        if call.name:
            if call.told < 0:
                yield ToolCallDelta(number, call.name, call.id, "")
                call.told = 0
            if call.arguments.tell() > call.told:
                yield ToolCallDelta(number, call.name, call.id, call.untold())


def _is_json(text: str) -> bool:
    try:
        parsed(text)
    except ValueError:
        return False
    return True


def _object(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _number(value: Mapping[str, Any], name: str, otherwise: int | None) -> int | None:
    found = value.get(name)
    if not isinstance(found, int) or isinstance(found, bool):
        return otherwise
    return found if 0 <= found < _MOST else otherwise


def _rate(value: Mapping[str, Any], name: str, otherwise: float | None) -> float | None:
    found = value.get(name)
    if not isinstance(found, int | float) or isinstance(found, bool):
        return otherwise
    return float(found) if 0 < found < _MOST else otherwise
