"""What the window makes when it is gone to for the first time, with its imports and services."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.ui.connections.connections_page import ConnectionsPage
    from app.ui.engines.engines_page import EnginesPage
    from app.ui.exchange.importer import Importer
    from app.ui.help.help_page import HelpPage
    from app.ui.models.models_page import ModelsPage
    from app.ui.servers.servers_page import ServersPage
    from app.ui.sidebar.exporter import Exporter
    from app.ui.window.main_window import MainWindow


def models_page(window: MainWindow) -> ModelsPage:
    """The page of models; it shows at once what the rest of the window knows of them."""
    from app.ui.models.models_page import ModelsPage

    services, chooser, online = window.services, window.chooser, window.online
    page = ModelsPage(services, window.notifier)
    window.add_page(page)
    page.add.connect(chooser.add)
    page.back.connect(window.go_to_chat)
    here = page.here
    here.use.connect(chooser.use)
    here.details.use.connect(window.go_to_chat)
    here.anyway.connect(services.generation.load_anyway)
    here.anyway.connect(chooser.use)
    here.anyway.connect(window.go_to_chat)
    here.remove.connect(chooser.remove)
    here.dropped.connect(chooser.take)
    here.changed.connect(services.models.look)
    window.models_shown.connect(here.show_models)
    services.models.mtp_known.connect(here.list.mtp.show_model)
    services.system.checked.connect(here.list.show_check)
    # An answer that is asked for goes before a check.
    services.generation.begun.connect(services.same_answer.stop)
    services.same_answer.crashed.connect(window.notifier.error)
    services.discover.not_queued.connect(window.page.welcome.show_not_queued)
    services.downloads.changed.connect(page.discover.show_downloads)
    page.downloads.go_online.connect(online.go_online)
    page.discover.go_online.connect(online.go_online)

    def set_offline(offline: bool) -> None:
        page.downloads.set_offline(offline)
        page.discover.set_offline(offline, for_good=services.stays_offline)

    online.changed.connect(set_offline)
    set_offline(services.is_offline)
    window.show_models()
    if services.models.mtp_told is not None:
        here.list.mtp.show_model(*services.models.mtp_told)
    if services.downloads.known is not None:
        page.downloads.show_downloads(services.downloads.known)
        page.discover.show_downloads(services.downloads.known)
    return page


def connections_page(window: MainWindow) -> ConnectionsPage:
    from app.ui.connections.connections_page import ConnectionsPage

    page = ConnectionsPage(window.services.connections, window.notifier)
    window.add_page(page)
    page.back.connect(window.go_to_chat)
    page.discover.connect(lambda: window.go_to_models("discover"))
    return page


def engines_page(window: MainWindow) -> EnginesPage:
    from app.ui.engines.engines_page import EnginesPage

    page = EnginesPage(window.services, window.notifier)
    window.add_page(page)
    page.back.connect(window.go_to_chat)
    page.settings.connect(lambda: window.show_settings("engine"))
    page.servers.connect(window.switching.show_servers)
    return page


def servers_page(window: MainWindow) -> ServersPage:
    from app.ui.servers.servers_page import ServersPage

    page = ServersPage(window.services, window.notifier, window.chooser.current)
    window.add_page(page)
    page.back.connect(window.go_to_chat)
    page.use.connect(window.chooser.use)
    page.use.connect(window.go_to_chat)
    window.services.servers.listed.connect(window.switching.show)
    return page


def help_page(window: MainWindow) -> HelpPage:
    from app.ui.help.help_page import HelpPage

    page = HelpPage(window.services, window.notifier)
    window.add_page(page)
    page.back.connect(window.go_to_chat)
    page.shortcuts.connect(window.show_shortcuts)
    return page


def exporter(window: MainWindow) -> Exporter:
    from app.ui.sidebar.exporter import Exporter

    services = window.services
    return Exporter(services.chats, services.exporting, window.notifier, window)


def importer(window: MainWindow) -> Importer:
    from app.ui.exchange.importer import Importer

    return Importer(window)
