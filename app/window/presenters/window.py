"""The presenters that the window receives for itself and for the pages it creates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from app.activity.presenters import Activity
    from app.api.presenters import ApiServer
    from app.assistants.presenters.assistants import Assistants
    from app.assistants.presenters.prompts import Prompts
    from app.chats.answers.presenters.generation import Generation
    from app.chats.history.presenters.chats import Chats
    from app.chats.presenters.chat_presenters import ChatPresenters
    from app.chats.presenters.scratch import Scratch
    from app.chats.search.presenters import ChatSearch
    from app.connections.presenters import Connections
    from app.documents.collections.presenters import Collections
    from app.documents.viewer.presenters import Viewing
    from app.exchange.presenters.exporting import Exporting
    from app.exchange.presenters.importing import Importing
    from app.help.presenters import AboutHearth
    from app.help.services.guides import Guides
    from app.kit.tasks.tasks import Tasks
    from app.models.discover.presenters.discover import Discover
    from app.models.discover.presenters.suggestions import Suggestions
    from app.models.downloads.presenters import DownloadList
    from app.models.library.presenters.models import Models
    from app.models.library.presenters.overview import ModelOverview
    from app.models.presenters import ModelsPresenters, SystemService
    from app.runtime.presenters.engine_list import EngineList
    from app.runtime.presenters.loaded import LoadedModels
    from app.servers.presenters import ServerList
    from app.settings.presenters import SettingsService
    from app.window.presenters.global_shortcut.service import GlobalShortcut
    from app.window.presenters.notifications import Notifications
    from app.window.presenters.session_bus import SessionBus
    from app.window.presenters.system_motion import SystemMotion


class WindowPresenters(Protocol):
    """The presenters of the window. Each is created, with its imports, on first use.

    Attributes:
        chat_page: For the page of the stored chats.
        models_page: For the page of models.
        viewing: For files of collections.
        tasks: For drawing that would block the window.
        data_folder, log_file: Shown to the user; the window never opens them.
        stays_offline: Whether this run stays offline, whatever the settings say.
    """

    @property
    def chats(self) -> Chats: ...
    @property
    def search(self) -> ChatSearch: ...
    @property
    def assistants(self) -> Assistants: ...
    @property
    def collections(self) -> Collections: ...
    @property
    def viewing(self) -> Viewing: ...
    @property
    def prompts(self) -> Prompts: ...
    @property
    def chat_page(self) -> ChatPresenters: ...
    @property
    def generation(self) -> Generation: ...
    @property
    def models(self) -> Models: ...
    @property
    def loaded(self) -> LoadedModels: ...
    @property
    def downloads(self) -> DownloadList: ...
    @property
    def suggestions(self) -> Suggestions: ...
    @property
    def settings(self) -> SettingsService: ...
    @property
    def system(self) -> SystemService: ...
    @property
    def about(self) -> AboutHearth: ...
    @property
    def bus(self) -> SessionBus: ...
    @property
    def notifications(self) -> Notifications: ...
    @property
    def global_shortcut(self) -> GlobalShortcut: ...
    @property
    def system_motion(self) -> SystemMotion: ...
    @property
    def exporting(self) -> Exporting: ...
    @property
    def importing(self) -> Importing: ...
    @property
    def overview(self) -> ModelOverview: ...
    @property
    def models_page(self) -> ModelsPresenters: ...
    @property
    def connections(self) -> Connections: ...
    @property
    def discover(self) -> Discover: ...
    @property
    def engines(self) -> EngineList: ...
    @property
    def activity(self) -> Activity: ...
    @property
    def servers(self) -> ServerList: ...
    @property
    def api_server(self) -> ApiServer: ...
    @property
    def guides(self) -> Guides: ...
    @property
    def tasks(self) -> Tasks: ...
    @property
    def data_folder(self) -> Path: ...
    @property
    def log_file(self) -> Path: ...
    @property
    def stays_offline(self) -> bool: ...
    def open_scratch(self) -> Scratch: ...
