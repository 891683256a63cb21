"""How a model family writes a conversation: its chat template and its reasoning markers.

The template is a program that comes with the model file: it runs in a sandbox. What people wrote
goes through it as data: text that spells a control token never becomes one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engines.errors import TemplateFailed
from engines.text import SEAM, held_back
from engines.types import Message, ReasoningDelta, TextDelta

CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""For a model file without a template; llama.cpp falls back to the same form."""

_PROBE = "7f3c91"

# Far more than any context takes; a template writes some ten pieces for each message.
_MOST_PIECES = 1_000_000
_MOST_TEXT = 1 << 26


@dataclass(frozen=True)
class Reasoning:
    """What a model writes around its reasoning, at the beginning of an answer."""

    opens: str
    closes: str


REASONING = (
    Reasoning("<|channel>thought", "<channel|>"),  # Gemma 4
    Reasoning("<think>", "</think>"),  # DeepSeek, Qwen and many others
)


@dataclass(frozen=True)
class Prompt:
    """A rendered conversation, with a SEAM wherever its tokens must not join.

    reasoning: the answer begins inside the model's reasoning.
    """

    text: str
    reasoning: bool = False


class Dialect:
    """Writes conversations as one model wants them. Raises TemplateFailed.

    template: Jinja source from the model file; None falls back to ChatML.
    bos, eos: texts of the tokens that begin and end a text.
    control, added: texts of the vocabulary's control tokens, and of the further ones it matches
    as a whole.
    """

    def __init__(
        self,
        template: str | None,
        *,
        bos: str = "",
        eos: str = "",
        control: Iterable[str] = (),
        added: Iterable[str] = (),
    ) -> None:
        source = CHATML if template is None else template
        added = frozenset(added)
        # Added tokens are mostly runs of spaces or HTML tags; some are markers, like <think>.
        markers = {text for text in added if text in source or (text[0] == "<" and "|" in text)}
        self._guard = _Guard({*control, *markers})
        self._template = _compile(source)
        self._special = {"bos_token": bos, "eos_token": eos}
        self._typed_content, self.system_role = self._probe()
        self.stops = ("<|im_end|>", "<|im_start|>") if template is None else ()
        self.reasoning = next(
            (pair for pair in REASONING if pair.closes in source or pair.closes in added), None
        )

    def render(self, messages: Sequence[Message]) -> Prompt:
        """The prompt for an answer to `messages`, or for the rest of a last assistant message."""
        turns = _joined(
            [Message(message.role, self._guard.protect(message.text)) for message in messages]
        )
        begun = ""
        if turns and turns[-1].role == "assistant":
            begun = turns.pop().text
        if not self.system_role:
            turns = _without_system_role(turns)
        opening = self._run(turns)
        if self.reasoning is None or not opening.rstrip().endswith(self.reasoning.opens):
            return Prompt(opening + begun)
        if begun:
            # What is there of the answer came behind its reasoning.
            return Prompt(f"{opening}{self.reasoning.closes}\n\n{begun}")
        return Prompt(opening, reasoning=True)

    def begins_with_marker(self, text: str) -> bool:
        """Whether `text` is empty or begins with a token that stands for itself."""
        return not text or self._guard.begins(text, 0)

    def _run(self, turns: Sequence[Message]) -> str:
        content = (lambda text: [{"type": "text", "text": text}]) if self._typed_content else str
        try:
            return _limited(
                self._template.generate(
                    messages=[{"role": turn.role, "content": content(turn.text)} for turn in turns],
                    add_generation_prompt=True,
                    tools=None,
                    documents=None,
                    **self._special,
                )
            )
        except Exception as error:  # a foreign program may raise anything
            raise TemplateFailed(
                "The model's chat template does not accept this conversation.",
                f"It says: {str(error) or type(error).__name__}.",
                "Start a new chat, or choose another model.",
            ) from error

    def _probe(self) -> tuple[bool, bool]:
        """Whether the template wants content in typed parts, and whether it knows a system role.

        Both show in what becomes of a text: templates raise, or leave it out in silence.
        """
        question = Message("user", _PROBE)
        for self._typed_content in (False, True):
            if self._keeps(question):
                system_role = self._keeps(Message("system", _PROBE), Message("user", "?"))
                return self._typed_content, system_role
        self._typed_content = False
        self._run([question])
        raise TemplateFailed(
            "The model's chat template cannot be used.",
            "It leaves out what it is given.",
            "Choose another model.",
        )

    def _keeps(self, *turns: Message) -> bool:
        try:
            return _PROBE in self._run(turns)
        except TemplateFailed:
            return False


class _Guard:
    """Keeps texts that spell a token with a meaning from becoming that token."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_length: dict[int, set[str]] = defaultdict(set)
        for text in texts:
            if len(text) > 1:
                self._by_length[len(text)].add(text)
        self._first = frozenset(text[0] for of in self._by_length.values() for text in of)

    def protect(self, text: str) -> str:
        """`text` with a SEAM behind the first character of every such spelling in it."""
        text = text.replace(SEAM, "\N{REPLACEMENT CHARACTER}")
        if self._first.isdisjoint(text):
            return text
        return "".join(
            char + SEAM if char in self._first and self.begins(text, at) else char
            for at, char in enumerate(text)
        )

    def begins(self, text: str, at: int) -> bool:
        return any(text[at : at + length] in texts for length, texts in self._by_length.items())


class ReasoningSplitter:
    """Tells a model's reasoning from its answer while both stream, markers cut or not.

    reasoning None passes everything as the answer; `inside` starts within the reasoning.
    Markers count only before the answer has begun: later they are text about markers.
    """

    def __init__(self, reasoning: Reasoning | None, *, inside: bool = False) -> None:
        self._pair = reasoning
        self._state = "answer" if reasoning is None else "reasoning" if inside else "start"
        self._held = ""
        self._trim = inside

    def feed(self, text: str) -> list[TextDelta | ReasoningDelta]:
        """The deltas that are certain now; a beginning of a marker waits."""
        events: list[TextDelta | ReasoningDelta] = []
        self._held += text
        while self._step(events):
            pass
        return events

    def finish(self) -> list[TextDelta | ReasoningDelta]:
        """What was held back."""
        events: list[TextDelta | ReasoningDelta] = []
        self._emit(events, self._held)
        self._held = ""
        return events

    def _step(self, events: list[TextDelta | ReasoningDelta]) -> bool:
        """Handle the text up to the next marker; False when there is none yet."""
        if self._pair is None or self._state == "answer":
            self._emit(events, self._held)
            self._held = ""
            return False
        if self._state == "start":
            begun = self._held.lstrip()
            if begun.startswith(self._pair.opens):
                self._held = begun.removeprefix(self._pair.opens)
                self._state, self._trim = "reasoning", True
                return True
            if self._pair.opens.startswith(begun):
                return False
            self._state = "answer"
            return True
        before, marker, after = self._held.partition(self._pair.closes)
        if marker:
            self._emit(events, before)
            self._held, self._state, self._trim = after, "start", True
            return True
        shown = len(before) - held_back(before, (self._pair.closes,))
        self._emit(events, before[:shown])
        self._held = before[shown:]
        return False

    def _emit(self, events: list[TextDelta | ReasoningDelta], text: str) -> None:
        if self._trim:
            text = text.lstrip("\n")
            self._trim = not text
        if text:
            delta = ReasoningDelta if self._state == "reasoning" else TextDelta
            events.append(delta(text))


class _GenerationTag(Extension):
    """{% generation %} marks the model's own words for training; here it changes nothing."""

    tags = {"generation"}  # noqa: RUF012  jinja2 declares it so

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _compile(source: str) -> jinja2.Template:
    """The template with what Hugging Face's templates expect to find."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _GenerationTag]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = _now
    try:
        return environment.from_string(source)
    except Exception as error:  # Python's own compiler may refuse what jinja2 makes of it
        raise TemplateFailed(
            "The model's chat template cannot be used.",
            f"It is not written correctly: {str(error) or type(error).__name__}.",
            "Get the model from another place, or choose another one.",
        ) from error


def _limited(pieces: Iterable[str]) -> str:
    """The pieces as one text; raises ValueError if they are endless.

    A template that writes nothing in its loops, or collects the text in a variable or a macro,
    is not stopped: it yields no piece meanwhile.
    """
    kept: list[str] = []
    length = 0
    for piece in pieces:
        kept.append(piece)
        length += len(piece)
        if len(kept) > _MOST_PIECES or length > _MOST_TEXT:
            raise ValueError("the prompt it writes has no end")
    return "".join(kept)


def _to_json(value: object, **options: Any) -> str:
    """Jinja's own filter would escape for HTML."""
    return json.dumps(value, **{"ensure_ascii": False, **options})


def _raise(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _now(form: str) -> str:
    return datetime.now().astimezone().strftime(form)


def _joined(turns: Sequence[Message]) -> list[Message]:
    """Neighbours of one role as one message: many templates insist on taking turns."""
    joined: list[Message] = []
    for turn in turns:
        if joined and joined[-1].role == turn.role:
            turn = Message(turn.role, f"{joined.pop().text}\n\n{turn.text}")  # noqa: PLW2901
        joined.append(turn)
    return joined


def _without_system_role(turns: Sequence[Message]) -> list[Message]:
    """The system prompt at the head of the first message, for templates that know no such role."""
    return _joined([Message("user", t.text) if t.role == "system" else t for t in turns])
