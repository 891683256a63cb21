"""The whole window at once, and its pages by their types."""

from __future__ import annotations

from collections.abc import Callable

from app.presenters.window import WindowPresenters
from app.ui.engines.engines_page import EnginesPage
from app.ui.models.models_page import ModelsPage
from app.ui.window.main_window import MainWindow


def built_window(services: WindowPresenters, report: Callable[[BaseException], str]) -> MainWindow:
    """A window with all its parts; not shown yet."""
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
