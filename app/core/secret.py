"""A value that nothing shows by accident."""

from __future__ import annotations


class Secret:
    """Text such as a token. No repr, log, report or JSON shows it; `reveal` gives it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(hidden)"
