"""The rendering of a chat template in a process of its own, so that an endless one does no harm.

A template is a stranger's program. Python cannot stop one that doubles a text or loops without
writing anything; the system can. `template_child` is the other end.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from engines.cancel import CancelToken
from engines.dialect.template import template_failed
from engines.errors import Cancelled, EngineUnavailable, TemplateFailed
from engines.helper.child import NO_MEMORY_CODE
from engines.helper.command import module_command
from engines.helper.parent import NoResult, ProcessResult, result_of
from engines.helper.serving import ServingHelper
from engines.sentences import N_

COMMAND: Final = module_command("engines.dialect.template_child")

LIMIT_S: Final = 5.0
"""The most processor time for one request, in seconds; a template needs milliseconds."""

MEMORY_BYTES: Final = 512 << 20
"""The most memory for the process; a long conversation takes some tens of megabytes."""

START_S: Final = 30.0
"""The most processor time for starting Python, in seconds."""

_CHECK_S: Final = 0.05


class TemplateProcess:
    """A `Renderer` for any thread; it renders one conversation after the other.

    A process that had to be stopped, or that the system ended, is restarted for the next
    conversation.

    Args:
        limit_s: Processor time that one conversation may take, in seconds; how busy the computer is
            otherwise does not matter.
        stalled_s: Seconds for which the process may make no progress.

    Raises:
        TemplateFailed: The source cannot be compiled.
        EngineUnavailable: No process can be started.
    """

    def __init__(
        self,
        source: str,
        command: Sequence[str] = COMMAND,
        limit_s: float = LIMIT_S,
        stalled_s: float | None = None,
    ) -> None:
        self._source = source
        self._command = tuple(command)
        self._limit_s = limit_s
        self._stalled_s = stalled_s
        self._lock = threading.Lock()
        self._closed = False
        self._helper: ServingHelper | None = None
        with self._exclusive(None):
            self._started(CancelToken())

    def run(
        self,
        messages: list[dict[str, object]],
        values: Mapping[str, object],
        tools: list[dict[str, Any]] | None = None,
        cancel: CancelToken | None = None,
    ) -> str:
        """Render in the process. See `Renderer.run`. Raises also EngineUnavailable."""
        with self._exclusive(cancel):
            cancel = cancel or CancelToken()
            helper = self._started(cancel)
            return str(self._ask(helper, (messages, dict(values), tools), self._limit_s, cancel))

    def close(self) -> None:
        """End the process; a rendering under way fails."""
        self._closed = True
        if (helper := self._helper) is not None:
            helper.kill()
        with self._lock:
            self._end()

    def _started(self, cancel: CancelToken) -> ServingHelper:
        """Return the process with its template compiled; start one if there is none."""
        if self._helper is not None and self._helper.alive:
            return self._helper
        self._end()
        try:
            helper = self._helper = ServingHelper(self._command, modest=False)
        except OSError as error:
            raise EngineUnavailable(
                N_("The model's chat template cannot be run."),
                N_(
                    "The process for it does not start: {strerror}.",
                    strerror=error.strerror or error,
                ),
                N_("Close other programs and try again; if it fails again, reinstall Hearth."),
            ) from error
        try:
            if self._closed:
                raise _stopped(N_("Its model is being closed."))
            self._ask(helper, None, START_S, cancel)
            self._ask(helper, self._source, self._limit_s, cancel)
        except BaseException:
            self._end()
            raise
        return helper

    def _ask(
        self, helper: ServingHelper, order: object, limit_s: float, cancel: CancelToken
    ) -> Any:
        """Have an order carried out; without an answer, end the process."""
        ended = helper.ask(order, limit_s, cancel, MEMORY_BYTES, MEMORY_BYTES, self._stalled_s)
        try:
            return result_of(ended)
        except NoResult as error:
            self._end()
            if cancel.cancelled:
                raise Cancelled from error
            raise _stopped(_why_ended(ended, limit_s)) from error

    def _end(self) -> None:
        if self._helper is not None:
            self._helper.close()
            self._helper = None

    @contextmanager
    def _exclusive(self, cancel: CancelToken | None) -> Iterator[None]:
        while not self._lock.acquire(timeout=_CHECK_S):
            if cancel is not None and cancel.cancelled:
                raise Cancelled
        try:
            yield
        finally:
            self._lock.release()


def _why_ended(ended: ProcessResult, limit_s: float) -> str:
    """Return a sentence on why the process ended, mostly at a limit."""
    if ended.too_much or ended.code == NO_MEMORY_CODE:
        return N_(
            "It needs more than {memory_bytes} MB of memory to write a prompt.",
            memory_bytes=MEMORY_BYTES >> 20,
        )
    if not ended.in_time:
        return N_("It had written no prompt after {limit_s} seconds.", limit_s=f"{limit_s:g}")
    return N_("The process that runs it has ended.")


def _stopped(why: str) -> TemplateFailed:
    return template_failed(N_("The model's chat template was stopped."), why)
