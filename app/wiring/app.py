"""The composition root: what window and terminal share, each part made when it is first asked for.

    with closing(open_app(DataFolder.default())) as app:
        print(app.library.entries())

`window` makes what the window has besides.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.errors import NothingKept
from app.core.models.entry import ModelEntry
from app.core.once import once
from app.core.units import MB
from app.documents.limits import Limits
from app.documents.reader import DocumentReader
from app.hub.cache_root import default_root
from app.net import Gate
from app.opening import OpenStores, open_data
from app.services.answers.answers import Answers
from app.services.answers.chat_layers import ChatLayers
from app.services.answers.citing import Citing
from app.services.answers.compacting import Compacting
from app.services.answers.grounding import Grounding
from app.services.answers.local_fallback import LocalFallback
from app.services.api_keys import ApiKeys
from app.services.chats.trash import empty_trash, see_today
from app.services.documents import Documents
from app.services.downloads.queue import DownloadLimits, DownloadQueue
from app.services.engines.choice import EngineChoice
from app.services.engines.loaders import LlamaLoader
from app.services.engines.remote_loader import RemoteLoads
from app.services.engines.runtime import Runtime
from app.services.engines.servers import Servers
from app.services.knowledge.embedding import Embedding
from app.services.knowledge.knowledge import Knowledge
from app.services.measuring.speeds import MeasuredSpeeds
from app.services.metrics.tracing import Tracing
from app.services.models.collection.collection import Collection
from app.services.models.collection.folders import folders_named
from app.services.models.collection.places import places_here
from app.services.models.library import Library
from app.services.models.manager import ModelManager
from app.services.models.mtp_advice import with_catalogue
from app.services.models.projectors import Projectors
from app.services.models.recommending import Recommending
from app.services.models.served import served_models
from app.services.server_control import ServerControl
from app.services.tokens import Tokens
from app.store.api_clients import ApiClientStore
from app.store.assistants import AssistantStore
from app.store.branches import BranchStore
from app.store.chat_settings import ChatSettingsStore
from app.store.collections import CollectionStore
from app.store.documents import DocumentStore, FileCopies
from app.store.downloads import DownloadStore
from app.store.folder import DataFolder
from app.store.ledger import Ledger
from app.store.models import ModelStore
from app.store.prompts import PromptStore
from app.store.search import Search
from app.store.search_index import SearchIndex
from app.store.secrets import Secrets
from app.store.servers import ServerStore
from app.store.snapshots import Snapshots
from app.store.summaries import SummaryStore
from app.wiring.shipped import CATALOGUE, STARTER, STARTER_DRAFTER
from app.wiring.vllm import LocalVllm, cards, linux_inside, system
from engines.llamacpp.packs import use_packs
from engines.models.format import Advise
from engines.redaction import remember_environment
from engines.registry import EngineAvailability, availability

if TYPE_CHECKING:
    from app.hub.client import Hub
    from app.hub.fetch import Fetcher
    from app.services.engines.device_trials import DeviceTrials
    from app.services.engines.installer import EngineInstaller
    from app.services.measuring.bench import Bench
    from app.services.measuring.bench_many import ManyBench
    from app.services.metrics.exposition import Exposition
    from app.services.models.editing import MetadataEditor
    from app.services.models.fitting import Fitting
    from app.store.imports import ImportStore
    from engines.hardware import Hardware
    from engines.llamacpp.engine import LlamaCppEngine
    from engines.remote.engine import RemoteEngine

DELETED_KEPT_DAYS = 30
"""How long a deleted chat can still be brought back: days on which Hearth was open."""

HEADERS_KEPT_S = 30 * 24 * 3600.0
"""How long a header from the Hub is kept, in seconds."""


class App:
    """Hearth without its window, each part made when first asked for. The owner calls `close`.

    A part is a property that makes itself, so their order is nobody's concern; from any thread.
    What a start does without is imported there, too.

    hindered: why nothing can be kept just now, where that is so. stays_offline: in this run,
    whatever the settings say.
    """

    def __init__(
        self,
        opened: OpenStores,
        *,
        offline: bool = False,
        outside: bool = False,
        leaves_worker: bool = False,
    ) -> None:
        """Take over the open data folder, and close it on an error. Raises AppError.

        outside: who loads no model sees the computer's devices through another process.
        leaves_worker: a worker of vLLM's stays for a while when this is closed.
        """
        self.opened = opened
        self.folder = opened.folder
        self.settings = opened.settings
        self.database = opened.database
        self.chats = opened.chats
        self.chat_lists = opened.chat_lists
        self.folders = opened.folders
        use_packs(self.folder.packs)
        self.stays_offline = offline
        self._outside = outside
        self._leaves_worker = leaves_worker
        try:
            hindered = opened.hindered or self._tidy()
            only_read = hindered is not None
            self.index = SearchIndex(self.folder.search, self.database, only_read=only_read)
        except BaseException:
            self.database.close()
            raise
        self.hindered = hindered.at_start() if hindered else None
        remember_environment(os.environ)
        if self.folder.headers.exists():
            from app.hub.remote_header import forget_headers

            forget_headers(self.folder.headers, HEADERS_KEPT_S)

    def close(self) -> None:
        with ExitStack() as last:
            # In the other order; each whatever became of those before it.
            last.callback(self.database.close)
            last.callback(self.index.close)
            last.callback(self.gate.close)
            last.callback(self.downloads.close)
            last.callback(self.tracing.close)
            last.callback(self.runtime.leave)
            last.callback(self.knowledge.close)
            self.server.stop()

    def _tidy(self) -> NothingKept | None:
        """Remove what is due to go; returns why nothing can be written, where that is so."""
        try:
            self.opened.tidy()
            self.chats.mark_interrupted()
            see_today(self.chats)
            empty_trash(self.chats, self.forget_state, DELETED_KEPT_DAYS)
            BranchStore(self.database).purge(DELETED_KEPT_DAYS)
            self.opened.remove_unused_files()
        except NothingKept as error:
            return error
        return None

    # Chats

    def forget_state(self, chat: str) -> None:
        """Delete the KV states of a chat on disk."""
        self.opened.states.forget(chat)

    @once
    def search(self) -> Search:
        return Search(self.index, self.database)

    @once
    def snapshots(self) -> Snapshots:
        return Snapshots(self.folder.snapshots, self.folder.database)

    @once
    def assistants(self) -> AssistantStore:
        return AssistantStore(self.database)

    @once
    def prompts(self) -> PromptStore:
        return PromptStore(self.database)

    @once
    def imports(self) -> ImportStore:
        from app.store.imports import ImportStore

        return ImportStore(self.database)

    @once
    def answers(self) -> Answers:
        return Answers(
            self.chats,
            self.library,
            self.runtime,
            ChatLayers(ChatSettingsStore(self.database), self.assistants),
            Compacting(SummaryStore(self.database)),
            self.grounding,
            prefer=self.choice.preferred,
            why=self.choice.why,
            local_fallback=self.local_fallback.model,
            projector_of=self.projectors.offer,
        )

    @once
    def grounding(self) -> Grounding:
        return Grounding(DocumentStore(self.database), self.knowledge)

    @once
    def documents(self) -> Documents:
        return Documents(
            DocumentReader(), FileCopies(self.folder.attachments), self.knowledge.paths_of
        )

    @once
    def citing(self) -> Citing:
        return Citing(self.grounding, self.documents.state_of)

    @once
    def knowledge(self) -> Knowledge:
        """The user's collections, with the model that turns their passages into vectors."""

        def offers() -> list[str]:
            sizes = self.recommending.catalogue().sizes
            return sorted(
                (it for it in sizes if sizes[it].role == "embedding"),
                key=lambda it: sizes[it].variants[0].gb.value,
            )

        # An engine of its own, so that the model is loaded beside the chat's.
        runtime = Runtime({"llamacpp": self._llama_loader()})
        embedding = Embedding(self.library, runtime, self.settings.read, offers)
        store = CollectionStore(self.database)
        reader = DocumentReader(Limits(pages=0))  # pages of scans are not shown from collections
        return Knowledge(store, self.folder.knowledge, reader.many, embedding)

    # The network

    def offline(self) -> bool:
        return self.stays_offline or self.settings.read().offline

    @once
    def ledger(self) -> Ledger:
        return Ledger(self.database)

    @once
    def gate(self) -> Gate:
        return Gate(self.ledger.add, self.offline)

    @once
    def secrets(self) -> Secrets:
        return Secrets()

    @once
    def tokens(self) -> Tokens:
        def whose(token: str) -> str:
            """Ask for the account of a token, without the one that is kept."""
            from app.hub.client import Hub

            return Hub(self.gate, lambda: None).who(token)

        return Tokens(self.secrets, whose)

    @once
    def servers(self) -> Servers:
        return Servers(ServerStore(self.database), self.secrets, self.gate)

    @once
    def api_keys(self) -> ApiKeys:
        return ApiKeys(self.secrets, ApiClientStore(self.database))

    @once
    def server(self) -> ServerControl:
        """The server that other programs ask."""
        from app.wiring.server import api_server

        return ServerControl(
            lambda options: api_server(
                options,
                self.api_keys,
                self.answers,
                self.library,
                self.runtime,
                self.settings,
                self.exposition.text,
            )
        )

    @once
    def hub(self) -> Hub:
        from app.hub.client import Hub

        return Hub(self.gate, self.tokens.for_hub)

    @once
    def downloads(self) -> DownloadQueue:
        def pace() -> DownloadLimits:
            now = self.settings.read()
            return DownloadLimits(now.download_limit * MB, now.download_parallel)

        queue = DownloadQueue(DownloadStore(self.database), self._fetcher, pace)
        queue.on_done = self.manager.downloaded
        return queue

    def _fetcher(self) -> Fetcher:
        from app.hub.fetch import Fetcher
        from app.hub.limiter import Limiter
        from app.hub.transfer import Terms

        return Fetcher(self.gate, default_root(), self.tokens.for_hub, Terms(Limiter()))

    # Models

    @once
    def _models(self) -> ModelStore:
        return ModelStore(self.database)

    @once
    def _collection(self) -> Collection:
        def further() -> tuple[Path, ...]:
            return folders_named(self.settings.read().model_folders)

        return Collection(places_here(), self.folder.models, further)

    @once
    def library(self) -> Library:
        def further() -> list[ModelEntry]:
            """List models that are no files of their own here."""
            servers = self.servers
            served = served_models(servers.list(), servers.info, servers.way)
            return [*self.vllm.starter(), *served]

        def draft_model() -> str:
            return self.settings.read().draft_model

        return Library(
            self._models, STARTER, STARTER_DRAFTER, self._collection, further, draft_model
        )

    @once
    def manager(self) -> ModelManager:
        return ModelManager(self.library, self._models, self._collection)

    @once
    def metadata(self) -> MetadataEditor:
        from app.services.models.editing import MetadataEditor

        def unload(entry: ModelEntry) -> None:
            held = self.runtime.held(entry.engine)
            if held is not None and held.path == entry.path:
                self.runtime.stop(entry.engine)

        return MetadataEditor(self.library, self._models.hashes, self._collection, unload)

    @once
    def projectors(self) -> Projectors:
        return Projectors(self.recommending.catalogue, lambda: self.hub)

    @once
    def recommending(self) -> Recommending:
        return Recommending(CATALOGUE, self.folder.root, default_root, self.look, lambda: self.hub)

    @once
    def advise(self) -> Advise:
        return with_catalogue(self.recommending.catalogue)

    @once
    def fitting(self) -> Fitting:
        from app.services.models.fitting import Fitting
        from app.store.load_records import LoadStore
        from app.wiring.devices import looking
        from engines.llamacpp.sizing.sizer import Sizer

        look = looking(self.devices, inside=True)
        return Fitting(look, LoadStore(self.database), Sizer(self.folder.root))

    # Engines

    def look(self) -> Hardware:
        """Detect this computer's hardware as it is now."""
        from app.wiring.devices import looking

        return looking(self.devices, inside=not self._outside)()

    @once
    def devices(self) -> DeviceTrials:
        from app.wiring.devices import device_trials

        return device_trials(self.folder.root, STARTER)

    def availability(self) -> tuple[EngineAvailability, ...]:
        """Tell which engines can run here, and why the others cannot."""
        return availability(self.folder.engines, len(self.servers.list()))

    @once
    def vllm(self) -> LocalVllm:
        return LocalVllm(
            self.folder.engines,
            self.ledger.add,
            self.offline,
            self.look,
            linux_inside(),
            lambda: self.settings.read().vllm_idle,
            self._leaves_worker,
        )

    @once
    def installer(self) -> EngineInstaller:
        """The installer of vLLM. Raises AppError."""
        from app.wiring.installer import engine_installer

        return engine_installer(self.folder.engines, self.gate, self.offline, linux_inside())

    @once
    def speeds(self) -> MeasuredSpeeds:
        return MeasuredSpeeds(self.folder.root / "speeds.json")

    @once
    def choice(self) -> EngineChoice:
        return EngineChoice(
            self.library,
            self.recommending.catalogue,
            self.settings,
            system(),
            cards,
            self.vllm.here,
            lambda: len(self.servers.list()),
            self.speeds.all,
            lambda: self.runtime.held("vllm"),
            self.vllm.fits,
        )

    @once
    def local_fallback(self) -> LocalFallback:
        return LocalFallback(self.library.shelf, self.servers.leaves)

    @once
    def runtime(self) -> Runtime:
        vllm = self.vllm.loads(self.choice.depth_for)
        llama = self._llama_loader()
        runtime = Runtime({"llamacpp": llama, "vllm": vllm, "remote": RemoteLoads(self._remote)})
        runtime.requests.on_end(self.tracing.take)
        return runtime

    def _llama_loader(self) -> LlamaLoader:
        return LlamaLoader(
            self._llama,
            lambda: self.fitting,
            self.advise,
            lambda names, cancel: self.devices.ready(names, cancel),  # noqa: PLW0108 - made then
        )

    def _llama(self) -> LlamaCppEngine:
        from engines.llamacpp.engine import LlamaCppEngine
        from engines.llamacpp.probe import Probe
        from engines.llamacpp.speculative.cost_book import CostBook

        return LlamaCppEngine(
            CostBook(self.folder.root / "costs.json"),
            self.opened.states,
            Probe(self.folder.root, trusted=(STARTER, STARTER_DRAFTER)),
            self.devices.complaints,
        )

    def _remote(self) -> RemoteEngine:
        from engines.remote.engine import RemoteEngine

        return RemoteEngine(self.servers.lend)

    # Measuring

    @once
    def tracing(self) -> Tracing:
        def send(endpoint: str, body: bytes) -> None:
            from app.net.monitoring import send_traces

            send_traces(self.gate, endpoint, body)

        def endpoint() -> str:
            return self.settings.read().traces_endpoint.strip()

        return Tracing(endpoint, send)

    @once
    def exposition(self) -> Exposition:
        """The metrics of all requests, for Prometheus."""
        from app.services.metrics.exposition import Exposition

        return Exposition(self.runtime)

    @once
    def bench(self) -> Bench:
        from app.services.measuring.bench import Bench

        return Bench(self.runtime)

    @once
    def many_bench(self) -> ManyBench:
        from app.services.measuring.bench_many import ManyBench

        return ManyBench(self.runtime)


def open_app(folder: DataFolder, *, offline: bool = False) -> App:
    """Open the data folder for a command. Raises AppError; nothing stays open then.

    offline: stay offline in this run, whatever the settings say.
    """
    return App(open_data(folder), offline=offline, leaves_worker=True)


def hardware(folder: Path | None = None) -> Hardware:
    """Detect the hardware, with llama.cpp's devices where it can load.

    folder: where verdicts on devices are remembered.
    """
    from app.wiring.devices import device_trials, looking

    return looking(device_trials(folder, STARTER), inside=True)()
