"""`hearth help`: the guides in the terminal."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from app.base.shipped import GUIDES
from app.cli.parser import build_parser
from app.help.commands.help import lay_out
from app.help.services.guides import Guides
from app.markdown.parser import Parser
from tests.support.terminal import Hearth

TOPICS = [guide.topic for guide in Guides(GUIDES).all]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def at_terminal(
    hearth: Hearth, monkeypatch: pytest.MonkeyPatch, *words: str, **environment: str
) -> str:
    """Return the output of `hearth` at a terminal."""
    shown = Terminal()
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {"TERM": "xterm", **environment}.items():
        monkeypatch.setenv(name, value)
    assert hearth(*words) == 0
    return shown.getvalue()


def test_without_a_topic_the_guides_are_listed(
    hearth: Hearth, capsys: pytest.CaptureFixture[str], data_dir: Path
) -> None:
    assert hearth("help") == 0
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines()[: len(TOPICS)]] == TOPICS
    assert hearth("help", "--json") == 0
    assert [it["topic"] for it in json.loads(capsys.readouterr().out)] == TOPICS
    assert not data_dir.exists(), "reading a guide makes no data folder"


@pytest.mark.parametrize("columns", [24, 60, 200])
@pytest.mark.parametrize("topic", TOPICS)
def test_a_guide_is_as_wide_as_the_terminal_and_holds_no_markup(
    hearth: Hearth,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    topic: str,
    columns: int,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert hearth("help", topic) == 0
    lines = capsys.readouterr().out.splitlines()
    assert set(lines[1]) == {"="}
    prose = [line for line in lines if not line.startswith("    ")]
    # Lines with a long word and tables with many columns may be wider.
    assert columns == 24 or max(map(len, prose)) <= min(columns, 100)
    assert not any(line.startswith(("#", "| ", "```", "![")) for line in prose)
    assert "**" not in "".join(prose)


def test_a_guide_is_one_json_value(hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth("help", "Privacy", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["topic"], found["title"]) == ("privacy", "Privacy")
    assert found["text"].startswith("# Privacy\n")


def test_a_topic_that_is_none_is_refused_with_those_that_are(
    hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("help", "nonsense", "--json") == 1
    shown = capsys.readouterr()
    error = json.loads(shown.out)["error"]
    assert error["code"] == "guide_not_found"
    assert "“nonsense”" in error["what"]
    assert "first-steps, models" in error["do"]
    assert shown.err.count("\n") == 1


def test_headings_are_bold_at_a_terminal(hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = at_terminal(hearth, monkeypatch, "help", "privacy")
    assert shown.startswith("\x1b[1mPrivacy\x1b[0m\n\n")


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_wants_plain_text_gets_it(
    hearth: Hearth, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    shown = at_terminal(hearth, monkeypatch, "help", "privacy", **{name: value})
    assert shown.startswith("Privacy\n=======\n")
    assert "\x1b" not in shown


def test_every_kind_of_block_is_laid_out() -> None:
    text = (
        "A [guide](models.md), a [page](https://example.org) and `code`,\n"
        "over two lines.\n\n- one\n- two words\n  that go on\n  - deeper\n\n1. first\n\n> said\n\n"
        "```\nx = 1\n```\n\n| a | b |\n|---|---|\n| `c` | some words in a cell |\n\n---\n"
    )
    shown = lay_out(Parser(document=True).parse(text), 28, bold=False)
    assert shown == (
        "A guide (`hearth help\nmodels`), a page\n(https://example.org) and\n"
        "`code`, over two lines.\n\n• one\n• two words that go on\n  ◦ deeper\n\n1. first\n\n"
        "> said\n\n    x = 1\n\na  b\n-  --------------------\nc  some words in a cell\n\n"
        "----------------------------"
    )


def test_the_list_of_commands_leads_to_the_guides() -> None:
    assert "the guides" in build_parser().format_help()
