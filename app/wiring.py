"""The composition root: the only place that makes stores, services and engines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.errors import SettingsInvalid
from app.core.settings import Settings
from app.services.answers import Answers
from app.services.bench import Bench
from app.services.library import Library
from app.services.runtime import Runtime
from app.services.trash import empty_trash
from app.store.chats import ChatStore
from app.store.db import Database
from app.store.folder import DataFolder
from app.store.models import ModelStore
from app.store.settings_file import SettingsFile
from engines.errors import EngineUnavailable
from engines.hardware import Hardware, detect
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.native import load_native
from engines.llamacpp.probe import Probe
from engines.llamacpp.resume.states import StateFolder
from engines.llamacpp.speculative.cost_book import CostBook
from engines.registry import statuses

if TYPE_CHECKING:
    from app.services.tasks import Tasks
    from app.services.window import WindowServices

RESOURCES = Path(__file__).resolve().parent.parent / "resources"
DELETED_KEPT_S = 30 * 24 * 3600.0
"""How long a deleted chat can still be brought back, in seconds."""

MB = 1_000_000

STARTER = RESOURCES / "starter" / "starter.gguf"
STARTER_DRAFTER = RESOURCES / "starter" / "starter-mtp.gguf"


def hardware() -> Hardware:
    """This computer, with the devices that llama.cpp sees; without them where it cannot load.

    Why it cannot load is told by the engines' statuses.
    """
    try:
        devices = load_native().devices()
    except EngineUnavailable:
        devices = ()
    return detect(devices)


@dataclass(frozen=True)
class Core:
    """What window and terminal share. The owner calls `close`."""

    folder: DataFolder
    database: Database
    chats: ChatStore
    settings: SettingsFile
    library: Library
    runtime: Runtime
    answers: Answers
    bench: Bench
    states: StateFolder

    def close(self) -> None:
        self.runtime.unload()
        self.database.close()


def open_core(folder: DataFolder) -> Core:
    """Open the data folder. Raises AppError; nothing stays open then."""
    folder.prepare()
    settings = SettingsFile(folder.settings)
    states = _states(folder, settings)
    database = Database(folder.database)
    chats = ChatStore(database)
    try:
        chats.mark_interrupted()
        empty_trash(chats, states.forget, DELETED_KEPT_S)
    except BaseException:
        database.close()
        raise
    library = Library(ModelStore(database), STARTER, STARTER_DRAFTER)
    engine = LlamaCppEngine(
        CostBook(folder.root / "costs.json"),
        states,
        Probe(folder.root, trusted=(STARTER, STARTER_DRAFTER)),
    )
    runtime = Runtime(engine, hardware)
    return Core(
        folder=folder,
        database=database,
        chats=chats,
        settings=settings,
        library=library,
        runtime=runtime,
        answers=Answers(chats, library, runtime),
        bench=Bench(runtime, engine.check_mtp),
        states=states,
    )


def _states(folder: DataFolder, settings: SettingsFile) -> StateFolder:
    """The chats that are kept ready on disk.

    Settings that cannot be read are told by whoever needs them next; until then the usual room
    holds, so that nothing is removed for a slip in that file.
    """
    try:
        room = settings.read().kv_disk
    except SettingsInvalid:
        room = Settings().kv_disk
    return StateFolder(folder.root / "states", room * MB)


@dataclass(frozen=True)
class WindowParts:
    """The window's own objects on top of a Core. The owner closes `tasks` before the core."""

    tasks: Tasks
    services: WindowServices


def open_services(core: Core) -> WindowParts:
    """Qt comes in here, so that the terminal runs where Qt's system libraries are missing."""
    from app.services.chats import Chats
    from app.services.generation import Generation
    from app.services.models import Models
    from app.services.same_answer import SameAnswer
    from app.services.settings import SettingsService
    from app.services.system import SystemService
    from app.services.tasks import Tasks
    from app.services.window import WindowServices

    tasks = Tasks()
    settings = SettingsService(core.settings)
    services = WindowServices(
        chats=Chats(core.chats, tasks),
        generation=Generation(core.chats, core.answers, settings, tasks),
        models=Models(core.library, tasks),
        same_answer=SameAnswer(core.bench, core.library, settings, tasks),
        settings=settings,
        system=SystemService(hardware, statuses, tasks),
        data_folder=core.folder.root,
        log_file=core.folder.logs / "hearth.log",
    )
    return WindowParts(tasks, services)
