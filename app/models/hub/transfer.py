"""Transfers one file from the Hub: resumable, limited in speed, and checked as it arrives."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from app.base.errors import AddressInvalid, AppError, CertificateRefused, ProxyRefused
from app.models.hub import source as words
from app.models.hub.faults import Transient
from app.models.hub.file_response import first_byte, request_file, validator
from app.models.hub.limiter import Limiter
from app.models.hub.part import PartFile
from app.models.hub.retry import Patience
from app.models.hub.source import Source, origin
from app.net import as_user_error
from engines.cancel import CancelToken
from engines.connection import Connection
from engines.errors import Cancelled
from engines.sentences import N_

if TYPE_CHECKING:
    import httpx2

_WRONG_TWICE = 2
_SELDOM_BETTER = (CertificateRefused, ProxyRefused, AddressInvalid)


@dataclass(frozen=True)
class Checking:
    """A step that rereads the bytes that were already here.

    Attributes:
        done: Bytes read so far.
    """

    done: int


@dataclass(frozen=True)
class Receiving:
    """A step that received bytes.

    Attributes:
        done: Bytes of the file that are here.
    """

    done: int


@dataclass(frozen=True)
class Retrying:
    """A failed attempt; the next one begins after `seconds`."""

    error: AppError
    seconds: float


@dataclass(frozen=True)
class StartedAnew:
    """A restart from the first byte, because the bytes that were here could not be used.

    Attributes:
        why: One sentence.
    """

    why: str


Step = Checking | Receiving | Retrying | StartedAnew


@dataclass(frozen=True)
class Terms:
    """The speed limit, retry limits and timeouts of a transfer.

    Attributes:
        connect_s: How long opening a connection can take, in seconds.
        stall_s: How long to wait for the next byte, in seconds.
    """

    limiter: Limiter
    patience: Patience = field(default_factory=Patience)
    connect_s: float = 10.0
    stall_s: float = 20.0


def transfer(
    client: httpx2.Client,
    source: Source,
    path: Path,
    terms: Terms,
    tell: Callable[[Step], None],
    cancel: CancelToken,
) -> None:
    """Transfer the file to `path`, from the position where an earlier transfer to it stopped.

    When this returns, the whole file is on the disk and its checksum is right. Until then, and
    after every error, `path` holds a part that the next call continues.

    Raises:
        Cancelled: The user cancelled.
        OSError: Writing failed.
        AppError: The fault is permanent, or outlasted the retry limits.
    """
    with PartFile(path, source.size, source.checksum) as part:
        part.reserve()
        part.rehash(lambda done: tell(Checking(done)), cancel)
        _Transfer(client, source, part, terms, tell, cancel).run()
        part.sync()


class _Transfer:
    """All attempts at one file, and the state that they share."""

    def __init__(
        self,
        client: httpx2.Client,
        source: Source,
        part: PartFile,
        terms: Terms,
        tell: Callable[[Step], None],
        cancel: CancelToken,
    ) -> None:
        self._client = client
        self._source = source
        self._part = part
        self._terms = terms
        self._tell = tell
        self._cancel = cancel
        self._failures = 0
        self._rare_failures = 0
        self._furthest = part.size
        self._wrong_checksums = 0
        self._from_start = part.size == 0

    def run(self) -> None:
        while not self._part.is_correct:
            if self._cancel.cancelled:
                raise Cancelled
            if self._part.complete:
                self._begin_after_wrong_bytes()
            try:
                with Connection.ended_by(self._cancel) as connection:
                    self._attempt(connection)
            except Transient as fault:
                self._wait_or_raise(fault)

    def _attempt(self, connection: Connection) -> None:
        import httpx2

        url = self._source.url
        try:
            terms = self._terms
            response = request_file(
                self._client, self._source, self._part, terms.connect_s, terms.stall_s, connection
            )
            url = str(response.url)
            try:
                self._receive(response)
            finally:
                response.close()
        except httpx2.TransportError as error:
            if self._cancel.cancelled:
                raise Cancelled from error
            user_error = self._in_words(error, origin(url)[1] or "")
            raise Transient(
                user_error, tries=3 if isinstance(user_error, _SELDOM_BETTER) else None
            ) from error
        except httpx2.InvalidURL as error:
            host = origin(url)[1] or ""
            why = N_("It leads to an invalid address: {error}.", error=error)
            raise Transient(words.unexpected_response(self._source, host, why), tries=3) from error

    def _receive(self, response: httpx2.Response) -> None:
        part, cancel = self._part, self._cancel
        start = first_byte(self._source, response, part.size)
        if start == 0 and part.size:
            self._start_anew(
                N_("{host} sends this file from its first byte only.", host=response.url.host)
            )
        _, host, port = origin(str(response.url))
        part.remember(f"{host}:{port}", validator(response))
        for chunk in response.iter_raw():
            if cancel.cancelled:
                raise Cancelled
            self._terms.limiter.pass_through(len(chunk), cancel)
            if len(chunk) > part.full_size - part.size:
                raise Transient(words.changed(self._source), tries=3)
            part.write(chunk)
            self._tell(Receiving(part.size))
            if part.complete:
                return
        raise Transient(words.ended_early(self._source, response.url.host))

    def _wait_or_raise(self, fault: Transient) -> None:
        """Wait before the next attempt, or raise the error if no further attempt is allowed."""
        part = self._part
        if part.size > self._furthest:
            self._failures = self._rare_failures = 0
        self._failures += 1
        self._rare_failures = self._rare_failures + 1 if fault.tries is not None else 0
        self._furthest = max(self._furthest, part.size)
        share = random.random()  # noqa: S311 - it spreads clients, and keeps no secret
        seconds = self._terms.patience.delay(self._failures, share, fault.requested_wait_s)
        if fault.tries is not None and self._rare_failures >= fault.tries:
            seconds = None
        if seconds is None and fault.of_ranges and part.size:
            self._start_anew(fault.error.why)
            self._failures = self._rare_failures = self._furthest = 0
            seconds = 0.0
        if seconds is None:
            raise fault.error from fault
        if not self._cancel.cancelled:
            self._tell(Retrying(fault.error, seconds))
            self._cancel.wait(seconds)

    def _begin_after_wrong_bytes(self) -> None:
        if self._from_start:
            self._wrong_checksums += 1
            if self._wrong_checksums == _WRONG_TWICE:
                self._part.start_anew()
                raise words.wrong_bytes(self._source)
        self._start_anew(N_("The part downloaded so far was damaged."))
        self._furthest = 0

    def _start_anew(self, why: str) -> None:
        self._part.start_anew()
        self._from_start = True
        self._tell(StartedAnew(why))

    def _in_words(self, error: httpx2.TransportError, host: str) -> AppError:
        import httpx2

        if isinstance(error, httpx2.RemoteProtocolError | httpx2.ReadError):
            return words.ended_early(self._source, host)
        return as_user_error(error, host)
