"""Make the screenshots of the real window: `python tests/e2e/screenshots.py [FOLDER] [PAGE…]`.

It takes all pages of `looks/pages.py`, on made chats and models, light and dark, wide and narrow;
without a folder, those of the README and the guides. QT_SCALE_FACTOR=2 makes them for a fine
screen. Under Xvfb or on a desktop they look as they do there; QT_QPA_PLATFORM=offscreen needs
nothing installed.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from PySide6.QtWidgets import QApplication, QWidget  # noqa: E402

from tests.e2e.looks.house import House, opened, rest, settle  # noqa: E402
from tests.e2e.looks.pages import PAGES, Page  # noqa: E402
from tests.e2e.looks.views import IN_README, VIEWS, View, take  # noqa: E402


def main() -> None:
    folder = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "resources" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    for full in (False, True):
        with tempfile.TemporaryDirectory() as data:
            _hide_the_users(Path(data))
            with opened(app, Path(data) / "hearth", full=full) as house:
                if not sys.argv[1:]:
                    _without_downloads(house)
                for page in PAGES:
                    if page.full is not full:
                        continue
                    for view, name in _wanted(page):
                        shown = take(house, page, view)
                        rest(800)  # formulas are drawn beside the window's thread
                        save(shown, folder / f"{name}.png")
                        house.tidy()
                        page.leave(house)
                        settle()


def _wanted(page: Page) -> list[tuple[View, str]]:
    """Return the views in which a page is wanted, with the names of their files."""
    if not sys.argv[1:]:
        return [(view, name) for name, (its, view) in IN_README.items() if its == page.name]
    if sys.argv[2:] and page.name not in sys.argv[2:]:
        return []
    return [(view, f"{page.name}-{view.name}") for view in VIEWS]


def _without_downloads(house: House) -> None:
    """Cancel the downloads, as these pictures are not about them."""
    for download in house.hearth.downloads.downloads():
        house.hearth.downloads.cancel(download.id)
    house.presenters.downloads.look()
    rest(300)


def _hide_the_users(data: Path) -> None:
    """Hide the user's own models and folders from the pictures."""
    os.environ["HF_HUB_CACHE"] = str(data / "hub")
    os.environ["OLLAMA_MODELS"] = str(data / "ollama")
    os.environ["HOME"] = str(data)


def save(widget: QWidget, path: Path) -> None:
    """Save a picture with PNG's best compression, so that the file is small."""
    widget.grab().toImage().save(str(path), None, 0)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
