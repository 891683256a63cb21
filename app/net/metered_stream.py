"""The bodies of requests and responses, counted as they pass; this module loads httpx2."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import cast

import httpx2

from app.base.errors import Offline
from app.net.entry import LedgerEntry
from app.net.opening import Deadline
from engines.connection import Connection

_REDIRECTS = range(300, 400)
_MOST_OF_REDIRECT = 1 << 16
"""The most bytes of a redirect's body that are read so that its connection can be reused."""

CHECK_S = 0.5
"""The seconds between two checks, while a body arrives, of whether Hearth is offline."""


class CountedRequest(httpx2.SyncByteStream):
    """The body of a request, whose bytes are counted."""

    def __init__(self, request: httpx2.Request, entry: LedgerEntry) -> None:
        self._body = cast(httpx2.SyncByteStream, request.stream)
        self._entry = entry

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._body:
            self._entry.sent += len(piece)
            yield piece

    def close(self) -> None:
        """Close the body that is sent."""
        self._body.close()


class CountedResponse(httpx2.SyncByteStream):
    """The body of a response, whose bytes are counted.

    It ends soon after Hearth goes offline, or at its deadline. The body of a redirect is empty:
    only its target matters.

    Args:
        connection: Knows whether the caller has hung up, and whether the whole answer has arrived.
    """

    def __init__(
        self,
        response: httpx2.Response,
        entry: LedgerEntry,
        require_reachable: Callable[[str], None],
        connection: Connection,
        deadline: Deadline,
    ) -> None:
        self._body = cast(httpx2.SyncByteStream, response.stream)
        self._status = str(response.status_code)
        self._entry = entry
        self._require_reachable = require_reachable
        self._connection = connection
        self._deadline = deadline
        self._is_redirect = response.status_code in _REDIRECTS and "location" in response.headers
        self._length = int(response.headers.get("Content-Length", -1))
        self._result = self._status
        self._next_check = time.monotonic() + CHECK_S

    def __iter__(self) -> Iterator[bytes]:
        entry = self._entry
        self._result = "cancelled"
        try:
            for piece in self._body:
                entry.received += len(piece)
                self._check_offline()
                if entry.received == self._length:
                    self._result = self._status
                if not self._is_redirect:
                    yield piece
                elif entry.received > _MOST_OF_REDIRECT:
                    break
        except Offline:
            self._result = "refused"
            raise
        except httpx2.HTTPError as error:
            self._result = "cancelled" if self._connection.hung_up else "failed"
            if not self._connection.hung_up:
                self._require_reachable(entry.host)
                self._deadline.require(error)
            raise
        if self._length < 0 and not self._connection.is_complete and not self._connection.hung_up:
            # If the end of the connection marks the end of the body, a hang-up looks the same.
            self._require_reachable(entry.host)
            self._require_in_time()
        self._result = self._status

    def _require_in_time(self) -> None:
        """Refuse a body that ends at the deadline: it may be incomplete. Raises ReadTimeout."""
        if self._deadline.passed:
            self._result = "failed"
        self._deadline.require()

    def _check_offline(self) -> None:
        """Check from time to time, since it means reading a file, whether Hearth is offline."""
        if time.monotonic() >= self._next_check:
            self._next_check = time.monotonic() + CHECK_S
            self._require_reachable(self._entry.host)

    def close(self) -> None:
        """Close the body, and write the ledger's entry with the result."""
        try:
            self._body.close()
        finally:
            cut = (
                self._result == "cancelled"
                and self._connection.is_complete
                and not self._connection.hung_up
            )
            self._entry.end(self._status if cut else self._result)
