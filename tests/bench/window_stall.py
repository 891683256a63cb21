"""The pauses of the window's event loop while an answer streams at full speed.

    python tests/bench/window_stall.py [--engine real|scripted] [--tokens 4000]
                                       [--text mixed|code|list] [--rate 1500]

A timer is due every 5 ms; a gap is its delay. `real` is the starter model, asked again and again
until it has written that many tokens; `scripted` writes one long markdown text at --rate tokens per
second. Run it under a display or with QT_QPA_PLATFORM=offscreen.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtWidgets import QApplication

from app.base.folder import DataFolder
from app.base.reports import describe
from app.chats.history.values.conversation import StoredMessage
from app.chats.pages.chat_page import ChatPage
from app.settings.pages.appearance import Appearance
from app.window.pages.main_window import MainWindow
from app.wiring.app import open_app
from app.wiring.window import WindowApp
from engines.llamacpp import engine as llamacpp
from tests.support.scripted import ScriptedEngine
from tests.support.windows import built_window

_TICK_S = 0.005

_MIXED = """## A section

Some *plain* text with `code` and a [link](https://example.com) that goes on for a while.

- one point
- another point, **bold**

| a | b |
|---|---|
| 1 | 2 |

```python
def answer(question: str) -> str:
    return question.upper()  # loud
```

> A quotation.

"""
_TEXTS = {
    "mixed": _MIXED,
    "code": "    value = compute(first, second)  # a line of code\n",
    "list": "- a point of a list that does not end\n",
}


class Pieces(Sequence[str]):
    """A text in pieces of four characters, about the size of tokens, at a steady rate."""

    def __init__(self, kind: str, tokens: int, rate: float) -> None:
        start = "```python\n" if kind == "code" else ""
        text = start + _TEXTS[kind] * (4 * tokens // len(_TEXTS[kind]) + 1)
        self._pieces = [text[place : place + 4] for place in range(0, 4 * tokens, 4)]
        self._rate = rate

    def __len__(self) -> int:
        return len(self._pieces)

    def __getitem__(self, index: Any) -> Any:
        return self._pieces[index]

    def __iter__(self) -> Iterator[str]:
        began = time.perf_counter()
        for number, piece in enumerate(self._pieces):
            time.sleep(max(0.0, began + number / self._rate - time.perf_counter()))
            yield piece


class Gaps:
    """A recorder of each tick's delay, and of this thread's processor time before it, while on.

    On a busy computer a long gap with little processor time is caused by other programs.
    """

    def __init__(self) -> None:
        self.seen: list[float] = []
        self.computed: list[float] = []
        self.on = False
        self._last = time.perf_counter()
        self._computed = time.thread_time()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start(round(_TICK_S * 1000))

    def _tick(self) -> None:
        now, computed = time.perf_counter(), time.thread_time()
        if self.on:
            self.seen.append(max(0.0, now - self._last - _TICK_S))
            self.computed.append(computed - self._computed)
        self._last, self._computed = now, computed

    def stop(self) -> None:
        self.on = False
        self._timer.stop()

    def percentile(self, share: float) -> float:
        """Return a percentile in milliseconds."""
        ordered = sorted(self.seen)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", choices=["real", "scripted"], default="real")
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--text", choices=sorted(_TEXTS), default="mixed")
    parser.add_argument("--rate", type=float, default=1500)
    args = parser.parse_args()
    if args.engine == "scripted":
        engine = ScriptedEngine(Pieces(args.text, args.tokens, args.rate))
        vars(llamacpp)["LlamaCppEngine"] = lambda *_, **__: engine
    app = QApplication([])
    with tempfile.TemporaryDirectory() as folder:
        hearth = open_app(DataFolder(Path(folder)))
        presenters = WindowApp(hearth)
        appearance = Appearance(app)
        appearance.apply(presenters.settings.current)
        window = built_window(presenters, describe)
        window.show()
        measure(window, presenters, args.tokens)
        window.close()
        presenters.tasks.close()
        hearth.close()


def measure(window: MainWindow, presenters: WindowApp, tokens: int) -> None:
    """Ask in one chat until that many tokens have been answered."""
    generation = presenters.generation
    page = window.findChild(ChatPage)
    assert page is not None
    gaps = Gaps()
    loop = QEventLoop()
    ended: list[StoredMessage] = []
    generation.ended.connect(ended.append)
    generation.ended.connect(loop.quit)
    questions = itertools.cycle(["What can you do?", "Where are my chats kept?", "What is MTP?"])
    rest(loop, 0.5)
    began = time.perf_counter()
    gaps.on = True
    while sum(tokens_of(answer) for answer in ended) < tokens:
        page.ask(next(questions))
        loop.exec()
    seconds = time.perf_counter() - began
    rest(loop, 0.3)
    written = sum(tokens_of(answer) for answer in ended)
    print(f"{written} tokens in {seconds:.1f} s, {written / seconds:.0f} tokens/s")
    print(
        f"event loop gaps: p50 {gaps.percentile(0.5):.1f} ms, p99 {gaps.percentile(0.99):.1f} ms, "
        f"max {gaps.percentile(1.0):.1f} ms"
    )
    print(f"longest computing between two ticks: {1000 * max(gaps.computed):.1f} ms")


def tokens_of(answer: StoredMessage) -> int:
    assert answer.facts is not None, answer
    return answer.facts.completion_tokens


def rest(loop: QEventLoop, seconds: float) -> None:
    QTimer.singleShot(round(1000 * seconds), loop.quit)
    loop.exec()


if __name__ == "__main__":
    main()
