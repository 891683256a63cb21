"""The services that the window is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.presenters.answering import Answering
    from app.presenters.assistants import Assistants
    from app.presenters.chat_search import ChatSearch
    from app.presenters.chat_settings import ChatSettings
    from app.presenters.chats import Chats
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


@dataclass(frozen=True)
class LazyServices:
    """Make the services of what is seldom gone to: they are imported and made by then."""

    exporting: Callable[[], Exporting]
    importing: Callable[[], Importing]
    overview: Callable[[], ModelOverview]
    model_page: Callable[[], ModelPage]
    connections: Callable[[], Connections]
    same_answer: Callable[[], SameAnswer]
    discover: Callable[[], Discover]
    hub_token: Callable[[], HubToken]
    engines: Callable[[Callable[[], object]], EngineList]
    servers: Callable[[], ServerList]
    guides: Callable[[], Guides]


@dataclass(frozen=True)
class WindowServices:
    """data_folder and log_file are shown to the user, never opened by the window.

    stays_offline: this run stays offline, whatever the settings say. open_scratch: makes a chat of
    which nothing is kept. tasks: for drawing that would hold up the window.
    """

    chats: Chats
    search: ChatSearch
    assistants: Assistants
    chat_settings: ChatSettings
    prompts: Prompts
    open_scratch: Callable[[], Scratch]
    generation: Generation
    answering: Answering
    context: ContextUses
    models: Models
    downloads: DownloadList
    suggestions: Suggestions
    settings: SettingsService
    system: SystemService
    bus: SessionBus
    notifications: Notifications
    global_shortcut: GlobalShortcut
    system_motion: SystemMotion
    tasks: Tasks
    makers: LazyServices
    data_folder: Path
    log_file: Path
    stays_offline: bool

    @property
    def is_offline(self) -> bool:
        return self.stays_offline or self.settings.current.offline

    @cached_property
    def exporting(self) -> Exporting:
        return self.makers.exporting()

    @cached_property
    def importing(self) -> Importing:
        return self.makers.importing()

    @cached_property
    def overview(self) -> ModelOverview:
        return self.makers.overview()

    @cached_property
    def model_page(self) -> ModelPage:
        return self.makers.model_page()

    @cached_property
    def connections(self) -> Connections:
        return self.makers.connections()

    @cached_property
    def same_answer(self) -> SameAnswer:
        return self.makers.same_answer()

    @cached_property
    def discover(self) -> Discover:
        return self.makers.discover()

    @cached_property
    def hub_token(self) -> HubToken:
        return self.makers.hub_token()

    @cached_property
    def engines(self) -> EngineList:
        return self.makers.engines(self.generation.stop_all)

    @cached_property
    def servers(self) -> ServerList:
        return self.makers.servers()

    @cached_property
    def guides(self) -> Guides:
        return self.makers.guides()
