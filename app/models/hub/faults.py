"""The error that ends one attempt at a transfer."""

from __future__ import annotations

from app.base.errors import AppError


class Transient(Exception):
    """An error that can go away when the transfer is tried again.

    Attributes:
        error: The error for the user; raised when no further attempt is made.
        requested_wait_s: How long the server asks to wait, in seconds.
        tries: For faults that seldom go away: how many of them in a row, without a new byte, end
            the transfer. None leaves the limit to the `Patience`.
        of_ranges: Whether the fault comes from requesting part of the file; requesting the whole
            file can still succeed.
    """

    def __init__(
        self,
        error: AppError,
        requested_wait_s: float | None = None,
        tries: int | None = None,
        of_ranges: bool = False,
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.requested_wait_s = requested_wait_s
        self.tries = tries
        self.of_ranges = of_ranges
