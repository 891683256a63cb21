"""The time until Hearth's window is usable, and its memory, beside an empty window of Qt.

python tests/bench/start.py [--rounds N] [--chats N] [--bundle PATH]

With --bundle, the program of a package is compared with this checkout instead: neither is filled
with chats, and the first painting is the one that Qt itself logs, so that both are timed in the
same way. It exits with 1 above 1.3.

Otherwise both are started as separate processes, in turns; the first turn compiles Python's sources
and does not count, as a Hearth that was started before has them compiled. Time runs from the start
of the process to the first painting: of the empty window, and of Hearth's field for messages, with
its chats beside it. Only these two widgets are watched: a filter on the whole application would
slow down the side with more widgets.

Memory is measured two seconds later: the resident memory of the process, with Qt's libraries on
both sides, and the process's own part of it. Times and resident memory count, as medians of the
ratios of neighbouring runs. The processor time until then is printed too, as it varies less on a
shared computer. It exits with 1 above 2.2 in time or 1.7 in memory. Run it under a display, or with
QT_QPA_PLATFORM=offscreen.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

BAR, MEMORY_BAR, BUNDLE_BAR = 2.2, 1.7, 1.3
PAINTED = "qt.widgets.painting: Flushing"
"""Qt's log line after the first painting of a window."""
_WATCH = """
import os, sys, time
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication

class Watch(QObject):
    def eventFilter(self, watched, event):
        if event.type() is QEvent.Type.Paint:
            watched.removeEventFilter(self)
            print("usable", time.process_time(), flush=True)
            QTimer.singleShot(2000, self.tell)
        return False

    def tell(self):
        import psutil
        held = psutil.Process().memory_full_info()
        print(held.rss, held.uss, flush=True)
        QApplication.quit()

watch = Watch()
"""
EMPTY = (
    _WATCH
    + """
from PySide6.QtWidgets import QMainWindow
app = QApplication([])
window = QMainWindow()
window.installEventFilter(watch)
window.resize(1120, 760)
window.show()
app.exec()
"""
)
HEARTH = """
import sys

class Prepare:
    # The watch comes in as the window's parts are about to be imported, after Qt.

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "app.start.running":
            sys.meta_path.remove(Prepare)
            watch_first_painting()

def watch_first_painting():
    scope = {{}}
    exec({watch!r}, scope)
    import app.window.pages.signal_buffer as early
    class Watched(early.FirstPainting):
        def __init__(self, widget):
            super().__init__(widget)
            widget.installEventFilter(scope["watch"])
    early.FirstPainting = Watched

sys.meta_path.insert(0, Prepare)
sys.path.insert(0, {root!r})
from app.__main__ import main
sys.argv = ["hearth", "--data-dir", {folder!r}]
main()
"""


@dataclass(frozen=True)
class Start:
    """The figures of a start.

    Attributes:
        seconds: The time to the first painting.
        computed: The processor time until then, in seconds.
        resident: The resident memory two seconds later, in bytes.
        own: The process's own part of it.
    """

    seconds: float
    computed: float
    resident: float
    own: float


def start(code: str, compiled: Path) -> Start:
    """Start a program and return its figures.

    Args:
        code: The code of the program.
        compiled: The folder for Python's compiled files, even if the shell forbids them elsewhere.
    """
    # Without a display, the terminal's chat would begin.
    environment = {"DISPLAY": ":none", **os.environ, "PYTHONPYCACHEPREFIX": str(compiled)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began = perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        painted, _, computed = process.stdout.readline().partition(" ")
        assert painted == "usable", "no window was painted"
        seconds = perf_counter() - began
        resident, own = process.stdout.readline().split()
        return Start(seconds, float(computed), float(resident), float(own))


def painted_after(command: list[str], settings: dict[str, str]) -> float:
    """Start a Hearth, return the seconds until its window is painted, and end it."""
    environment = {
        "DISPLAY": ":none",
        **os.environ,
        "QT_LOGGING_RULES": "qt.widgets.painting.debug=true",
        **settings,
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began = perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if line.startswith(PAINTED):
                    return perf_counter() - began
        finally:
            process.terminate()
            process.stderr.read()
    raise AssertionError(f"{command[0]} painted no window")


def compare_bundle(program: Path, folder: Path, compiled: Path, rounds: int) -> int:
    """Time the window of a package beside this checkout's, in turns; return the exit status."""
    # A user's checkout has its byte code beside it; this one may not allow writing it there.
    ours = {"PYTHONPYCACHEPREFIX": str(compiled), "PYTHONPATH": str(ROOT)}
    words = ["--data-dir", str(folder)]
    checkout = [sys.executable, "-m", "app", *words]
    packed = {"PYTHONPATH": ""}
    turns = range(rounds + 1)
    pairs = [
        (painted_after(checkout, ours), painted_after([str(program), *words], packed))
        for _ in turns
    ][1:]
    ratio = median(bundle / source for source, bundle in pairs)
    for name, seconds in zip(("checkout", "package"), zip(*pairs, strict=True), strict=True):
        print(f"{name}: {median(seconds) * 1e3:.0f} ms to the window")
    print(f"ratio: {ratio:.2f} (at most {BUNDLE_BAR})")
    return 0 if ratio <= BUNDLE_BAR else 1


def fill(folder: Path, count: int) -> None:
    """Make a data folder with this many chats."""
    from app.base.db import Database
    from app.chats.history.store.chats import ChatStore

    folder.mkdir(parents=True)
    database = Database(folder / "chats.db")
    chats = ChatStore(database)
    for number in range(count):
        chats.ask(None, f"What is number {number}?")
    database.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--chats", type=int, default=200)
    parser.add_argument("--bundle", type=Path, help="the program of a package")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "data"
        fill(folder, options.chats)
        compiled = Path(place) / "compiled"
        if options.bundle is not None:
            return compare_bundle(options.bundle, folder, compiled, options.rounds)
        hearth = HEARTH.format(watch=_WATCH, root=str(ROOT), folder=str(folder))
        turns = range(options.rounds + 1)
        pairs = [(start(EMPTY, compiled), start(hearth, compiled)) for _ in turns][1:]
    times = median(ours.seconds / empty.seconds for empty, ours in pairs)
    memory = median(ours.resident / empty.resident for empty, ours in pairs)
    for name, starts in zip(("empty window", "Hearth"), zip(*pairs, strict=True), strict=True):
        print(
            f"{name}: {median(it.seconds for it in starts) * 1e3:.0f} ms to the window,"
            f" {median(it.computed for it in starts) * 1e3:.0f} ms of computing,"
            f" {median(it.resident for it in starts) / 2**20:.0f} MiB resident,"
            f" {median(it.own for it in starts) / 2**20:.0f} MiB of its own"
        )
    print(f"ratio: {times:.2f} in time (at most {BAR}), {memory:.2f} in memory ({MEMORY_BAR})")
    print(f"computed: {median(ours.computed / empty.computed for empty, ours in pairs):.2f} times")
    return 0 if times <= BAR and memory <= MEMORY_BAR else 1


if __name__ == "__main__":
    sys.exit(main())
