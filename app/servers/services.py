"""Other servers whose models answer here: their profiles, keys and connections."""

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

if TYPE_CHECKING:
    from engines.remote.engine import Served

_log = logging.getLogger(__name__)


class Servers:
    """Manages servers; may be used from any thread. Each method raises UserError."""

    def __init__(self, store: ServerStore, secrets: Secrets, gate: Gate) -> None:
        self._store = store
        self._secrets = secrets
        self._gate = gate
        self._keys_given: Counter[str] = Counter()

    def list(self) -> tuple[ServerProfile, ...]:
        """List the profiles by name; no server is asked."""
        return tuple(self._store.profiles())

    def find(self, called: str) -> ServerProfile:
        """Find a profile by its name or id. Raises ServerUnknown."""
        for profile in self.list():
            if profile.id == called or profile.name.casefold() == called.casefold():
                return profile
        raise ServerUnknown(
            f"There is no server “{called}”.",
            "No profile has that name.",
            "Add it under Servers, or choose another one.",
            terminal="`hearth servers list` shows them all; `hearth servers add` makes one.",
        )

    def leaves(self, profile_id: str) -> bool:
        """Tell whether text for a server leaves this computer, as it does for an unknown one."""
        found = (it for it in self.list() if it.id == profile_id)
        return all(not is_loopback(it.host) for it in found)

    def info(self, profile_id: str) -> ServerInfo | None:
        """Return what the server was found to be last; it is not asked."""
        return self._store.info(profile_id)

    def way(self, profile: ServerProfile) -> str:
        """Return a value that changes with all that leads to the server: then models load anew."""
        trust = f"{profile.ca} {profile.certificate}"
        return f"{profile.address} {trust} {self._keys_given[profile.id]}"

    def save(
        self, profile: ServerProfile, key: str | None, *, take_key: bool = False
    ) -> ServerProfile:
        """Keep a profile, new if its id is "". key: None leaves it as it is, "" forgets it.

        A key was given for one place: where scheme, host or port become others it is forgotten,
        unless take_key says that it may go there. Without a keyring the key is kept for this run
        only: `key_status` says so.
        """
        secret = checked(key, "The key") if key else None
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
        """Forget a server and its key; the chats stay. Raises ServerUnknown, KeyringBroken."""
        profile = self.find(profile_id)
        if self._secrets.get(profile.secret) is not None:
            self._secrets.clear(profile.secret)
        self._store.remove(profile.id)

    def parts_from_key(self, profile: ServerProfile) -> str:
        """Return the origin that the kept key was for, if the profile is at another one now."""
        before = self._moved(replace(profile, address=normalised_address(profile.address)))
        if before is None or self.key_status(before).place not in ("keyring", "memory"):
            return ""
        return before.origin

    def key_variable(self, name: str) -> str:
        """Return the variable of the environment that holds the key of a server so named, or ""."""
        variable = key_variable(name)
        return variable if os.environ.get(variable, "").strip() else ""

    def key_status(self, profile: ServerProfile) -> SecretStatus:
        """Tell whether there is a key, and where; a keyring that fails is a warning."""
        if self.key_variable(profile.name):
            return SecretStatus(True, "environment")
        try:
            return self._secrets.status(profile.secret)
        except KeyringBroken as error:
            return SecretStatus(False, "none", f"{error.what} {error.why}")

    def test(
        self, profile: ServerProfile, key: str | None = None, *, take_key: bool = False
    ) -> ServerInfo:
        """Ask a server what it is; one that is not kept can be tested, too.

        key: None for the one that is kept for this place. take_key: as in `save`.
        Raises EngineError, Offline and others of the gate.
        """
        from engines.openai.client import OpenAiClient
        from engines.remote.identify import identify

        normalised = replace(profile, address=normalised_address(profile.address))
        if normalised.name:
            self._require_own_variable(normalised)
        given = checked(key, "The key") if key else None
        before = self._moved(normalised) if take_key and key is None else None
        if before is not None:
            given = self._secrets.get(before.secret)
        client = self._gate.lend("look at a server", normalised.address, normalised.trust)
        with client:
            headers = self._headers(normalised, given)
            called, variable = (
                normalised.name or normalised.host,
                key_variable(normalised.name or "NAME"),
            )
            info = identify(
                OpenAiClient(client, normalised.address, headers, called, variable=variable)
            )
        if any(it.id == normalised.id and it.address == normalised.address for it in self.list()):
            self._store.keep_info(normalised.id, info)
        return info

    def lend(self, profile_id: str) -> Served:
        """Connect to a server for the engine, which closes it. Raises ServerUnknown."""
        from engines.remote.engine import Served

        profile = self.find(profile_id)
        return Served(
            self._gate.lend("ask a server", profile.address, profile.trust),
            profile.address,
            self._headers(profile, None),
            profile.name,
            local=is_loopback(profile.host),
            learnt=lambda info: self._store.keep_info(profile.id, info),
            variable=key_variable(profile.name),
        )

    def _require_own_variable(self, profile: ServerProfile) -> None:
        """Refuse a name whose key variable another server has. Raises ServerInvalid."""
        variable = key_variable(profile.name)
        for other in self.list():
            if other.id != profile.id and key_variable(other.name) == variable:
                raise ServerInvalid(
                    f"“{profile.name}” is too similar to “{other.name}”.",
                    f"Both would take their key from {variable}.",
                    "Choose another name, or change that server.",
                )

    def _moved(self, profile: ServerProfile) -> ServerProfile | None:
        """Return the profile as it is kept, if that is at another origin."""
        kept = (it for it in self.list() if it.id == profile.id)
        return next((it for it in kept if it.origin != profile.origin), None)

    def _forget_key(self, profile: ServerProfile) -> None:
        """Forget the key of an origin that is left; if the keyring fails, it goes nowhere."""
        try:
            if self._secrets.get(profile.secret) is not None:
                self._secrets.clear(profile.secret)
        except KeyringBroken as error:
            _log.warning("A key for %s stays in the keyring: %s", profile.origin, error)

    def _headers(self, profile: ServerProfile, given: Secret | None) -> dict[str, str]:
        key = given or self._key(profile)
        return {} if key is None else {"Authorization": f"Bearer {key.reveal()}"}

    def _key(self, profile: ServerProfile) -> Secret | None:
        """Return the key; a keyring that fails does not stop those servers that want none."""
        variable = key_variable(profile.name)
        if text := os.environ.get(variable, "").strip():
            return checked(text, f"{variable} in the environment")
        if not profile.id:
            return None
        try:
            return self._secrets.get(profile.secret)
        except KeyringBroken as error:
            _log.warning("Going on without the key of %s: %s", profile.name, error)
            return None
