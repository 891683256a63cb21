"""Errors on their way to the window: in three parts, whatever went wrong."""

from __future__ import annotations

from collections.abc import Callable

from app.core.errors import AppError
from engines.errors import UserError


def telling(
    tell: Callable[[UserError], object], crashed: Callable[[Exception], object]
) -> Callable[[Exception], None]:
    """`tell` is given the world's errors as they are; of a bug of ours it is told that it was one.

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
                "Hearth has made a mistake; its report says more.",
                "Try again.",
            )
        )

    return failed
