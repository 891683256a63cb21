"""Connects the chat with the engines: where its text is sent, and other engines for its model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject

from app.kit.engine_names import engine_name
from app.kit.look.format import size
from app.models.library.values.entry import ModelEntry

if TYPE_CHECKING:
    from app.chats.pages.chat_page import ChatPage
    from app.chats.pages.header import Header
    from app.chats.presenters.open_chat import OpenChat
    from app.kit.navigation import Navigation
    from app.kit.notify import Notifier
    from app.models.discover.presenters.discover import Discover
    from app.models.discover.values.counterparts import Counterpart
    from app.models.library.pages.chooser import ModelChooser
    from app.models.library.pages.model_button import ModelPicking
    from app.runtime.presenters.engine_list import EngineList
    from app.runtime.values.installation import InstallState
    from app.servers.presenters import Destination, ServerList


class EnginePresenters(Protocol):
    """The presenters of engines, servers and downloads; each is created on first use."""

    @property
    def engines(self) -> EngineList:
        """The engines and their installation."""

    @property
    def servers(self) -> ServerList:
        """The servers that the user has added."""

    @property
    def discover(self) -> Discover:
        """The search for models, and their downloads."""


class EngineSwitchController(QObject):
    """The connection of a chat with the engines, whose modules are imported when needed."""

    def __init__(
        self,
        header: Header,
        picking: ModelPicking,
        page: ChatPage,
        chat: OpenChat,
        chooser: ModelChooser,
        presenters: EnginePresenters,
        notifier: Notifier,
        navigation: Navigation,
    ) -> None:
        super().__init__(page)
        self._header = header
        self._picking = picking
        self._page = page
        self._chooser = chooser
        self._presenters = presenters
        self._notifier = notifier
        self._navigation = navigation
        self._knows_vllm = self._knows_servers = False
        self._has_vllm: bool | None = None
        self._counterparts: tuple[str, Sequence[Counterpart]] = ("", ())
        chooser.announced.connect(self.show)
        chat.opened.connect(self.show)
        chat.stored.connect(self.show)
        picking.opening.connect(self._find_counterparts)
        picking.other_engine.connect(self._switch_to)
        page.fixes.wanted.connect(self.apply_fix)

    def place_of(self, model: str) -> Destination | None:
        """Return the server that this model's answers come from; None if Hearth runs it.

        The servers are asked only if the model could be one of theirs.

        Args:
            model: The model's id or name.
        """
        entry = self._entry(model)
        is_local = not entry.on_server if entry is not None else ":" not in model
        if is_local:
            return None
        servers = self._presenters.servers
        if not self._knows_servers:
            self._knows_servers = True
            servers.listed.connect(self.show)
        return servers.place_of(model, entry)

    def show(self) -> None:
        """Show where the text of the open chat goes."""
        place = self.place_of(self._chooser.current())
        self._header.show_place(place)
        self._page.show_place(place)

    def apply_fix(self, kind: str, value: object, retry: Callable[[], object]) -> None:
        """Carry out the fix that a failed answer offers.

        Args:
            kind: The kind of fix.
            value: Its parameter, such as a setting or a model's id.
            retry: Repeats the question.
        """
        match kind:
            case "stop_worker":
                self._presenters.engines.stop_worker(retry, failed=self._notifier.error)
            case "free_memory":
                self._presenters.engines.free_memory(retry, self._notifier.error)
            case "install":
                self._navigation.go_to("engines", "vllm")
            case "open_settings":
                self._navigation.show_settings(str(value))
            case "get_projector":
                if (entry := self._entry(str(value))) is not None:
                    self._presenters.discover.get_projector(
                        entry,
                        lambda _: self._navigation.go_to("models", "downloads"),
                        self._notifier.error,
                    )
            case "find_model":
                self._navigation.go_to("models", "discover")
            case "enter_key":
                from app.servers.pages.key_dialog import ask_for_key

                servers, window = self._presenters.servers, self._page.window()
                ask_for_key(str(value), servers, self._notifier, window, retry)

    def _entry(self, model: str) -> ModelEntry | None:
        entries = self._chooser.entries()
        return next((entry for entry in entries if model in (entry.id, entry.name)), None)

    def _vllm_checked(self, state: InstallState) -> None:
        self._has_vllm = state.version is not None
        self._show_counterparts(*self._counterparts)

    def _find_counterparts(self) -> None:
        entry = self._chooser.current_entry()
        self._counterparts = ("", ())
        if entry is None:
            return
        engines, failed, model = self._presenters.engines, self._notifier.error, entry.id
        if not self._knows_vllm:
            self._knows_vllm = True
            engines.stood.connect(self._vllm_checked)
        engines.refresh_vllm(failed)
        engines.find_counterparts(
            entry, lambda counterparts: self._show_counterparts(model, counterparts), failed
        )

    def _show_counterparts(self, model: str, counterparts: Sequence[Counterpart]) -> None:
        """Show the counterparts once it is known whether vLLM is here; choosing depends on it."""
        self._counterparts = (model, counterparts)
        entry = self._chooser.current_entry()
        if self._has_vllm is not None and entry is not None and entry.id == model:
            self._picking.show_counterparts(counterparts)

    def _switch_to(self, counterpart: Counterpart) -> None:
        """Switch the chat to a counterpart, or offer to install or download the missing parts."""
        if counterpart.engine == "vllm" and not self._has_vllm:
            self._ask_for_vllm()
        elif counterpart.entry is not None:
            self._chooser.use(counterpart.entry.id)
        else:
            self._ask_to_download(counterpart)

    def _ask_for_vllm(self) -> None:
        self._notifier.confirm(
            self.tr("vLLM is not installed yet"),
            self.tr(
                "Before anything is downloaded, the page “Engines” shows what it needs "
                "and how large it is."
            ),
            ("seeEngines", self.tr("See what it needs")),
            ("cancel", self.tr("Cancel")),
            lambda: self.apply_fix("install", "", lambda: None),
        )

    def _ask_to_download(self, counterpart: Counterpart) -> None:
        engine = engine_name(counterpart.engine)
        amount = size(counterpart.bytes) if counterpart.bytes else self.tr("its files")

        def download() -> None:
            self._presenters.engines.fetch(counterpart, self._notifier.error)
            self._notifier.say(self.tr("The download has started."))

        self._notifier.confirm(
            self.tr("Download {name} for {engine}?").format(name=counterpart.name, engine=engine),
            self.tr(
                "The two engines use different files. {amount} will be downloaded from {repo}. "
                "This chat stays as it is; you can switch its model when they have "
                "arrived."
            ).format(amount=amount, repo=counterpart.repo),
            ("fetch", self.tr("Download")),
            ("cancel", self.tr("Cancel")),
            download,
        )
