"""Decides when a transfer is tried again, and how long it waits before: pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC

_TRANSIENT = {408, 425, 429}
_LONGEST_ASKED_S = 3600.0
_RESET = re.compile(r";\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d+)")
"""The RateLimit header: nothing remains, and so many seconds until it does again."""


@dataclass(frozen=True)
class Patience:
    """The limits of retrying what may get better by itself.

    attempts: failures in a row, without one new byte, after which it gives up; None never does.
    first_s, most_s: the wait after the first failure; it doubles up to the longest.
    """

    attempts: int | None = None
    first_s: float = 0.5
    most_s: float = 60.0

    def delay(self, failures: int, share: float, asked_s: float | None = None) -> float | None:
        """Return the seconds until the next attempt after so many failures; None to give up.

        share: a random number from 0 to 1; it keeps many clients from coming back at once.
        asked_s: how long the server asks to wait.
        """
        if self.attempts is not None and failures >= self.attempts:
            return None
        own = min(self.most_s, self.first_s * 2.0 ** min(failures - 1, 30)) * (0.5 + share / 2)
        return max(own, min(asked_s or 0.0, _LONGEST_ASKED_S))


def is_transient(status: int) -> bool:
    """Whether an HTTP status may be another one in a while (RFC 9110, RFC 8470, RFC 6585)."""
    return status in _TRANSIENT or status >= 500


def asked_s(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that a busy server asks to wait, by HTTP's header or by the Hub's own.

    now: seconds since 1970. None if neither says anything.
    """
    asked = retry_after(headers.get("Retry-After"), now)
    limit = _RESET.search(headers.get("RateLimit", ""))
    return float(limit[1]) if asked is None and limit else asked


def retry_after(header: str | None, now: float) -> float | None:
    """Read a Retry-After header, seconds or a date (RFC 9110, 10.2.3), as seconds from `now`.

    now: seconds since 1970. None if there is no such header, or it says nothing.
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
