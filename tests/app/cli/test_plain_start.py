"""Starting the window without building the whole command line."""

from __future__ import annotations

import argparse
import gc
import sys

import pytest

from app.cli import main as cli_main
from app.cli.main import main, parse_plain_start
from app.cli.parser import build_parser


@pytest.mark.parametrize(
    "words", [[], ["--offline"], ["--data-dir", "a b"], ["--offline", "--data-dir", "x"]]
)
def test_it_makes_the_same_of_them(words: list[str]) -> None:
    alone = parse_plain_start(words)
    assert alone is not None
    parsed = build_parser().parse_args(words)
    assert alone.data_dir == getattr(parsed, "data_dir", None)
    assert alone.offline == getattr(parsed, "offline", False)
    assert (parsed.command, parsed.quick_ask) == (None, False)


@pytest.mark.parametrize(
    "words", [["ask"], ["--json"], ["--data-dir"], ["--data-dir", "--offline"]]
)
def test_all_else_is_left_to_the_parser(words: list[str]) -> None:
    assert parse_plain_start(words) is None


@pytest.mark.parametrize("words", [[], ["--quick-ask"]])
def test_where_no_window_can_be_made_the_terminal_takes_over_and_says_why(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli_main, "has_display", lambda: True)
    monkeypatch.delattr("app.start.window", raising=False)
    monkeypatch.setitem(sys.modules, "app.start.window", None)
    taken: list[str | None] = []

    def in_terminal(args: argparse.Namespace, *_: object) -> int:
        taken.append(args.command)
        return 0

    monkeypatch.setattr(cli_main, "run_in_terminal", in_terminal)
    assert main(words) == 0
    assert taken == [None]
    assert capsys.readouterr().err.count("The window cannot open (") == 1
    assert gc.isenabled()
