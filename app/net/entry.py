"""A ledger entry for a request that is still under way."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from app.net.values.connections import LoggedConnection, Purpose
from engines.errors import UserError
from engines.redaction import redact

_log = logging.getLogger(__name__)


class LedgerEntry:
    """A counter for one request; `end` writes it to the ledger, once."""

    def __init__(
        self,
        record: Callable[[LoggedConnection], None],
        host: str,
        port: int,
        purpose: Purpose,
        method: str,
    ) -> None:
        self.host = host
        self.proxy: str | None = None
        self.sent = 0
        self.received = 0
        self._record = record
        self._port = port
        self._purpose = purpose
        self._method = method
        self._started = time.time()
        self._clock = time.monotonic()
        self._ended = False
        self._afterwards: Callable[[], None] = lambda: None

    def on_end(self, afterwards: Callable[[], None]) -> None:
        """Call this function when the request is over, whatever its result."""
        self._afterwards = afterwards

    def end(self, result: str) -> None:
        """Write the entry. If the ledger fails, log that, since the connection was made anyway."""
        if self._ended:
            return
        self._ended = True
        self._afterwards()
        connection = LoggedConnection(
            started=self._started,
            seconds=time.monotonic() - self._clock,
            host=redact(self.host),
            port=self._port,
            purpose=self._purpose,
            method=self._method,
            sent=self.sent,
            received=self.received,
            result=result,
            proxy=self.proxy,
        )
        try:
            self._record(connection)
        except UserError as error:
            _log.warning("A connection to %s is not in the ledger: %s", self.host, error)
