"""OpenAI's chat completions and completions: requests read, answers written.

Source: OpenAI's API reference, "Chat" and "Completions"; fields that are no part of it are those of
llama-server and vLLM: `top_k`, `min_p`, `repeat_penalty`, `repetition_penalty`, `grammar`,
`chat_template_kwargs`, `thinking_budget`, `reasoning_content`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from secrets import token_hex
from typing import Any, Final, Literal

from pydantic import Field

from app.server.fields import Fields, check
from app.server.parts import content_of
from app.server.request import (
    ApiRequest,
    BadRequest,
    allowed_of,
    chosen_tool,
    joined,
    thinking_settings,
    tool_choice_of,
)
from app.server.uploads import Intake
from engines.types import (
    ChatRequest,
    Done,
    Event,
    Message,
    ReasoningDelta,
    Role,
    Sampling,
    TextDelta,
    TokenLogprob,
    Tool,
    ToolCall,
    ToolCallDelta,
    WasReasoning,
)

MOST_AT_ONCE: Final = 16
"""Answers to one request."""
MOST_TEXTS: Final = 128
"""Answers to one request for completions: its prompts, each as often as is asked."""
MOST_LIKELY: Final = 20
"""Likeliest tokens that are told with each; OpenAI's own limit."""
FINISHED: Final[Mapping[str, str]] = {
    "stop": "stop",
    "tool": "tool_calls",
    "length": "length",
    # An answer in circles was cut off; that is the word that clients have for it.
    "repetition": "length",
    "cancelled": "stop",
}


class Function(Fields):
    name: str = Field(min_length=1, max_length=256)
    description: str | None = None
    parameters: dict[str, Any] | None = None


class Named(Fields):
    name: str


class AllowedTools(Fields):
    mode: str = "auto"
    tools: list[dict[str, Any]]


class CalledFunction(Fields):
    name: str
    arguments: str = ""


class Call(Fields):
    id: str = ""
    type: str = "function"
    function: CalledFunction


class ChatMessage(Fields):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class JsonSchema(Fields):
    name: str = ""
    schema_: dict[str, Any] | None = Field(None, alias="schema")


class ResponseFormat(Fields):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None


class StreamOptions(Fields):
    include_usage: bool = False


class SamplingFields(Fields):
    """What both of OpenAI's kinds of completion have."""

    model: str = Field(min_length=1, max_length=512)
    stream: bool = False
    stream_options: StreamOptions | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    top_k: int | None = Field(None, ge=-1)
    min_p: float | None = Field(None, ge=0, le=1)
    repeat_penalty: float | None = Field(None, gt=0, le=10)
    repetition_penalty: float | None = Field(None, gt=0, le=10)
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    frequency_penalty: float | None = Field(None, ge=-2, le=2)
    logit_bias: dict[str, float] | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    n: int | None = Field(None, ge=1, le=MOST_AT_ONCE)
    max_tokens: int | None = Field(None, ge=1)
    grammar: str | None = Field(None, max_length=65_536)

    @property
    def told_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage

    def settings(self, most: int | None) -> dict[str, object]:
        """Return what the settings of an answer call the same. most: tokens of the answer."""
        named: dict[str, object | None] = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            # vLLM's clients say -1 for no limit.
            "top_k": None if self.top_k is None else max(0, self.top_k),
            "min_p": self.min_p,
            "repeat_penalty": self.repeat_penalty or self.repetition_penalty,
            "max_tokens": most,
        }
        return {name: value for name, value in named.items() if value is not None}

    def stops(self) -> tuple[str, ...]:
        """Return the texts at which it ends. Raises BadRequest."""
        found = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())
        if len(found) > MOST_AT_ONCE or any(len(it) > 1024 for it in found):
            raise BadRequest(
                "There are too many stops, or one is too long.",
                f"At most {MOST_AT_ONCE} of 1,024 characters can be watched for.",
                "Send fewer.",
                "stop",
            )
        return tuple(filter(None, found))

    def sampling(self, schema: str | None, likely: int | None) -> Sampling:
        """Return what the settings know nothing of. Raises BadRequest."""
        try:
            bias = {int(token): value for token, value in (self.logit_bias or {}).items()}
        except ValueError:
            raise BadRequest(
                "“logit_bias” cannot be used.",
                "Its keys are no numbers of tokens.",
                "Name tokens by their numbers, as /tokenize gives them.",
                "logit_bias",
            ) from None
        return Sampling(
            schema=schema,
            presence_penalty=self.presence_penalty or 0.0,
            frequency_penalty=self.frequency_penalty or 0.0,
            logit_bias=tuple(bias.items()),
            logprobs=likely,
        )


class TemplateValues(Fields):
    enable_thinking: bool | None = None


class ChatFields(SamplingFields):
    messages: list[ChatMessage] = Field(min_length=1, max_length=100_000)
    max_completion_tokens: int | None = Field(None, ge=1)
    logprobs: bool | None = None
    top_logprobs: int | None = Field(None, ge=0, le=MOST_LIKELY)
    tools: list[dict[str, Any]] | None = None
    functions: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    reasoning_effort: str | None = None
    thinking_budget: int | None = Field(None, ge=0)
    chat_template_kwargs: TemplateValues | None = None


class CompletionFields(SamplingFields):
    prompt: str | list[str] | list[int] | list[list[int]]
    logprobs: int | None = Field(None, ge=0, le=MOST_LIKELY)
    echo: bool = False
    suffix: str | None = None
    max_tokens: int | None = Field(16, ge=0)


def read_chat(fields: ChatFields, intake: Intake) -> ApiRequest:
    """Read a request for a chat completion. Raises BadRequest, DocumentNotRead, Cancelled."""
    if fields.functions:
        raise BadRequest(
            "“functions” cannot be used.",
            "Models are told of “tools” only, which OpenAI has had in its place since 2023.",
            "Send each as a tool: {“type”: “function”, “function”: …}.",
            "functions",
        )
    tools, notes = tools_of(fields.tools)
    choice, only, tools = _choice(fields.tool_choice, tools)
    template = fields.chat_template_kwargs or TemplateValues()
    likely = (fields.top_logprobs or 0) if fields.logprobs else None
    return ApiRequest(
        fields.model,
        ChatRequest(
            joined(_messages(fields.messages, intake)),
            sampling=fields.sampling(schema_of(fields.response_format), likely),
            stop=fields.stops(),
            tools=tools,
            tool_choice=tool_choice_of(choice),
            only_tool=only,
            parallel_tools=fields.parallel_tool_calls is not False,
        ),
        {
            **fields.settings(fields.max_completion_tokens or fields.max_tokens),
            **thinking_settings(fields.reasoning_effort, template.enable_thinking),
        },
        seed=fields.seed,
        grammar=fields.grammar,
        thinking_budget=fields.thinking_budget,
        count=fields.n or 1,
        notes=notes,
    )


def read_texts(fields: CompletionFields) -> list[ApiRequest]:
    """Read a request for completions of raw prompts: one for each. Raises BadRequest."""
    prompts = _prompts(fields.prompt)
    are_texts = all(isinstance(it, str) for it in prompts)
    if fields.suffix and not are_texts:
        raise BadRequest(
            "“suffix” cannot be used here.",
            "A gap is filled between two texts, and the prompt is none: it is tokens.",
            "Send the prompt as text, or leave “suffix” out.",
            "suffix",
        )
    if fields.echo and not (are_texts and fields.logprobs is None):
        raise BadRequest(
            "“echo” cannot be used here.",
            "Only a prompt that is text is sent back, and without the probabilities of its tokens.",
            "Send the prompt as text and leave “logprobs” out, or leave “echo” out.",
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
    return [
        ApiRequest(
            fields.model,
            ChatRequest(
                (),
                sampling=fields.sampling(None, fields.logprobs),
                stop=fields.stops(),
                prompt=prompt,
                suffix=fields.suffix or "",
            ),
            fields.settings(fields.max_tokens),
            seed=fields.seed,
            grammar=fields.grammar,
            count=count,
        )
        for prompt in prompts
    ]


def _prompts(given: str | list[str] | list[int] | list[list[int]]) -> list[str | tuple[int, ...]]:
    """Return the prompts: texts, or the tokens of each."""
    if isinstance(given, str):
        return [given]
    tokens = tuple(it for it in given if isinstance(it, int))
    if tokens:
        return [tokens]
    return [it if isinstance(it, str) else tuple(it) for it in given if not isinstance(it, int)]


def tools_of(
    tools: Sequence[Mapping[str, Any]] | None,
) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """Return the functions among tools, with a note on those that are none. Raises BadRequest."""
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
    """Return the note on tools that only other servers have."""
    if not kinds:
        return ()
    named = ", ".join(sorted(set(kinds)))
    return (f"These tools are no functions, and the model was not told of them: {named}.",)


def schema_of(wanted: ResponseFormat | None) -> str | None:
    """Return the JSON schema that an answer has to follow. Raises BadRequest."""
    if wanted is None or wanted.type == "text":
        return None
    if wanted.type == "json_object":
        return '{"type": "object"}'
    schema = wanted.json_schema.schema_ if wanted.json_schema else None
    if schema is None:
        raise BadRequest(
            "“response_format” has no schema.",
            "“json_schema” asks for an answer by a schema, and there is none in it.",
            "Send it as response_format.json_schema.schema.",
            "response_format",
        )
    return json.dumps(schema)


def _choice(
    choice: str | Mapping[str, Any] | None, tools: tuple[Tool, ...]
) -> tuple[str, str, tuple[Tool, ...]]:
    """Return how a tool is chosen, the one that has to be, and those that there are then."""
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
        role = roles.get(it.role, it.role)
        calls = tuple(
            ToolCall(call.function.name, call.function.arguments, call.id)
            for call in it.tool_calls or ()
        )
        asked.update({call.id: call.name for call in calls})
        call_id = it.tool_call_id or ""
        content = content_of(it.content, f"messages.{number}.content", intake)
        yield Message(
            role,  # type: ignore[arg-type]  # what is not in `roles` is a role of ours
            content.text,
            reasoning=it.reasoning_content or it.reasoning or "",
            calls=calls,
            tool=(it.name or asked.get(call_id, "")) if role == "tool" else "",
            call_id=call_id if role == "tool" else "",
            media=content.media,
        )


class ChatWriter:
    """Writes one answer as a chat completion. index: its number among several.

    A stream is the chunks of `begin`, of `take` for each event, and of `end`; a whole answer is
    `choice`, once all events were taken.
    """

    kind = "chat.completion"

    def __init__(self, head: Mapping[str, Any], index: int = 0) -> None:
        self._head = head
        self._index = index
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._begun: dict[int, str] = {}
        self._likely: list[dict[str, Any]] = []
        self.done: Done | None = None

    def begin(self) -> Iterator[dict[str, Any]]:
        yield self._chunk({"role": "assistant", "content": ""})

    def take(self, event: Event) -> Iterator[dict[str, Any]]:
        """Take an event; yields what it adds to a stream."""
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
                # A stream cannot take text back; a whole answer has it where it belongs.
                self._reasoning, self._text = [*self._reasoning, *self._text], []
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
            case Done():
                self.done = event
                last = self._chunk({}, finish=FINISHED[event.finish_reason])
                yield with_notes(last, event.notes)

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
    """Writes one answer as a completion of a raw prompt."""

    kind = "text_completion"

    def __init__(self, head: Mapping[str, Any], index: int = 0, echo: str = "") -> None:
        """Begin. echo: the prompt, where it is to stand before its answer."""
        super().__init__(head, index)
        self._echo = echo

    def begin(self) -> Iterator[dict[str, Any]]:
        if self._echo:
            yield self._text_chunk(self._chunk({"content": self._echo}))

    def take(self, event: Event) -> Iterator[dict[str, Any]]:
        yield from map(self._text_chunk, super().take(event))

    def _text_chunk(self, chunk: dict[str, Any]) -> dict[str, Any]:
        """Write a chunk of a chat completion as one of a completion."""
        (choice,) = chunk["choices"]
        delta = choice.pop("delta")
        told = (choice.pop("logprobs") or {}).get("content", ())
        text = delta.get("content", delta.get("reasoning_content", ""))
        choices = [{**choice, "text": text, "logprobs": _old_logprobs(told)}]
        return {**chunk, "object": self.kind, "choices": choices}

    def choice(self) -> dict[str, Any]:
        whole = super().choice()
        told = (whole["logprobs"] or {}).get("content", ())
        return {
            "index": whole["index"],
            "text": self._echo + (whole["message"]["content"] or ""),
            "logprobs": _old_logprobs(told),
            "finish_reason": whole["finish_reason"],
        }


def head(prefix: str, model: str) -> dict[str, Any]:
    """Return what all chunks of a completion and the whole of it begin with."""
    return {
        "id": new_id(prefix),
        "created": int(time.time()),
        "model": model,
        "system_fingerprint": "hearth",
    }


def with_notes(body: dict[str, Any], notes: Iterable[str]) -> dict[str, Any]:
    """Return an answer with more `notes` on what was done otherwise than it was asked."""
    told = list(dict.fromkeys([*body.get("notes", ()), *notes]))
    return {**body, "notes": told} if told else body


def new_id(prefix: str) -> str:
    """Make an id that tells nothing. prefix: how those of its kind begin."""
    return prefix + token_hex(12)


def usage(done: Sequence[Done], count: int) -> dict[str, Any]:
    """Sum up the tokens of a request's answers. count: those to each prompt, which counts once."""
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
    """Write the probability of a token, and of the likeliest at its place."""
    return {
        "token": token.text,
        "logprob": token.logprob,
        "bytes": list(token.raw),
        "top_logprobs": [
            {"token": it.text, "logprob": it.logprob, "bytes": list(it.raw)}
            for it in token.likeliest
        ],
    }


def _old_logprobs(told: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Write probabilities as completions have them: a list for each kind of value."""
    if not told:
        return None
    ends, offsets = 0, []
    for it in told:
        offsets.append(ends)
        ends += len(it["token"])
    return {
        "tokens": [it["token"] for it in told],
        "token_logprobs": [it["logprob"] for it in told],
        "top_logprobs": [
            {top["token"]: top["logprob"] for top in it["top_logprobs"]} for it in told
        ],
        "text_offset": offsets,
    }


def error_body(status: int, code: str, text: str, field: str) -> dict[str, Any]:
    """Write an error as OpenAI's clients read it."""
    kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
    kind = kinds.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": text, "type": kind, "param": field or None, "code": code}}
