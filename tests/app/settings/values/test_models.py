"""The order of settings that are set in several places."""

from __future__ import annotations

import pytest

from app.base.errors import NoSuchSetting, SettingsInvalid
from app.settings.values.fields import Settings, fields
from app.settings.values.models import (
    MODEL_SETTINGS,
    builtin_settings,
    effective,
    parse_setting,
    valid_settings,
)


def test_what_is_asked_goes_before_chat_model_and_app() -> None:
    settings = Settings(temperature=0.1, top_p=0.5, context=1000, mtp="off")
    model = {"temperature": 0.2, "top_p": 0.6, "mtp": "on"}
    chat = {"temperature": 0.3, "mtp": None}
    asked = {"temperature": 0.4, "top_p": None}
    held = effective(settings, model, chat, asked)
    assert (held.temperature, held.top_p, held.context, held.mtp) == (0.4, 0.6, 1000, "on")
    assert effective(settings) is settings


def test_zero_and_empty_are_values() -> None:
    held = effective(Settings(context=9, system_prompt="x"), {"context": 0, "system_prompt": ""})
    assert (held.context, held.system_prompt) == (0, "")


def test_every_setting_of_a_model_is_one_of_the_app() -> None:
    assert set(MODEL_SETTINGS) <= set(fields())


def test_the_guide_was_made_for_one_answer() -> None:
    assert effective(Settings(), builtin_settings(builtin=True)).temperature == 0
    assert builtin_settings(builtin=False) == {}


def test_values_are_read_as_their_type() -> None:
    assert parse_setting("context", "4096") == 4096
    assert parse_setting("temperature", "0.5") == 0.5
    assert parse_setting("gpu_layers", "-1") == -1
    with pytest.raises(SettingsInvalid):
        parse_setting("top_p", 2)
    with pytest.raises(NoSuchSetting):
        parse_setting("offline", True)


def test_stored_values_that_are_no_longer_allowed_are_left_out() -> None:
    assert valid_settings({"context": -5, "top_k": 3, "gone": 1}) == {"top_k": 3}
