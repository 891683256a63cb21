"""An hour of use, played in a minute or two on the real guide: `python -m tests.e2e.looks.hour`.

Many messages are typed fast, with answers in the background, every export from both themes, the
wheel over every field, zoom in and out; after each, the window is compared with the database.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pypdf
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QListWidget,
    QWidget,
)

from app.exchange.values.export import ExportKind, ExportOptions
from app.settings.pages.settings_dialog import SettingsDialog
from tests.e2e.looks import rules
from tests.e2e.looks.house import House, come_to_rest, opened, rest, settle

MESSAGES = 50
ANSWER_TOKENS = 24
"""The tokens of an answer; short answers turn an hour into minutes."""
PATIENCE_MS = 240_000
KINDS: tuple[ExportKind, ...] = ("md", "html", "pdf", "json")
ZOOMS = (110, 150, 200, 150, 90, 100)


def play(app: QApplication, data: Path) -> list[str]:
    """Play the hour on a data folder; return the faults, in sentences."""
    with opened(app, data, full=False, real=True) as house:
        house.set(max_tokens=ANSWER_TOKENS)
        return [
            f"{part.__name__}: {complaint}"
            for part in (fifty_messages, two_at_once, exports, wheel, zoom)
            for complaint in (*part(house, data), *held_against_database(house, data))
        ]


def fifty_messages(house: House, data: Path) -> Iterator[str]:
    """Type messages as fast as keys come, most of them while an answer is being written."""
    house.window.open_chat(None)
    texts = [f"q{number}" for number in range(1, MESSAGES + 1)]
    for text in texts:
        type_message(house, text)
    until_answered(house)
    asked = [it.text for it in house.window.page.transcript.messages if it.role == "user"]
    if asked != texts:
        yield f"the path is {' '.join(asked)}"
    with closing(sqlite3.connect(data / "chats.db")) as database:
        (count,) = database.execute("SELECT count(*) FROM messages").fetchone()
    if count != 2 * MESSAGES:
        yield f"{count} messages are saved, not {2 * MESSAGES}"


def two_at_once(house: House, _data: Path) -> Iterator[str]:
    """Let an answer continue behind another chat, marked meanwhile and unread at its end."""
    house.window.open_chat(None)
    for text in ("What can you do?", *(f"and {number}?" for number in range(9))):
        type_message(house, text)
    wait(lambda: house.window.page.chat_id is not None, "the first chat is saved")
    behind = str(house.window.page.chat_id)
    house.window.open_chat(None)
    seen = {mark_of(house, behind)}
    type_message(house, "How do I get a bigger model?")

    def is_unread() -> bool:
        seen.add(mark_of(house, behind))
        return "unread" in seen

    wait(is_unread, "the first is unread")
    until_answered(house)
    if "writing" not in seen:
        yield f"nothing in the list said that an answer is being written: {sorted(seen)}"
    house.window.open_chat(behind)
    wait(lambda: not mark_of(house, behind), "the mark is gone once the chat is open")


def exports(house: House, data: Path) -> Iterator[str]:
    """Export every kind from both themes; the files have their own colours."""
    (chat_id, *_) = [chat.id for chat in house.hearth.chats.chats()]
    asked = house.presenters.chats.path(chat_id)[0].text
    written: dict[ExportKind, list[bytes]] = {kind: [] for kind in KINDS}
    for theme in ("light", "dark"):
        house.set(theme=theme)
        for kind in KINDS:
            target = data / f"export-{theme}.{kind}"
            done: list[Path] = []
            failed: list[Exception] = []
            house.presenters.exporting.to_file(
                [chat_id], target, ExportOptions(kind), done.append, failed.append
            )
            wait(lambda: bool(done or failed), f"{kind} is written")  # noqa: B023 - waited for
            if failed:
                yield f"{kind} from the {theme} theme failed: {failed[0]}"
                return
            said, drawn = read(target)
            if asked not in said:
                yield f"{kind} from the {theme} theme lacks {asked!r}"
            written[kind].append(drawn)
    for kind, (light, dark) in written.items():
        if light != dark:
            yield f"{kind} is not the same from both themes"


def wheel(house: House, _data: Path) -> Iterator[str]:
    """Turn the wheel over every field of every page of the settings, as while scrolling."""
    before = house.presenters.settings.current
    house.do("show_settings")
    dialog = house.part(SettingsDialog)
    sections = dialog.findChild(QListWidget, "sections")
    assert sections is not None
    turned = 0
    for row in range(sections.count()):
        sections.setCurrentRow(row)
        settle()
        for field in dialog.findChildren(QWidget):
            is_field = isinstance(field, QComboBox | QAbstractSpinBox | QAbstractSlider)
            if is_field and field.isVisible() and not field.hasFocus():
                turn_the_wheel(field)
                turned += 1
    if not turned:
        yield "there is no field to turn the wheel over"
    if house.presenters.settings.current != before:
        yield "the wheel has changed a setting"
    house.tidy()


def zoom(house: House, _data: Path) -> Iterator[str]:
    """Zoom in and out while a chat is shown: everything stays in its place."""
    chat_id = house.hearth.chats.chats()[0].id
    house.window.open_chat(chat_id)
    house.window.resize(1280, 800)
    house.set(theme="light", zoom=100)
    come_to_rest(house.window)
    before = places(house)
    for percent in ZOOMS:
        house.set(zoom=percent)
        come_to_rest(house.window)
        for complaint in rules.misplaced(rules.Shown.of(house.window)):
            yield f"at {percent} %: {complaint}"
    moved = [name for name, place in places(house).items() if before.get(name, place) != place]
    if moved:
        yield f"after the zoom other places: {', '.join(sorted(moved)[:8])}"


def held_against_database(house: House, data: Path) -> Iterator[str]:
    """Check that the list shows every chat of the database, and each chat only its path."""
    with closing(sqlite3.connect(data / "chats.db")) as database:
        database.row_factory = sqlite3.Row
        chats = database.execute("SELECT id, leaf_id, title FROM chats WHERE deleted IS NULL")
        saved = {row["id"]: row for row in chats}
        messages = {row["id"]: row for row in database.execute("SELECT * FROM messages")}
    rows = house.window.sidebar.chats.chats
    listed = {chat.id for row in range(rows.rowCount()) if (chat := rows.chat_at(row))}
    if listed != set(saved):
        yield f"{len(listed)} chats are listed, {len(saved)} saved"
    for chat_id, chat in saved.items():
        path = []
        at = chat["leaf_id"]
        while at is not None:
            path.append(messages[at])
            at = messages[at]["parent_id"]
        house.window.open_chat(chat_id)
        settle()
        shown = house.window.page.transcript.messages
        if [it.id for it in shown] != [it["id"] for it in reversed(path)]:
            yield f"“{chat['title']}” shows {len(shown)} messages, its path has {len(path)}"
        for message, row in zip(shown, reversed(path), strict=False):
            if (message.text, message.state) != (row["text"], row["state"]):
                yield f"“{message.text[:40]}” is saved as “{row['text'][:40]}”, {row['state']}"
        lost = [it for it in messages.values() if it["chat_id"] == chat_id and it not in path]
        if lost:
            yield f"{len(lost)} messages of “{chat['title']}” are on no path that is shown"


def read(file: Path) -> tuple[str, bytes]:
    """Return the words of an exported file, and everything in it except its date."""
    if file.suffix != ".pdf":
        return file.read_text("utf-8"), file.read_bytes()
    pages = pypdf.PdfReader(file).pages
    drawn = [contents.get_data() for page in pages if (contents := page.get_contents())]
    words = " ".join(word for page in pages for word in page.extract_text().split())
    return words, b"\n".join(drawn)


def type_message(house: House, text: str) -> None:
    edit = house.window.page.composer.edit
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)


def until_answered(house: House) -> None:
    page = house.window.page

    def is_done() -> bool:
        chat_id = page.chat_id
        return (
            chat_id is not None
            and not house.presenters.generation.is_answering(chat_id)
            and not house.has("queueStrip")
        )

    wait(is_done, "all is answered")
    house.until_calm()
    wait(is_done, "all is answered")


def wait(is_so: Callable[[], object], what: str) -> None:
    """Let the window live until a condition holds."""
    waited = 0
    while not is_so():
        assert waited < PATIENCE_MS, f"never came: {what}"
        rest(10)
        waited += 10


def mark_of(house: House, chat_id: str) -> str:
    """Return the list's mark for a chat."""
    rows = house.window.sidebar.chats.chats
    chats = (rows.chat_at(row) for row in range(rows.rowCount()))
    return next((str(it.mark) for it in chats if it and it.id == chat_id), "")


def turn_the_wheel(over: QWidget) -> None:
    middle = QPointF(over.rect().center())
    event = QWheelEvent(
        middle, over.mapToGlobal(middle), QPoint(), QPoint(0, -240), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(over, event)


def places(house: House) -> dict[str, tuple[int, int, int, int]]:
    """Return the places of the window's parts that have a name."""
    found = {}
    for widget in house.window.findChildren(QWidget):
        if widget.objectName() and widget.isVisible():
            corner = widget.mapTo(house.window, QPoint())
            place = (corner.x(), corner.y(), widget.width(), widget.height())
            found[widget.objectName()] = place
    return found


def main() -> int:
    app = QApplication([])
    with tempfile.TemporaryDirectory() as data:
        complaints = play(app, Path(data))
    print("\n".join(complaints) or "Nothing was wrong.")
    return min(1, len(complaints))


if __name__ == "__main__":
    sys.exit(main())
