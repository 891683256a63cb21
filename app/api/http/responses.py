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
    Whole,
    add_format,
    unlimited,
)
from app.api.http.chat import (
    MOST_LIKELY,
    AllowedTools,
    Function,
    Named,
    left_out,
    likely,
    new_id,
)
from app.api.http.fields import Fields, check, object_of, objects_of, type_of
from app.api.http.overflow import CODE
from app.api.http.parts import content_of
from app.api.http.recent import ClientResponses, Item
from app.api.http.request import (
    ApiRequest,
    BadRequest,
    allowed_of,
    arguments_text,
    chosen_tool,
    joined,
    require_some,
    thinking_settings,
    tool_choice_of,
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

BETWEEN: Final = "__"
"""Separates a namespace and a tool's name: models know plain names only."""
OURS: Final = "hearth:"
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
_INPUT: Final = {
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
    max_output_tokens: Whole | None = Field(None, ge=NO_LIMIT)
    top_logprobs: Whole | None = Field(None, ge=0, le=MOST_LIKELY)
    previous_response_id: str | None = None
    store: bool = True

    def limit(self) -> int | None:
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
        left: The types of tools that are not functions.
    """

    def __init__(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """Read the tools. Raises BadRequest."""
        self.tools: list[Tool] = []
        self.left: list[str] = []
        self._spaces: dict[str, tuple[str, str]] = {}
        self._free: set[str] = set()
        for number, tool in enumerate(tools):
            self._add(tool, "", f"tools.{number}")

    def called(self, namespace: str, name: str) -> str:
        """Return the model's name for a client's tool."""
        return f"{namespace}{BETWEEN}{name}" if namespace else name

    def is_free(self, called: str) -> bool:
        """Return whether a tool's input is free text, which the model writes as JSON."""
        return called in self._free

    def item(self, call: ToolCall) -> dict[str, Any]:
        """Return the item of a call, without its id and status."""
        namespace, name = self._spaces.get(call.name, ("", call.name))
        within = {"namespace": namespace} if namespace else {}
        its = {"call_id": call.id or new_id("call_"), "name": name, **within}
        if call.name in self._free:
            return {"type": "custom_tool_call", **its, "input": _free_input(call.arguments)}
        return {"type": "function_call", **its, "arguments": call.arguments}

    def _add(self, tool: Mapping[str, Any], namespace: str, where: str) -> None:
        kind = type_of(tool, where, "function")
        if kind == "namespace" and not namespace:
            within = check(Named, tool, where).name
            inside = f"{where}.tools"
            for number, inner in enumerate(objects_of(tool.get("tools") or (), inside)):
                self._add(inner, within, f"{inside}.{number}")
        elif kind in {"function", "custom"}:
            its = check(Function, tool, where)
            called = self.called(namespace, its.name)
            description = its.description or ""
            if namespace:
                self._spaces[called] = (namespace, its.name)
            if kind == "custom":
                self._free.add(called)
                form = object_of(tool.get("format") or {}, f"{where}.format")
                grammar = form.get("definition")
                if grammar:
                    description += f"\n\nThe input follows this grammar:\n{grammar}"
            parameters = _INPUT if kind == "custom" else its.parameters or {}
            self.tools.append(Tool(called, description, parameters))
        else:
            self.left.append(kind)


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
    given = _given(fields.input, recent)
    messages = list(_answers(_items([*earlier, *given], len(earlier), names, intake)))
    if fields.instructions:
        # The instructions of earlier responses are not carried over: that is OpenAI's rule.
        messages.insert(0, Message("system", fields.instructions))
    require_some(messages, "input")
    choice, only, tools = _choice(fields.tool_choice, names)
    reasoning = fields.reasoning or ReasoningFields()
    told = fields.top_logprobs
    if told is None and "message.output_text.logprobs" in (fields.include or ()):
        told = 0
    rules = fields.rules()
    add_format(rules, "text.format", fields.text.format if fields.text else None)
    schema, grammar = rules.one()
    asked = ApiRequest(
        fields.model,
        ChatRequest(
            joined(messages),
            sampling=fields.sampling(schema, told),
            stop=fields.stops(),
            tools=tools,
            tool_choice=tool_choice_of(choice),
            only_tool=only,
            parallel_tools=fields.parallel_tool_calls is not False,
        ),
        {
            **fields.settings(),
            **fields.reasoning_settings(),
            **thinking_settings(reasoning.effort),
        },
        seed=fields.fresh_seed(),
        grammar=grammar,
        thinking_budget=fields.budget(),
        notes=(*left_out(names.left), *fields.notes),
    )
    return asked, json.dumps(given) if fields.store else ""


def _choice(
    choice: str | Mapping[str, Any] | None, names: ToolNames
) -> tuple[str, str, tuple[Tool, ...]]:
    """Return the mode of choosing a tool, the required tool's name or "", and the tools allowed."""
    tools = tuple(names.tools)
    if choice is None or isinstance(choice, str):
        return choice or "auto", "", tools
    kind = type_of(choice, "tool_choice")
    if kind in _FUNCTIONS:
        return "required", chosen_tool(_called(choice, names), tools), tools
    if kind == "allowed_tools":
        its = check(AllowedTools, choice, "tool_choice")
        where = "tool_choice.tools"
        kinds = [type_of(it, f"{where}.{at}") for at, it in enumerate(its.tools)]
        called = (
            _called(it, names)
            for it, named in zip(its.tools, kinds, strict=True)
            if named in _FUNCTIONS
        )
        return its.mode, "", allowed_of(called, tools)
    return str(choice.get("mode") or kind), "", tools


def _called(tool: Mapping[str, Any], names: ToolNames) -> str:
    return names.called(str(tool.get("namespace") or ""), check(Named, tool, "tool_choice").name)


def _given(given: str | Sequence[Item], recent: ClientResponses) -> list[Item]:
    """Return the items of a request's input, each with an id. Raises BadRequest."""
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    return [_whole(item, f"input.{number}", recent) for number, item in enumerate(given)]


def _whole(item: Item, where: str, recent: ClientResponses) -> Item:
    """Return an item in the form that OpenAI lists, with an id; a reference is resolved."""
    kind = type_of(item, where) or ("message" if "role" in item else "item_reference")
    if kind == "item_reference":
        return _recalled(item, where, recent)
    whole = {**item, "type": kind}
    if kind == "message" and isinstance(item.get("content"), str):
        part = "output_text" if item.get("role") == "assistant" else "input_text"
        whole["content"] = [{"type": part, "text": item["content"]}]
    if not isinstance(item.get("id"), str):
        whole["id"] = new_id(_PREFIXES.get(kind, "item_"))
    return whole


def _answers(messages: Iterator[Message]) -> Iterator[Message]:
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
    asked: dict[str, str] = {}
    roles: Final = {"developer": "system", "system": "system", "user": "user"}
    for number, item in enumerate(items):
        where = "previous_response_id" if number < earlier else f"input.{number - earlier}"
        match item["type"]:
            case "message":
                said = content_of(item.get("content"), f"{where}.content", intake)
                role = roles.get(str(item.get("role")), "assistant")
                thought = said.reasoning
                yield Message(role, said.text, reasoning=thought, media=said.media)  # type: ignore[arg-type]
            case "function_call" | "custom_tool_call" as kind:
                its = check(CallItem, item, where)
                called = names.called(its.namespace, its.name)
                asked[its.call_id] = called
                free = kind == "custom_tool_call"
                arguments = (
                    json.dumps({"input": its.input}) if free else arguments_text(its.arguments)
                )
                yield Message("assistant", "", calls=(ToolCall(called, arguments, its.call_id),))
            case "function_call_output" | "custom_tool_call_output":
                result = check(OutputItem, item, where)
                said = content_of(result.output, f"{where}.output", intake)
                tool, id_ = asked.get(result.call_id, ""), result.call_id
                yield Message("tool", said.text, tool=tool, call_id=id_, media=said.media)
            case "reasoning":
                yield Message("assistant", "", reasoning=_reasoned(item, where))
            case _:
                # Items of another server's built-in tools mean nothing to a model.
                continue


def _recalled(item: Item, where: str, recent: ClientResponses) -> Item:
    """Return the item that a reference stands for. Raises BadRequest."""
    id_ = str(item.get("id") or "")
    found = recent.item(id_)
    if found is None:
        raise BadRequest(
            f"The item “{id_[:60]}” is not known here.",
            "Only answers of Hearth’s own can be named by their ids, and only for a while.",
            "Send the item itself. The AI SDK does with the option “store: false”.",
            where,
        )
    return found


def _reasoned(item: Mapping[str, Any], where: str) -> str:
    kept = item.get("encrypted_content")
    if isinstance(kept, str) and kept.startswith(OURS):
        try:
            return base64.b64decode(kept.removeprefix(OURS), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return ""
    name = "content" if item.get("content") else "summary"
    parts = objects_of(item.get(name) or (), f"{where}.{name}")
    return "\n".join(str(part.get("text", "")) for part in parts)


def _free_input(arguments: str) -> str:
    """Return the text that a tool with free input was called with."""
    try:
        value = json.loads(arguments or "{}")
    except ValueError:
        return arguments
    return str(value["input"]) if isinstance(value, dict) and "input" in value else arguments


class ResponseWriter:
    """One answer, written as a response: `take` yields stream events, `whole` returns all of it.

    An item opens with its first piece and is done before the next item.
    """

    def __init__(
        self,
        fields: ResponsesFields,
        names: ToolNames,
        model: str,
        notes: Sequence[str],
        keep: Callable[[Mapping[str, Any]], None],
    ) -> None:
        """Begin a response.

        Args:
            keep: Called with each item when it is done, and with the response when it has ended.
        """
        self._names = names
        self._notes = notes
        self._keep = keep
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

    def begin(self) -> Iterator[dict[str, Any]]:
        yield self._event("response.created", response=dict(self._response))
        yield self._event("response.in_progress", response=dict(self._response))

    def take(self, event: Event) -> Iterator[dict[str, Any]]:
        """Process one event and yield the events it adds to a stream."""
        match event:
            case TextDelta(text, logprobs):
                yield from self._opened("message")
                part = self._output[-1]["content"][0]
                part["text"] += text
                told = [likely(it) for it in logprobs]
                part["logprobs"] += told
                yield self._piece(
                    "response.output_text.delta", content_index=0, delta=text, logprobs=told
                )
            case ReasoningDelta(text):
                yield from self._opened("reasoning")
                self._output[-1]["content"][0]["text"] += text
                yield self._piece("response.reasoning_text.delta", content_index=0, delta=text)
            case ToolCallDelta(_, name, id_, arguments) if not self._names.is_free(name):
                if self._calling is None:
                    yield from self._call(ToolCall(name, "", id_))
                if arguments:
                    yield self._piece("response.function_call_arguments.delta", delta=arguments)
            case ToolCall():
                yield from self._called(event)
            case Done():
                yield from self._closed()
                if self._calling is not None:
                    # The call was cut off within its arguments, so it cannot be carried out.
                    self._output.pop()
                yield self._end(event)

    def fail(self, code: str, text: str) -> Iterator[dict[str, Any]]:
        """Yield the end of a stream after an error."""
        self._response["status"] = "failed"
        self._response["error"] = {"code": code, "message": text}
        if code == CODE:
            # OpenAI sends this event before the last one. Some clients read one, some the other.
            its = {"code": code, "message": text, "param": "input"}
            yield self._event("error", **its, error={"type": "invalid_request_error", **its})
        yield self._event("response.failed", response={**self._response, "output": self._output})

    def whole(self) -> dict[str, Any]:
        """Return the whole response; call it after `Done`."""
        return self._response

    def _end(self, done: Done) -> dict[str, Any]:
        cut = done.finish_reason in {"length", "repetition"}
        reason = {"reason": "max_output_tokens"} if cut else None
        its = done.usage
        if notes := [*dict.fromkeys((*self._notes, *done.notes))]:
            self._response["metadata"] = {"notes": " ".join(notes)}
        self._response |= {
            "status": "incomplete" if cut else "completed",
            "completed_at": int(time.time()),
            "incomplete_details": reason,
            "output": self._output,
            "usage": {
                "input_tokens": its.prompt_tokens,
                "input_tokens_details": {"cached_tokens": its.cached_tokens},
                "output_tokens": its.completion_tokens,
                "output_tokens_details": {"reasoning_tokens": its.reasoning_tokens},
                "total_tokens": its.prompt_tokens + its.completion_tokens,
            },
        }
        # A response that was cancelled when the server stopped is not kept; nor is one that failed.
        if done.finish_reason != "cancelled":
            self._keep(self._response)
        name = "response.incomplete" if cut else "response.completed"
        return self._event(name, response=self._response)

    def _call(self, call: ToolCall) -> Iterator[dict[str, Any]]:
        """Open the item of a call; its input follows."""
        yield from self._closed()
        item = self._names.item(call)
        free = item["type"] == "custom_tool_call"
        self._calling = {"id": new_id(_PREFIXES[item["type"]]), "status": "in_progress", **item}
        self._calling["input" if free else "arguments"] = ""
        self._output.append(self._calling)
        yield self._item("response.output_item.added", self._calling)

    def _called(self, call: ToolCall) -> Iterator[dict[str, Any]]:
        """Finish the item of a call; send it whole if it was not opened before."""
        item = self._names.item(call)
        free = item["type"] == "custom_tool_call"
        name, said = ("input", item["input"]) if free else ("arguments", item["arguments"])
        kind = "custom_tool_call_input" if free else "function_call_arguments"
        if self._calling is None:
            yield from self._call(call)
            yield self._piece(f"response.{kind}.delta", delta=said)
        whole, self._calling = self._output[-1], None
        whole |= {"status": "completed", name: said}
        self._keep(whole)
        yield self._piece(f"response.{kind}.done", **{name: said}, name=item["name"])
        yield self._item("response.output_item.done", whole)

    def _opened(self, kind: Literal["message", "reasoning"]) -> Iterator[dict[str, Any]]:
        if self._open == kind:
            return
        yield from self._closed()
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

    def _closed(self) -> Iterator[dict[str, Any]]:
        if not self._open:
            return
        item = self._output[-1]
        part = item["content"][0]
        name = "output_text" if self._open == "message" else "reasoning_text"
        told = {"logprobs": part["logprobs"]} if self._open == "message" else {}
        if self._open == "reasoning" and self._encrypted:
            kept = base64.b64encode(part["text"].encode()).decode()
            item["encrypted_content"] = OURS + kept
        item["status"] = "completed"
        self._keep(item)
        self._open = ""
        yield self._piece(f"response.{name}.done", content_index=0, text=part["text"], **told)
        yield self._piece("response.content_part.done", content_index=0, part=part)
        yield self._item("response.output_item.done", item)

    def _item(self, kind: str, item: Mapping[str, Any]) -> dict[str, Any]:
        return self._event(kind, output_index=len(self._output) - 1, item=dict(item))

    def _piece(self, kind: str, **more: Any) -> dict[str, Any]:
        at = {"item_id": self._output[-1]["id"], "output_index": len(self._output) - 1}
        return self._event(kind, **at, **more)

    def _event(self, kind: str, **more: Any) -> dict[str, Any]:
        event = {"type": kind, "sequence_number": self._number, **more}
        self._number += 1
        return event
