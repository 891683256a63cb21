"""Rules for retrying a transfer, and for how long to wait before: pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC

_TRANSIENT = {408, 425, 429}
_LONGEST_REQUESTED_S = 3600.0
_RESET = re.compile(r";\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d+)")
"""The RateLimit header when no requests remain, with the seconds until it is reset."""


@dataclass(frozen=True)
class Patience:
    """The limits for retrying after a failure that can go away by itself.

    Attributes:
        attempts: How many failures in a row, without a new byte, end the retries; None never does.
        first_s: The wait after the first failure, in seconds; it doubles with each failure.
        most_s: The longest wait, in seconds.
    """

    attempts: int | None = None
    first_s: float = 0.5
    most_s: float = 60.0

    def delay(
        self, failures: int, share: float, requested_wait_s: float | None = None
    ) -> float | None:
        """Return how many seconds to wait before the next attempt.

        Args:
            failures: How many attempts in a row have failed.
            share: A random number from 0 to 1, so that many clients do not come back at once.
            requested_wait_s: How long the server asks to wait, in seconds.

        Returns:
            None to give up.
        """
        if self.attempts is not None and failures >= self.attempts:
            return None
        own = min(self.most_s, self.first_s * 2.0 ** min(failures - 1, 30)) * (0.5 + share / 2)
        return max(own, min(requested_wait_s or 0.0, _LONGEST_REQUESTED_S))


def is_transient(status: int) -> bool:
    """Return whether an HTTP status can change by itself (RFC 9110, RFC 8470, RFC 6585)."""
    return status in _TRANSIENT or status >= 500


def requested_wait_s(headers: Mapping[str, str], now: float) -> float | None:
    """Return how many seconds a busy server asks to wait, from HTTP's header or the Hub's own.

    Args:
        now: The current time, in seconds since 1970.

    Returns:
        None if neither header says so.
    """
    seconds = retry_after(headers.get("Retry-After"), now)
    limit = _RESET.search(headers.get("RateLimit", ""))
    return float(limit[1]) if seconds is None and limit else seconds


def retry_after(header: str | None, now: float) -> float | None:
    """Read a Retry-After header, in seconds or as a date (RFC 9110, 10.2.3).

    Args:
        now: The current time, in seconds since 1970.

    Returns:
        The seconds to wait from `now`; None if the header is missing or cannot be read.
    """
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text)
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    # A date without a zone is in UTC, as all dates in HTTP are.
    at = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, at.timestamp() - now)
