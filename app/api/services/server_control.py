"""The API server of this Hearth, started and stopped according to the settings."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from app.base.home import expand_home
from app.net.values.serving import (
    EVERYWHERE,
    LOOPBACK,
    Address,
    ServeOptions,
    ServerStatus,
    parse_names,
    parse_sites,
)
from app.settings.values.server import ServerSettings
from engines.errors import UserError


class RunningServer(Protocol):
    """The part of `app.api.http.server.Server` that is used here."""

    @property
    def url(self) -> str:
        """Its address on this computer."""
        ...

    @property
    def network_urls(self) -> tuple[str, ...]:
        """Its addresses for other computers; empty if only this one can connect."""
        ...

    def start(self) -> None:
        """Start the server. Raises UserError."""
        ...

    def stop(self) -> None:
        """Stop the server; running answers get a moment to finish."""
        ...


class ServerControl:
    """The owner of the server. Safe from any thread: changes happen one after the other.

    The owner of this object calls `stop`.
    """

    def __init__(self, create: Callable[[ServeOptions], RunningServer]) -> None:
        """Create the control.

        Args:
            create: Creates a server that is not started.
        """
        self._create = create
        self._lock = threading.Lock()
        self._server: RunningServer | None = None
        self._options: ServeOptions | None = None
        self._status = ServerStatus()

    @property
    def status(self) -> ServerStatus:
        """The state of the server after the last change."""
        return self._status

    def start(self, options: ServeOptions) -> ServerStatus:
        """Run the server with these options; a server with other options is stopped first.

        Raises NotSafe, AddressInvalid, AddressNotFree, CertificateRefused and KeyringBroken.
        """
        with self._lock:
            if self._server is not None and self._options == options:
                return self._status
            self._stop_server()
            server = self._create(options)
            server.start()
            self._server, self._options = server, options
            self._status = ServerStatus(
                server.url, server.network_urls, not options.address.is_loopback, options.encrypted
            )
            return self._status

    def stop(self) -> ServerStatus:
        """Stop the server; running answers get a moment to finish."""
        with self._lock:
            self._stop_server()
            return self._status

    def follow(self, settings: ServerSettings) -> ServerStatus:
        """Start or stop the server as the settings say; the returned status includes a failure."""
        if not settings.server:
            return self.stop()
        try:
            return self.start(options_of(settings))
        except UserError as error:
            with self._lock:
                self._stop_server()
                self._status = ServerStatus(failure=error)
                return self._status

    def _stop_server(self) -> None:
        server, self._server, self._options = self._server, None, None
        self._status = ServerStatus()
        if server is not None:
            server.stop()


def options_of(settings: ServerSettings) -> ServeOptions:
    """Return the server's options from the settings. Raises SettingsInvalid."""
    reach = settings.server_expose
    exposed = reach != "this_computer"
    options = ServeOptions(
        address=Address(EVERYWHERE if exposed else LOOPBACK, settings.server_port),
        exposed=exposed,
        without_tls=reach == "network_unencrypted",
        sites=parse_sites(settings.server_sites),
        names=parse_names(settings.server_names),
    )
    if reach != "network":
        return options
    return replace(
        options,
        certificate=_absolute_path(settings.server_certificate),
        key=_absolute_path(settings.server_key),
    )


def _absolute_path(text: str) -> Path | None:
    return expand_home(text.strip()).absolute() if text.strip() else None
