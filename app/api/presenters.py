"""The server that other programs ask, for the window: whether it runs, for whom, and who asked."""

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
"""A queue of its own: a keyring may ask its user, and the end waits for running answers."""

USES = 20
"""How many of the last uses are shown."""


class Control(Protocol):
    """The part of `app.api.services.server_control.ServerControl` that the window uses."""

    @property
    def status(self) -> ServerStatus: ...
    def follow(self, settings: ServerSettings) -> ServerStatus: ...


class ClientBook(Protocol):
    """The part of `app.api.services.api_keys.ApiKeys` that the window uses."""

    def token(self) -> ServerToken: ...
    def renew(self) -> ServerToken: ...
    def clients(self) -> tuple[ApiClient, ...]: ...
    def add(
        self, name: str, models: tuple[str, ...] = (), *, per_minute: int = 0, at_once: int = 0
    ) -> tuple[ApiClient, Secret]: ...
    def remove(self, name: str) -> ApiClient: ...
    def uses(self, limit: int) -> list[ApiUse]: ...


class ApiServer(QObject):
    """The server as the settings want it, and its clients.

    changed(status): it runs otherwise than before, or could not be started. clients_known(clients),
    uses_known(uses): as they are now; uses the newest first. failed(error): a look failed.

    A verb calls `done` with what has come of it, or `failed` with what went wrong.
    """

    changed = Signal(object)
    clients_known = Signal(object)
    uses_known = Signal(object)
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
        settings.changed.connect(self._apply)

    @property
    def status(self) -> ServerStatus:
        return self._status

    def follow(self) -> None:
        """Start or stop it, as the settings say now."""
        self._apply(self._settings.current)

    def look(self) -> None:
        """Read who may ask, and who asked: a terminal may have changed the first."""
        self._tasks.run(self._clients.clients, self.clients_known.emit, self.failed.emit, on=STORE)
        self.look_at_uses()

    def look_at_uses(self) -> None:
        self._tasks.run(
            lambda: self._clients.uses(USES), self.uses_known.emit, self.failed.emit, on=STORE
        )

    def token(self, done: Callable[[str], object], failed: Failed) -> None:
        """Read the server's own token; `done` is given its text."""
        self._tasks.run(self._clients.token, lambda it: done(it.secret.reveal()), failed, on=SERVER)

    def renew_token(self, done: Callable[[str], object], failed: Failed) -> None:
        """Make another token; `done` is given its text. The one before is refused from then on."""
        self._tasks.run(self._clients.renew, lambda it: done(it.secret.reveal()), failed, on=SERVER)

    def add(
        self,
        name: str,
        models: tuple[str, ...],
        per_minute: int,
        done: Callable[[str], object],
        failed: Failed,
    ) -> None:
        """Let a program ask with a key of its own; `done` is given that key."""

        def added(found: tuple[ApiClient, Secret]) -> None:
            self.look()
            done(found[1].reveal())

        self._tasks.run(
            lambda: self._clients.add(name, models, per_minute=per_minute), added, failed, on=STORE
        )

    def remove(self, client: ApiClient, failed: Failed) -> None:
        """Refuse a program's key from now on."""
        self._tasks.run(
            lambda: self._clients.remove(client.name), lambda _: self.look(), failed, on=STORE
        )

    def _apply(self, settings: Settings) -> None:
        self._tasks.run(
            lambda: self._control.follow(settings), self._follows, self.failed.emit, on=SERVER
        )

    def _follows(self, status: ServerStatus) -> None:
        if status != self._status:
            self._status = status
            self.changed.emit(status)
