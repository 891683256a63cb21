"""Make the screenshots of the real app again: `python tests/e2e/screenshots.py [FOLDER]`.

The real window on the real starter model, in a data folder of its own. Under Xvfb or on a desktop
it looks as it does there; with QT_QPA_PLATFORM=offscreen nothing has to be installed.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from PySide6.QtCore import QEventLoop, QTimer  # noqa: E402
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget  # noqa: E402

from app.reports import describe  # noqa: E402
from app.store.folder import DataFolder  # noqa: E402
from app.ui.appearance import Appearance  # noqa: E402
from app.ui.chat.chat_page import ChatPage  # noqa: E402
from app.ui.main_window import MainWindow  # noqa: E402
from app.ui.settings.settings_dialog import SettingsDialog  # noqa: E402
from app.wiring import WindowParts, open_core, open_services  # noqa: E402

QUESTIONS = (
    ("What is MTP?",),
    ("Is my chat private?",),
    ("Where are my chats kept?",),
    ("What can you do?", "How big a model can I run?"),
)


def main() -> None:
    folder = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "resources" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    for theme in ("light", "dark"):
        with opened(app, theme) as (window, parts):
            rest(4.0)
            save(window, folder / f"{theme}-welcome.png")
            chat(window, parts)
            save(window, folder / f"{theme}-chat.png")
            press(window, "models")
            press(window, "modelsPart-discover")
            rest(1.0)
            save(window, folder / f"{theme}-discover.png")
            if theme == "light":
                settings = SettingsDialog(parts.services.settings, Path("~/.local/share/hearth"))
                settings.show()
                rest(0.3)
                save(settings, folder / "settings.png")
                settings.close()


@contextmanager
def opened(app: QApplication, theme: str) -> Iterator[tuple[MainWindow, WindowParts]]:
    """A window on an empty data folder."""
    with tempfile.TemporaryDirectory() as data:
        core = open_core(DataFolder(Path(data)))
        parts = open_services(core)
        parts.services.settings.set("theme", theme)
        appearance = Appearance(app)
        appearance.apply(parts.services.settings.current)
        window = MainWindow(parts.services, describe)
        window.resize(1280, 800)
        window.show()
        try:
            yield window, parts
        finally:
            window.close()
            parts.tasks.close()
            core.close()


def chat(window: MainWindow, parts: WindowParts) -> None:
    """Ask the guide all questions, each row of them in a chat of its own."""
    page = window.findChild(ChatPage)
    assert page is not None
    loop = QEventLoop()
    parts.services.generation.ended.connect(loop.quit)
    for questions in QUESTIONS:
        window.open_chat(None)
        for question in questions:
            page.ask(question)
            loop.exec()
            rest(0.1)
    rest(0.5)


def press(window: MainWindow, name: str) -> None:
    button = window.findChild(QAbstractButton, name)
    assert button is not None, name
    button.click()


def rest(seconds: float) -> None:
    loop = QEventLoop()
    QTimer.singleShot(round(1000 * seconds), loop.quit)
    loop.exec()


def save(widget: QWidget, path: Path) -> None:
    """Packed as well as PNG can be, so that the file is small."""
    widget.grab().toImage().save(str(path), None, 0)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
