"""The detection of how a chat template switches reasoning on and off, by rendering it both ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from engines.types import Thinking

Values = Mapping[str, object]
"""The variables of a template, by name."""

Render = Callable[[Values, str], str | None]
"""A function that renders a short question with these variables and this system prompt.

The system prompt "" means none. The result is None if the template refuses.
"""

EFFORT: Final = "reasoning_effort"
_UNKNOWN_EFFORT: Final = "e5f1a7"
_LEVELS: Final = ("none", "minimal", "low", "medium", "high", "max")
_USUAL_LEVELS: Final = ("low", "medium", "high")

NAMES: Final = ("enable_thinking", "thinking")
"""The names of the switch.

Qwen, GLM, Gemma and SmolLM use the first, DeepSeek and Granite the second.
"""

WORDS: Final = (("/think", "/no_think"), ("/think", "/nothink"))
"""Words that a template looks for in a system prompt, as Nemotron's does."""

_SYSTEM: Final = "Be kind."


_HINTS: Final = ("think", "reason", "thought", "channel", "my response")
"""Parts of variables, words and markers, one of which is in every template that knows reasoning."""


def may_reason(source: str) -> bool:
    """Return whether a template has any hint of a switch; without one, it need not be rendered."""
    lower = source.lower()
    return any(hint in lower for hint in _HINTS)


@dataclass(frozen=True)
class ThinkingChoices:
    """The choices that a template offers for reasoning.

    Attributes:
        kind: Whether the model reasons never, always, or as requested.
        on: The template's variables for reasoning.
        off: The template's variables for no reasoning.
        words: The words in the system prompt for reasoning and for no reasoning.
        thinks: Whether it reasons if the request does not say.
        efforts: The levels of effort, lowest first.
        effort: The default level.
        without_system: Whether the switch works only without a system prompt.
    """

    kind: Thinking = "none"
    on: Values | None = None
    off: Values | None = None
    words: tuple[str, str] | None = None
    thinks: bool = False
    efforts: tuple[str, ...] = ()
    effort: str = ""
    without_system: bool = False

    def values(self, thinking: bool | None, effort: str | None) -> Values:
        """Return the variables for a request, without those that the template does not know."""
        chosen: Values | None = None
        if thinking is not None:
            chosen = self.on if thinking else self.off
        values = dict(chosen or {})
        if effort in self.efforts and thinking is not False:
            values[EFFORT] = effort
        return values

    def word(self, thinking: bool | None) -> str:
        """Return the word for the system prompt; "" if none is needed."""
        if self.words is None or thinking is None:
            return ""
        return self.words[0] if thinking else self.words[1]

    def reasons(self, thinking: bool | None) -> bool:
        """Return whether the model is expected to reason."""
        if self.kind == "switch" and thinking is not None:
            return thinking
        return self.thinks


def find_switch(
    render: Render, *, mentions_format: bool, ends_in_reasoning: Callable[[str], bool]
) -> ThinkingChoices:
    """Find the switch of a template.

    Args:
        mentions_format: Whether the template mentions a reasoning format.
        ends_in_reasoning: Returns whether a prompt ends within reasoning.
    """
    plain = render({}, "")
    if plain is None:
        return ThinkingChoices()
    on, off = (dict.fromkeys(NAMES, value) for value in (True, False))
    found = _by_values(render, plain, on, off) or _by_words(render)
    if found is None:
        always = mentions_format or ends_in_reasoning(plain)
        found = ThinkingChoices("always" if always else "none", thinks=always)
    return _with_efforts(render, plain, found)


def _by_values(render: Render, plain: str, on: Values, off: Values) -> ThinkingChoices | None:
    with_, without = render(on, ""), render(off, "")
    if with_ is None or without is None or with_ == without:
        return None
    without_system = render(on, _SYSTEM) == render(off, _SYSTEM)
    return ThinkingChoices(
        "switch", on, off, thinks=plain != without, without_system=without_system
    )


def _by_words(render: Render) -> ThinkingChoices | None:
    """Look for a switch by words in the system prompt that changes the end of the prompt."""
    for words in WORDS:
        with_, without, plain = (_ending(render({}, text)) for text in (*words, _SYSTEM))
        if with_ and without and with_ != without:
            return ThinkingChoices("switch", words=words, thinks=plain == with_)
    return None


def _ending(prompt: str | None) -> str:
    return "" if prompt is None else prompt.rpartition("?")[2]


def _with_efforts(render: Render, plain: str, found: ThinkingChoices) -> ThinkingChoices:
    """Return the switch with the levels of effort that result in different prompts."""
    prompts = _levels(render, found.on or {})
    usual = next((level for level, prompt in prompts.items() if prompt == plain), "")
    none = prompts.pop("none", None)
    if none is not None and prompts and found.kind != "switch":
        on = usual if usual in prompts else list(prompts)[-1]
        found = replace(
            found, kind="switch", on={EFFORT: on}, off={EFFORT: "none"}, thinks=plain != none
        )
    if len(prompts) < 2:
        return found
    return replace(found, efforts=tuple(prompts), effort=usual)


def _levels(render: Render, base: Values) -> dict[str, str]:
    """Return the levels that a template knows, each with its own prompt."""
    unknown = render({**base, EFFORT: _UNKNOWN_EFFORT}, "")
    # A template that passes on any word leaves it to the model, which was trained on the usual
    # ones.
    passes_on = unknown is not None and _UNKNOWN_EFFORT in unknown
    found: dict[str, str] = {}
    for level in _USUAL_LEVELS if passes_on else _LEVELS:
        prompt = render({**base, EFFORT: level}, "")
        # The template treats a word that it does not know as its middle level.
        meant = prompt != unknown or level == "medium"
        if prompt is not None and meant and prompt not in found.values():
            found[level] = prompt
    return found if len(found) > 1 else {}
