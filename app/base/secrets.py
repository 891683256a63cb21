"""Secrets in the system's keyring or the environment; never in a file of Hearth's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from app.base.errors import KeyringBroken
from app.base.secret import Secret, SecretStatus
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

SERVICE = "Hearth"
"""The name under which the keyring lists Hearth's secrets."""

API_TOKEN = "api"  # noqa: S105 - a name
"""The name of the token that other programs send to Hearth's own server."""

ENVIRONMENT = {"hf": "HF_TOKEN", API_TOKEN: "HEARTH_API_TOKEN"}
"""The environment variables that take precedence over the keyring; they are only read."""

NO_KEYRING = N_(
    "This system has no keyring that Hearth can use, so a token is forgotten when Hearth ends. "
    "Install one, such as GNOME Keyring or KWallet."
)
OR_SET = N_("Or set the variable {variable}.")
OVERRULED = N_("{variable} is set in the environment and takes precedence over the keyring.")


class Secrets:
    """Secrets by name, such as "hf" or "server/ID".

    The keyring is asked once per run for each secret, since asking may open a dialog.

    Raises:
        KeyringBroken: There is a keyring, but it does not answer or stays locked.
    """

    def __init__(self) -> None:
        self._known: dict[str, Secret | None] = {}

    def get(self, name: str) -> Secret | None:
        if given := _given(name):
            return given
        if name not in self._known:
            keyring = _keyring()
            self._known[name] = _ask(keyring, name) if keyring else None
        return self._known[name]

    def set(self, name: str, value: Secret) -> SecretStatus:
        """Save a secret in the keyring, or for this run if there is none; return its place."""
        if (keyring := _keyring()) is not None:
            try:
                keyring.set_password(SERVICE, name, value.reveal())
            except Exception as error:  # noqa: BLE001 - keyrings raise what their system raises
                raise _broken(N_("save the secret"), name, error) from None
        self._known[name] = value
        if keyring is None:
            return SecretStatus(True, "memory", _no_keyring(name))
        overruled = N_(OVERRULED, variable=ENVIRONMENT[name]) if _given(name) else None
        return SecretStatus(True, "keyring", overruled)

    def clear(self, name: str) -> SecretStatus:
        """Delete a secret; return the status afterwards: a variable of the environment stays."""
        if (keyring := _keyring()) is not None and _ask(keyring, name) is not None:
            try:
                keyring.delete_password(SERVICE, name)
            except Exception as error:  # noqa: BLE001 - keyrings raise what their system raises
                raise _broken(N_("remove the secret"), name, error) from None
        self._known[name] = None
        return self.status(name)

    def status(self, name: str) -> SecretStatus:
        if _given(name):
            return SecretStatus(True, "environment")
        present = self.get(name) is not None
        if _keyring() is None:
            return SecretStatus(present, "memory" if present else "none", _no_keyring(name))
        return SecretStatus(present, "keyring" if present else "none")


def _no_keyring(name: str) -> str:
    variable = ENVIRONMENT.get(name)
    return joined(" ", (NO_KEYRING, N_(OR_SET, variable=variable) if variable else ""))


def _given(name: str) -> Secret | None:
    """Return a secret from the environment; only names in ENVIRONMENT can be given there."""
    variable = ENVIRONMENT.get(name)
    text = os.environ.get(variable, "").strip() if variable else ""
    return Secret(text) if text else None


def _keyring() -> KeyringBackend | None:
    """Return the system's keyring; None if there is only a stand-in that saves nothing."""
    import keyring

    found = keyring.get_keyring()
    # Stand-ins (fail, null, a chain without links) have priority 0 or less.
    return found if found.priority > 0 else None


def _ask(keyring: KeyringBackend, name: str) -> Secret | None:
    try:
        text = keyring.get_password(SERVICE, name)
    except Exception as error:  # noqa: BLE001 - keyrings raise what their system raises
        raise _broken(N_("read the secret"), name, error) from None
    return Secret(text) if text else None


def _broken(what: str, name: str, error: Exception) -> KeyringBroken:
    """Make the error for a keyring that failed. Its text is left out: it could quote the secret."""
    variable = ENVIRONMENT.get(name, ENVIRONMENT["hf"])
    return KeyringBroken(
        N_("The system’s keyring did not {what}.", what=what),
        N_("It is locked, or it failed ({name}).", name=type(error).__name__),
        N_("Unlock the keyring and try again, or set {variable}.", variable=variable),
    )
