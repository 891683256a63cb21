"""Requests that are refused before a worker is started for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engines.errors import AdapterUnknown
from engines.types import Adapter, VllmOptions
from engines.vllm.preparing import NO_SOUND_DECODER, prepare
from engines.vllm.provision.home import Installed
from tests.engines.checkpoint_files import write_checkpoint
from tests.engines.vllm.faked import MACHINE, PLAN

INSTALLED = Installed("0.32.0", "cpu", Path("/env"))


@pytest.mark.parametrize(
    ("told", "word"),
    [
        (None, "No such file"),
        ("{", "damaged"),
        ("[]", "damaged"),
        ('{"r": "many"}', "damaged"),
        ('{"r": 0}', "rank is 0"),
        ("[" * 100_000, "damaged"),
    ],
)
def test_an_adapter_that_is_none_starts_nothing(
    tmp_path: Path, told: str | None, word: str
) -> None:
    if told is not None:
        (tmp_path / "adapter_config.json").write_text(told)
    plan = replace(PLAN, adapters=(Adapter("law", tmp_path),))
    with pytest.raises(AdapterUnknown, match="law") as caught:
        prepare(plan, INSTALLED, MACHINE)
    assert word in caught.value.why
    assert caught.value.action is not None
    assert caught.value.action.kind == "open_settings"


QUERY = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"


def test_an_adapter_as_it_should_be_is_taken(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, {}, {QUERY: [8, 192]}, name="adapter_model.safetensors")
    (tmp_path / "adapter_config.json").write_text('{"r": 8}')
    plan = replace(PLAN, adapters=(Adapter("law", tmp_path),))
    assert prepare(plan, INSTALLED, MACHINE).plan.adapters == plan.adapters


def test_an_adapter_for_another_model_starts_nothing(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, {}, {QUERY: [8, 4096]}, name="adapter_model.safetensors")
    (tmp_path / "adapter_config.json").write_text('{"r": 8}')
    plan = replace(PLAN, adapters=(Adapter("law", tmp_path),))
    with pytest.raises(AdapterUnknown) as caught:
        prepare(plan, INSTALLED, MACHINE)
    assert "of width 4,096" in caught.value.why
    assert "192" in caught.value.why


def test_an_older_environment_is_sent_no_sounds_and_that_is_said() -> None:
    plan = replace(PLAN, options=VllmOptions(sounds=True))
    deaf = prepare(plan, INSTALLED, MACHINE)
    assert (deaf.plan.options.sounds, deaf.notes) == (False, (NO_SOUND_DECODER,))
    hears = prepare(plan, replace(INSTALLED, hears=True), MACHINE)
    assert (hears.plan, hears.notes) == (plan, ())
    assert prepare(PLAN, INSTALLED, MACHINE).notes == ()
