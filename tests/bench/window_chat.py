"""The delays in a chat of 2,000 messages: opening it, and an answer at 200 tokens a second.

    python tests/bench/window_chat.py [--messages 2000] [--tokens 2000] [--rate 200] [--rounds 7]

Opening lasts from the call to the painting of the newest message, and the memory is the growth of
the process after a run of its messages is live. Then a scripted engine answers in that chat at
--rate tokens a second, while a timer is due every 5 ms: a gap is its delay. On a busy computer
other programs cause gaps too, so they are also measured in an empty event loop of the same length
before, and the longest time that the window's own thread computed between two ticks is printed too.
It exits with 1 above 150 ms, 15 MB, 16 ms (99th percentile) or 50 ms (most).
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import psutil
from PySide6.QtCore import QEvent, QEventLoop, QObject
from PySide6.QtWidgets import QApplication

from app.base.folder import DataFolder
from app.base.reports import describe
from app.chats.history.store.chats import ChatStore
from app.chats.history.values.conversation import AnswerFacts, StoredMessage
from app.settings.pages.appearance import Appearance
from app.window.pages.main_window import MainWindow
from app.wiring.app import open_app
from app.wiring.window import WindowApp
from engines.llamacpp import engine as llamacpp
from tests.bench.window_stall import Gaps, Pieces, rest
from tests.support.scripted import ScriptedEngine
from tests.support.windows import built_window

OPEN_BAR_S = 0.15
MEMORY_BAR = 15_000_000
P99_BAR_MS = 16.0
MOST_BAR_MS = 50.0
_QUESTION = "What about point {0}, and how does it go together with what was said before?"
_ANSWER = """Point {0} is about *order*. There are some things to say:

- it comes after point {1},
- it has a `name` of its own.

```python
def point(number: int) -> int:
    return number + {0}
```
"""


class Painted(QObject):
    """A filter that ends a loop after a widget was painted."""

    def __init__(self, widget: QObject, loop: QEventLoop) -> None:
        super().__init__()
        self._loop = loop
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint:
            self._loop.quit()
        return False


def fill(chats: ChatStore, messages: int) -> str:
    """Make a chat with this many messages; return its id."""
    chat_id: str | None = None
    facts = AnswerFacts("starter", "scripted", completion_tokens=60, context=4096)
    for number in range(messages // 2):
        _, answer = chats.ask(chat_id, _QUESTION.format(number))
        chat_id = answer.chat_id
        text = _ANSWER.format(number, number - 1)
        chats.save_answer(replace(answer, text=text, state="complete", facts=facts))
    assert chat_id is not None
    return chat_id


def opening(window: MainWindow, chat_id: str) -> float:
    """Return the seconds until the newest message is painted."""
    loop = QEventLoop()
    window.open_chat(None)
    rest(loop, 0.3)
    began = time.perf_counter()
    window.open_chat(chat_id)
    last = window.page.transcript.last()
    assert last is not None
    painted = Painted(last.view.viewport(), loop)
    loop.exec()
    seconds = time.perf_counter() - began
    painted.deleteLater()
    rest(loop, 0.8)
    return seconds


def streaming(window: MainWindow, chat_id: str) -> tuple[Gaps, Gaps]:
    """Return the gaps of an idle event loop, and those while the answer is written."""
    generation = window.presenters.generation
    loop = QEventLoop()
    idle = Gaps()
    idle.on = True
    rest(loop, 3.0)
    idle.stop()
    window.open_chat(chat_id)
    rest(loop, 1.0)
    gaps = Gaps()
    ended: list[StoredMessage] = []
    generation.ended.connect(ended.append)
    generation.ended.connect(loop.quit)
    gaps.on = True
    window.page.ask("Go on.")
    loop.exec()
    rest(loop, 0.5)
    gaps.stop()
    print(f"{len(ended[0].text)} characters, {ended[0].state}")
    return idle, gaps


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--tokens", type=int, default=2000)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    engine = ScriptedEngine(Pieces("mixed", args.tokens, args.rate))
    vars(llamacpp)["LlamaCppEngine"] = lambda *_, **__: engine
    app = QApplication([])
    with tempfile.TemporaryDirectory() as place:
        folder = DataFolder(Path(place))
        hearth = open_app(folder)
        chat_id, small = fill(hearth.chats, args.messages), fill(hearth.chats, 40)
        presenters = WindowApp(hearth)
        Appearance(app).apply(presenters.settings.current)
        window = built_window(presenters, describe)
        window.show()
        loop = QEventLoop()
        rest(loop, 3.0)
        gc.freeze()  # like a start of Hearth
        opening(window, small)  # then everything that any chat needs is loaded
        before = psutil.Process().memory_info().rss
        first = opening(window, chat_id)
        grown = psutil.Process().memory_info().rss - before
        times = [first, *(opening(window, chat_id) for _ in range(args.rounds - 1))]
        idle, gaps = streaming(window, chat_id)
        window.close()
        presenters.tasks.close()
        hearth.close()
    opened, p99, most = median(times), gaps.percentile(0.99), gaps.percentile(1.0)
    print(
        f"opening {args.messages} messages: {1000 * opened:.0f} ms"
        f" ({1000 * min(times):.0f} to {1000 * max(times):.0f}), {grown / 1e6:.1f} MB"
    )
    print(
        f"gaps of an idle window: p99 {idle.percentile(0.99):.1f} ms,"
        f" most {idle.percentile(1.0):.1f} ms"
    )
    print(
        f"gaps at {args.rate:.0f} tokens/s: p50 {gaps.percentile(0.5):.1f} ms, p99 {p99:.1f} ms,"
        f" most {most:.1f} ms; most computing {1000 * max(gaps.computed):.1f} ms"
    )
    good = opened <= OPEN_BAR_S and grown <= MEMORY_BAR
    return 0 if good and p99 <= P99_BAR_MS and most <= MOST_BAR_MS else 1


if __name__ == "__main__":
    sys.exit(main())
