"""Checks of settings that name devices, adapters, models and addresses."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.base.errors import SettingsInvalid
from app.settings.services import require_usable


def here() -> tuple[str, ...]:
    return ("CPU", "CUDA0", "CUDA1")


@pytest.mark.parametrize("value", ["", "  ", "CUDA0", "CUDA1, CUDA0", " CPU "])
def test_devices_that_there_are(value: str) -> None:
    require_usable("devices", value, here)


@pytest.mark.parametrize(
    "value", ["CUDA0,,CUDA1", ",", "CUDA0 CUDA1", "CUDA0;CUDA1", "CUDA0,CUDA0"]
)
def test_what_is_no_list_of_devices(value: str) -> None:
    with pytest.raises(SettingsInvalid, match="hearth hardware"):
        require_usable("devices", value)


def test_a_device_that_there_is_not() -> None:
    with pytest.raises(SettingsInvalid) as caught:
        require_usable("devices", "CUDA0, banana", here)
    assert caught.value.what == "There is no device “banana”."
    assert "CUDA1" in caught.value.why
    require_usable("devices", "CUDA7", tuple)  # if no devices can be listed, none is refused


def test_adapters_are_folders_that_hold_one(tmp_path: Path) -> None:
    require_usable("vllm_adapters", "\n")
    (tmp_path / "adapter_config.json").write_text("{}")
    require_usable("vllm_adapters", f"law = {tmp_path}\n\n")
    for silly in (f"law = {tmp_path / 'gone'}", "banana", f"= {tmp_path}", f"model = {tmp_path}"):
        with pytest.raises(SettingsInvalid) as caught:
            require_usable("vllm_adapters", silly)
        assert all((caught.value.what, caught.value.why, caught.value.do))


@pytest.mark.parametrize("value", ["", "   "])
def test_a_model_has_a_name(value: str) -> None:
    with pytest.raises(SettingsInvalid):
        require_usable("model", value)
    require_usable("model", "starter")


@pytest.mark.parametrize(
    "value", ["", "http://127.0.0.1:4318", "https://otel.example/v1/traces", " http://[::1]:4318 "]
)
def test_addresses_that_traces_can_go_to(value: str) -> None:
    require_usable("traces_endpoint", value)


@pytest.mark.parametrize(
    "value",
    ["collector:4318", "ftp://a", "http://", "http://a:x", "http://a?b=c", "http://me:word@a"],
)
def test_what_is_no_address_of_a_collector(value: str) -> None:
    with pytest.raises(SettingsInvalid, match="not the address of a collector"):
        require_usable("traces_endpoint", value)
