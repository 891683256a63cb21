"""The user's tokens: tested before they are kept, sent only to their owners, never shown."""

from __future__ import annotations

import logging
from collections.abc import Callable

from app.base.errors import KeyringBroken, NoSuchService, Offline, TokenMalformed
from app.base.secret import KeptToken, Secret, SecretStatus
from app.base.secrets import ENVIRONMENT, Secrets

HUB = "hf"

_log = logging.getLogger(__name__)


class Tokens:
    """Keeps tokens. who: asks the Hub for the account of a token; raises AppError."""

    def __init__(self, secrets: Secrets, who: Callable[[str], str]) -> None:
        self._secrets = secrets
        self._who = who
        self._gave_up = False

    def for_hub(self) -> str | None:
        """Return the token to send to the Hub.

        Without a keyring that answers, public models still work: it is asked no more until one
        of the other methods is called, and those say what is wrong with it.
        """
        if self._gave_up:
            return None
        try:
            secret = self._secrets.get(HUB)
        except KeyringBroken as error:
            self._gave_up = True
            _log.warning("Going on without a token: %s", error)
            return None
        if secret is None:
            return None
        # What a keyring holds was checked before it was kept.
        return checked(secret.reveal(), f"{ENVIRONMENT[HUB]} in the environment").reveal()

    def keep(self, service: str, text: str, *, test: bool = True) -> KeptToken:
        """Test a token and keep it; while offline it is kept untested.

        Raises NoSuchService, TokenMalformed, KeyringBroken, and what `who` raises.
        """
        name = self._again(service)
        secret = checked(text)
        account, why = None, None
        if test:
            try:
                account = self._who(secret.reveal())
            except Offline:
                why = "It was not tested, because Hearth is offline."
        return KeptToken(account, self._secrets.set(name, secret), why)

    def status(self, service: str) -> SecretStatus:
        """Tell whether a token is kept, and where. Raises NoSuchService, KeyringBroken."""
        return self._secrets.status(self._again(service))

    def clear(self, service: str) -> SecretStatus:
        """Forget a token; returns what is left. Raises NoSuchService, KeyringBroken."""
        return self._secrets.clear(self._again(service))

    def _again(self, service: str) -> str:
        """Return the name of a service's secret, and let the keyring be asked again."""
        if service != HUB:
            raise NoSuchService(
                f"Hearth stores no token for “{service}”.",
                f"It knows of these: {HUB}.",
                "Use one of these names.",
                terminal="Use one of them, such as `hearth token status hf`.",
            )
        self._gave_up = False
        return service


def checked(text: str, what: str = "That") -> Secret:
    """Check that a token can stand in a header: visible ASCII. Raises TokenMalformed.

    A library that is given another one would quote it in its error. what: it is called in ours.
    """
    text = text.strip()
    if not text or not all("!" <= character <= "~" for character in text):
        raise TokenMalformed(
            f"{what} is not a token.",
            "A token is one word of letters, digits and signs, without spaces.",
            "Copy all of it from the page where it was made.",
        )
    return Secret(text)
