"""`hearth recommend`, on this computer and on a described one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import main
from app.wiring import devices
from engines.hardware import bandwidth as module
from tests.hub.testhub import TestHub
from tests.support.machines import MACHINES, with_card
from tests.support.terminal import Hearth


@pytest.fixture(autouse=True)
def described(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = with_card(12, 360, ())
    monkeypatch.setattr(devices, "hardware_detector", lambda *_, **__: lambda: machine.hardware)
    monkeypatch.setattr(module, "memory_rates", lambda _: {"Card": 36e10})


def test_a_person_reads_three_models_with_the_sum(
    hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("recommend") == 0
    text = capsys.readouterr().out
    assert "Suggested: Gemma 4 12B, Q4_0" in text
    assert "Faster: " in text
    assert "weights 7.0 GB + context of 8,192 tokens" in text
    assert "of 11.8 GB free; 536.9 MB are in use (fits)" in text
    assert "hearth models pull google/gemma-4-12B-it-qat-q4_0-gguf:Q4_0" in text
    assert "apache-2.0" in text


def test_the_sentence_and_the_row_tell_the_same_speed(
    hearth: Hearth, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = next(it for it in MACHINES if "nothing is known" in it.name)
    monkeypatch.setattr(devices, "hardware_detector", lambda *_, **__: lambda: machine.hardware)
    monkeypatch.setattr(module, "memory_rates", lambda _: {})
    assert hearth("recommend") == 0
    suggested = capsys.readouterr().out.split("\n\n")[0]
    words = re.findall(r"(?:at least|about) [\d.]+ tokens a second", suggested)
    assert len(words) == 2
    assert words[0] == words[1]
    assert words[0].startswith("at least")


def test_json_has_the_same(hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth("recommend", "--json") == 0
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    default = value["default"]
    assert default["need"] == sum(default["parts"].values())
    assert default["command"].endswith(f"{default['repo']}:{default['variant']}")
    assert default["speed"]["low"] < default["speed"]["tokens_per_s"] < default["speed"]["high"]
    assert {"faster", "smarter", "note"} < value.keys()


def test_a_wrong_file_of_ones_own_is_an_error_in_three_parts(
    hearth: Hearth, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data_dir.mkdir()
    (data_dir / "catalogue.json").write_text('{"version": 1, "familys": []}', encoding="utf-8")
    assert hearth("recommend", "--json") == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "catalogue"
    assert "familys" in error["why"]


def test_refresh_asks_the_hub_and_says_what_is_missing(
    hub: TestHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    repo = "google/gemma-4-12B-it-qat-q4_0-gguf"
    hub.add(repo, {"gemma-4-12b-it-qat-q4_0.gguf": b"G" * 1000})
    assert main(["recommend", "--refresh"]) == 0
    shown = capsys.readouterr()
    assert "could not be refreshed" in shown.err
    assert f"{repo} could not" not in shown.err
    assert "weights 1.0 kB" in shown.out
