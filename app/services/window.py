"""The services that the window is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.services.chats import Chats
from app.services.connections import Connections
from app.services.discover import Discover
from app.services.download_list import DownloadList
from app.services.generation import Generation
from app.services.hub_token import HubToken
from app.services.model_page import ModelPage
from app.services.models import Models
from app.services.overview import ModelOverview
from app.services.same_answer import SameAnswer
from app.services.settings import SettingsService
from app.services.suggestions import Suggestions
from app.services.system import SystemService


@dataclass(frozen=True)
class WindowServices:
    """data_folder and log_file are shown to the user, never opened by the window.

    stays_offline: this run stays offline, whatever the settings say.
    """

    chats: Chats
    generation: Generation
    models: Models
    overview: ModelOverview
    model_page: ModelPage
    downloads: DownloadList
    connections: Connections
    same_answer: SameAnswer
    discover: Discover
    suggestions: Suggestions
    hub_token: HubToken
    settings: SettingsService
    system: SystemService
    data_folder: Path
    log_file: Path
    stays_offline: bool

    @property
    def is_offline(self) -> bool:
        return self.stays_offline or self.settings.current.offline
