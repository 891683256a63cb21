"""Every page and state of the window that is looked at, and how one comes there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QItemSelectionModel
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QListWidget, QPlainTextEdit, QWidget

from app.core.settings import SECTIONS
from app.ui.assistants.scratch_window import ScratchWindow
from app.ui.desktop.quick_ask import QuickAsk
from app.ui.settings.settings_dialog import SettingsDialog
from engines.errors import ModelUnreadable
from tests.e2e.looks.contents import rich_chat
from tests.e2e.looks.house import House, rest, settle


@dataclass(frozen=True)
class Page:
    """show: goes there, and returns the window to look at.

    full: of a Hearth that has been used. empty: there is nothing yet, so it must say what to do.
    leave: goes back to where others begin.
    """

    name: str
    show: Callable[[House], QWidget]
    full: bool = True
    empty: bool = False
    leave: Callable[[House], object] = lambda house: None


def _chat(house: House) -> QWidget:
    house.window.open_chat(rich_chat(house.core))
    settle()
    view = house.window.page.transcript.last()
    assert view is not None
    view.tail.want(True)
    rest(150)
    return house.window


def _thoughts(house: House) -> QWidget:
    _chat(house)
    _click(house, "showReasoning")
    house.window.page.transcript.verticalScrollBar().setValue(0)
    return house.window


def _streaming(house: House) -> QWidget:
    house.hold.clear()
    house.window.open_chat(None)
    house.window.page.composer.set_text("What is a fair price for a used bicycle?")
    house.window.page.composer.submit()
    for _ in range(100):
        last = house.window.page.transcript.last()
        if last is not None and "first sentence" in last.view.toPlainText():
            break
        rest(20)
    return house.window


def _queue(house: House) -> QWidget:
    _streaming(house)
    for text in ("And with new tyres?", "Compare it with one that is new, in a small table, please."):
        house.window.page.composer.set_text(text)
        house.window.page.composer.submit()
        settle()
    house.until("queueStrip")
    return house.window


def _let_go(house: House) -> None:
    """Let the answers come to their end, and put the chat away."""
    house.hold.set()
    page = house.window.page
    for _ in range(200):
        rest(20)
        if page.chat_id is None or not (
            house.services.generation.is_answering(page.chat_id) or house.has("queueStrip")
        ):
            break
    if page.chat_id is not None:
        house.services.chats.delete(page.chat_id)
        house.services.chats.delete_for_good(page.chat_id)
    house.window.open_chat(None)


def _edit(house: House) -> QWidget:
    _chat(house)
    house.do("edit_message")
    house.until("inlineEdit")
    return house.window


def _find(house: House) -> QWidget:
    _chat(house)
    house.do("find")
    _write(house, "findWords", "mean")
    rest(200)
    return house.window


def _card(command: str, name: str) -> Callable[[House], QWidget]:
    """What floats over the chat after a command."""

    def show(house: House) -> QWidget:
        _chat(house)
        house.do(command)
        house.until(name)
        return house.part(QWidget, name).window()

    return show


def _context(house: House) -> QWidget:
    _chat(house)
    for _ in range(100):
        if house.window.page.context.use is not None:
            break
        rest(20)
    house.window.page.context.toggle_card()
    house.until("contextCard")
    return house.part(QWidget, "contextCard").window()


def _failed(house: House) -> QWidget:
    chat = next(it for it in house.core.chats.chats() if it.title.startswith("Why is the sky"))
    house.window.open_chat(chat.id)
    return house.window


def _search(words: str) -> Callable[[House], QWidget]:
    def show(house: House) -> QWidget:
        _chat(house)
        house.window.focus_search()
        house.window.sidebar.search.setText(words)
        rest(400)
        return house.window

    return show


def _bulk(house: House) -> QWidget:
    _chat(house)
    rows = house.window.sidebar.chats
    select = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    rows.clearSelection()
    chats = [at for at in range(rows.chats.rowCount()) if rows.chats.chat_at(at)]
    for at in chats[:3]:
        rows.selectionModel().select(rows.chats.index(at, 0), select)
    settle()
    return house.window


def _place(command: str) -> Callable[[House], QWidget]:
    def show(house: House) -> QWidget:
        house.do(command)
        return house.window

    return show


def _chats_again(house: House) -> None:
    house.window.sidebar.search.clear()
    house.window.sidebar.chats.let_go()
    house.window.sidebar.go_to("chats")
    rest(200)


def _models(part: str, until: str = "") -> Callable[[House], QWidget]:
    def show(house: House) -> QWidget:
        house.window.go_to_models(part)  # type: ignore[arg-type]
        settle()
        if until:
            house.until(until)
        rest(200)
        return house.window

    return show


def _details(house: House) -> QWidget:
    _models("here")(house)
    house.window.models.here.open(house.core.library.entries()[0].id)
    house.until("ownSettings")
    rest(300)
    return house.window


def _results(house: House) -> QWidget:
    _models("discover")(house)
    _write(house, "hubWords", "model")
    _click(house, "hubSearchButton")
    house.until("result-ada/Model-8B-Instruct-GGUF")
    return house.window


def _repository(house: House) -> QWidget:
    _results(house)
    _click(house, "result-ada/Model-8B-Instruct-GGUF")
    house.until("choicePanel")
    rest(200)
    return house.window


def _nothing_found(house: House) -> QWidget:
    _models("discover")(house)
    _write(house, "hubWords", "nobody knows this")
    _click(house, "hubSearchButton")
    house.until("nothingFound")
    return house.window


def _pressed(command: str, button: str, until: str) -> Callable[[House], QWidget]:
    """A page by its command, and what a button on it opens."""

    def show(house: House) -> QWidget:
        house.do(command)
        _click(house, button)
        house.until(until)
        return house.window

    return show


def _settings(section: str) -> Callable[[House], QWidget]:
    def show(house: House) -> QWidget:
        house.do("show_settings")
        dialog = house.part(SettingsDialog)
        house.part(QListWidget, "sections").setCurrentRow(SECTIONS.index(section))  # type: ignore[arg-type]
        settle()
        return dialog

    return show


def _dialog(command: str, name: str) -> Callable[[House], QWidget]:
    def show(house: House) -> QWidget:
        house.do(command)
        return house.part(QWidget, name)

    return show


def _scratch(house: House) -> QWidget:
    house.do("scratch_chat")
    return house.part(ScratchWindow)


def _quick(house: House) -> QWidget:
    house.do("quick_ask")
    quick = house.part(QuickAsk)
    quick.edit.setPlainText("How many litres does a bath take?")
    _click(house, "quickSend")
    house.until("quickAnswer")
    rest(300)
    return quick


def _chat_settings(house: House) -> QWidget:
    _chat(house)
    house.do("chat_settings")
    return house.window


def _slash(house: House) -> QWidget:
    house.window.open_chat(None)
    house.do("focus_composer")
    house.do("insert_prompt")
    settle()
    return house.window


def _toasts(house: House) -> QWidget:
    _chat(house)
    notifier = house.window.notifier
    notifier.offer_undo("“Packing list” was deleted.", lambda: None)
    notifier.error(
        ModelUnreadable(
            "The model could not be loaded.",
            "The file ends before its last tensor: the download was cut off.",
            "Download it again, or choose another model.",
        )
    )
    return house.window


def _bug(house: House) -> QWidget:
    house.window.notifier.error(ZeroDivisionError("division by zero"))
    return house.part(QWidget, "messageDialog")


def _question(house: House) -> QWidget:
    house.window.notifier.ask_to_open("https://docs.example.org/statistics")
    return house.part(QWidget, "messageDialog")


def _new(house: House) -> QWidget:
    house.window.open_chat(None)
    rest(200)
    return house.window


def _first(house: House) -> QWidget:
    house.window.open_chat(None)
    house.until("offer-default")
    return house.window


def _write(house: House, name: str, text: str) -> None:
    field = house.part(QWidget, name)
    assert isinstance(field, QLineEdit | QPlainTextEdit)
    field.clear()
    if isinstance(field, QLineEdit):
        field.setText(text)
    else:
        field.setPlainText(text)


def _click(house: House, name: str) -> None:
    house.part(QAbstractButton, name).click()
    settle()


def _no_panel(house: House) -> None:
    house.window.assisting.panel.hide()


PAGES: Final = (
    Page("welcome", _first, full=False, empty=True),
    Page("here-empty", _models("here"), full=False, empty=True),
    Page("offers", _models("discover", "offer-default"), full=False, empty=True),
    Page("nothing-found", _nothing_found, full=False, empty=True),
    Page("downloads-empty", _models("downloads", "noDownloads"), full=False, empty=True),
    Page("connections-empty", _place("show_connections"), full=False, empty=True),
    Page("assistants-empty", _place("show_assistants"), full=False, empty=True),
    Page("prompts-empty", _place("show_prompts"), full=False, empty=True),
    Page("archive-empty", _place("show_archive"), full=False, empty=True, leave=_chats_again),
    Page("trash-empty", _place("show_trash"), full=False, empty=True, leave=_chats_again),
    Page("new-chat", _new),
    Page("chat", _chat),
    Page("thoughts", _thoughts),
    Page("streaming", _streaming, leave=_let_go),
    Page("queue", _queue, leave=_let_go),
    Page("edit", _edit, leave=lambda house: _click(house, "inlineEditCancel")),
    Page("find", _find, leave=lambda house: house.window.page.finding.close()),
    Page("facts", _card("answer_facts", "factsCard")),
    Page("branches", _card("show_branches", "treeDialog")),
    Page("context", _context, leave=lambda house: house.window.page.context.toggle_card()),
    Page("failed", _failed),
    Page("search", _search("running total"), leave=_chats_again),
    Page("search-none", _search("zebra crossing"), leave=_chats_again),
    Page("bulk", _bulk, leave=_chats_again),
    Page("archive", _place("show_archive"), leave=_chats_again),
    Page("trash", _place("show_trash"), leave=_chats_again),
    Page("here", _models("here", "diskUse")),
    Page("details", _details, leave=lambda house: house.window.models.here.go_back()),
    Page("results", _results),
    Page("repository", _repository, leave=lambda house: _click(house, "backToResults")),
    Page("downloads", _models("downloads")),
    Page("connections", _place("show_connections")),
    Page("assistants", _place("show_assistants")),
    Page(
        "assistant-form",
        _pressed("show_assistants", "newAssistant", "assistantName"),
        leave=lambda house: _click(house, "leaveAssistant"),
    ),
    Page("prompts", _place("show_prompts")),
    Page(
        "prompt-form",
        _pressed("show_prompts", "newAssistant", "promptName"),
        leave=lambda house: _click(house, "leavePrompt"),
    ),
    Page("slash", _slash),
    Page("chat-settings", _chat_settings, leave=_no_panel),
    Page("scratch", _scratch),
    *(Page(f"settings-{section.lower()}", _settings(section)) for section in SECTIONS),
    Page("shortcuts", _dialog("show_shortcuts", "shortcutsDialog")),
    Page("palette", _dialog("show_palette", "palette")),
    Page("quick-ask", _quick),
    Page("toasts", _toasts),
    Page("bug", _bug),
    Page("question", _question),
)
