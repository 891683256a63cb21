"""Other servers whose models answer in Hearth: their profiles, keys and connections."""

from __future__ import annotations

import logging
import os
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from app.base.errors import KeyringBroken, ServerInvalid, ServerUnknown
from app.base.ids import new_id
from app.base.secret import Secret, SecretStatus
from app.base.secrets import Secrets
from app.base.tokens import checked
from app.net import Gate
from app.net.hosts import is_loopback
from app.servers.store import ServerStore
from app.servers.values import (
    ServerInfo,
    ServerProfile,
    key_variable,
    normalised_address,
    normalised_name,
)
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from engines.remote.engine import Served

_log = logging.getLogger(__name__)


class Servers:
    """The user's servers, managed from any thread. Each method raises UserError."""

    def __init__(self, store: ServerStore, secrets: Secrets, gate: Gate) -> None:
        self._store = store
        self._secrets = secrets
        self._gate = gate
        self._keys_given: Counter[str] = Counter()

    def list(self) -> tuple[ServerProfile, ...]:
        """Return the profiles by name, without connecting to any server."""
        return tuple(self._store.profiles())

    def find(self, called: str) -> ServerProfile:
        """Return the profile with this name or id. Raises ServerUnknown."""
        for profile in self.list():
            if profile.id == called or profile.name.casefold() == called.casefold():
                return profile
        raise ServerUnknown(
            N_("There is no server “{called}”.", called=called),
            N_("No server has that name."),
            N_("Add it under Servers, or choose another one."),
            terminal=N_("`hearth servers list` shows them all; `hearth servers add` adds one."),
        )

    def leaves(self, profile_id: str) -> bool:
        """Return whether text for a server leaves this computer; True for an unknown server."""
        found = (profile for profile in self.list() if profile.id == profile_id)
        return all(not is_loopback(profile.host) for profile in found)

    def info(self, profile_id: str) -> ServerInfo | None:
        """Return the result of the server's last test, without connecting to it."""
        return self._store.info(profile_id)

    def load_key(self, profile: ServerProfile) -> str:
        """Return a value that changes when models must be loaded again.

        It depends on the address, the certificates and the key.
        """
        trust = f"{profile.ca} {profile.certificate}"
        return f"{profile.address} {trust} {self._keys_given[profile.id]}"

    def save(
        self, profile: ServerProfile, key: str | None, *, take_key: bool = False
    ) -> ServerProfile:
        """Save a profile; a profile with the id "" is new.

        A key was given for one origin. If scheme, host or port change, it is forgotten. Without a
        keyring the key is stored for this run only; see `key_status`.

        Args:
            key: None keeps the stored key, "" removes it.
            take_key: Keep the stored key for the new origin.
        """
        secret = checked(key, N_("The key")) if key else None
        normalised = replace(
            profile,
            id=profile.id or new_id(),
            name=normalised_name(profile.name),
            address=normalised_address(profile.address),
        )
        self._require_own_variable(normalised)
        self._gate.check(normalised.address, normalised.trust)
        before = self._moved(normalised)
        if before is not None and key is None and take_key:
            secret = self._secrets.get(before.secret)
        self._store.save(normalised)
        if key is not None:
            self._keys_given[normalised.id] += 1
        if secret is not None:
            self._secrets.set(normalised.secret, secret)
        elif key is not None:
            self._secrets.clear(normalised.secret)
        if before is not None:
            self._forget_key(before)
        return normalised

    def remove(self, profile_id: str) -> None:
        """Remove a server and its key; the chats stay. Raises ServerUnknown or KeyringBroken."""
        profile = self.find(profile_id)
        if self._secrets.get(profile.secret) is not None:
            self._secrets.clear(profile.secret)
        self._store.remove(profile.id)

    def origin_losing_key(self, profile: ServerProfile) -> str:
        """Return the origin of the stored key, if the profile has moved to another one.

        Returns "" if saving the profile would lose no key.
        """
        before = self._moved(replace(profile, address=normalised_address(profile.address)))
        if before is None or self.key_status(before).place not in ("keyring", "memory"):
            return ""
        return before.origin

    def key_variable(self, name: str) -> str:
        """Return the set environment variable with the key of this server; "" if there is none."""
        variable = key_variable(name)
        return variable if os.environ.get(variable, "").strip() else ""

    def key_status(self, profile: ServerProfile) -> SecretStatus:
        """Return whether there is a key, and where; a failing keyring becomes a warning."""
        if self.key_variable(profile.name):
            return SecretStatus(True, "environment")
        try:
            return self._secrets.status(profile.secret)
        except KeyringBroken as error:
            return SecretStatus(False, "none", joined(" ", (error.what, error.why)))

    def test(
        self, profile: ServerProfile, key: str | None = None, *, take_key: bool = False
    ) -> ServerInfo:
        """Ask a server what it is; its profile need not be saved.

        Raises EngineError, Offline and other errors of the gate.

        Args:
            key: None uses the key stored for this origin.
            take_key: As for `save`.
        """
        from engines.openai.client import OpenAiClient
        from engines.remote.identify import identify

        normalised = replace(profile, address=normalised_address(profile.address))
        if normalised.name:
            self._require_own_variable(normalised)
        checked_key = checked(key, N_("The key")) if key else None
        before = self._moved(normalised) if take_key and key is None else None
        if before is not None:
            checked_key = self._secrets.get(before.secret)
        client = self._gate.lend("look at a server", normalised.address, normalised.trust)
        with client:
            headers = self._headers(normalised, checked_key)
            called, variable = (
                normalised.name or normalised.host,
                key_variable(normalised.name or "NAME"),
            )
            info = identify(
                OpenAiClient(client, normalised.address, headers, called, variable=variable)
            )
        if any(
            server.id == normalised.id and server.address == normalised.address
            for server in self.list()
        ):
            self._store.save_info(normalised.id, info)
        return info

    def lend(self, profile_id: str) -> Served:
        """Return a connection to a server for the engine, which closes it. Raises ServerUnknown."""
        from engines.remote.engine import Served

        profile = self.find(profile_id)
        return Served(
            self._gate.lend("ask a server", profile.address, profile.trust),
            profile.address,
            self._headers(profile, None),
            profile.name,
            local=is_loopback(profile.host),
            on_identified=lambda info: self._store.save_info(profile.id, info),
            variable=key_variable(profile.name),
        )

    def _require_own_variable(self, profile: ServerProfile) -> None:
        """Refuse a name whose key variable belongs to another server. Raises ServerInvalid."""
        variable = key_variable(profile.name)
        for other in self.list():
            if other.id != profile.id and key_variable(other.name) == variable:
                raise ServerInvalid(
                    N_(
                        "“{name}” is too similar to “{other_name}”.",
                        name=profile.name,
                        other_name=other.name,
                    ),
                    N_("Both would read their key from {variable}.", variable=variable),
                    N_("Choose another name, or change that server."),
                )

    def _moved(self, profile: ServerProfile) -> ServerProfile | None:
        """Return the stored profile, if its origin differs from that of this one."""
        stored = (server for server in self.list() if server.id == profile.id)
        return next((server for server in stored if server.origin != profile.origin), None)

    def _forget_key(self, profile: ServerProfile) -> None:
        """Forget the key of a former origin; if the keyring fails, the key stays there unused."""
        try:
            if self._secrets.get(profile.secret) is not None:
                self._secrets.clear(profile.secret)
        except KeyringBroken as error:
            _log.warning("A key for %s stays in the keyring: %s", profile.origin, error)

    def _headers(self, profile: ServerProfile, new_key: Secret | None) -> dict[str, str]:
        key = new_key or self._key(profile)
        return {} if key is None else {"Authorization": f"Bearer {key.reveal()}"}

    def _key(self, profile: ServerProfile) -> Secret | None:
        """Return the key; a failing keyring must not stop servers that need no key."""
        variable = key_variable(profile.name)
        if text := os.environ.get(variable, "").strip():
            return checked(text, N_("{environment} in the environment", environment=variable))
        if not profile.id:
            return None
        try:
            return self._secrets.get(profile.secret)
        except KeyringBroken as error:
            _log.warning("Going on without the key of %s: %s", profile.name, error)
            return None
