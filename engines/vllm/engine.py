"""The vLLM engine: starts a worker for a checkpoint, looks after it, and answers through it."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Any, Final

from engines.adapters import adapter_of
from engines.base import Progress, nothing_loaded
from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineError
from engines.guard import UseGuard
from engines.hardware.nvidia import load_nvml
from engines.hardware.values import Hardware
from engines.media import sound_seconds
from engines.openai import vectors
from engines.openai.answering import answer, measure
from engines.sentences import N_
from engines.types import (
    Adapter,
    ChatRequest,
    Done,
    EngineStatus,
    Event,
    LoadedModel,
    LoadPlan,
    Measured,
    MtpCheck,
    Ranking,
    Vectors,
)
from engines.vllm.command import OF_CARDS, WorkerCommand, command, max_rank
from engines.vllm.compare import check_mtp
from engines.vllm.failures import Circumstances, Hung, gave_up
from engines.vllm.gain_book import GainBook
from engines.vllm.hanging import SILENT_S as HANG_S
from engines.vllm.hanging import Watch
from engines.vllm.host import Host, LocalHost
from engines.vllm.memory import (
    card_numbers,
    compile_jobs,
    memory_share,
    spare_ram,
    used_cards,
)
from engines.vllm.metrics import Metrics
from engines.vllm.offers import WorkerOffer, offered_workers, withdraw_offer, write_offer
from engines.vllm.parsing import parsing_of
from engines.vllm.places import unwritable
from engines.vllm.preparing import prepare, require_adapters, require_installed
from engines.vllm.provision.alone import alone
from engines.vllm.provision.home import Installed
from engines.vllm.running import Running, Setup
from engines.vllm.supervised import GRACE_S
from engines.vllm.worker import SILENT_S, Connect, Worker

logger = logging.getLogger(__name__)


def card_users(nvml: Any, not_these: frozenset[int] = frozenset()) -> tuple[str, ...]:
    """List the programs on the cards, such as "blender 3.1 GB", largest first.

    Args:
        nvml: The module; see `engines.hardware.nvidia.load_nvml`.
        not_these: Process ids to leave out.

    Returns:
        One text for each program; none without a driver.
    """
    if nvml is None:
        return ()
    found: dict[int, int] = {}
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return ()
    try:
        for index in range(nvml.nvmlDeviceGetCount()):
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            for ask in (
                nvml.nvmlDeviceGetComputeRunningProcesses,
                nvml.nvmlDeviceGetGraphicsRunningProcesses,
            ):
                for it in ask(handle):
                    # A program can be in both lists with the same memory.
                    found[it.pid] = max(found.get(it.pid, 0), it.usedGpuMemory or 0)
    except nvml.NVMLError:
        return ()
    finally:
        nvml.nvmlShutdown()
    users = sorted(found.items(), key=lambda it: -it[1])
    return tuple(
        f"{_name(pid)} {size / 1e9:.1f} GB" if size else _name(pid)
        for pid, size in users
        if pid not in not_these
    )


def _name(pid: int) -> str:
    import psutil

    with suppress(psutil.Error):
        return psutil.Process(pid).name()
    return N_("the process {pid}", pid=pid)


_CRASHES: Final = 3
_WITHIN_S: Final = 600.0
_PAUSE_S: Final = 1.0
"""Pause before a restart, doubled with each crash; there is no pause after the first one."""

_WAITS: Final = N_("Waiting for another start of vLLM")

_FIRST_S: Final = 30.0
FIRST_PART: Final = N_(
    "A sound is longer than 30 seconds: many models hear only as much of it in vLLM, which does not"
    " say so."
)

_FREED_S: Final = 8.0
_FREED: Final = 300_000_000
"""Bytes by which a card can be fuller after a worker than it was before."""


def _with_note(event: Event, request: ChatRequest) -> Event:
    """Add a note to the end of an answer whose sound the model may have heard only in part."""
    media = (it for message in request.messages for it in message.media if it.kind == "audio")
    if isinstance(event, Done) and any((sound_seconds(it.data) or 0.0) > _FIRST_S for it in media):
        return replace(event, notes=(*event.notes, FIRST_PART))
    return event


class VllmEngine:
    """An `engines.base.Engine` that runs models in a vLLM worker.

    It gives as many answers at once as the plan says.

    Args:
        installed: Returns the environment in use, or None.
        folder: Folder for caches, log and records.
        connect: Makes HTTP clients.
        look: Examines this computer.
        silent_s: Longest silence of a start, in seconds.
        host: Returns the system on which an environment's worker runs.
        hang_s: Seconds without output or computation after which an answer counts as hanging.
        grace_s: Seconds that a worker gets to end by itself.
    """

    name = "vllm"

    def __init__(
        self,
        installed: Callable[[], Installed | None],
        folder: Path,
        connect: Connect,
        look: Callable[[], Hardware],
        silent_s: float = SILENT_S,
        host: Callable[[Installed], Host] = lambda _: LocalHost(),
        hang_s: float = HANG_S,
        grace_s: float = GRACE_S,
    ) -> None:
        self._installed = installed
        self._folder = folder
        self._connect = connect
        self._look = look
        self._silent_s = silent_s
        self._hang_s = hang_s
        self._grace_s = grace_s
        self._host = host
        self._book = GainBook(folder / "speeds.json")
        self._lock = threading.Lock()
        self._guard = UseGuard()
        self._reviving = threading.Lock()
        self._setup: Setup | None = None
        self._running: Running | None = None
        self._worker: Worker | None = None
        self._left: Setup | None = None
        self._wanted = self._name = ""
        self._waits = False
        self._crashes: deque[float] = deque(maxlen=_CRASHES)

    @property
    def worker(self) -> Worker | None:
        """The present worker, or the last one."""
        return self._worker

    @property
    def well(self) -> bool:
        """Whether there is a worker that reports itself healthy."""
        running = self._running
        return running is not None and running.worker.well()

    def metrics(self) -> Metrics | None:
        """Read the worker's metrics; return None without a worker. Raises EngineError."""
        running = self._running
        return running.worker.metrics() if running else None

    def load(self, plan: LoadPlan, progress: Progress, cancel: CancelToken) -> LoadedModel:
        """Start a worker for the plan's model in place of the present one. See `Engine.load`."""
        return self.share("", "", lambda: plan, progress, cancel)

    def share(
        self,
        wanted: str,
        name: str,
        plan: Callable[[], LoadPlan],
        progress: Progress,
        cancel: CancelToken,
    ) -> LoadedModel:
        """Join another Hearth's worker for the same request, or start one that can be shared.

        Two Hearth processes that want to start a worker at the same time take turns.

        Args:
            wanted: Identifies the request; empty for a worker that is not shared.
            name: The model's name, for lists of workers.
            plan: Called only if a worker has to be started, after unused workers have ended, so
                that it can plan for the memory that is free then.

        Raises:
            EngineError: As `Engine.load` raises it, or from `plan`.
            Cancelled: The start was cancelled.
        """
        with self._guard.alone():
            self._unload()
            self.settle()
            self._crashes.clear()
            if cancel.cancelled:
                raise Cancelled
            installed = require_installed(self._installed())
            self._wanted, self._name = wanted and self._key(wanted, installed), name

            def setup() -> Setup:
                return prepare(plan(), installed, self._look())

            running = self._begun(setup, progress, cancel)
            self._setup = running.setup
            return running.report

    def adapt(self, wanted: str, adapters: tuple[Adapter, ...], cancel: CancelToken) -> bool:
        """Change the LoRA adapters of the running worker.

        A worker has room for ranks up to the highest at its start, and for none if it started
        without adapters. A worker that another Hearth also uses keeps its adapters.

        Args:
            wanted: As in `share`, for the new adapters.

        Returns:
            False if the worker has to be restarted for the change.

        Raises:
            AdapterUnknown: An adapter does not suit the model.
            Cancelled: The change was cancelled.
        """
        with self._guard.alone():
            running, same = self._running, bool(wanted) == bool(self._wanted)
            if running is None or not same or not running.worker.well(cancel):
                return False
            new = [it for it in adapters if it not in running.setup.plan.adapters]
            require_adapters(new, running.setup.checkpoint)
            if max_rank(new) > running.most_rank:
                return False
            if not self._wanted or running.worker.place.socket is None:
                return self._change_adapters(running, adapters)
            with self._one_at_a_time(cancel):
                mine = (
                    it
                    for it in offered_workers(self._folder)
                    if it.guardian == running.worker.guardian
                )
                offered = next(mine, None)
                if offered is None or (offered.state() or (0, None))[0] != 1:
                    return False
                withdraw_offer(running.worker.place)
                if not self._change_adapters(running, adapters):
                    return False
                self._wanted = self._key(wanted, require_installed(self._installed()))
                self._offer(running)
                return True

    def _change_adapters(self, running: Running, adapters: tuple[Adapter, ...]) -> bool:
        setup, worker = running.setup, running.worker
        now = setup.plan.adapters
        try:
            done = all(worker.remove_adapter(it.name) for it in now if it not in adapters)
            done = done and all(
                worker.add_adapter(it.name, running.reach(it.path))
                for it in adapters
                if it not in now
            )
        except EngineError:
            return False
        if done:
            changed = replace(setup, plan=replace(setup.plan, adapters=adapters))
            self._setup = running.setup = changed
        return done

    def revive(self, progress: Progress, cancel: CancelToken) -> LoadedModel:
        """Make sure that the worker of the loaded model runs.

        `chat` does this too, but reports no progress.

        Raises:
            EngineError: The worker cannot be started, or keeps crashing.
            Cancelled: The start was cancelled.
        """
        with self._guard.alone():
            return self._alive(progress, cancel).report

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        """Answer a request, after restarting a crashed worker. See `Engine.chat`.

        MTP stays as the worker was started; if the request asks for something else, `Done` says so.
        """
        with self._guard.answering(self._setup.plan.parallel if self._setup else 1) as undisturbed:
            with self._reviving:
                running = self._alive(lambda _: None, cancel)
            adapter = adapter_of(request, running.setup.plan.adapters)
            via = replace(running.via, model=adapter) if adapter else running.via
            asking = CancelToken()
            forget = cancel.on_cancel(asking.cancel)
            try:
                for event in self._watched(running, answer(request, via, asking), asking):
                    # Other answers and adapters slow this one down, so its speed says nothing about
                    # drafts.
                    if isinstance(event, Done) and adapter is None and undisturbed():
                        running.learn(event.usage.completion_tokens, event.timing.decode_tok_s)
                    yield _with_note(event, request)
            except Hung:
                raise
            except EngineError as error:
                if running.worker.well():
                    raise
                raise self._end_crashed(running) from error
            finally:
                forget()

    def _watched(
        self, running: Running, events: Iterator[Event], asking: CancelToken
    ) -> Iterator[Event]:
        """Pass events on, and end a worker that hangs. Raises Hung."""
        with Watch(running.worker.session, asking.cancel, self._hang_s) as watch:
            for event in events:
                watch.heard()
                if watch.hangs:
                    self._end_crashed(running)
                    raise Hung(self._hang_s)
                yield event

    def measure(self, request: ChatRequest, cancel: CancelToken) -> Measured:
        """Count the tokens of a request. See `Engine.measure`."""
        running = self._running
        if running is None:
            raise nothing_loaded()
        return measure(request, running.via, cancel)

    def tokenize(self, text: str, cancel: CancelToken, *, special: bool = True) -> tuple[int, ...]:
        """Return the tokens of a text. See `Engine.tokenize`."""
        running = self._running
        if running is None:
            raise nothing_loaded()
        return vectors.tokenize(running.via, text, cancel, special=special)

    def detokenize(self, tokens: Sequence[int], cancel: CancelToken) -> str:
        """Return the text of tokens. See `Engine.detokenize`."""
        running = self._running
        if running is None:
            raise nothing_loaded()
        return vectors.detokenize(running.via, tokens, cancel)

    def embed(self, texts: Sequence[str | Sequence[int]], cancel: CancelToken) -> Vectors:
        """Return the embeddings of texts. See `Engine.embed`."""
        running = self._running
        if running is None:
            raise nothing_loaded()
        return vectors.embed(running.via, texts, cancel)

    def rerank(self, query: str, documents: Sequence[str], cancel: CancelToken) -> Ranking:
        """Rank documents for a query. See `Engine.rerank`."""
        running = self._running
        if running is None:
            raise nothing_loaded()
        return vectors.rerank(running.via, query, documents, cancel)

    def check_mtp(self, request: ChatRequest, depth: int, cancel: CancelToken) -> MtpCheck:
        """Compare answers with and without drafts, in two starts. See `Engine.check_mtp`.

        The worker runs as before afterwards. Raises Cancelled if the user cancels the comparison.
        """
        with self._guard.alone():
            setup = self._setup
            if setup is None:
                raise nothing_loaded()
            installed = require_installed(self._installed())

            # The workers of the comparison must not be shared.
            wanted, self._wanted = self._wanted, ""

            def start(plan: LoadPlan) -> Running:
                if self._running is None or self._running.setup.plan != plan:
                    self._unload()
                    self.settle()
                    prepared = prepare(plan, installed, self._look(), drafting_needed=True)
                    self._start(prepared, lambda _: None, cancel)
                assert self._running is not None  # noqa: S101  started
                return self._running

            try:
                return check_mtp(start, setup.plan, request, depth, cancel)
            finally:
                self._setup, self._wanted = setup, wanted
                if self._running is not None and self._running.setup.plan != setup.plan:
                    self._unload(keep=setup)

    def status(self) -> EngineStatus:
        """Return the progress of the worker's start, or its state. See `Engine.status`."""
        worker, running = self._worker, self._running
        if self._waits:
            return EngineStatus("loading", _WAITS)
        if worker is None:
            return EngineStatus()
        away, log = worker.away, worker.tail
        if worker.over:
            return EngineStatus("stopped", log=log, elsewhere=away)
        process = 0 if away else worker.session
        if running is not None and running.worker is worker:
            return EngineStatus("ready", log=log, process=process, elsewhere=away)
        stage = worker.stage
        return EngineStatus("loading", stage.words, stage.share, log, process, away)

    def cache_used(self) -> float | None:
        """Return the used share of the worker's KV cache. See `Engine.cache_used`."""
        try:
            figures = self.metrics()
        except EngineError:
            return None  # the worker is busy, or has just ended
        return figures.cache_used if figures is not None else None

    def close(self) -> None:
        """Stop the worker. See `Engine.close`; call `settle` to wait for the cards' memory."""
        with self._guard.alone():
            self._unload()

    def leave(self, stays_s: float) -> None:
        """Close the engine, and let a shared worker wait `stays_s` seconds for another user."""
        with self._guard.alone():
            self._unload(stays_s=stays_s)

    def settle(self) -> None:
        """Wait until the cards' memory is free again.

        A driver can release it a little after the worker has ended. Nobody waits for that when
        Hearth itself ends.
        """
        setup, self._left = self._left, None
        if setup is not None:
            self._wait_for_memory(setup.plan, setup.free_bytes)

    def _key(self, wanted: str, installed: Installed) -> str:
        """Combine the request with everything else that changes a worker into one key."""
        outside = [os.environ.get(name, "") for name in OF_CARDS]
        return json.dumps([wanted, installed.folder.as_posix(), installed.version, outside])

    def _begun(
        self, setup: Callable[[], Setup], progress: Progress, cancel: CancelToken
    ) -> Running:
        """Return a running worker: join another Hearth's, or start one."""
        if not self._wanted or self._host(require_installed(self._installed())).away:
            return self._start(setup(), progress, cancel)
        with self._one_at_a_time(cancel):
            joined = self._joined(cancel)
            if joined is not None:
                progress(1.0)
                return joined
            for it in offered_workers(self._folder):
                if it.end(used=False):
                    self._wait_for_memory(it.offer.plan, it.offer.free_bytes)
            return self._start(setup(), progress, cancel)

    @contextmanager
    def _one_at_a_time(self, cancel: CancelToken) -> Iterator[None]:
        """Wait while another Hearth starts a worker. Raises Cancelled, EngineFailed."""

        def waits() -> None:
            self._waits = True

        with ExitStack() as held:
            try:
                held.enter_context(alone(self._folder, waits, cancel))
            except OSError as error:
                raise unwritable(error) from error
            finally:
                self._waits = False
            yield

    def _joined(self, cancel: CancelToken) -> Running | None:
        """Join a worker that another Hearth has started for the same request, or return None."""
        began = perf_counter()
        installed = require_installed(self._installed())
        for it in offered_workers(self._folder):
            offer, state = it.offer, it.state()
            if offer.wanted != self._wanted or state is None:
                continue
            plan = offer.plan
            # This worker already has its memory, so the memory that is free now does not matter.
            setup = prepare(replace(plan, anyway=True), installed, self._look())
            setup = replace(setup, plan=plan, device=offer.device, free_bytes=offer.free_bytes)
            around = Circumstances(setup.checkpoint.name, plan.context, card_users(load_nvml()))
            try:
                worker = Worker(
                    WorkerCommand((), {}),
                    it.place,
                    self._connect,
                    self._folder / "vllm.log",
                    around,
                    self._host(installed),
                    shared=True,
                    joins=it.guardian,
                )
            except OSError:
                continue  # the worker has just ended
            served = worker.serves(cancel)
            if cancel.cancelled:
                worker.leave(state[1] or 0.0)
                raise Cancelled
            if served is None or served.context not in (0, offer.context):
                worker.leave()
                continue
            self._worker = worker
            self._running = Running(
                setup,
                worker,
                self._book,
                offer.context,
                perf_counter() - began,
                offer.notes,
                parsing_of(setup.checkpoint.path),
                str,
                offer.load_s,
            )
            return self._running
        return None

    def _offer(self, running: Running) -> None:
        """Offer a worker that is ready to other Hearth processes."""
        setup, worker, report = running.setup, running.worker, running.report
        offer = WorkerOffer(
            self._wanted,
            self._name,
            setup.plan,
            report.context,
            report.restart_s,
            report.notes,
            worker.session,
            setup.device,
            setup.free_bytes,
        )
        try:
            write_offer(worker.place, offer)
        except OSError as error:
            logger.warning("the worker cannot be shared: %s", error)

    def _start(self, setup: Setup, progress: Progress, cancel: CancelToken) -> Running:
        installed = require_installed(self._installed())
        plan, began = setup.plan, perf_counter()
        self.settle()
        host = self._host(installed)
        launch = host.prepare(self._folder)
        place = launch.place
        hardware = self._look()
        cards = used_cards(hardware, plan.tensor_parallel, plan.devices)
        on_cards = installed.profile == "cuda"
        share = memory_share(cards, plan.memory_share, setup.takes) if on_cards else None
        told = command(
            plan,
            installed,
            place,
            setup.checkpoint,
            drafts=setup.drafts,
            share=share,
            card_numbers=() if installed.profile == "cpu" else card_numbers(hardware, cards),
            outside=launch.variables,
            spare=spare_ram(hardware, setup.checkpoint),
            jobs=compile_jobs(hardware, away=host.away),
            reach=launch.reach,
        )
        around = Circumstances(setup.checkpoint.name, plan.context, card_users(load_nvml()))
        worker = self._worker = Worker(
            told,
            place,
            self._connect,
            self._folder / "vllm.log",
            around,
            host,
            self._silent_s,
            self._grace_s,
            shared=bool(self._wanted) and place.socket is not None,
        )
        served = worker.wait(progress, cancel)
        seconds = perf_counter() - began
        context = served.context or plan.context
        notes = (*setup.notes, *told.notes)
        running = Running(
            setup, worker, self._book, context, seconds, notes, told.parsing, launch.reach
        )
        self._running = running
        if self._wanted and place.socket is not None:
            self._offer(running)
        progress(1.0)
        return running

    def _alive(self, progress: Progress, cancel: CancelToken) -> Running:
        """Return a healthy worker, restarting a crashed one after a growing pause.

        Raises an EngineError after several crashes within a few minutes.
        """
        running, setup = self._running, self._setup
        if setup is None:
            raise nothing_loaded()
        if running is not None:
            # If the user cancels before the health check answers, its result no longer matters.
            if running.worker.well(cancel) or cancel.cancelled:
                return running
            self._end_crashed(running)
        recent = sum(1 for at in self._crashes if monotonic() - at < _WITHIN_S)
        if recent >= _CRASHES:
            raise gave_up(recent)
        if recent > 1:
            cancel.wait(_PAUSE_S * 2**recent)
        return self._begun(lambda: setup, progress, cancel)

    def _end_crashed(self, running: Running) -> Exception:
        """End the remains of a crashed worker, record the crash, and return its error."""
        with self._lock:
            mine = self._running is running
            if mine:
                self._running = None
        if mine:
            self._crashes.append(monotonic())
            running.worker.stop()
        return running.worker.crash()

    def _unload(self, keep: Setup | None = None, stays_s: float = 0.0) -> None:
        running, self._running, self._setup = self._running, None, keep
        if running is not None and running.worker.leave(stays_s):
            self._left = running.setup

    def _wait_for_memory(self, plan: LoadPlan, free_bytes: int) -> None:
        """Wait until a plan's cards have as much free memory as before its worker started."""
        deadline = monotonic() + _FREED_S
        while free_bytes and monotonic() < deadline:
            cards = used_cards(self._look(), plan.tensor_parallel, plan.devices)
            if sum(card.free_bytes or 0 for card in cards) >= free_bytes - _FREED:
                return
            sleep(0.25)
