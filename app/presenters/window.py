"""What the window is given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from app.presenters.activity import Activity
    from app.presenters.answering import Answering
    from app.presenters.api_server import ApiServer
    from app.presenters.assistants import Assistants
    from app.presenters.chat_search import ChatSearch
    from app.presenters.chat_settings import ChatSettings
    from app.presenters.chats import Chats
    from app.presenters.collections import Collections
    from app.presenters.connections import Connections
    from app.presenters.context_use import ContextUses
    from app.presenters.desktop.global_shortcut.service import GlobalShortcut
    from app.presenters.desktop.notifications import Notifications
    from app.presenters.desktop.session_bus import SessionBus
    from app.presenters.desktop.system_motion import SystemMotion
    from app.presenters.discover import Discover
    from app.presenters.download_list import DownloadList
    from app.presenters.engine_list import EngineList
    from app.presenters.exporting import Exporting
    from app.presenters.generation import Generation
    from app.presenters.hub_token import HubToken
    from app.presenters.importing import Importing
    from app.presenters.loaded import LoadedModels
    from app.presenters.metadata import ModelMetadata
    from app.presenters.model_page import ModelPage
    from app.presenters.models import Models
    from app.presenters.overview import ModelOverview
    from app.presenters.prompts import Prompts
    from app.presenters.same_answer import SameAnswer
    from app.presenters.scratch import Scratch
    from app.presenters.server_list import ServerList
    from app.presenters.settings import SettingsService
    from app.presenters.suggestions import Suggestions
    from app.presenters.system import SystemService
    from app.presenters.tasks import Tasks
    from app.services.guides import Guides


class WindowPresenters(Protocol):
    """The presenters of the window; each is made, with its imports, when it is first asked for.

    data_folder and log_file are shown to the user, never opened by the window. stays_offline: this
    run stays offline, whatever the settings say. open_scratch: makes a chat of which nothing is
    kept. tasks: for drawing that would hold up the window.
    """

    @property
    def chats(self) -> Chats: ...
    @property
    def search(self) -> ChatSearch: ...
    @property
    def assistants(self) -> Assistants: ...
    @property
    def chat_settings(self) -> ChatSettings: ...
    @property
    def collections(self) -> Collections: ...
    @property
    def prompts(self) -> Prompts: ...
    @property
    def generation(self) -> Generation: ...
    @property
    def answering(self) -> Answering: ...
    @property
    def context(self) -> ContextUses: ...
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
    def model_page(self) -> ModelPage: ...
    @property
    def metadata(self) -> ModelMetadata: ...
    @property
    def connections(self) -> Connections: ...
    @property
    def same_answer(self) -> SameAnswer: ...
    @property
    def discover(self) -> Discover: ...
    @property
    def hub_token(self) -> HubToken: ...
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
    @property
    def is_offline(self) -> bool: ...
    def open_scratch(self) -> Scratch: ...
