"""`hearth engines`: the list, the costs named beforehand, and the effect of each command."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.net import Gate
from app.runtime.services.installer import EngineInstaller
from app.wiring import installer
from tests.support.engine_making import HERE, PYTHON, care_of
from tests.support.package_index import PackageIndex, lock_of, made_vllm
from tests.support.terminal import Hearth

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux")


@pytest.fixture
def index() -> Iterator[PackageIndex]:
    index = PackageIndex(wheels=list(made_vllm("1.0")))
    yield index
    index.close()


@pytest.fixture
def care(
    index: PackageIndex, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[EngineInstaller]:
    """Give the commands an installer with an index on this computer."""
    gate = Gate(lambda _: None, lambda: True)
    root = data_dir / "engines" / "vllm"
    care = care_of(root, lambda: lock_of(index.wheels, PYTHON), gate, [index.url])
    monkeypatch.setattr(installer, "engine_installer", lambda *_: care)
    yield care
    gate.close()


def listed(hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    capsys.readouterr()
    assert hearth("engines", "list", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["name"] for row in rows} == {"llamacpp", "vllm", "remote"}
    return next(row for row in rows if row["name"] == "vllm")


def test_the_whole_way(
    hearth: Hearth, care: EngineInstaller, index: PackageIndex, capsys: pytest.CaptureFixture[str]
) -> None:
    row = listed(hearth, capsys)
    assert (row["available"], row["version"]) == (False, None)
    assert "install" in str(row["why_not"])

    assert hearth("engines", "install", "vllm", "--profile", "cpu", "--yes") == 0
    said = capsys.readouterr()
    assert "vLLM 1.0 is installed" in said.out
    assert "ok    glibc 2.36" in said.err
    assert "This downloads" in said.err
    assert "package indexes" in said.err
    assert "download: " in said.err

    index.wheels = list(made_vllm("2.0"))
    assert hearth("engines", "install", "vllm", "--profile", "cpu", "--yes", "--json") == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["version"], value["profile"]) == ("2.0", "cpu")
    row = listed(hearth, capsys)
    assert (row["available"], row["version"], row["previous"]) == (True, "2.0", "1.0")
    assert row["why_not"] is None

    assert hearth("engines", "rollback", "vllm") == 0
    assert "vLLM 1.0 is in use again" in capsys.readouterr().out
    assert hearth("engines", "remove", "vllm") == 0
    assert listed(hearth, capsys)["version"] is None


def test_nothing_starts_before_somebody_agrees(
    hearth: Hearth,
    care: EngineInstaller,
    index: PackageIndex,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert hearth("engines", "install", "vllm", "--profile", "cpu") == 1
    assert "--yes" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", _Terminal("n\n"))
    assert hearth("engines", "install", "vllm", "--profile", "cpu") == 1
    assert "Nothing was changed" in capsys.readouterr().err
    assert not index.requests
    monkeypatch.setattr(sys, "stdin", _Terminal("y\n"))
    assert hearth("engines", "install", "vllm", "--profile", "cpu") == 0
    assert index.requests


class _Terminal:
    """A terminal at which somebody types one line."""

    def __init__(self, line: str) -> None:
        self._line = line

    def isatty(self) -> bool:
        return True

    def readline(self, _most: int = -1) -> str:
        return self._line


def test_what_forbids_it_ends_the_command(
    hearth: Hearth,
    index: PackageIndex,
    data_dir: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = Gate(lambda _: None, lambda: True)
    facts = replace(HERE, pythons=())
    care = care_of(
        data_dir, lambda: lock_of(index.wheels, PYTHON), gate, [index.url], lambda: facts
    )
    monkeypatch.setattr(installer, "engine_installer", lambda *_: care)
    assert hearth("engines", "install", "vllm", "--profile", "cpu", "--yes", "--json") == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "engine_hindered"
    assert "Python" in error["what"]
    assert not index.requests
    gate.close()


def test_without_a_card_no_price_is_said_but_the_build_for_processors_is_named(
    hearth: Hearth,
    index: PackageIndex,
    data_dir: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = Gate(lambda _: None, lambda: True)
    made = lock_of(index.wheels, PYTHON)
    of_cards = replace(made, profile="cuda")
    care = care_of(data_dir, lambda: made, gate, [index.url], of_cards=of_cards)
    monkeypatch.setattr(installer, "engine_installer", lambda *_: care)
    assert hearth("engines", "install", "vllm", "--yes") == 1
    said = capsys.readouterr().err
    assert "No NVIDIA card" in said
    assert "--profile cpu" in said
    assert "This downloads" not in said
    gate.close()


@pytest.mark.parametrize("verb", ["install", "rollback", "remove"])
def test_other_engines_are_not_installed(
    hearth: Hearth, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("engines", verb, "llamacpp") == 1
    assert "comes with Hearth" in capsys.readouterr().err


def test_use_sets_the_setting(hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth("engines", "use", "llamacpp") == 0
    assert capsys.readouterr().out.strip() == "Engine: llamacpp"
    hearth("settings", "get", "engine")
    assert capsys.readouterr().out.strip() == "llamacpp"
    assert hearth("engines", "use", "vllm") == 1
    assert "engines install vllm" in capsys.readouterr().err
