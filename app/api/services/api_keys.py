"""The keys of the programs that use the server: its own token, and one for each client."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.api.store import ApiClientStore
from app.api.values import LONGEST_NAME, OWNER_NAME, ApiClient, ApiUse
from app.base.errors import ClientInvalid, ClientUnknown, TokenMalformed
from app.base.secret import Secret, SecretStatus
from app.base.secrets import API_TOKEN, Secrets
from engines.sentences import N_

SHORTEST_TOKEN: Final = 16
"""Minimum characters of a token that the user supplies: a shorter one could be guessed."""


@dataclass(frozen=True)
class ServerToken:
    """The server's own token.

    Attributes:
        status: Where it is kept.
        is_new: Whether it was created just now, so that it has to be shown.
    """

    secret: Secret
    status: SecretStatus
    is_new: bool


class ApiKeys:
    """The keys of all clients. Safe from any thread; sees clients changed by other processes."""

    def __init__(self, secrets: Secrets, store: ApiClientStore) -> None:
        self._secrets = secrets
        self._store = store
        self._session_token: Secret | None = None
        self._creating = threading.Lock()

    def token(self) -> ServerToken:
        """Return the server's own token; the very first call creates it.

        Raises:
            KeyringBroken: The keyring cannot be used.
            TokenMalformed: The token in the environment is too short.
        """
        if self._session_token is not None:
            return ServerToken(self._session_token, SecretStatus(True, "memory"), is_new=False)
        with self._creating:
            secret = self._secrets.get(API_TOKEN)
            if secret is None:
                return self.renew()
        return ServerToken(_checked(secret.reveal()), self._secrets.status(API_TOKEN), is_new=False)

    def renew(self) -> ServerToken:
        """Replace the stored token with a new one. Raises KeyringBroken."""
        secret = _make_key()
        return ServerToken(secret, self._secrets.set(API_TOKEN, secret), is_new=True)

    def use_token(self, text: str) -> None:
        """Use this token until Hearth ends, without storing it. Raises TokenMalformed."""
        self._session_token = _checked(text)

    def owner(self) -> ApiClient:
        """Return the client that has the server's own token. Raises as `token` does."""
        # Do not ask where the token is kept: with a keyring that can take some time.
        secret = self._session_token or self._secrets.get(API_TOKEN) or self.token().secret
        return ApiClient("", OWNER_NAME, _digest(_checked(secret.reveal()).reveal()))

    def identify(self, key: str) -> ApiClient | None:
        """Return the client with this key; the time taken does not reveal which part is right.

        Raises KeyringBroken and an AppError of the database.
        """
        digest, client_found = _digest(key), None
        for client in (self.owner(), *self._store.clients()):
            if hmac.compare_digest(client.digest, digest):
                client_found = client
        return client_found

    def clients(self) -> tuple[ApiClient, ...]:
        """Return the clients with a key of their own, sorted by name."""
        return self._store.clients()

    def add(
        self, name: str, models: Sequence[str] = (), *, per_minute: int = 0, at_once: int = 0
    ) -> tuple[ApiClient, Secret]:
        """Add a client.

        Args:
            models: Ids of the models it can use; empty for all.
            per_minute: Maximum requests a minute; 0 for no limit.
            at_once: Maximum requests at once; 0 for no limit.

        Returns:
            The client and its key, which is shown once and stored nowhere.

        Raises:
            ClientInvalid: The name cannot be used.
        """
        name = " ".join(name.split())
        if (
            not re.search(r"\w", name)
            or not name.isprintable()
            or name.lower() == OWNER_NAME.lower()
        ):
            raise ClientInvalid(
                N_("“{name}” cannot be the name of a program.", name=name),
                N_("A name needs a letter or a digit, and “Hearth” is taken."),
                N_("Choose another name, such as “editor”."),
            )
        if len(name) > LONGEST_NAME:
            raise ClientInvalid(
                N_("“{name}…” is too long for the name of a program.", name=name[:LONGEST_NAME]),
                N_(
                    "It has {count} characters; at most {limit} are allowed.",
                    count=f"{len(name):,}",
                    limit=LONGEST_NAME,
                ),
                N_("Choose a shorter one, such as “editor”."),
            )
        key = _make_key()
        client = ApiClient(
            secrets.token_hex(8), name, _digest(key.reveal()), tuple(models), per_minute, at_once,
            time.time(),
        )  # fmt: skip
        self._store.add(client)
        return client, key

    def remove(self, name: str) -> ApiClient:
        """Remove a client; its key is refused from now on. Raises ClientUnknown."""
        for client in self._store.clients():
            if client.name.casefold() == name.strip().casefold():
                self._store.remove(client.id)
                return client
        raise ClientUnknown(
            N_("There is no program “{name}”.", name=name.strip()),
            N_("No program with a key of its own has that name."),
            N_("Choose one from the list."),
            terminal=N_("`hearth clients list` shows them."),
        )

    def record_use(self, use: ApiUse) -> None:
        """Store the record of a request."""
        self._store.add_use(use)

    def uses(self, limit: int) -> list[ApiUse]:
        """Return the last uses, the newest first."""
        return self._store.uses(limit)

    def clear_uses(self) -> int:
        """Delete all uses and return how many there were."""
        return self._store.clear_uses()


def _make_key() -> Secret:
    """Make a key of 256 random bits, with a prefix that shows it is Hearth's."""
    return Secret(f"hearth-{secrets.token_urlsafe(32)}")


def _checked(text: str) -> Secret:
    """Refuse a token that could be guessed. Raises TokenMalformed."""
    text = text.strip()
    if len(text) < SHORTEST_TOKEN or not all("!" <= character <= "~" for character in text):
        raise TokenMalformed(
            N_("This text cannot be the server’s token."),
            N_(
                "A token is one word of at least {count} letters, digits and signs, so that "
                "nobody can guess it.",
                count=SHORTEST_TOKEN,
            ),
            N_("Choose a longer one, or let Hearth create one."),
        )
    return Secret(text)


def _digest(key: str) -> str:
    """Hash a key. Keys are random or long, so a slow hash would add nothing."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
