"""`hearth models edit`: printing and changing a file's metadata."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from app.base.shipped import STARTER
from engines.models.gguf.header import read_header
from tests.support.terminal import Hearth

TEMPLATE = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"


class Terminal:
    """A runner of `hearth models edit` on a model of the user's."""

    def __init__(self, hearth: Hearth, capsys: pytest.CaptureFixture[str], path: Path) -> None:
        self.hearth = hearth
        self.capsys = capsys
        self.path = path

    def says(self, *words: str, status: int = 0) -> Any:
        self.capsys.readouterr()
        assert self.hearth("models", "edit", "mine", *words, "--json") == status
        return json.loads(self.capsys.readouterr().out)

    def prints(self, *words: str, status: int = 0) -> str:
        self.capsys.readouterr()
        assert self.hearth("models", "edit", "mine", *words) == status
        return self.capsys.readouterr().out

    def refuses(self, *words: str, code: str, status: int = 1) -> None:
        before = self.path.read_bytes()
        assert self.says(*words, status=status)["error"]["code"] == code
        assert self.path.read_bytes() == before
        assert [it.name for it in self.path.parent.iterdir()] == [self.path.name]


@pytest.fixture
def terminal(hearth: Hearth, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Terminal:
    path = tmp_path / "models" / "mine.gguf"
    path.parent.mkdir()
    shutil.copy(STARTER, path)
    assert hearth("models", "import", str(path)) == 0
    return Terminal(hearth, capsys, path)


def test_what_a_file_says_is_printed(terminal: Terminal) -> None:
    header = read_header(STARTER)
    assert terminal.says() == {
        "name": header.name,
        "context": header.context_max,
        "template": header.chat_template,
        "in_place": True,
    }
    assert header.name in terminal.prints()
    assert terminal.prints("template") == f"{header.chat_template}\n"
    assert terminal.says("context") == {"name": "context", "value": header.context_max}


def test_the_file_itself_is_changed(terminal: Terminal) -> None:
    found = terminal.says("name", "Another", "--in-place", "--yes")
    assert (found["id"], found["changed"], found["copy"]) == ("mine", "name", False)
    assert found["path"] == str(terminal.path)
    terminal.says("context", "512", "--yes")
    header = read_header(terminal.path)
    assert (header.name, header.context_max) == ("Another", 512)


def test_a_copy_is_written(terminal: Terminal) -> None:
    found = terminal.says("template", TEMPLATE, "--copy", "Mended")
    assert (found["id"], found["copy"]) == ("mended", True)
    assert read_header(Path(found["path"])).chat_template == TEMPLATE
    assert terminal.path.read_bytes() == STARTER.read_bytes()


@pytest.mark.parametrize("way", ["@", "--file", "-"])
def test_a_template_comes_from_a_file_or_a_pipe(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    file = tmp_path / "template.jinja"
    file.write_text(TEMPLATE, encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.StringIO(TEMPLATE))
    words = {"@": [f"@{file}"], "--file": ["--file", str(file)], "-": ["-"]}[way]
    terminal.says("template", *words, "--yes")
    assert read_header(terminal.path).chat_template == TEMPLATE


def test_nobody_to_ask_is_an_error(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    terminal.refuses("name", "Another", code="not_asked")


class Keyboard(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "name"), [("y", "Another"), ("", None), ("n", None)])
def test_at_a_terminal_it_asks(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, typed: str, name: str | None
) -> None:
    before = read_header(STARTER).name
    monkeypatch.setattr(sys, "stdin", Keyboard(f"{typed}\n"))
    terminal.prints("name", "Another", "--in-place", status=0 if name else 1)
    assert read_header(terminal.path).name == (name or before)


@pytest.mark.parametrize(
    "words",
    [
        ("template", "x" * (10 << 20)),
        ("template", "{{ a }}\0"),
        ("template", " "),
        ("name", "two\nlines"),
        ("context", "0"),
        ("context", "99999999999999"),
    ],
)
def test_what_makes_no_sense_is_refused(terminal: Terminal, words: tuple[str, str]) -> None:
    terminal.refuses(*words, "--yes", code="metadata")


@pytest.mark.parametrize("template", ["{% for %}", "{{ raise_exception('no') }}", "says nothing"])
def test_a_template_that_does_not_work_is_not_written(terminal: Terminal, template: str) -> None:
    terminal.refuses("template", template, "--yes", code="template")


def test_words_that_do_not_fit(terminal: Terminal, tmp_path: Path) -> None:
    terminal.refuses("context", "many", "--yes", code="usage", status=2)
    terminal.refuses("tokens", "1", code="usage", status=2)
    terminal.refuses("name", "a", "--file", "b", code="usage", status=2)
    terminal.refuses("name", "a", "--copy", "b", "--in-place", code="usage", status=2)
    terminal.refuses("template", f"@{tmp_path / 'none'}", code="file_not_text")


def test_the_guide_is_left_alone(terminal: Terminal) -> None:
    assert terminal.hearth("models", "edit", "starter", "name", "Mine", "--yes") == 1
