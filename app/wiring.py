"""The composition root: the only place that makes stores, services and engines."""

from __future__ import annotations

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
from app.services.answers import Answers
from app.services.bench import Bench
from app.services.collection.collection import Collection
from app.services.collection.folders import folders_named
from app.services.collection.places import places_here
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
from app.store.chats import ChatStore
from app.store.db import Database
from app.store.downloads import DownloadStore
from app.store.folder import DataFolder
from app.store.ledger import Ledger
from app.store.loads import LoadStore
from app.store.models import ModelStore
from app.store.secrets import Secrets
from app.store.settings_file import SettingsFile
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
    from app.services.tasks import Tasks
    from app.services.window import WindowServices

RESOURCES = Path(__file__).resolve().parent.parent / "resources"
DELETED_KEPT_S = 30 * 24 * 3600.0
"""How long a deleted chat can still be brought back, in seconds."""

HEADERS_KEPT_S = 30 * 24 * 3600.0
"""How long a header from the Hub is kept, in seconds."""

MB = 1_000_000

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


@dataclass(frozen=True)
class Core:
    """What window and terminal share. The owner calls `close`.

    stays_offline: in this run, whatever the settings say.
    """

    folder: DataFolder
    database: Database
    chats: ChatStore
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
        self.database.close()


def open_core(folder: DataFolder, offline: bool = False) -> Core:
    """Open the data folder. Raises AppError; nothing stays open then.

    offline: stay offline in this run, whatever the settings say.
    """
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
    recommending = Recommending(CATALOGUE, folder.root, default_root, hardware, hub)
    advise = with_catalogue(recommending.catalogue)
    runtime = Runtime(engine, fitting, advise)
    care = ModelCare(library, models, collection)
    downloads = DownloadQueue(
        DownloadStore(database),
        Fetcher(gate, default_root(), tokens.for_hub, Terms(Limiter())),
        lambda: _pace(settings),
    )
    downloads.on_done = care.downloaded
    return Core(
        folder=folder,
        database=database,
        chats=chats,
        settings=settings,
        library=library,
        care=care,
        runtime=runtime,
        fitting=fitting,
        answers=Answers(chats, library, runtime),
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
    from app.services.tasks import Tasks
    from app.services.window import WindowServices

    tasks = Tasks()
    tasks.closing.connect(core.gate.hang_up)
    settings = SettingsService(core.settings)
    services = WindowServices(
        chats=Chats(core.chats, tasks),
        generation=Generation(core.chats, core.answers, settings, tasks),
        models=Models(core.library, core.care, tasks, core.advise),
        overview=ModelOverview(core.library, core.care, core.folder.root, tasks),
        model_page=ModelPage(core.library, core.care, core.fitting, settings, hardware, tasks),
        downloads=DownloadList(core.downloads, core.library, is_metered, tasks),
        connections=Connections(core.ledger, tasks),
        same_answer=SameAnswer(core.bench, core.library, settings, tasks),
        discover=Discover(
            core.hub,
            core.downloads,
            core.fitting,
            core.tokens,
            settings,
            hardware,
            endpoint,
            core.folder.headers,
            tasks,
        ),
        suggestions=Suggestions(core.recommending, hardware, tasks),
        hub_token=HubToken(core.tokens, tasks),
        settings=settings,
        system=SystemService(hardware, statuses, tasks),
        data_folder=core.folder.root,
        log_file=core.folder.logs / "hearth.log",
        stays_offline=core.stays_offline,
    )
    return WindowParts(tasks, services)
