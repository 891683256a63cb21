"""Makes what window and terminal share: the data folder's stores, the engines, the gate."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.errors import NothingKept
from app.core.models.entry import ModelEntry
from app.core.once import once
from app.hub.cache_root import default_root
from app.net import Gate
from app.opening import MB, Opened, open_data
from app.services.answers.answers import Answers
from app.services.answers.chat_layers import ChatLayers
from app.services.answers.compacting import Compacting
from app.services.answers.local_fallback import LocalFallback
from app.services.chats.trash import empty_trash, see_today
from app.services.downloads.queue import DownloadQueue, Pace
from app.services.engines.choice import EngineChoice
from app.services.engines.loads import LlamaLoader
from app.services.engines.loads_remote import RemoteLoads
from app.services.engines.runtime import Runtime
from app.services.engines.servers import Servers
from app.services.measuring.speeds import MeasuredSpeeds
from app.services.models.collection.collection import Collection
from app.services.models.collection.folders import folders_named
from app.services.models.collection.places import places_here
from app.services.models.library import Library
from app.services.models.manager import ModelManager
from app.services.models.mtp_advice import Advise, with_catalogue
from app.services.models.recommending import Recommending
from app.services.models.served import served_models
from app.services.tokens import Tokens
from app.store.assistants import AssistantStore
from app.store.branches import BranchStore
from app.store.chat_lists import ChatLists
from app.store.chat_settings import ChatSettingsStore
from app.store.chats import ChatStore
from app.store.db import Database
from app.store.downloads import DownloadStore
from app.store.folder import DataFolder
from app.store.folders import FolderStore
from app.store.ledger import Ledger
from app.store.models import ModelStore
from app.store.prompts import PromptStore
from app.store.search import Search
from app.store.search_index import SearchIndex
from app.store.secrets import Secrets
from app.store.servers import ServerStore
from app.store.settings_file import SettingsFile
from app.store.snapshots import Snapshots
from app.store.summaries import SummaryStore
from app.wiring.shipped import CATALOGUE, STARTER, STARTER_DRAFTER
from app.wiring.vllm import Vllm, cards, linux_inside, system
from engines.redaction import remember_environment
from engines.registry import EngineStatus, statuses

if TYPE_CHECKING:
    from app.hub.client import Hub
    from app.hub.fetch import Fetcher
    from app.services.engines.device_trials import DeviceTrials
    from app.services.engines.installer import EngineInstaller
    from app.services.measuring.bench import Bench
    from app.services.measuring.bench_many import ManyBench
    from app.services.models.fitting import Fitting
    from app.store.imports import ImportStore
    from engines.hardware import Hardware
    from engines.llamacpp.engine import LlamaCppEngine
    from engines.llamacpp.resume.states import StateFolder
    from engines.remote.engine import RemoteEngine

DELETED_KEPT_DAYS = 30
"""How long a deleted chat can still be brought back: days on which Hearth was open."""

HEADERS_KEPT_S = 30 * 24 * 3600.0
"""How long a header from the Hub is kept, in seconds."""


def hardware(folder: Path | None = None) -> Hardware:
    """This computer, with the devices that llama.cpp sees; without them where it cannot load.

    folder: where verdicts on devices are remembered.
    """
    from app.wiring.devices import device_care, looking

    return looking(device_care(folder, STARTER), inside=True)()


@dataclass(frozen=True)
class Core:
    """What window and terminal share. The owner calls `close`.

    What a start does without is imported and made when it is first asked for.
    outside: devices are seen through another process. stays_offline: in this run, whatever the
    settings say. hindered: why nothing can be kept just now, where that is so.
    """

    opened: Opened
    hindered: NothingKept | None
    outside: bool
    folder: DataFolder
    database: Database
    chats: ChatStore
    shelves: ChatLists
    folders: FolderStore
    index: SearchIndex
    search: Search
    snapshots: Snapshots
    assistants: AssistantStore
    prompts: PromptStore
    settings: SettingsFile
    library: Library
    care: ModelManager
    runtime: Runtime
    answers: Answers
    stays_offline: bool
    gate: Gate
    ledger: Ledger
    secrets: Secrets
    tokens: Tokens
    servers: Servers
    recommending: Recommending
    advise: Advise
    downloads: DownloadQueue
    vllm: Vllm
    choice: EngineChoice
    staying: LocalFallback
    speeds: MeasuredSpeeds
    engine_care: Callable[[], EngineInstaller]

    def look(self) -> Hardware:
        """This computer, as it is now."""
        from app.wiring.devices import looking

        return looking(self.devices, inside=not self.outside)()

    @property
    def states(self) -> StateFolder:
        return self.opened.states

    @once
    def devices(self) -> DeviceTrials:
        from app.wiring.devices import device_care

        return device_care(self.folder.root, STARTER)

    @once
    def fitting(self) -> Fitting:
        from app.services.models.fitting import Fitting
        from app.store.loads import LoadStore
        from app.wiring.devices import looking
        from engines.llamacpp.sizing.sizer import Sizer

        look = looking(self.devices, inside=True)
        return Fitting(look, LoadStore(self.database), Sizer(self.folder.root))

    @once
    def hub(self) -> Hub:
        from app.hub.client import Hub

        return Hub(self.gate, self.tokens.for_hub)

    def fetcher(self) -> Fetcher:
        from app.hub.fetch import Fetcher
        from app.hub.limiter import Limiter
        from app.hub.transfer import Terms

        return Fetcher(self.gate, default_root(), self.tokens.for_hub, Terms(Limiter()))

    def llama(self) -> LlamaCppEngine:
        from engines.llamacpp.engine import LlamaCppEngine
        from engines.llamacpp.probe import Probe
        from engines.llamacpp.speculative.cost_book import CostBook

        return LlamaCppEngine(
            CostBook(self.folder.root / "costs.json"),
            self.states,
            Probe(self.folder.root, trusted=(STARTER, STARTER_DRAFTER)),
            self.devices.complaints,
        )

    @cached_property
    def imports(self) -> ImportStore:
        from app.store.imports import ImportStore

        return ImportStore(self.database)

    @cached_property
    def bench(self) -> Bench:
        from app.services.measuring.bench import Bench

        return Bench(self.runtime)

    @cached_property
    def many(self) -> ManyBench:
        from app.services.measuring.bench_many import ManyBench

        return ManyBench(self.runtime)

    def statuses(self) -> tuple[EngineStatus, ...]:
        """Which engines can run here, and why the others cannot."""
        return statuses(self.folder.engines, len(self.servers.list()))

    def close(self) -> None:
        with ExitStack() as last:
            # In the other order; each whatever became of those before it.
            last.callback(self.database.close)
            last.callback(self.index.close)
            last.callback(self.gate.close)
            last.callback(self.downloads.close)
            self.runtime.unload()


def open_core(folder: DataFolder, offline: bool = False) -> Core:
    """Open the data folder. Raises AppError; nothing stays open then.

    offline: stay offline in this run, whatever the settings say.
    """
    return complete(open_data(folder), offline)


def complete(opened: Opened, offline: bool = False, *, outside: bool = False) -> Core:
    """All else that goes with an open data folder. Raises AppError; nothing stays open then.

    outside: those who load no model see the computer's devices through another process.
    """
    folder, settings, database = opened.folder, opened.settings, opened.database
    chats = opened.chats
    try:
        hindered = opened.hindered or _tidy(opened)
        index = SearchIndex(folder.search, database, only_read=hindered is not None)
    except BaseException:
        database.close()
        raise
    if folder.headers.exists():
        from app.hub.remote_header import forget_headers

        forget_headers(folder.headers, HEADERS_KEPT_S)
    core: Core  # its parts make each other when they are first needed
    models = ModelStore(database)
    collection = Collection(places_here(), folder.models, lambda: _further_folders(settings))

    def further() -> list[ModelEntry]:
        """What lies nowhere here as a file of its own."""
        return [*vllm.starter(), *served_models(servers.list(), servers.facts, servers.way)]

    library = Library(models, STARTER, STARTER_DRAFTER, collection, further)
    ledger = Ledger(database)
    gate = Gate(ledger.add, lambda: offline or settings.read().offline)

    @cache
    def care_of_engines() -> EngineInstaller:
        from app.wiring.care import engine_care

        return engine_care(
            folder.engines, gate, lambda: offline or settings.read().offline, linux_inside()
        )

    remember_environment(os.environ)
    secrets = Secrets()
    tokens = Tokens(secrets, partial(_whose, gate))
    recommending = Recommending(
        CATALOGUE,
        folder.root,
        default_root,
        lambda: core.look(),  # noqa: PLW0108 - it is made last
        lambda: core.hub,
    )
    advise = with_catalogue(recommending.catalogue)
    servers = Servers(ServerStore(database), secrets, gate)
    staying = LocalFallback(library.shelf, servers.leaves)
    vllm = Vllm(
        folder.engines,
        ledger.add,
        lambda: offline or settings.read().offline,
        lambda: core.look(),  # noqa: PLW0108 - it is made last
        linux_inside(),
    )
    speeds = MeasuredSpeeds(folder.root / "speeds.json")
    choice = EngineChoice(
        library,
        recommending.catalogue,
        settings,
        system(),
        cards,
        vllm.here,
        lambda: len(servers.list()),
        speeds.all,
    )

    def remote() -> RemoteEngine:
        from engines.remote.engine import RemoteEngine

        return RemoteEngine(servers.lend)

    runtime = Runtime(
        {
            "llamacpp": LlamaLoader(
                lambda: core.llama(),  # noqa: PLW0108 - it is made last
                lambda: core.fitting,
                advise,
                lambda names, cancel: core.devices.ready(names, cancel),  # noqa: PLW0108 - it is made last
            ),
            "vllm": vllm.loads(choice.depth_for),
            "remote": RemoteLoads(remote),
        }
    )
    assistants = AssistantStore(database)
    care = ModelManager(library, models, collection)
    downloads = DownloadQueue(
        DownloadStore(database),
        lambda: core.fetcher(),  # noqa: PLW0108 - it is made last
        lambda: _pace(settings),
    )
    downloads.on_done = care.downloaded
    core = Core(
        opened=opened,
        hindered=hindered.at_start() if hindered else None,
        outside=outside,
        folder=folder,
        database=database,
        chats=chats,
        shelves=opened.shelves,
        folders=opened.folders,
        index=index,
        search=Search(index, database),
        snapshots=Snapshots(folder.snapshots, folder.database),
        assistants=assistants,
        prompts=PromptStore(database),
        settings=settings,
        library=library,
        care=care,
        runtime=runtime,
        answers=Answers(
            chats,
            library,
            runtime,
            ChatLayers(ChatSettingsStore(database), assistants),
            Compacting(SummaryStore(database)),
            prefer=choice.preferred,
            stays=staying.model,
        ),
        stays_offline=offline,
        gate=gate,
        ledger=ledger,
        secrets=secrets,
        tokens=tokens,
        servers=servers,
        recommending=recommending,
        advise=advise,
        downloads=downloads,
        vllm=vllm,
        choice=choice,
        staying=staying,
        speeds=speeds,
        engine_care=care_of_engines,
    )
    return core


def _tidy(opened: Opened) -> NothingKept | None:
    """What is to go by now goes; returns why nothing can be written, where that is so."""
    chats = opened.chats
    try:
        opened.tidy()
        chats.mark_interrupted()
        see_today(chats)
        empty_trash(chats, lambda chat: opened.states.forget(chat), DELETED_KEPT_DAYS)  # noqa: PLW0108 - made when needed
        BranchStore(opened.database).purge(DELETED_KEPT_DAYS)
    except NothingKept as error:
        return error
    return None


def _whose(gate: Gate, token: str) -> str:
    """It is asked without the one that is kept."""
    from app.hub.client import Hub

    return Hub(gate, lambda: None).who(token)


def _pace(settings: SettingsFile) -> Pace:
    now = settings.read()
    return Pace(now.download_limit * MB, now.download_parallel)


def _further_folders(settings: SettingsFile) -> tuple[Path, ...]:
    return folders_named(settings.read().model_folders)
