"""Visit every page in the smallest windows that it has to fit: `python -m tests.e2e.looks.visit`.

It visits every page, dialog, menu and card, in both languages, in the shipped font and in DejaVu,
and names parts that are cut, overlap others or are outside.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final
from unittest.mock import patch

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QApplication

from app.kit.look import fonts
from app.kit.look.language import install_language
from tests.e2e.looks import rules, spoken
from tests.e2e.looks.house import House, come_to_rest, opened
from tests.e2e.looks.pages import PAGES, Page
from tests.e2e.looks.views import SMALL, View, go_back, take

LANGUAGES: Final = ("english", "deutsch")
FONTS: Final = {"shipped": (fonts.TEXT, fonts.CODE), "DejaVu": ("DejaVu Sans", "DejaVu Sans Mono")}


def visit(
    app: QApplication, data: Path, language: str, font: str, views: Sequence[View] = SMALL
) -> Iterator[str]:
    """Visit all pages in one language and one font, and yield a complaint for each fault."""
    text, code = FONTS[font]
    install_language(app, language)
    try:
        with patch.object(fonts, "TEXT", text), patch.object(fonts, "CODE", code):
            for full in (False, True):
                with opened(app, data / str(full), full=full) as house:
                    for view in views:
                        pages = [page for page in PAGES if page.full is full]
                        for page, following in zip_longest(pages, pages[1:]):
                            is_first = view is views[0]
                            yield from complaints(house, page, view, following, is_first)
    finally:
        install_language(app, "english")


def complaints(
    house: House, page: Page, view: View, following: Page | None, is_first: bool
) -> Iterator[str]:
    """Show a page as on a screen of the view's size, yield its faults, and go back.

    Keys and screen readers are the same in every view, and are tried in the first one.
    """
    shown = take(house, page, view)
    most = QSize(*view.size)
    floats = shown.windowType() == Qt.WindowType.Popup  # whose height the screen has decided
    if not floats:
        shown.resize(shown.size().boundedTo(most))
        come_to_rest(shown)
    found = list(rules.misplaced(rules.Shown.of(shown)))
    if shown.width() > most.width() or (not floats and shown.height() > most.height()):
        found.append(f"{shown.objectName()} takes {shown.width()} x {shown.height()} pixels")
    if is_first:
        found += rules.deaf_to_enter(rules.Shown.of(shown))
        found += spoken.unspoken(shown)
        found += spoken.lost_focus(shown)
    go_back(house, page, following)
    yield from (f"{page.name}, {view.name}: {complaint}" for complaint in found)


def main() -> int:
    app = QApplication([])
    found = []
    for language in LANGUAGES:
        for font in FONTS:
            with tempfile.TemporaryDirectory() as data:
                for complaint in visit(app, Path(data), language, font):
                    found.append(f"{language}, {font}, {complaint}")
                    print(found[-1])
    print(f"{len(found)} complaints")
    return min(1, len(found))


if __name__ == "__main__":
    sys.exit(main())
