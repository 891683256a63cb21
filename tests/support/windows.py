"""The whole window at once, and its pages by their types."""

from __future__ import annotations

from collections.abc import Callable

from app.models.pages.models_page import ModelsPage
from app.runtime.pages.engines_page import EnginesPage
from app.window.pages.main_window import MainWindow
from app.wiring.window import WindowApp


def built_window(services: WindowApp, report: Callable[[BaseException], str]) -> MainWindow:
    """Return a window with all its parts, not shown yet."""
    window = MainWindow(services.chats, services.settings.current)
    for _ in window.build(services, report):
        pass
    return window


def models_page(window: MainWindow) -> ModelsPage:
    page = window.page_named("models")
    assert isinstance(page, ModelsPage)
    return page


def engines_page(window: MainWindow) -> EnginesPage:
    page = window.page_named("engines")
    assert isinstance(page, EnginesPage)
    return page
