"""The API server for the window: whether it is running, for whom, and its requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from app.api.values import ApiClient, ApiUse
from app.kit.tasks.tasks import STORE, Failed, Tasks
from app.net.values.serving import ServerStatus
from app.settings.presenters import SettingsService
from app.settings.values.fields import Settings
from app.settings.values.server import ServerSettings

if TYPE_CHECKING:
    from app.api.services.api_keys import ServerToken
    from app.base.secret import Secret

SERVER = "server"
"""A task queue of its own: a keyring can ask its user, and a stop waits for running answers."""

USES = 20
"""Maximum number of recent requests shown."""


class Control(Protocol):
    """The part of `app.api.services.server_control.ServerControl` that the window uses."""

    @property
    def status(self) -> ServerStatus:
        """The state of the server."""
        ...

    def follow(self, settings: ServerSettings) -> ServerStatus:
        """Start or stop the server as the settings say."""
        ...


class ClientBook(Protocol):
    """The part of `app.api.services.api_keys.ApiKeys` that the window uses."""

    def token(self) -> ServerToken:
        """Return the server's own token; the first call creates it."""
        ...

    def renew(self) -> ServerToken:
        """Replace the server's own token."""
        ...

    def clients(self) -> tuple[ApiClient, ...]:
        """Return the clients with a key of their own."""
        ...

    def add(
        self, name: str, models: tuple[str, ...] = (), *, per_minute: int = 0, at_once: int = 0
    ) -> tuple[ApiClient, Secret]:
        """Add a client; return it with its key."""
        ...

    def remove(self, name: str) -> ApiClient:
        """Remove the client with this name."""
        ...

    def uses(self, limit: int) -> list[ApiUse]:
        """Return the recent requests, newest first."""
        ...


class ApiServer(QObject):
    """The server in the state that the settings ask for, and its clients.

    Methods with `done` and `failed` call `done` with the result, or `failed` with the error.

    Signals:
        changed(status): The server's state changed, or it could not be started.
        clients_read(clients): The clients were read.
        uses_read(uses): The recent requests were read, newest first.
        failed(error): Reading, starting or stopping failed.
    """

    changed = Signal(object)
    clients_read = Signal(object)
    uses_read = Signal(object)
    failed = Signal(Exception)

    def __init__(
        self,
        control: Control,
        clients: ClientBook,
        settings: SettingsService,
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._control = control
        self._clients = clients
        self._settings = settings
        self._tasks = tasks
        self._status = control.status
        settings.changed.connect(self._follow_settings)

    @property
    def status(self) -> ServerStatus:
        """The last known state of the server."""
        return self._status

    def follow(self) -> None:
        """Start or stop the server according to the settings."""
        self._follow_settings(self._settings.current)

    def refresh(self) -> None:
        """Read the clients, which a terminal can have changed, and the recent requests."""
        self._tasks.run(self._clients.clients, self.clients_read.emit, self.failed.emit, on=STORE)
        self.refresh_uses()

    def refresh_uses(self) -> None:
        """Read the recent requests, newest first."""
        self._tasks.run(
            lambda: self._clients.uses(USES), self.uses_read.emit, self.failed.emit, on=STORE
        )

    def token(self, done: Callable[[str], object], failed: Failed) -> None:
        """Read the server's own token; `done` receives its text."""
        self._tasks.run(
            self._clients.token, lambda token: done(token.secret.reveal()), failed, on=SERVER
        )

    def renew_token(self, done: Callable[[str], object], failed: Failed) -> None:
        """Replace the token; `done` receives the new text. The old one is refused from then on."""
        self._tasks.run(
            self._clients.renew, lambda token: done(token.secret.reveal()), failed, on=SERVER
        )

    def add(
        self,
        name: str,
        models: tuple[str, ...],
        per_minute: int,
        done: Callable[[str], object],
        failed: Failed,
    ) -> None:
        """Create a key for a program; `done` receives the key."""

        def report_added(result: tuple[ApiClient, Secret]) -> None:
            self.refresh()
            done(result[1].reveal())

        self._tasks.run(
            lambda: self._clients.add(name, models, per_minute=per_minute),
            report_added,
            failed,
            on=STORE,
        )

    def remove(self, client: ApiClient, failed: Failed) -> None:
        """Remove a program; its key is refused from now on."""
        self._tasks.run(
            lambda: self._clients.remove(client.name), lambda _: self.refresh(), failed, on=STORE
        )

    def _follow_settings(self, settings: Settings) -> None:
        self._tasks.run(
            lambda: self._control.follow(settings), self._set_status, self.failed.emit, on=SERVER
        )

    def _set_status(self, status: ServerStatus) -> None:
        if status != self._status:
            self._status = status
            self.changed.emit(status)
