"""A handler that shows every error in its three parts."""

from __future__ import annotations

from collections.abc import Callable

from app.base.errors import AppError
from engines.errors import UserError
from engines.sentences import N_


def error_handler(
    show: Callable[[UserError], object], report: Callable[[Exception], object]
) -> Callable[[Exception], None]:
    """Return a handler that passes on a `UserError` as it is, and any other error as a bug.

    Args:
        show: Shows the error, or the sentence that it was a bug.
        report: Called with the error itself if it is a bug, for a report.
    """

    def failed(error: Exception) -> None:
        if isinstance(error, UserError):
            show(error)
            return
        report(error)
        show(
            AppError(
                N_("That did not work."),
                N_("This is a bug in Hearth; the report says more."),
                N_("Try again."),
            )
        )

    return failed
