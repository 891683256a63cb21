"""`hearth hardware`: the devices with their facts, and trying and excluding one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from app.base.folder import DataFolder
from app.runtime.services.device_trials import DeviceTrials
from app.wiring import devices as wiring_devices
from engines.errors import EngineUnavailable
from engines.hardware import NativeDevice
from engines.llamacpp.trial import Trials
from tests.support.terminal import Hearth

PROCESSOR = NativeDevice("CPU", "A processor", "CPU", "cpu", 1, 1)
CARD = NativeDevice("Vulkan0", "A card", "Vulkan", "gpu", 8 << 30, 7 << 30, "0000:01:00.0")


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Add a card whose trial ends with a text different from the processor's."""
    said = json.dumps({"result": {"expected": "a", "text": "b", "gap": None}})
    command = (sys.executable, "-c", f"print({said!r})")
    trials = Trials(tmp_path, tmp_path / "model.gguf", command)
    care = DeviceTrials(lambda: (PROCESSOR, CARD), trials)
    monkeypatch.setattr(wiring_devices, "device_trials", lambda *_: care)


def devices(hearth: Hearth, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert hearth("hardware", "--json", *words) == 0
    value = json.loads(capsys.readouterr().out)
    assert {gpu["device"] for gpu in value["gpus"] if gpu["backend"]} == {"Vulkan0"}
    return {device["name"]: device for device in value["devices"]}


@pytest.mark.usefixtures("says")
def test_a_device_with_its_memory_and_what_is_known_of_it(
    hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    found = devices(hearth, capsys)
    assert set(found) == {"CPU", "Vulkan0"}
    assert (found["CPU"]["ok"], found["CPU"]["backend"]) == (True, "CPU")
    card = found["Vulkan0"]
    assert (card["tried"], card["ok"], card["why_not"]) == (False, False, "")
    assert (card["total_bytes"], card["free_bytes"]) == (8 << 30, 7 << 30)


@pytest.mark.usefixtures("says")
def test_one_is_tried_again_and_one_is_switched_off(
    hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = devices(hearth, capsys, "--try", "Vulkan0")["Vulkan0"]
    assert (tried["tried"], tried["ok"], tried["state"]) == (True, False, "broken")
    assert "gives wrong results" in tried["why_not"]
    assert hearth("hardware") == 0
    assert "gives wrong results" in capsys.readouterr().out
    off = devices(hearth, capsys, "--off", "Vulkan0")["Vulkan0"]
    assert (off["state"], off["why_not"]) == ("off", "It was switched off by hand.")


@pytest.mark.usefixtures("says")
def test_a_device_that_is_not_there(hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth("hardware", "--try", "CUDA3") == 1
    assert "no graphics device “CUDA3”" in capsys.readouterr().err
    assert hearth("hardware", "--try", "a", "--off", "b") == 2


@pytest.mark.usefixtures("says")
def test_a_pack_that_is_not_used_is_told(
    hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    place = DataFolder.default().packs / "cuda"
    place.mkdir(parents=True)
    (place / "pack.json").write_text("{}")
    assert hearth("hardware", "--json") == 0
    (note,) = json.loads(capsys.readouterr().out)["notes"]
    assert note.startswith(f"The pack in {place} is not used: its pack.json cannot be read. Put ")


def test_a_library_that_does_not_load_is_not_called_ready(
    hearth: Hearth, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> tuple[NativeDevice, ...]:
        raise EngineUnavailable("It cannot start.", "It is another one.", "Run run.py.")

    care = DeviceTrials(fails, Trials(None, Path("model.gguf")))
    monkeypatch.setattr(wiring_devices, "device_trials", lambda *_: care)
    assert hearth("hardware") == 0
    (row,) = (it for it in capsys.readouterr().out.splitlines() if it.startswith("Engine llama"))
    assert row.endswith("It is another one.")
