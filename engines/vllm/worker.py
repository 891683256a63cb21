"""One run of vLLM: its start and progress, its health, and its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engines.base import Progress
from engines.cancel import CancelToken
from engines.connection import Connection
from engines.errors import Cancelled, EngineError
from engines.openai.client import OpenAiClient
from engines.openai.values import ServedModel
from engines.vllm.command import MODEL, WorkerCommand, WorkerPlace
from engines.vllm.failures import Circumstances, crash_failure, stalled, start_failure
from engines.vllm.hanging import StartWatch
from engines.vllm.host import Host, unreachable_from_windows
from engines.vllm.log import BEFORE, COMPILING, Stage, stage
from engines.vllm.metrics import read_metrics
from engines.vllm.shared import SharedWorker
from engines.vllm.supervised import GRACE_S, Supervised

if TYPE_CHECKING:
    import httpx2

Connect = Callable[[Path | str, str], "httpx2.Client"]
"""Returns an HTTP client for a socket or an address, and for the key that the server expects."""

SILENT_S: Final = 600.0
"""Longest time in seconds that a start can go without any log line or computation."""

_POLL_S: Final = 0.05
HEALTH_S: Final = 10.0
_FIGURES_S: Final = 3.0
"""Shorter than the timeout of Prometheus, which waits ten seconds for the whole request."""

REACH_S: Final = 30.0
"""Longest silence in seconds of a worker in WSL2 that serves but cannot be reached."""

_BEGUN: Final = 0.02
"""Share of the start that is done when the first line has been logged."""

_READY: Final = "Starting vLLM server on"


class Worker:
    """A vLLM server, started by its constructor; always end it with `stop` or `leave`.

    Args:
        command: Words and environment to start it with; not used if a worker is joined.
        connect: Makes the HTTP client.
        log: File that receives the worker's log.
        circumstances: Circumstances that error messages mention.
        host: The system that it runs on.
        silent_s: Longest silence at the start; see `SILENT_S`.
        grace_s: Seconds that it gets to end by itself.
        shared: Let other Hearth processes use it too.
        guardian_pid: Process id of the guardian whose worker to join; 0 starts a worker.

    Raises:
        EngineError: As `Supervised.start` raises it.
        OSError: There is no worker to join.
    """

    def __init__(
        self,
        command: WorkerCommand,
        place: WorkerPlace,
        connect: Connect,
        log: Path,
        circumstances: Circumstances,
        host: Host,
        silent_s: float = SILENT_S,
        grace_s: float = GRACE_S,
        *,
        shared: bool = False,
        guardian_pid: int = 0,
    ) -> None:
        self._host = host
        self.place = place
        self.circumstances = circumstances
        self._silent_s = silent_s
        self._stage = Stage(0.0, BEFORE)
        self._is_listening, self._ready = bool(guardian_pid), False
        self._client = connect(place.socket or place.base, place.key)
        self._api = OpenAiClient(self._client, place.base, self._headers, "vLLM")
        supervised_class = (
            partial(SharedWorker, guardian_pid=guardian_pid) if shared else Supervised
        )
        self._supervised = supervised_class(
            command.words,
            command.environment,
            host=self._host,
            place=place,
            log=log,
            on_line=self._handle_line,
            grace_s=grace_s,
        )
        try:
            self._supervised.start()
        except BaseException:
            self._client.close()
            if not guardian_pid:
                self._host.settle(place)
            raise

    @property
    def api(self) -> OpenAiClient:
        """The client for requests, once the worker is ready."""
        return self._api

    @property
    def stage(self) -> Stage:
        """Progress of the start; shows compilation even if the log does not mention it."""
        if self._supervised.is_compiling and self._stage.words != COMPILING:
            return Stage(self._stage.share, COMPILING)
        return self._stage

    @property
    def tail(self) -> tuple[str, ...]:
        """The last lines of the worker's log."""
        return self._supervised.tail

    @property
    def session(self) -> int:
        """Id of the worker's first process and of its session; 0 before it exists.

        The id of a worker inside WSL2 means nothing on this system.
        """
        return self._supervised.pid

    @property
    def has_ended(self) -> bool:
        """True if the worker has ended."""
        return self._supervised.has_ended

    @property
    def in_wsl(self) -> bool:
        """True if the worker's processes run inside WSL2, and not on this system."""
        return self._host.in_wsl

    @property
    def guardian(self) -> int:
        """Process id of the guardian."""
        return self._supervised.guardian

    def wait(self, progress: Progress, cancel: CancelToken) -> ServedModel:
        """Wait until the worker answers for its model; stop it if that fails.

        There is no time limit as long as the worker logs something now and then, or computes.

        Raises:
            Cancelled: The start was cancelled.
            EngineError: The start failed, with the reason that the log gives.
        """
        try:
            with Connection.ended_by(cancel) as connection:
                return self._wait(self._client_on(connection), progress, cancel)
        except BaseException:
            self.stop()
            raise

    def is_healthy(self, cancel: CancelToken | None = None) -> bool:
        """Return whether the worker and its engine are alive; False if the check is cancelled."""
        if not self._ready or self._supervised.has_ended:
            return False
        if cancel is None:
            return is_healthy(self._api)
        with Connection.ended_by(cancel) as connection:
            return is_healthy(self._client_on(connection))

    def metrics(self) -> dict[str, float]:
        """Read the worker's metrics by name. Raises EngineError."""
        return read_metrics(self._api.text("/metrics", _FIGURES_S) or "")

    def add_adapter(self, name: str, path: str) -> bool:
        """Load a LoRA adapter in addition to the loaded ones; return False if vLLM refuses.

        Args:
            path: The adapter's folder, as the worker's system names it.

        Raises:
            EngineError: The request failed.
        """
        return self._api.run_command(
            "/v1/load_lora_adapter", {"lora_name": name, "lora_path": path}
        )

    def remove_adapter(self, name: str) -> bool:
        """Unload a LoRA adapter; return False if vLLM refuses. Raises EngineError."""
        return self._api.run_command("/v1/unload_lora_adapter", {"lora_name": name})

    def crash_error(self) -> Exception:
        """Return the error for an unexpected end, whatever the exit code was."""
        return crash_failure(self.tail, self.circumstances, self._supervised.exit_code)

    def stop(self) -> None:
        """Stop the worker, even if others use it; return when none of its processes is left."""
        self._supervised.stop()
        self._client.close()

    def leave(self, stays_s: float = 0.0) -> bool:
        """Stop using the worker, and return whether it has ended because of that.

        A shared worker runs on for its other users. Without any, it waits for `stays_s` seconds for
        a new one.
        """
        ended = self._supervised.leave(stays_s)
        self._client.close()
        return ended

    def served_model(self, cancel: CancelToken) -> ServedModel | None:
        """Ask a joined worker once for its model; return None if it does not answer."""
        served = None
        with Connection.ended_by(cancel) as connection, suppress(EngineError):
            served = self._ask_model(self._client_on(connection), cancel)
        self._ready = served is not None
        return served

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.place.key}"} if self.place.key else {}

    def _client_on(self, connection: Connection) -> OpenAiClient:
        """Return a client whose requests end when the connection is closed."""
        return OpenAiClient(self._client, self.place.base, self._headers, "vLLM", connection)

    def _wait(self, api: OpenAiClient, progress: Progress, cancel: CancelToken) -> ServedModel:
        reported = -1.0
        watch = StartWatch(self._silent_s)
        while True:
            if cancel.cancelled:
                raise Cancelled
            if self._supervised.has_ended:
                raise start_failure(self._output(), self.circumstances, self._supervised.exit_code)
            silence = watch.check(self._supervised.last_line_at, self._supervised.computed_s)
            if silence is not None:
                raise stalled(self.circumstances.model, silence.seconds, computes=silence.computes)
            if self._stage.share > reported:
                reported = self._stage.share
                progress(reported)
            if self._is_listening and (served := self._ask_model(api, cancel)):
                self._ready = True
                return served
            if (
                self._is_listening
                and self.in_wsl
                and time.monotonic() - self._supervised.last_line_at > REACH_S
            ):
                raise unreachable_from_windows()
            self._supervised.wait(_POLL_S)

    def _output(self) -> tuple[str, ...]:
        return (*self.tail, *((self._supervised.failure,) if self._supervised.failure else ()))

    def _ask_model(self, api: OpenAiClient, cancel: CancelToken) -> ServedModel | None:
        """Return the model, or None while the worker is not healthy and refuses connections."""
        if not is_healthy(api):
            return None
        try:
            return next((model for model in api.models() if model.id == MODEL), None)
        except EngineError:
            if cancel.cancelled:
                return None
            raise

    def _handle_line(self, line: str) -> None:
        """Update the progress of the start from a log line; runs on the reading thread."""
        self._is_listening = self._is_listening or _READY in line
        if not self._stage.share:
            self._stage = Stage(_BEGUN, BEFORE)
        self._stage = stage(line, self._stage)


def is_healthy(api: OpenAiClient) -> bool:
    """Return whether the worker answers and reports that its engine is alive."""
    try:
        return api.text("/health", silence_s=HEALTH_S) is not None
    except EngineError:
        return False
