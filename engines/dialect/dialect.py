"""A model family's way of writing a conversation, with everything found out about its template."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from engines.cancel import CancelToken
from engines.dialect.formats import format_of
from engines.dialect.splitter import Begins, Splitter, open_splitter
from engines.dialect.switch import Values, find_switch
from engines.dialect.template import Template, unusable
from engines.dialect.template_process import TemplateProcess
from engines.dialect.tools import known_by, offered
from engines.errors import TemplateFailed, TemplateRefused
from engines.text import SEAM
from engines.types import Ability, Message, Tool


class Guard:
    """Knows the texts that stand for a control token, and breaks them up in what people write."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_length: dict[int, set[str]] = defaultdict(set)
        for text in texts:
            if len(text) > 1:
                self._by_length[len(text)].add(text)
        self._first = frozenset(text[0] for of in self._by_length.values() for text in of)

    def protect(self, text: str) -> str:
        """Put a SEAM behind the first character of every such spelling in `text`."""
        text = text.replace(SEAM, "\N{REPLACEMENT CHARACTER}")
        if self._first.isdisjoint(text):
            return text
        return "".join(
            char + SEAM if char in self._first and self.begins(text, at) else char
            for at, char in enumerate(text)
        )

    def begins(self, text: str, at: int) -> bool:
        return any(text[at : at + length] in texts for length, texts in self._by_length.items())


CHATML: Final = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""The template for a model file without one; llama.cpp falls back to the same form."""

_PROBE: Final = "7f3c91"
_THOUGHT: Final = "a40d6e"


@dataclass(frozen=True)
class RenderedPrompt:
    """A rendered conversation, with a SEAM wherever its tokens must not join.

    begins: where the answer to it begins. expected: the model is about to reason.
    fades: characters at its end that the next turn's prompt will not have.
    """

    text: str
    begins: Begins = "start"
    expected: bool = False
    fades: int = 0


class Dialect:
    """Writes conversations as one model wants them. Close it at the end.

    Raises TemplateFailed, and EngineUnavailable where no process starts for the template.

    template: Jinja source from the model file; None falls back to ChatML.
    trusted: the template came with Hearth, and is rendered in this process; any other in one of
    its own, within limits.
    bos, eos: texts of the tokens that begin and end a text.
    control, added: texts of the vocabulary's control tokens, and of the further ones it matches
    as a whole.
    format: how it writes reasoning, None if it does not. switch: how that can be chosen.
    markers: texts of the tokens that tell reasoning from answer.
    takes_tools: it can offer tools, and its model asks for them as `CallReader` reads it.
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
        # Added tokens are mostly runs of spaces or HTML tags; some are markers, like <think>.
        markers = {text for text in added if text in source or (text[0] == "<" and "|" in text)}
        self._guard = Guard({*control, *markers})
        self.takes_tools = known_by(source)
        self._special = {"bos_token": bos, "eos_token": eos}
        self.stops = ("<|im_end|>", "<|im_start|>") if template is None else ()
        self.format, speaks = format_of(source, vocabulary)
        self._marked = self.format.with_tokens(vocabulary) if self.format else None
        self.markers = self._marked.marked if self._marked else frozenset()
        self._fading: dict[str, int] = {}
        self._parts_of_thought = False
        in_process = trusted or template is None
        self._template = Template(source) if in_process else TemplateProcess(source)
        try:
            self._typed_content, self.system_role = self._probe()
            self.switch = find_switch(self._try, speaks=speaks, opens=self._opens)
            self._parts_of_thought = self._takes_parts_of_thought()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the template's process; a rendering that is under way fails."""
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

        Raises TemplateFailed, Cancelled.
        """
        if tools and not self.takes_tools:
            raise TemplateFailed(
                "This model cannot use tools.",
                "Its chat template has no place for them, or asks for calls in a form that is not"
                " known.",
                "Ask without tools, or choose another model.",
            )
        turns = _joined([self._protected(message) for message in messages])
        begun = turns.pop() if turns and turns[-1].role == "assistant" else None
        if word := self.switch.word(thinking):
            turns = _with_word(turns, word)
        if not self.system_role or (thinking and self.switch.alone):
            turns = _without_system_role(turns)
        turns = self._begun_by_user(turns, cancel)
        values = self.switch.values(thinking, effort)
        opening = self._run(turns, values, tools, cancel)
        expected = self.switch.reasons(thinking)
        if begun is not None:
            return self._go_on(opening, begun, expected=expected)
        inside = self._opens(opening)
        fades = self._fades(values, word, cancel, thinking=bool(thinking))
        return RenderedPrompt(
            opening, "reasoning" if inside else "start", inside or expected, fades
        )

    def splitter(self, prompt: RenderedPrompt) -> Splitter:
        """Make the splitter for a prompt's answer. Markers that are tokens come with a SEAM."""
        return open_splitter(self._marked, prompt.begins, expected=prompt.expected)

    def begins_with_marker(self, text: str) -> bool:
        """Tell whether `text` is empty or begins with a token that stands for itself."""
        return not text or self._guard.begins(text, 0)

    def _protected(self, message: Message) -> Message:
        return replace(
            message,
            text=self._guard.protect(message.text),
            reasoning=self._guard.protect(message.reasoning),
        )

    def _opens(self, prompt: str) -> bool:
        return self.format is not None and self.format.opened(prompt)

    def _go_on(self, opening: str, begun: Message, *, expected: bool) -> RenderedPrompt:
        """Render a prompt that ends within the answer, or within its reasoning."""
        form, inside = self.format, self._opens(opening)
        if form is None:
            return RenderedPrompt(opening + begun.text)
        if not begun.text and begun.reasoning and (inside or expected):
            start = opening if inside else opening + form.begin
            return RenderedPrompt(start + begun.reasoning, "reasoning", expected=True)
        if begun.reasoning and expected:
            start = opening if inside else opening + form.begin
            return RenderedPrompt(f"{start}{begun.reasoning}{form.end}{begun.text}", "answer")
        if inside or form.channels:
            # What is there of the answer came behind its reasoning.
            end = form.end.removeprefix("<|end|><|start|>assistant") if form.channels else form.end
            return RenderedPrompt(f"{opening}{end}{begun.text}", "answer")
        return RenderedPrompt(opening + begun.text, "answer" if begun.text else "start", expected)

    def _run(
        self,
        turns: Sequence[Message],
        values: Values,
        tools: Sequence[Tool] = (),
        cancel: CancelToken | None = None,
    ) -> str:
        messages = [self._message(turn) for turn in turns]
        return self._template.run(messages, {**self._special, **values}, offered(tools), cancel)

    def _message(self, turn: Message) -> dict[str, object]:
        """Turn a message into what templates take; reasoning goes under all their names for it."""
        message: dict[str, object] = {"role": turn.role}
        thought = turn.reasoning.strip()
        parts: list[dict[str, str]] = []
        if thought and self._parts_of_thought:
            parts.append({"type": "thinking", "thinking": thought})
        elif thought:
            message |= dict.fromkeys(("reasoning_content", "reasoning", "thinking"), thought)
        if self._typed_content or parts:
            parts.append({"type": "text", "text": turn.text})
        message["content"] = parts or turn.text
        return message

    def _probe(self) -> tuple[bool, bool]:
        """Find out whether the template wants typed content, and whether it knows a system role.

        Both show in what becomes of a text: templates raise, or leave it out in silence.
        """
        question = Message("user", _PROBE)
        for self._typed_content in (False, True):
            if self._keeps(question):
                system_role = self._keeps(Message("system", _PROBE), Message("user", "?"))
                return self._typed_content, system_role
        self._typed_content = False
        self._run([question], {})
        raise unusable("It leaves out parts of the chat.")

    def _keeps(self, *turns: Message, cancel: CancelToken | None = None) -> bool:
        try:
            return _PROBE in self._run(turns, {}, cancel=cancel)
        except TemplateRefused:
            return False

    def _begun_by_user(self, turns: list[Message], cancel: CancelToken | None) -> list[Message]:
        """Drop an assistant's greeting where the template wants the user to begin."""
        at = 1 if turns and turns[0].role == "system" else 0
        if len(turns) <= at or turns[at].role != "assistant":
            return turns
        before = turns[:at]
        if self._keeps(*before, Message("assistant", _PROBE), Message("user", "?"), cancel=cancel):
            return turns
        return before + turns[at + 1 :]

    def _try(self, values: Values, system: str) -> str | None:
        """Render a short prompt, to find out what the template does with these values."""
        turns = [Message("user", f"{_PROBE}?")]
        if system:
            turns.insert(0, Message("system", system))
        if not self.system_role:
            turns = _without_system_role(turns)
        try:
            return self._run(turns, values)
        except TemplateRefused:
            return None

    def _takes_parts_of_thought(self) -> bool:
        """Tell whether the template shows past reasoning only as a typed part of the content."""
        turns = (
            Message("user", "?"),
            Message("assistant", "!", reasoning=_THOUGHT),
            Message("user", "?"),
        )
        shown: list[bool] = []
        for self._parts_of_thought in (False, True):
            try:
                shown.append(_THOUGHT in self._run(turns, {}))
            except TemplateRefused:
                shown.append(False)
        return shown == [False, True]

    def _fades(
        self, values: Values, word: str, cancel: CancelToken | None, *, thinking: bool
    ) -> int:
        """Count how much of a prompt's end the template drops once the answer is in the past."""
        key = f"{sorted(values.items())} {word} {thinking}"
        if key not in self._fading:
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
            self._fading[key] = len(now) - same if _PROBE in now[:same] else 0
        return self._fading[key]


def _joined(turns: Sequence[Message]) -> list[Message]:
    """Join neighbours of one role: many templates insist on taking turns."""
    joined: list[Message] = []
    for turn in turns:
        if joined and joined[-1].role == turn.role:
            turn = replace(turn, text=f"{joined.pop().text}\n\n{turn.text}")  # noqa: PLW2901
        joined.append(turn)
    return joined


def _without_system_role(turns: Sequence[Message]) -> list[Message]:
    """Move the system prompt into the first message, for templates that know no such role."""
    return _joined([Message("user", t.text) if t.role == "system" else t for t in turns])


def _with_word(turns: Sequence[Message], word: str) -> list[Message]:
    """Append a word for the template to the system prompt."""
    if turns and turns[0].role == "system":
        return [replace(turns[0], text=f"{turns[0].text}\n\n{word}"), *turns[1:]]
    return [Message("system", word), *turns]


def abilities(template: str | None) -> tuple[Ability, ...]:
    """Tell what a model can do, from its template alone, which is not run."""
    if not template:
        return ()
    thinks, calls = format_of(template, ())[1], known_by(template)
    return ("chat", *(("thinks",) if thinks else ()), *(("tools",) if calls else ()))
