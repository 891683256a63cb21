"""`--help`: every option has a description, and one with a value names its default."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest

from app.cli.parser import build_parser
from tests.support.terminal import Hearth

_PLAIN = {"help", "version"}
_SAYS = ("default", "otherwise", "by itself", "without --chat", "several times", "only those")
"""Words that name the default, or say that there is none."""

_NEEDED = {"--try", "--off", "--chat", "--grammar", "--folder", "--quote"}
"""Options that request something; without them nothing is requested."""


def options(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for made in set(action.choices.values()):
                yield from options(made)
        elif action.dest not in _PLAIN and action.option_strings:
            yield parser.prog, action


def test_every_option_says_what_it_does() -> None:
    silent = {
        f"{where} {it.option_strings}" for where, it in options(build_parser()) if not it.help
    }
    assert silent == set()


def test_every_option_with_a_value_says_what_holds_without_it() -> None:
    unsaid = {
        f"{where} {it.option_strings[-1]}: {it.help}"
        for where, it in options(build_parser())
        if it.nargs != 0
        and it.option_strings[-1] not in _NEEDED
        and not any(words in (it.help or "") for words in _SAYS)
    }
    assert unsaid == set()


@pytest.mark.parametrize("command", [("ask", "Hello"), ("chat",), ("bench",)])
def test_no_name_is_no_model(
    hearth: Hearth, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    assert hearth(*command, "--model", " ") == 2
    assert "no model is named" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["model", "devices", "vllm_adapters"])
def test_silly_values_of_settings_are_refused(
    hearth: Hearth, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    silly = {"model": "", "devices": "banana,,", "vllm_adapters": "banana"}[name]
    assert hearth("settings", "set", name, silly) == 1
    assert capsys.readouterr().err
    assert hearth("settings", "get", name) == 0
    assert "banana" not in capsys.readouterr().out
