"""Choosing, adding and removing models, for every place in the window that offers it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.kit.look.format import size
from app.kit.notify import Notifier
from app.kit.widgets.picking import FILE, pick
from app.kit.widgets.toast import Toast
from app.models.library.pages.names import name_of
from app.models.library.presenters.models import Models, RemovedModel
from app.models.library.values.entry import STARTER, ModelEntry
from app.settings.presenters import SettingsService
from app.settings.values.fields import Settings
from app.settings.values.models import MODEL_NAME_SETTINGS
from engines.errors import UserError

if TYPE_CHECKING:
    from app.runtime.presenters.loaded import LoadedModels


class ChatWithModel(Protocol):
    """The open chat, as far as it concerns its model; see `OpenChat`."""

    @property
    def model(self) -> str:
        """The id, name or path of the model that answers."""
        ...

    def with_model(self, model: str) -> Settings:
        """Return the settings that the chat's answers would have with another model."""
        ...

    def set_model(self, model: str | None) -> None:
        """Set the chat's model; None leaves it to the assistant and the settings."""
        ...


class ModelChooser(QObject):
    """Chooses the model of the open chat and the default model of new chats.

    Args:
        chat: The open chat, whose model is the one in use.
        this_chat_only: Whether choices apply to that chat only.

    Signals:
        changed: The model in use has changed.
        announced: The models to choose from, and the id, name or path of the one in use.
    """

    changed = Signal()
    announced = Signal(object, object)

    def __init__(
        self,
        models: Models,
        loaded: LoadedModels,
        settings: SettingsService,
        chat: ChatWithModel,
        notifier: Notifier,
        window: QWidget,
        *,
        this_chat_only: bool = False,
    ) -> None:
        super().__init__(window)
        self._models = models
        self._loaded = loaded
        self._settings = settings
        self._chat = chat
        self._notifier = notifier
        self._window = window
        self._this_chat_only = this_chat_only
        self._toast: Toast | None = None

    def announce(self) -> None:
        """Emit `announced` with the current models and the one in use."""
        self.announced.emit(self.entries(), self.current())

    def entries(self) -> list[ModelEntry]:
        """Return the models to choose from, as they were last found."""
        return self._models.list()

    def current(self) -> str:
        """Return the id, name or path of the model in use."""
        return self._chat.model

    def current_entry(self) -> ModelEntry | None:
        """Return the model in use; None if its file was never added or is gone."""
        current = self.current()
        return next((e for e in self.entries() if current in (e.id, e.name)), None)

    @property
    def usual(self) -> str | None:
        """The id, name or path of the default model for new chats; None if not applicable."""
        return None if self._this_chat_only else self._settings.current.model

    def use(self, model_id: str) -> None:
        """Use a model in the open chat and confirm it; offer to use it for new chats too."""
        if not self._change(chat=model_id):
            return
        text = self.tr("{name} answers in this chat.").format(name=self.called(model_id))
        if self.usual in (None, model_id, self._name(model_id)):
            self._say(text)
        else:
            words = self.tr("Use for new chats too")
            self._say(text, words, lambda: self._begin_with(model_id))

    def use_for_new(self) -> None:
        """Make the model of the open chat the default for new chats."""
        self._begin_with(self.current())

    def use_from_now_on(self, model_id: str) -> None:
        """Use a model in the open chat and in new ones, and offer to use it in this chat only.

        This is for choices made outside of a chat, such as in the list of models.
        """
        before = self._settings.current.model
        if not self._change(chat=model_id, usual=model_id):
            return
        text = self.tr("{name} answers in this chat and in new ones.").format(
            name=self.called(model_id)
        )
        if before in (model_id, self._name(model_id)):
            self._say(text)
        else:
            words = self.tr("Only in this chat")
            self._say(text, words, lambda: self._begin_with(before))

    def load(self, model_id: str) -> None:
        """Load a model with the settings of the open chat."""
        self._loaded.load(model_id, self._chat.with_model(model_id))

    def _begin_with(self, model: str) -> None:
        """Make a model the default for new chats and confirm it; the open chat keeps its own."""
        if self._change(usual=model):
            self._say(self.tr("New chats use {name}.").format(name=self.called(model)))

    def _say(self, text: str, action: str = "", act: Callable[[], None] = lambda: None) -> None:
        """Show a toast about a choice, in place of the previous one."""
        if self._toast is not None:
            self._toast.dismiss()
        if not action:
            self._notifier.say(text)
            return

        def acted() -> None:
            self._toast = None  # the toast closes by itself
            act()

        toast = self._toast = self._notifier.offer(text, action, acted)
        toast.closed.connect(lambda: self._forget(toast))

    def _forget(self, toast: Toast) -> None:
        if self._toast is toast:
            self._toast = None

    def _change(self, *, chat: str | None = None, usual: str | None = None) -> bool:
        """Change the model of the open chat or the default model; return whether it worked."""
        try:
            if usual is not None:
                self._settings.set("model", usual)
            if chat is not None:
                self._chat.set_model(chat)
        except UserError as error:
            self._notifier.error(error)
            return False
        finally:
            self.changed.emit()
            self.announce()
        return True

    def _name(self, model_id: str) -> str:
        return next((entry.name for entry in self.entries() if entry.id == model_id), model_id)

    def called(self, model: str) -> str:
        """Return the name of a model as the user sees it, from its id or name."""
        entry = next((entry for entry in self.entries() if model in (entry.id, entry.name)), None)
        return name_of(entry) if entry is not None else model

    def add(self) -> None:
        """Let the user pick a file to add."""
        title, kinds = self.tr("Add a model file"), (self.tr("Models (*.gguf)"),)
        pick(self._window, "pickModel", title, FILE, self.take, filters=kinds)

    def take(self, paths: Sequence[Path]) -> None:
        """Add files in the way the user has chosen; ask if no way was chosen yet."""
        choice = self._settings.current.adding
        if choice == "ask":
            self._ask_how(paths)
            return
        for path in paths:
            self._models.add(
                path, copy=choice == "copy", done=self._added, failed=self._notifier.error
            )

    def remove(self, model_id: str, with_file: bool) -> None:
        """Remove a model from the list, or move its file to the trash."""
        self._models.remove(
            model_id, with_file=with_file, done=self._removed, failed=self._notifier.error
        )

    def _ask_how(self, paths: Sequence[Path]) -> None:
        names = ", ".join(path.name for path in paths)
        lines = [
            self.tr("How should {names} be added?").format(names=names),
            self.tr(
                "Used in place, it takes no more disk space, but must not be moved. A "
                "copy in Hearth’s folder takes as much space again."
            ),
            self.tr("Hearth will do the same next time. You can change this in the settings."),
        ]
        answers = [
            ("addNothing", self.tr("Cancel")),
            ("copy", self.tr("Copy")),
            ("link", self.tr("Use in place")),
        ]

        def answered(choice: str) -> None:
            if choice in ("copy", "link"):
                self._settings.set("adding", choice)
                self.take(paths)

        self._notifier.ask(lines, answers, answered)

    def _added(self, entry: ModelEntry, targets: Sequence[str] | None) -> None:
        """Use an added model, or name the models (`targets`) that an added drafter drafts for."""
        if targets is None:
            self.use_from_now_on(entry.id)
        else:
            text = self.tr("{name} was added: it helps {models} answer faster.")
            self._notifier.say(text.format(name=entry.name, models=", ".join(targets)))

    def _removed(self, removed: RemovedModel) -> None:
        entry = removed.entry
        removed_names = (entry.id, entry.name)
        if self._settings.current.model in removed_names:
            self._change(usual=STARTER)
        for name in MODEL_NAME_SETTINGS:
            if getattr(self._settings.current, name) in removed_names:
                self._settings.set(name, getattr(Settings(), name))
        if self.current() in removed_names:
            self._change(chat=STARTER)
        if removed.files:
            text = self.tr("{id} is in the trash; emptying the trash frees {frees}.")
            self._notifier.say(text.format(id=entry.name, frees=size(removed.frees)))
        else:
            text = self.tr("{name} was removed from the list. Its file was not changed.").format(
                name=entry.name
            )
            self._notifier.offer_undo(text, lambda: self._models.restore(removed))
