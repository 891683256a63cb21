"""The errors that end one attempt at a transfer."""

from __future__ import annotations

from app.base.errors import AppError


class Transient(Exception):
    """An error that may pass if the transfer is tried again.

    error: what it is, in words for the user; raised when patience ends.
    asked_s: how long the server asks to wait, in seconds.
    tries: of what seldom gets better: how often in a row, with nothing else between and without
    one new byte, such a fault may be met. None is as often as patience has it.
    of_ranges: it comes of asking for a part of the file; the whole file may still be had.
    """

    def __init__(
        self,
        error: AppError,
        asked_s: float | None = None,
        tries: int | None = None,
        of_ranges: bool = False,
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.asked_s = asked_s
        self.tries = tries
        self.of_ranges = of_ranges
