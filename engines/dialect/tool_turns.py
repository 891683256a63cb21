"""The conversion of tools, earlier calls and their results for a chat template, or into text.

Templates differ: some write only one call per message, some want ids of nine letters, some take the
arguments as an object and others as JSON text, and many know tools but leave earlier calls out. So
each template is tried once, with an invented call.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final, Literal

from engines.dialect.formats import HERMES, CallFormat
from engines.dialect.tools import offered
from engines.types import Message, Tool, ToolCall

Render = Callable[[Sequence[Message], "ToolTurns", Sequence[Tool]], str | None]
"""A function that renders these messages in this way with these tools; None if refused."""

_NAME: Final = "tool7f3c91"
_KEY: Final = "key_b1c5"
_VALUES: Final = ("value-2d81", "value-9e47")
_RESULTS: Final = ("result-c3f0", "result-51ba")
_TEXT: Final = "text-a8e2"
_NEXT: Final = "next-d06c"
_SHORT_ID: Final = re.compile(r"[A-Za-z0-9]{9}")

_PROBE: Final = Tool(
    _NAME,
    "A probe",
    {
        "type": "object",
        "properties": {_KEY: {"type": "string", "description": "A value"}},
        "required": [_KEY],
    },
)


@dataclass(frozen=True)
class ToolTurns:
    """The way in which a template takes tools, calls and results.

    Attributes:
        offers: It writes the tools that it is given.
        calls: How it takes the arguments of earlier calls; "" if it leaves the calls out.
        results: It knows the role "tool".
        several: It writes all calls of a message.
        texts: It writes the text beside calls.
        short_ids: Ids must have nine letters or digits.
        questions: A question can follow a result.
    """

    offers: bool = False
    calls: Literal["object", "text", ""] = ""
    results: bool = False
    several: bool = True
    texts: bool = True
    short_ids: bool = False
    questions: bool = True

    def prepared(self, turns: Iterable[Message], form: CallFormat) -> list[Message]:
        """Return the messages as the template takes them, each result after its call."""
        prepared: list[Message] = []
        for turn in numbered(turns, form, short=self.short_ids):
            if turn.calls and not self.calls:
                text = "\n".join(filter(None, (turn.text, written(form, turn.calls))))
                prepared.append(replace(turn, text=text, calls=()))
            elif turn.role == "tool" and not self.results:
                _append_user(prepared, Message("user", result_text(turn.text)))
            elif (
                turn.role == "user"
                and prepared
                and prepared[-1].role == "tool"
                and not self.questions
            ):
                prepared[-1] = replace(prepared[-1], text=f"{prepared[-1].text}\n\n{turn.text}")
            elif turn.role == "user":
                _append_user(prepared, turn)
            elif turn.calls and turn.text and not self.texts:
                prepared += [replace(turn, calls=()), replace(turn, text="", reasoning="")]
            else:
                prepared.append(turn)
        return prepared if self.several else list(_one_call_each(prepared))

    def arguments(self, call: ToolCall) -> object:
        """Return a call's arguments as the template takes them."""
        return call.arguments or "{}" if self.calls == "text" else arguments_of(call)


def find_tool_turns(render: Render) -> ToolTurns:
    """Find out the way of a template by rendering invented calls."""
    question = Message("user", "?")
    offers = _NAME in (render([question], ToolTurns(), (_PROBE,)) or "")
    first, second = (
        ToolCall(_NAME, json.dumps({_KEY: value}), f"call_{number}")
        for number, value in enumerate(_VALUES, 1)
    )
    results = [
        Message("tool", text, tool=_NAME, call_id=call.id)
        for text, call in zip(_RESULTS, (first, second), strict=True)
    ]
    styles = [
        ToolTurns(offers=offers, calls=calls, results=True, short_ids=short)
        for short in (False, True)
        for calls in ("object", "text")
    ]
    tools = (_PROBE,) if offers else ()
    for style in styles:
        one_call = [question, Message("assistant", "", calls=(first,)), results[0]]
        after_question = _after_question(render(one_call, style, tools))
        if (
            _KEY not in after_question
            or _VALUES[0] not in after_question
            or f'\\"{_KEY}' in after_question
        ):
            continue
        style = replace(style, results=_RESULTS[0] in after_question)  # noqa: PLW2901
        two_calls = [question, Message("assistant", "", calls=(first, second)), *results]
        after_question = _after_question(render(two_calls, style, tools))
        with_text = [question, Message("assistant", _TEXT, calls=(first,)), results[0]]
        with_text += [Message("assistant", "!"), Message("user", _NEXT)]
        if _TEXT not in (render(with_text, style, tools) or ""):
            apart = replace(style, texts=False)
            style = apart if _TEXT in (render(with_text, apart, tools) or "") else style  # noqa: PLW2901
        several = all(
            text in after_question for text in (*_VALUES, *(_RESULTS if style.results else ()))
        )
        after = _after_question(render([*one_call, Message("user", _NEXT)], style, tools))
        return replace(style, several=several, questions=_NEXT in after)
    plain_result = [question, Message("assistant", "!"), replace(results[0], call_id="")]
    known = _RESULTS[0] in _after_question(
        render(plain_result, ToolTurns(offers=offers, results=True), tools)
    )
    again = render(
        [*plain_result, Message("user", _NEXT)], ToolTurns(offers=offers, results=True), tools
    )
    return ToolTurns(offers=offers, results=known, questions=_NEXT in _after_question(again))


def _append_user(turns: list[Message], turn: Message) -> None:
    """Append a user message, or join it with one before it: templates want roles to alternate."""
    if turns and turns[-1].role == "user":
        turn = replace(turn, text=f"{turns.pop().text}\n\n{turn.text}")
    turns.append(turn)


def _after_question(prompt: str | None) -> str:
    """Return a prompt's text after its question; a tool's description can precede the question."""
    return (prompt or "").partition("?")[2]


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """Parse a call's arguments; anything but a JSON object becomes the value of one."""
    try:
        value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        value = call.arguments
    return value if isinstance(value, dict) else {"arguments": value}


def instructions(tools: Sequence[Tool], form: CallFormat) -> str:
    """Return instructions on tools for a model whose template has no place for them."""
    described = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in offered(tools) or ())
    call = written(form, (ToolCall("the_tools_name", '{"argument": "value"}'),))
    return (
        "You can use tools. These are their descriptions:\n"
        f"{described}\n\n"
        f"To use a tool, write a call in exactly this form and then end your message:\n{call}\n"
        "You may write several calls, one behind the other. Their results come with the next "
        "message. Where no tool is of use, answer without one."
    )


def result_text(text: str) -> str:
    """Return the text of a user message with a tool's result."""
    return f"<tool_response>\n{text}\n</tool_response>"


def written(form: CallFormat, calls: Sequence[ToolCall]) -> str:
    """Return calls in the model's format; styles that templates write themselves become Hermes."""
    if form.style == "python":
        written_calls = ", ".join(f"{call.name}({_keywords(call)})" for call in calls)
        return f"{form.begins[0]}[{written_calls}]{form.ends}"
    if form.style == "named":
        written_calls = "".join(
            f"{form.opens}{call.id if form.numbered else call.name}{form.names}{call.arguments}"
            f"{form.closes}"
            for call in calls
        )
        return f"{form.begins[0]}{written_calls}{form.ends}"
    if form.style != "object":
        form = HERMES
    objects = [
        json.dumps(_object(form, call, at), ensure_ascii=False) for at, call in enumerate(calls)
    ]
    if form.listed:
        return f"{form.begins[0]}[{', '.join(objects)}]{form.ends}"
    return "\n".join(f"{form.begins[0]}\n{text}\n{form.ends}" for text in objects)


def _object(form: CallFormat, call: ToolCall, number: int) -> dict[str, Any]:
    if not form.arguments:
        return {call.name: arguments_of(call)}
    before = {form.id_key: str(number)} if form.id_key else {}
    return {**before, form.name_key: call.name, form.arguments: arguments_of(call)}


def _keywords(call: ToolCall) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments_of(call).items())


def numbered(
    turns: Iterable[Message], form: CallFormat = HERMES, *, short: bool = False
) -> Iterator[Message]:
    """Yield the messages with unique call ids, results with matching ids and names, in call order.

    Args:
        short: Make ids of nine letters and digits.
    """
    count = 0
    pending: list[tuple[str, ToolCall]] = []
    for is_result, group in groupby(turns, lambda turn: turn.role == "tool"):
        if is_result:
            yield from _in_order(list(group), pending)
            pending = []
            continue
        for turn in group:
            if not turn.calls:
                yield turn
                continue
            pending = []
            for call in turn.calls:
                pending.append((call.id, replace(call, id=_id(call, count, form, short=short))))
                count += 1
            yield replace(turn, calls=tuple(call for _, call in pending))


def _in_order(results: list[Message], pending: Sequence[tuple[str, ToolCall]]) -> Iterator[Message]:
    for known, call in pending:
        at = next((at for at, result in enumerate(results) if result.call_id == known), None)
        if at is None:
            at = next((at for at, result in enumerate(results) if not result.call_id), None)
        if at is not None:
            yield replace(results.pop(at), tool=call.name, call_id=call.id)
    yield from results


def _id(call: ToolCall, number: int, form: CallFormat, *, short: bool) -> str:
    id_ = call.id or f"call_{number + 1}"
    if form.numbered:
        return id_ if id_.startswith("functions.") else f"functions.{call.name}:{number}"
    if short and not _SHORT_ID.fullmatch(id_):
        return hashlib.sha256(id_.encode()).hexdigest()[:9]
    return id_


def _one_call_each(turns: Sequence[Message]) -> Iterator[Message]:
    """Yield each call in a message of its own, followed by its result."""
    at = 0
    while at < len(turns):
        turn = turns[at]
        at += 1
        if len(turn.calls) < 2:
            yield turn
            continue
        end = at
        while end < len(turns) and turns[end].role == "tool":
            end += 1
        results = list(turns[at:end])
        at = end
        for number, call in enumerate(turn.calls):
            if number:
                yield Message("assistant", "", calls=(call,))
            else:
                yield replace(turn, calls=(call,))
            mine = [result for result in results if result.call_id == call.id]
            yield from mine
            results = [result for result in results if result not in mine]
        yield from results
