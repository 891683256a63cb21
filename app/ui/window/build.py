"""All of the window that its first painting does without, made in steps between which it lives."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from app.presenters.window import WindowServices
from app.ui.assistants.controller import AssistantsController
from app.ui.chat.chat_page import ChatPage
from app.ui.chat.guide_banner import GuideBanner
from app.ui.chat.text.pictures import Pictures
from app.ui.desktop.desktop import Desktop
from app.ui.engines.switch_controller import EngineSwitchController
from app.ui.models.chooser import ModelChooser
from app.ui.notify import Notifier
from app.ui.onboarding.download_strip import DownloadStrip
from app.ui.onboarding.first_look import FirstLook
from app.ui.sidebar.chat_actions import ChatActions
from app.ui.sidebar.chat_order import ChatOrder
from app.ui.window.actions import add_actions
from app.ui.window.connections import connect
from app.ui.window.download_notices import DownloadNotices
from app.ui.window.going_online import GoingOnline
from app.ui.window.hit_opening import HitOpening
from app.ui.window.main_window import MainWindow

Report = Callable[[BaseException], str]
"""Makes the text of a report about a bug of ours."""


def built_window(services: WindowServices, report: Report) -> MainWindow:
    """The whole window at once."""
    window = MainWindow(services.chats, services.settings.current)
    for _ in build_window(window, services, report):
        pass
    return window


def build_window(window: MainWindow, services: WindowServices, report: Report) -> Iterator[None]:
    """Go on whenever the event loop has nothing to do; at the end the window is built."""
    settings = services.settings
    window.services = services
    window.notifier = Notifier(window, report, services.log_file, lambda: services.is_offline)
    window.chooser = ModelChooser(
        services.models,
        settings,
        services.chat_settings,
        lambda: window.page.chat_id,
        window.notifier,
        window,
    )
    window.chat_actions = ChatActions(
        services.chats,
        services.generation,
        window.notifier,
        lambda ids: window.exporter.ask(ids),  # noqa: PLW0108 - made when needed
        window,
    )
    window.order = ChatOrder(window.sidebar, services.chats, services.search, window.chat_actions)
    yield
    _make_chat_page(window)
    yield
    window.online = GoingOnline(services, window.notifier, window)
    window.download_notices = DownloadNotices(
        services.downloads, window.notifier, window.page.isVisible, window
    )
    yield
    window.assistants_controller = AssistantsController(window, report)
    yield
    HitOpening(window)
    FirstLook(window.page.welcome, services)
    window.desktop = Desktop(window)
    drops = window.desktop.drops
    drops.importer = lambda path: window.importer.take_dropped(path)  # noqa: PLW0108 - made when needed
    yield
    connect(window)
    add_actions(window)
    window.apply(settings.current)
    window.online.tell()
    window.assistants_controller.show()
    window.refresh()
    services.downloads.look()
    window.is_built = True
    window.early.pass_on()
    for fault in settings.faults:
        window.notifier.error(fault)


def _make_chat_page(window: MainWindow) -> None:
    """What was written and sent before is heard by the page."""
    services = window.services
    had_focus = window.composer.edit.hasFocus()
    services.chats.drafts.keep(None, window.composer.text)
    window.page = ChatPage(
        services.chats,
        services.generation,
        services.answering,
        services.chat_settings,
        services.context,
        services.settings.current,
        window.notifier,
        window.composer,
    )
    Pictures(services.tasks, window.page.transcript)
    window.banner = GuideBanner()
    window.strip = DownloadStrip()
    window.page.banners.addWidget(window.banner)
    window.page.banners.addWidget(window.strip)
    window.page.open_chat(None)
    window.show_chat_page(window.page)
    if had_focus or not window.isVisible():
        window.composer.focus()
    window.switching = EngineSwitchController(window)
    window.switching.show()
    place = window.switching.place_of(window.chooser.current())
    if place is not None and place.leaves and window.early_messages.held:
        # It was sent before its writer could see that it leaves this computer.
        window.composer.set_text("\n".join(str(it[0]) for it in window.early_messages.held))
        window.early_messages.forget()
    window.early_messages.pass_on()
