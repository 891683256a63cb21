"""Numbers, sizes and times as people read them, in the window's language."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

GB = 1_000_000_000
_KB = 1_000


def locale() -> QLocale:
    """Return the window's locale; English if the system has none."""
    chosen = QLocale()
    has_none = chosen.language() is QLocale.Language.C
    return QLocale(QLocale.Language.English) if has_none else chosen


def figure(value: float, digits: int = 0) -> str:
    """Format a number with thousands separators.

    Args:
        value: The number.
        digits: How many digits follow the decimal point.
    """
    return locale().toString(float(value), "f", digits)


def tokens(count: int, *, guessed: bool = False) -> str:
    """Format a number of tokens; `guessed` adds "about"."""
    if guessed:
        return QCoreApplication.translate("format", "about {whole} tokens").format(
            whole=figure(count)
        )
    if count == 1:
        return QCoreApplication.translate("format", "1 token")
    return QCoreApplication.translate("format", "{total} tokens").format(total=figure(count))


def size(count: int) -> str:
    """Format a number of bytes in the unit that fits: 940 MB, 7.3 GB, 16 GB."""
    if count < GB:
        return f"{count / 1_000_000:.0f} MB"
    amount = count / GB
    return f"{figure(amount, 1 if amount < 10 else 0)} GB"


def small_size(count: int) -> str:
    """Format a number of bytes that can be small: 120 B, 4 kB, 2.1 MB, 940 MB."""
    if count < _KB:
        return QCoreApplication.translate("format", "{count} B").format(count=count)
    if count < _KB * _KB:
        return QCoreApplication.translate("format", "{count} kB").format(count=f"{count / _KB:.0f}")
    if count < 10 * _KB * _KB:
        return f"{figure(count / _KB / _KB, 1)} MB"
    return size(count)


def day(seconds: float) -> str:
    """Format a date as people write it: 3 May 2026.

    Args:
        seconds: The time in seconds since 1970.
    """
    pattern = QCoreApplication.translate(
        "format", "d MMMM yyyy", "day, month and year, as Qt writes dates"
    )
    return _written(seconds, pattern)


def moment(seconds: float) -> str:
    """Format a date with the time of day: 3 May 2026, 14:05.

    Args:
        seconds: The time in seconds since 1970.
    """
    pattern = QCoreApplication.translate(
        "format", "d MMMM yyyy, HH:mm", "day and time, as Qt writes dates"
    )
    return _written(seconds, pattern)


def _written(seconds: float, pattern: str) -> str:
    return locale().toString(QDateTime.fromMSecsSinceEpoch(int(seconds * 1000)), pattern)


def shortened(text: str, longest: int) -> str:
    """Return the beginning of a text on one line, cut between words.

    Args:
        text: The text.
        longest: The largest number of characters.
    """
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    return line[:longest].rsplit(" ", 1)[0].rstrip(",.;:") + "…"
