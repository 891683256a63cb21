"""`hearth models`: drafters, and reading headers only once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from app.base.shipped import STARTER, STARTER_DRAFTER
from engines.models.gguf import headers
from engines.models.gguf.header import read_header
from tests.engines.gguf_files import write_llama
from tests.support.terminal import Hearth


def test_a_drafter_makes_its_model_ready(
    hearth: Hearth, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, drafter, plain = (tmp_path / f"{name}.gguf" for name in ("mine", "helper", "plain"))
    shutil.copy(STARTER, model)
    write_llama(plain)
    for path in (model, plain):
        assert hearth("models", "import", str(path)) == 0
    shutil.copy(STARTER_DRAFTER, drafter)
    capsys.readouterr()
    assert hearth("models", "import", str(drafter), "--json") == 0
    assert "mine" in json.loads(capsys.readouterr().out)["drafts_for"]
    assert hearth("models", "list", "--json") == 0
    listed = {entry["id"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert set(listed) == {"starter", "mine", "plain"}, "a drafter is nothing to chat with"
    assert listed["starter"]["mtp"] == {"kind": "drafter", "ready": True}
    assert listed["mine"]["mtp"] == {"kind": "drafter", "ready": True}
    assert listed["mine"]["files"] == ["mine.gguf", "helper.gguf"]
    assert listed["plain"]["mtp"] == {"kind": "none", "ready": False}
    assert hearth("models", "fit", "mine", "--json") == 0
    assert json.loads(capsys.readouterr().out)["parts"]["drafter"] > 0
    assert hearth("models", "list") == 0
    assert "a drafter: helper" in capsys.readouterr().out
    drafter.unlink()
    assert hearth("models", "list") == 0
    assert "a drafter: “helper.gguf” was not found." in capsys.readouterr().out
    shutil.copy(STARTER_DRAFTER, drafter)
    assert hearth("models", "rm", "helper") == 0


def test_a_second_list_reads_no_whole_header(
    hearth: Hearth,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads: list[Path] = []

    def noted(path: Path) -> object:
        reads.append(path)
        return read_header(path)

    model, drafter = tmp_path / "mine.gguf", tmp_path / "helper.gguf"
    shutil.copy(STARTER, model)
    shutil.copy(STARTER_DRAFTER, drafter)
    assert hearth("models", "import", str(model)) == 0
    monkeypatch.setattr(headers, "read_header", noted)
    capsys.readouterr()
    assert hearth("models", "list", "--json") == 0
    first = capsys.readouterr().out
    assert reads
    reads.clear()
    assert hearth("models", "list", "--json") == 0
    assert capsys.readouterr().out == first
    assert reads == []
