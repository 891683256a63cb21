"""Sends each request as a span to a collector, if the settings name one."""

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

_MOST_KEPT: Final = 1_000
GATHERED_S: Final = 1.0
"""How long to wait for further requests before sending, in seconds."""

PAUSE_S: Final = 30.0
"""The pause after a failed attempt, in seconds."""

PATIENCE_S: Final = 2.0
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
        self._ended: deque[RequestRecord] = deque(maxlen=_MOST_KEPT)
        self._thread: threading.Thread | None = None
        self._closed = False
        self._failing = False

    def take(self, record: RequestRecord) -> None:
        """Queue an ended request, if there is a collector; from any thread, without waiting."""
        if not self._endpoint():
            return
        with self._changed:
            if self._closed:
                return
            self._ended.append(record)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="hearth-traces", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Send the remaining requests, unless sending failed before; wait only briefly."""
        with self._changed:
            self._closed = True
            thread = self._thread
            self._changed.notify()
        if thread is not None:
            thread.join(PATIENCE_S)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._ended)
                if not self._closed:
                    pause = PAUSE_S if self._failing else GATHERED_S
                    self._changed.wait_for(lambda: self._closed, pause)
                if self._closed and (self._failing or not self._ended):
                    return
                records = tuple(self._ended)
                self._ended.clear()
            self._export(records)

    def _export(self, records: tuple[RequestRecord, ...]) -> None:
        endpoint = self._endpoint()
        if not endpoint:
            return  # it was switched off meanwhile
        try:
            self._send(endpoint, as_otlp(records, secrets.token_hex))
        except UserError as error:
            if not self._failing:
                _log.warning("The traces could not be sent: %s %s", error.what, error.why)
            self._failing = True
            with self._changed:
                newer = tuple(self._ended)
                self._ended.clear()
                self._ended.extend((*records, *newer))
        else:
            self._failing = False
