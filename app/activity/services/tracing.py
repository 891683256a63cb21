"""The export of each request as a span to a collector, if the settings name one."""

from __future__ import annotations

import logging
import secrets
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from app.activity.values.traces import as_otlp
from engines.errors import UserError

if TYPE_CHECKING:
    from app.runtime.values.request_records import RequestRecord

_MOST_WAITING: Final = 1_000
GATHER_S: Final = 1.0
"""How long to wait for further requests before sending, in seconds."""

PAUSE_S: Final = 30.0
"""The pause after a failed attempt, in seconds."""

CLOSE_S: Final = 2.0
"""How long the end of Hearth waits for the last spans, in seconds."""

_log = logging.getLogger(__name__)

Send = Callable[[str, bytes], None]
"""Sends JSON of OTLP to an endpoint. Raises UserError."""


class Tracing:
    """The sender of ended requests, on a thread of its own, so that no answer waits for it.

    If the collector cannot be reached, the last requests are kept until it can. The owner calls
    `close`.

    Args:
        endpoint: Returns the collector's address, "" for none; called for each request.
    """

    def __init__(self, endpoint: Callable[[], str], send: Send) -> None:
        self._endpoint = endpoint
        self._send = send
        self._changed = threading.Condition()
        self._waiting: deque[RequestRecord] = deque(maxlen=_MOST_WAITING)
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._is_failing = False

    def add(self, record: RequestRecord) -> None:
        """Queue an ended request, if there is a collector; from any thread, without waiting."""
        if not self._endpoint():
            return
        with self._changed:
            if self._is_closed:
                return
            self._waiting.append(record)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="hearth-traces", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Send the remaining requests, unless sending failed before; wait only briefly."""
        with self._changed:
            self._is_closed = True
            thread = self._thread
            self._changed.notify()
        if thread is not None:
            thread.join(CLOSE_S)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_closed or self._waiting)
                if not self._is_closed:
                    pause = PAUSE_S if self._is_failing else GATHER_S
                    self._changed.wait_for(lambda: self._is_closed, pause)
                if self._is_closed and (self._is_failing or not self._waiting):
                    return
                records = tuple(self._waiting)
                self._waiting.clear()
            self._export(records)

    def _export(self, records: tuple[RequestRecord, ...]) -> None:
        endpoint = self._endpoint()
        if not endpoint:
            return  # the user has switched it off meanwhile
        try:
            self._send(endpoint, as_otlp(records, secrets.token_hex))
        except UserError as error:
            if not self._is_failing:
                _log.warning("The traces could not be sent: %s %s", error.what, error.why)
            self._is_failing = True
            with self._changed:
                newer = tuple(self._waiting)
                self._waiting.clear()
                self._waiting.extend((*records, *newer))
        else:
            self._is_failing = False
