"""A secret, which nothing shows by accident, and where one is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engines.redaction import remember

Place = Literal["keyring", "memory", "environment", "none"]


class Secret:
    """Text such as a token. No repr, log, report or JSON shows it; `reveal` gives it.

    Where somebody else says it, it is hidden from then on.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text
        remember(text)

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(hidden)"


@dataclass(frozen=True)
class SecretStatus:
    """The place of a secret, if there is one. warning: what its owner should know."""

    present: bool
    place: Place
    warning: str | None = None


@dataclass(frozen=True)
class KeptToken:
    """A token that was kept. account: whose it is; None if it was not tested.

    why_untested: a sentence, if it should have been tested and was not.
    """

    account: str | None
    status: SecretStatus
    why_untested: str | None = None
