"""What the tests marked `packages` share: their root, their package, and a word at the end."""

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
"""What libraries of the system write for whoever uses them."""
WANTED: Final = pytest.mark.skipif(
    "HEARTH_PACKAGES" not in os.environ, reason="run.py test --packages"
)
TOLD = pytest.StashKey[list[str]]()


def tell(request: pytest.FixtureRequest, line: str) -> None:
    """Say something at the end of the run."""
    request.config.stash.setdefault(TOLD, []).append(line)


def package(pattern: str) -> Path:
    """Find a package to try; skips the test, with a sentence, where it was not built."""
    try:
        return newest(Path(os.environ["HEARTH_PACKAGES"]), pattern)
    except NoPackageError as error:
        pytest.skip(str(error))


@dataclass
class System:
    """A system with its user and all that Hearth needs of it, and what lay there at that moment."""

    release: Release
    root: Root
    friend: User
    before: dict[str, str]

    def hearth(self, *words: str, given: str = "") -> str:
        """Run Hearth as the user, until its end."""
        return self.root.run("hearth", *words, user=self.friend, given=given).stdout

    def open_window(self, display: str, log: Path) -> float:
        """Open the window, keep a picture of it, and close it; returns the seconds until it came.

        log: where the window's own words go, which an AssertionError repeats.
        """
        began = time.monotonic()
        with self.root.running("hearth", user=self.friend, log=log, DISPLAY=display) as process:
            try:
                box = screen.wait_for_window(display, "Hearth", FIRST_WINDOW_S)
                took = time.monotonic() - began
                time.sleep(5)  # until what is loaded after the first painting has come, too
                seen = screen.picture(display, box)
                seen.save(KEPT / f"{self.release}.png")
                assert screen.shades(seen) > 50
                assert self.root.ask_to_end(process) == 0
            except AssertionError as error:
                error.add_note(log.read_text("utf-8", "replace"))
                raise
        return took

    def left(self) -> Difference:
        """Tell what is not as it was; the user's data and what the system keeps do not count."""
        found = compare(self.before, listed(self.root.folder, (*OF_THE_SYSTEM, DATA)))
        return replace(found, added=tuple(it for it in found.added if it not in AROUND))


@contextmanager
def prepared(release: Release, brought: Sequence[Path], *also: str) -> Iterator[System]:
    """Make a system with all that the .deb depends on, from that release alone, and a user.

    brought: files that are put into its /srv; also: more packages of it. Skips the test, with a
    sentence, where no system can be made.
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
