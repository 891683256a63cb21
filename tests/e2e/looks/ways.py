"""Ways to the pages and states of the window that are checked, and back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QItemSelectionModel, QPoint, Qt
from PySide6.QtGui import QAction, QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QLineEdit,
    QListWidget,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QTableView,
    QWidget,
)

from app.api.pages.api_card import ApiCard
from app.api.pages.client_dialog import ClientDialog
from app.api.values import ApiClient, ApiUse
from app.base.errors import AddressNotFree
from app.chats.sidebar.pages.chat_model import ROW
from app.documents.collections.pages.documents_page import DocumentsPage
from app.help.pages.licence_list import LicenceDialog
from app.models.discover.pages.catalogue_area import CatalogueArea
from app.models.discover.pages.token_question import TokenQuestion
from app.models.library.values.entry import STARTER
from app.net.values.serving import ServerStatus
from app.runtime.values.installation import Check, Price
from app.servers.pages.key_dialog import ask_for_key
from app.settings.pages.settings_dialog import SettingsDialog
from app.settings.values.declared import SECTIONS, Section
from app.settings.values.fields import Settings
from app.window.desktop.pages.quick_ask import QuickAsk
from app.window.scratch.pages.scratch_window import ScratchWindow
from engines.errors import ModelUnreadable
from engines.sentences import N_
from engines.vllm.provision.preflight import Finding
from tests.e2e.looks.contents import (
    FILES_ASKED,
    FOLDER,
    NOTES,
    PASTED,
    PHOTO,
    REPORT,
    cited_chat,
    rich_chat,
)
from tests.e2e.looks.house import House, rest, settle
from tests.support.made_activity import note_requests
from tests.support.made_documents import pdf
from tests.support.windows import engines_page, models_page

FINDINGS = (
    Finding(True, "Linux on x86_64", "", "", "system"),
    Finding(
        False,
        "The disk has 12 GB free.",
        "vLLM takes 24 GB while it is made.",
        "Free 12 GB, or move Hearth’s data folder to another disk.",
        "disk",
    ),
)
PRICE = Price(4_200_000_000, 14_200_000_000, 10_000_000_000, 19)
OPEN_SERVER = ServerStatus(
    "http://127.0.0.1:8117", ("http://192.168.1.20:8117", "http://10.0.0.20:8117"), exposed=True
)
PORT_TAKEN = AddressNotFree(
    "The server was not started.",
    N_("Another program already listens at port {port}.", port=8117),
    "Choose another port, or end that program.",
)
CLIENTS = (
    ApiClient("1", "ada", ""),
    ApiClient("2", "ada bea guide near team", "", (STARTER,), 30, 2),
)
USES = tuple(
    ApiUse(
        1_790_000_000.0, 2.5, name, "192.168.1.20", 8117, "POST", "/v1/chat/completions", model,
        *tokens, 9_000, 800, status,
    )
    for name, model, tokens, status in (
        ("ada", "gemma", (21_000, 200), 200),
        ("", "", (0, 0), 401),
    )
)  # fmt: skip
SEARCHED = "memory"
"""A word to search for in the guides."""


def chat(house: House) -> QWidget:
    house.window.open_chat(rich_chat(house.hearth))
    settle()
    view = house.window.page.transcript.last()
    assert view is not None
    view.footer.set_active(True)
    house.until_calm()
    return house.window


def cited(house: House) -> QWidget:
    """Show an answer about a file, with marks on its quotes and on the sentences without one."""
    house.window.open_chat(cited_chat(house.hearth))
    house.until("citationLine")
    marks = house.part(QAbstractButton, "showUncited")
    if not marks.isChecked():
        marks.click()
    house.until_calm()
    return house.window


def quotes(house: House) -> QWidget:
    cited(house)
    click(house, "showQuotes")
    house.until("citationCard")
    return house.part(QWidget, "citationCard").window()


def quoted_page(*, text: bool) -> Callable[[House], QWidget]:
    """Return a function that shows the page of a quote, as a picture or as text."""

    def show(house: House) -> QWidget:
        cited(house)
        last = house.window.page.transcript.last()
        assert last is not None
        last.view.quote.emit(1)
        viewer = house.window.page.viewer
        viewer.resize(house.window.size())
        house.until_calm()
        if text != house.part(QAbstractButton, "viewerText").isChecked():
            click(house, "viewerText")
        house.until_calm()
        return viewer

    return show


def thoughts(house: House) -> QWidget:
    chat(house)
    click(house, "showReasoning")
    house.window.page.transcript.verticalScrollBar().setValue(0)
    return house.window


def streaming(house: House) -> QWidget:
    house.hold.clear()
    house.window.open_chat(None)
    house.window.page.composer.set_text("What is a fair price for a used bicycle?")
    house.window.page.composer.submit()
    for _ in range(1_500):
        last = house.window.page.transcript.last()
        if last is not None and "first sentence" in last.view.toPlainText():
            break
        rest(20)
    return house.window


def queue(house: House) -> QWidget:
    streaming(house)
    for text in (
        "And with new tyres?",
        "Compare it with one that is new, in a small table, please.",
    ):
        house.window.page.composer.set_text(text)
        house.window.page.composer.submit()
        settle()
    house.until("queueStrip")
    return house.window


def clear_selection(house: House) -> None:
    """Let the answers finish, and delete the chat."""
    house.hold.set()
    page = house.window.page
    for _ in range(1_500):
        rest(20)
        if page.chat_id is None or not (
            house.presenters.generation.is_answering(page.chat_id) or house.has("queueStrip")
        ):
            break
    if page.chat_id is not None:
        house.presenters.chats.delete(page.chat_id)
        house.presenters.chats.delete_for_good(page.chat_id)
    house.window.open_chat(None)


def edit(house: House) -> QWidget:
    chat(house)
    house.do("edit_message")
    house.until("inlineEdit")
    return house.window


def find(house: House) -> QWidget:
    chat(house)
    house.do("find")
    write(house, "findWords", "mean")
    house.until_calm()
    return house.window


def card(command: str, name: str) -> Callable[[House], QWidget]:
    """Return a function that runs a command and shows its card over the chat."""

    def show(house: House) -> QWidget:
        chat(house)
        house.do(command)
        house.until(name)
        return house.part(QWidget, name).window()

    return show


def answer_menu(act: str, name: str) -> Callable[[House], QWidget]:
    """Return a function that shows a menu of the last answer."""

    def show(house: House) -> QWidget:
        chat(house)
        page = house.window.page
        page.answers.act(act, page.transcript.messages[-1])
        house.until(name)
        return house.part(QMenu, name)

    return show


def chat_menu(house: House) -> QWidget:
    """Show the menu of a chat in the list."""
    chat(house)
    rows = house.window.sidebar.chats
    at = next(it for it in range(rows.chats.rowCount()) if rows.chats.chat_at(it))
    rows.menu.emit(rows.chats.index(at, 0).data(ROW), QPoint(20, 200))
    house.until("rowMenu")
    return house.part(QMenu, "rowMenu")


def place_menu(house: House) -> QWidget:
    chat(house)
    house.window.set_sidebar(True)
    click(house, "place")
    house.until("placeMenu")
    return house.part(QMenu, "placeMenu")


def pages_menu(house: House) -> QWidget:
    """The menu of the pages without a button of their own."""
    chat(house)
    house.window.set_sidebar(True)
    click(house, "morePages")
    house.until("pagesMenu")
    return house.part(QMenu, "pagesMenu")


def picker(house: House) -> QWidget:
    """Show the list of models under the button with the model's name."""
    chat(house)
    click(house, "modelMenu")
    house.until("modelPicker")
    house.until_calm()
    return house.part(QWidget, "modelPicker")


def mtp_card(house: House) -> QWidget:
    menu = options(house)
    action = menu.findChild(QAction, "openMtp")
    assert action is not None
    action.trigger()
    menu.close()
    house.until("mtpCard")
    return house.part(QWidget, "mtpCard").window()


def other_model(house: House) -> QWidget:
    """Show the list of models for another answer."""
    menu = answer_menu("again_menu", "againChoices")(house)
    action = menu.findChild(QAction, "againModel")
    assert action is not None
    action.trigger()
    menu.close()
    house.until("modelPicker")
    house.until_calm()
    return house.part(QWidget, "modelPicker")


def options(house: House) -> QWidget:
    """Show the menu of the options that have no room beside the message."""
    chat(house)
    click(house, "moreForMessage")
    house.until("messageOptions")
    return house.part(QMenu, "messageOptions")


def again(house: House) -> QWidget:
    """Show the dialog for another answer in another way."""
    menu = answer_menu("again_menu", "againChoices")(house)
    assert isinstance(menu, QMenu)
    menu.actions()[-1].trigger()
    menu.close()
    house.until("againDialog")
    return house.part(QWidget, "againDialog")


def export(house: House) -> QWidget:
    house.window.exporter.ask([rich_chat(house.hearth)])
    house.until("exportDialog")
    return house.part(QWidget, "exportDialog")


def importing(house: House) -> QWidget:
    house.window.importer.ask()
    house.until("importDialog")
    return house.part(QWidget, "importDialog")


def token(house: House) -> QWidget:
    """Show the question for a token of the Hub."""
    models("discover")(house)
    question = models_page(house.window).discover.findChild(TokenQuestion)
    assert question is not None
    question.ask()
    house.until("tokenDialog")
    return house.part(QWidget, "tokenDialog")


def context(house: House) -> QWidget:
    chat(house)
    for _ in range(1_500):
        if house.window.page.context.use is not None:
            break
        rest(20)
    house.window.page.context.toggle_card()
    house.until("contextCard")
    return house.part(QWidget, "contextCard").window()


def attached(house: House) -> QWidget:
    """Show a new message with a long file, a short one, a pasted text and an unreadable file."""
    house.window.open_chat(None)
    composer = house.window.page.composer
    composer.set_text(FILES_ASKED)
    composer.attached.add(PASTED)
    _attach(house, REPORT, NOTES, "a.bin")
    house.until("refusedFiles")
    return house.window


def attached_context(house: House) -> QWidget:
    """Show the context card while long files are attached to the message."""
    house.window.open_chat(None)
    _attach(house, REPORT, NOTES)
    house.window.page.context.toggle_card()
    house.until("contextFile1")
    return house.part(QWidget, "contextCard").window()


def hindered(house: House) -> QWidget:
    """Show a picture at a message to a model that does not see."""
    house.window.open_chat(None)
    house.window.page.composer.set_text("Which oven is this?")
    _attach(house, PHOTO)
    house.until("hindranceLine")
    return house.window


def recording(house: House) -> QWidget:
    """Show a message while the microphone is on."""
    house.window.open_chat(None)
    house.window.page.composer.show_microphone(True)
    house.presenters.chat_page.recording.going.emit(72.0)
    house.until("recordingLine")
    return house.window


def recorded(house: House) -> None:
    """Switch the microphone off again."""
    house.presenters.chat_page.recording.going.emit(None)
    settle()


def sent_files(house: House) -> QWidget:
    """Show a question with files, of which the answer got parts."""
    house.window.open_chat(None)
    composer = house.window.page.composer
    composer.set_text(FILES_ASKED)
    _attach(house, REPORT, NOTES)
    composer.submit()
    house.until("sentFiles")
    house.until_calm()
    return house.window


def nothing_attached(house: House) -> None:
    """Remove the files from the message, and close the card."""
    page = house.window.page
    if house.has("contextCard"):
        page.context.toggle_card()
    files = house.presenters.chat_page.files
    for file in files.of(page.chat_id):
        files.remove(page.chat_id, file.id)
    page.composer.set_text("")
    house.until_calm()


def _attach(house: House, *names: str) -> None:
    """Attach made files by their names, and wait until everything about them is known."""
    folder = house.hearth.folder.root / "made"
    folder.mkdir(exist_ok=True)
    for name in names:
        path = folder / name
        if path.exists():
            continue
        if name.endswith(".pdf"):
            line = "The bakery sold bread, rolls and cake, and none of it was left in the evening."
            pdf(path, [[f"Page {number}", *[line] * 40] for number in range(1, 41)])
        elif name.endswith(".png"):
            image = QImage(640, 400, QImage.Format.Format_RGB32)
            image.fill(Qt.GlobalColor.darkCyan)
            image.save(str(path))
        elif name.endswith(".bin"):
            path.write_bytes(b"\0\xff" * 50)
        else:
            path.write_text("# Notes\n\nThe oven takes 250 degrees.\n")
    house.window.page.files.add([folder / name for name in names])
    house.until_calm()


def ended(title: str) -> Callable[[House], QWidget]:
    """Return a function that shows the chat with this title, whose last answer ended badly."""

    def show(house: House) -> QWidget:
        chat = next(it for it in house.hearth.chats.chats() if it.title == title)
        house.window.open_chat(chat.id)
        return house.window

    return show


def search(words: str) -> Callable[[House], QWidget]:
    def show(house: House) -> QWidget:
        chat(house)
        house.window.focus_search()
        house.window.sidebar.search.setText(words)
        house.until_calm()
        return house.window

    return show


def bulk(house: House) -> QWidget:
    chat(house)
    rows = house.window.sidebar.chats
    select = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    rows.clearSelection()
    chats = [at for at in range(rows.chats.rowCount()) if rows.chats.chat_at(at)]
    for at in chats[:3]:
        rows.selectionModel().select(rows.chats.index(at, 0), select)
    settle()
    return house.window


def place(command: str, until: str = "") -> Callable[[House], QWidget]:
    def show(house: House) -> QWidget:
        house.do(command)
        if until:
            house.until(until)
        return house.window

    return show


def chats_again(house: House) -> None:
    house.window.sidebar.search.clear()
    house.window.sidebar.chats.clear_selection()
    house.window.sidebar.go_to("chats")
    house.until_calm()


def guides_searched(words: str) -> Callable[[House], QWidget]:
    def show(house: House) -> QWidget:
        house.do("show_help")
        write(house, "searchGuides", words)
        house.until_calm()
        return house.window

    return show


def guide(topic: str) -> Callable[[House], QWidget]:
    def show(house: House) -> QWidget:
        no_guide(house)
        click(house, f"guide-{topic}")
        house.until("guideText")
        return house.window

    return show


def no_guide(house: House) -> None:
    """Go back to the list of all guides."""
    house.do("show_help")
    write(house, "searchGuides", "")
    if house.has("allGuides"):
        click(house, "allGuides")
    house.until("guide-first-steps")


def models(part: str, until: str = "") -> Callable[[House], QWidget]:
    def show(house: House) -> QWidget:
        house.window.go_to("models", part)
        settle()
        if until:
            house.until(until)
        house.until_calm()
        return house.window

    return show


def catalogue(house: House) -> QWidget:
    """Show all cards of the catalogue, scrolled to its head."""
    window = models("discover", "catalogue")(house)
    area = house.part(CatalogueArea)
    if house.has("listedAll"):
        click(house, "listedAll")
    settle()
    home = models_page(house.window).discover.home
    bar = home.verticalScrollBar()
    bar.setValue(bar.value() + area.mapTo(home, QPoint()).y())
    return window


def details(house: House) -> QWidget:
    models("here")(house)
    models_page(house.window).local_models.open(house.hearth.library.entries()[0].id)
    house.until("ownSettings")
    house.until_calm()
    return house.window


def metadata(house: House) -> QWidget:
    """Show the dialog of a model that the user has added."""
    models("here")(house)
    own = next(it for it in house.hearth.library.entries() if not it.builtin)
    models_page(house.window).local_models.open(own.id)
    house.until("editMetadata")
    click(house, "editMetadata")
    house.until("metadataDialog")
    house.until_calm()
    return house.part(QWidget, "metadataDialog")


def results(house: House) -> QWidget:
    models("discover")(house)
    write(house, "hubWords", "model")
    click(house, "hubSearchButton")
    house.until("result-ada/Model-8B-Instruct-GGUF")
    return house.window


def repository(house: House) -> QWidget:
    results(house)
    click(house, "result-ada/Model-8B-Instruct-GGUF")
    house.until("choicePanel")
    house.until_calm()
    return house.window


def nothing_found(house: House) -> QWidget:
    models("discover")(house)
    write(house, "hubWords", "nobody knows this")
    click(house, "hubSearchButton")
    house.until("nothingFound")
    return house.window


def documents(house: House) -> QWidget:
    """Show the list of collections, and how they are searched."""
    house.do("show_documents")
    house.until("searchKind")
    house.until_calm()
    return house.window


def all_documents(house: House) -> None:
    if house.has("collectionPage"):
        click(house, "allCollections")


def collection(part: str = "all", row: int | None = None) -> Callable[[House], QWidget]:
    """Return a function that shows the collection that is read.

    Args:
        part: The files to list.
        row: The row of the file to select.
    """

    def show(house: House) -> QWidget:
        all_documents(house)
        documents(house)
        read = next(it for it in house.presenters.collections.states if it.files)
        click(house, f"open-{read.collection.id}")
        house.until_calm()
        if part != "all":
            click(house, f"filesPart-{part}")
        if row is not None:
            house.part(QTableView, "documentFiles").selectRow(row)
        settle()
        return house.window

    return show


def passages(house: House) -> QWidget:
    """Show the hits of a search in a collection."""
    collection()(house)
    write(house, "searchCollection", "When does the lease end?")
    house.until("passage1")
    house.until_calm()
    return house.window


def passage(house: House) -> QWidget:
    passages(house)
    click(house, "openPassage1")
    house.until("fileViewer")
    house.until_calm()
    return house.part(QWidget, "fileViewer")


def collection_menu(house: House) -> QWidget:
    collection()(house)
    click(house, "moreOfCollection")
    house.until("collectionMenu")
    return house.part(QMenu, "collectionMenu")


def collection_name(house: House) -> QWidget:
    menu = collection_menu(house)
    action = menu.findChild(QAction, "collection-rename")
    assert action is not None
    action.trigger()
    menu.close()
    house.until("renameCollection")
    return house.part(QWidget, "renameCollection")


def collection_dialog(house: House) -> QWidget:
    """Show the dialog for a new collection with more files than it lists."""
    documents(house)
    page = house.window.page_named("documents")
    assert isinstance(page, DocumentsPage)
    page.make([Path(f"~/Documents/{FOLDER} {it}") for it in range(1, 12)])
    house.until("collectionDialog")
    return house.part(QWidget, "collectionDialog")


def chat_documents(house: House) -> QWidget:
    """Show a new chat about a collection."""
    documents(house)
    read = next(it for it in house.presenters.collections.states if it.files)
    click(house, f"chatAbout-{read.collection.id}")
    settle()
    return house.window


def chat_documents_menu(house: House) -> QWidget:
    chat_documents(house)
    house.do("chat_documents")
    house.until("collectionChoices")
    return house.part(QMenu, "collectionChoices")


def no_documents(house: House) -> None:
    house.window.open_chat(None)


def pressed(command: str, button: str, until: str) -> Callable[[House], QWidget]:
    """Return a function that shows a page and presses a button on it."""

    def show(house: House) -> QWidget:
        house.do(command)
        click(house, button)
        house.until(until)
        return house.window

    return show


def settings(section: Section, *, every: bool = True) -> Callable[[House], QWidget]:
    """Show a section of the settings, with all options or with those that come first."""

    def show(house: House) -> QWidget:
        dialog = _section(house, SECTIONS.index(section))
        house.part(QPushButton, "allOptions").setChecked(every)
        house.until_calm()  # wait for the check of this computer
        house.presenters.system.vllm_checked.emit(True)
        settle()
        return dialog

    return show


def _section(house: House, number: int) -> SettingsDialog:
    if not house.has("settingsDialog"):
        house.do("show_settings")
    dialog = house.part(SettingsDialog)
    sections = dialog.findChild(QListWidget, "sections")
    assert sections is not None
    sections.setCurrentRow(number)
    settle()
    return dialog


def about(house: House) -> QWidget:
    return _section(house, len(SECTIONS))


def licence(house: House) -> QWidget:
    """Show the text of a licence, over the page about Hearth."""
    dialog = about(house)
    rows = dialog.findChild(QListWidget, "licences")
    assert rows is not None
    house.until_calm()
    rows.itemClicked.emit(rows.findItems("Qt 6", Qt.MatchFlag.MatchStartsWith)[0])
    house.until("licenceDialog")
    return house.part(LicenceDialog)


def settings_found(house: House) -> QWidget:
    """Show the hits of a search in all sections, with a changed setting."""
    house.set(temperature=1.1)
    dialog = _section(house, 0)
    house.part(QLineEdit, "searchSettings").setText("temper")
    settle()
    return dialog


def as_it_was(house: House) -> None:
    house.set(temperature=Settings().temperature)


def key(house: House) -> QWidget:
    """Show the question for a server's key, as after an answer that failed without one."""
    presenters = house.window.presenters
    ask_for_key("team", presenters.servers, house.window.notifier, house.window, lambda: None)
    house.until("keyDialog")
    return house.part(QWidget, "keyDialog")


def dialog(command: str, name: str) -> Callable[[House], QWidget]:
    def show(house: House) -> QWidget:
        house.do(command)
        return house.part(QWidget, name)

    return show


def price(house: House) -> QWidget:
    """Show the requirements of vLLM, with its obstacles."""
    house.do("show_engines")
    engines_page(house.window).vllm.show_check(Check(FINDINGS, PRICE))
    settle()
    area = engines_page(house.window)
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
    return house.window


def programs(house: House) -> QWidget:
    """Show Hearth's own server, open to the network, with programs that have used it."""
    house.do("show_engines")
    house.until("apiCard")
    house.until_calm()
    card = house.part(ApiCard, "apiCard")
    card.show_server(OPEN_SERVER, is_wanted=True, reach="network_unencrypted")
    card.show_clients(CLIENTS)
    card.show_uses(USES)
    house.window.header.show_exposed(True, encrypted=False)
    settle()
    area = engines_page(house.window)
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
    return house.window


def no_server(house: House) -> None:
    house.window.header.show_exposed(False, encrypted=False)
    card = house.part(ApiCard, "apiCard")
    card.show_server(ServerStatus(), is_wanted=False, reach="this_computer")
    card.show_clients(())
    card.show_uses(())


def program_failed(house: House) -> QWidget:
    """Show the failure to start the server."""
    programs(house)
    house.window.header.show_exposed(False, encrypted=False)
    card = house.part(ApiCard, "apiCard")
    card.show_server(ServerStatus(failure=PORT_TAKEN), is_wanted=True, reach="this_computer")
    settle()
    return house.window


def client_dialog(house: House) -> QWidget:
    """Show a key that was made for a program."""
    programs(house)
    click(house, "addClient")
    house.until("clientDialog")
    dialog = house.part(ClientDialog, "clientDialog")
    dialog.show_key("hearth-0123456789abcdefghijklmnopqrstuvwxyzABCDEFG")
    return dialog


def activity(*, table: bool = False) -> Callable[[House], QWidget]:
    """Return a function that shows the last ten minutes, as plots or as a table."""

    def show(house: House) -> QWidget:
        log = house.hearth.runtime.requests
        if len(log.requests()) < 40:
            note_requests(log)
        house.do("show_activity")
        button = house.part(QWidget, "activityAsTable")
        is_table = bool(button.property("checked"))
        house.until("activityTable" if is_table else "runningPlot")
        if is_table is not table:
            click(house, "activityAsTable")
        house.until_calm()
        return house.window

    return show


def server_dialog(house: House) -> QWidget:
    house.do("show_servers")
    click(house, "addServer")
    return house.part(QWidget, "serverDialog")


def badge(house: House) -> QWidget:
    """Show a chat whose text goes to another computer."""
    house.set(model="team:qwen3-32b")
    house.window.open_chat(None)
    house.until("engineBadge")
    return house.window


def quick_badge(house: House) -> QWidget:
    house.set(model="team:qwen3-32b")
    house.do("quick_ask")
    house.until("quickBadge")
    return house.part(QuickAsk)


def model_here(house: House) -> None:
    house.set(model=STARTER)


def scratch(house: House) -> QWidget:
    house.do("scratch_chat")
    return house.part(ScratchWindow)


def quick(house: House) -> QWidget:
    house.do("quick_ask")
    quick = house.part(QuickAsk)
    quick.edit.setPlainText("How many litres does a bath take?")
    click(house, "quickSend")
    house.until("quickAnswer")
    house.until_calm()
    return quick


def forget_quick(house: House) -> None:
    for chat in house.hearth.chats.chats():
        if chat.title.startswith("How many litres"):
            house.presenters.chats.delete(chat.id)
            house.presenters.chats.delete_for_good(chat.id)


def chat_settings(house: House) -> QWidget:
    chat(house)
    house.do("chat_settings")
    return house.window


def slash(house: House) -> QWidget:
    house.window.open_chat(None)
    house.do("focus_composer")
    house.do("insert_prompt")
    settle()
    return house.window


def toasts(house: House) -> QWidget:
    chat(house)
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


def bug(house: House) -> QWidget:
    house.window.notifier.error(ZeroDivisionError("division by zero"))
    return house.part(QWidget, "messageDialog")


def question(house: House) -> QWidget:
    house.window.notifier.ask_to_open("https://docs.example.org/statistics")
    return house.part(QWidget, "messageDialog")


def new(house: House) -> QWidget:
    house.window.open_chat(None)
    house.until_calm()
    return house.window


def first(house: House) -> QWidget:
    house.window.go_to_chat()
    house.until("firstOffer")
    return house.window


def write(house: House, name: str, text: str) -> None:
    field = house.part(QWidget, name)
    assert isinstance(field, QLineEdit | QPlainTextEdit)
    field.clear()
    if isinstance(field, QLineEdit):
        field.setText(text)
    else:
        field.setPlainText(text)


def click(house: House, name: str) -> None:
    house.part(QAbstractButton, name).click()
    settle()


def no_panel(house: House) -> None:
    house.window.show_panel(None)
