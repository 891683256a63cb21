"""The one way off the window's thread: functions on queues, with their results back on it.

Blocking work is an ordinary function. It runs on a named queue. Each queue has one thread and runs
one piece of work after the other, so that a queue replaces a lock on the data it works with. Only
work for the engines starts at once, each piece on its own thread: several answers can be written
at the same time, and `app.runtime.services.queue` decides which of them wait.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engines.cancel import CancelToken

STORE = "store"
ENGINE = "engine"
SYSTEM = "system"

T = TypeVar("T")
Failed = Callable[[Exception], object]

BATCH_MS = 33
_SIDE_BY_SIDE = {ENGINE}
_UNINTERRUPTED = {STORE, ENGINE}
"""Queues whose running work is always finished, as it handles the user's data."""
_PATIENCE_S = 5.0
"""How long `close` waits for the others: one can be asking a name server that does not answer."""


@dataclass(eq=False)
class Task:
    """A piece of work that was handed in.

    Attributes:
        work: Carries it out.
        token: The token that `cancel` cancels.
        waiting: The items of a stream that are not delivered yet.
    """

    work: Callable[[Task], None]
    token: CancelToken = field(default_factory=CancelToken)
    waiting: deque[Any] = field(default_factory=deque)

    def cancel(self) -> None:
        """Ask the work to end early."""
        self.token.cancel()


class Tasks(QObject):
    """Functions that run on other threads, with their results delivered on this one.

    Example::

        tasks.run(store.chats, done=self._show, failed=notify.error, on=STORE)

    Callbacks are called on the thread that owns this object. After `close` none is called.

    Signals:
        closing(): `close` was called; no more work can be handed in.
    """

    closing = Signal()
    _back = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workers: dict[str, _Worker] = {}
        self._live: set[Task] = set()
        self._streams: dict[Task, Callable[[list[Any]], object]] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(BATCH_MS)
        self._timer.timeout.connect(self._deliver)
        self._closed = False
        self._back.connect(self._call)

    @property
    def is_busy(self) -> bool:
        """True if work is under way, or its end not delivered yet."""
        return bool(self._live)

    def run(
        self, work: Callable[[], T], done: Callable[[T], object], failed: Failed, on: str
    ) -> Task:
        """Call `work` on the queue `on`, then `done` with its result or `failed` with its error."""

        def carry_out(task: Task) -> None:
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 - the owner's thread handles it
                self._back.emit(lambda error=error: self._end(task, lambda: failed(error)))
            else:
                self._back.emit(lambda: self._end(task, lambda: done(result)))

        return self._submit(Task(carry_out), on)

    def stream(
        self,
        work: Callable[[CancelToken], Iterator[T]],
        batch: Callable[[list[T]], object],
        done: Callable[[], object],
        failed: Failed,
        on: str,
    ) -> Task:
        """Iterate over `work` on a queue; its items arrive in batches, on a timer.

        However fast the items come, `batch` is called about 30 times a second at most, and a
        slow receiver gets fewer, larger batches. A cancelled task still delivers what it yields.

        Args:
            work: Yields the items; it is given the token that cancels it.
            batch: Called with the items that have arrived since the last call.
            done: Called after the last batch.
            failed: Called with the error that `work` raised, after the last batch.
            on: The name of the queue.
        """

        def carry_out(task: Task) -> None:
            try:
                for item in work(task.token):
                    task.waiting.append(item)
            except Exception as error:  # noqa: BLE001 - the owner's thread handles it
                self._back.emit(lambda error=error: self._end(task, lambda: failed(error)))
            else:
                self._back.emit(lambda: self._end(task, done))

        task = Task(carry_out)
        self._streams[task] = batch
        self._timer.start()
        return self._submit(task, on)

    def close(self) -> None:
        """Cancel everything, wait for the threads to end, and deliver nothing more.

        A thread that can be waiting for another computer is abandoned after some seconds.
        """
        self._closed = True
        self.closing.emit()
        self._timer.stop()
        for task in self._live:
            task.cancel()
        for name, worker in self._workers.items():
            if not worker.close(None if name in _UNINTERRUPTED else _PATIENCE_S):
                import logging

                logging.getLogger(__name__).warning(
                    "abandoned the work that was still running on %s", name
                )
        self._live.clear()
        self._streams.clear()

    def _submit(self, task: Task, on: str) -> Task:
        if self._closed:
            raise RuntimeError("this Tasks is closed")
        if on not in self._workers:
            self._workers[on] = _Worker(on, side_by_side=on in _SIDE_BY_SIDE)
        self._live.add(task)
        self._workers[on].put(task)
        return task

    @Slot(object)
    def _call(self, callback: Callable[[], None]) -> None:
        if not self._closed:
            callback()

    def _end(self, task: Task, callback: Callable[[], object]) -> None:
        if task in self._streams:
            self._flush(task)
            del self._streams[task]
            if not self._streams:
                self._timer.stop()
        self._live.discard(task)
        callback()

    def _deliver(self) -> None:
        for task in list(self._streams):
            self._flush(task)

    def _flush(self, task: Task) -> None:
        items = []
        while task.waiting:
            items.append(task.waiting.popleft())
        if items:
            self._streams[task](items)


class _Worker:
    """The threads of a queue: one, or as many as there are pieces of work at the same time.

    A thread is kept for later work, as it has its own connection to the database.
    """

    def __init__(self, name: str, *, side_by_side: bool) -> None:
        self._name = name
        self._side_by_side = side_by_side
        self._queue: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._open = 0
        self._threads: list[threading.Thread] = []

    def put(self, task: Task) -> None:
        with self._lock:
            self._open += 1
            if not self._threads or (self._side_by_side and self._open > len(self._threads)):
                self._start_thread()
        self._queue.put(task)

    def close(self, patience_s: float | None) -> bool:
        """Ask all threads to end, and wait for them.

        Args:
            patience_s: How long to wait for each thread, in seconds; None for as long as it takes.

        Returns:
            Whether all threads have ended.
        """
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join(patience_s)
        return not any(thread.is_alive() for thread in self._threads)

    def _start_thread(self) -> None:
        number = f"-{len(self._threads) + 1}" if self._threads else ""
        name = f"hearth-{self._name}{number}"
        self._threads.append(threading.Thread(target=self._loop, name=name, daemon=True))
        self._threads[-1].start()

    def _loop(self) -> None:
        while (task := self._queue.get()) is not None:
            try:
                task.work(task)
            finally:
                with self._lock:
                    self._open -= 1
