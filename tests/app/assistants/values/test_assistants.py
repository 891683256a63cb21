"""The settings of assistants and presets, and the suggestions that come with Hearth."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.assistants.values.assistants import (
    CHAT_SETTINGS,
    PRESETS,
    SAMPLING,
    Assistant,
    free_name,
    matching,
)
from app.assistants.values.prompts import user_variables, variables
from app.assistants.values.suggested_assistants import SUGGESTED
from app.settings.values.fields import Settings, fields
from app.settings.values.models import effective, parse_setting


def test_an_assistant_sets_what_it_has_and_nothing_else() -> None:
    assistant = Assistant("a", "A", "Be brief.", model="m", settings={"temperature": 0.1})
    assert assistant.values == {"temperature": 0.1, "system_prompt": "Be brief.", "model": "m"}
    assert Assistant("a", "A", "  \n").values == {}


def test_every_name_is_one_of_a_setting() -> None:
    assert set(CHAT_SETTINGS) <= set(fields())


@pytest.mark.parametrize("preset", PRESETS, ids=lambda it: it.id)
def test_a_preset_sets_all_that_draws_within_limits(preset: object) -> None:
    settings = preset.settings  # type: ignore[attr-defined]
    assert set(settings) == set(SAMPLING)
    for name, value in settings.items():
        assert parse_setting(name, value) == value


def test_a_preset_is_known_by_its_values() -> None:
    assert matching(PRESETS, Settings()).id == "balanced"  # type: ignore[union-attr]
    exact = effective(Settings(), PRESETS[0].settings)
    assert matching(PRESETS, exact) is PRESETS[0]
    assert matching(PRESETS, replace(exact, top_k=7)) is None


@pytest.mark.parametrize("draft", SUGGESTED, ids=lambda it: it.id)
def test_a_suggestion_is_whole(draft: Assistant) -> None:
    assert draft.name
    assert len(draft.system_prompt) > 100
    assert all(parse_setting(name, value) == value for name, value in draft.settings.items())
    assert set(variables(draft.system_prompt)) <= set(user_variables(draft.name))


def test_names_of_suggestions_differ() -> None:
    assert len({it.name for it in SUGGESTED}) == len({it.id for it in SUGGESTED}) == len(SUGGESTED)


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert free_name("A", set()) == "A"
    assert free_name("A", {"A", "A 2"}) == "A 3"
