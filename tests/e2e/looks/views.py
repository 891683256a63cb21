"""Views of a page: a theme, a contrast, a size and a zoom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PySide6.QtWidgets import QWidget

from tests.e2e.looks.house import House, come_to_rest, settle
from tests.e2e.looks.pages import Page

WIDE: Final = (1280, 800)
NARROW: Final = (540, 700)


@dataclass(frozen=True)
class View:
    """A view of the pages.

    Attributes:
        theme: The theme.
        high: True for high contrast.
        size: The size of the window in pixels.
        zoom: The zoom in percent.
    """

    theme: str
    high: bool
    size: tuple[int, int]
    zoom: int = 100

    @property
    def name(self) -> str:
        size = {WIDE: "wide", NARROW: "narrow"}.get(self.size, f"{self.size[0]}x{self.size[1]}")
        zoom = f"-{self.zoom}" if self.zoom != 100 else ""
        return f"{self.theme}{'-high' if self.high else ''}-{size}{zoom}"


VIEWS: Final = (
    View("light", False, WIDE),
    View("light", False, NARROW),
    View("light", True, WIDE),
    View("dark", True, WIDE),
    View("dark", False, WIDE),
    View("dark", False, NARROW),
)
"""In an order that changes theme and contrast one at a time, and as rarely as possible."""

SMALL: Final = (
    View("light", False, (800, 560)),
    View("light", False, (1000, 640), 150),
    View("dark", False, (1000, 640), 200),
)
"""The smallest windows for which every page has to fit. A theme does not move anything."""

IN_README: Final = {
    f"{theme}-{name}": (page, View(theme, False, WIDE))
    for theme in ("light", "dark")
    for name, page in (("chat", "chat"), ("welcome", "welcome"), ("discover", "offers"))
} | {
    "settings": ("settings-first-appearance", View("light", False, WIDE)),
    "light-search": ("search", View("light", False, WIDE)),
    "dark-palette": ("palette", View("dark", False, WIDE)),
    "light-assistants": ("assistants", View("light", False, WIDE)),
    "dark-context": ("context", View("dark", False, WIDE)),
    "light-engines": ("engines", View("light", False, WIDE)),
    "light-cited": ("cited", View("light", False, WIDE)),
    "dark-server": ("badge", View("dark", False, WIDE)),
    "dark-narrow": ("chat", View("dark", False, NARROW)),
}
"""The file names, and their pages and views."""


def take(house: House, page: Page, view: View) -> QWidget:
    """Show a page in this view; return its window."""
    put_on(house, view)
    shown = page.show(house)
    come_to_rest(shown)
    return shown


def go_back(house: House, page: Page, following: Page | None) -> None:
    """Leave a page as it was; a dialog that also contains the next one stays open."""
    if following is None or not page.dialog or following.dialog != page.dialog:
        house.tidy()
        page.leave(house)
        settle()


def put_on(house: House, view: View) -> None:
    """Give the window a theme, a zoom and a size, and hide the sidebar if it is narrow."""
    contrast = "high" if view.high else "usual"
    house.set(theme=view.theme, contrast=contrast, zoom=view.zoom)
    house.window.resize(*view.size)
    settle()
    house.window.set_sidebar(view.size != NARROW)
    settle()
