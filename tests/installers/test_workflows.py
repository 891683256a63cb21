"""The workflows of the public CI: they are readable, have few permissions, and name real things."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from app.cli.parser import COMMANDS
from installers.linux.packages import PACKAGES as OF_LINUX
from installers.macos.packages import PACKAGES as OF_MACOS
from installers.windows.packages import PACKAGES as OF_WINDOWS
from tests.support.paths import ROOT

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS: dict[str, Any] = {
    it.stem: yaml.safe_load(it.read_text(encoding="utf-8")) for it in sorted(FOLDER.glob("*.yml"))
}
TARGETS = {"bundle", "sizes", *OF_LINUX, *OF_MACOS, *OF_WINDOWS}


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, workflow in WORKFLOWS.items():
        for job, its in workflow["jobs"].items():
            yield f"{name}/{job}", its


def scripts() -> Iterator[tuple[str, str]]:
    for name, job in jobs():
        for step in job["steps"]:
            if "run" in step:
                yield f"{name}: {step['name']}", step["run"].replace("\\", "/")


def test_a_change_is_checked_and_a_release_built_on_every_system() -> None:
    assert set(WORKFLOWS) == {"check", "release"}
    checked = WORKFLOWS["check"]["jobs"]["test"]["strategy"]["matrix"]["os"]
    built = [
        its["os"]
        for job in ("linux", "macos")
        for its in WORKFLOWS["release"]["jobs"][job]["strategy"]["matrix"]["include"]
    ]
    assert set(checked) == {*built, WORKFLOWS["release"]["jobs"]["windows"]["runs-on"]}


def test_no_job_may_do_more_than_it_needs() -> None:
    assert WORKFLOWS["check"]["permissions"] == {"contents": "read"}
    assert WORKFLOWS["release"]["permissions"] == {}
    for name, job in jobs():
        allowed = job.get("permissions", {"contents": "read"})
        assert allowed == {"contents": "write" if name == "release/draft" else "read"}, name
        assert job["timeout-minutes"] <= 240, name
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False, name


def test_each_action_is_pinned_by_a_commit_whose_release_is_named() -> None:
    for path in FOLDER.glob("*.yml"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if "uses:" in line:
                assert re.search(r"uses: actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), (
                    line
                )


def test_no_script_has_words_of_others_put_into_it() -> None:
    for name, script in scripts():
        assert "${{" not in script, f"{name}: give it by a variable"


def test_secrets_reach_only_the_step_that_takes_them() -> None:
    for name, job in jobs():
        for step in job["steps"]:
            if "secrets." in str(step):
                assert step["name"].startswith("Take the certificate"), name
                assert "::notice::" in step["run"], "it says where nothing is signed"
        assert "secrets." not in str({key: its for key, its in job.items() if key != "steps"})


def test_each_script_named_is_in_the_tree() -> None:
    named = [
        (name, path)
        for name, script in scripts()
        for path in re.findall(r"\b(?:installers|tests)/(?!dist)[\w/.-]+|\brun\.py\b", script)
    ]
    assert {path for _, path in named} >= {"installers/build.py", "installers/native/build.py"}
    for name, path in named:
        assert (ROOT / path).exists(), name


def test_each_target_and_command_named_there_is() -> None:
    targets = [
        word
        for _, script in scripts()
        for words in re.findall(r"installers/build\.py ((?:[a-z]+ ?)+)", script)
        for word in words.split()
    ]
    assert {"tar", "deb", "rpm", "nsis", "dmg"} <= set(targets) <= TARGETS
    for name, script in scripts():
        for command in re.findall(r"\bhearth(?:\.exe)?\"? (ask|serve|chat|models)\b", script):
            assert command in COMMANDS, name


def test_each_script_for_bash_can_be_read_by_it(tmp_path: Path) -> None:
    file = tmp_path / "script.sh"
    for name, job in jobs():
        for step in job["steps"]:
            if "run" in step and step.get("shell", "bash") == "bash":
                file.write_text(step["run"], encoding="utf-8")
                assert subprocess.run(["bash", "-n", str(file)], check=False).returncode == 0, name
