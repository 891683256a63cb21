"""The settings model, from which the form and the terminal are derived."""

from __future__ import annotations

import os

import pytest

from app.base.errors import NoSuchSetting, SettingsInvalid
from app.settings.values.declared import SECTIONS
from app.settings.values.fields import (
    RENAMED,
    Settings,
    display_text,
    fields,
    is_multiline,
    limits_of,
    section_of,
)


def test_every_setting_can_be_shown() -> None:
    for name, field in fields().items():
        assert field.title, name
        assert field.description, name
        assert section_of(field) in SECTIONS, name


def test_renamed_settings_lead_to_present_ones() -> None:
    assert set(RENAMED.values()) <= set(fields())
    assert not set(RENAMED) & set(fields())


def test_text_is_read_as_the_type_of_the_setting() -> None:
    settings = Settings().changed("temperature", "0.2").changed("offline", "true")
    assert settings.temperature == 0.2
    assert settings.offline is True


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mtp", "sometimes"),
        ("kv_disk", -1),
        ("kv_memory", "much"),
        ("temperature", "warm"),
        ("temperature", -1),
        ("top_p", -0.1),
        ("repeat_penalty", 0),
        ("theme", "pink"),
        ("top_k", 1.5),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_a_reason(name: str, value: object) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        Settings().changed(name, value)
    assert name in caught.value.what
    assert caught.value.why
    assert caught.value.do


def test_what_is_not_utf_8_is_refused_as_such() -> None:
    with pytest.raises(SettingsInvalid, match="UTF-8") as caught:
        Settings().changed("system_prompt", os.fsdecode(b"a\xff"))
    assert all((caught.value.what, caught.value.why, caught.value.do))
    str(caught.value).encode()


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(NoSuchSetting):
        Settings().changed("colour", "red")


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("leave_out", "Leave out"),
        ("compact", "Summarise"),
        ("ctrl+enter", "Ctrl+Enter"),
        ("q8_0", "q8_0"),
        ("auto", "Auto"),
        ("llamacpp", "llama.cpp"),
        ("vllm", "vLLM"),
    ],
)
def test_the_values_of_a_setting_are_words_and_proper_names(word: str, written: str) -> None:
    assert display_text(word) == written


def test_limits_and_kinds() -> None:
    assert limits_of(fields()["temperature"]) == (0.0, 5.0)
    assert limits_of(fields()["top_p"]) == (0.0, 1.0)
    assert limits_of(fields()["theme"]) == (None, None)
    assert is_multiline(fields()["system_prompt"])
    assert not is_multiline(fields()["model"])


def test_sampling_follows_the_settings() -> None:
    sampling = Settings(temperature=0.1, top_k=7, top_p=0.5, min_p=0.2, repeat_penalty=1.3).sampling
    assert (sampling.temperature, sampling.top_k, sampling.top_p) == (0.1, 7, 0.5)
    assert (sampling.min_p, sampling.repeat_penalty) == (0.2, 1.3)


def test_what_speeds_answers_up_is_on_unless_it_is_set_off() -> None:
    settings = Settings()
    assert (settings.mtp, settings.kv_memory, settings.kv_disk) == ("auto", 512, 2048)
    assert settings.changed("kv_disk", "0").kv_disk == 0
    assert {section_of(fields()[name]) for name in ("mtp", "kv_memory", "kv_disk")} == {"Speed"}
