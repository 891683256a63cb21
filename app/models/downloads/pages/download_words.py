"""Texts for the state of a download."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from app.base.units import MB
from app.kit.look.format import figure
from app.models.downloads.values.downloads import Download, DownloadState
from app.models.downloads.values.requests import name_of

_MINUTE = 60
_HOUR = 3600

UNDER_WAY: frozenset[DownloadState] = frozenset(
    ("waiting", "running", "paused", "retrying", "verifying")
)
"""The states of downloads that are not finished."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("downloads", text)


def queued_words(download: Download) -> str:
    """Return the sentence that tells the user that a download was queued."""
    return _tr("Downloading {name}.").format(name=name_of(download.wanted))


def served_words(served: Sequence[str]) -> str:
    """Describe a drafter and the models that it helps."""
    if not served:
        return _tr("a drafter; its model is not on this computer.")
    return _tr("a drafter, which helps {models} answer faster.").format(models=", ".join(served))


def share(download: Download) -> float:
    """Return the share of a download that is on the disk, from 0.0 to 1.0."""
    total = download.wanted.bytes_total
    return min(1.0, download.bytes_done / total) if total else 0.0


def in_words(download: Download) -> str:
    """Describe a download in one line: its state and, while it runs, progress, speed, time left."""
    percent = f"{share(download) * 100:.0f}"
    if download.state == "running":
        words = [_tr("{value} %").format(value=percent)]
        if download.bytes_per_s:
            words.append(rate(download.bytes_per_s))
        if download.seconds_left is not None:
            words.append(_tr("{time} left").format(time=duration(download.seconds_left)))
        return ", ".join(words)
    if download.state == "retrying" and download.retry_in_s:
        return _tr("Trying again in {time}").format(time=duration(download.retry_in_s))
    if download.state == "done" and download.serves is not None:
        return _tr("Ready: {description}").format(description=served_words(download.serves))
    return {
        "waiting": _tr("Waiting"),
        "paused": _tr("Paused at {percent} %").format(percent=percent),
        "retrying": _tr("Trying again"),
        "verifying": _tr("Checking the file"),
        "done": _tr("Ready"),
        "failed": _tr("Failed"),
        "cancelled": _tr("Cancelled"),
    }[download.state]


def rate(bytes_per_s: float) -> str:
    """Format a speed in MB/s."""
    return _tr("{speed} MB/s").format(speed=figure(bytes_per_s / MB, 1))


def duration(seconds: float) -> str:
    """Format a time for people: 40 s, 3 min, 2 h 10 min."""
    if seconds < _MINUTE:
        return _tr("{value} s").format(value=max(1, round(seconds)))
    minutes = round(seconds / _MINUTE)
    if minutes < _HOUR // _MINUTE:
        return _tr("{minutes} min").format(minutes=minutes)
    return _tr("{hours} h {minutes} min").format(hours=minutes // 60, minutes=minutes % 60)
