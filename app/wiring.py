"""The composition root: the only place that makes stores, services and engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.errors import SettingsInvalid
from app.core.settings import Settings
from app.hub.cache_layout import default_root
from app.hub.client import Hub
from app.hub.fetch import Fetcher
from app.hub.limiter import Limiter
from app.hub.remote_header import forget_headers
from app.hub.transfer import Terms
from app.net import Gate, endpoint
from app.opening import MB, FirstServices, Opened, first_services, open_data
from app.services.answers import Answers
from app.services.bench import Bench
from app.services.chat_layers import ChatLayers
from app.services.collection.collection import Collection
from app.services.collection.folders import folders_named
from app.services.collection.places import places_here
from app.services.compacting import Compacting
from app.services.downloads import DownloadQueue, Pace
from app.services.fitting import Fitting
from app.services.library import Library
from app.services.metered import is_metered
from app.services.model_care import ModelCare
from app.services.mtp_advice import Advise, with_catalogue
from app.services.recommending import Recommending
from app.services.runtime import Runtime
from app.services.tokens import Tokens
from app.services.trash import empty_trash
from app.store.assistants import AssistantStore
from app.store.branches import BranchStore
from app.store.chat_settings import ChatSettingsStore
from app.store.chats import ChatStore
from app.store.db import Database
from app.store.downloads import DownloadStore
from app.store.folder import DataFolder
from app.store.folders import FolderStore
from app.store.imports import ImportStore
from app.store.ledger import Ledger
from app.store.loads import LoadStore
from app.store.models import ModelStore
from app.store.prompts import PromptStore
from app.store.search import Search
from app.store.search_index import SearchIndex
from app.store.secrets import Secrets
from app.store.settings_file import SettingsFile
from app.store.shelves import Shelves
from app.store.snapshots import Snapshots
from app.store.summaries import SummaryStore
from engines.errors import EngineUnavailable
from engines.hardware import Hardware, detect
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.native import load_native
from engines.llamacpp.probe import Probe
from engines.llamacpp.resume.states import StateFolder
from engines.llamacpp.sizing.sizer import Sizer
from engines.llamacpp.speculative.cost_book import CostBook
from engines.registry import statuses

if TYPE_CHECKING:
    from app.services.snapshots import DailySnapshots
    from app.services.tasks import Tasks
    from app.services.titles import Titles
    from app.services.window import WindowServices

RESOURCES = Path(__file__).resolve().parent.parent / "resources"
DELETED_KEPT_S = 30 * 24 * 3600.0
"""How long a deleted chat can still be brought back, in seconds."""

HEADERS_KEPT_S = 30 * 24 * 3600.0
"""How long a header from the Hub is kept, in seconds."""

CATALOGUE = RESOURCES / "catalogue.json"
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


def hardware_from_outside() -> Callable[[], Hardware]:
    """The same, without loading llama.cpp into this process where it is not yet."""
    from engines.llamacpp.devices import Devices

    looking = Devices()

    def look() -> Hardware:
        try:
            return detect(looking.look())
        except EngineUnavailable:
            return detect(())

    return look


@dataclass(frozen=True)
class Core:
    """What window and terminal share. The owner calls `close`.

    stays_offline: in this run, whatever the settings say.
    """

    opened: Opened
    look: Callable[[], Hardware]
    folder: DataFolder
    database: Database
    chats: ChatStore
    shelves: Shelves
    folders: FolderStore
    imports: ImportStore
    index: SearchIndex
    search: Search
    snapshots: Snapshots
    assistants: AssistantStore
    prompts: PromptStore
    settings: SettingsFile
    library: Library
    care: ModelCare
    runtime: Runtime
    fitting: Fitting
    answers: Answers
    bench: Bench
    states: StateFolder
    stays_offline: bool
    gate: Gate
    ledger: Ledger
    secrets: Secrets
    tokens: Tokens
    hub: Hub
    recommending: Recommending
    advise: Advise
    downloads: DownloadQueue

    def close(self) -> None:
        self.runtime.unload()
        self.downloads.close()
        self.gate.close()
        self.index.close()
        self.database.close()


def open_core(folder: DataFolder, offline: bool = False) -> Core:
    """Open the data folder. Raises AppError; nothing stays open then.

    offline: stay offline in this run, whatever the settings say.
    """
    return complete(open_data(folder), offline)


def complete(
    opened: Opened, offline: bool = False, look: Callable[[], Hardware] | None = None
) -> Core:
    """All else that goes with an open data folder. Raises AppError; nothing stays open then.

    look: sees the computer for those who load no model.
    """
    look = look or hardware
    folder, settings, database = opened.folder, opened.settings, opened.database
    chats = opened.chats
    try:
        states = opened.states
        chats.mark_interrupted()
        empty_trash(chats, states.forget, DELETED_KEPT_S)
        BranchStore(database).purge(DELETED_KEPT_S)
        index = SearchIndex(folder.search, database)
    except BaseException:
        database.close()
        raise
    forget_headers(folder.headers, HEADERS_KEPT_S)
    models = ModelStore(database)
    collection = Collection(places_here(), folder.models, lambda: _further_folders(settings))
    library = Library(models, STARTER, STARTER_DRAFTER, collection)
    engine = LlamaCppEngine(
        CostBook(folder.root / "costs.json"),
        states,
        Probe(folder.root, trusted=(STARTER, STARTER_DRAFTER)),
    )
    fitting = Fitting(hardware, LoadStore(database), Sizer(folder.root))
    ledger = Ledger(database)
    gate = Gate(ledger.add, lambda: offline or settings.read().offline)
    secrets = Secrets()
    # Whose a token is, is asked without the one that is kept.
    tokens = Tokens(secrets, Hub(gate, lambda: None).who)
    hub = Hub(gate, tokens.for_hub)
    recommending = Recommending(CATALOGUE, folder.root, default_root, look, hub)
    advise = with_catalogue(recommending.catalogue)
    runtime = Runtime(engine, fitting, advise)
    assistants = AssistantStore(database)
    care = ModelCare(library, models, collection)
    downloads = DownloadQueue(
        DownloadStore(database),
        Fetcher(gate, default_root(), tokens.for_hub, Terms(Limiter())),
        lambda: _pace(settings),
    )
    downloads.on_done = care.downloaded
    return Core(
        opened=opened,
        look=look,
        folder=folder,
        database=database,
        chats=chats,
        shelves=opened.shelves,
        folders=opened.folders,
        imports=ImportStore(database),
        index=index,
        search=Search(index, database),
        snapshots=Snapshots(folder.snapshots, folder.database),
        assistants=assistants,
        prompts=PromptStore(database),
        settings=settings,
        library=library,
        care=care,
        runtime=runtime,
        fitting=fitting,
        answers=Answers(
            chats,
            library,
            runtime,
            ChatLayers(ChatSettingsStore(database), assistants),
            Compacting(SummaryStore(database), runtime),
        ),
        bench=Bench(runtime, engine.check_mtp),
        states=states,
        stays_offline=offline,
        gate=gate,
        ledger=ledger,
        secrets=secrets,
        tokens=tokens,
        hub=hub,
        recommending=recommending,
        advise=advise,
        downloads=downloads,
    )


def _pace(settings: SettingsFile) -> Pace:
    """As the settings say; settings that cannot be read are told by whoever needs them next."""
    try:
        now = settings.read()
    except SettingsInvalid:
        now = Settings()
    return Pace(now.download_limit * MB, now.download_parallel)


def _further_folders(settings: SettingsFile) -> tuple[Path, ...]:
    """None, as long as the settings cannot be read; whoever needs them next says so."""
    try:
        return folders_named(settings.read().model_folders)
    except SettingsInvalid:
        return ()


@dataclass(frozen=True)
class WindowParts:
    """The window's own objects on top of a Core. The owner closes `tasks` before the core."""

    tasks: Tasks
    services: WindowServices
    background: tuple[Titles, DailySnapshots]


def open_services(core: Core, first: FirstServices | None = None) -> WindowParts:
    """Qt comes in here, so that the terminal runs where Qt's system libraries are missing.

    first: those that are there already.
    """
    from app.services.assistants import Assistants
    from app.services.chat_search import ChatSearch
    from app.services.chat_settings import ChatSettings
    from app.services.connections import Connections
    from app.services.discover import Discover
    from app.services.download_list import DownloadList
    from app.services.exchange.exporting import Exporting
    from app.services.exchange.importing import Importing
    from app.services.generation import Generation
    from app.services.global_shortcut.service import GlobalShortcut
    from app.services.hub_token import HubToken
    from app.services.model_page import ModelPage
    from app.services.models import Models
    from app.services.notifications import Notifications
    from app.services.overview import ModelOverview
    from app.services.prompts import Prompts
    from app.services.same_answer import SameAnswer
    from app.services.session_bus import SessionBus
    from app.services.suggestions import Suggestions
    from app.services.system import SystemService
    from app.services.system_motion import SystemMotion
    from app.services.window import WindowServices
    from app.ui.exchange.pdf import print_chats
    from app.wiring_chats import answering, context, in_background, scratch

    first = first or first_services(core.opened)
    tasks, settings = first.tasks, first.settings
    tasks.closing.connect(core.gate.hang_up)
    bus = SessionBus(tasks)
    assistants = Assistants(core.assistants, tasks)
    generation = Generation(core.chats, core.answers, settings, tasks)
    services = WindowServices(
        chats=first.chats,
        search=ChatSearch(core.search, core.index, tasks),
        exporting=Exporting(core.chats, core.folders, print_chats, tasks),
        importing=Importing(core.imports, tasks),
        assistants=assistants,
        chat_settings=ChatSettings(
            ChatSettingsStore(core.database), assistants, core.library, settings, tasks
        ),
        prompts=Prompts(core.prompts, tasks),
        open_scratch=lambda: scratch(
            core.library, core.runtime, core.assistants, assistants, settings, tasks
        ),
        generation=generation,
        answering=answering(core.database, core.library, generation, tasks),
        context=context(core.database, core.answers, core.runtime, settings, tasks),
        models=Models(core.library, core.care, tasks, core.advise),
        overview=ModelOverview(core.library, core.care, core.folder.root, tasks),
        model_page=ModelPage(core.library, core.care, core.fitting, settings, core.look, tasks),
        downloads=DownloadList(core.downloads, core.library, is_metered, tasks),
        connections=Connections(core.ledger, tasks),
        same_answer=SameAnswer(core.bench, core.library, settings, tasks),
        discover=Discover(
            core.hub,
            core.downloads,
            core.fitting,
            core.tokens,
            settings,
            core.look,
            endpoint,
            core.folder.headers,
            tasks,
        ),
        suggestions=Suggestions(core.recommending, core.look, tasks),
        hub_token=HubToken(core.tokens, tasks),
        settings=settings,
        system=SystemService(core.look, statuses, tasks),
        bus=bus,
        notifications=Notifications(bus),
        global_shortcut=GlobalShortcut(bus),
        system_motion=SystemMotion(bus),
        tasks=tasks,
        data_folder=core.folder.root,
        log_file=core.folder.logs / "hearth.log",
        stays_offline=core.stays_offline,
    )
    background = in_background(core.chats, core.runtime, core.snapshots, services, tasks)
    return WindowParts(tasks, services, background)
