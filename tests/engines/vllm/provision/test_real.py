"""The real build for processors, which `run.py test --vllm` has installed with Hearth itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from engines.vllm.provision.environment import quiet
from engines.vllm.provision.home import EngineHome, Installed
from engines.vllm.provision.lock import Lock, LockName, TargetSystem, read_lock
from tests.support.paths import ROOT

LOCKS = ROOT / "resources" / "vllm"

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.skipif("HEARTH_VLLM_HOME" not in os.environ, reason="run.py test --vllm"),
]


@pytest.fixture
def home() -> EngineHome:
    return EngineHome(Path(os.environ["HEARTH_VLLM_HOME"]))


@pytest.fixture
def installed(home: EngineHome) -> Installed:
    found = home.current()
    assert found is not None
    return found


def its_lock(home: EngineHome) -> Lock:
    names: tuple[LockName, ...] = ("cpu", "cpu-plain")
    return next(lock for lock in (read_lock(LOCKS, it) for it in names) if home.find(lock))


def test_it_is_the_one_of_the_lock_and_nothing_else_is_left(
    home: EngineHome, installed: Installed
) -> None:
    lock = its_lock(home)
    assert home.find(lock) == installed
    assert (installed.version, installed.profile) == (lock.version, "cpu")
    assert home.work_bytes == 0
    assert not home.half_made


def test_it_holds_exactly_the_packages_of_the_lock(home: EngineHome, installed: Installed) -> None:
    lock = its_lock(home)
    wanted = {it.project for it in lock.chosen(TargetSystem("x86_64", (2, 36), (3, 11)))}
    code = (
        "import importlib.metadata as m; print(*{it.metadata['Name'] for it in m.distributions()})"
    )
    result = subprocess.run(
        [str(installed.python), "-c", code], capture_output=True, text=True, check=True
    )
    found = {it.lower().replace("_", "-").replace(".", "-") for it in result.stdout.split()}
    assert found - {"vllm"} == wanted


def test_it_starts_and_writes_only_where_it_is_told(installed: Installed, tmp_path: Path) -> None:
    """Its home and its caches are folders of the test, so that other written files show."""
    environment = quiet(installed.folder, tmp_path / "caches", os.environ)
    environment |= {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "tmp")}
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()
    before = {it for it in installed.folder.rglob("*") if it.is_file()}
    words = [*installed.runs[:-1], "--version"]
    result = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    assert result.stdout.split()[-1] == f"{installed.version}+cpu"
    assert not list((tmp_path / "home").iterdir())
    assert {it for it in installed.folder.rglob("*") if it.is_file()} == before
