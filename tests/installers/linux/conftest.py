"""A small bundle of Hearth: a program that completes, and one library."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from installers.linux.packages import make_deb, make_tar
from tests.support.paths import ROOT

if sys.platform != "linux":
    collect_ignore_glob = ["test_*.py"]

PROGRAM = f"""#!/bin/sh
exec env PYTHONPATH={ROOT} {sys.executable} -P {ROOT}/app/packaged.py "$@"
"""


def needs(program: str) -> str:
    """Return a program of the system; without it, the test is skipped."""
    found = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


def said(*command: str | Path, **variables: str) -> str:
    """Return the output of a command, which has to succeed."""
    ended = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | variables, timeout=100
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


SECONDS = 1_750_000_000


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Make a bundle where `build.py` makes it, with the Python of these tests beside it."""
    return make_bundle(tmp_path)


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the archive of a bundle, as the target `tar` does."""
    folder = tmp_path_factory.mktemp("archive")
    return make_tar(make_bundle(folder), folder, "1.2.3", SECONDS)


@pytest.fixture(scope="session")
def deb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the .deb of a bundle, and unpack it."""
    needs("dpkg-deb")
    folder = tmp_path_factory.mktemp("deb")
    made = make_deb(make_bundle(folder), folder, "1.2.3", SECONDS)
    said("dpkg-deb", "--raw-extract", made, folder / "deb")
    return folder / "deb"


def make_bundle(folder: Path) -> Path:
    """Make a small bundle in a folder; return its place."""
    made = folder / "work" / "made" / "hearth"
    (made / "_internal").mkdir(parents=True)
    (made / "hearth").write_text(PROGRAM, encoding="utf-8")
    (made / "hearth").chmod(0o700)
    shutil.copyfile("/bin/true", made / "_internal" / "libsmall.so")
    python = folder / "work" / "environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return made
