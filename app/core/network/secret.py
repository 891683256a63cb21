"""A value that nothing shows by accident."""

from __future__ import annotations

from engines.redaction import remember


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
