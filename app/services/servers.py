"""Other servers whose models answer here: kept, looked at, lent to the engine."""

from __future__ import annotations

import logging
import os
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.errors import KeyringBroken, ServerInvalid, ServerUnknown
from app.core.secret import Secret
from app.core.servers import ServerFacts, ServerProfile, key_variable, plain_address, plain_name
from app.net import Gate
from app.net.hosts import is_loopback
from app.services.tokens import checked
from app.store.secrets import Secrets, SecretStatus
from app.store.servers import ServerStore

if TYPE_CHECKING:
    from engines.remote.engine import Served

_log = logging.getLogger(__name__)


class Servers:
    """May be used from any thread. Each method raises UserError."""

    def __init__(self, store: ServerStore, secrets: Secrets, gate: Gate) -> None:
        self._store = store
        self._secrets = secrets
        self._gate = gate

    def list(self) -> tuple[ServerProfile, ...]:
        """By their names; nothing is asked for it."""
        return tuple(self._store.profiles())

    def find(self, called: str) -> ServerProfile:
        """By its name or id. Raises ServerUnknown."""
        for profile in self.list():
            if profile.id == called or profile.name.casefold() == called.casefold():
                return profile
        raise ServerUnknown(
            f"There is no server “{called}”.",
            "No profile has that name.",
            "`hearth servers list` shows them all; `hearth servers add` makes one.",
        )

    def facts(self, profile_id: str) -> ServerFacts | None:
        """What the server was found to be last; nothing is asked for it."""
        return self._store.facts(profile_id)

    def save(self, profile: ServerProfile, key: str | None) -> ServerProfile:
        """Keep a profile, new if its id is "". key: None leaves it as it is, "" forgets it.

        Without a keyring the key is kept for this run only: `key_status` says so.
        """
        secret = checked(key, "The key") if key else None
        plain = replace(
            profile,
            id=profile.id or uuid.uuid4().hex,
            name=plain_name(profile.name),
            address=plain_address(profile.address),
        )
        self._require_own_variable(plain)
        self._gate.check(plain.address, plain.trust)
        self._store.save(plain)
        if secret is not None:
            self._secrets.set(plain.secret, secret)
        elif key is not None:
            self._secrets.clear(plain.secret)
        return plain

    def remove(self, profile_id: str) -> None:
        """Forget a server and its key; the chats stay. Raises ServerUnknown, KeyringBroken."""
        profile = self.find(profile_id)
        if self._secrets.get(profile.secret) is not None:
            self._secrets.clear(profile.secret)
        self._store.remove(profile.id)

    def key_status(self, profile: ServerProfile) -> SecretStatus:
        """Whether there is a key, and where; a keyring that does not answer is a warning."""
        if os.environ.get(key_variable(profile.name), "").strip():
            return SecretStatus(True, "environment")
        try:
            return self._secrets.status(profile.secret)
        except KeyringBroken as error:
            return SecretStatus(False, "none", f"{error.what} {error.why}")

    def test(self, profile: ServerProfile, key: str | None = None) -> ServerFacts:
        """Ask a server what it is; one that is not kept can be tested, too.

        key: None for the one that is kept. Raises EngineError, Offline and others of the gate.
        """
        from engines.openai.client import OpenAiClient
        from engines.remote.identify import identify

        plain = replace(profile, address=plain_address(profile.address))
        given = checked(key, "The key") if key else None
        client = self._gate.lend("look at a server", plain.address, plain.trust)
        with client:
            headers = self._headers(plain, given)
            facts = identify(OpenAiClient(client, plain.address, headers, plain.name or plain.host))
        if any(it.id == plain.id and it.address == plain.address for it in self.list()):
            self._store.keep_facts(plain.id, facts)
        return facts

    def lend(self, profile_id: str) -> Served:
        """The way to a server for the engine, which closes it. Raises ServerUnknown."""
        from engines.remote.engine import Served

        profile = self.find(profile_id)
        return Served(
            self._gate.lend("ask a server", profile.address, profile.trust),
            profile.address,
            self._headers(profile, None),
            profile.name,
            local=is_loopback(profile.host),
            learnt=lambda facts: self._store.keep_facts(profile.id, facts),
        )

    def _require_own_variable(self, profile: ServerProfile) -> None:
        """So that a key in the environment goes to one server only. Raises ServerInvalid."""
        variable = key_variable(profile.name)
        for other in self.list():
            if other.id != profile.id and key_variable(other.name) == variable:
                raise ServerInvalid(
                    f"“{profile.name}” is too much like “{other.name}”.",
                    f"The key of either could stand in {variable}, and would go to both.",
                    "Choose another name, or change that server.",
                )

    def _headers(self, profile: ServerProfile, given: Secret | None) -> dict[str, str]:
        key = given or self._key(profile)
        return {} if key is None else {"Authorization": f"Bearer {key.reveal()}"}

    def _key(self, profile: ServerProfile) -> Secret | None:
        """Many servers want none, so a keyring that does not answer is no reason to stop."""
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
