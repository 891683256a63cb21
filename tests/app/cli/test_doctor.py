"""What the doctor says of an engine that was installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from app.cli.doctor import doctor
from app.cli.output import Output
from app.store.folder import DataFolder


def found(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    doctor(DataFolder(data_dir), Output(as_json=True))
    (vllm,) = (it for it in json.loads(capsys.readouterr().out) if it["check"] == "vLLM")
    return dict(vllm)


def install(data_dir: Path, name: str) -> Path:
    """An environment in use, as far as its papers go; the place of its Python."""
    home = data_dir / "engines" / "vllm"
    folder = home / "versions" / name
    (folder / "bin").mkdir(parents=True)
    (home / "current").write_text(name)
    (folder / "hearth.json").write_text('{"version": "0.33.0", "profile": "cpu"}')
    return folder / "bin" / "python"


def test_it_need_not_be_installed(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = found(data_dir, capsys)
    assert (said["state"], said["finding"]) == (
        "ok",
        "not installed, and needed for checkpoints only",
    )


def test_what_is_whole_is_named(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(data_dir, "x").symlink_to(sys.executable)
    assert found(data_dir, capsys)["finding"] == "0.33.0, for processors"


def test_what_has_lost_its_python_is_to_be_installed_again(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(data_dir, "x")
    said = found(data_dir, capsys)
    assert said["state"] == "failed"
    assert "engines install vllm" in said["fix"]


def test_what_is_half_removed_is_to_be_installed_again(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(data_dir, "x").parent.parent.joinpath("hearth.json").unlink()
    assert found(data_dir, capsys)["state"] == "failed"
