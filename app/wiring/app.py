"""The composition root: the parts that window and terminal share, each created on first use.

    with closing(open_app(DataFolder.default())) as app:
        print(app.library.entries())

`window` creates the presenters that only the window has.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from app.activity.services.measuring.speeds import MeasuredSpeeds
from app.activity.services.tracing import Tracing
from app.api.services.api_keys import ApiKeys
from app.api.services.server_control import ServerControl
from app.api.store import ApiClientStore
from app.assistants.store.assistants import AssistantStore
from app.assistants.store.prompts import PromptStore
from app.base.errors import CannotSave
from app.base.folder import DataFolder
from app.base.once import once
from app.base.secrets import Secrets
from app.base.shipped import CATALOGUE, STARTER, STARTER_DRAFTER
from app.base.snapshots import Snapshots
from app.base.tokens import Tokens
from app.base.units import MB
from app.chats.answers.services.answers import Answers
from app.chats.answers.services.chat_layers import ChatLayers
from app.chats.answers.services.citing import Citing
from app.chats.answers.services.grounding import Grounding
from app.chats.answers.services.local_fallback import LocalFallback
from app.chats.answers.services.preparing import Preparing
from app.chats.context.services.compacting import Compacting
from app.chats.context.store import SummaryStore
from app.chats.history.services import empty_trash, see_today
from app.chats.history.store.branches import BranchStore
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.chats.search.store.search import Search
from app.chats.search.store.search_index import SearchIndex
from app.documents.collections.services.embedding import Embedding
from app.documents.collections.services.knowledge import Knowledge
from app.documents.collections.store.collections import CollectionStore
from app.documents.reading.limits import Limits
from app.documents.reading.reader import DocumentReader
from app.documents.services.documents import Documents
from app.documents.store.documents import DocumentStore, FileCopies
from app.models.discover.services.projectors import Projectors
from app.models.discover.services.recommending import Recommending
from app.models.downloads.services.queue import DownloadLimits, DownloadQueue
from app.models.downloads.store import DownloadStore
from app.models.hub.cache_root import default_root
from app.models.library.services.library import Library
from app.models.library.services.manager import ModelManager
from app.models.library.services.mtp_advice import with_catalogue
from app.models.library.services.places.found_models import FoundModels
from app.models.library.services.places.places import local_places
from app.models.library.services.served import served_models
from app.models.library.store.models import ModelStore
from app.models.library.values.entry import ModelEntry
from app.net import Gate
from app.net.store import Ledger
from app.runtime.services.advising import EngineAdvisor
from app.runtime.services.choice import EngineChoice
from app.runtime.services.loaders import LlamaLoader, RemoteLoader
from app.runtime.services.runtime import Runtime
from app.servers.services import Servers
from app.servers.store import ServerStore
from app.settings.values.named import parse_folders
from app.wiring.opening import OpenStores, open_data
from app.wiring.vllm import LocalVllm, linux_inside, system
from engines.llamacpp.packs import use_packs
from engines.models.format import Advise
from engines.redaction import remember_environment
from engines.registry import EngineAvailability, availability

if TYPE_CHECKING:
    from app.activity.services.exposition import Exposition
    from app.activity.services.measuring.bench import Bench
    from app.activity.services.measuring.bench_many import ManyBench
    from app.exchange.store.imports import ImportStore
    from app.models.hub.client import Hub
    from app.models.hub.fetch import Fetcher
    from app.models.library.services.editing import MetadataEditor
    from app.models.library.services.fitting import Fitting
    from app.models.library.services.verdicts import Verdicts
    from app.runtime.services.device_trials import DeviceTrials
    from app.runtime.services.installer import EngineInstaller
    from engines.hardware import Hardware
    from engines.llamacpp.engine import LlamaCppEngine
    from engines.remote.engine import RemoteEngine

TRASH_DAYS = 30
"""How long a deleted chat can be restored, in days on which Hearth was open."""

HEADERS_KEPT_S = 30 * 24 * 3600.0
"""How long a header from the Hub is kept, in seconds."""


class App:
    """Hearth without its window. The owner calls `close`.

    Each part is a property that is created on first use, from any thread; so their order does not
    matter. Modules that a start does not need are imported there, too.

    Attributes:
        hindered: Why nothing can be saved at present; None if it can.
        stays_offline: Whether this run stays offline, whatever the settings say.
    """

    def __init__(
        self,
        opened: OpenStores,
        *,
        offline: bool = False,
        lists_devices_in_child: bool = False,
        leaves_worker: bool = False,
    ) -> None:
        """Take over the open data folder; close its database after an error. Raises AppError.

        Args:
            lists_devices_in_child: List the devices in another process, instead of loading
                llama.cpp into this one.
            leaves_worker: Let a vLLM worker run on for a while after `close`.
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
        self._lists_devices_in_child = lists_devices_in_child
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
            from app.models.hub.remote_header import forget_headers

            forget_headers(self.folder.headers, HEADERS_KEPT_S)

    def close(self) -> None:
        """Close all parts."""
        with ExitStack() as last:
            # These run in reverse order, and each one even if an earlier one failed.
            last.callback(self.database.close)
            last.callback(self.index.close)
            last.callback(self.gate.close)
            last.callback(self.downloads.close)
            last.callback(self.tracing.close)
            last.callback(self.runtime.leave)
            last.callback(self.knowledge.close)
            self.server.stop()

    def _tidy(self) -> CannotSave | None:
        """Remove what has expired or was left over; return why nothing can be written, or None."""
        try:
            self.opened.tidy()
            self.chats.mark_interrupted()
            see_today(self.chats)
            empty_trash(self.chats, self.forget_state, TRASH_DAYS)
            BranchStore(self.database).purge(TRASH_DAYS)
            self.opened.remove_unused_files()
        except CannotSave as error:
            return error
        return None

    # Chats

    def forget_state(self, chat: str) -> None:
        """Delete the KV states of a chat on disk."""
        self.opened.states.forget(chat)

    @once
    def search(self) -> Search:
        """The search in chats."""
        return Search(self.index, self.database)

    @once
    def snapshots(self) -> Snapshots:
        """The copies of the database, made daily and on request."""
        return Snapshots(self.folder.snapshots, self.folder.database)

    @once
    def assistants(self) -> AssistantStore:
        """The assistants as they are stored."""
        return AssistantStore(self.database)

    @once
    def prompts(self) -> PromptStore:
        """The prompts that the user keeps."""
        return PromptStore(self.database)

    @once
    def imports(self) -> ImportStore:
        """The store that imported chats are added to."""
        from app.exchange.store.imports import ImportStore

        return ImportStore(self.database)

    @once
    def answers(self) -> Answers:
        """Writes answers: for stored chats, scratch chats and other programs."""
        compacting = Compacting(SummaryStore(self.database))
        return Answers(self.chats, self.preparing, self.runtime, compacting, self.grounding)

    @once
    def preparing(self) -> Preparing:
        """Finds the model and the settings of an answer."""
        layers = ChatLayers(ChatSettingsStore(self.database), self.assistants)
        return Preparing(self.library, layers, self.choice, self.local_fallback, self.projectors)

    @once
    def grounding(self) -> Grounding:
        """Finds the files and passages that go into a prompt."""
        return Grounding(DocumentStore(self.database), self.knowledge)

    @once
    def documents(self) -> Documents:
        """Reads attached files and stores their text."""
        return Documents(
            DocumentReader(), FileCopies(self.folder.attachments), self.knowledge.paths_of
        )

    @once
    def citing(self) -> Citing:
        """Checks the quotes in answers against their files."""
        return Citing(self.grounding, self.documents.state_of)

    @once
    def knowledge(self) -> Knowledge:
        """The user's collections, with the model that computes the embeddings of their passages."""

        def offers() -> list[str]:
            sizes = self.recommending.catalogue().sizes
            return sorted(
                (model for model in sizes if sizes[model].role == "embedding"),
                key=lambda model: sizes[model].variants[0].gb.value,
            )

        # A separate engine, so that this model is loaded beside the chat's model.
        runtime = Runtime({"llamacpp": self._llama_loader()})
        embedding = Embedding(self.library, runtime, self.settings.read, offers)
        store = CollectionStore(self.database)
        reader = DocumentReader(Limits(pages=0))  # collections do not show the pages of scans
        return Knowledge(store, self.folder.knowledge, reader.many, embedding)

    # The network

    def offline(self) -> bool:
        """Return whether Hearth is to connect to nothing."""
        return self.stays_offline or self.settings.read().offline

    @once
    def ledger(self) -> Ledger:
        """The list of all connections that Hearth made."""
        return Ledger(self.database)

    @once
    def gate(self) -> Gate:
        """The one way out of this computer."""
        return Gate(self.ledger.add, self.offline)

    @once
    def secrets(self) -> Secrets:
        """Keys and tokens, in the system's keyring."""
        return Secrets()

    @once
    def tokens(self) -> Tokens:
        """The tokens for accounts such as that of the Hub."""

        def account_of(token: str) -> str:
            """Return the account of a token; uses this token instead of the stored one."""
            from app.models.hub.client import Hub

            return Hub(self.gate, lambda: None).account_of(token)

        return Tokens(self.secrets, account_of)

    @once
    def servers(self) -> Servers:
        """The user's servers and their keys."""
        return Servers(ServerStore(self.database), self.secrets, self.gate)

    @once
    def api_keys(self) -> ApiKeys:
        """The keys of programs that use Hearth's server."""
        return ApiKeys(self.secrets, ApiClientStore(self.database))

    @once
    def server(self) -> ServerControl:
        """The API server for other programs."""
        from app.wiring.server import api_server

        return ServerControl(
            lambda options: api_server(
                options,
                self.api_keys,
                self.answers,
                self.library,
                self.runtime,
                self.settings,
                lambda models: self.exposition.text(models),  # noqa: PLW0108 - imported when asked
            )
        )

    @once
    def hub(self) -> Hub:
        """The client of the Hugging Face Hub."""
        from app.models.hub.client import Hub

        return Hub(self.gate, self.tokens.for_hub)

    @once
    def downloads(self) -> DownloadQueue:
        """The queue of downloads, with the limits of the settings."""

        def pace() -> DownloadLimits:
            now = self.settings.read()
            return DownloadLimits(now.download_limit * MB, now.download_parallel)

        queue = DownloadQueue(DownloadStore(self.database), self._fetcher, pace)
        queue.on_done = self.manager.downloaded
        return queue

    def _fetcher(self) -> Fetcher:
        from app.models.hub.fetch import Fetcher
        from app.models.hub.limiter import Limiter
        from app.models.hub.transfer import Terms

        return Fetcher(self.gate, default_root(), self.tokens.for_hub, Terms(Limiter()))

    # Models

    @once
    def _models(self) -> ModelStore:
        return ModelStore(self.database)

    @once
    def _collection(self) -> FoundModels:
        def further() -> tuple[Path, ...]:
            return parse_folders(self.settings.read().model_folders)

        return FoundModels(local_places(), self.folder.models, further)

    @once
    def library(self) -> Library:
        """The models on this computer and on the user's servers."""

        def further() -> list[ModelEntry]:
            """List the models that are not files of their own on this computer."""
            servers = self.servers
            served = served_models(servers.list(), servers.info, servers.load_key)
            return [*self.vllm.starter(), *served]

        def draft_model() -> str:
            return self.settings.read().draft_model

        return Library(
            self._models, STARTER, STARTER_DRAFTER, self._collection, further, draft_model
        )

    @once
    def manager(self) -> ModelManager:
        """Imports, moves and removes models."""
        return ModelManager(self.library, self._models, self._collection)

    @once
    def metadata(self) -> MetadataEditor:
        """Edits the metadata in model files; unloads a model before that."""
        from app.models.library.services.editing import MetadataEditor

        def unload(entry: ModelEntry) -> None:
            loaded = self.runtime.loaded_model(entry.engine)
            if loaded is not None and loaded.path == entry.path:
                self.runtime.stop(entry.engine)

        return MetadataEditor(self.library, self._models.hashes, self._collection, unload)

    @once
    def projectors(self) -> Projectors:
        """Finds projectors that can be downloaded."""
        return Projectors(self.recommending.catalogue, lambda: self.hub)

    @once
    def recommending(self) -> Recommending:
        """Recommends models for this computer."""
        return Recommending(
            CATALOGUE, self.folder.root, default_root, self.free_hardware, lambda: self.hub
        )

    @once
    def advise(self) -> Advise:
        """Returns the advised depth of drafts for a model."""
        return with_catalogue(self.recommending.catalogue)

    @once
    def fitting(self) -> Fitting:
        """Estimates whether models fit into memory."""
        from app.models.library.services.fitting import Fitting
        from app.models.library.store.load_records import LoadStore
        from app.wiring.devices import hardware_detector
        from engines.llamacpp.sizing.sizer import Sizer

        detect = hardware_detector(self.devices, loads_llama=True)
        return Fitting(
            lambda: self.runtime.emptied(detect()),
            LoadStore(self.database),
            Sizer(self.folder.root),
        )

    @once
    def verdicts(self) -> Verdicts:
        """Judges for lists which models fit."""
        from app.models.library.services.verdicts import Verdicts

        return Verdicts(
            self.library,
            lambda: self.fitting,
            self.runtime.judge,
            self.free_hardware,
        )

    # Engines

    def detect_hardware(self) -> Hardware:
        """Detect this computer's hardware in its present state."""
        from app.wiring.devices import hardware_detector

        return hardware_detector(self.devices, loads_llama=not self._lists_devices_in_child)()

    def free_hardware(self) -> Hardware:
        """Detect this computer's hardware as it would be without the models that are loaded."""
        return self.runtime.emptied(self.detect_hardware())

    @once
    def devices(self) -> DeviceTrials:
        """The trials of graphics cards."""
        from app.wiring.devices import device_trials

        return device_trials(self.folder.root, STARTER)

    def availability(self) -> tuple[EngineAvailability, ...]:
        """Return which engines can run here, and why the others cannot."""
        return availability(self.folder.engines, len(self.servers.list()))

    @once
    def vllm(self) -> LocalVllm:
        """The vLLM of this computer: its installation and its workers."""
        return LocalVllm(
            self.folder.engines,
            self.ledger.add,
            self.offline,
            self.detect_hardware,
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
        """The speeds that benchmarks measured."""
        return MeasuredSpeeds(self.folder.root / "speeds.json")

    @once
    def advisor(self) -> EngineAdvisor:
        """Compares the engines for this computer."""
        return EngineAdvisor(system(), self.vllm, self.servers, self.speeds)

    @once
    def choice(self) -> EngineChoice:
        """Chooses the engine that answers."""
        return EngineChoice(
            self.library, self.recommending, self.settings, self.vllm, self.advisor, self.runtime
        )

    @once
    def local_fallback(self) -> LocalFallback:
        """Chooses a local model for chats whose user has not chosen one."""
        return LocalFallback(self.library.shelf, self.servers.leaves)

    @once
    def runtime(self) -> Runtime:
        """Loads models and lends them to answers."""
        vllm = self.vllm.loads(self.recommending.advised_depth)
        llama = self._llama_loader()
        runtime = Runtime({"llamacpp": llama, "vllm": vllm, "remote": RemoteLoader(self._remote)})
        runtime.requests.on_end(self.tracing.add)
        return runtime

    def _llama_loader(self) -> LlamaLoader:
        return LlamaLoader(
            self._llama,
            lambda: self.fitting,
            self.advise,
            lambda names, cancel: self.devices.ready(names, cancel),  # noqa: PLW0108 - on use
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
        """Sends traces of requests to the endpoint of the settings."""

        def send(endpoint: str, body: bytes) -> None:
            from app.net.monitoring import send_traces

            send_traces(self.gate, endpoint, body)

        def endpoint() -> str:
            return self.settings.read().traces_endpoint.strip()

        return Tracing(endpoint, send)

    @once
    def exposition(self) -> Exposition:
        """The metrics of all requests, for Prometheus."""
        from app.activity.services.exposition import Exposition

        return Exposition(self.runtime)

    @once
    def bench(self) -> Bench:
        """Measures one answer at a time."""
        from app.activity.services.measuring.bench import Bench

        return Bench(self.runtime)

    @once
    def many_bench(self) -> ManyBench:
        """Measures several answers at once."""
        from app.activity.services.measuring.bench_many import ManyBench

        return ManyBench(self.runtime)


def open_app(folder: DataFolder, *, offline: bool = False) -> App:
    """Open the data folder for a command. Raises AppError, and then leaves nothing open.

    Args:
        offline: Stay offline in this run, whatever the settings say.
    """
    return App(open_data(folder), offline=offline, leaves_worker=True)


def hardware(folder: Path | None = None) -> Hardware:
    """Detect the hardware, with llama.cpp's devices if it can be loaded.

    Args:
        folder: Where the verdicts on devices are stored; None stores none.
    """
    from app.wiring.devices import device_trials, hardware_detector

    return hardware_detector(device_trials(folder, STARTER), loads_llama=True)()
