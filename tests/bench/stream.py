"""The cost of streaming markdown beside inserting the same text as plain text.

    python tests/bench/stream.py [--tokens 4000] [--rate 200] [--text mixed|maths|code|list|table]
                                 [--rounds 5] [--each]

The text comes at --rate tokens a second, in the batches in which the app passes it to the window.
Plain text is inserted batch by batch, into the same kind of widget, in the same scrolled page, as
tall as its content. The markdown is drawn at the view's own pace, or with every batch (--each).
Time is computed, not waited for. Rounds alternate, so that a busy computer slows both. The time is
that of the window's thread, with layout and painting. The goal is a ratio of 2 or less. Formulas
are drawn only after the end, on another thread, and do not count. Run it with a display or with
QT_QPA_PLATFORM=offscreen.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QMainWindow,
    QScrollArea,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from app.kit.look.fonts import text_font
from app.kit.tasks.tasks import BATCH_MS
from app.kit.text.markdown_view import MarkdownView
from app.markdown.parser import Parser
from app.settings.pages.appearance import Appearance
from app.settings.values.fields import Settings

_BATCH_S = BATCH_MS / 1000
_SIZE = 15
_CHARACTERS = 4
"""The usual length of a token."""

_MIXED = """## A section

Some *plain* text with `code` and a [link](https://example.com) that goes on for a while, as the
paragraphs of an answer do, until it has said what it has to say about the matter.

- one point that is explained in some words
- another point, **bold**, and a bit more about it

| a | b |
|---|---|
| 1 | 2 |

```python
def answer(question: str) -> str:
    return question.upper()  # loud
```

> A quotation of what somebody said.

"""
_MATHS = """The sum $\\sum_{i=1}^n i$ is known to be as follows, where $n$ is any whole number:

$$
\\sum_{i=1}^n i = \\frac{n(n+1)}{2}
$$

"""
_TEXTS = {
    "mixed": _MIXED,
    "maths": _MATHS,
    "code": "    value = compute(first, second)  # a line of code\n",
    "list": "- a point of a list that does not end, in some words\n",
    "table": "| a cell | another cell | 3 |\n",
}
_STARTS = {"code": "```python\n", "table": "| one | two | three |\n|---|---|---|\n"}

Insert = Callable[[str], float]
"""Draws added text; returns the seconds until more is drawn."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--text", choices=sorted(_TEXTS), default="mixed")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    app = QApplication([])
    Appearance(app).apply(Settings())
    length = args.tokens * _CHARACTERS
    unit = _TEXTS[args.text]
    text = (_STARTS.get(args.text, "") + unit * (length // len(unit) + 1))[:length]
    rate = args.rate * _CHARACTERS
    makes = {"plain": plain, "markdown": each_batch if args.each else markdown}
    for make in makes.values():
        stream(make, text[: length // 8], rate)  # loads fonts and libraries
    taken: dict[str, list[tuple[float, int]]] = {name: [] for name in makes}
    for _ in range(args.rounds):
        for name, make in makes.items():
            taken[name].append(stream(make, text, rate))
    for name, runs in taken.items():
        seconds, count = median(run[0] for run in runs), median(run[1] for run in runs)
        print(f"{name:9} {seconds:.2f} s, {1000 * seconds / count:.2f} ms each of {count} updates")
    ratios = [
        one / other for (one, _), (other, _) in zip(taken["markdown"], taken["plain"], strict=True)
    ]
    print(f"ratio     {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


def stream(make: Callable[[QVBoxLayout], Insert], text: str, rate: float) -> tuple[float, int]:
    """Draw a text that arrives at a steady rate.

    Args:
        make: Makes the widget that draws.
        text: The text.
        rate: Characters a second.

    Returns:
        The seconds of this thread, and how often it was drawn.
    """
    area = QScrollArea()
    area.setWidgetResizable(True)
    page = QWidget()
    column = QVBoxLayout(page)
    column.setAlignment(Qt.AlignmentFlag.AlignTop)
    insert = make(column)
    area.setWidget(page)
    bar = area.verticalScrollBar()
    bar.rangeChanged.connect(lambda _lowest, highest: bar.setValue(highest))
    window = QMainWindow()
    window.setCentralWidget(area)
    window.resize(820, 800)
    window.show()
    QApplication.processEvents()
    began = time.thread_time()
    place, count, pause = 0, 0, _BATCH_S
    while place < len(text):
        end = place + max(1, round(rate * pause))
        pause = insert(text[place:end])
        QApplication.processEvents()
        place, count = end, count + 1
    taken = time.thread_time() - began
    window.close()
    window.deleteLater()
    QApplication.processEvents()
    return taken, count


def plain(column: QVBoxLayout) -> Insert:
    view = QTextBrowser()
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setFont(text_font(_SIZE))
    document = view.document()
    document.setUndoRedoEnabled(False)
    document.documentLayout().documentSizeChanged.connect(
        lambda size: view.setFixedHeight(math.ceil(size.height()))
    )
    column.addWidget(view)

    def insert(text: str) -> float:
        cursor = QTextCursor(document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(text)
        return _BATCH_S

    return insert


def markdown(column: QVBoxLayout) -> Insert:
    view = MarkdownView(Parser(), _SIZE)
    column.addWidget(view)
    view.begin()

    def insert(text: str) -> float:
        view.append(text)
        view.draw()
        return max(_BATCH_S, view.pace.interval)

    return insert


def each_batch(column: QVBoxLayout) -> Insert:
    insert = markdown(column)

    def at_once(text: str) -> float:
        insert(text)
        return _BATCH_S

    return at_once


if __name__ == "__main__":
    main()
