"""What a row of the downloads says besides the state: how much there is, and of what."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.core.models.downloads import Download
from app.ui.look.format import size


def amount(download: Download) -> str:
    """Bytes and files: 1.2 GB of 4.1 GB, 3 files."""
    wanted = download.wanted
    total = size(wanted.bytes_total)
    text = _tr("{0} of {1}").format(size(download.bytes_done), total)
    if download.state == "done":
        text = total
    count = len(wanted.files)
    return text if count == 1 else _tr("{0}, {1} files").format(text, count)


def _tr(text: str) -> str:
    return QCoreApplication.translate("downloads", text)
