"""Who in the window hears whom: the signals of its parts and of the services."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.ui.window.main_window import MainWindow


def connect(window: MainWindow) -> None:
    """Once, when all parts are there."""
    sidebar, services, chooser = window.sidebar, window.services, window.chooser
    sidebar.new_chat.connect(window.new_chat)
    sidebar.models.connect(window.go_to_models)
    sidebar.places.import_chats.connect(lambda: window.importer.ask())  # noqa: PLW0108 - made when needed
    sidebar.downloads.connect(lambda: window.go_to_models("downloads"))
    sidebar.connections.connect(lambda: window.go_to(window.connections))
    sidebar.settings.connect(window.show_settings)
    sidebar.assistants.connect(window.assistants_controller.show_page)
    sidebar.scratch.connect(window.assistants_controller.open_scratch)
    window.header.chat_settings.connect(window.assistants_controller.toggle_panel)
    sidebar.help.connect(lambda: window.go_to(window.help))
    sidebar.hide_me.connect(lambda: window.set_sidebar(False))
    sidebar.show_me.connect(lambda: window.set_sidebar(True))
    sidebar.chats.opened.connect(window.open_chat)
    sidebar.chats.chosen.connect(window.choose_chat)
    window.chat_actions.gone.connect(window.leave)
    window.chat_actions.back.connect(window.open_chat)
    window.header.show_sidebar.connect(lambda: window.set_sidebar(True))
    window.header.model.connect(chooser.use)
    window.header.add_model.connect(chooser.add)
    window.header.show_models.connect(window.go_to_models)
    window.strip.show_all.connect(lambda: window.go_to_models("downloads"))
    window.banner.get_model.connect(lambda: window.go_to_models("discover"))
    window.page.shown.connect(window.refresh)
    window.page.grown.connect(window.refresh)
    chooser.changed.connect(window.show_models)
    services.chats.changed.connect(window.refresh)
    services.chats.failed.connect(window.notifier.error)
    services.search.failed.connect(window.notifier.error)
    services.settings.changed.connect(window.apply)
    services.models.mtp_known.connect(window.page.mtp.show_files)
    services.system.checked.connect(window.page.welcome.show_check)
    services.system.failed.connect(window.page.welcome.show_check_failed)
    services.suggestions.offered.connect(window.page.welcome.show_offers)
    window.page.welcome.get.connect(
        lambda offer: window.models.discover.get_offer(offer)  # noqa: PLW0108 - made when needed
    )
    window.page.welcome.choose.connect(lambda: window.go_to_models("discover"))
    _connect_models(window)


def _connect_models(window: MainWindow) -> None:
    """What is said of models between the services, the head, and the chat."""
    services, chooser, online = window.services, window.chooser, window.online
    services.models.listed.connect(window.show_models)
    services.models.listed.connect(lambda: window.page.mtp.apply(services.settings.current))
    for shows in (window.strip, window.page.welcome, window.sidebar):
        services.downloads.changed.connect(shows.show_downloads)
    services.downloads.came.connect(window.strip.show_came)
    window.strip.use.connect(services.downloads.use)
    chooser.changed.connect(window.strip.dismiss)
    window.download_notices.use.connect(chooser.use)
    window.download_notices.listed.connect(services.models.look)
    window.header.toggle_offline.connect(online.toggle)
    online.changed.connect(window.header.set_offline)
