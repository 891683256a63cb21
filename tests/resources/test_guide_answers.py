"""The starter model's answers use the window's names, and deny only what Hearth cannot do.

The commands that they name are tested in test_docs.py, and tests/e2e/test_guide.py tests that the
shipped model gives these answers.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from app.window.pages.actions import commands
from engines.types import EngineName
from resources.translations.make.extract import texts

ROOT = Path(__file__).resolve().parents[2]
MAKE = ROOT / "resources/starter/make"

EMPHASIS = {
    *("private AI chat", "guide", "2 million parameters"),
    *("One file", "MTP", "assistant", "gated", "Q4", "Q4_K_M", "Q8", "Top-p"),
    *("CUDA", "Metal", "Vulkan", "Linux", "Windows", "macOS", "Apache-2.0"),
}
"""Words that an answer stresses without meaning a word of the window."""
TYPED = {"Enter", "Shift+Enter", "Ctrl+C"}
"""Keys of the message box and of the terminal, which are no commands of the window."""

LIMITS = {
    "systems": "Hearth has been run on Linux only.",
    "which_gpus": "Metal has not been run.",
}
"""The limits that answers name, in the words of the README. When they fall, both have to change."""

ENGINES = {"llamacpp": "llama.cpp", "vllm": "vLLM", "remote": "servers of your own"}

_BOLD = re.compile(r"\*\*(.+?)\*\*")
_PLACE = re.compile(r"\*\*([^*]+)\*\*(?: page| in the sidebar)? \(\*\*([^*]+)\*\*\)")
_NOT_YET = re.compile(
    r"\b(?:yet|(?<!chat )so far|this version|(?<!with )this release|planned|being added|until then|"
    r"will be able|coming|arrives?)\b"
)


def read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


INTENTS = {
    intent["name"]: intent
    for path in sorted((MAKE / "intents").glob("*.toml"))
    for intent in read(path)["intent"]
}
ANSWERS = {name: intent["answer"] for name, intent in INTENTS.items()}


def unknown(answers: dict[str, str], known: set[str]) -> Iterator[tuple[str, str]]:
    """Yield intents with the bold words in their answers that are not in `known`."""
    for name, answer in answers.items():
        for bold in _BOLD.findall(answer):
            if bold not in known:
                yield name, bold


@pytest.fixture(scope="module")
def known() -> set[str]:
    """Return all texts of the window, without the dots at the end, and all its keys."""
    keys = {key for command in commands() for key in command.keys}
    return {text.removesuffix("…") for text in texts()} | keys | TYPED


def test_every_name_in_an_answer_is_one_of_the_window(known: set[str]) -> None:
    assert list(unknown(ANSWERS, known | EMPHASIS)) == []


def test_a_name_that_the_window_does_not_have_is_found(known: set[str]) -> None:
    answers = {"a": "Open **Models** (**Ctrl+M**).", "b": "Press **Regenerate** (**Ctrl+F7**)."}
    assert list(unknown(answers, known)) == [("b", "Regenerate"), ("b", "Ctrl+F7")]


def test_all_that_is_stressed_is_in_an_answer() -> None:
    assert EMPHASIS - {bold for text in ANSWERS.values() for bold in _BOLD.findall(text)} == set()


def test_the_keys_behind_a_page_or_a_button_are_its_own() -> None:
    named = {key: command.text for command in commands() for key in command.keys}
    places = [place for text in ANSWERS.values() for place in _PLACE.findall(text)]
    assert len(places) > 8
    assert [(name, keys) for name, keys in places if named.get(keys) != name] == []


def test_answers_deny_only_what_the_readme_does() -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    denying = {name for name, text in ANSWERS.items() if _NOT_YET.search(text)}
    assert denying == set(LIMITS)
    assert {name: limit for name, limit in LIMITS.items() if limit not in readme} == {}


def test_the_answer_about_engines_names_all_of_them() -> None:
    assert set(ENGINES) == set(get_args(EngineName))
    assert [name for name in ENGINES.values() if name not in ANSWERS["switch_engine"]] == []


def test_every_intent_is_examined() -> None:
    examined = read(MAKE / "examination.toml")["questions"]
    assert set(examined) == set(INTENTS)
    few = [name for name in INTENTS if min(len(examined[name]), len(INTENTS[name]["held_out"])) < 5]
    assert few == []
