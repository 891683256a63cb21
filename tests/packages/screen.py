"""The visible state of a window on its screen, seen from outside."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Final

from tests.support.waiting import until

if TYPE_CHECKING:
    from PIL.Image import Image

_ROW: Final = re.compile(
    r'\s*0x[0-9a-f]+ "(?P<title>.*)": .*?(?P<width>\d+)x(?P<height>\d+)[+-]\S+'
    r"\s+\+(?P<left>-?\d+)\+(?P<top>-?\d+)$"
)
"""A window as xwininfo lists it: its title, its size, and its place on the screen."""

Box = tuple[int, int, int, int]


def window(display: str, title: str) -> Box | None:
    """Find the place of the largest window with this title; None if there is none."""
    listed = subprocess.run(
        ["xwininfo", "-root", "-tree", "-display", display],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found = []
    for row in filter(None, map(_ROW.match, listed.splitlines())):
        width, height, left, top = map(int, row.group("width", "height", "left", "top"))
        if row["title"] == title:
            found.append((width * height, (left, top, left + width, top + height)))
    return max(found, default=(0, None))[1]


def picture(display: str, box: Box) -> Image:
    """Take a picture of a part of the screen."""
    from PIL import ImageGrab

    return ImageGrab.grab(bbox=box, xdisplay=display)


def shades(image: Image) -> int:
    """Count the colours of a picture: a window without words in it has a handful."""
    return len(image.convert("RGB").getcolors(image.width * image.height) or ())


def wait_for_window(display: str, title: str, seconds: float) -> Box:
    """Wait until a window is there and not blank.

    Raises:
        AssertionError: It never was.
    """
    painted: list[Box] = []

    def look() -> bool:
        box = window(display, title)
        if box is not None and shades(picture(display, box)) > 50:
            painted.append(box)
        return bool(painted)

    until(look, seconds, f"no window “{title}” was painted in {seconds:.0f} s")
    return painted[0]
