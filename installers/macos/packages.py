"""Makes the disk image for macOS from an app; `installers/build.py dmg` calls it on a Mac."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parent


def make_dmg(bundle: Path, into: Path, version: str, seconds: int) -> Path:  # noqa: ARG001
    """Make `hearth-VERSION-macos-MACHINE.dmg` from the app beside a bundle.

    Signatures contain the time of signing, so two images are never the same.
    """
    made = into / f"hearth-{version}-macos-{platform.machine()}.dmg"
    app = bundle.parent / "Hearth.app"
    add_what_tells(bundle, app)
    subprocess.run(["bash", str(FOLDER / "make_dmg.sh"), str(app), str(made)], check=True)
    return made


def add_what_tells(bundle: Path, app: Path) -> None:
    """Copy the bill of materials and the licences, added to the bundle later, into the app."""
    resources = app / "Contents" / "Resources"
    inside = bundle / "_internal"
    beside = [it for it in bundle.iterdir() if it.is_file() and it.name != "hearth"]
    for path in [*beside, *(inside / "resources").rglob("*")]:
        place = resources / path.relative_to(bundle if path in beside else inside)
        if path.is_file() and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)


PACKAGES: Final[Mapping[str, Callable[[Path, Path, str, int], Path]]] = {"dmg": make_dmg}
