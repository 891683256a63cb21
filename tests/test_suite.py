"""The suite's own rules: what `--all` adds, and a worker that crashes after its tests."""

from __future__ import annotations

import subprocess
import sys
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
