"""A model family's way of writing conversations, including everything learnt about its template."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Final

from engines.cancel import CancelToken
from engines.dialect.formats import ANY_CALLS, HERMES, call_format_of, format_of, marks_of
from engines.dialect.splitter import Begins, Splitter, open_splitter
from engines.dialect.switch import Values, find_switch
from engines.dialect.template import Template, unusable
from engines.dialect.template_process import TemplateProcess
from engines.dialect.tool_turns import ToolTurns, arguments_of, find_tool_turns, instructions
from engines.dialect.tools import CallReader, offered
from engines.errors import TemplateRefused
from engines.sentences import N_
from engines.text import SEAM
from engines.types import Ability, Message, ReasoningDelta, TextDelta, Tool, ToolCall


class Guard:
    """An escaper for spellings in a person's text that mean something to the model or template.

    These are spellings of control tokens; marks that a template looks for, such as those of
    reasoning; and words that switch reasoning, but only where they are part of a longer word.
    """

    def __init__(
        self, texts: Iterable[str], marks: Collection[str] = (), words: Collection[str] = ()
    ) -> None:
        self._by_length: dict[int, set[str]] = defaultdict(set)
        for text in texts:
            if len(text) > 1:
                self._by_length[len(text)].add(text)
        self._first = frozenset(text[0] for group in self._by_length.values() for text in group)
        self._may_begin = re.compile("|".join(map(re.escape, sorted(self._first))))
        parts = [_any_of(marks)] if marks else []
        if words:
            parts += [rf"(?<=\S){_any_of(words)}", rf"{_any_of(words)}(?=\S)"]
        self._marks = re.compile("|".join(parts)) if parts else None

    def protect(self, text: str) -> str:
        """Put a SEAM into every such spelling in `text`; the visible words stay the same."""
        text = text.replace(SEAM, "\N{REPLACEMENT CHARACTER}")
        if not self._first.isdisjoint(text):
            whole = text
            text = self._may_begin.sub(
                lambda char: char[0] + SEAM if self.begins(whole, char.start()) else char[0], whole
            )
        return self._marks.sub(lambda found: _cut(found[0]), text) if self._marks else text

    def protect_all(self, value: Any) -> Any:
        """Protect every text in a JSON value."""
        if isinstance(value, str):
            return self.protect(value)
        if isinstance(value, list | tuple):
            return [self.protect_all(item) for item in value]
        if isinstance(value, Mapping):
            return {self.protect(str(name)): self.protect_all(item) for name, item in value.items()}
        return value

    def begins(self, text: str, at: int) -> bool:
        """Return whether a control token's spelling begins at this position."""
        return any(text[at : at + length] in texts for length, texts in self._by_length.items())


CHATML: Final = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""The template for model files without one; llama.cpp falls back to the same form."""

_PROBE: Final = "7f3c91"
_THOUGHT: Final = "a40d6e"
_JOINT: Final = re.compile(r"(?<=[^\w\s])(?=\w)|(?<=\w)(?=\W)")
"""The places where a mark is cut: the ends of its words, so that the words stay whole tokens."""


@dataclass(frozen=True)
class RenderedPrompt:
    """A rendered conversation, with a SEAM wherever tokens must not join.

    Attributes:
        begins: Where its answer begins.
        expected: Whether the model is about to reason.
        dropped_later: Number of characters at its end that the next turn's prompt will not contain.
    """

    text: str
    begins: Begins = "start"
    expected: bool = False
    dropped_later: int = 0


class Dialect:
    """A writer of conversations in the form that one model expects. Close it at the end.

    Args:
        template: Jinja source from the model file; None falls back to ChatML.
        bos: Text of the token that begins a text.
        eos: Text of the token that ends a text.
        control: Texts of the vocabulary's control tokens.
        added: Texts of the further tokens that the vocabulary matches as a whole.
        trusted: Whether the template came with Hearth and is rendered in this process; any other is
            rendered in a process of its own, within limits.

    Attributes:
        format: How the model writes reasoning; None if it does not.
        switch: How the reasoning can be switched.
        markers: Texts of the tokens that separate reasoning, answer and calls.
        calls: The format in which the model calls tools; that of Hermes if the template knows none.

    Raises:
        TemplateFailed: The template cannot be used.
        EngineUnavailable: No process for the template can be started.
    """

    def __init__(
        self,
        template: str | None,
        *,
        bos: str = "",
        eos: str = "",
        control: Iterable[str] = (),
        added: Iterable[str] = (),
        trusted: bool = False,
    ) -> None:
        source = CHATML if template is None else template
        vocabulary = frozenset(control) | frozenset(added)
        # Most added tokens are runs of spaces or HTML tags; some are markers, like <think>.
        markers = {text for text in added if text in source or (text[0] == "<" and "|" in text)}
        self.format, mentions_format = format_of(source, vocabulary)
        self._guard = Guard({*control, *markers}, *marks_of(source, self.format))
        self._special = {"bos_token": bos, "eos_token": eos}
        self.stops = ("<|im_end|>", "<|im_start|>") if template is None else ()
        self._marked = self.format.with_tokens(vocabulary) if self.format else None
        known = call_format_of(source)
        self.calls = known or HERMES
        self._knows_calls = known is not None
        self._vocabulary = vocabulary
        tokens = vocabulary.intersection(self.calls.tokens)
        self.markers = (self._marked.marked if self._marked else frozenset()) | tokens
        self._tool_style: ToolTurns | None = None
        self._empty_tools: list[dict[str, Any]] | None = None
        self._dropped_later: dict[str, int] = {}
        self._typed_reasoning = False
        in_process = trusted or template is None
        self._template = Template(source) if in_process else TemplateProcess(source)
        try:
            self._typed_content, self.system_role = self._probed()
            self.switch = find_switch(
                self._render_probe,
                mentions_format=mentions_format,
                ends_in_reasoning=self._ends_in_reasoning,
            )
            self._typed_reasoning = self._takes_typed_reasoning()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the template's process; a rendering under way fails."""
        self._template.close()

    def render(
        self,
        messages: Sequence[Message],
        thinking: bool | None = None,
        effort: str | None = None,
        tools: Sequence[Tool] = (),
        cancel: CancelToken | None = None,
    ) -> RenderedPrompt:
        """Render the prompt for an answer, or for the rest of a last message by the assistant.

        Args:
            thinking: Whether the model should reason; None leaves it to the template.
            effort: How hard it should reason; None leaves it to the template.
            tools: The tools that the model may call.

        Raises:
            TemplateFailed: The template fails or refuses the messages.
            Cancelled: It was cancelled.
        """
        separated = [self._with_own_reasoning(message) for message in messages]
        turns = _joined([self._protected(message) for message in separated])
        last = turns[-1] if turns else None
        begun = turns.pop() if last and last.role == "assistant" and not last.calls else None
        if tools or any(turn.calls or turn.role == "tool" for turn in turns):
            turns = self._tool_turns(cancel).prepared(turns, self.calls)
        if word := self.switch.word(thinking):
            turns = _with_word(turns, word)
        if not self.system_role or (thinking and self.switch.without_system):
            turns = _without_system_role(turns)
        turns = self._begun_by_user(turns, cancel)
        values = self.switch.values(thinking, effort)
        opening = self._opening(turns, values, tools, cancel)
        expected = self.switch.reasons(thinking)
        if begun is not None:
            return self._continue(opening, begun, expected=expected)
        inside = self._ends_in_reasoning(opening)
        dropped_later = self._count_dropped_later(values, word, cancel, thinking=bool(thinking))
        return RenderedPrompt(
            opening, "reasoning" if inside else "start", inside or expected, dropped_later
        )

    def splitter(self, prompt: RenderedPrompt, calls: CallReader | None = None) -> Splitter:
        """Make the splitter for a prompt's answer. In its input a SEAM precedes each marker token.

        Args:
            calls: The reader of the answer's calls; in harmony's channels, the splitter reads them.
        """
        log = calls.log if calls is not None else None
        return open_splitter(self._marked, prompt.begins, expected=prompt.expected, calls=log)

    def call_reader(self, tools: Sequence[Tool], ids: str = "call_") -> CallReader:
        """Make the reader of the calls in an answer to a prompt that offered these tools.

        Args:
            tools: The tools that the prompt offered.
            ids: Prefix of generated call ids.
        """
        if not self._knows_calls:
            return CallReader((HERMES,), tools, ids=ids)
        begins = set(self.calls.begins)
        alike = [
            form for form in ANY_CALLS if form != self.calls and begins.intersection(form.begins)
        ]
        return CallReader((self.calls, *alike), tools, self._vocabulary, ids)

    @property
    def call_begins(self) -> tuple[str, ...]:
        """The texts that begin calls, with a SEAM before each marker that is a token."""
        return self.calls.begins_of(self._vocabulary if self._knows_calls else frozenset())

    @property
    def call_token(self) -> str | None:
        """The token that begins every call; None if they begin with several tokens or with text."""
        begins = self.calls.begins
        single = len(begins) == 1 and begins[0] in self.calls.tokens and not self.calls.bare
        return begins[0] if single and begins[0] in self._vocabulary else None

    def begins_with_marker(self, text: str) -> bool:
        """Return whether `text` is empty or begins with a token that is never part of another."""
        return not text or self._guard.begins(text, 0)

    def _with_own_reasoning(self, message: Message) -> Message:
        """Move an earlier answer's reasoning out of its text, if a client sent both together."""
        form, text = self.format, message.text
        if form is None or form.channels or message.role != "assistant" or message.reasoning:
            return message
        if not text.lstrip().startswith(form.opens) or not any(
            marker in text for marker in form.closes
        ):
            return message
        splitter = open_splitter(form)
        deltas = [*splitter.feed(text), *splitter.finish()]
        reasoning = "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))
        answer = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
        if not answer and not reasoning.strip():
            return message
        return replace(message, text=answer, reasoning=reasoning.strip() and reasoning)

    def _protected(self, message: Message) -> Message:
        protect = self._guard.protect
        return replace(
            message,
            text=protect(message.text),
            reasoning=protect(message.reasoning),
            calls=tuple(self._protected_call(call) for call in message.calls),
            tool=protect(message.tool),
            call_id=protect(message.call_id),
        )

    def _protected_call(self, call: ToolCall) -> ToolCall:
        """Protect a call; arguments that need no protection stay as the model wrote them."""
        protect = self._guard.protect
        parsed = arguments_of(call)
        arguments = call.arguments
        if (safe := self._guard.protect_all(parsed)) != parsed or protect(arguments) != arguments:
            arguments = json.dumps(safe, ensure_ascii=False)
        return ToolCall(protect(call.name), arguments, protect(call.id))

    def _safe(self, tools: Sequence[Tool]) -> list[Tool]:
        protect = self._guard.protect
        return [
            Tool(
                protect(tool.name),
                protect(tool.description),
                self._guard.protect_all(dict(tool.parameters)),
            )
            for tool in tools
        ]

    def _tool_turns(self, cancel: CancelToken | None) -> ToolTurns:
        """Return how the template takes tools, found out on the first call."""

        def render(
            turns: Sequence[Message], tool_style: ToolTurns, tools: Sequence[Tool]
        ) -> str | None:
            try:
                messages = tool_style.prepared(turns, self.calls)
                return self._run(
                    messages, {}, tools if self._knows_calls else (), cancel, tool_style
                )
            except TemplateRefused:
                return None

        if self._tool_style is None:
            self._tool_style = find_tool_turns(render)
        return self._tool_style

    def _ends_in_reasoning(self, prompt: str) -> bool:
        return self.format is not None and self.format.opened(prompt)

    def _continue(self, opening: str, begun: Message, *, expected: bool) -> RenderedPrompt:
        """Render a prompt that ends within the answer, or within its reasoning."""
        form, inside = self.format, self._ends_in_reasoning(opening)
        if form is None:
            return RenderedPrompt(opening + begun.text)
        if not begun.text and begun.reasoning and (inside or expected):
            start = opening if inside else opening + form.begin
            return RenderedPrompt(start + begun.reasoning, "reasoning", expected=True)
        if begun.reasoning and expected:
            start = opening if inside else opening + form.begin
            return RenderedPrompt(f"{start}{begun.reasoning}{form.end}{begun.text}", "answer")
        if inside or form.channels:
            # The existing part of the answer followed its reasoning.
            end = form.end.removeprefix("<|end|><|start|>assistant") if form.channels else form.end
            return RenderedPrompt(f"{opening}{end}{begun.text}", "answer")
        return RenderedPrompt(opening + begun.text, "answer" if begun.text else "start", expected)

    def _opening(
        self,
        turns: Sequence[Message],
        values: Values,
        tools: Sequence[Tool],
        cancel: CancelToken | None,
    ) -> str:
        """Render a prompt; describe tools that the template does not take in the system prompt."""
        if not tools:
            return self._run(turns, values, (), cancel)
        if self._tool_turns(cancel).offers:
            try:
                return self._run(turns, values, tools, cancel)
            except TemplateRefused:
                pass  # for example, it insists on a description of each argument
        described = _with_word(list(turns), instructions(self._safe(tools), self.calls))
        if not self.system_role:
            described = _without_system_role(described)
        return self._run(described, values, (), cancel)

    def _run(
        self,
        turns: Sequence[Message],
        values: Values,
        tools: Sequence[Tool] = (),
        cancel: CancelToken | None = None,
        tool_style: ToolTurns | None = None,
    ) -> str:
        tool_style = tool_style or self._tool_style or ToolTurns()
        messages = [self._message(turn, tool_style) for turn in turns]
        offers = offered(self._safe(tools)) or self._empty_tools
        return self._template.run(messages, {**self._special, **values}, offers, cancel)

    def _message(self, turn: Message, tool_style: ToolTurns) -> dict[str, object]:
        """Convert a message for the template, with reasoning under every name in use for it."""
        message: dict[str, object] = {"role": turn.role}
        if turn.role == "tool":
            return message | {"content": turn.text, "name": turn.tool, "tool_call_id": turn.call_id}
        if turn.calls:
            message["tool_plan"] = turn.text  # Command expects the text before calls here
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": tool_style.arguments(call)},
                }
                for call in turn.calls
            ]
        thought = turn.reasoning.strip()
        parts: list[dict[str, str]] = []
        if thought and self._typed_reasoning:
            parts.append({"type": "thinking", "thinking": thought})
        elif thought:
            message |= dict.fromkeys(("reasoning_content", "reasoning", "thinking"), thought)
        if self._typed_content or parts:
            parts.append({"type": "text", "text": turn.text})
        message["content"] = parts or turn.text
        return message

    def _probed(self) -> tuple[bool, bool]:
        """Probe with None for no tools, as Hugging Face does, or with a list if it is refused."""
        try:
            return self._probe()
        except TemplateRefused:
            self._empty_tools = []
            return self._probe()

    def _probe(self) -> tuple[bool, bool]:
        """Find out whether the template wants typed content, and whether it knows a system role.

        Either shows in whether a text appears in the prompt: templates raise an error, or leave the
        text out silently.
        """
        question = Message("user", _PROBE)
        for self._typed_content in (False, True):
            if self._is_kept(question):
                system_role = self._is_kept(Message("system", _PROBE), Message("user", "?"))
                return self._typed_content, system_role
        self._typed_content = False
        self._run([question], {})
        raise unusable(N_("It leaves out parts of the chat."))

    def _is_kept(self, *turns: Message, cancel: CancelToken | None = None) -> bool:
        try:
            return _PROBE in self._run(turns, {}, cancel=cancel)
        except TemplateRefused:
            return False

    def _begun_by_user(self, turns: list[Message], cancel: CancelToken | None) -> list[Message]:
        """Drop an assistant's greeting if the template wants the user to begin."""
        at = 1 if turns and turns[0].role == "system" else 0
        if len(turns) <= at or turns[at].role != "assistant":
            return turns
        before = turns[:at]
        if self._is_kept(
            *before, Message("assistant", _PROBE), Message("user", "?"), cancel=cancel
        ):
            return turns
        return before + turns[at + 1 :]

    def _render_probe(self, values: Values, system: str) -> str | None:
        """Render a short prompt with these values; return None if the template refuses."""
        turns = [Message("user", f"{_PROBE}?")]
        if system:
            turns.insert(0, Message("system", system))
        if not self.system_role:
            turns = _without_system_role(turns)
        try:
            return self._run(turns, values)
        except TemplateRefused:
            return None

    def _takes_typed_reasoning(self) -> bool:
        """Return whether the template shows past reasoning only as a typed part of the content."""
        turns = (
            Message("user", "?"),
            Message("assistant", "!", reasoning=_THOUGHT),
            Message("user", "?"),
        )
        appears: list[bool] = []
        for self._typed_reasoning in (False, True):
            try:
                appears.append(_THOUGHT in self._run(turns, {}))
            except TemplateRefused:
                appears.append(False)
        return appears == [False, True]

    def _count_dropped_later(
        self, values: Values, word: str, cancel: CancelToken | None, *, thinking: bool
    ) -> int:
        """Count the characters at a prompt's end that the template drops in the next turn."""
        key = f"{sorted(values.items())} {word} {thinking}"
        if key not in self._dropped_later:
            turns = [Message("system", word)] * bool(word) + [Message("user", _PROBE)]
            past = Message("assistant", "!", reasoning=_THOUGHT)
            try:
                now = self._run(turns, values, cancel=cancel)
                later = self._run([*turns, past, Message("user", "?")], values, cancel=cancel)
            except TemplateRefused:
                now = later = ""
            pairs = zip(now, later, strict=False)
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            for token in self.format.tokens if self.format else ():
                begin = now.rfind(token, 0, same + len(token) - 1)
                if begin < same < begin + len(token):
                    same = begin
            self._dropped_later[key] = len(now) - same if _PROBE in now[:same] else 0
        return self._dropped_later[key]


def _any_of(texts: Collection[str]) -> str:
    """Return a pattern that matches any of these texts, the longest first."""
    return f"(?:{'|'.join(map(re.escape, sorted(texts, key=len, reverse=True)))})"


def _cut(mark: str) -> str:
    """Put a SEAM at each word boundary of a mark, or after its first character."""
    cut = _JOINT.sub(SEAM, mark)
    return cut if SEAM in cut else mark[0] + SEAM + mark[1:]


def _joined(turns: Sequence[Message]) -> list[Message]:
    """Join neighbouring messages of the same role: many templates insist that roles alternate."""
    joined: list[Message] = []
    for turn in turns:
        if joined and joined[-1].role == turn.role != "tool":
            last = joined.pop()
            text = "\n\n".join(filter(None, (last.text, turn.text)))
            turn = replace(turn, text=text, calls=last.calls + turn.calls)  # noqa: PLW2901
        joined.append(turn)
    return joined


def _without_system_role(turns: Sequence[Message]) -> list[Message]:
    """Turn system prompts into user messages, for templates that know no system role."""
    return _joined([Message("user", t.text) if t.role == "system" else t for t in turns])


def _with_word(turns: Sequence[Message], word: str) -> list[Message]:
    """Append a word or an instruction to the system prompt."""
    if turns and turns[0].role == "system":
        return [replace(turns[0], text=f"{turns[0].text}\n\n{word}"), *turns[1:]]
    return [Message("system", word), *turns]


def abilities(template: str | None) -> tuple[Ability, ...]:
    """Return what a model can do, from its template alone, which is not run."""
    if not template:
        return ()
    thinks = format_of(template, ())[1]
    calls = "tools" in template and call_format_of(template) is not None
    return ("chat", *(("thinks",) if thinks else ()), *(("tools",) if calls else ()))
