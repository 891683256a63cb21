"""The user's tokens: tested before they are saved, sent only to their service, never shown."""

from __future__ import annotations

import logging
from collections.abc import Callable

from app.base.errors import KeyringBroken, NoSuchService, Offline, TokenMalformed
from app.base.secret import SavedToken, Secret, SecretStatus
from app.base.secrets import ENVIRONMENT, Secrets
from engines.sentences import N_

HUB = "hf"

_log = logging.getLogger(__name__)


class Tokens:
    """The tokens of the user.

    Args:
        account_of: Asks the Hub for the account of a token; raises AppError.
    """

    def __init__(self, secrets: Secrets, account_of: Callable[[str], str]) -> None:
        self._secrets = secrets
        self._account_of = account_of
        self._gave_up = False

    def for_hub(self) -> str | None:
        """Return the token to send to the Hub.

        If the keyring does not answer, public models still work: it is not asked again until
        another method is called, and that method raises the error.
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
        # A token in a keyring was checked before it was saved.
        return checked(
            secret.reveal(), N_("{environment} in the environment", environment=ENVIRONMENT[HUB])
        ).reveal()

    def save(self, service: str, text: str, *, test: bool = True) -> SavedToken:
        """Test a token and save it; while Hearth is offline, save it untested.

        Raises:
            NoSuchService: There is no such service.
            TokenMalformed: The text is not a token.
            KeyringBroken: The keyring failed. Errors of `account_of` pass through.
        """
        name = self._require_service(service)
        secret = checked(text)
        account, reason = None, None
        if test:
            try:
                account = self._account_of(secret.reveal())
            except Offline:
                reason = N_("It was not tested, because Hearth is offline.")
        return SavedToken(account, self._secrets.set(name, secret), reason)

    def status(self, service: str) -> SecretStatus:
        """Return whether a token is saved, and where. Raises NoSuchService, KeyringBroken."""
        return self._secrets.status(self._require_service(service))

    def clear(self, service: str) -> SecretStatus:
        """Delete a token; return the status afterwards. Raises NoSuchService, KeyringBroken."""
        return self._secrets.clear(self._require_service(service))

    def _require_service(self, service: str) -> str:
        """Return the name of a service's secret, and allow the keyring to be asked again."""
        if service != HUB:
            raise NoSuchService(
                N_("Hearth stores no token for “{service}”.", service=service),
                N_("It knows of these: {hub}.", hub=HUB),
                N_("Use one of these names."),
                terminal=N_("Use one of them, such as `hearth token status hf`."),
            )
        self._gave_up = False
        return service


def checked(text: str, name: str = "That") -> Secret:
    """Check that a token can be part of a header: visible ASCII. Raises TokenMalformed.

    A library that gets any other text would quote it in its error.

    Args:
        what: The token's name in Hearth's error.
    """
    text = text.strip()
    if not text or not all("!" <= character <= "~" for character in text):
        raise TokenMalformed(
            N_("{name} is not a token.", name=name),
            N_("A token is one word of letters, digits and signs, without spaces."),
            N_("Copy all of it from the page where it was made."),
        )
    return Secret(text)
