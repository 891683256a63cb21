"""Opening files and links for macOS, also before the window is built."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import json
from PySide6.QtCore import QEvent, QUrl
from PySide6.QtGui import QFileOpenEvent
from app.window.pages.application import Application

app = Application(["hearth"])
heard = []
app.requested.connect(lambda request: heard.append([list(map(str, request.files)), request.link]))
app.sendEvent(app, QFileOpenEvent(QUrl.fromLocalFile("/models/a ü.gguf")))
app.sendEvent(app, QEvent(QEvent.Type.ApplicationPaletteChange))
early = len(heard)
app.start_receiving()
app.sendEvent(app, QFileOpenEvent(QUrl("hearth://model/owner/name:Q4_K_M")))
print(json.dumps([early, heard]))
"""


def test_files_and_links_are_told_of_in_their_order_once_somebody_hears() -> None:
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True)
    early, heard = json.loads(ended.stdout)
    assert early == 0
    assert heard == [
        [["/models/a ü.gguf"], ""],
        [[], "hearth://model/owner/name:Q4_K_M"],
    ]
