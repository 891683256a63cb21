"""The list of devices, and trying and excluding them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from app.base.shipped import STARTER
from app.models.library.services.fitting import Fitting
from app.models.library.values.entry import ModelEntry
from app.runtime.services.device_trials import DeviceTrials
from app.runtime.services.loaders import LlamaLoader
from app.wiring.devices import hardware_detector
from engines.cancel import CancelToken
from engines.errors import EngineFailed, EngineUnavailable
from engines.hardware import NativeDevice
from engines.llamacpp.trial import Trials
from engines.memory.load_options import LoadOptions
from tests.support.scripted import ScriptedEngine

GB = 1 << 30
PROCESSOR = NativeDevice("CPU", "A processor", "CPU", "cpu", 1, 1)
CARD = NativeDevice("Vulkan0", "A card", "Vulkan", "gpu", 8 * GB, 7 * GB, "0000:01:00.0")
OTHER = replace(CARD, name="Vulkan1", description="Another card", pci_id="0000:02:00.0")


def care(
    folder: Path, text: str = "a", devices: Sequence[NativeDevice] = (PROCESSOR, CARD, OTHER)
) -> DeviceTrials:
    """Return device trials whose process reports this text where the processor wrote "a"."""
    said = json.dumps({"result": {"expected": "a", "text": text, "gap": None}})
    command = (sys.executable, "-c", f"print({said!r})")
    return DeviceTrials(lambda: devices, Trials(folder, folder / "model.gguf", command))


def states(cares: DeviceTrials) -> dict[str, str]:
    return {it.name: it.state for it in cares.list()}


def test_the_processor_needs_no_trial_and_has_the_memory_that_is_free(tmp_path: Path) -> None:
    processor, card, _ = care(tmp_path).list()
    assert (processor.state, processor.tried, processor.ok) == ("works", True, True)
    assert processor.total_bytes > processor.free_bytes > GB
    assert (card.state, card.tried, card.ok) == ("untried", False, False)
    assert (card.total_bytes, card.free_bytes) == (8 * GB, 7 * GB)


def test_only_those_that_are_wanted_are_tried(tmp_path: Path) -> None:
    cares = care(tmp_path)
    cares.ready(["Vulkan1"], CancelToken())
    assert states(cares) == {"CPU": "works", "Vulkan0": "untried", "Vulkan1": "works"}
    cares.ready((), CancelToken())
    assert states(cares)["Vulkan0"] == "works"


def test_what_computes_wrongly_is_out_until_it_is_tried_again(tmp_path: Path) -> None:
    wrong = care(tmp_path, "b")
    wrong.ready((), CancelToken())
    assert states(wrong)["Vulkan0"] == "broken"
    assert "gives wrong results" in wrong.list()[1].why_not
    assert all(it.why_not for it in wrong.judged()[1:])
    assert len(wrong.complaints()) == 2
    mended = care(tmp_path)
    assert mended.try_again("Vulkan0", CancelToken()).ok
    assert states(mended) == {"CPU": "works", "Vulkan0": "works", "Vulkan1": "broken"}


def test_the_user_can_leave_one_out(tmp_path: Path) -> None:
    cares = care(tmp_path)
    assert cares.switch_off("Vulkan0").state == "off"
    cares.ready((), CancelToken())
    assert states(cares)["Vulkan0"] == "off"
    hardware = hardware_detector(cares, loads_llama=False)()
    usable = {gpu.device: gpu.usable for gpu in hardware.gpus if gpu.device}
    assert usable == {"Vulkan0": False, "Vulkan1": True}


@pytest.mark.parametrize("name", ["CPU", "Vulkan7"])
def test_a_name_that_is_no_card_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(EngineFailed, match=f"no graphics device “{name}”"):
        care(tmp_path).switch_off(name)


def test_where_nothing_can_be_seen_models_run_on_the_processor(tmp_path: Path) -> None:
    def blind() -> tuple[NativeDevice, ...]:
        raise EngineUnavailable("It failed.", "The process ended with code -11.", "Wait.")

    cares = DeviceTrials(blind, Trials(tmp_path, tmp_path / "model.gguf"))
    cares.ready((), CancelToken())
    hardware = hardware_detector(cares, loads_llama=False)()
    assert not any(gpu.usable for gpu in hardware.gpus)
    assert "code -11" in hardware.notes[-1]
    assert cares.complaints() == (hardware.notes[-1],)


@pytest.mark.parametrize(
    ("layers", "tried"), [(None, [("Vulkan1",)]), (3, [("Vulkan1",)]), (0, [])]
)
def test_devices_are_tried_before_a_load_is_planned_for_them(
    layers: int | None, tried: list[tuple[str, ...]]
) -> None:
    class Planned(Exception):
        pass

    def judge(*_: object, **__: object) -> None:
        raise Planned

    ready: list[tuple[str, ...]] = []
    loads = LlamaLoader(
        ScriptedEngine,
        lambda: cast(Fitting, SimpleNamespace(judge=judge)),
        ready=lambda devices, _cancel: ready.append(devices),
    )
    load = loads.open(ModelEntry("starter", "Starter", STARTER))
    with pytest.raises(Planned):
        load.plan(LoadOptions(devices=("Vulkan1",), gpu_layers=layers), CancelToken())
    assert ready == tried
