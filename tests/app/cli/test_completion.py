"""`hearth completion`: its scripts in the real shells, and the manual page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.main import main
from app.cli.parser import COMMANDS
from tests.app.models.library.services.places.layouts import some_model
from tests.support.paths import ROOT

BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
compopt() { :; }
completer=$(complete -p hearth); completer=${completer#*-F }
${completer% *}
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
autoload -Uz compinit; compinit -D -u
source "$SCRIPT"
compadd() {
    [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]] && { builtin compadd "$@"; return }
    local -a found
    builtin compadd -A found "$@"
    (( $#found )) && print -rl -- "found: "${^found}
    builtin compadd "$@"
}
finish() { print; exit }
comppostfuncs=(finish)
bindkey '^I' complete-word
PROMPT='ready '
"""
"""Start-up file of an interactive zsh that prints Tab's completions, a line each, and exits."""


def needs(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str], request: object) -> Path:
    """Write the output of `hearth completion` for each shell and return its folder."""
    for name in ("bash", "zsh", "fish", "powershell", "man"):
        assert main(["completion", name]) == 0
        (tmp_path / name).write_text(capsys.readouterr().out, encoding="utf-8")
    return tmp_path


def bash(script: Path, *words: str, called: str = "hearth") -> list[str]:
    command = [needs("bash"), "-c", BASH, "bash", str(script / "bash"), called, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def zsh(script: Path, *words: str, called: str = "hearth") -> list[str]:
    """Type a command line into a real zsh, press Tab and return the completions."""
    import pty

    (script / ".zshrc").write_text(ZSH, encoding="utf-8")
    main, child = pty.openpty()
    told = {"ZDOTDIR": str(script), "SCRIPT": str(script / "zsh"), "TERM": "dumb"}
    shell = subprocess.Popen(
        [needs("zsh"), "-i", "-d"],
        stdin=child,
        stdout=child,
        stderr=child,
        env={**os.environ, **told},
        start_new_session=True,
    )
    os.close(child)
    typed = " ".join((called, *words)).encode() + b"\t"
    output = b""
    try:
        while b"ready " not in output:
            output += os.read(main, 4096)
        os.write(main, typed)
        while piece := os.read(main, 4096):
            output += piece
    except OSError:  # Linux reports the end of a terminal as an error
        pass
    finally:
        os.close(main)
        shell.wait()
    return [*dict.fromkeys(re.findall(r"found: (.*)\r", output.decode()))]


def fish(script: Path, line: str) -> list[str]:
    order = f"source {script / 'fish'}; complete -C '{line}'"
    said = subprocess.run(
        [needs("fish"), "--no-config", "-c", order], capture_output=True, text=True, check=True
    )
    assert not said.stderr
    return [it.partition("\t")[0] for it in said.stdout.splitlines()]


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


def test_zsh_completes_the_same(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    (place / "folder").mkdir(parents=True)
    (place / "report.pdf").touch()
    monkeypatch.chdir(place)
    assert sorted(zsh(script, "")) == sorted(COMMANDS)
    assert zsh(script, "ask", "--mtp", "") == ["auto", "on", "off"]
    assert set(zsh(script, "ask", "--file", "")) == {"report.pdf", "folder"}
    assert zsh(script, "--data-dir", "") == ["folder"]
    assert "--model" in zsh(script, "ask", "--mo")
    assert "list" in zsh(script, "models", "")
    assert zsh(script, "--offline", "models", "li") == ["list"]


def test_fish_completes_the_same(script: Path) -> None:
    assert set(COMMANDS) <= set(fish(script, "hearth "))
    assert "list" in fish(script, "hearth models ")
    assert "ask" not in fish(script, "hearth models ")
    assert set(fish(script, "hearth ask --mtp ")) == {"auto", "off", "on"}
    assert "--model" in fish(script, "hearth ask --mo")


def test_powershell_has_a_script(script: Path) -> None:
    text = (script / "powershell").read_text(encoding="utf-8")
    assert "Register-ArgumentCompleter -Native -CommandName hearth" in text
    assert all(f"'{name}'" in text for name in COMMANDS)
    assert "hearth completion --names models" in text


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
