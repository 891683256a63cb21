"""Anthropic's messages: reads requests, writes answers.

Source: Anthropic's API reference, "Messages" and "Streaming messages".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, Literal

from pydantic import ConfigDict, Field

from app.api.http.answer_fields import NO_LIMIT, AnswerFields, WholeNumber
from app.api.http.chat import new_id, unsupported_tools_note, with_notes
from app.api.http.fields import Fields, check, type_of
from app.api.http.parts import Content, ContentBuilder, unknown_part
from app.api.http.request import (
    ApiRequest,
    BadRequest,
    arguments_text,
    merge_messages,
    parse_tool_choice,
    require_messages,
    require_tool,
    thinking_settings,
)
from app.api.http.uploads import Intake, decode_base64, display_name, not_in_request
from app.documents.values.documents import DocumentKind
from engines.types import (
    ChatRequest,
    Done,
    Event,
    Message,
    PromptReady,
    ReasoningDelta,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallDelta,
    Usage,
    WasReasoning,
)

BILLING_PREFIX: Final = "x-anthropic-billing-header:"
"""The beginning of a block that Claude Code sends for Anthropic's billing, not for the model.

It differs with every request, so everything after it would have to be read again.
"""
STOP_REASONS: Final[Mapping[str, str]] = {
    "stop": "end_turn",
    "tool": "tool_use",
    "length": "max_tokens",
    "repetition": "max_tokens",
    "cancelled": "end_turn",
}
SIGNATURE: Final = "hearth"
"""The signature of thinking blocks; nothing verifies it."""


class ThreadUnsupported(BadRequest):
    """A request that only adds to messages kept by the server; clients then send all of them."""

    code = "thread_unsupported_request"


class MessageFields(Fields):
    """One message of a request."""

    role: Literal["user", "assistant", "system"]
    content: str | list[dict[str, Any]]


class ToolFields(Fields):
    """One tool of a request."""

    type: str = "custom"
    name: str = Field("", max_length=256)
    description: str | None = None
    input_schema: dict[str, Any] | None = None


class ChoiceFields(Fields):
    """Anthropic's `tool_choice`."""

    type: str = "auto"
    name: str = ""
    disable_parallel_tool_use: bool = False


class ThinkingFields(Fields):
    """Anthropic's `thinking`."""

    type: Literal["enabled", "disabled", "adaptive"]
    budget_tokens: int | None = Field(None, ge=1)


class OutputFormat(Fields):
    """The `format` in `output_config`."""

    type: Literal["json_schema"]
    schema_: dict[str, Any] = Field(alias="schema")


class OutputFields(Fields):
    """Anthropic's `output_config`."""

    effort: str | None = None
    format: OutputFormat | None = None


class CountFields(Fields):
    """The fields of a request to count tokens; requests for messages have them too."""

    model: str = Field(min_length=1, max_length=512)
    messages: list[MessageFields] = Field(min_length=1, max_length=100_000)
    system: str | list[dict[str, Any]] | None = None
    tools: list[ToolFields] | None = None
    tool_choice: ChoiceFields | None = None
    thinking: ThinkingFields | None = None
    output_config: OutputFields | None = None
    thread: dict[str, Any] | None = None


class MessagesFields(AnswerFields, CountFields):
    """The fields of a request for a message."""

    model_config = ConfigDict(extra="allow")
    endpoint: ClassVar = "messages"

    max_tokens: WholeNumber = Field(ge=NO_LIMIT)
    stop_sequences: list[str | None] | None = None


def read_messages(fields: CountFields, intake: Intake) -> ApiRequest:
    """Read a request for a message, or for its token count.

    Raises BadRequest, DocumentNotRead and Cancelled.
    """
    if fields.thread is not None:
        raise ThreadUnsupported(
            "A “thread” cannot be used.",
            "Hearth does not store the requests of other programs.",
            "Send the whole conversation as “messages”, without “thread”.",
            "thread",
        )
    tools, unsupported = _tools(fields.tools or ())
    choice = fields.tool_choice or ChoiceFields()
    output = fields.output_config or OutputFields()
    thinking = fields.thinking
    is_enabled = (
        None if thinking is None or thinking.type == "adaptive" else thinking.type == "enabled"
    )
    settings = thinking_settings(output.effort, is_enabled)
    budget = thinking.budget_tokens if thinking else None
    forced = choice.type == "tool"
    engine_request = ChatRequest(
        merge_messages([*_system(fields.system), *_messages(fields.messages, intake)]),
        tools=tools,
        tool_choice="required" if forced else parse_tool_choice(choice.type),
        only_tool=require_tool(choice.name, tools) if forced else "",
        parallel_tools=not choice.disable_parallel_tool_use,
    )
    if not isinstance(fields, MessagesFields):
        return ApiRequest(fields.model, engine_request, settings, thinking_budget=budget)
    answer_rules = fields.answer_rules()
    answer_rules.schema("output_config.format", output.format and output.format.schema_)
    schema, grammar = answer_rules.resolve()
    return ApiRequest(
        fields.model,
        replace(
            engine_request,
            sampling=fields.sampling(schema, None),
            stop=fields.stop_texts(fields.stop_sequences or ()),
        ),
        {**fields.settings(), **fields.reasoning_settings(), **settings},
        seed=fields.fixed_seed(),
        grammar=grammar,
        thinking_budget=fields.budget() if budget is None else budget,
        notes=(*unsupported_tools_note(unsupported), *fields.notes),
    )


def _tools(tools: Sequence[ToolFields]) -> tuple[tuple[Tool, ...], list[str]]:
    functions, unsupported = [], []
    for number, tool in enumerate(tools):
        if tool.type == "custom":
            if not tool.name:
                raise BadRequest(
                    f"“tools.{number}” has no name.",
                    "A model calls a tool by its name.",
                    "Give it one.",
                    f"tools.{number}.name",
                )
            functions.append(Tool(tool.name, tool.description or "", tool.input_schema or {}))
        else:
            unsupported.append(tool.type)
    return tuple(functions), unsupported


def _system(system: str | Sequence[Mapping[str, Any]] | None) -> Iterator[Message]:
    texts = [system] if isinstance(system, str) else [_text(part) for part in system or ()]
    for text in texts:
        if text and not text.startswith(BILLING_PREFIX):
            yield Message("system", text)


def _messages(messages: Sequence[MessageFields], intake: Intake) -> list[Message]:
    """Read the messages. Raises BadRequest, also if none of them has any content."""
    parsed: list[Message] = []
    tool_names: dict[str, str] = {}
    for number, message in enumerate(messages):
        if isinstance(message.content, str):
            parsed.append(Message(message.role, message.content))
        else:
            path = f"messages.{number}.content"
            parsed += _blocks(message.role, message.content, path, tool_names, intake)
    require_messages(parsed, f"messages.{len(messages) - 1}.content")
    return parsed


def _blocks(
    role: Literal["user", "assistant", "system"],
    blocks: Sequence[Mapping[str, Any]],
    path: str,
    tool_names: dict[str, str],
    intake: Intake,
) -> Iterator[Message]:
    """Split a message's blocks: tool results come first, then text, reasoning and calls together.

    Args:
        tool_names: Names of the tools called so far, by call id; calls in these blocks are added.
    """
    builder = ContentBuilder("\n\n")
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    for block in blocks:
        match block.get("type"):
            case "text" | "image" | "document":
                _add(builder, block, path, intake)
            case "thinking":
                thoughts.append(str(block.get("thinking", "")))
            case "redacted_thinking":
                continue
            case "tool_use":
                call = check(CallFields, block)
                tool_names[call.id] = call.name
                calls.append(ToolCall(call.name, arguments_text(call.input), call.id))
            case "tool_result":
                result = check(ResultFields, block)
                content = _result(result, path, intake)
                yield Message(
                    "tool",
                    content.text,
                    tool=tool_names.get(result.tool_use_id, ""),
                    call_id=result.tool_use_id,
                    media=content.media,
                )
            case kind:
                raise unknown_part(str(kind), path)
    content = builder.build()
    if content.text or content.media or calls or thoughts:
        thought = "\n\n".join(thoughts)
        yield Message(
            role, content.text, reasoning=thought, calls=tuple(calls), media=content.media
        )


class CallFields(Fields):
    """A `tool_use` block."""

    id: str
    name: str
    input: Any = Field(default_factory=dict)


class ResultFields(Fields):
    """A `tool_result` block."""

    tool_use_id: str
    content: str | list[dict[str, Any]] | None = None
    is_error: bool | None = None


def _result(result: ResultFields, path: str, intake: Intake) -> Content:
    builder = ContentBuilder()
    if isinstance(result.content, list):
        for block in result.content:
            _add(builder, block, path, intake)
    else:
        builder.add_text(result.content or "")
    content = builder.build()
    return content.with_prefix("Error: ") if result.is_error else content


def _add(builder: ContentBuilder, block: Mapping[str, Any], path: str, intake: Intake) -> None:
    """Add a block of text, a picture or a document."""
    match block.get("type"):
        case "text" | "tool_reference":
            builder.add_text(_text(block))
        case "image":
            data = decode_base64(_source(block, path).get("data"), path)
            builder.add_file("picture", intake.read_file(data, "picture", DocumentKind.IMAGE, path))
        case "document":
            _add_document(builder, block, path, intake)
        case kind:
            raise unknown_part(str(kind), path)


def _add_document(
    builder: ContentBuilder, block: Mapping[str, Any], path: str, intake: Intake
) -> None:
    source = _source(block, path)
    name = display_name(block.get("title"), "document")
    content, data = source.get("content"), source.get("data")
    if source.get("type") == "content":
        for inner in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            if not isinstance(inner, Mapping) or inner.get("type") == "document":
                raise unknown_part("document", path)
            _add(builder, inner, path, intake)
        return
    if source.get("type") == "text":
        text = data.encode(errors="replace") if isinstance(data, str) else b""
        file = text or decode_base64(None, path)
        name = name if "." in name else f"{name}.txt"
    else:
        file = decode_base64(data, path)
    builder.add_file(name, intake.read_file(file, name, None, path))


def _source(block: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """Return a block's source. Raises BadRequest unless its data is in the request itself."""
    source = block.get("source")
    source = source if isinstance(source, Mapping) else {}
    if type_of(source, f"{path}.source") in {"url", "file"}:
        raise not_in_request(str(source.get("url") or source.get("file_id") or ""), path)
    return source


def _text(part: Mapping[str, Any]) -> str:
    text = part.get("text", part.get("tool_name", ""))
    if not isinstance(text, str):
        raise BadRequest("A part has no text.", "Its text is not a string.", "Send a text.")
    return text


class MessageWriter:
    """One answer, written as a message: `write` yields stream events, `result` returns all of it.

    A block opens with its first piece and closes before the next block.
    """

    def __init__(self, model: str, notes: Sequence[str] = ()) -> None:
        self._message: dict[str, Any] = {
            **({"notes": list(notes)} if notes else {}),
            "id": new_id("msg_"),
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _usage(Usage(0, 0, 0, 0)),
        }
        self._blocks: list[dict[str, Any]] = self._message["content"]
        self._open = ""
        self._calling = False

    def start(self) -> Iterator[dict[str, Any]]:
        """Yield nothing: the first event follows when the prompt is ready."""
        return iter(())

    def write(self, event: Event) -> Iterator[dict[str, Any]]:
        """Process one event and yield the events it adds to a stream."""
        match event:
            case PromptReady(prompt, cached):
                message = {**self._message, "content": []}
                message["usage"] = _usage(Usage(prompt, cached, 0, 0))
                yield {"type": "message_start", "message": message}
            case TextDelta(text):
                yield from self._open_block({"type": "text", "text": ""})
                yield self._delta("text", "text_delta", text)
            case ReasoningDelta(text):
                yield from self._open_block({"type": "thinking", "thinking": "", "signature": ""})
                yield self._delta("thinking", "thinking_delta", text)
            case ToolCallDelta() | ToolCall():
                yield from self._write_call(event)
            case WasReasoning():
                # A stream cannot take text back, but a whole message turns it into thinking.
                yield from self._close_block()
                self._blocks[:] = [_as_thinking(block) for block in self._blocks]
            case Done():
                yield from self._close_block()
                if self._calling:
                    # The call was cut off within its arguments, so it cannot be carried out.
                    self._blocks.pop()
                if not self._blocks:
                    yield from self._open_block({"type": "text", "text": ""})
                    yield from self._close_block()
                at_stop = event.finish_reason == "stop" and event.stop
                delta = {
                    "stop_reason": "stop_sequence"
                    if at_stop
                    else STOP_REASONS[event.finish_reason],
                    "stop_sequence": event.stop if at_stop else None,
                }
                usage = _usage(event.usage)
                self._message = with_notes(self._message, event.notes) | delta | {"usage": usage}
                last_event = {"type": "message_delta", "delta": delta, "usage": usage}
                yield with_notes(last_event, event.notes)
                yield {"type": "message_stop"}

    def result(self) -> dict[str, Any]:
        """Return the whole message; call it after `Done`."""
        return self._message

    def _open_block(
        self, block: dict[str, Any], *, forced: bool = False
    ) -> Iterator[dict[str, Any]]:
        if self._open == block["type"] and not forced:
            return
        yield from self._close_block()
        self._open = block["type"]
        yield {
            "type": "content_block_start",
            "index": len(self._blocks),
            "content_block": dict(block),
        }
        self._blocks.append(block)

    def _write_call(self, call: ToolCallDelta | ToolCall) -> Iterator[dict[str, Any]]:
        """Process a piece of a tool call, or a whole one, which is sent only if no pieces were."""
        was_calling, arguments = self._calling, call.arguments
        if not self._calling:
            block = {"type": "tool_use", "id": call.id or new_id("toolu_"), "name": call.name}
            yield from self._open_block({**block, "input": {}}, forced=True)
            self._calling = True
        if isinstance(call, ToolCall):
            self._blocks[-1]["input"] = _input(call.arguments)
            self._calling, arguments = False, "" if was_calling else call.arguments or "{}"
        if arguments:
            yield self._part({"type": "input_json_delta", "partial_json": arguments})

    def _delta(self, name: str, kind: str, text: str) -> dict[str, Any]:
        self._blocks[-1][name] += text
        return self._part({"type": kind, name: text})

    def _part(self, delta: Mapping[str, Any]) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": len(self._blocks) - 1, "delta": delta}

    def _close_block(self) -> Iterator[dict[str, Any]]:
        if not self._open:
            return
        if self._open == "thinking":
            self._blocks[-1]["signature"] = SIGNATURE
            yield self._part({"type": "signature_delta", "signature": SIGNATURE})
        self._open = ""
        yield {"type": "content_block_stop", "index": len(self._blocks) - 1}


def _as_thinking(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] != "text":
        return block
    return {"type": "thinking", "thinking": block["text"], "signature": SIGNATURE}


def _input(arguments: str) -> dict[str, Any]:
    """Parse a call's arguments; pass on anything but a JSON object as it was written."""
    try:
        value = json.loads(arguments or "{}")
    except ValueError:
        return {"arguments": arguments}
    return value if isinstance(value, dict) else {"arguments": value}


def _usage(usage: Usage) -> dict[str, Any]:
    """Write token counts; this protocol lists cached prompt tokens apart from the others."""
    return {
        "input_tokens": usage.prompt_tokens - usage.cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.completion_tokens,
    }


def error_body(status: int, code: str, text: str) -> dict[str, Any]:
    """Return an error body in Anthropic's format; clients act on its `details`."""
    kinds = {
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        503: "overloaded_error",
    }
    kind = kinds.get(status, "api_error" if status >= 500 else "invalid_request_error")
    with_details = {ThreadUnsupported.code}
    details = {"details": {"error_code": code}} if code in with_details else {}
    return {"type": "error", "error": {"type": kind, "message": text, **details}}
