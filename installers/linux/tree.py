"""Hearth's files for a Linux desktop: menu entry, icons, file types, completions and manual."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

ID = "io.github.hearth.Hearth"
FILES = Path(__file__).parent / "files"
ROOT = Path(__file__).resolve().parents[2]

SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
"""The sizes of the icon, in pixels."""

_COMPLETIONS = {
    "bash": "bash-completion/completions/hearth",
    "fish": "fish/vendor_completions.d/hearth.fish",
    "zsh": "zsh/site-functions/_hearth",
}


def make_share(share: Path, bundle: Path, python: Path, version: str, seconds: int) -> None:
    """Fill a `share` folder: /usr/share, or that of a single user.

    Args:
        python: A Python with PySide6.
        seconds: The time of the release, in seconds since 1970.
    """
    day = time.strftime("%Y-%m-%d", time.gmtime(seconds))
    words = {"@VERSION@": version, "@DATE@": day}
    write(share / f"applications/{ID}.desktop", fill_in(f"{ID}.desktop", {}))
    write(share / f"metainfo/{ID}.metainfo.xml", fill_in(f"{ID}.metainfo.xml", words))
    write(share / f"mime/packages/{ID}.xml", fill_in(f"{ID}.mime.xml", {}))
    _make_icons(share / "icons/hicolor", python)
    for shell, target in _COMPLETIONS.items():
        write(share / target, output_of(bundle, "completion", shell))
    write(share / "man/man1/hearth.1.gz", gzipped(output_of(bundle, "completion", "man")))


def fill_in(name: str, words: Mapping[str, str]) -> bytes:
    """Return a template of `files` with its placeholders filled in."""
    text = (FILES / name).read_text(encoding="utf-8")
    for blank, word in words.items():
        text = text.replace(blank, word)
    return text.encode()


def write(path: Path, data: bytes) -> None:
    """Write a file, and create its folder if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def gzipped(data: bytes) -> bytes:
    """Return data compressed with gzip, without a time or a name."""
    return gzip.compress(data, mtime=0)


def output_of(bundle: Path, *words: str) -> bytes:
    """Return the output of the bundle's own command, so that it matches its options.

    Raises CalledProcessError.
    """
    plain = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "COLUMNS": "80"}
    return subprocess.run(
        [str(bundle / "hearth"), *words], env=plain, capture_output=True, check=True
    ).stdout


def _make_icons(hicolor: Path, python: Path) -> None:
    """Draw the icon in all sizes, and copy the drawing itself."""
    temporary = hicolor / "drawn"
    temporary.mkdir(parents=True)
    script = Path(__file__).with_name("draw_icon.py")
    subprocess.run([str(python), "-P", str(script), str(temporary), *map(str, SIZES)], check=True)
    for picture in temporary.glob("*.png"):
        target = hicolor / f"{picture.stem}x{picture.stem}" / "apps" / f"{ID}.png"
        target.parent.mkdir(parents=True)
        picture.rename(target)
    temporary.rmdir()
    drawing = ROOT / "resources" / "icons" / "hearth.svg"
    (hicolor / "scalable" / "apps").mkdir(parents=True)
    shutil.copyfile(drawing, hicolor / "scalable" / "apps" / f"{ID}.svg")
