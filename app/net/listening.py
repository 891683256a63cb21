"""The sockets that other programs connect to: opening them, their TLS and their timeouts."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import ssl
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from app.base.errors import AddressInvalid, AddressNotFree, CertificateRefused
from app.net.values.serving import LOOPBACK, Address
from engines.sentences import N_

_BACKLOG: Final = 128
CONNECTIONS: Final = 128
"""The most connections at a time."""
FILES: Final = 1024
"""The number of files that a server may need open.

There is one for each connection, and those of the database, which the thread that answers the
connection opens. macOS allows a program only 256 unless it asks for more.
"""


def listen(address: Address) -> socket.socket:
    """Return a socket that listens at an address of this computer; its owner closes it.

    Raises:
        AddressInvalid: It is not an IP address.
        AddressNotFree: Another program uses it, or the system refuses it.
    """
    host = LOOPBACK if address.host.lower() == "localhost" else address.host
    try:
        is_6 = ipaddress.ip_address(host).version == 6
    except ValueError as error:
        raise AddressInvalid(
            N_("“{host}” is not an address of this computer.", host=address.host),
            N_("A server listens at a number, not at a name."),
            N_("Write an IP address, such as 127.0.0.1."),
        ) from error
    # Name the protocol, or else asyncio would leave Nagle's algorithm on, and a reply in two parts
    # would wait 40 ms for the other side's acknowledgement.
    family = socket.AF_INET6 if is_6 else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform == "win32":
            # On Windows the other option would let two programs share a port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, address.port))
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except (OSError, OverflowError) as error:
        listener.close()
        raise _not_free(address, error) from error
    return listener


def allow_files() -> None:
    """Ask the system for as many open files as a server needs, if it allows fewer."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):  # macOS may have a lower limit of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def port_of(listening: socket.socket) -> int:
    """Return the port at which a socket listens."""
    return int(listening.getsockname()[1])


def own_addresses() -> tuple[str, ...]:
    """Return the IPv4 addresses at which other computers can reach this one."""
    import psutil

    up = {name for name, stats in psutil.net_if_stats().items() if stats.isup}
    addresses_up = (
        ipaddress.ip_address(address.address)
        for name, addresses in psutil.net_if_addrs().items()
        if name in up
        for address in addresses
        if address.family == socket.AF_INET
    )
    return tuple(str(ip) for ip in addresses_up if not ip.is_loopback and not ip.is_link_local)


def server_tls(certificate: Path, key: Path) -> ssl.SSLContext:
    """Make a server's TLS context from PEM files. Raises CertificateRefused."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # Without this password, OpenSSL would ask for one in the terminal.
        context.load_cert_chain(str(certificate), str(key), password=lambda: "")
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError):
            missing = next((file for file in (certificate, key) if not file.exists()), certificate)
            why = N_("There is no file {path}.", path=missing)
        elif isinstance(error, ssl.SSLError | ValueError):
            why = N_(
                "{name} and {key_name} are not a certificate and its unlocked key.",
                name=certificate.name,
                key_name=key.name,
            )
        else:
            why = N_("The system says: {strerror}.", strerror=error)
        raise CertificateRefused(
            N_("The server’s certificate cannot be used."),
            why,
            N_("Choose a certificate and its key without a password, both as PEM."),
        ) from error
    return context


def _not_free(address: Address, error: Exception) -> AddressNotFree:
    code = getattr(error, "errno", None)
    if code == errno.EADDRINUSE:
        why = N_("Another program already listens at port {port}.", port=address.port)
        do = N_("Choose another port, or end that program.")
    elif code == errno.EADDRNOTAVAIL:
        why = N_("This computer does not have the address {host}.", host=address.host)
        do = N_("Choose an address that it has.")
    elif code == errno.EACCES:
        why = N_("The system does not let Hearth use port {port}.", port=address.port)
        do = N_("Choose a port above 1023.")
    else:
        why, do = (
            N_("The system says: {strerror}.", strerror=error),
            N_("Choose another address or port."),
        )
    return AddressNotFree(N_("The server was not started."), why, do)


class PatientProtocol(H11Protocol):
    """A connection of uvicorn's that ends when the client keeps it waiting too long.

    uvicorn itself limits only the idle time between two requests. Here the head of a request must
    arrive within `HEAD_S` seconds, from the start of the connection or from the first byte of the
    head, and sent data must be received within `STALL_S` seconds. If there are too many
    connections, the one that has been idle longest makes room for a new one.

    A client that closes its side after a request still gets the answer. A client that is gone looks
    the same until something is sent to it: after `ASK_S` seconds that is a “100 Continue”, or, once
    a stream has begun, the bytes that the app keeps in the request's state as `ping`; clients
    ignore both. If the client is gone, the next one, after `AGAIN_S` seconds, fails.
    """

    HEAD_S: float = 10.0
    STALL_S: float = 60.0
    ASK_S: float = 2.0
    AGAIN_S: float = 0.2

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit for the first request, and make room if there are too many."""
        self._head = self.loop.call_later(self.HEAD_S, transport.abort)
        self._stalled = self._head
        self._silent_since = self.loop.time()
        self._asking: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        # Be notified as soon as some data cannot be sent at once, and again when all of it is sent.
        # With a limit of 0, asyncio's TLS would wait for less than nothing.
        transport.set_write_buffer_limits(high=1, low=0)
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel all time limits of the connection."""
        self._head.cancel()
        self._stalled.cancel()
        if self._asking is not None:
            self._asking.cancel()
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio asks whether it stays open
        """Keep the connection while a whole request is being answered; TLS cannot do that."""
        stays = self._is_answered and not self.cycle.more_body and self.scheme == "http"
        if stays:
            self._asking = self.loop.call_later(self.ASK_S, self._probe_client, self.AGAIN_S)
        return stays

    def data_received(self, data: bytes) -> None:
        """Start the time limit at a request's first byte, and end it with its head."""
        super().data_received(data)
        if self._is_answered:
            self._head.cancel()
        elif self._head.cancelled():
            self._head = self.loop.call_later(self.HEAD_S, self.transport.abort)

    def on_response_complete(self) -> None:
        """Note the start of the idle time; close if the client closed its side."""
        self._silent_since = self.loop.time()
        super().on_response_complete()
        if self._asking is not None and not self._is_answered:
            self.transport.close()

    def pause_writing(self) -> None:
        """Start the time limit for the client to receive the data."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self.STALL_S, self.transport.abort)

    def resume_writing(self) -> None:
        """End the time limit: the client has received the data."""
        super().resume_writing()
        self._stalled.cancel()

    def _probe_client(self, again_s: float) -> None:
        """Send something that shows whether a client that closed its side is still there."""
        cycle = self.cycle
        if self.transport.is_closing() or cycle.response_complete:
            return
        ping = cycle.scope["state"].get("ping")
        if cycle.response_started:
            # If earlier data are still waiting to be sent, those show it.
            if ping and not self.flow.write_paused:
                self.transport.write(self.conn.send(h11.Data(ping)) or b"")
        elif cycle.scope["http_version"] == "1.1":  # HTTP/1.0 has no “100 Continue”
            continue_ = h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")
            self.transport.write(self.conn.send(continue_) or b"")
        self._asking = self.loop.call_later(again_s, self._probe_client, self.ASK_S)

    @property
    def _is_answered(self) -> bool:
        """True if a request has arrived whose answer is not complete."""
        # None before the first request, although its type does not say so.
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _make_room(self) -> None:
        """If there are too many connections, end the one that has been idle longest.

        If all others are answering requests, end this new one.
        """
        # An ended connection stays in the set until the event loop handles it.
        open_ = [
            connection for connection in self.connections if isinstance(connection, PatientProtocol)
        ]
        open_ = [connection for connection in open_ if not connection.transport.is_closing()]
        if len(open_) > CONNECTIONS:
            silent = (
                connection
                for connection in open_
                if connection is not self and not connection._is_answered
            )
            min(
                silent, key=lambda connection: connection._silent_since, default=self
            ).transport.abort()
