"""Other servers whose models answer in Hearth, for the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from PySide6.QtCore import QObject, Signal

from app.kit.tasks.tasks import STORE, Failed, Tasks
from engines.sentences import N_

if TYPE_CHECKING:
    from app.base.secret import SecretStatus
    from app.models.library.values.entry import ModelEntry
    from app.servers.values import ServerInfo, ServerProfile

T = TypeVar("T")

SERVERS = "servers"
"""A separate queue, because a server, or a keyring that asks its user, can take long."""


@dataclass(frozen=True)
class Destination:
    """The place that a chat's text is sent to.

    Attributes:
        server: The server's name.
        leaves: Whether it is another computer.
    """

    server: str
    host: str
    leaves: bool


class Profiles(Protocol):
    """The part of `app.servers.services.Servers` that the window uses."""

    def list(self) -> Sequence[ServerProfile]:
        """Return the profiles of all servers."""

    def save(
        self, profile: ServerProfile, key: str | None, *, take_key: bool = False
    ) -> ServerProfile:
        """Store a profile and its key; see `Servers.save`."""

    def origin_losing_key(self, profile: ServerProfile) -> str:
        """Return the origin whose key the profile's new address may not use; "" if none."""

    def remove(self, profile_id: str) -> None:
        """Remove a server and its key."""

    def test(
        self, profile: ServerProfile, key: str | None, *, take_key: bool = False
    ) -> ServerInfo:
        """Ask a server what it is and which models it has."""

    def key_variable(self, name: str) -> str:
        """Return the name of the environment variable that can hold a server's key."""

    def key_status(self, profile: ServerProfile) -> SecretStatus:
        """Return whether a server has a key, and where it is stored."""


class ServerList(QObject):
    """The servers, and changes to them.

    Methods with `done` and `failed` call one of these with the result or the error.

    Signals:
        listed(): The profiles have changed.
        failed(error): The list could not be read.
    """

    listed = Signal()
    failed = Signal(Exception)

    def __init__(self, servers: Profiles, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._servers = servers
        self._tasks = tasks
        self._known: tuple[ServerProfile, ...] | None = None

    def profiles(self) -> tuple[ServerProfile, ...]:
        """Return the profiles. The first call reads them at once.

        The window must know before a message is sent whether it leaves this computer.
        """
        if self._known is None:
            self._known = tuple(self._servers.list())
        return self._known

    def refresh(self) -> None:
        """Read the profiles again, as a command in a terminal can have changed them."""
        self._tasks.run(lambda: tuple(self._servers.list()), self._have, self.failed.emit, on=STORE)

    def place_of(self, model: str, entry: ModelEntry | None) -> Destination | None:
        """Return the destination of a model's answers; None if Hearth itself answers.

        Args:
            model: The id or name that was requested.
            entry: The model in the list; None if it is not listed.
        """
        if entry is not None and not entry.on_server:
            return None
        named = model.partition(":")[0] if ":" in model else ""
        for profile in self.profiles() if entry is not None or named else ():
            if profile.id == entry.server if entry is not None else profile.name == named:
                return self.destination_of(profile)
        if entry is None:
            return None
        # An unknown server counts as another computer.
        return Destination(named or entry.server, named or entry.server, leaves=True)

    def destination_of(self, profile: ServerProfile) -> Destination:
        """Return the destination of a server."""
        from app.net.hosts import is_loopback

        return Destination(profile.name, profile.host, leaves=not is_loopback(profile.host))

    def key_variable(self, name: str) -> str:
        """Return the environment variable with the key of this server; "" if there is none."""
        return self._servers.key_variable(name)

    def save(
        self,
        profile: ServerProfile,
        key: str | None,
        take_key: bool,
        done: Callable[[ServerProfile, str], object],
        failed: Failed,
    ) -> None:
        """Save a new or changed profile.

        Args:
            key, take_key: As for `Servers.save`.
            done: Called with the saved profile and a warning about where the key is stored; "" for
                none.
        """

        def work() -> tuple[ServerProfile, str]:
            parted = "" if key is not None or take_key else self._servers.origin_losing_key(profile)
            before = next(
                (server for server in self._servers.list() if server.id == profile.id), None
            )
            saved_profile = self._servers.save(profile, key, take_key=take_key)
            if parted:
                return saved_profile, N_(
                    "Its key was for {origin} only and was removed: enter it again.", origin=parted
                )
            moved = before is not None and before.origin != saved_profile.origin
            status = self._servers.key_status(saved_profile) if key or moved else None
            if status is not None and moved and status.place == "environment":
                return saved_profile, N_(
                    "The key from the environment is now sent to {origin}.",
                    origin=saved_profile.origin,
                )
            return saved_profile, (status.warning or "") if status is not None and key else ""

        def saved(found: tuple[ServerProfile, str]) -> None:
            self.refresh()
            done(*found)

        self._tasks.run(work, saved, failed, on=SERVERS)

    def test(
        self,
        profile: ServerProfile,
        key: str | None,
        take_key: bool,
        done: Callable[[ServerInfo], object],
        failed: Failed,
    ) -> None:
        """Ask a server what it is; its profile need not be saved."""
        work = partial(self._servers.test, profile, key, take_key=take_key)
        self._tasks.run(work, done, failed, on=SERVERS)

    def remove(self, profile: ServerProfile, failed: Failed) -> None:
        """Remove a server and its key; the chats stay."""
        self._tasks.run(
            lambda: self._servers.remove(profile.id), lambda _: self.refresh(), failed, on=SERVERS
        )

    def _have(self, found: tuple[ServerProfile, ...]) -> None:
        before, self._known = self._known, found
        if found != before:
            self.listed.emit()
