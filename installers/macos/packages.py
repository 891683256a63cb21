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
    image = into / f"hearth-{version}-macos-{platform.machine()}.dmg"
    app = bundle.parent / "Hearth.app"
    add_documents(bundle, app)
    subprocess.run(["bash", str(FOLDER / "make_dmg.sh"), str(app), str(image)], check=True)
    return image


def add_documents(bundle: Path, app: Path) -> None:
    """Copy the bill of materials and the licences, added to the bundle later, into the app."""
    resources = app / "Contents" / "Resources"
    inside = bundle / "_internal"
    loose = [path for path in bundle.iterdir() if path.is_file() and path.name != "hearth"]
    for path in [*loose, *(inside / "resources").rglob("*")]:
        target = resources / path.relative_to(bundle if path in loose else inside)
        if path.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


PACKAGES: Final[Mapping[str, Callable[[Path, Path, str, int], Path]]] = {"dmg": make_dmg}
