"""`hearth chats export` and `hearth chats import` in the terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pypdf
import pytest

from app.cli.main import main
from tests.support.foreign_chats import chatgpt_chat, write_ollama


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    assert main(["chats", *words]) == status
    return capsys.readouterr().out


def value(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> Any:
    return json.loads(said(capsys, *words, "--json", status=status))


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([chatgpt_chat("a", "One"), chatgpt_chat("b", "Two")]))
    return path


def test_an_import_is_tried_made_and_not_made_twice(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = said(capsys, "import", str(export), "--dry-run")
    assert "Can be imported: 2 chats with 8 messages from ChatGPT." in tried
    assert value(capsys, "list") == []
    ollama = write_ollama(tmp_path / "db.sqlite")
    done = value(capsys, "import", str(export), str(ollama), str(tmp_path / "gone"))
    assert done["imported"] == 3
    assert [it["new"] for it in done["files"]] == [2, 1, 0]
    assert done["files"][2]["not_read"][0]["what"] == "gone"
    assert len(value(capsys, "list")) == 3
    again = value(capsys, "import", str(export))
    assert (again["imported"], again["files"][0]["here"]) == (0, 2)


# A process has only one Qt application; the window tests need one with more than a PDF does.
@pytest.mark.usefixtures("qapp")
def test_chats_are_exported_one_several_or_a_folder(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "import", str(export))
    ids = [chat["id"] for chat in value(capsys, "list")]
    assert said(capsys, "export", ids[0]).startswith("# ")
    assert "Rye." not in said(capsys, "export", ids[0])
    assert "Rye." in said(capsys, "export", ids[0], "--branches")
    assert "Flour and water." in said(capsys, "export", ids[0], "--reasoning")
    assert value(capsys, "export", ids[0])["markdown"].startswith("# ")
    one = json.loads(said(capsys, "export", ids[0], "--format", "json"))
    assert (len(one["messages"]), one["folder"]) == (4, "Imported from ChatGPT")
    into = tmp_path / "out"
    folder = ("--folder", "imported from chatgpt")
    written = value(capsys, "export", *folder, "--format", "html", "--output", str(into))
    assert sorted(Path(it).name for it in written["written"]) == ["One.html", "Two.html"]
    pdf = into / "all.pdf"
    said(capsys, "export", *ids, "--format", "pdf", "--output", str(pdf))
    assert len(pypdf.PdfReader(pdf).pages) == 2
    error = value(capsys, "export", "--folder", "none", status=1)["error"]
    assert error["code"] == "chat_not_found"
    blocked = into / "One.html" / "x.md"
    assert value(capsys, "export", ids[0], "--output", str(blocked), status=1)["error"]["do"]


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_an_import_in_which_nothing_could_be_read_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], dry: list[str]
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("No chats.", encoding="utf-8")
    torn = tmp_path / "torn.json"
    torn.write_text('[{"mapping": ', encoding="utf-8")
    named = [str(notes), str(torn), str(tmp_path / "gone"), str(tmp_path / "away")]
    assert main(["--json", "chats", "import", *named, *dry]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "nothing_imported"
    assert "notes.txt: It contains no chats" in error["why"]
    assert "torn.json: It is damaged" in error["why"]
    assert "gone: The system says" in error["why"]
    assert "away: The system says" in error["why"]
    assert main(["chats", "import", *named, *dry]) == 1
    printed = capsys.readouterr()
    assert not printed.out
    assert "No chat was read." in printed.err


def test_an_import_of_which_something_could_be_read_is_none(
    tmp_path: Path, export: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = value(capsys, "import", str(export), str(tmp_path / "gone"))
    assert done["imported"] == 2
    assert done["files"][1]["not_read"]
