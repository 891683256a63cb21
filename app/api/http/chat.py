"""OpenAI's chat completions and completions: reads requests, writes answers.

Source: OpenAI's API reference, "Chat" and "Completions"; `field_table.py` lists the fields of other
servers.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from secrets import token_hex
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from app.api.http.answer_fields import NO_LIMIT, AnswerFields, WholeNumber, unlimited
from app.api.http.fields import Fields, check
from app.api.http.parts import content_of
from app.api.http.request import (
    ApiRequest,
    BadRequest,
    allowed_tools,
    arguments_text,
    merge_messages,
    parse_tool_choice,
    require_tool,
    thinking_settings,
)
from app.api.http.uploads import Intake
from engines.text import Utf8Decoder
from engines.types import (
    ChatRequest,
    Done,
    Event,
    Message,
    PromptEcho,
    ReasoningDelta,
    Role,
    TextDelta,
    TokenLogprob,
    Tool,
    ToolCall,
    ToolCallDelta,
    WasReasoning,
)

MOST_AT_ONCE: Final = 16
"""Maximum number of answers to one request."""
MOST_COMPLETIONS: Final = 128
"""Maximum number of answers to one completions request: its prompts times `n`."""
MOST_LIKELY: Final = 20
"""Maximum number of likeliest tokens reported with each token; OpenAI's own limit."""
FINISHED: Final[Mapping[str, str]] = {
    "stop": "stop",
    "tool": "tool_calls",
    "length": "length",
    # An answer that repeated itself was cut off; clients know that as “length”.
    "repetition": "length",
    "cancelled": "stop",
}


_PlacedLogprob = tuple[int, TokenLogprob]
"""The offset of a token in the text, and its log probability."""
_BYTES: Final = "bytes:"


class Function(Fields):
    """A function tool."""

    name: str = Field(min_length=1, max_length=256)
    description: str | None = None
    parameters: dict[str, Any] | None = None


class NamedObject(Fields):
    """An object with a name."""

    name: str


class AllowedTools(Fields):
    """The `allowed_tools` form of `tool_choice`."""

    mode: str = "auto"
    tools: list[dict[str, Any]]


class CalledFunction(Fields):
    """The function of a tool call."""

    name: str
    arguments: Any = ""


class CustomCall(Fields):
    """The call of a custom tool."""

    name: str
    input: str = ""


class Call(Fields):
    """One tool call of an earlier answer."""

    id: str = ""
    type: str = "function"
    function: CalledFunction | None = None
    custom: CustomCall | None = None


class ChatMessage(Fields):
    """One message of a chat completions request."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None
    tool_calls: list[Call] | None = None
    function_call: CalledFunction | None = None
    tool_call_id: str | None = None
    refusal: str | None = None
    audio: dict[str, Any] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class ThinkingChoice(Fields):
    """The reasoning switch of DeepSeek, GLM and Kimi."""

    type: Literal["enabled", "disabled", "adaptive", "auto"]
    budget_tokens: WholeNumber | None = Field(None, ge=NO_LIMIT)


class OpenRouterReasoning(Fields):
    """OpenRouter's reasoning settings."""

    enabled: bool | None = None
    effort: str | None = None
    max_tokens: WholeNumber | None = Field(None, ge=NO_LIMIT)


class ChatFields(AnswerFields):
    """The fields of a chat completions request."""

    endpoint: ClassVar = "chat"

    messages: list[ChatMessage] = Field(min_length=1, max_length=100_000)
    max_completion_tokens: WholeNumber | None = Field(None, ge=NO_LIMIT)
    n: WholeNumber | None = Field(None, ge=1, le=MOST_AT_ONCE)
    logprobs: bool | WholeNumber | None = None
    top_logprobs: WholeNumber | None = Field(None, ge=0, le=MOST_LIKELY)
    n_probs: WholeNumber | None = Field(None, ge=0, le=MOST_LIKELY)
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    thinking: ThinkingChoice | None = None
    reasoning: OpenRouterReasoning | None = None

    def limit(self) -> int | None:
        """Return the maximum number of tokens in the answer; None for no limit."""
        if self.max_completion_tokens is not None:
            return unlimited(self.max_completion_tokens)
        return super().limit()

    def likeliest_count(self) -> int | None:
        """Return how many likeliest tokens to report per token; None for no log probabilities.

        Raises BadRequest.
        """
        count = self.top_logprobs or self.n_probs or 0
        if self.logprobs is None or isinstance(self.logprobs, bool):
            return count if self.logprobs or count else None
        return max(count, _checked_likeliest(self.logprobs))

    def reasoning_settings(self) -> dict[str, object]:
        """Return the settings for reasoning from all forms that clients use."""
        settings = super().reasoning_settings()
        reasoning = self.reasoning or OpenRouterReasoning.model_validate({})
        is_enabled = reasoning.enabled
        if self.thinking is not None and self.thinking.type in {"enabled", "disabled"}:
            is_enabled = self.thinking.type == "enabled"
        return {**thinking_settings(reasoning.effort, is_enabled), **settings}

    def budget(self) -> int | None:
        """Return the maximum number of reasoning tokens; None for no limit."""
        from_thinking = self.thinking.budget_tokens if self.thinking else None
        from_reasoning = self.reasoning.max_tokens if self.reasoning else None
        own = super().budget()
        return next(
            (
                budget
                for budget in (own, unlimited(from_thinking), unlimited(from_reasoning))
                if budget is not None
            ),
            None,
        )


class CompletionFields(AnswerFields):
    """The fields of a completions request."""

    endpoint: ClassVar = "completions"

    prompt: str | list[str] | list[int] | list[list[int]]
    n: WholeNumber | None = Field(None, ge=1, le=MOST_AT_ONCE)
    logprobs: bool | WholeNumber | None = None
    n_probs: WholeNumber | None = Field(None, ge=0, le=MOST_LIKELY)
    echo: bool = False
    suffix: str | None = None
    max_tokens: WholeNumber | None = Field(16, ge=NO_LIMIT)

    def likeliest_count(self) -> int | None:
        """Return how many likeliest tokens to report per token; None for no log probabilities.

        Raises BadRequest.
        """
        if self.logprobs is None or self.logprobs is False:
            return self.n_probs or None
        return max(self.n_probs or 0, _checked_likeliest(self.logprobs))


def read_chat(fields: ChatFields, intake: Intake) -> ApiRequest:
    """Read a chat completions request. Raises BadRequest, DocumentNotRead and Cancelled."""
    tools, notes = tools_of(fields.tools)
    choice, only, tools = _choice(fields.tool_choice, tools)
    schema, grammar = fields.answer_rules().resolve()
    return ApiRequest(
        fields.model,
        ChatRequest(
            merge_messages(_messages(fields.messages, intake)),
            sampling=fields.sampling(schema, fields.likeliest_count()),
            stop=fields.stop_texts(),
            tools=tools,
            tool_choice=parse_tool_choice(choice),
            only_tool=only,
            parallel_tools=fields.parallel_tool_calls is not False,
        ),
        {**fields.settings(), **fields.reasoning_settings()},
        seed=fields.fixed_seed(),
        grammar=grammar,
        thinking_budget=fields.budget(),
        count=fields.n or 1,
        notes=(*notes, *fields.notes),
    )


def read_completions(fields: CompletionFields) -> list[ApiRequest]:
    """Read a completions request; returns one request per raw prompt. Raises BadRequest."""
    prompts = _prompts(fields.prompt)
    are_texts = all(isinstance(prompt, str) for prompt in prompts)
    if fields.suffix and not are_texts:
        raise BadRequest(
            "“suffix” cannot be used here.",
            "Hearth fills a gap between two texts, but this prompt is tokens.",
            "Send the prompt as text, or leave “suffix” out.",
            "suffix",
        )
    likeliest_count = fields.likeliest_count()
    if fields.echo and fields.suffix and likeliest_count is not None:
        raise BadRequest(
            "“echo” cannot be used here.",
            "Between a prompt and its “suffix” the model sees tokens that are part of neither.",
            "Leave “logprobs” or “suffix” out.",
            "echo",
        )
    count = fields.n or 1
    if not 0 < len(prompts) * count <= MOST_COMPLETIONS:
        raise BadRequest(
            "There are too many prompts." if prompts else "There is no prompt.",
            f"From 1 to {MOST_COMPLETIONS} completions are written for one request.",
            "Send some of them in another request." if prompts else "Send one.",
            "prompt",
        )
    schema, grammar = fields.answer_rules().resolve()
    return [
        ApiRequest(
            fields.model,
            ChatRequest(
                (),
                sampling=fields.sampling(schema, likeliest_count),
                stop=fields.stop_texts(),
                prompt=prompt,
                suffix=fields.suffix or "",
                echo=fields.echo,
            ),
            fields.settings(),
            seed=fields.fixed_seed(),
            grammar=grammar,
            count=count,
            notes=fields.notes,
        )
        for prompt in prompts
    ]


def _checked_likeliest(count: int) -> int:
    """Check the number of likeliest tokens that was requested. Raises BadRequest."""
    if not 0 <= count <= MOST_LIKELY:
        raise BadRequest(
            "“logprobs” cannot be used.",
            f"From 0 to {MOST_LIKELY} of the likeliest tokens can be reported with each token.",
            "Send a number in this range.",
            "logprobs",
        )
    return int(count)


def _prompts(value: str | list[str] | list[int] | list[list[int]]) -> list[str | tuple[int, ...]]:
    """Return the prompts, each as text or as tokens."""
    if isinstance(value, str):
        return [value]
    tokens = tuple(item for item in value if isinstance(item, int))
    if tokens:
        return [tokens]
    return [
        item if isinstance(item, str) else tuple(item)
        for item in value
        if not isinstance(item, int)
    ]


def tools_of(
    tools: Sequence[Mapping[str, Any]] | None,
) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """Return the functions among the tools, and a note on the other tools. Raises BadRequest."""
    functions, unsupported = [], []
    for tool in tools or ():
        kind = tool.get("type", "function")
        if kind == "function":
            function = check(Function, tool.get("function", tool))
            functions.append(
                Tool(function.name, function.description or "", function.parameters or {})
            )
        else:
            unsupported.append(str(kind))
    return tuple(functions), unsupported_tools_note(unsupported)


def unsupported_tools_note(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return a note on tools that only other servers support."""
    if not kinds:
        return ()
    names = ", ".join(sorted(set(kinds)))
    return (f"These tools are not functions and were not passed to the model: {names}.",)


def _choice(
    choice: str | Mapping[str, Any] | None, tools: tuple[Tool, ...]
) -> tuple[str, str, tuple[Tool, ...]]:
    """Return the mode of choosing a tool, the required tool's name or "", and the tools allowed."""
    if choice is None or isinstance(choice, str):
        return choice or "auto", "", tools
    if choice.get("type") == "function":
        tool = check(NamedObject, choice.get("function", choice))
        return "required", require_tool(tool.name, tools), tools
    if choice.get("type") == "allowed_tools":
        allowed = check(AllowedTools, choice.get("allowed_tools"))
        names = (check(NamedObject, tool.get("function", tool)).name for tool in allowed.tools)
        return allowed.mode, "", allowed_tools(names, tools)
    return str(choice.get("mode") or choice.get("type")), "", tools


def _messages(messages: Sequence[ChatMessage], intake: Intake) -> Iterator[Message]:
    tool_names: dict[str, str] = {}
    roles: Mapping[str, Role] = {"developer": "system", "function": "tool"}
    for number, message in enumerate(messages):
        path = f"messages.{number}"
        role = roles.get(message.role, message.role)
        calls = tuple(_calls(message, path))
        tool_names.update({call.id: call.name for call in calls})
        call_id = message.tool_call_id or ""
        if message.audio is not None and not message.content:
            raise BadRequest(
                f"“{path}.audio” cannot be used.",
                "It names the sound of an earlier answer by its id, but Hearth stores no sounds.",
                "Send its words as “content”.",
                f"{path}.audio",
            )
        content = content_of(message.content, f"{path}.content", intake)
        yield Message(
            role,  # type: ignore[arg-type]  # a role missing from `roles` is one of ours
            content.text or message.refusal or "",
            reasoning=message.reasoning_content or message.reasoning or content.reasoning,
            calls=calls,
            tool=(message.name or tool_names.get(call_id, "")) if role == "tool" else "",
            call_id=call_id if role == "tool" else "",
            media=content.media,
        )


def _calls(message: ChatMessage, path: str) -> Iterator[ToolCall]:
    """Yield the tool calls of an earlier answer. Raises BadRequest."""
    for number, call in enumerate(message.tool_calls or ()):
        if call.function is not None:
            function = call.function
            yield ToolCall(function.name, arguments_text(function.arguments), call.id)
        elif call.custom is not None:
            yield ToolCall(call.custom.name, json.dumps({"input": call.custom.input}), call.id)
        else:
            raise BadRequest(
                f"“{path}.tool_calls.{number}” calls no function.",
                "Its “function” is missing.",
                "Send it.",
                f"{path}.tool_calls.{number}.function",
            )
    if message.function_call is not None:
        function = message.function_call
        yield ToolCall(function.name, arguments_text(function.arguments))


class ChatWriter:
    """One answer, written as a chat completion.

    A stream consists of the chunks of `start` and of `write` for each event. For a whole answer,
    call `choice` after the last event.
    """

    kind = "chat.completion"

    def __init__(self, head: Mapping[str, Any], index: int = 0, *, with_stop: bool = False) -> None:
        """Begin an answer.

        Args:
            head: The fields that every chunk begins with.
            index: The number of this answer among several.
            with_stop: Include the stop string that ended the answer in its text.
        """
        self._head = head
        self._index = index
        self._with_stop = with_stop
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._call_ids: dict[int, str] = {}
        self._logprobs: list[dict[str, Any]] = []
        self.done: Done | None = None

    def start(self) -> Iterator[dict[str, Any]]:
        """Yield the first chunk of a stream."""
        yield self._chunk({"role": "assistant", "content": ""})

    def write(self, event: Event) -> Iterator[dict[str, Any]]:
        """Process one event and yield the chunks it adds to a stream."""
        match event:
            case TextDelta(text, logprobs):
                logprobs_json = [logprob_json(logprob) for logprob in logprobs]
                self._text.append(text)
                self._logprobs += logprobs_json
                yield self._chunk({"content": text}, logprobs_json)
            case ReasoningDelta(text):
                self._reasoning.append(text)
                yield self._chunk({"reasoning_content": text})
            case WasReasoning():
                # A stream cannot take text back, but a whole answer moves it to the reasoning.
                self._reasoning, self._text = [*self._reasoning, *self._text], []
            case ToolCallDelta() | ToolCall():
                yield from self._write_call(event)
            case Done():
                self.done = event
                if self._with_stop and event.stop:
                    self._text.append(event.stop)
                    yield self._chunk({"content": event.stop})
                last = self._chunk({}, finish=FINISHED[event.finish_reason])
                yield with_notes(last, event.notes)

    def _write_call(self, call: ToolCallDelta | ToolCall) -> Iterator[dict[str, Any]]:
        """Process a piece of a tool call, or a whole one, which is sent only if no pieces were."""
        match call:
            case ToolCallDelta(index, name, id_, arguments):
                if index not in self._call_ids:
                    self._call_ids[index] = id_ or new_id("call_")
                    function = {"name": name, "arguments": ""}
                    yield self._call(index, self._call_ids[index], function)
                if arguments:
                    piece = {"index": index, "function": {"arguments": arguments}}
                    yield self._chunk({"tool_calls": [piece]})
            case ToolCall(name, arguments, id_):
                index = len(self._calls)
                opened_id = self._call_ids.get(index)
                function = {"name": name, "arguments": arguments}
                call_id = opened_id or id_ or new_id("call_")
                self._calls.append({"id": call_id, "type": "function", "function": function})
                if opened_id is None:
                    yield self._call(index, call_id, function)

    def _call(self, index: int, id_: str, function: Mapping[str, str]) -> dict[str, Any]:
        call = {"index": index, "id": id_, "type": "function", "function": function}
        return self._chunk({"tool_calls": [call]})

    def choice(self) -> dict[str, Any]:
        """Return the whole answer."""
        message: dict[str, Any] = {
            "role": "assistant",
            "content": "".join(self._text) if self._text or not self._calls else None,
            "refusal": None,
        }
        if self._reasoning:
            message["reasoning_content"] = "".join(self._reasoning)
        if self._calls:
            message["tool_calls"] = self._calls
        return {
            "index": self._index,
            "message": message,
            "logprobs": {"content": self._logprobs, "refusal": None} if self._logprobs else None,
            "finish_reason": FINISHED[self.done.finish_reason if self.done else "stop"],
        }

    def _chunk(
        self,
        delta: Mapping[str, Any],
        token_logprobs: Sequence[Mapping[str, Any]] = (),
        finish: str | None = None,
    ) -> dict[str, Any]:
        logprobs = {"content": token_logprobs, "refusal": None} if token_logprobs else None
        choice = {
            "index": self._index, "delta": delta, "logprobs": logprobs, "finish_reason": finish,
        }  # fmt: skip
        return {**self._head, "object": f"{self.kind}.chunk", "choices": [choice]}


class TextWriter(ChatWriter):
    """One answer, written as a completion of a raw prompt."""

    kind = "text_completion"

    def __init__(self, head: Mapping[str, Any], index: int = 0, *, with_stop: bool = False) -> None:
        super().__init__(head, index, with_stop=with_stop)
        self._placed_logprobs: list[_PlacedLogprob] = []
        self._length = 0
        self._decoder = Utf8Decoder()

    def start(self) -> Iterator[dict[str, Any]]:
        """Yield nothing: a completion has no first chunk of its own."""
        return iter(())

    def write(self, event: Event) -> Iterator[dict[str, Any]]:
        """Process one event and yield the chunks it adds to a stream."""
        if isinstance(event, PromptEcho):
            event = TextDelta(event.text, event.logprobs)
        placed: list[_PlacedLogprob] = []
        if isinstance(event, TextDelta):
            self._length += len(event.text)
            placed = self._placed(event.logprobs)
            self._placed_logprobs += placed
        for chunk in super().write(event):
            yield self._text_chunk(chunk, placed)

    def choice(self) -> dict[str, Any]:
        """Return the whole answer."""
        choice = super().choice()
        return {
            "index": choice["index"],
            "text": choice["message"]["content"] or "",
            "logprobs": _completion_logprobs(self._placed_logprobs),
            "finish_reason": choice["finish_reason"],
        }

    def _text_chunk(self, chunk: dict[str, Any], placed: list[_PlacedLogprob]) -> dict[str, Any]:
        """Turn a chunk of a chat completion into one of a completion."""
        (choice,) = chunk["choices"]
        delta = choice.pop("delta")
        text = delta.get("content", delta.get("reasoning_content", ""))
        choices = [{**choice, "text": text, "logprobs": _completion_logprobs(placed)}]
        return {**chunk, "object": self.kind, "choices": choices}

    def _placed(self, tokens: Sequence[TokenLogprob]) -> list[_PlacedLogprob]:
        """Find the offsets of the last tokens, which end where the text ends."""
        lengths = [len(self._decoder.feed(token.raw)) for token in tokens]
        offset = self._length - sum(lengths)
        placed = []
        for token, length in zip(tokens, lengths, strict=True):
            placed.append((max(0, offset), token))
            offset += length
        return placed


def head(prefix: str, model: str) -> dict[str, Any]:
    """Return the fields that the chunks of a completion and the whole answer begin with."""
    return {
        "id": new_id(prefix),
        "created": int(time.time()),
        "model": model,
        "system_fingerprint": "hearth",
    }


def with_notes(body: dict[str, Any], notes: Iterable[str]) -> dict[str, Any]:
    """Add notes to an answer about anything that was done differently from the request."""
    all_notes = list(dict.fromkeys([*body.get("notes", ()), *notes]))
    return {**body, "notes": all_notes} if all_notes else body


def new_id(prefix: str) -> str:
    """Make a random id that reveals nothing, with this prefix."""
    return prefix + token_hex(12)


def usage(done_events: Sequence[Done], count: int) -> dict[str, Any]:
    """Add up the tokens of a request's answers.

    Args:
        count: The number of answers per prompt; each prompt counts once.
    """
    completion = sum(event.usage.completion_tokens for event in done_events)
    prompt = sum(event.usage.prompt_tokens for event in done_events[::count])
    cached = sum(event.usage.cached_tokens for event in done_events[::count])
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {
            "reasoning_tokens": sum(event.usage.reasoning_tokens for event in done_events),
            "accepted_prediction_tokens": sum(event.mtp.accepted for event in done_events),
            "rejected_prediction_tokens": sum(
                event.mtp.drafted - event.mtp.accepted for event in done_events
            ),
        },
    }


def logprob_json(token: TokenLogprob) -> dict[str, Any]:
    """Describe the log probability of a token and of the likeliest tokens in its place."""
    return {
        "token": token_text(token),
        "logprob": token.logprob,
        "bytes": list(token.raw),
        "top_logprobs": [
            {
                "token": token_text(candidate),
                "logprob": candidate.logprob,
                "bytes": list(candidate.raw),
            }
            for candidate in token.likeliest
        ],
    }


def token_text(token: TokenLogprob, prefix: str = "") -> str:
    """Return a token's text, or its bytes if they are not whole characters, as OpenAI does.

    Args:
        before: The prefix for bytes that are spelled out.
    """
    try:
        return token.raw.decode()
    except UnicodeDecodeError:
        return prefix + "".join(f"\\x{byte:02x}" for byte in token.raw)


def _completion_logprobs(placed: Sequence[_PlacedLogprob]) -> dict[str, Any] | None:
    """Write log probabilities in the form of completions: one list per kind of value."""
    if not placed:
        return None
    return {
        "tokens": [token_text(token, _BYTES) for _, token in placed],
        "token_logprobs": [
            None if math.isnan(token.logprob) else token.logprob for _, token in placed
        ],
        "top_logprobs": [_completion_likeliest(token) for _, token in placed],
        "text_offset": [offset for offset, _ in placed],
    }


def _completion_likeliest(token: TokenLogprob) -> dict[str, float] | None:
    """Write the likeliest tokens and the sampled one; None if nothing is known."""
    if math.isnan(token.logprob):
        return None
    logprobs: dict[str, float] = {}
    for candidate in (*token.likeliest, token):
        logprobs.setdefault(token_text(candidate, _BYTES), candidate.logprob)
    return logprobs


def error_body(status: int, code: str, text: str, field: str) -> dict[str, Any]:
    """Return an error body in OpenAI's format."""
    kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
    kind = kinds.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": text, "type": kind, "param": field or None, "code": code}}
