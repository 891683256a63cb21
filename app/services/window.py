"""The services that the window is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.services.chats import Chats
from app.services.generation import Generation
from app.services.models import Models
from app.services.same_answer import SameAnswer
from app.services.settings import SettingsService
from app.services.system import SystemService


@dataclass(frozen=True)
class WindowServices:
    """data_folder and log_file are shown to the user, never opened by the window."""

    chats: Chats
    generation: Generation
    models: Models
    same_answer: SameAnswer
    settings: SettingsService
    system: SystemService
    data_folder: Path
    log_file: Path
