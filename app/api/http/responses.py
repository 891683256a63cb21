"""OpenAI's responses: reads requests, writes answers as items.

A client sends its whole conversation, as Codex does, or refers to earlier answers by id: to a
response that it continues, or to items, as Vercel's AI SDK does. For those clients, responses are
remembered for a while; see `recent.py`. The reasoning goes to the client and back inside
`encrypted_content`, which is not encrypted here: it leaves this computer only to the client that
asked.

Source: OpenAI's API reference, "Responses" and "Streaming events".
"""

from __future__ import annotations

import base64
import binascii
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from app.api.http.answer_fields import (
    NO_LIMIT,
    AnswerFields,
    ResponseFormat,
    WholeNumber,
    add_format,
    unlimited,
)
from app.api.http.chat import (
    MOST_LIKELY,
    AllowedTools,
    Function,
    NamedObject,
    logprob_json,
    new_id,
    unsupported_tools_note,
)
from app.api.http.fields import Fields, check, object_of, objects_of, type_of
from app.api.http.overflow import CODE
from app.api.http.parts import content_of
from app.api.http.recent import ClientResponses, Item
from app.api.http.request import (
    ApiRequest,
    BadRequest,
    allowed_tools,
    arguments_text,
    merge_messages,
    parse_tool_choice,
    require_messages,
    require_tool,
    thinking_settings,
)
from app.api.http.uploads import Intake
from engines.types import (
    ChatRequest,
    Done,
    Event,
    Message,
    ReasoningDelta,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallDelta,
)

NAMESPACE_SEPARATOR: Final = "__"
"""Separates a namespace and a tool's name: models know plain names only."""
REASONING_PREFIX: Final = "hearth:"
_PREFIXES: Final[Mapping[str, str]] = {
    "message": "msg_",
    "reasoning": "rs_",
    "function_call": "fc_",
    "function_call_output": "fco_",
    "custom_tool_call": "ctc_",
    "custom_tool_call_output": "ctco_",
}
"""Id prefixes of items by type.

Some clients rely on prefixes: LangChain recognises a response by “resp_”.
"""
_FUNCTIONS: Final = frozenset({"function", "custom"})
_FREE_TEXT_SCHEMA: Final = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}
"""The schema of a tool whose input is free text."""


class ResponseText(Fields):
    """The `text` options of a response."""

    format: ResponseFormat | None = None


class ReasoningFields(Fields):
    """The `reasoning` options of a response."""

    effort: str | None = None
    summary: str | None = None


class ResponsesFields(AnswerFields):
    """The fields of a request for a response."""

    endpoint: ClassVar = "responses"

    input: str | list[dict[str, Any]]
    instructions: str | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    text: ResponseText | None = None
    reasoning: ReasoningFields | None = None
    include: list[str] | None = None
    max_output_tokens: WholeNumber | None = Field(None, ge=NO_LIMIT)
    top_logprobs: WholeNumber | None = Field(None, ge=0, le=MOST_LIKELY)
    previous_response_id: str | None = None
    store: bool = True

    def limit(self) -> int | None:
        """Return the maximum number of tokens in the answer; None for no limit."""
        if self.max_output_tokens is not None:
            return unlimited(self.max_output_tokens)
        return super().limit()


class CallItem(Fields):
    """An item with a tool call."""

    call_id: str
    name: str
    namespace: str = ""
    arguments: Any = ""
    input: str = ""


class OutputItem(Fields):
    """An item with the result of a tool call."""

    call_id: str
    output: str | list[dict[str, Any]] = ""


class ToolNames:
    """The tools of a request, by the model's names and the client's.

    Attributes:
        tools: The tools, as the model sees them.
        unsupported: The types of tools that are not functions.
    """

    def __init__(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """Read the tools. Raises BadRequest."""
        self.tools: list[Tool] = []
        self.unsupported: list[str] = []
        self._client_names: dict[str, tuple[str, str]] = {}
        self._free_text_tools: set[str] = set()
        for number, tool in enumerate(tools):
            self._add(tool, "", f"tools.{number}")

    def model_name(self, namespace: str, name: str) -> str:
        """Return the model's name for a client's tool."""
        return f"{namespace}{NAMESPACE_SEPARATOR}{name}" if namespace else name

    def takes_free_text(self, name: str) -> bool:
        """Return whether a tool's input is free text, which the model writes as JSON."""
        return name in self._free_text_tools

    def item(self, call: ToolCall) -> dict[str, Any]:
        """Return the item of a call, without its id and status."""
        namespace, name = self._client_names.get(call.name, ("", call.name))
        namespace_field = {"namespace": namespace} if namespace else {}
        fields = {"call_id": call.id or new_id("call_"), "name": name, **namespace_field}
        if call.name in self._free_text_tools:
            return {"type": "custom_tool_call", **fields, "input": _free_input(call.arguments)}
        return {"type": "function_call", **fields, "arguments": call.arguments}

    def _add(self, tool: Mapping[str, Any], namespace: str, path: str) -> None:
        kind = type_of(tool, path, "function")
        if kind == "namespace" and not namespace:
            inner_namespace = check(NamedObject, tool, path).name
            inner_path = f"{path}.tools"
            for number, inner in enumerate(objects_of(tool.get("tools") or (), inner_path)):
                self._add(inner, inner_namespace, f"{inner_path}.{number}")
        elif kind in {"function", "custom"}:
            function = check(Function, tool, path)
            name = self.model_name(namespace, function.name)
            description = function.description or ""
            if namespace:
                self._client_names[name] = (namespace, function.name)
            if kind == "custom":
                self._free_text_tools.add(name)
                format_ = object_of(tool.get("format") or {}, f"{path}.format")
                grammar = format_.get("definition")
                if grammar:
                    description += f"\n\nThe input follows this grammar:\n{grammar}"
            parameters = _FREE_TEXT_SCHEMA if kind == "custom" else function.parameters or {}
            self.tools.append(Tool(name, description, parameters))
        else:
            self.unsupported.append(kind)


def read_responses(
    fields: ResponsesFields, names: ToolNames, intake: Intake, recent: ClientResponses
) -> tuple[ApiRequest, str]:
    """Read a request for a response.

    Returns:
        The request, and its own input as JSON for the memory of responses; "" if not to be stored.

    Raises:
        BadRequest: The request cannot be used.
        DocumentNotRead: A file in it cannot be read.
        Cancelled: The client disconnected.
    """
    previous = fields.previous_response_id
    earlier = recent.conversation(previous) if previous else []
    items = _input_items(fields.input, recent)
    messages = list(_merge_answers(_items([*earlier, *items], len(earlier), names, intake)))
    if fields.instructions:
        # The instructions of earlier responses are not carried over: that is OpenAI's rule.
        messages.insert(0, Message("system", fields.instructions))
    require_messages(messages, "input")
    choice, only, tools = _choice(fields.tool_choice, names)
    reasoning = fields.reasoning or ReasoningFields()
    likeliest = fields.top_logprobs
    if likeliest is None and "message.output_text.logprobs" in (fields.include or ()):
        likeliest = 0
    answer_rules = fields.answer_rules()
    add_format(answer_rules, "text.format", fields.text.format if fields.text else None)
    schema, grammar = answer_rules.resolve()
    api_request = ApiRequest(
        fields.model,
        ChatRequest(
            merge_messages(messages),
            sampling=fields.sampling(schema, likeliest),
            stop=fields.stop_texts(),
            tools=tools,
            tool_choice=parse_tool_choice(choice),
            only_tool=only,
            parallel_tools=fields.parallel_tool_calls is not False,
        ),
        {
            **fields.settings(),
            **fields.reasoning_settings(),
            **thinking_settings(reasoning.effort),
        },
        seed=fields.fixed_seed(),
        grammar=grammar,
        thinking_budget=fields.budget(),
        notes=(*unsupported_tools_note(names.unsupported), *fields.notes),
    )
    return api_request, json.dumps(items) if fields.store else ""


def _choice(
    choice: str | Mapping[str, Any] | None, names: ToolNames
) -> tuple[str, str, tuple[Tool, ...]]:
    """Return the mode of choosing a tool, the required tool's name or "", and the tools allowed."""
    tools = tuple(names.tools)
    if choice is None or isinstance(choice, str):
        return choice or "auto", "", tools
    kind = type_of(choice, "tool_choice")
    if kind in _FUNCTIONS:
        return "required", require_tool(_model_name_of(choice, names), tools), tools
    if kind == "allowed_tools":
        allowed = check(AllowedTools, choice, "tool_choice")
        path = "tool_choice.tools"
        kinds = [type_of(tool, f"{path}.{at}") for at, tool in enumerate(allowed.tools)]
        names_called = (
            _model_name_of(tool, names)
            for tool, kind_of_tool in zip(allowed.tools, kinds, strict=True)
            if kind_of_tool in _FUNCTIONS
        )
        return allowed.mode, "", allowed_tools(names_called, tools)
    return str(choice.get("mode") or kind), "", tools


def _model_name_of(tool: Mapping[str, Any], names: ToolNames) -> str:
    """Return the model's name for the tool that a choice names. Raises BadRequest."""
    return names.model_name(
        str(tool.get("namespace") or ""), check(NamedObject, tool, "tool_choice").name
    )


def _input_items(value: str | Sequence[Item], recent: ClientResponses) -> list[Item]:
    """Return the items of a request's input, each with an id. Raises BadRequest."""
    if isinstance(value, str):
        value = [{"role": "user", "content": value}]
    return [_complete_item(item, f"input.{number}", recent) for number, item in enumerate(value)]


def _complete_item(item: Item, path: str, recent: ClientResponses) -> Item:
    """Return an item in the form that OpenAI lists, with an id; a reference is resolved."""
    kind = type_of(item, path) or ("message" if "role" in item else "item_reference")
    if kind == "item_reference":
        return _referenced_item(item, path, recent)
    complete = {**item, "type": kind}
    if kind == "message" and isinstance(item.get("content"), str):
        part = "output_text" if item.get("role") == "assistant" else "input_text"
        complete["content"] = [{"type": part, "text": item["content"]}]
    if not isinstance(item.get("id"), str):
        complete["id"] = new_id(_PREFIXES.get(kind, "item_"))
    return complete


def _merge_answers(messages: Iterator[Message]) -> Iterator[Message]:
    """Merge the items of one answer: its reasoning, text and calls."""
    answer: Message | None = None
    for message in messages:
        if message.role != "assistant":
            if answer is not None:
                yield answer
            answer = None
            yield message
        elif answer is None:
            answer = message
        else:
            answer = Message(
                "assistant",
                "\n\n".join(filter(None, (answer.text, message.text))),
                reasoning="\n\n".join(filter(None, (answer.reasoning, message.reasoning))),
                calls=answer.calls + message.calls,
            )
    if answer is not None:
        yield answer


def _items(
    items: Sequence[Item], earlier: int, names: ToolNames, intake: Intake
) -> Iterator[Message]:
    """Read items as messages.

    Args:
        earlier: How many of the items, from the first, belong to earlier responses.
    """
    tool_names: dict[str, str] = {}
    roles: Final = {"developer": "system", "system": "system", "user": "user"}
    for number, item in enumerate(items):
        path = "previous_response_id" if number < earlier else f"input.{number - earlier}"
        match item["type"]:
            case "message":
                content = content_of(item.get("content"), f"{path}.content", intake)
                role = roles.get(str(item.get("role")), "assistant")
                thought = content.reasoning
                yield Message(role, content.text, reasoning=thought, media=content.media)  # type: ignore[arg-type]
            case "function_call" | "custom_tool_call" as kind:
                call = check(CallItem, item, path)
                model_name = names.model_name(call.namespace, call.name)
                tool_names[call.call_id] = model_name
                is_free_text = kind == "custom_tool_call"
                arguments = (
                    json.dumps({"input": call.input})
                    if is_free_text
                    else arguments_text(call.arguments)
                )
                yield Message(
                    "assistant", "", calls=(ToolCall(model_name, arguments, call.call_id),)
                )
            case "function_call_output" | "custom_tool_call_output":
                result = check(OutputItem, item, path)
                content = content_of(result.output, f"{path}.output", intake)
                tool, id_ = tool_names.get(result.call_id, ""), result.call_id
                yield Message("tool", content.text, tool=tool, call_id=id_, media=content.media)
            case "reasoning":
                yield Message("assistant", "", reasoning=_reasoning_of(item, path))
            case _:
                # Items of another server's built-in tools mean nothing to a model.
                continue


def _referenced_item(item: Item, path: str, recent: ClientResponses) -> Item:
    """Return the item that a reference stands for. Raises BadRequest."""
    id_ = str(item.get("id") or "")
    stored = recent.item(id_)
    if stored is None:
        raise BadRequest(
            f"The item “{id_[:60]}” is not known here.",
            "Only items of Hearth’s own answers can be referenced, and only for a while.",
            "Send the item itself. The AI SDK does this with the option “store: false”.",
            path,
        )
    return stored


def _reasoning_of(item: Mapping[str, Any], path: str) -> str:
    encrypted = item.get("encrypted_content")
    if isinstance(encrypted, str) and encrypted.startswith(REASONING_PREFIX):
        try:
            return base64.b64decode(
                encrypted.removeprefix(REASONING_PREFIX), validate=True
            ).decode()
        except (binascii.Error, UnicodeDecodeError):
            return ""
    name = "content" if item.get("content") else "summary"
    parts = objects_of(item.get(name) or (), f"{path}.{name}")
    return "\n".join(str(part.get("text", "")) for part in parts)


def _free_input(arguments: str) -> str:
    """Return the text that a tool with free input was called with."""
    try:
        value = json.loads(arguments or "{}")
    except ValueError:
        return arguments
    return str(value["input"]) if isinstance(value, dict) and "input" in value else arguments


class ResponseWriter:
    """One answer, written as a response: `write` yields stream events, `result` returns all of it.

    An item opens with its first piece and is done before the next item.
    """

    def __init__(
        self,
        fields: ResponsesFields,
        names: ToolNames,
        model: str,
        notes: Sequence[str],
        store: Callable[[Mapping[str, Any]], None],
    ) -> None:
        """Begin a response.

        Args:
            store: Called with each item when it is done, and with the response when it has ended.
        """
        self._names = names
        self._notes = notes
        self._store = store
        self._encrypted = "reasoning.encrypted_content" in (fields.include or ())
        self._number = 0
        self._output: list[dict[str, Any]] = []
        self._open = ""
        self._calling: dict[str, Any] | None = None
        self._response: dict[str, Any] = {
            "id": new_id("resp_"),
            "object": "response",
            "created_at": int(time.time()),
            "completed_at": None,
            "status": "in_progress",
            "background": False,
            "error": None,
            "incomplete_details": None,
            "instructions": fields.instructions,
            "max_output_tokens": fields.max_output_tokens,
            "metadata": {"notes": " ".join(notes)} if notes else {},
            "model": model,
            "output": [],
            "parallel_tool_calls": fields.parallel_tool_calls is not False,
            "previous_response_id": fields.previous_response_id or None,
            "reasoning": {"effort": fields.reasoning and fields.reasoning.effort, "summary": None},
            "store": fields.store,
            "temperature": fields.temperature,
            "text": {"format": {"type": "text"}},
            "tool_choice": fields.tool_choice or "auto",
            "tools": fields.tools or [],
            "top_p": fields.top_p,
            "truncation": "disabled",
            "usage": None,
        }

    def start(self) -> Iterator[dict[str, Any]]:
        """Yield the first two events of a stream."""
        yield self._event("response.created", response=dict(self._response))
        yield self._event("response.in_progress", response=dict(self._response))

    def write(self, event: Event) -> Iterator[dict[str, Any]]:
        """Process one event and yield the events it adds to a stream."""
        match event:
            case TextDelta(text, logprobs):
                yield from self._open_item("message")
                part = self._output[-1]["content"][0]
                part["text"] += text
                logprobs_json = [logprob_json(logprob) for logprob in logprobs]
                part["logprobs"] += logprobs_json
                yield self._piece(
                    "response.output_text.delta",
                    content_index=0,
                    delta=text,
                    logprobs=logprobs_json,
                )
            case ReasoningDelta(text):
                yield from self._open_item("reasoning")
                self._output[-1]["content"][0]["text"] += text
                yield self._piece("response.reasoning_text.delta", content_index=0, delta=text)
            case ToolCallDelta(_, name, id_, arguments) if not self._names.takes_free_text(name):
                if self._calling is None:
                    yield from self._open_call(ToolCall(name, "", id_))
                if arguments:
                    yield self._piece("response.function_call_arguments.delta", delta=arguments)
            case ToolCall():
                yield from self._finish_call(event)
            case Done():
                yield from self._close_item()
                if self._calling is not None:
                    # The call was cut off within its arguments, so it cannot be carried out.
                    self._output.pop()
                yield self._end_event(event)

    def fail(self, code: str, text: str) -> Iterator[dict[str, Any]]:
        """Yield the end of a stream after an error."""
        self._response["status"] = "failed"
        self._response["error"] = {"code": code, "message": text}
        if code == CODE:
            # OpenAI sends this event before the last one. Some clients read one, some the other.
            error = {"code": code, "message": text, "param": "input"}
            yield self._event("error", **error, error={"type": "invalid_request_error", **error})
        yield self._event("response.failed", response={**self._response, "output": self._output})

    def result(self) -> dict[str, Any]:
        """Return the whole response; call it after `Done`."""
        return self._response

    def _end_event(self, event: Done) -> dict[str, Any]:
        """Complete the response and return the last event of a stream."""
        is_cut = event.finish_reason in {"length", "repetition"}
        reason = {"reason": "max_output_tokens"} if is_cut else None
        usage = event.usage
        if notes := [*dict.fromkeys((*self._notes, *event.notes))]:
            self._response["metadata"] = {"notes": " ".join(notes)}
        self._response |= {
            "status": "incomplete" if is_cut else "completed",
            "completed_at": int(time.time()),
            "incomplete_details": reason,
            "output": self._output,
            "usage": {
                "input_tokens": usage.prompt_tokens,
                "input_tokens_details": {"cached_tokens": usage.cached_tokens},
                "output_tokens": usage.completion_tokens,
                "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
                "total_tokens": usage.prompt_tokens + usage.completion_tokens,
            },
        }
        # A response that was cancelled when the server stopped is not kept; nor is one that failed.
        if event.finish_reason != "cancelled":
            self._store(self._response)
        name = "response.incomplete" if is_cut else "response.completed"
        return self._event(name, response=self._response)

    def _open_call(self, call: ToolCall) -> Iterator[dict[str, Any]]:
        """Open the item of a call; its input follows."""
        yield from self._close_item()
        item = self._names.item(call)
        is_free_text = item["type"] == "custom_tool_call"
        self._calling = {"id": new_id(_PREFIXES[item["type"]]), "status": "in_progress", **item}
        self._calling["input" if is_free_text else "arguments"] = ""
        self._output.append(self._calling)
        yield self._item("response.output_item.added", self._calling)

    def _finish_call(self, call: ToolCall) -> Iterator[dict[str, Any]]:
        """Finish the item of a call; send it whole if it was not opened before."""
        item = self._names.item(call)
        is_free_text = item["type"] == "custom_tool_call"
        name, text = ("input", item["input"]) if is_free_text else ("arguments", item["arguments"])
        kind = "custom_tool_call_input" if is_free_text else "function_call_arguments"
        if self._calling is None:
            yield from self._open_call(call)
            yield self._piece(f"response.{kind}.delta", delta=text)
        complete, self._calling = self._output[-1], None
        complete |= {"status": "completed", name: text}
        self._store(complete)
        yield self._piece(f"response.{kind}.done", **{name: text}, name=item["name"])
        yield self._item("response.output_item.done", complete)

    def _open_item(self, kind: Literal["message", "reasoning"]) -> Iterator[dict[str, Any]]:
        if self._open == kind:
            return
        yield from self._close_item()
        self._open = kind
        item: Item = {"id": new_id(_PREFIXES[kind]), "type": kind, "status": "in_progress"}
        if kind == "message":
            item["role"] = "assistant"
            part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        else:
            item["summary"] = []
            part = {"type": "reasoning_text", "text": ""}
        self._output.append({**item, "content": [part]})
        yield self._item("response.output_item.added", {**item, "content": []})
        yield self._piece("response.content_part.added", content_index=0, part=dict(part))

    def _close_item(self) -> Iterator[dict[str, Any]]:
        if not self._open:
            return
        item = self._output[-1]
        part = item["content"][0]
        name = "output_text" if self._open == "message" else "reasoning_text"
        extra = {"logprobs": part["logprobs"]} if self._open == "message" else {}
        if self._open == "reasoning" and self._encrypted:
            encrypted = base64.b64encode(part["text"].encode()).decode()
            item["encrypted_content"] = REASONING_PREFIX + encrypted
        item["status"] = "completed"
        self._store(item)
        self._open = ""
        yield self._piece(f"response.{name}.done", content_index=0, text=part["text"], **extra)
        yield self._piece("response.content_part.done", content_index=0, part=part)
        yield self._item("response.output_item.done", item)

    def _item(self, kind: str, item: Mapping[str, Any]) -> dict[str, Any]:
        return self._event(kind, output_index=len(self._output) - 1, item=dict(item))

    def _piece(self, kind: str, **fields: Any) -> dict[str, Any]:
        position = {"item_id": self._output[-1]["id"], "output_index": len(self._output) - 1}
        return self._event(kind, **position, **fields)

    def _event(self, kind: str, **fields: Any) -> dict[str, Any]:
        event = {"type": kind, "sequence_number": self._number, **fields}
        self._number += 1
        return event
