"""`hearth doctor`: its findings on installed engines, settings, files and permissions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from app.base.folder import DataFolder
from app.base.reports import as_user_error, save_report
from app.cli.doctor import doctor
from app.kit.terminal.output import Output
from tests.support.paths import ROOT
from tests.support.unfit_llama import UNFIT, unfit_llama


def found(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    doctor(DataFolder(data_dir), Output(as_json=True))
    (vllm,) = (it for it in json.loads(capsys.readouterr().out) if it["check"] == "vLLM")
    return dict(vllm)


def test_what_others_may_read_is_told(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def privacy() -> dict[str, Any]:
        doctor(DataFolder(data_dir), Output(as_json=True))
        found = json.loads(capsys.readouterr().out)
        return dict(next(it for it in found if it["check"] == "privacy"))

    data_dir.mkdir(mode=0o755)
    (data_dir / "costs.json").touch(mode=0o644)
    assert privacy()["state"] == "ok", "it is mended by looking"
    if os.name == "nt" or os.geteuid() != 0:
        pytest.skip("only root gives files away")
    (data_dir / "logs" / "theirs").touch()
    os.chown(data_dir / "logs" / "theirs", 12345, 12345)
    said = privacy()
    assert said["state"] == "warning"
    assert str(data_dir / "logs" / "theirs") in said["finding"]
    assert said["fix"]


def install(data_dir: Path, name: str) -> Path:
    """Make the files that mark an environment as in use, and return the path of its Python."""
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
        "not installed; only checkpoints need it",
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


def all_found(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    doctor(DataFolder(data_dir), Output(as_json=True))
    return {it["check"]: it for it in json.loads(capsys.readouterr().out)}


CHECKS = 11


@pytest.mark.parametrize("what", ["loop", "file", "below a file", "name too long"])
def test_a_data_folder_that_cannot_be_read_is_a_finding_beside_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    place = tmp_path / ("n" * 300 if what == "name too long" else "place")
    if what == "loop":
        place.symlink_to("place")
    elif what != "name too long":
        place.touch()
    found = all_found(place / "below" if what == "below a file" else place, capsys)
    assert len(found) == CHECKS
    assert found["data folder"]["state"] == "failed"
    assert found["starter model"]["state"] == "ok"
    assert all(it["fix"] for it in found.values() if it["state"] == "failed")


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied", "/x"), KeyError("x")])
def test_whatever_a_check_meets_the_others_go_on(
    data_dir: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    def refused(*_: object) -> None:
        raise error

    monkeypatch.setattr(shutil, "disk_usage", refused)
    found = all_found(data_dir, capsys)
    assert len(found) == CHECKS
    assert found["disk"]["state"] == "failed"
    assert found["memory"]["state"] in {"ok", "warning"}


def test_settings_that_are_damaged_are_a_finding(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data_dir.mkdir()
    (data_dir / "settings.json").write_text('{"theme": "pink", "colour": 1}')
    said = all_found(data_dir, capsys)["settings"]
    assert said["state"] == "warning"
    assert "theme" in said["finding"]
    assert "colour" in said["finding"]


@pytest.mark.parametrize("blocked", [False, True])
def test_a_report_is_its_owners_alone_and_nobody_foresees_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocked: bool
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    folder = DataFolder(tmp_path / "data")
    if blocked:
        folder.root.touch()
    umask = os.umask(0)
    try:
        made = {save_report(ValueError("x"), folder) for _ in range(3)}
    finally:
        os.umask(umask)
    assert len(made) == 3
    for path in made:
        assert path.parent == (temporary if blocked else folder.logs)
        assert "ValueError" in path.read_text()
        assert path.stat().st_mode & 0o777 == 0o600 or os.name == "nt"


def test_where_no_report_can_be_kept_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    said = as_user_error(ValueError("x"), DataFolder(tmp_path / "data"))
    assert "no report could be saved" in said.do
    assert "report" not in as_user_error(MemoryError(), DataFolder(tmp_path / "data")).do


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("absent", "Its library is not installed"),
        ("asks for more", "the installed library differs"),
        ("cut off", "the process that loaded its library ended"),
    ],
)
def test_a_llama_cpp_that_does_not_fit_is_one_line_among_the_others(
    how: str, said: str, data_dir: Path, tmp_path: Path
) -> None:
    if how not in UNFIT:
        pytest.skip("compiled code is changed on Linux only")
    ended = subprocess.run(
        [sys.executable, "-m", "app", "--json", "doctor"],
        env=os.environ
        | {"PYTHONPATH": unfit_llama(tmp_path, how), "HEARTH_DATA_DIR": str(data_dir)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ended.returncode == 1, ended.stderr
    found = {it["check"]: it for it in json.loads(ended.stdout)}
    (llama,) = (it for name, it in found.items() if name.startswith("llama"))
    assert llama["state"] == "failed"
    assert said in llama["finding"]
    assert "run.py" in llama["fix"]
    assert {name for name, it in found.items() if it["state"] == "failed"} == {llama["check"]}
