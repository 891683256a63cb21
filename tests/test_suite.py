"""The suite's own rules: the tests of `--all`, the end of a worker, and allowed waits and names."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

CRASHES_AT_ITS_END = """
import atexit, os

def test_passes():
    atexit.register(os.abort)
"""
TWO_KINDS = """
import pytest

@pytest.mark.exhaustive
def test_every_case(exhaustive):
    assert exhaustive

def test_one_case():
    pass
"""


def run_pytest(folder: Path, test: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest with the suite's plugin on one file of tests."""
    file = folder / "test_made.py"
    file.write_text(test)
    own = ["-p", "tests.support.suite", "-p", "no:cacheprovider", "-c", "/dev/null"]
    command = [sys.executable, "-m", "pytest", *own, f"--rootdir={folder}", *options, str(file)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_worker_that_crashes_after_its_tests_fails_the_run(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, CRASHES_AT_ITS_END, "-n1")
    assert "1 passed" in done.stdout
    assert "ended with status -6 after its tests" in done.stdout
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("options", "counted"),
    [([], "1 passed, 1 deselected"), (["--all"], "2 passed")],
    ids=["usual", "all"],
)
def test_exhaustive_tests_run_with_all(tmp_path: Path, options: list[str], counted: str) -> None:
    assert counted in run_pytest(tmp_path, TWO_KINDS, *options).stdout


TOOLS = ("tests/bench/", "tests/gpu/")
SLEEPS = {
    "tests/conftest.py": "lets threads and processes end after a test",
    "tests/support/waiting.py": "looks again and again for what is waited for",
    "tests/support/wsl/stand_in.py": "is as slow as a test wants it",
    "tests/engines/vllm/fake_vllm.py": "is as slow as a test wants it, or hangs",
    "tests/app/api/http/conftest.py": "handlers and clients that are slow",
    "tests/app/api/http/test_guard.py": "a handler that waits for the test",
    "tests/app/runtime/services/test_leases.py": "lets other threads go first",
    "tests/engines/llamacpp/test_media.py": "cancels at many moments",
    "tests/engines/vllm/test_orphans.py": "kills at many moments",
    "tests/engines/vllm/test_real.py": "kills a real vLLM that says nothing of its moments",
    "tests/engines/vllm/wsl/test_worker.py": "kills at many moments",
    "tests/faults/test_killed_downloads.py": "kills at random moments",
    "tests/packages/trying.py": "a real desktop says nothing when all is painted",
}
"""The files that may sleep, and why: nothing else in them races the sleep."""

BREAKS = {"_api", "_batch", "_begin", "_chain", "_context", "_encode", "_flag", "_skipped"}
"""Names that tests break in llama.cpp's engine, to prove that other tests notice."""
PRIVATE = {
    "tests/app/chats/answers/services/test_answers.py": {"_prefer"},
    "tests/app/chats/context/pages/test_context.py": {"_informed_chats"},
    "tests/app/chats/transcript/pages/test_answers.py": {"_texts"},
    "tests/app/documents/viewer/pages/test_file_viewer.py": {"_drawn"},
    "tests/app/help/commands/test_help.py": {"_SubParsersAction", "_actions"},
    "tests/app/models/discover/pages/conftest.py": {"_fitting"},
    "tests/app/models/discover/pages/test_repository.py": {"_account_of"},
    "tests/app/models/downloads/pages/test_downloads.py": {"_entries"},
    "tests/app/runtime/pages/test_switching.py": {"_counterparts", "_prefer"},
    "tests/app/runtime/services/test_side_by_side_vllm.py": {"_crashes"},
    "tests/engines/llamacpp/speculative/test_shadow.py": {"_judged", "_right"},
    "tests/engines/llamacpp/speculative/test_speculation.py": {"_native", "_policy"},
    "tests/engines/llamacpp/test_adapters.py": BREAKS,
    "tests/engines/llamacpp/test_distribution.py": BREAKS,
    "tests/engines/llamacpp/test_engine.py": BREAKS,
    "tests/engines/llamacpp/test_mtp_failures.py": BREAKS,
    "tests/engines/llamacpp/test_same_answer.py": BREAKS,
    "tests/engines/llamacpp/test_scheduler.py": {"_every_row", "_layers"},
    "tests/engines/llamacpp/test_vocabulary.py": {"_tokenise"},
    "tests/resources/test_docs.py": {"_SubParsersAction", "_actions"},
    "tests/support/suite.py": {"_io"},
}
"""The private names that tests may use: each public way to the same would be worse."""
PUBLIC = {"_asdict", "_exit", "_fields", "_getframe", "_replace"}
"""Names of Python's own that only look private."""


def fixed_waits(tree: ast.AST) -> Iterator[str]:
    """Find the calls that wait for a time, in any module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if re.search(r"(^|\.)(sleep|qWait)$|bot\.wait$|Event\(\)\.wait$", called):
                yield called


def private_names(tree: ast.Module) -> Iterator[str]:
    """Find the private names of other modules: as attributes, in imports and for `setattr`."""
    own = {it.attr for it in ast.walk(tree) if isinstance(it, ast.Attribute) and _is_own(it)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            own.add(node.target.id)
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Attribute) and not _is_own(node):
            names = [node.attr]
        elif isinstance(node, ast.ImportFrom):
            names = [it.name for it in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("attr"):
            texts = (it.value for it in node.args[:2] if isinstance(it, ast.Constant))
            names = [it.rpartition(".")[2] for it in texts if isinstance(it, str)]
        yield from (it for it in names if re.match(r"_[A-Za-z]", it) and it not in own | PUBLIC)


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}


def test_no_test_waits_for_a_time_or_looks_into_what_is_private() -> None:
    """Wait with `tests.support.waiting.until`, or `until_calm`; test what a caller can see."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(TOOLS):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            waits = set() if name in SLEEPS else set(fixed_waits(tree))
            found[name] = waits | (set(private_names(tree)) - PRIVATE.get(name, set()))
    assert len(found) > 400
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    "source",
    ["import time\ntime.sleep(1)", "from time import sleep\nsleep(x)", "ui.qtbot.wait(50)"],
)
def test_a_fixed_wait_is_seen(source: str) -> None:
    assert list(fixed_waits(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "engine._loaded",
        "from app.cli.main import _parsed",
        "monkeypatch.setattr(tracing, '_PAUSE_S', 0)",
        "monkeypatch.setattr('app.cli.main._parsed', None)",
    ],
)
def test_a_private_name_is_seen(source: str) -> None:
    assert list(private_names(ast.parse(source)))


def test_what_is_a_test_s_own_is_no_private_name() -> None:
    source = "class A:\n    def __init__(self):\n        self._x = 0\nA()._x\nrow._asdict()"
    assert not list(private_names(ast.parse(source)))
