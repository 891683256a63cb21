"""Building only the needed commands of the command line, with the same result as building all."""

from __future__ import annotations

import subprocess
import sys
from pkgutil import resolve_name

import pytest

from app.cli.parser import COMMANDS, build_parser
from tests.support.paths import ROOT

_LOADED = """
import sys
from app.cli.parser import build_parser
build_parser(sys.argv[1:])
print(*sorted(name for name in sys.modules if ".commands" in name or name.startswith("app.cli.")))
"""


def loaded(*words: str) -> set[str]:
    """Return the terminal modules that a parser for these words loads."""
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_each_is_found_under_its_own_name(name: str) -> None:
    assert resolve_name(COMMANDS[name]).name == name


@pytest.mark.parametrize(
    "line",
    [
        "--data-dir ask models list",
        "--offline --json chats list",
        "ask models --data-dir chats",
        "--quiet settings get offline --json",
        "--data-dir=ask help models",
        "--data chats doctor",
        "--quick-ask",
        "",
    ],
)
def test_it_means_the_same_as_with_all_commands(line: str) -> None:
    words = line.split()
    assert vars(build_parser(words).parse_args(words)) == vars(build_parser().parse_args(words))


def test_other_commands_are_not_loaded() -> None:
    doctor, ask = "app.cli.doctor", "app.chats.commands.ask"
    assert doctor in loaded("doctor")
    assert ask not in loaded("--data-dir", "ask", "doctor")
    assert not {doctor, ask} & loaded("--version")
    assert {doctor, ask} <= loaded("--help")
    assert {doctor, ask} <= loaded("nonsense"), "the message names what there is"
