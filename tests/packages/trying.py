"""Shared parts of the tests marked `packages`: their root, their package, and a final report."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from tests.packages import screen
from tests.packages.leftovers import Difference, compare, listed
from tests.packages.packages import NoPackageError, field, newest
from tests.packages.releases import KEPT, NoRootError, Release, hindrance, unpack
from tests.packages.roots import Root, User

FIRST_ANSWER_S: Final = 60.0
"""The bar from the double click on a package to the first answer, on two cores."""
FIRST_WINDOW_S: Final = 60.0
HOME: Final = "/home/friend"
DATA: Final = f"{HOME}/.local/share/hearth"
AROUND: Final = (f"{HOME}/.cache", f"{HOME}/.local", f"{HOME}/.local/share")
"""The folders around a user's data and caches, which a new user does not have yet."""
OF_THE_SYSTEM: Final = (f"{HOME}/.cache/fontconfig", f"{HOME}/.cache/mesa_shader_cache")
"""Files that libraries of the system write for their users."""
WANTED: Final = pytest.mark.skipif(
    "HEARTH_PACKAGES" not in os.environ, reason="run.py test --packages"
)
TOLD = pytest.StashKey[list[str]]()


def tell(request: pytest.FixtureRequest, line: str) -> None:
    """Print a line at the end of the run."""
    request.config.stash.setdefault(TOLD, []).append(line)


def package(pattern: str) -> Path:
    """Find a package to test; skip the test, with a sentence, if it was not built."""
    try:
        return newest(Path(os.environ["HEARTH_PACKAGES"]), pattern)
    except NoPackageError as error:
        pytest.skip(str(error))


@dataclass
class System:
    """A system with its user and everything that Hearth needs, and its files at that moment."""

    release: Release
    root: Root
    friend: User
    before: dict[str, str]

    def hearth(self, *words: str, given: str = "") -> str:
        """Run Hearth as the user, until its end."""
        return self.root.run("hearth", *words, user=self.friend, given=given).stdout

    def open_window(self, display: str, log: Path) -> float:
        """Open the window, keep a picture of it, and close it.

        Args:
            display: The display.
            log: The file for the window's output, which an AssertionError repeats.

        Returns:
            The seconds until the window appeared.
        """
        began = time.monotonic()
        with self.root.running("hearth", user=self.friend, log=log, DISPLAY=display) as process:
            try:
                box = screen.wait_for_window(display, "Hearth", FIRST_WINDOW_S)
                took = time.monotonic() - began
                time.sleep(5)  # until everything after the first painting is loaded, too
                seen = screen.picture(display, box)
                seen.save(KEPT / f"{self.release}.png")
                assert screen.shades(seen) > 50
                assert self.root.ask_to_end(process) == 0
            except AssertionError as error:
                error.add_note(log.read_text("utf-8", "replace"))
                raise
        return took

    def left(self) -> Difference:
        """Return the changes, except for the user's data and files that the system keeps."""
        found = compare(self.before, listed(self.root.folder, (*OF_THE_SYSTEM, DATA)))
        return replace(found, added=tuple(it for it in found.added if it not in AROUND))


@contextmanager
def prepared(release: Release, brought: Sequence[Path], *also: str) -> Iterator[System]:
    """Make a system with all dependencies of the .deb, only from that release, and a user.

    It skips the test, with a sentence, if no system can be made.

    Args:
        release: The release.
        brought: Files to put into its /srv.
        also: More packages of the release.
    """
    needed = field(package("hearth_*.deb"), "Depends")
    with clean_root(release) as root:
        for file in brought:
            shutil.copy(file, root.folder / "srv" / file.name)
        friend = root.add_user(HOME.rpartition("/")[2])
        root.run("apt-get", "update", network=True)
        satisfy = ("apt-get", "satisfy", "-y", "--no-install-recommends")
        root.run(*satisfy, ", ".join([needed, *also]), network=True)
        yield System(release, root, friend, listed(root.folder, OF_THE_SYSTEM))


@contextmanager
def clean_root(release: Release) -> Iterator[Root]:
    """Unpack a root and open it; skip the test, with a sentence, if none can be made."""
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
