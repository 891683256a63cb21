"""What the tests marked `packages` share: their root, their package, and a word at the end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.packages.packages import NoPackageError, newest
from tests.packages.releases import KEPT, NoRootError, Release, hindrance, unpack
from tests.packages.roots import Root

TOLD = pytest.StashKey[list[str]]()


def tell(request: pytest.FixtureRequest, line: str) -> None:
    """Say something at the end of the run."""
    request.config.stash.setdefault(TOLD, []).append(line)


def package(pattern: str) -> Path:
    """Find a package to try; skips the test where none are given."""
    folder = os.environ.get("HEARTH_PACKAGES")
    if folder is None:
        pytest.skip("HEARTH_PACKAGES names no packages; `python3 run.py test --packages` does")
    try:
        return newest(Path(folder), pattern)
    except NoPackageError as error:
        pytest.skip(str(error))


@contextmanager
def clean_root(release: Release) -> Iterator[Root]:
    """Unpack a root and hold it; skips the test, with a sentence, where none can be made."""
    if lack := hindrance():
        pytest.skip(lack)
    folder = KEPT / release.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        unpack(release, folder)
        with Root(folder, KEPT / f"{release}-packages") as root:
            yield root
    except NoRootError as error:
        pytest.skip(str(error))
    finally:
        shutil.rmtree(folder)
