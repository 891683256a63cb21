"""Makes the window's services on top of what it shares with the terminal.

Qt comes in here, so that the terminal runs where Qt's system libraries are missing.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.opening import FirstServices, first_services
from app.presenters.assistants import Assistants
from app.presenters.chat_search import ChatSearch
from app.presenters.chat_settings import ChatSettings
from app.presenters.desktop.global_shortcut.service import GlobalShortcut
from app.presenters.desktop.notifications import Notifications
from app.presenters.desktop.session_bus import SessionBus
from app.presenters.desktop.system_motion import SystemMotion
from app.presenters.download_list import DownloadList
from app.presenters.generation import Generation
from app.presenters.idle import IdleStop
from app.presenters.models import Models
from app.presenters.prompts import Prompts
from app.presenters.snapshots import DailySnapshots
from app.presenters.suggestions import Suggestions
from app.presenters.system import SystemService
from app.presenters.tasks import Tasks
from app.presenters.titles import Titles
from app.presenters.window import WindowServices
from app.services.downloads.metered import is_metered
from app.store.chat_settings import ChatSettingsStore
from app.wiring.chats import answering, context, in_background, scratch
from app.wiring.core import Core
from app.wiring.visits import makers


@dataclass(frozen=True)
class WindowParts:
    """The window's own objects on top of a Core. The owner closes `tasks` before the core."""

    tasks: Tasks
    services: WindowServices
    background: tuple[Titles, DailySnapshots]


def open_services(core: Core, first: FirstServices | None = None) -> WindowParts:
    """first: those that are there already."""
    first = first or first_services(core.opened)
    tasks, settings = first.tasks, first.settings
    tasks.closing.connect(core.gate.hang_up)
    settings.changed.connect(lambda now: core.gate.leave_outside() if now.offline else None)
    bus = SessionBus(tasks)
    assistants = Assistants(core.assistants, tasks)
    generation = Generation(core.chats, core.answers, settings, tasks)
    services = WindowServices(
        chats=first.chats,
        search=ChatSearch(core.search, core.index, tasks),
        assistants=assistants,
        chat_settings=ChatSettings(
            ChatSettingsStore(core.database),
            assistants,
            core.library,
            settings,
            tasks,
            stays=core.staying.at_once,
        ),
        prompts=Prompts(core.prompts, tasks),
        open_scratch=lambda: scratch(
            core.library, core.runtime, core.assistants, assistants, settings, tasks
        ),
        generation=generation,
        answering=answering(core.database, core.library, generation, tasks),
        context=context(core.database, core.answers, core.runtime, settings, tasks),
        models=Models(core.library, core.care, tasks, core.advise),
        downloads=DownloadList(core.downloads, core.library, is_metered, tasks),
        suggestions=Suggestions(core.recommending, core.look, tasks),
        settings=settings,
        system=SystemService(core.look, core.statuses, tasks),
        bus=bus,
        notifications=Notifications(bus),
        global_shortcut=GlobalShortcut(bus),
        system_motion=SystemMotion(bus),
        tasks=tasks,
        makers=makers(core, settings, tasks),
        data_folder=core.folder.root,
        log_file=core.folder.logs / "hearth.log",
        stays_offline=core.stays_offline,
    )
    IdleStop(core.runtime, lambda: settings.current.vllm_idle, tasks, parent=tasks)
    background = in_background(core.chats, core.runtime, core.snapshots, services, tasks)
    return WindowParts(tasks, services, background)
