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

from app.api.http.answer_fields import NO_LIMIT, AnswerFields, Whole, unlimited
from app.api.http.fields import Fields, check
from app.api.http.parts import content_of
from app.api.http.request import (
    ApiRequest,
    BadRequest,
    allowed_of,
    arguments_text,
    chosen_tool,
    joined,
    thinking_settings,
    tool_choice_of,
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
MOST_TEXTS: Final = 128
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


_OldLogprob = tuple[int, TokenLogprob]
"""The offset of a token in the text, and its log probability."""
_BYTES: Final = "bytes:"


class Function(Fields):
    """A function tool."""

    name: str = Field(min_length=1, max_length=256)
    description: str | None = None
    parameters: dict[str, Any] | None = None


class Named(Fields):
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
    budget_tokens: Whole | None = Field(None, ge=NO_LIMIT)


class ReasoningWishes(Fields):
    """OpenRouter's reasoning settings."""

    enabled: bool | None = None
    effort: str | None = None
    max_tokens: Whole | None = Field(None, ge=NO_LIMIT)


class ChatFields(AnswerFields):
    """The fields of a chat completions request."""

    endpoint: ClassVar = "chat"

    messages: list[ChatMessage] = Field(min_length=1, max_length=100_000)
    max_completion_tokens: Whole | None = Field(None, ge=NO_LIMIT)
    n: Whole | None = Field(None, ge=1, le=MOST_AT_ONCE)
    logprobs: bool | Whole | None = None
    top_logprobs: Whole | None = Field(None, ge=0, le=MOST_LIKELY)
    n_probs: Whole | None = Field(None, ge=0, le=MOST_LIKELY)
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    thinking: ThinkingChoice | None = None
    reasoning: ReasoningWishes | None = None

    def limit(self) -> int | None:
        if self.max_completion_tokens is not None:
            return unlimited(self.max_completion_tokens)
        return super().limit()

    def likely(self) -> int | None:
        """Return how many likeliest tokens to report per token; None for no log probabilities.

        Raises BadRequest.
        """
        asked = self.top_logprobs or self.n_probs or 0
        if self.logprobs is None or isinstance(self.logprobs, bool):
            return asked if self.logprobs or asked else None
        return max(asked, _likely_count(self.logprobs))

    def reasoning_settings(self) -> dict[str, object]:
        settings = super().reasoning_settings()
        wishes = self.reasoning or ReasoningWishes.model_validate({})
        asked = wishes.enabled
        if self.thinking is not None and self.thinking.type in {"enabled", "disabled"}:
            asked = self.thinking.type == "enabled"
        return {**thinking_settings(wishes.effort, asked), **settings}

    def budget(self) -> int | None:
        given = self.thinking.budget_tokens if self.thinking else None
        wished = self.reasoning.max_tokens if self.reasoning else None
        own = super().budget()
        return next(
            (it for it in (own, unlimited(given), unlimited(wished)) if it is not None), None
        )


class CompletionFields(AnswerFields):
    """The fields of a completions request."""

    endpoint: ClassVar = "completions"

    prompt: str | list[str] | list[int] | list[list[int]]
    n: Whole | None = Field(None, ge=1, le=MOST_AT_ONCE)
    logprobs: bool | Whole | None = None
    n_probs: Whole | None = Field(None, ge=0, le=MOST_LIKELY)
    echo: bool = False
    suffix: str | None = None
    max_tokens: Whole | None = Field(16, ge=NO_LIMIT)

    def likely(self) -> int | None:
        """Return how many likeliest tokens to report per token; None for no log probabilities.

        Raises BadRequest.
        """
        if self.logprobs is None or self.logprobs is False:
            return self.n_probs or None
        return max(self.n_probs or 0, _likely_count(self.logprobs))


def read_chat(fields: ChatFields, intake: Intake) -> ApiRequest:
    """Read a chat completions request. Raises BadRequest, DocumentNotRead and Cancelled."""
    tools, notes = tools_of(fields.tools)
    choice, only, tools = _choice(fields.tool_choice, tools)
    schema, grammar = fields.rules().one()
    return ApiRequest(
        fields.model,
        ChatRequest(
            joined(_messages(fields.messages, intake)),
            sampling=fields.sampling(schema, fields.likely()),
            stop=fields.stops(),
            tools=tools,
            tool_choice=tool_choice_of(choice),
            only_tool=only,
            parallel_tools=fields.parallel_tool_calls is not False,
        ),
        {**fields.settings(), **fields.reasoning_settings()},
        seed=fields.fresh_seed(),
        grammar=grammar,
        thinking_budget=fields.budget(),
        count=fields.n or 1,
        notes=(*notes, *fields.notes),
    )


def read_texts(fields: CompletionFields) -> list[ApiRequest]:
    """Read a completions request; returns one request per raw prompt. Raises BadRequest."""
    prompts = _prompts(fields.prompt)
    are_texts = all(isinstance(it, str) for it in prompts)
    if fields.suffix and not are_texts:
        raise BadRequest(
            "“suffix” cannot be used here.",
            "A gap is filled between two texts, and the prompt is none: it is tokens.",
            "Send the prompt as text, or leave “suffix” out.",
            "suffix",
        )
    likely = fields.likely()
    if fields.echo and fields.suffix and likely is not None:
        raise BadRequest(
            "“echo” cannot be used here.",
            "Between a prompt and its “suffix” the model sees tokens that are part of neither.",
            "Leave “logprobs” or “suffix” out.",
            "echo",
        )
    count = fields.n or 1
    if not 0 < len(prompts) * count <= MOST_TEXTS:
        raise BadRequest(
            "There are too many prompts." if prompts else "There is no prompt.",
            f"From 1 to {MOST_TEXTS} completions are written for one request.",
            "Send some of them in another request." if prompts else "Send one.",
            "prompt",
        )
    schema, grammar = fields.rules().one()
    return [
        ApiRequest(
            fields.model,
            ChatRequest(
                (),
                sampling=fields.sampling(schema, likely),
                stop=fields.stops(),
                prompt=prompt,
                suffix=fields.suffix or "",
                echo=fields.echo,
            ),
            fields.settings(),
            seed=fields.fresh_seed(),
            grammar=grammar,
            count=count,
            notes=fields.notes,
        )
        for prompt in prompts
    ]


def _likely_count(given: int) -> int:
    """Check the number of likeliest tokens that was requested. Raises BadRequest."""
    if not 0 <= given <= MOST_LIKELY:
        raise BadRequest(
            "“logprobs” cannot be used.",
            f"From 0 to {MOST_LIKELY} of the likeliest tokens can be told with each.",
            "Send such a number.",
            "logprobs",
        )
    return int(given)


def _prompts(given: str | list[str] | list[int] | list[list[int]]) -> list[str | tuple[int, ...]]:
    """Return the prompts, each as text or as tokens."""
    if isinstance(given, str):
        return [given]
    tokens = tuple(it for it in given if isinstance(it, int))
    if tokens:
        return [tokens]
    return [it if isinstance(it, str) else tuple(it) for it in given if not isinstance(it, int)]


def tools_of(
    tools: Sequence[Mapping[str, Any]] | None,
) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """Return the functions among the tools, and a note on the other tools. Raises BadRequest."""
    found, left = [], []
    for tool in tools or ():
        kind = tool.get("type", "function")
        if kind == "function":
            its = check(Function, tool.get("function", tool))
            found.append(Tool(its.name, its.description or "", its.parameters or {}))
        else:
            left.append(str(kind))
    return tuple(found), left_out(left)


def left_out(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return a note on tools that only other servers support."""
    if not kinds:
        return ()
    named = ", ".join(sorted(set(kinds)))
    return (f"These tools are no functions, and the model was not told of them: {named}.",)


def _choice(
    choice: str | Mapping[str, Any] | None, tools: tuple[Tool, ...]
) -> tuple[str, str, tuple[Tool, ...]]:
    """Return the mode of choosing a tool, the required tool's name or "", and the tools allowed."""
    if choice is None or isinstance(choice, str):
        return choice or "auto", "", tools
    if choice.get("type") == "function":
        named = check(Named, choice.get("function", choice))
        return "required", chosen_tool(named.name, tools), tools
    if choice.get("type") == "allowed_tools":
        its = check(AllowedTools, choice.get("allowed_tools"))
        called = (check(Named, it.get("function", it)).name for it in its.tools)
        return its.mode, "", allowed_of(called, tools)
    return str(choice.get("mode") or choice.get("type")), "", tools


def _messages(messages: Sequence[ChatMessage], intake: Intake) -> Iterator[Message]:
    asked: dict[str, str] = {}
    roles: Mapping[str, Role] = {"developer": "system", "function": "tool"}
    for number, it in enumerate(messages):
        where = f"messages.{number}"
        role = roles.get(it.role, it.role)
        calls = tuple(_calls(it, where))
        asked.update({call.id: call.name for call in calls})
        call_id = it.tool_call_id or ""
        if it.audio is not None and not it.content:
            raise BadRequest(
                f"“{where}.audio” cannot be used.",
                "The sound of an earlier answer is named by its id, and is not kept here.",
                "Send what it says as “content”.",
                f"{where}.audio",
            )
        content = content_of(it.content, f"{where}.content", intake)
        yield Message(
            role,  # type: ignore[arg-type]  # a role missing from `roles` is one of ours
            content.text or it.refusal or "",
            reasoning=it.reasoning_content or it.reasoning or content.reasoning,
            calls=calls,
            tool=(it.name or asked.get(call_id, "")) if role == "tool" else "",
            call_id=call_id if role == "tool" else "",
            media=content.media,
        )


def _calls(message: ChatMessage, where: str) -> Iterator[ToolCall]:
    """Yield the tool calls of an earlier answer. Raises BadRequest."""
    for number, call in enumerate(message.tool_calls or ()):
        if call.function is not None:
            its = call.function
            yield ToolCall(its.name, arguments_text(its.arguments), call.id)
        elif call.custom is not None:
            yield ToolCall(call.custom.name, json.dumps({"input": call.custom.input}), call.id)
        else:
            raise BadRequest(
                f"“{where}.tool_calls.{number}” calls no function.",
                "Its “function” is missing.",
                "Send it.",
                f"{where}.tool_calls.{number}.function",
            )
    if message.function_call is not None:
        its = message.function_call
        yield ToolCall(its.name, arguments_text(its.arguments))


class ChatWriter:
    """One answer, written as a chat completion.

    A stream consists of the chunks of `begin` and of `take` for each event. For a whole answer,
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
        self._begun: dict[int, str] = {}
        self._likely: list[dict[str, Any]] = []
        self.done: Done | None = None

    def begin(self) -> Iterator[dict[str, Any]]:
        yield self._chunk({"role": "assistant", "content": ""})

    def take(self, event: Event) -> Iterator[dict[str, Any]]:
        """Process one event and yield the chunks it adds to a stream."""
        match event:
            case TextDelta(text, logprobs):
                told = [likely(it) for it in logprobs]
                self._text.append(text)
                self._likely += told
                yield self._chunk({"content": text}, told)
            case ReasoningDelta(text):
                self._reasoning.append(text)
                yield self._chunk({"reasoning_content": text})
            case WasReasoning():
                # A stream cannot take text back, but a whole answer moves it to the reasoning.
                self._reasoning, self._text = [*self._reasoning, *self._text], []
            case ToolCallDelta() | ToolCall():
                yield from self._take_call(event)
            case Done():
                self.done = event
                if self._with_stop and event.stop:
                    self._text.append(event.stop)
                    yield self._chunk({"content": event.stop})
                last = self._chunk({}, finish=FINISHED[event.finish_reason])
                yield with_notes(last, event.notes)

    def _take_call(self, call: ToolCallDelta | ToolCall) -> Iterator[dict[str, Any]]:
        """Process a piece of a tool call, or a whole one, which is sent only if no pieces were."""
        match call:
            case ToolCallDelta(index, name, id_, arguments):
                if index not in self._begun:
                    self._begun[index] = id_ or new_id("call_")
                    begun = {"name": name, "arguments": ""}
                    yield self._call(index, self._begun[index], begun)
                if arguments:
                    piece = {"index": index, "function": {"arguments": arguments}}
                    yield self._chunk({"tool_calls": [piece]})
            case ToolCall(name, arguments, id_):
                index = len(self._calls)
                known = self._begun.get(index)
                function = {"name": name, "arguments": arguments}
                whole = known or id_ or new_id("call_")
                self._calls.append({"id": whole, "type": "function", "function": function})
                if known is None:
                    yield self._call(index, whole, function)

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
            "logprobs": {"content": self._likely, "refusal": None} if self._likely else None,
            "finish_reason": FINISHED[self.done.finish_reason if self.done else "stop"],
        }

    def _chunk(
        self,
        delta: Mapping[str, Any],
        told: Sequence[Mapping[str, Any]] = (),
        finish: str | None = None,
    ) -> dict[str, Any]:
        logprobs = {"content": told, "refusal": None} if told else None
        choice = {
            "index": self._index, "delta": delta, "logprobs": logprobs, "finish_reason": finish,
        }  # fmt: skip
        return {**self._head, "object": f"{self.kind}.chunk", "choices": [choice]}


class TextWriter(ChatWriter):
    """One answer, written as a completion of a raw prompt."""

    kind = "text_completion"

    def __init__(self, head: Mapping[str, Any], index: int = 0, *, with_stop: bool = False) -> None:
        super().__init__(head, index, with_stop=with_stop)
        self._told: list[_OldLogprob] = []
        self._length = 0
        self._decoder = Utf8Decoder()

    def begin(self) -> Iterator[dict[str, Any]]:
        return iter(())

    def take(self, event: Event) -> Iterator[dict[str, Any]]:
        if isinstance(event, PromptEcho):
            event = TextDelta(event.text, event.logprobs)
        told: list[_OldLogprob] = []
        if isinstance(event, TextDelta):
            self._length += len(event.text)
            told = self._placed(event.logprobs)
            self._told += told
        for chunk in super().take(event):
            yield self._text_chunk(chunk, told)

    def choice(self) -> dict[str, Any]:
        whole = super().choice()
        return {
            "index": whole["index"],
            "text": whole["message"]["content"] or "",
            "logprobs": _old_logprobs(self._told),
            "finish_reason": whole["finish_reason"],
        }

    def _text_chunk(self, chunk: dict[str, Any], told: list[_OldLogprob]) -> dict[str, Any]:
        """Turn a chunk of a chat completion into one of a completion."""
        (choice,) = chunk["choices"]
        delta = choice.pop("delta")
        text = delta.get("content", delta.get("reasoning_content", ""))
        choices = [{**choice, "text": text, "logprobs": _old_logprobs(told)}]
        return {**chunk, "object": self.kind, "choices": choices}

    def _placed(self, tokens: Sequence[TokenLogprob]) -> list[_OldLogprob]:
        """Find the offsets of the last tokens, which end where the text ends."""
        lengths = [len(self._decoder.feed(it.raw)) for it in tokens]
        place = self._length - sum(lengths)
        placed = []
        for token, length in zip(tokens, lengths, strict=True):
            placed.append((max(0, place), token))
            place += length
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
    told = list(dict.fromkeys([*body.get("notes", ()), *notes]))
    return {**body, "notes": told} if told else body


def new_id(prefix: str) -> str:
    """Make a random id that reveals nothing, with this prefix."""
    return prefix + token_hex(12)


def usage(done: Sequence[Done], count: int) -> dict[str, Any]:
    """Add up the tokens of a request's answers.

    Args:
        count: The number of answers per prompt; each prompt counts once.
    """
    written = sum(it.usage.completion_tokens for it in done)
    read = sum(it.usage.prompt_tokens for it in done[::count])
    cached = sum(it.usage.cached_tokens for it in done[::count])
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {
            "reasoning_tokens": sum(it.usage.reasoning_tokens for it in done),
            "accepted_prediction_tokens": sum(it.mtp.accepted for it in done),
            "rejected_prediction_tokens": sum(it.mtp.drafted - it.mtp.accepted for it in done),
        },
    }


def likely(token: TokenLogprob) -> dict[str, Any]:
    """Describe the log probability of a token and of the likeliest tokens in its place."""
    return {
        "token": spelled(token),
        "logprob": token.logprob,
        "bytes": list(token.raw),
        "top_logprobs": [
            {"token": spelled(it), "logprob": it.logprob, "bytes": list(it.raw)}
            for it in token.likeliest
        ],
    }


def spelled(token: TokenLogprob, before: str = "") -> str:
    """Return a token's text, or its bytes if they are not whole characters, as OpenAI does.

    Args:
        before: The prefix for bytes that are spelled out.
    """
    try:
        return token.raw.decode()
    except UnicodeDecodeError:
        return before + "".join(f"\\x{byte:02x}" for byte in token.raw)


def _old_logprobs(told: Sequence[_OldLogprob]) -> dict[str, Any] | None:
    """Write log probabilities in the form of completions: one list per kind of value."""
    if not told:
        return None
    return {
        "tokens": [spelled(it, _BYTES) for _, it in told],
        "token_logprobs": [None if math.isnan(it.logprob) else it.logprob for _, it in told],
        "top_logprobs": [_old_likeliest(it) for _, it in told],
        "text_offset": [place for place, _ in told],
    }


def _old_likeliest(token: TokenLogprob) -> dict[str, float] | None:
    """Write the likeliest tokens and the sampled one; None if nothing is known."""
    if math.isnan(token.logprob):
        return None
    found: dict[str, float] = {}
    for it in (*token.likeliest, token):
        found.setdefault(spelled(it, _BYTES), it.logprob)
    return found


def error_body(status: int, code: str, text: str, field: str) -> dict[str, Any]:
    """Return an error body in OpenAI's format."""
    kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
    kind = kinds.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": text, "type": kind, "param": field or None, "code": code}}
