"""The command line of a packaged Hearth, run with the Python of a checkout."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from app.packaged import give_back_paths
from engines.cancel import CancelToken
from engines.helper.command import module_command
from engines.helper.parent import run_helper
from tests.support.paths import ROOT

PACKAGED = (sys.executable, str(ROOT / "app" / "packaged.py"))
SOURCES = sorted(path for name in ("app", "engines") for path in (ROOT / name).rglob("*.py"))


def calls(path: Path) -> list[str]:
    """Return the modules that a file runs as programs."""
    return [
        str(node.args[0].value)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"module_command", "_child"}
        and isinstance(node.args[0], ast.Constant)
    ]


def packaged(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PACKAGED, *words],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | variables,
        timeout=60,
    )


def test_processes_of_our_own_are_named_in_one_place() -> None:
    """A package has no Python beside it: calling its program would open a second window."""
    users = [
        path.relative_to(ROOT).as_posix()
        for path in SOURCES
        if "sys.executable" in path.read_text(encoding="utf-8")
    ]
    assert users == ["engines/helper/command.py"]


def test_what_is_run_as_a_program_is_one() -> None:
    found = {name for path in SOURCES for name in calls(path)}
    assert len(found) >= 9
    for name in found:
        spec = find_spec(name)
        assert spec is not None, name
        assert spec.origin is not None
        assert 'if __name__ == "__main__":' in Path(spec.origin).read_text(encoding="utf-8"), name


def test_a_package_takes_the_words_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    command = module_command("engines.llamacpp.devices_child")
    assert command == (sys.executable, "-m", "engines.llamacpp.devices_child")


def test_a_module_is_run_in_a_process_of_its_own() -> None:
    command = (*PACKAGED, "-m", "engines.llamacpp.devices_child")
    ended = run_helper(command, "", 60.0, CancelToken())
    assert ended.code == 0, ended.err
    assert any(it["kind"] == "cpu" for it in json.loads(ended.last_line)["result"])


def test_a_document_is_read_by_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Tea is at four.", encoding="utf-8")
    from app.documents.reading.reader import DocumentReader

    reader = DocumentReader(command=(*PACKAGED, "-m", "app.documents.reading.child"))
    read = reader.read(tmp_path / "a.txt", CancelToken())
    assert read.sections[0].text == "Tea is at four."


@pytest.mark.parametrize("module", ["this", "os", "appendix.x", "runpy"])
def test_it_is_no_python_for_others(module: str) -> None:
    ended = packaged("-m", module)
    assert ended.returncode == 2
    assert "did not understand" in ended.stderr


def test_it_is_the_command() -> None:
    assert packaged("--version").stdout.startswith("hearth ")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"LD_LIBRARY_PATH": "/package", "PATH": "/bin"}, {"PATH": "/bin"}),
        ({"QT_PLUGIN_PATH": "/package", "QML2_IMPORT_PATH": "/package"}, {}),
        (
            {"LD_LIBRARY_PATH": "/package", "LD_LIBRARY_PATH_ORIG": "/mine"},
            {"LD_LIBRARY_PATH": "/mine"},
        ),
        ({}, {}),
    ],
)
def test_programs_of_others_get_what_is_the_systems(
    before: dict[str, str], after: dict[str, str]
) -> None:
    give_back_paths(before)
    assert before == after


def test_in_a_checkout_the_users_own_paths_stay() -> None:
    program = (
        "import os; from app.packaged import main; main(); print(os.environ['QT_PLUGIN_PATH'])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, "completion", "man"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "QT_PLUGIN_PATH": "/mine"},
        timeout=60,
    )
    assert ended.stdout.splitlines()[-1] == "/mine", ended.stderr
