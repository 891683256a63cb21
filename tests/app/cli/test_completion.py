"""`hearth completion`: what the shells make of its scripts, and the manual's page."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.described import described
from app.cli.main import main
from app.cli.parser import COMMANDS, build_parser
from tests.app.models.library.services.places.layouts import some_model
from tests.support.paths import ROOT

BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
compopt() { :; }
_hearth
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
source =(sed '$d' "$1"); shift
words=("$@"); CURRENT=$#
_describe() { print -rl -- ${(P)@[-1]}; }
compadd() { shift; print -rl -- "$@"; }
_files() { print -r -- "(files $*)"; }
_message() { print -r -- "($1)"; }
_hearth
"""


def needs(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str], request: object) -> Path:
    """A folder with what `hearth completion` prints for each shell."""
    for name in ("bash", "zsh", "fish", "man"):
        assert main(["completion", name]) == 0
        (tmp_path / name).write_text(capsys.readouterr().out, encoding="utf-8")
    return tmp_path


def bash(script: Path, *words: str, called: str = "hearth") -> list[str]:
    command = [needs("bash"), "-c", BASH, "bash", str(script / "bash"), called, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def zsh(script: Path, *words: str, called: str = "hearth") -> list[str]:
    command = [needs("zsh"), "-f", "-c", ZSH, "zsh", str(script / "zsh"), called, *words]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not said.stderr
    return said.stdout.splitlines()


def fish(script: Path, line: str) -> list[str]:
    order = f"source {script / 'fish'}; complete -C '{line}'"
    said = subprocess.run(
        [needs("fish"), "--no-config", "-c", order], capture_output=True, text=True, check=True
    )
    assert not said.stderr
    return [it.partition("\t")[0] for it in said.stdout.splitlines()]


def test_all_commands_are_described() -> None:
    program = described(build_parser())
    assert [it.words for it in program.below] == [(name,) for name in COMMANDS]
    verbs = {it.words for it in program.walk()}
    assert ("models", "list") in verbs
    assert ("settings", "get") in verbs


def test_bash_completes_commands_verbs_and_options(script: Path) -> None:
    assert set(COMMANDS) <= set(bash(script, ""))
    assert bash(script, "mod") == ["models"]
    assert "list" in bash(script, "models", "")
    assert "list" in bash(script, "--offline", "models", "l")
    assert "--model" in bash(script, "ask", "--mod")
    assert bash(script, "ask", "--mtp", "") == ["auto", "on", "off"]
    assert "zsh" in bash(script, "completion", "")


def test_bash_completes_files_where_they_are_wanted(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "report.pdf").touch()
    assert bash(script, "ask", "--file", "rep") == ["report.pdf"]
    assert bash(script, "--data-dir", "") == ["folder"]
    assert "report.pdf" in bash(script, "open", "r")
    assert bash(script, "settings", "rep") == []


def test_zsh_completes_the_same(script: Path) -> None:
    names = [it.partition(":")[0] for it in zsh(script, "")]
    assert names == list(COMMANDS)
    assert zsh(script, "ask", "--mtp", "") == ["auto", "on", "off"]
    assert zsh(script, "ask", "--file", "") == ["(files )"]
    assert zsh(script, "--data-dir", "") == ["(files -/)"]
    assert any(it.startswith("--model:") for it in zsh(script, "ask", "--"))
    assert any(it.startswith("list:") for it in zsh(script, "models", ""))


def test_fish_completes_the_same(script: Path) -> None:
    assert set(COMMANDS) <= set(fish(script, "hearth "))
    assert "list" in fish(script, "hearth models ")
    assert "ask" not in fish(script, "hearth models ")
    assert fish(script, "hearth ask --mtp ") == ["auto", "off", "on"]
    assert "--model" in fish(script, "hearth ask --mo")


def test_names_of_settings_and_guides_are_offered(script: Path) -> None:
    assert bash(script, "settings", "get", "embed") == ["embedding_model"]
    assert "privacy" in bash(script, "help", "")
    assert "theme" in bash(script, "models", "set", "starter", "the")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such shells")
def test_names_of_models_are_those_that_are_here(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "hearth"
    program.write_text(f'#!/bin/sh\ncd {ROOT}; exec {sys.executable} -m app "$@"\n')
    program.chmod(0o700)
    model = some_model(tmp_path / "my-Q8_0.gguf")
    assert main(["models", "import", str(model)]) == 0
    capsys.readouterr()
    assert main(["completion", "--names", "models", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == ["starter", "my-q8-0"]
    called = str(program)
    assert bash(script, "models", "rm", "my", called=called) == ["my-q8-0"]
    assert bash(script, "ask", "--model", "", called=called) == ["starter", "my-q8-0"]
    assert bash(script, "models", "rm", "--fi", called=called) == ["--file"]
    assert zsh(script, "ask", "--model", "", called=called) == ["starter", "my-q8-0"]
    assert "my-q8-0" in zsh(script, "models", "rm", "", called=called)


def test_fish_offers_the_names_of_models(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "hearth"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho one\necho two\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    assert fish(script, "hearth ask --model ") == ["one", "two"]
    assert fish(script, "hearth models rm ") == ["one", "two"]
    assert "theme" in fish(script, "hearth settings get th")


def test_a_name_is_not_carried_out(script: Path, tmp_path: Path) -> None:
    program = tmp_path / "hearth"
    program.write_text("#!/bin/sh\necho '$(touch carried-out)'\necho 'two words'\n")
    program.chmod(0o700)
    command = [needs("bash"), "-c", BASH, "bash", str(script / "bash"), str(program)]
    said = subprocess.run(
        [*command, "docs", "show", ""], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert "two\\ words" in said.stdout.splitlines()
    assert not (tmp_path / "carried-out").exists()


def test_the_manual_can_be_read(script: Path) -> None:
    page = (script / "man").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f".SS hearth {name}" in page
    ended = subprocess.run(
        [needs("man"), "--warnings", "-E", "UTF-8", "-l", str(script / "man")],
        capture_output=True,
        text=True,
        env={"MANWIDTH": "100", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    )
    assert ended.returncode == 0
    assert not ended.stderr
    assert "hearth - private AI chat on your own computer" in ended.stdout
    assert "--data-dir DIR" in ended.stdout
