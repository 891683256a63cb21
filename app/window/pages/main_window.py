"""The main window: its parts, its pages, its commands, and the connections of signals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol, cast

from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from app.base.errors import Offline
from app.chats.history.presenters.chats import Chats
from app.chats.history.values.places import ALL
from app.settings.values.fields import Settings
from app.window.pages.frame import WindowFrame
from app.window.values.window_state import WindowState

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QPoint

    from app.assistants.pages.prompt_insertion import PromptInsertion
    from app.chats.composer.pages.chat_collections import ChatCollections
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.pages.assistant_controller import AssistantsController
    from app.chats.pages.chat_page import ChatPage
    from app.chats.pages.guide_banner import GuideBanner
    from app.chats.pages.switch_controller import EngineSwitchController
    from app.chats.presenters.open_chat import OpenChat
    from app.chats.sidebar.pages.chat_actions import ChatActions
    from app.chats.sidebar.pages.rows import Scope
    from app.chats.welcome.pages.download_strip import DownloadStrip
    from app.chats.welcome.pages.first_minute import FirstMinute
    from app.connections.pages.going_online import GoingOnline
    from app.documents.collections.pages.documents_page import DocumentsPage
    from app.exchange.pages.exporter import Exporter
    from app.exchange.pages.importer import Importer
    from app.kit.notify import Notifier
    from app.models.downloads.values.downloads import Download
    from app.models.library.pages.chooser import ModelChooser
    from app.models.library.pages.model_button import ModelPicking
    from app.models.library.pages.model_picker import PickerButton
    from app.models.library.values.entry import ModelEntry
    from app.models.pages.models_page import ModelsPage
    from app.window.desktop.pages.desktop import Desktop
    from app.window.pages.download_notices import DownloadNotices
    from app.window.pages.sidebar_controller import SidebarController
    from app.window.presenters.window import WindowPresenters
    from app.window.scratch.pages.scratch_controller import ScratchController
    from app.window.values.dropped import Place

Report = Callable[[BaseException], str]
"""Returns the text of a report about an internal error."""


class _WithParts(Protocol):
    """A page that consists of several parts."""

    def show_part(self, part: str) -> None: ...


class MainWindow(WindowFrame):
    """The main window, at first only a frame; `build` adds parts, and first visits add pages.

    Parts and pages receive presenters, each other, and the window only as a `Navigation`.
    """

    presenters: WindowPresenters
    chat: OpenChat
    notifier: Notifier
    chooser: ModelChooser
    chat_actions: ChatActions
    order: SidebarController
    page: ChatPage
    banner: GuideBanner
    strip: DownloadStrip
    picking: ModelPicking
    switching: EngineSwitchController
    online: GoingOnline
    notices: DownloadNotices
    assistants: AssistantsController
    scratch: ScratchController
    documents: ChatCollections
    prompts: PromptInsertion
    desktop: Desktop

    def __init__(self, chats: Chats, settings: Settings) -> None:
        super().__init__(chats, settings)
        self.is_built = False
        self._follows_server = False
        self._pages: dict[str, QWidget] = {}

    def build(self, presenters: WindowPresenters, report: Report) -> Iterator[None]:
        """Create everything that the first painting does not need, in steps.

        Continue the iterator whenever the event loop is idle. At the end, `is_built` is true.
        """
        self.presenters = presenters
        self._make_tools(report)
        yield
        self._make_chat_page()
        yield
        self._make_controllers(report)
        yield
        self._make_desktop()
        yield
        self._connect()
        self._add_commands()
        self.apply(presenters.settings.current)
        self.online.announce()
        self.assistants.show()
        self.refresh()
        presenters.downloads.look()
        self.is_built = True
        self.early.pass_on()
        for fault in presenters.settings.faults:
            self.notifier.error(fault)

    def _make_tools(self, report: Report) -> None:
        from app.chats.sidebar.pages.chat_actions import ChatActions
        from app.connections.pages.going_online import GoingOnline
        from app.kit.notify import Notifier
        from app.models.library.pages.chooser import ModelChooser
        from app.window.pages.sidebar_controller import SidebarController

        presenters = self.presenters
        self.chat = presenters.chat_page.open_chat
        self.notifier = Notifier(self, report, presenters.log_file, lambda: self.online.is_offline)
        self.chooser = ModelChooser(
            presenters.models,
            presenters.loaded,
            presenters.settings,
            self.chat,
            self.notifier,
            self,
        )
        self.online = GoingOnline(
            presenters.settings, self.notifier, self, stays_offline=presenters.stays_offline
        )
        self.chat_actions = ChatActions(
            presenters.chats,
            presenters.generation,
            self.notifier,
            lambda ids: self.exporter.ask(ids),  # noqa: PLW0108 - made when needed
            self,
        )
        self.order = SidebarController(
            self.sidebar, presenters.chats, presenters.search, self.chat_actions
        )
        self.order.found.connect(self.uncover_page)

    def _make_chat_page(self) -> None:
        """Create the chat page; it takes over the text that the user wrote or sent before."""
        from app.chats.pages.chat_page import ChatPage
        from app.chats.pages.guide_banner import GuideBanner
        from app.chats.pages.switch_controller import EngineSwitchController
        from app.chats.transcript.pages.pictures import Pictures
        from app.chats.welcome.pages.download_strip import DownloadStrip
        from app.models.library.pages.model_button import ModelPicking

        presenters = self.presenters
        had_focus = self.composer.edit.hasFocus()
        first = self._first_chat()
        presenters.chats.drafts.set_text(None, self.composer.text)
        self.page = ChatPage(
            presenters.chat_page, presenters.settings.current, self.notifier, self.composer
        )
        Pictures(presenters.tasks, self.page.transcript)
        self.banner = GuideBanner()
        self.strip = DownloadStrip()
        self.page.banners.addWidget(self.banner)
        self.page.banners.addWidget(self.strip)
        self.page.first_shown.connect(self._show_first)
        self.page.open_chat(first)
        self._offer_model()
        self.show_page(self.page)
        self.remove_placeholder()
        if had_focus or not self.isVisible():
            self.page.focus()
        self.picking = ModelPicking(
            self.header.model,
            self.chooser,
            presenters.loaded,
            lambda: presenters.overview,
            self._picker_buttons(),
        )
        self.switching = EngineSwitchController(
            self.header,
            self.picking,
            self.page,
            self.chat,
            self.chooser,
            presenters,
            self.notifier,
            self,
        )
        self.switching.show()
        place = self.switching.place_of(self.chooser.current())
        if place is not None and place.leaves and self.early_messages.recorded:
            # The message was sent before the user could see that it would leave this computer.
            texts = [str(values[0]) for values in self.early_messages.recorded]
            self.composer.set_text("\n".join(texts))
            self.early_messages.clear()
        self.early_messages.pass_on()

    def _picker_buttons(self) -> list[PickerButton]:
        """Return the entries below the models in the model picker."""
        return [
            ("addFromPicker", "plus", self.tr("Add a file…"), self.chooser.add),
            ("allModels", "box", self.tr("All models"), lambda: self.go_to("models")),
            ("pickServers", "server", self.tr("Servers…"), lambda: self.go_to("servers")),
        ]

    def _first_chat(self) -> str | None:
        """Return the chat to begin with: the last one, unless a new one was begun meanwhile."""
        chats = self.presenters.chats
        chat = chats.chat(self.last_chat) if self.last_chat else None
        begun = self.early_messages.recorded or self.composer.text != chats.drafts.of(None)
        if chat is None or chat.deleted or chat.archived or begun:
            return None
        return chat.id

    def state(self) -> WindowState:
        """Return the state to save; once the window is complete, it names the current chat."""
        if self.is_built:
            self.last_chat = self.chat.id or ""
        return super().state()

    def _make_controllers(self, report: Report) -> None:
        from app.assistants.pages.prompt_insertion import PromptInsertion
        from app.chats.composer.pages.chat_collections import ChatCollections
        from app.chats.pages.assistant_controller import AssistantsController
        from app.window.pages.download_notices import DownloadNotices
        from app.window.pages.sidebar_controller import HitOpening
        from app.window.scratch.pages.scratch_controller import ScratchController

        presenters, page = self.presenters, self.page
        self.notices = DownloadNotices(presenters.downloads, self.notifier, page.isVisible, self)
        self.assistants = AssistantsController(
            page,
            self.chat,
            self.chooser,
            presenters.assistants,
            presenters.collections,
            presenters.settings,
            self.notifier,
            self,
        )
        self.scratch = ScratchController(
            self, presenters, self.chooser, self.switching, self.online, report, self
        )
        self.documents = ChatCollections(
            page.composer,
            self.chat,
            presenters.collections,
            partial(self.go_to, "documents"),
        )
        self.prompts = PromptInsertion(presenters.prompts, page.composer.edit, page.transcript)
        page.composer.add_to_menu(self.prompts.fill)
        page.thinking.changed.connect(self._suggest)
        page.transcript.save.connect(
            lambda code: self.exporter.ask_for_code(code)  # noqa: PLW0108 - made when needed
        )
        HitOpening(self.order, presenters.chat_page.branches, page.finding, self)

    def _make_desktop(self) -> None:
        from app.window.desktop.pages.desktop import Desktop

        self.desktop = Desktop(
            self,
            self.presenters,
            self.page.composer.edit,
            self.chooser,
            self.switching.place_of,
            self._place_at,
            self.notifier,
            self,
        )

    @cached_property
    def first_minute(self) -> FirstMinute:
        """The first screen with its offer, created at the first start."""
        from app.chats.welcome.pages.first_minute import FirstMinute

        presenters = self.presenters
        return FirstMinute(
            self.page,
            self.chooser,
            presenters.models,
            lambda: presenters.discover,
            presenters.suggestions,
            presenters.downloads,
            self.notifier,
            self.chat_with,
        )

    @cached_property
    def exporter(self) -> Exporter:
        """The export of chats and code, created on first use."""
        from app.exchange.pages.exporter import Exporter

        presenters = self.presenters
        return Exporter(presenters.chats, presenters.exporting, self.notifier, self)

    @cached_property
    def importer(self) -> Importer:
        """The import of chats, created on first use."""
        from app.exchange.pages.importer import Importer

        presenters = self.presenters
        importer = Importer(presenters.importing, presenters.chats, self.notifier, self, self)
        importer.made.connect(self.sidebar.model.fold)
        importer.undone.connect(self.leave_deleted)
        return importer

    def page_named(self, name: str) -> QWidget:
        """Return the page of `app.window.pages.pages`, creating it on the first visit."""
        if name not in self._pages:
            from app.window.pages.pages import PageTools, pages

            tools = PageTools(self.presenters, self.notifier, self, self.chooser, self.online)
            entry = next(page for page in pages() if page.name == name)
            self._pages[name] = entry.make(tools)
        return self._pages[name]

    def go_to(self, page: str, part: str = "") -> None:
        """Show a page, and one of its parts if that is named."""
        widget = self.page_named(page)
        self.chooser.judge()  # many pages have a list of models
        self.show_page(widget)
        self.uncover_page()
        if part:
            cast(_WithParts, widget).show_part(part)
        self.refresh()

    def show_model(self, repo: str, label: str = "") -> None:
        """Show a model of the Hub on the page of models.

        Args:
            label: The quantisation to show; "" for the whole model.
        """
        self.go_to("models", "discover")
        cast("ModelsPage", self.page_named("models")).discover.open(repo, label)

    def go_to_chat(self) -> None:
        """Return to the chat, even if it has not begun; the choices made for it are kept."""
        self.show_page(self.page)
        self.refresh()
        self._focus_composer()

    def write(self) -> None:
        """Go to the chat, and let the user write a message there."""
        self.go_to_chat()
        self.page.write()

    def open_chat(self, chat_id: str | None, *, to_write: bool = True) -> None:
        """Open a chat; None begins a new one.

        Args:
            to_write: Focus the message field.
        """
        self.show_page(self.page)
        if chat_id is None and to_write:
            self.page.leave_first_screen()
        if chat_id is None or chat_id != self.chat.id:
            self.page.open_chat(chat_id)
        else:
            self.refresh()
        if to_write:
            self._focus_composer()

    def _focus_composer(self) -> None:
        """Focus the message field."""
        self.uncover_page()
        self.page.focus()

    def _place_at(self, position: QPoint) -> Place:
        """Return the place on which files are dropped, by a position in the window."""
        chats = self.sidebar.chats
        if chats.isVisible() and chats.rect().contains(chats.mapFrom(self, position)):
            return "chats"
        models = self._pages.get("models")
        return "models" if models is not None and self.is_shown(models) else "chat"

    def _show_dragged(self, place: str) -> None:
        """Show where files can be dropped while they are dragged over the window."""
        self.page.show_drop_hint(place == "chat" and self.is_shown(self.page))
        self.sidebar.show_drop_hint(place == "chats")
        if "models" in self._pages:
            models = cast("ModelsPage", self._pages["models"])
            models.local_models.show_drop_hint(place == "models")

    def _make_collection(self, paths: Sequence[Path]) -> None:
        """Let the user make a collection of dropped folders."""
        self.go_to("documents")
        cast("DocumentsPage", self.page_named("documents")).make(paths)

    def _attach(self, paths: Sequence[Path], chat_id: str | None) -> None:
        """Attach files that were dropped or pasted while this chat was open."""
        if chat_id == self.chat.id:
            self.go_to_chat()
        self.page.files.add_dropped(paths, chat_id)

    def new_chat(self) -> None:
        """Begin a new chat."""
        self.open_chat(None)

    def chat_with(self, model_id: str) -> None:
        """Start a chat with a downloaded model; make it the default if only the guide was there."""
        from app.models.library.values.entry import STARTER

        self.open_chat(None)
        begins = self.chooser.usual == STARTER
        self.chooser.use(model_id)
        if begins:
            self.chooser.use_from_now_on(model_id)

    def show_settings(self, name: str = "") -> None:
        """Open the settings, and scroll to the setting with this name."""
        from app.help.pages.about_page import AboutPage
        from app.settings.pages.settings_dialog import SettingsDialog

        presenters = self.presenters
        about = AboutPage(presenters.about, presenters.data_folder, presenters.log_file)
        about.open_folder.connect(self.notifier.open_folder)
        about.failed.connect(self.notifier.error)
        dialog = SettingsDialog(
            presenters.settings,
            self.desktop.notes(),
            {
                "Engines": (self.tr("Engines and devices"), partial(self.go_to, "engines")),
                "Server": (self.tr("Address and token"), partial(self.go_to, "engines", "api")),
            },
            {"model": self._model_editor},
            about,
            about.words,
            self,
        )
        presenters.system.vllm_checked.connect(dialog.show_vllm)
        presenters.system.check()
        dialog.open()
        if name:
            dialog.go_to(name)

    def _model_editor(self, _value: object, _changed: Callable[[object], None]) -> QWidget:
        from app.models.library.pages.model_box import UsualModelBox

        return UsualModelBox(self.chooser)

    def show_shortcuts(self) -> None:
        """Open the list of shortcuts."""
        from app.window.pages.shortcuts_dialog import ShortcutsDialog

        ShortcutsDialog(self.presenters.settings, self).open()

    def rename_chat(self) -> None:
        """Let the user rename the focused row of the list of chats, or else the open chat."""
        if not self.sidebar.chats.hasFocus():
            self.show_page(self.page)
            self.refresh()
        self.sidebar.rename_current()

    def step(self, step: int) -> None:
        """Open the chat above (-1) or below (1) the open one in the list."""
        neighbour = self.sidebar.chats.neighbour(self.chat.id, step)
        if neighbour:
            self._look_at_chat(neighbour)

    def _look_at_chat(self, chat_id: str) -> None:
        """Open a chat from the list; the focus stays in the list."""
        self.open_chat(chat_id, to_write=False)

    def leave_deleted(self, chat_ids: Sequence[str]) -> None:
        """Open a new chat if the current one is among these deleted chats."""
        if self.chat.id in chat_ids:
            self.open_chat(None, to_write=False)
        # From the list, Ctrl+Z restores the chat; in the composer it would undo typing.
        self.sidebar.chats.setFocus()

    def escape(self) -> None:
        """Go back one step, or stop the answer if the chat is shown.

        The first of these that applies is left: the search or selection in the sidebar, a sidebar
        or panel in place of the page, a part of another page, that page, and the search in the
        chat.
        """
        if self.sidebar.escape():
            return
        was_covered = self.uncover_page()
        if not self.is_shown(self.page):
            if not was_covered:
                self._go_back()
            return
        if not was_covered:
            if self.page.finding.escape():
                return
            self.page.stop_seen()
        self.page.focus()

    def _go_back(self) -> None:
        """Empty a search, return from a part of a page to the page, or from there to the chat."""
        from app.kit.widgets.page_head import BackLink

        focused = QApplication.focusWidget()
        if isinstance(focused, QLineEdit) and focused.isClearButtonEnabled() and focused.text():
            focused.clear()
            return
        page = self.shown_page()
        links = page.findChildren(BackLink) if page is not None else []
        link = next((link for link in links if link.isVisible()), None)
        if link is not None:
            link.click()
        else:
            self.go_to_chat()

    def focus_search(self) -> None:
        """Show the sidebar and focus its search field."""
        self.set_sidebar(True)
        self.sidebar.focus_search()

    def show_chats(self, scope: Scope, then: Callable[[], object] = lambda: None) -> None:
        """List the chats of this scope in the sidebar, then call `then`."""
        self.set_sidebar(True)
        self.sidebar.go_to(scope)
        then()

    def refresh(self) -> None:
        """Update the list of chats and the title of the current chat."""
        page_name = next((name for name, page in self._pages.items() if self.is_shown(page)), "")
        self.sidebar.mark_page(page_name)
        self.sidebar.refresh(None if page_name else self.chat.id)
        self.order.name_new_folder()
        chat = self.chat.listed
        if chat is not None and chat.unread and self.is_shown(self.page):
            self.presenters.chats.set_unread(chat.id, False)
        if not self.is_shown(self.page) or self.page.shows_first_screen:
            self.header.set_title("")
        elif self.chat.id is None:
            self.header.set_title(self.tr("New chat"))
        elif chat is not None:
            self.header.set_title(chat.title)
        self._offer_model()

    def _offer_model(self) -> None:
        """Show the first screen while there is neither a chat nor a model besides the guide."""
        wanted = self._guide_answers and not self.presenters.chats.count(ALL)
        if wanted or "first_minute" in vars(self):
            self.page.set_first_screen(self.first_minute.screen if wanted else None)

    def _show_first(self, shown: bool) -> None:
        """Hide the parts of the window that the first screen does not need, or show them again.

        Args:
            shown: Whether it is shown in place of an empty chat.
        """
        self.header.set_first(shown)
        self._show_banner()
        self._show_downloads()
        self.refresh()

    @property
    def _guide_answers(self) -> bool:
        """True if the guide that comes with Hearth is the model in use."""
        entry = self.chooser.current_entry()
        return entry is not None and entry.builtin

    def _show_banner(self) -> None:
        self.banner.setVisible(self._guide_answers and not self.page.shows_first_screen)

    def _arrange(self) -> None:
        """Show the downloads in the page while the sidebar is hidden."""
        super()._arrange()
        if self.is_built:
            self._show_downloads()

    def _show_downloads(self) -> None:
        """Show the downloads; that of the first screen's model has its place there."""
        downloads: Sequence[Download] = self.presenters.downloads.last_downloads or ()
        if "first_minute" in vars(self):
            downloads = self.first_minute.others(downloads)
        # The sidebar shows their progress, too.
        self.strip.show_downloads(downloads if self.sidebar.isHidden() else ())

    def _answer_ended(self, answer: StoredMessage) -> None:
        """Mark the chat as unread if the user did not see its answer end."""
        if answer.failure is not None:
            self.chooser.judge()  # its card can offer other models
        seen = self.is_shown(self.page) and answer.chat_id == self.chat.id
        noticed = answer.state != "stopped" or answer.repeats
        if not seen and noticed and not self.desktop.shows(answer.chat_id):
            self.presenters.chats.set_unread(answer.chat_id, True)
        self.refresh()

    def apply(self, settings: Settings) -> None:
        """Apply changed settings; start the API server once they first want it."""
        self.page.apply(settings)
        self.chooser.announce()
        self.presenters.models.look()
        if settings.server and not self._follows_server:
            self._follow_server()

    def _follow_server(self) -> None:
        """Start the API server; created only here, as most users never need its modules."""
        self._follows_server = True
        server = self.presenters.api_server
        server.changed.connect(
            lambda now: self.header.show_exposed(now.exposed, encrypted=now.encrypted)
        )
        self.header.exposed.connect(lambda: self.go_to("engines", "api"))
        server.follow()

    def _show_models(self, entries: Sequence[ModelEntry], current: str) -> None:
        """Show the models and the current one.

        Args:
            current: The id or the name of the current model.
        """
        from app.models.library.pages.names import name_of

        self.page.answers.set_models(entries, current)
        self.page.queue.set_models(entries, current)
        if self.page.files.attachments:
            self.page.context.refresh()  # a projector for its model may have been downloaded
        self.page.recording.refresh()
        self.presenters.models.read_mtp(current)
        self._show_banner()
        self._offer_model()
        self._suggest()
        if self._guide_answers:
            name = self.tr("the guide")
        else:
            entry = self.chooser.current_entry()
            name = name_of(entry) if entry is not None else "Hearth"
        self.page.composer.set_assistant(name)

    def _suggest(self) -> None:
        """Suggest first questions that suit the model and the chat's documents."""
        from app.chats.history.values.first_questions import kind_for

        entry = self.chooser.current_entry()
        documents = bool(self.chat.collections)
        self.banner.show_documents(documents)
        kind = None
        if entry is not None:
            thinks = self.page.thinking.thinks
            kind = kind_for(entry.name, builtin=entry.builtin, thinks=thinks, documents=documents)
        self.page.welcome.suggest(kind)

    def _add_commands(self) -> None:
        """Add an action for each command, with the user's shortcuts."""
        from app.window.desktop.pages.keys import add_actions, give_keys
        from app.window.desktop.pages.menus import fill_menu_bar

        settings = self.presenters.settings
        add_actions(self, self._commands())
        settings.changed.connect(lambda now: give_keys(self, now.shortcuts))
        give_keys(self, settings.current.shortcuts)
        fill_menu_bar(self)

    def _commands(self) -> dict[str, Callable[[], object]]:
        """Return the function of each command, by its name in `app.window.pages.actions`."""
        from app.chats.pages.page_actions import page_actions
        from app.window.pages.pages import pages

        page, chat, sidebar = self.page, self.chat, self.sidebar
        return {
            "new_chat": self.new_chat,
            "focus_search": self.focus_search,
            "find": page.finding.open,
            "find_next": lambda: page.finding.step(1),
            "find_previous": lambda: page.finding.step(-1),
            "pin_chat": lambda: self.chat_actions.do("toggle_pin", chat.id),
            "archive_chat": lambda: self.chat_actions.do("archive", chat.id),
            "new_folder": lambda: self.show_chats("chats", self.order.make_folder),
            "show_archive": lambda: self.show_chats("archive"),
            "show_trash": lambda: self.show_chats("trash"),
            "rename_chat": self.rename_chat,
            "duplicate_chat": lambda: self.chat_actions.do("duplicate", chat.id),
            "delete_chat": lambda: self.chat_actions.do("delete", chat.id),
            "export_chat": lambda: self.chat_actions.do("export", chat.id),
            "import_chats": lambda: self.importer.ask(),  # noqa: PLW0108 - made when needed
            "undo_delete": self.notifier.undo,
            "chat_above": lambda: self.step(-1),
            "chat_below": lambda: self.step(1),
            "escape": self.escape,
            **page_actions(page),
            "focus_composer": self.write,
            "toggle_sidebar": lambda: self.set_sidebar(sidebar.isHidden()),
            "show_settings": self.show_settings,
            "insert_prompt": self.prompts.open,
            "chat_settings": self.assistants.toggle_panel,
            "scratch_chat": self.scratch.open,
            "chat_documents": self.documents.open_menu,
            "show_shortcuts": self.show_shortcuts,
            "toggle_offline": self.online.toggle,
            "show_palette": self.desktop.show_palette,
            "quick_ask": self.desktop.quick_ask,
            "zoom_in": lambda: self.desktop.zoom_by(1),
            "zoom_out": lambda: self.desktop.zoom_by(-1),
            "zoom_reset": lambda: self.desktop.zoom_by(0),
            "close": self.close,
            "quit": self.desktop.quit,
            **{
                command.name: partial(self.go_to, page_entry.name, command.part)
                for page_entry in pages()
                for command in page_entry.commands
            },
        }

    def _connect(self) -> None:
        """Connect the signals of the window's parts and of the presenters."""
        presenters = self.presenters
        self._connect_chats()
        self._connect_models()
        drops = self.desktop.drops
        drops.dragged.connect(self._show_dragged)
        drops.looking.connect(self.page.composer.attached.set_looking)
        drops.files.connect(self._attach)
        drops.chats.connect(lambda paths: self.importer.read(paths))  # noqa: PLW0108 - made when needed
        drops.collection.connect(self._make_collection)
        self.sidebar.page.connect(self.go_to)
        self.sidebar.settings.connect(self.show_settings)
        self.sidebar.scratch.connect(self.scratch.open)
        self.header.chat_settings.connect(self.assistants.toggle_panel)
        self.sidebar.hide_me.connect(lambda: self.set_sidebar(False))
        self.sidebar.show_me.connect(lambda: self.set_sidebar(True))
        self.header.show_sidebar.connect(lambda: self.set_sidebar(True))
        self.header.toggle_offline.connect(self.online.toggle)
        self.online.changed.connect(self.header.set_offline)
        self.online.went_online.connect(
            lambda: presenters.downloads.resume_stopped_by(Offline.code)
        )
        presenters.settings.changed.connect(self.apply)

    def _connect_chats(self) -> None:
        sidebar, presenters = self.sidebar, self.presenters
        sidebar.new_chat.connect(self.new_chat)
        sidebar.places.import_chats.connect(lambda: self.importer.ask())  # noqa: PLW0108 - made when needed
        sidebar.chats.opened.connect(self._look_at_chat)
        sidebar.chats.chosen.connect(self.open_chat)
        self.chat_actions.deleted.connect(self.leave_deleted)
        self.chat_actions.restored.connect(self._look_at_chat)
        self.chat_actions.copied.connect(self.open_chat)
        self.chat.opened.connect(self.refresh)
        self.chat.stored.connect(self.refresh)
        self.page.grown.connect(self.refresh)
        presenters.chats.changed.connect(self.refresh)
        presenters.chats.failed.connect(self.notifier.error)
        presenters.search.failed.connect(self.notifier.error)
        presenters.collections.failed.connect(self.notifier.error)
        generation = presenters.generation
        for signal in (generation.begun, generation.crashed, presenters.chat_page.waiting.changed):
            signal.connect(self.refresh)
        generation.ended.connect(self._answer_ended)
        generation.saved.connect(lambda _: self.refresh())

    def _connect_models(self) -> None:
        presenters, chooser = self.presenters, self.chooser
        presenters.models.failed.connect(self.notifier.error)
        presenters.loaded.failed.connect(self.notifier.error)
        self.banner.get_model.connect(lambda: self.go_to("models", "discover"))
        self.strip.show_all.connect(lambda: self.go_to("models", "downloads"))
        chooser.announced.connect(self._show_models)
        presenters.models.listed.connect(chooser.announce)
        presenters.models.listed.connect(self.page.mtp.refresh)
        presenters.models.mtp_read.connect(self.page.mtp.show_files)
        presenters.downloads.changed.connect(self._show_downloads)
        presenters.downloads.changed.connect(self.sidebar.show_downloads)
        presenters.downloads.completed.connect(self.strip.show_completed)
        self.strip.use.connect(presenters.downloads.use)
        chooser.changed.connect(self.strip.dismiss)
        self.notices.use.connect(self.chat_with)
        self.notices.listed.connect(presenters.models.look)
