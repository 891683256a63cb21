"""A start of the window loads no heavy library before it is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from app.base.folder import DataFolder
from app.models.library.store.known_headers import KnownHeaders
from app.wiring.opening import open_data
from engines.models.gguf.headers import Headers
from tests.support.made_gguf import STARTER

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {
    "gguf", "httpx2", "huggingface_hub", "jinja2", "keyring", "llama_cpp", "markdown_it", "numpy",
    "pydantic", "pygments",
}  # fmt: skip
ELSEWHERE = {
    "app.models.discover.values.recommend", "app.models.hub.client", "app.models.hub.fetch",
    "app.models.library.services.fitting", "app.chats.context.pages.card",
    "app.chats.transcript.pages.message_view", "app.window.desktop.pages.palette",
    "app.window.desktop.pages.quick_ask", "app.chats.sidebar.pages.bulk_bar",
    "app.chats.sidebar.pages.hit_list", "engines.hardware.detect", "engines.llamacpp.engine",
    "app.models.discover.presenters.discover", "app.exchange.presenters.importing",
    "app.exchange.services.writing", "app.chats.pages.chat_settings_panel",
    "app.window.scratch.pages.scratch_window", "app.connections.pages.connections_page",
    "app.exchange.pages.import_dialog", "app.models.pages.models_page",
    "app.settings.pages.settings_dialog",
}  # fmt: skip
"""Hearth's own modules for things that are shown or used when the user goes there."""
IDLE_MS = 2000

_PROGRAM = """
import sys
from PySide6.QtCore import QTimer
from app.start import window
from app.window.values.launch_request import LaunchRequest
from app.base.folder import DataFolder
from app.window.pages.signal_buffer import FirstPainting
from app.window.pages.main_window import MainWindow

heavy = set(sys.argv[2:])
light = "cancel errors private redaction regular sentences text"
small = {f"engines.{name}" for name in light.split()}
finish = FirstPainting._finish

def note(self):
    engines = {name for name in sys.modules if name.startswith("engines.")}
    early = engines - small | set(sys.modules) & {"app.kit.look.zoom"}
    print("painted", *sorted(heavy & set(sys.modules) | early), flush=True)
    finish(self)

def look():
    main = next(it for it in app.topLevelWidgets() if isinstance(it, MainWindow))
    if not main.is_built:
        QTimer.singleShot(50, look)
        return
    def idle():
        print("idle", *sorted(heavy & set(sys.modules)), flush=True)
        main.close()
    QTimer.singleShot(int(sys.argv[1]), idle)

FirstPainting._finish = note
app = window._application()
QTimer.singleShot(50, look)
sys.exit(window.open_window(DataFolder.default(), False, LaunchRequest()))
"""


def test_nothing_heavy_is_loaded_before_it_is_needed(data_dir: Path) -> None:
    """The user has chatted before.

    A first start looks for a suitable model and reads its header, whose facts are remembered from
    then on.
    """
    opened = open_data(DataFolder.default())
    opened.chats.ask(None, "What can you do?")
    headers = Headers(KnownHeaders(opened.database))
    headers.facts(STARTER)
    headers.keep()
    opened.database.close()
    result = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(IDLE_MS), *sorted(HEAVY | ELSEWHERE)],
        cwd=ROOT,
        env={**os.environ, "HEARTH_DATA_DIR": str(data_dir), "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["painted", "idle"]
