"""A secret that is never shown by accident, and the place where it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engines.redaction import remember

Place = Literal["keyring", "memory", "environment", "none"]


class Secret:
    """A text such as a token. No repr, log, report or JSON shows it; `reveal` returns it.

    From its creation on, other texts that contain it are redacted, too.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text
        remember(text)

    def reveal(self) -> str:
        """Return the text, for the one place that has to send or store it."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(hidden)"


@dataclass(frozen=True)
class SecretStatus:
    """The place of a secret, if there is one.

    Attributes:
        warning: A sentence for its owner, if needed.
    """

    present: bool
    place: Place
    warning: str | None = None


@dataclass(frozen=True)
class SavedToken:
    """A token that was saved.

    Attributes:
        account: The token's account; None if it was not tested.
        why_untested: A sentence, if the token should have been tested but was not.
    """

    account: str | None
    status: SecretStatus
    why_untested: str | None = None
