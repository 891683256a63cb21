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
OR_SET_VARIABLE = N_("Or set the variable {variable}.")
OVERRIDDEN = N_("{variable} is set in the environment and takes precedence over the keyring.")


class Secrets:
    """Secrets by name, such as "hf" or "server/ID".

    The keyring is asked once per run for each secret, since asking may open a dialog.

    Raises:
        KeyringBroken: There is a keyring, but it does not answer or stays locked.
    """

    def __init__(self) -> None:
        self._read: dict[str, Secret | None] = {}

    def get(self, name: str) -> Secret | None:
        """Return a secret, from the environment or else the keyring; None if there is none."""
        if secret := _from_environment(name):
            return secret
        if name not in self._read:
            keyring = _keyring()
            self._read[name] = _read_from_keyring(keyring, name) if keyring else None
        return self._read[name]

    def set(self, name: str, value: Secret) -> SecretStatus:
        """Save a secret in the keyring, or for this run if there is none; return its place."""
        if (keyring := _keyring()) is not None:
            try:
                keyring.set_password(SERVICE, name, value.reveal())
            except Exception as error:  # noqa: BLE001 - keyrings raise what their system raises
                raise _broken(N_("save the secret"), name, error) from None
        self._read[name] = value
        if keyring is None:
            return SecretStatus(True, "memory", _no_keyring(name))
        warning = N_(OVERRIDDEN, variable=ENVIRONMENT[name]) if _from_environment(name) else None
        return SecretStatus(True, "keyring", warning)

    def clear(self, name: str) -> SecretStatus:
        """Delete a secret; return the status afterwards: a variable of the environment stays."""
        if (keyring := _keyring()) is not None and _read_from_keyring(keyring, name) is not None:
            try:
                keyring.delete_password(SERVICE, name)
            except Exception as error:  # noqa: BLE001 - keyrings raise what their system raises
                raise _broken(N_("remove the secret"), name, error) from None
        self._read[name] = None
        return self.status(name)

    def status(self, name: str) -> SecretStatus:
        """Return whether there is a secret, and its place."""
        if _from_environment(name):
            return SecretStatus(True, "environment")
        present = self.get(name) is not None
        if _keyring() is None:
            return SecretStatus(present, "memory" if present else "none", _no_keyring(name))
        return SecretStatus(present, "keyring" if present else "none")


def _no_keyring(name: str) -> str:
    variable = ENVIRONMENT.get(name)
    return joined(" ", (NO_KEYRING, N_(OR_SET_VARIABLE, variable=variable) if variable else ""))


def _from_environment(name: str) -> Secret | None:
    """Return a secret from the environment; only names in ENVIRONMENT can be given there."""
    variable = ENVIRONMENT.get(name)
    text = os.environ.get(variable, "").strip() if variable else ""
    return Secret(text) if text else None


def _keyring() -> KeyringBackend | None:
    """Return the system's keyring; None if there is only a stand-in that saves nothing."""
    import keyring

    backend = keyring.get_keyring()
    # Stand-ins (fail, null, a chain without links) have priority 0 or less.
    return backend if backend.priority > 0 else None


def _read_from_keyring(keyring: KeyringBackend, name: str) -> Secret | None:
    try:
        text = keyring.get_password(SERVICE, name)
    except Exception as error:  # noqa: BLE001 - keyrings raise what their system raises
        raise _broken(N_("read the secret"), name, error) from None
    return Secret(text) if text else None


def _broken(task: str, name: str, error: Exception) -> KeyringBroken:
    """Make the error for a keyring that failed. Its text is left out: it could quote the secret."""
    variable = ENVIRONMENT.get(name, ENVIRONMENT["hf"])
    return KeyringBroken(
        N_("The system’s keyring did not {task}.", task=task),
        N_("It is locked, or it failed ({name}).", name=type(error).__name__),
        N_("Unlock the keyring and try again, or set {variable}.", variable=variable),
    )
