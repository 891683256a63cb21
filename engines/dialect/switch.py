"""Finds out how a chat template switches reasoning on and off, by rendering it both ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from engines.types import Thinking

Values = Mapping[str, object]
"""Variables of a template, by their names."""

Render = Callable[[Values, str], str | None]
"""The prompt for a short question with these variables and this system prompt, "" for none; None
where the template refuses."""

EFFORT: Final = "reasoning_effort"
_UNKNOWN_EFFORT: Final = "e5f1a7"
_LEVELS: Final = ("none", "minimal", "low", "medium", "high", "max")
_USUAL_LEVELS: Final = ("low", "medium", "high")

_NAMES: Final = ("enable_thinking", "thinking")
"""Names of the switch: Qwen, GLM, Gemma and SmolLM use the first, DeepSeek and Granite the
second."""

_WORDS: Final = (("/think", "/no_think"), ("/think", "/nothink"))
"""Words in a system prompt that a template looks for: Nemotron's do."""

_SYSTEM: Final = "Be kind."


_HINTS: Final = ("think", "reason", "thought", "channel", "my response")
"""Parts of variables, words and markers, of which a template that knows reasoning has one."""


def may_reason(source: str) -> bool:
    """Tell whether a template has any hint of a switch; without one, it need not be rendered."""
    lower = source.lower()
    return any(hint in lower for hint in _HINTS)


@dataclass(frozen=True)
class ThinkingChoices:
    """The choices that a template leaves for reasoning.

    on, off: what the template is given for it; words: what the system prompt is given.
    thinks: whether it reasons where nothing is asked for.
    efforts: the least first. effort: the usual one.
    alone: it works only where there is no system prompt.
    """

    kind: Thinking = "none"
    on: Values | None = None
    off: Values | None = None
    words: tuple[str, str] | None = None
    thinks: bool = False
    efforts: tuple[str, ...] = ()
    effort: str = ""
    alone: bool = False

    def values(self, thinking: bool | None, effort: str | None) -> Values:
        """Return the variables for a request; what the template does not know is left out."""
        chosen: Values | None = None
        if thinking is not None:
            chosen = self.on if thinking else self.off
        values = dict(chosen or {})
        if effort in self.efforts and thinking is not False:
            values[EFFORT] = effort
        return values

    def word(self, thinking: bool | None) -> str:
        """Return what the system prompt says for it, if anything."""
        if self.words is None or thinking is None:
            return ""
        return self.words[0] if thinking else self.words[1]

    def reasons(self, thinking: bool | None) -> bool:
        """Whether the model is expected to reason."""
        if self.kind == "switch" and thinking is not None:
            return thinking
        return self.thinks


def find_switch(render: Render, *, speaks: bool, opens: Callable[[str], bool]) -> ThinkingChoices:
    """Find the switch of a template.

    speaks: the template has a reasoning format. opens: whether a prompt ends within reasoning.
    """
    plain = render({}, "")
    if plain is None:
        return ThinkingChoices()
    on, off = (dict.fromkeys(_NAMES, value) for value in (True, False))
    found = _by_values(render, plain, on, off) or _by_words(render)
    if found is None:
        always = speaks or opens(plain)
        found = ThinkingChoices("always" if always else "none", thinks=always)
    return _with_efforts(render, plain, found)


def _by_values(render: Render, plain: str, on: Values, off: Values) -> ThinkingChoices | None:
    with_, without = render(on, ""), render(off, "")
    if with_ is None or without is None or with_ == without:
        return None
    alone = render(on, _SYSTEM) == render(off, _SYSTEM)
    return ThinkingChoices("switch", on, off, thinks=plain != without, alone=alone)


def _by_words(render: Render) -> ThinkingChoices | None:
    """Look for a switch by words in the system prompt: it changes the end of the prompt."""
    for words in _WORDS:
        with_, without, plain = (_ending(render({}, text)) for text in (*words, _SYSTEM))
        if with_ and without and with_ != without:
            return ThinkingChoices("switch", words=words, thinks=plain == with_)
    return None


def _ending(prompt: str | None) -> str:
    return "" if prompt is None else prompt.rpartition("?")[2]


def _with_efforts(render: Render, plain: str, found: ThinkingChoices) -> ThinkingChoices:
    """Return the switch with the levels that make different prompts."""
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
    """List the levels that a template knows, each with a prompt of its own."""
    unknown = render({**base, EFFORT: _UNKNOWN_EFFORT}, "")
    # One that passes on any word leaves it to the model, which was taught the usual ones.
    passes_on = unknown is not None and _UNKNOWN_EFFORT in unknown
    found: dict[str, str] = {}
    for level in _USUAL_LEVELS if passes_on else _LEVELS:
        prompt = render({**base, EFFORT: level}, "")
        # What holds for a word that it does not know is its middle one.
        meant = prompt != unknown or level == "medium"
        if prompt is not None and meant and prompt not in found.values():
            found[level] = prompt
    return found if len(found) > 1 else {}
