"""Variables in prompts, finding prompts, and files of prompts."""

from __future__ import annotations

import json

import pytest

from app.assistants.values.prompts import (
    SavedPrompt,
    as_json,
    fill_in,
    from_json,
    matching,
    user_variables,
    variables,
)
from app.base.errors import PromptsNotRead


def test_variables_are_found_once_and_in_order() -> None:
    text = "To {{ name }}, on {{date}}: {{clipboard}} {{name}} {{two words}} {{größe}}"
    assert variables(text) == ("name", "date", "clipboard", "two words", "größe")
    assert user_variables(text) == ("name", "two words", "größe")


@pytest.mark.parametrize(
    "text", ["{name}", "{{}}", "{{1a}}", "{{a\nb}}", "{{ {{", "{{a}", "{{a:b}}"]
)
def test_what_only_looks_like_a_variable_is_text(text: str) -> None:
    assert variables(text) == ()
    assert fill_in(text, {"a": "x", "name": "x"}) == text


def test_what_is_filled_in_is_not_looked_through_again() -> None:
    assert fill_in("{{a}} {{b}}", {"a": "{{b}}", "b": r"\1"}) == r"{{b}} \1"
    assert fill_in("{{a}} {{c}}", {"a": "x"}) == "x {{c}}"


def prompts(*names: str) -> list[SavedPrompt]:
    return [SavedPrompt(name, name, f"Text of {name}") for name in names]


def test_prompts_are_found_by_all_words_the_beginning_first() -> None:
    known = prompts("A long letter", "Letter", "List of letters", "Reply")
    assert [it.name for it in matching(known, "LET")] == [
        "Letter", "A long letter", "List of letters",
    ]  # fmt: skip
    assert [it.name for it in matching(known, "let long")] == ["A long letter"]
    assert len(matching(known, " ")) == 4


def test_a_file_gives_back_what_went_in() -> None:
    known = prompts("A", "Ü {{x}}")
    assert from_json(as_json(known)) == [(it.name, it.text) for it in known]


def test_lists_of_others_are_read_too() -> None:
    items = [
        {"title": " Two  words ", "content": "x"},
        {"command": "/short", "prompt": "y"},
        {"name": "", "text": "no name"},
        {"name": "no text"},
        "nothing",
    ]
    assert from_json(json.dumps(items)) == [("Two words", "x"), ("short", "y")]


@pytest.mark.parametrize("data", ["", "{", "{}", "[]", "[1, null]", '"text"', '{"prompts": 3}'])
def test_what_is_no_file_of_prompts_is_refused_with_a_reason(data: str) -> None:
    with pytest.raises(PromptsNotRead) as raised:
        from_json(data)
    assert raised.value.why
