"""The rendering of a chat template in a process of its own, so that an endless one does no harm.

A template is a stranger's program. Python cannot stop one that doubles a text or loops without
writing anything; the system can. `template_child` is the other end.
"""

from __future__ import annotations

import pickle
import struct
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import IO, Any, Final

from engines.cancel import CancelToken
from engines.dialect.template import refused, template_failed, unusable
from engines.errors import Cancelled, EngineUnavailable, TemplateFailed
from engines.helper.clock import WorkClock, worked_too_long
from engines.helper.command import module_command
from engines.helper.parent import environment, quiet_flags
from engines.sentences import N_

COMMAND: Final = module_command("engines.dialect.template_child")

LIMIT_S: Final = 5.0
"""The most processor time for one request, in seconds; a template needs milliseconds."""

MEMORY_BYTES: Final = 512 << 20
"""The most memory for the process; a long conversation takes some tens of megabytes."""

START_S: Final = 30.0
"""The most processor time for starting Python, in seconds."""

HEAD: Final = struct.Struct("<cQ")
"""The header before the text of an answer: its kind, and the number of bytes that follow."""

READY, DONE, REFUSED, NO_MEMORY = b"+", b"=", b"!", b"m"

NO_MEMORY_CODE: Final = 77
"""The exit code of a process that has no memory left even for an answer."""

_LOOK_S: Final = 0.05


class TemplateProcess:
    """A `Renderer` for any thread; it renders one conversation after the other.

    A process that had to be stopped, or that the system ended, is restarted for the next
    conversation.

    Args:
        limit_s: Processor time that one conversation may take, in seconds; how busy the computer is
            otherwise does not matter.
        still_s: Seconds for which the process may make no progress.

    Raises:
        TemplateFailed: The source cannot be compiled.
        EngineUnavailable: No process can be started.
    """

    def __init__(
        self,
        source: str,
        command: Sequence[str] = COMMAND,
        limit_s: float = LIMIT_S,
        still_s: float | None = None,
    ) -> None:
        self._source = source
        self._command = tuple(command)
        self._limit_s = limit_s
        self._still_s = still_s
        self._lock = threading.Lock()
        self._closed = False
        self._child: _Child | None = None
        with self._alone(None):
            self._started(None)

    def run(
        self,
        messages: list[dict[str, object]],
        values: Mapping[str, object],
        tools: list[dict[str, Any]] | None = None,
        cancel: CancelToken | None = None,
    ) -> str:
        """Render in the process. See `Renderer.run`. Raises also EngineUnavailable."""
        with self._alone(cancel):
            child = self._started(cancel)
            kind, text = child.ask((messages, dict(values), tools), self._limit_s, cancel)
        if kind == REFUSED:
            raise refused(text)
        return text

    def close(self) -> None:
        """End the process; a rendering under way fails."""
        self._closed = True
        if (child := self._child) is not None:
            child.kill()
        with self._lock:
            if self._child is not None:
                self._child.close()
                self._child = None

    def _started(self, cancel: CancelToken | None) -> _Child:
        """Return the process with its template compiled; start one if there is none."""
        if self._child is not None:
            if self._child.alive:
                return self._child
            self._child.close()
            self._child = None
        child = _Child(self._command, self._still_s)
        try:
            if self._closed:
                raise _stopped(N_("Its model is being closed."))
            child.ask(None, START_S, cancel)
            kind, text = child.ask(self._source, self._limit_s, cancel)
            if kind == REFUSED:
                raise unusable(text)
        except BaseException:
            child.close()
            raise
        self._child = child
        return child

    @contextmanager
    def _alone(self, cancel: CancelToken | None) -> Iterator[None]:
        while not self._lock.acquire(timeout=_LOOK_S):
            _look(cancel)
        try:
            yield
        finally:
            self._lock.release()


class _Child:
    """The running process, and a thread that writes to it and reads from it.

    The thread is needed because not all systems can limit the time of a write or a read. Raises
    EngineUnavailable.
    """

    def __init__(self, command: Sequence[str], still_s: float | None) -> None:
        self._still_s = still_s
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(),
                creationflags=quiet_flags(),
            )
        except OSError as error:
            raise EngineUnavailable(
                N_("The model's chat template cannot be run."),
                N_(
                    "The process for it does not start: {strerror}.",
                    strerror=error.strerror or error,
                ),
                N_("Close other programs and try again; if it fails again, reinstall Hearth."),
            ) from error
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="template")
        self._killed = False

    @property
    def alive(self) -> bool:
        return not self._killed and self._process.poll() is None

    def ask(self, request: object, limit_s: float, cancel: CancelToken | None) -> tuple[bytes, str]:
        """Send a request; return the kind and the text of the answer.

        Args:
            request: None sends nothing and only waits for an answer.
            limit_s: Processor time, in seconds.

        Raises:
            TemplateFailed: A limit was exceeded, or the process ended; it has been killed.
            Cancelled: It was cancelled; the process has been killed.
        """
        asked = b"" if request is None else pickle.dumps(request)
        answer = self._thread.submit(self._exchange, asked)
        clock = WorkClock(self._process.pid, limit_s, self._still_s)
        try:
            while True:
                with suppress(TimeoutError):
                    kind, text = answer.result(timeout=_LOOK_S)
                    break
                _look(cancel)
                if self._resident_bytes() > MEMORY_BYTES:
                    raise _stopped(_TOO_MUCH)
                if clock.is_over():
                    raise _stopped(_too_long(limit_s))
        except (OSError, EOFError) as error:
            self.kill()
            raise _stopped(_why_ended(self._process.wait(), limit_s)) from error
        except BaseException:
            self.kill()
            raise
        if kind == NO_MEMORY:
            self.kill()
            raise _stopped(_TOO_MUCH)
        return kind, text

    def kill(self) -> None:
        self._killed = True
        self._process.kill()

    def close(self) -> None:
        self.kill()
        self._thread.shutdown()  # ends, because the pipes of a killed process close
        with suppress(OSError):  # unread input is lost with the process
            self._process.communicate()

    def _exchange(self, request: bytes) -> tuple[bytes, str]:
        asked, said = self._process.stdin, self._process.stdout
        if asked is None or said is None:
            raise EOFError
        asked.write(request)
        asked.flush()
        kind, length = HEAD.unpack(_read(said, HEAD.size))
        return kind, _read(said, min(length, MEMORY_BYTES)).decode(errors="replace")

    def _resident_bytes(self) -> int:
        """Return the process's resident memory in bytes; 0 if it has ended.

        Only Linux makes allocations fail at the limit; on other systems it is polled.
        """
        import psutil

        try:
            return int(psutil.Process(self._process.pid).memory_info().rss)
        except psutil.Error:
            return 0


_TOO_MUCH: Final = N_(
    "It needs more than {memory_bytes} MB of memory to write a prompt.",
    memory_bytes=MEMORY_BYTES >> 20,
)


def _too_long(limit_s: float) -> str:
    return N_("It had written no prompt after {limit_s} seconds.", limit_s=f"{limit_s:g}")


def _why_ended(code: int, limit_s: float) -> str:
    """Return a sentence on why the process ended by itself, mostly at a limit of the system."""
    if code == NO_MEMORY_CODE:
        return _TOO_MUCH
    return (
        _too_long(limit_s) if worked_too_long(code) else N_("The process that runs it has ended.")
    )


def _look(cancel: CancelToken | None) -> None:
    if cancel is not None and cancel.cancelled:
        raise Cancelled


def _read(pipe: IO[bytes], count: int) -> bytes:
    data = pipe.read(count)
    if len(data) < count:
        raise EOFError
    return data


def _stopped(why: str) -> TemplateFailed:
    return template_failed(N_("The model's chat template was stopped."), why)
