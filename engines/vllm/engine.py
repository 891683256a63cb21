"""The vLLM engine: starts a worker for a checkpoint, looks after it, and answers through it."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
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
from engines.hardware.nvidia import load_nvml, nvml_session
from engines.hardware.values import Hardware
from engines.media import sound_seconds
from engines.openai.access import ServedModelAccess
from engines.openai.answering import answer
from engines.openai.served import ServedEngine
from engines.sentences import N_
from engines.types import (
    Adapter,
    ChatRequest,
    Done,
    EngineStatus,
    Event,
    LoadedModel,
    MtpCheck,
    VllmPlan,
)
from engines.vllm.command import CARD_VARIABLES, WorkerCommand, command, max_rank
from engines.vllm.compare import check_mtp
from engines.vllm.failures import Circumstances, Hung, too_many_crashes
from engines.vllm.gain_book import GainBook
from engines.vllm.hanging import SILENT_S as HANG_S
from engines.vllm.hanging import HangWatch
from engines.vllm.host import Host, LocalHost
from engines.vllm.memory import (
    card_numbers,
    compile_jobs,
    memory_share,
    spare_ram,
    used_cards,
)
from engines.vllm.metrics import CACHE_USED
from engines.vllm.offers import WorkerOffer, offered_workers, withdraw_offer, write_offer
from engines.vllm.parsing import parsing_of
from engines.vllm.places import unwritable
from engines.vllm.preparing import prepare, require_adapters, require_installed
from engines.vllm.provision.exclusive import exclusive
from engines.vllm.provision.home import Installed
from engines.vllm.running import Running, Setup
from engines.vllm.supervised import GRACE_S
from engines.vllm.worker import SILENT_S, Connect, Worker

logger = logging.getLogger(__name__)


def card_users(nvml: Any, excluded: frozenset[int] = frozenset()) -> tuple[str, ...]:
    """List the programs on the cards, such as "blender 3.1 GB", largest first.

    Args:
        nvml: The module; see `engines.hardware.nvidia.load_nvml`.
        excluded: Process ids to leave out.

    Returns:
        One text for each program; none without a driver.
    """
    if nvml is None:
        return ()
    memory_by_pid: dict[int, int] = {}
    try:
        with nvml_session(nvml) as cards:
            lists = (
                nvml.nvmlDeviceGetComputeRunningProcesses,
                nvml.nvmlDeviceGetGraphicsRunningProcesses,
            )
            for process in (
                process
                for card in cards
                for list_processes in lists
                for process in list_processes(card)
            ):
                # A program can be in both lists with the same memory.
                memory_by_pid[process.pid] = max(
                    memory_by_pid.get(process.pid, 0), process.usedGpuMemory or 0
                )
    except nvml.NVMLError:
        return ()
    users = sorted(memory_by_pid.items(), key=lambda entry: -entry[1])
    return tuple(
        f"{_name(pid)} {size / 1e9:.1f} GB" if size else _name(pid)
        for pid, size in users
        if pid not in excluded
    )


def _name(pid: int) -> str:
    import psutil

    with suppress(psutil.Error):
        return psutil.Process(pid).name()
    return N_("the process {pid}", pid=pid)


_CRASHES: Final = 3
_WITHIN_S: Final = 600.0
PAUSE_S: Final = 1.0
"""Pause before a restart, doubled with each crash; there is no pause after the first one."""

_WAITING: Final = N_("Waiting for another start of vLLM")

_FIRST_S: Final = 30.0
FIRST_PART_NOTE: Final = N_(
    "A sound is longer than 30 seconds. In vLLM many models hear only the first 30 "
    "seconds, and vLLM does not report that."
)

FREED_S: Final = 8.0
_FREED: Final = 300_000_000
"""Bytes by which a card can be fuller after a worker than it was before."""


def _with_note(event: Event, request: ChatRequest) -> Event:
    """Add a note to the end of an answer whose sound the model may have heard only in part."""
    media = (
        medium for message in request.messages for medium in message.media if medium.kind == "audio"
    )
    if isinstance(event, Done) and any(
        (sound_seconds(medium.data) or 0.0) > _FIRST_S for medium in media
    ):
        return replace(event, notes=(*event.notes, FIRST_PART_NOTE))
    return event


class VllmEngine(ServedEngine):
    """An `engines.base.Engine` that runs models in a vLLM worker.

    It gives as many answers at once as the plan says.

    Args:
        installed: Returns the environment in use, or None.
        folder: Folder for caches, log and records.
        connect: Makes HTTP clients.
        examine: Examines this computer.
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
        examine: Callable[[], Hardware],
        silent_s: float = SILENT_S,
        host: Callable[[Installed], Host] = lambda _: LocalHost(),
        hang_s: float = HANG_S,
        grace_s: float = GRACE_S,
    ) -> None:
        self._installed = installed
        self._folder = folder
        self._connect = connect
        self._examine = examine
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
        self._unsettled: Setup | None = None
        self._worker_key = self._name = ""
        self._is_waiting = False
        self._crashes: deque[float] = deque(maxlen=_CRASHES)

    @property
    def worker(self) -> Worker | None:
        """The present worker, or the last one."""
        return self._worker

    @property
    def is_healthy(self) -> bool:
        """True if there is a worker that reports itself healthy."""
        running = self._running
        return running is not None and running.worker.is_healthy()

    def metrics(self) -> dict[str, float] | None:
        """Read the worker's metrics by name; return None without a worker. Raises EngineError."""
        running = self._running
        return running.worker.metrics() if running else None

    def load(self, plan: VllmPlan, progress: Progress, cancel: CancelToken) -> LoadedModel:
        """Start a worker for the plan's model in place of the present one. See `Engine.load`."""
        return self.share("", "", lambda: plan, progress, cancel)

    def share(
        self,
        worker_key: str,
        name: str,
        plan: Callable[[], VllmPlan],
        progress: Progress,
        cancel: CancelToken,
    ) -> LoadedModel:
        """Join another Hearth's worker for the same request, or start one that can be shared.

        Two Hearth processes that want to start a worker at the same time take turns.

        Args:
            worker_key: Identifies the request; empty for a worker that is not shared.
            name: The model's name, for lists of workers.
            plan: Called only if a worker has to be started, after unused workers have ended, so
                that it can plan for the memory that is free then.

        Raises:
            EngineError: As `Engine.load` raises it, or from `plan`.
            Cancelled: The start was cancelled.
        """
        with self._guard.exclusive():
            self._unload()
            self.settle()
            self._crashes.clear()
            if cancel.cancelled:
                raise Cancelled
            installed = require_installed(self._installed())
            self._worker_key, self._name = worker_key and self._key(worker_key, installed), name

            def setup() -> Setup:
                return prepare(plan(), installed, self._examine())

            running = self._join_or_start(setup, progress, cancel)
            self._setup = running.setup
            return running.report

    def adapt(self, worker_key: str, adapters: tuple[Adapter, ...], cancel: CancelToken) -> bool:
        """Change the LoRA adapters of the running worker.

        A worker has room for ranks up to the highest at its start, and for none if it started
        without adapters. A worker that another Hearth also uses keeps its adapters.

        Args:
            worker_key: As in `share`, for the new adapters.

        Returns:
            False if the worker has to be restarted for the change.

        Raises:
            AdapterUnknown: An adapter does not suit the model.
            Cancelled: The change was cancelled.
        """
        with self._guard.exclusive():
            running, is_shared_alike = self._running, bool(worker_key) == bool(self._worker_key)
            if running is None or not is_shared_alike or not running.worker.is_healthy(cancel):
                return False
            new = [adapter for adapter in adapters if adapter not in running.setup.plan.adapters]
            require_adapters(new, running.setup.checkpoint)
            if max_rank(new) > running.most_rank:
                return False
            if not self._worker_key or running.worker.place.socket is None:
                return self._change_adapters(running, adapters)
            with self._one_at_a_time(cancel):
                own_offers = (
                    offered_worker
                    for offered_worker in offered_workers(self._folder)
                    if offered_worker.guardian == running.worker.guardian
                )
                offered = next(own_offers, None)
                if offered is None or (offered.state() or (0, None))[0] != 1:
                    return False
                withdraw_offer(running.worker.place)
                if not self._change_adapters(running, adapters):
                    return False
                self._worker_key = self._key(worker_key, require_installed(self._installed()))
                self._offer(running)
                return True

    def _change_adapters(self, running: Running, adapters: tuple[Adapter, ...]) -> bool:
        setup, worker = running.setup, running.worker
        loaded = setup.plan.adapters
        try:
            succeeded = all(
                worker.remove_adapter(adapter.name) for adapter in loaded if adapter not in adapters
            )
            succeeded = succeeded and all(
                worker.add_adapter(adapter.name, running.reach(adapter.path))
                for adapter in adapters
                if adapter not in loaded
            )
        except EngineError:
            return False
        if succeeded:
            changed = replace(setup, plan=replace(setup.plan, adapters=adapters))
            self._setup = running.setup = changed
        return succeeded

    def revive(self, progress: Progress, cancel: CancelToken) -> LoadedModel:
        """Make sure that the worker of the loaded model runs.

        `chat` does this too, but reports no progress.

        Raises:
            EngineError: The worker cannot be started, or keeps crashing.
            Cancelled: The start was cancelled.
        """
        with self._guard.exclusive():
            return self._healthy_worker(progress, cancel).report

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        """Answer a request, after restarting a crashed worker. See `Engine.chat`.

        MTP stays as the worker was started; if the request asks for something else, `Done` says so.
        """
        with self._guard.answering(
            self._setup.plan.parallel if self._setup else 1
        ) as was_undisturbed:
            with self._reviving:
                running = self._healthy_worker(lambda _: None, cancel)
            adapter = adapter_of(request, running.setup.plan.adapters)
            access = replace(running.access, model=adapter) if adapter else running.access
            answer_cancel = CancelToken()
            forget = cancel.on_cancel(answer_cancel.cancel)
            try:
                for event in self._watched(
                    running, answer(request, access, answer_cancel), answer_cancel
                ):
                    # Other answers and adapters slow this one down, so its speed says nothing about
                    # drafts.
                    if isinstance(event, Done) and adapter is None and was_undisturbed():
                        running.learn(event.usage.completion_tokens, event.timing.decode_tok_s)
                    yield _with_note(event, request)
            except Hung:
                raise
            except EngineError as error:
                if running.worker.is_healthy():
                    raise
                raise self._end_crashed(running) from error
            finally:
                forget()

    def _watched(
        self, running: Running, events: Iterator[Event], answer_cancel: CancelToken
    ) -> Iterator[Event]:
        """Pass events on, and end a worker that hangs. Raises Hung."""
        with HangWatch(running.worker.session, answer_cancel.cancel, self._hang_s) as watch:
            for event in events:
                watch.note_output()
                if watch.hangs:
                    self._end_crashed(running)
                    raise Hung(self._hang_s)
                yield event

    def _loaded(self) -> ServedModelAccess:
        running = self._running
        if running is None:
            raise nothing_loaded()
        return running.access

    def check_mtp(self, request: ChatRequest, depth: int, cancel: CancelToken) -> MtpCheck:
        """Compare answers with and without drafts, in two starts. See `Engine.check_mtp`.

        The worker runs as before afterwards. Raises Cancelled if the user cancels the comparison.
        """
        with self._guard.exclusive():
            setup = self._setup
            if setup is None:
                raise nothing_loaded()
            installed = require_installed(self._installed())

            # The workers of the comparison must not be shared.
            worker_key, self._worker_key = self._worker_key, ""

            def start(plan: VllmPlan) -> Running:
                if self._running is None or self._running.setup.plan != plan:
                    self._unload()
                    self.settle()
                    prepared = prepare(plan, installed, self._examine(), drafting_needed=True)
                    self._start(prepared, lambda _: None, cancel)
                assert self._running is not None  # noqa: S101  started
                return self._running

            try:
                return check_mtp(start, setup.plan, request, depth, cancel)
            finally:
                self._setup, self._worker_key = setup, worker_key
                if self._running is not None and self._running.setup.plan != setup.plan:
                    self._unload(keep=setup)

    def status(self) -> EngineStatus:
        """Return the progress of the worker's start, or its state. See `Engine.status`."""
        worker, running = self._worker, self._running
        if self._is_waiting:
            return EngineStatus("loading", _WAITING)
        if worker is None:
            return EngineStatus()
        in_wsl, log = worker.in_wsl, worker.tail
        if worker.has_ended:
            return EngineStatus("stopped", log=log, elsewhere=in_wsl)
        process = 0 if in_wsl else worker.session
        if running is not None and running.worker is worker:
            return EngineStatus("ready", log=log, process=process, elsewhere=in_wsl)
        stage = worker.stage
        return EngineStatus("loading", stage.words, stage.share, log, process, in_wsl, stage.detail)

    def cache_used(self) -> float | None:
        """Return the used share of the worker's KV cache. See `Engine.cache_used`."""
        try:
            figures = self.metrics()
        except EngineError:
            return None  # the worker is busy, or has just ended
        return figures.get(CACHE_USED, 0.0) if figures is not None else None

    def close(self) -> None:
        """Stop the worker. See `Engine.close`; call `settle` to wait for the cards' memory."""
        with self._guard.exclusive():
            self._unload()

    def leave(self, stays_s: float) -> None:
        """Close the engine, and let a shared worker wait `stays_s` seconds for another user."""
        with self._guard.exclusive():
            self._unload(stays_s=stays_s)

    def settle(self) -> None:
        """Wait until the cards' memory is free again.

        A driver can release it a little after the worker has ended. Nobody waits for that when
        Hearth itself ends.
        """
        setup, self._unsettled = self._unsettled, None
        if setup is not None:
            self._wait_for_memory(setup.plan, setup.free_bytes)

    def _key(self, worker_key: str, installed: Installed) -> str:
        """Combine the request with everything else that changes a worker into one key."""
        host_variables = [os.environ.get(name, "") for name in CARD_VARIABLES]
        return json.dumps(
            [worker_key, installed.folder.as_posix(), installed.version, host_variables]
        )

    def _join_or_start(
        self, setup: Callable[[], Setup], progress: Progress, cancel: CancelToken
    ) -> Running:
        """Return a running worker: join another Hearth's, or start one."""
        if not self._worker_key or self._host(require_installed(self._installed())).in_wsl:
            return self._start(setup(), progress, cancel)
        with self._one_at_a_time(cancel):
            joined = self._join(cancel)
            if joined is not None:
                progress(1.0)
                return joined
            for worker in offered_workers(self._folder):
                if worker.end(force=False):
                    self._wait_for_memory(worker.offer.plan, worker.offer.free_bytes)
            return self._start(setup(), progress, cancel)

    @contextmanager
    def _one_at_a_time(self, cancel: CancelToken) -> Iterator[None]:
        """Wait while another Hearth starts a worker. Raises Cancelled, EngineFailed."""

        def on_wait() -> None:
            self._is_waiting = True

        with ExitStack() as stack:
            try:
                stack.enter_context(exclusive(self._folder, on_wait, cancel))
            except OSError as error:
                raise unwritable(error) from error
            finally:
                self._is_waiting = False
            yield

    def _join(self, cancel: CancelToken) -> Running | None:
        """Join a worker that another Hearth has started for the same request, or return None."""
        started = perf_counter()
        installed = require_installed(self._installed())
        for offered in offered_workers(self._folder):
            offer, state = offered.offer, offered.state()
            if offer.wanted != self._worker_key or state is None:
                continue
            plan = offer.plan
            # This worker already has its memory, so the memory that is free now does not matter.
            setup = prepare(replace(plan, anyway=True), installed, self._examine())
            setup = replace(setup, plan=plan, device=offer.device, free_bytes=offer.free_bytes)
            circumstances = Circumstances(
                setup.checkpoint.name, plan.context, card_users(load_nvml())
            )
            try:
                worker = Worker(
                    WorkerCommand((), {}),
                    offered.place,
                    self._connect,
                    self._folder / "vllm.log",
                    circumstances,
                    self._host(installed),
                    shared=True,
                    guardian_pid=offered.guardian,
                )
            except OSError:
                continue  # the worker has just ended
            served = worker.served_model(cancel)
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
                perf_counter() - started,
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
            self._worker_key,
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
        plan, started = setup.plan, perf_counter()
        self.settle()
        host = self._host(installed)
        launch = host.prepare(self._folder)
        place = launch.place
        hardware = self._examine()
        cards = used_cards(hardware, plan.options.cards)
        on_cards = installed.profile == "cuda"
        share = memory_share(cards, plan.options.memory_share, setup.takes) if on_cards else None
        worker_command = command(
            plan,
            installed,
            place,
            setup.checkpoint,
            drafts=setup.drafts,
            share=share,
            card_numbers=() if installed.profile == "cpu" else card_numbers(hardware, cards),
            host_variables=launch.variables,
            spare=spare_ram(hardware, setup.checkpoint),
            jobs=compile_jobs(hardware, in_wsl=host.in_wsl),
            reach=launch.reach,
        )
        circumstances = Circumstances(setup.checkpoint.name, plan.context, card_users(load_nvml()))
        worker = self._worker = Worker(
            worker_command,
            place,
            self._connect,
            self._folder / "vllm.log",
            circumstances,
            host,
            self._silent_s,
            self._grace_s,
            shared=bool(self._worker_key) and place.socket is not None,
        )
        served = worker.wait(progress, cancel)
        seconds = perf_counter() - started
        context = served.context or plan.context
        notes = (*setup.notes, *worker_command.notes)
        running = Running(
            setup, worker, self._book, context, seconds, notes, worker_command.parsing, launch.reach
        )
        self._running = running
        if self._worker_key and place.socket is not None:
            self._offer(running)
        progress(1.0)
        return running

    def _healthy_worker(self, progress: Progress, cancel: CancelToken) -> Running:
        """Return a healthy worker, restarting a crashed one after a growing pause.

        Raises an EngineError after several crashes within a few minutes.
        """
        running, setup = self._running, self._setup
        if setup is None:
            raise nothing_loaded()
        if running is not None:
            # If the user cancels before the health check answers, its result no longer matters.
            if running.worker.is_healthy(cancel) or cancel.cancelled:
                return running
            self._end_crashed(running)
        recent = sum(1 for crashed_at in self._crashes if monotonic() - crashed_at < _WITHIN_S)
        if recent >= _CRASHES:
            raise too_many_crashes(recent)
        if recent > 1:
            cancel.wait(PAUSE_S * 2**recent)
        return self._join_or_start(lambda: setup, progress, cancel)

    def _end_crashed(self, running: Running) -> Exception:
        """End the remains of a crashed worker, record the crash, and return its error."""
        with self._lock:
            was_running = self._running is running
            if was_running:
                self._running = None
        if was_running:
            self._crashes.append(monotonic())
            running.worker.stop()
        return running.worker.crash_error()

    def _unload(self, keep: Setup | None = None, stays_s: float = 0.0) -> None:
        running, self._running, self._setup = self._running, None, keep
        if running is not None and running.worker.leave(stays_s):
            self._unsettled = running.setup

    def _wait_for_memory(self, plan: VllmPlan, free_bytes: int) -> None:
        """Wait until a plan's cards have as much free memory as before its worker started."""
        deadline = monotonic() + FREED_S
        while free_bytes and monotonic() < deadline:
            cards = used_cards(self._examine(), plan.options.cards)
            if sum(card.free_bytes or 0 for card in cards) >= free_bytes - _FREED:
                return
            sleep(0.25)
