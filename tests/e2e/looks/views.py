"""How a page is looked at: its theme, its contrast and its width."""

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
    theme: str
    high: bool
    size: tuple[int, int]

    @property
    def name(self) -> str:
        width = "wide" if self.size == WIDE else "narrow"
        return f"{self.theme}{'-high' if self.high else ''}-{width}"


VIEWS: Final = (
    View("light", False, WIDE),
    View("light", False, NARROW),
    View("light", True, WIDE),
    View("dark", True, WIDE),
    View("dark", False, WIDE),
    View("dark", False, NARROW),
)
"""In an order that changes the theme or the contrast, one at a time, as seldom as can be."""

IN_README: Final = {
    f"{theme}-{name}": (page, View(theme, False, WIDE))
    for theme in ("light", "dark")
    for name, page in (("chat", "chat"), ("welcome", "welcome"), ("discover", "offers"))
} | {
    "settings": ("settings-appearance", View("light", False, WIDE)),
    "light-search": ("search", View("light", False, WIDE)),
    "dark-palette": ("palette", View("dark", False, WIDE)),
    "light-assistants": ("assistants", View("light", False, WIDE)),
    "dark-context": ("context", View("dark", False, WIDE)),
    "light-engines": ("engines", View("light", False, WIDE)),
    "dark-server": ("badge", View("dark", False, WIDE)),
    "dark-narrow": ("chat", View("dark", False, NARROW)),
}
"""File names, and what is seen in them."""


def take(house: House, page: Page, view: View) -> QWidget:
    """Show a page in this view; returns the window to look at."""
    put_on(house, view)
    shown = page.show(house)
    come_to_rest(shown)
    return shown


def put_on(house: House, view: View) -> None:
    """Give the window a theme and a size; where it is narrow the sidebar is put away."""
    house.set(theme=view.theme, contrast="high" if view.high else "usual")
    house.window.set_sidebar(view.size == WIDE)
    house.window.resize(*view.size)
    settle()
