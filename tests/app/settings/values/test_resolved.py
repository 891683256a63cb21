"""The settings that apply to an answer, and their origins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from app.settings.values.fields import Settings
from app.settings.values.resolved import SettingLayers, resolve

SETTINGS = Settings(model="usual", temperature=0.5, top_k=10, system_prompt="Of the app.")
OWN: Mapping[str, Mapping[str, object]] = {
    "usual": {"top_k": 20},
    "other": {"top_k": 30, "min_p": 0.2},
}


def of_model(called: str) -> Mapping[str, object]:
    return OWN.get(called, {})


def test_without_layers_the_settings_and_the_models_own_hold() -> None:
    found = resolve(SETTINGS, of_model, SettingLayers({}, {}, {}))
    assert (found.settings.temperature, found.settings.top_k) == (0.5, 20)
    assert (found.source("temperature"), found.source("top_k")) == ("settings", "model")


def test_each_layer_has_the_last_word_over_those_before() -> None:
    layers = SettingLayers(
        assistant={"temperature": 1.0, "top_p": 0.1, "max_tokens": 5, "system_prompt": "A."},
        chat={"top_p": 0.2, "max_tokens": 6},
        message={"max_tokens": 7},
    )
    found = resolve(SETTINGS, of_model, layers)
    assert found.settings.temperature == 1.0
    assert found.settings.top_p == 0.2
    assert found.settings.max_tokens == 7
    assert found.settings.system_prompt == "A."
    sources = [found.source(it) for it in ("temperature", "top_p", "max_tokens", "top_k", "min_p")]
    assert sources == ["assistant", "chat", "message", "model", "settings"]


def test_a_chat_goes_without_the_adapter_of_its_assistant() -> None:
    settings = replace(SETTINGS, adapter="usual")
    found = resolve(settings, of_model, SettingLayers({"adapter": "law"}, {}, {}))
    assert (found.settings.adapter, found.source("adapter")) == ("law", "assistant")
    found = resolve(settings, of_model, SettingLayers({"adapter": "law"}, {"adapter": ""}, {}))
    assert (found.settings.adapter, found.source("adapter")) == ("", "chat")


def test_what_is_none_is_left_open() -> None:
    layers = SettingLayers({"temperature": 1.0}, {"temperature": None}, {"temperature": None})
    found = resolve(SETTINGS, of_model, layers)
    assert (found.settings.temperature, found.source("temperature")) == (1.0, "assistant")


def test_the_last_model_that_is_wanted_answers_with_its_own_settings() -> None:
    layers = SettingLayers({"model": "usual"}, {"model": "other"}, {"model": None})
    found = resolve(SETTINGS, of_model, layers)
    assert (found.settings.model, found.source("model")) == ("other", "chat")
    assert (found.settings.top_k, found.settings.min_p) == (30, 0.2)
    assert (
        resolve(SETTINGS, of_model, SettingLayers({}, {}, {"model": "usual"})).settings.top_k == 20
    )


def test_an_empty_system_prompt_that_was_asked_for_holds() -> None:
    found = resolve(SETTINGS, of_model, SettingLayers({}, {"system_prompt": ""}, {}))
    assert (found.settings.system_prompt, found.source("system_prompt")) == ("", "chat")
