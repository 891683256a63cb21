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
    from app.chats.history.presenters.chat_settings import ChatSettings
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
    from app.window.presenters.dropped import DroppedFiles
    from app.window.presenters.global_shortcut.service import GlobalShortcut
    from app.window.presenters.notifications import Notifications
    from app.window.presenters.session_bus import SessionBus
    from app.window.presenters.system_motion import SystemMotion


class WindowPresenters(Protocol):
    """The presenters of the window. Each is created, with its imports, on first use."""

    @property
    def chats(self) -> Chats:
        """The stored chats."""

    @property
    def search(self) -> ChatSearch:
        """The search over all chats."""

    @property
    def chat_settings(self) -> ChatSettings:
        """The settings of single chats."""

    @property
    def assistants(self) -> Assistants:
        """The assistants."""

    @property
    def collections(self) -> Collections:
        """The collections of documents."""

    @property
    def viewing(self) -> Viewing:
        """The files of collections, for the viewer."""

    @property
    def prompts(self) -> Prompts:
        """The prompt library."""

    @property
    def chat_page(self) -> ChatPresenters:
        """The presenters of the page of the stored chats."""

    @property
    def generation(self) -> Generation:
        """The answers that are being written."""

    @property
    def models(self) -> Models:
        """The models in the library."""

    @property
    def loaded(self) -> LoadedModels:
        """The loaded models."""

    @property
    def downloads(self) -> DownloadList:
        """The downloads."""

    @property
    def suggestions(self) -> Suggestions:
        """The models to suggest at first."""

    @property
    def settings(self) -> SettingsService:
        """The settings."""

    @property
    def system(self) -> SystemService:
        """The check of this computer."""

    @property
    def about(self) -> AboutHearth:
        """The facts about this version of Hearth."""

    @property
    def bus(self) -> SessionBus:
        """The session's D-Bus."""

    @property
    def notifications(self) -> Notifications:
        """The notifications of the desktop."""

    @property
    def global_shortcut(self) -> GlobalShortcut:
        """The global shortcut of quick ask."""

    @property
    def system_motion(self) -> SystemMotion:
        """The system's setting for motion."""

    @property
    def exporting(self) -> Exporting:
        """The export of chats."""

    @property
    def importing(self) -> Importing:
        """The import of chats."""

    @property
    def dropped(self) -> DroppedFiles:
        """The look at dropped files."""

    @property
    def overview(self) -> ModelOverview:
        """The overview of all models."""

    @property
    def models_page(self) -> ModelsPresenters:
        """The presenters of the page of models."""

    @property
    def connections(self) -> Connections:
        """The list of connections."""

    @property
    def discover(self) -> Discover:
        """The search for models, and their downloads."""

    @property
    def engines(self) -> EngineList:
        """The engines and their installation."""

    @property
    def activity(self) -> Activity:
        """The activity of the engines."""

    @property
    def servers(self) -> ServerList:
        """The servers that the user has added."""

    @property
    def api_server(self) -> ApiServer:
        """The server for other programs."""

    @property
    def guides(self) -> Guides:
        """The guides."""

    @property
    def tasks(self) -> Tasks:
        """The tasks, for drawing that would block the window."""

    @property
    def data_folder(self) -> Path:
        """The data folder, to show to the user; the window never opens it."""

    @property
    def log_file(self) -> Path:
        """The log file, to show to the user; the window never opens it."""

    @property
    def stays_offline(self) -> bool:
        """True if this run stays offline, regardless of the settings."""

    def open_scratch(self) -> Scratch:
        """Create a scratch chat with presenters of its own."""
