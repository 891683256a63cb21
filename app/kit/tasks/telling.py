"""Tells errors to the window in three parts, whatever went wrong."""

from __future__ import annotations

from collections.abc import Callable

from app.base.errors import AppError
from engines.errors import UserError


def telling(
    tell: Callable[[UserError], object], crashed: Callable[[Exception], object]
) -> Callable[[Exception], None]:
    """Return a handler that tells the world's errors as they are, and bugs of ours as such.

    crashed: is given the bug itself, for a report.
    """

    def failed(error: Exception) -> None:
        if isinstance(error, UserError):
            tell(error)
            return
        crashed(error)
        tell(
            AppError(
                "That did not work.",
                "This is a bug in Hearth; the report says more.",
                "Try again.",
            )
        )

    return failed
