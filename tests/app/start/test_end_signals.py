"""Signals end the window's event loop, even on systems where they do not wake it."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

SCRIPT = """
import sys
from PySide6.QtCore import QCoreApplication
from app.start.end_signals import EndSignals

app = QCoreApplication([])
signals = EndSignals(lambda: app.exit(7), can_wake=sys.argv[1] == "yes")
print("ready", flush=True)
status = app.exec()
signals.close()
sys.exit(status)
"""


@pytest.mark.parametrize("wakes", ["yes", "no"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_an_idle_window(wakes: str, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, wakes], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(number)
        assert child.wait(timeout=60) == 7
