"""Answers over several engines: the guide on this computer, a server and a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from app.assistants.store.assistants import AssistantStore
from app.base.db import Database
from app.base.shipped import STARTER as GUIDE
from app.base.shipped import STARTER_DRAFTER
from app.chats.answers.services.answers import Answers
from app.chats.answers.services.chat_layers import ChatLayers
from app.chats.answers.services.grounding import Grounding
from app.chats.answers.services.local_fallback import LocalFallback
from app.chats.answers.services.preparing import Preparing
from app.chats.answers.values.answers import AnswerOptions, Ended
from app.chats.context.services.compacting import Compacting
from app.chats.context.store import SummaryStore
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.chats.history.store.chats import ChatStore
from app.chats.history.values.conversation import StoredMessage
from app.documents.store.documents import DocumentStore
from app.models.library.services.fitting import Fitting
from app.models.library.services.library import Library
from app.models.library.store.load_records import LoadStore
from app.models.library.store.models import ModelStore
from app.models.library.values.entry import STARTER_CHECKPOINT, ModelEntry
from app.runtime.services.loaders import LlamaLoader, RemoteLoader
from app.runtime.services.runtime import Runtime
from app.runtime.services.vllm_loader import VllmLoader, WorkerEngine
from app.settings.values.fields import Settings
from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import EngineFailed
from engines.hardware import detect
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.sizing.sizer import Sizer
from engines.memory.load_options import LoadOptions
from engines.remote.engine import RemoteEngine, Served
from engines.types import Adapter, LoadedModel, VllmPlan
from tests.engines.checkpoint_files import DRAFTER, TARGET
from tests.support.openai_server import OpenAiServer
from tests.support.scripted import ScriptedEngine

SERVED = "team:tiny"
CRASH = EngineFailed("vLLM stopped.", "Its process ended.", "Try again.")


class ScriptedWorker(ScriptedEngine):
    """A worker that says what a test tells it.

    Attributes:
        revived: The number of calls of `revive`.
        settled: The number of calls of `settle`.
        lost: The reason why it cannot be revived.
        adapted: The names of the adapters that it received while it ran.
        shared: The keys under which it was to be shared.
        stayed_s: How long it was to stay after Hearth leaves it, in seconds.
    """

    name = "vllm"
    lost: Exception | None = None
    revived = settled = 0
    is_healthy = True
    adapted: Sequence[tuple[str, ...]] = ()
    shared: tuple[str, ...] = ()
    stayed_s: float | None = None

    def revive(self, progress: Progress, cancel: CancelToken) -> LoadedModel:
        self.revived += 1
        if self.lost is not None:
            raise self.lost
        assert self._loaded is not None
        return self._loaded

    def adapt(self, _wanted: str, adapters: tuple[Adapter, ...], cancel: CancelToken) -> bool:
        self.adapted = [*self.adapted, tuple(it.name for it in adapters)]
        return True

    def share(
        self,
        wanted: str,
        _name: str,
        plan: Callable[[], VllmPlan],
        progress: Progress,
        cancel: CancelToken,
    ) -> LoadedModel:
        self.shared = (*self.shared, wanted)
        return self.load(plan(), progress, cancel)

    def leave(self, stays_s: float) -> None:
        self.stayed_s = stays_s
        self.close()

    def settle(self) -> None:
        self.settled += 1


class NotedLlama(LlamaCppEngine):
    closed = 0

    def close(self) -> None:
        self.closed += 1
        super().close()


@dataclass
class House:
    """The parts that answer, over three engines.

    Attributes:
        leaves: True if the server counts as another computer.
    """

    database: Database
    chats: ChatStore
    answers: Answers
    runtime: Runtime
    library: Library
    llama: NotedLlama
    worker: ScriptedWorker
    server: OpenAiServer
    seconds: list[float]
    leaves: bool = True

    def write(self, answer: StoredMessage, **options: object) -> StoredMessage:
        """Write an answer.

        Args:
            answer: The answer to write.
            options: The changes that `AnswerOptions.changed` takes.
        """
        chosen = AnswerOptions().changed(**options)
        events = list(self.answers.write(answer, Settings(), chosen, lambda _: None, CancelToken()))
        last = events[-1]
        assert isinstance(last, Ended)
        return last.message

    def ask(self, chat_id: str | None, text: str, model: str) -> StoredMessage:
        return self.write(self.chats.ask(chat_id, text)[1], model=model)

    def load(self, model: str) -> str:
        """Load a model; return the name of its engine."""
        entry = self.library.find(model)
        with self.runtime.lease(entry, LoadOptions(), lambda _: None, CancelToken()) as lease:
            return lease.engine_name


@contextmanager
def a_house(folder: Path, vllm: WorkerEngine | None = None) -> Iterator[House]:
    """Open the parts that answer, over three engines.

    Args:
        folder: The folder for the database.
        vllm: A worker to use instead of the scripted one.
    """
    database = Database(folder / "chats.db")
    seconds = [0.0]
    further = (
        ModelEntry(
            STARTER_CHECKPOINT, "Guide for vLLM", TARGET, builtin=True, drafter=DRAFTER,
            engine="vllm", source="builtin",
        ),
        ModelEntry(
            SERVED, "tiny on team", Path("tiny"), source="server", engine="remote", server="p1",
            served="tiny", context=512,
        ),
    )  # fmt: skip
    library = Library(ModelStore(database), GUIDE, STARTER_DRAFTER, None, lambda: further)
    llama, worker = NotedLlama(), ScriptedWorker()
    with closing(database), OpenAiServer("vllm", context=512) as server:

        def lend(profile: str) -> Served:
            assert profile == "p1"
            return Served(httpx2.Client(trust_env=False), server.address)

        runtime = Runtime(
            {
                "llamacpp": LlamaLoader(
                    lambda: llama, lambda: Fitting(detect, LoadStore(database), Sizer())
                ),
                "vllm": VllmLoader(lambda: vllm or worker, lambda: "cpu", detect),
                "remote": RemoteLoader(lambda: RemoteEngine(lend)),
            },
            lambda: seconds[0],
        )
        chats = ChatStore(database)
        layers = ChatLayers(ChatSettingsStore(database), AssistantStore(database))
        compacting = Compacting(SummaryStore(database))
        fallback = LocalFallback(library.shelf, lambda _: house.leaves)
        preparing = Preparing(library, layers, fallback=fallback)
        answers = Answers(chats, preparing, runtime, compacting, Grounding(DocumentStore(database)))
        house = House(database, chats, answers, runtime, library, llama, worker, server, seconds)
        try:
            yield house
        finally:
            runtime.unload()
