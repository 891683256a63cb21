"""Choosing, adding and removing models, for every place in the window that offers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from app.models.library.values.dropped import refusal, refuse_several
from app.models.library.values.entry import STARTER, ModelEntry
from app.settings.presenters import SettingsService
from app.settings.values.fields import Settings
from app.settings.values.models import MODEL_NAME_SETTINGS
from app.settings.values.named import parse_folders
from engines.errors import UserError

if TYPE_CHECKING:
    from app.runtime.presenters.loaded import LoadedModels


_Added = tuple[ModelEntry, Sequence[str] | None]
"""An added model; for a drafter, also the names of the models that it drafts for."""


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
        self._choices = 0

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
        return self._entry(self.current())

    def judge(self) -> None:
        """Judge again which models fit into memory; `announced` follows if that has changed."""
        self._models.judge()

    @property
    def usual(self) -> str | None:
        """The id, name or path of the default model for new chats; None if not applicable."""
        return None if self._this_chat_only else self._settings.current.model

    def use(self, model_id: str) -> None:
        """Use a model in the open chat and confirm it; offer to use it for new chats too.

        For a model that is too big, that is not offered.
        """
        if not self._change(chat=model_id):
            return
        text = self.tr("{name} answers in this chat.").format(name=self.displayed_name(model_id))
        if self.is_too_big(model_id) or self.usual in (None, model_id, self._name(model_id)):
            self._say(text)
        else:
            words = self.tr("Use for new chats too")
            self._say(text, words, lambda: self.use_for_new(model_id))

    def use_for_new(self, model: str | None = None) -> None:
        """Make a model the default for new chats and confirm it; the open chat keeps its own.

        If the model is too big, the user is asked first.

        Args:
            model: Its id or name; None for the model of the open chat.
        """
        new_default = self.current() if model is None else model

        def use() -> None:
            if self._change(usual=new_default):
                text = self.tr("New chats use {name}.")
                self._say(text.format(name=self.displayed_name(new_default)))

        self._when_usual(new_default, use)

    def use_from_now_on(self, model_id: str) -> None:
        """Use a model in the open chat and in new ones, and offer to use it in this chat only.

        This is for choices made outside of a chat, such as in the list of models. For a model that
        is too big, the user is asked first.
        """
        self._when_usual(
            model_id,
            lambda: self._use_from_now_on(model_id),
            only_here=lambda: self.use(model_id),
        )

    def _when_usual(
        self,
        model: str,
        do: Callable[[], object],
        *,
        only_here: Callable[[], object] | None = None,
    ) -> None:
        """Make a model the default for new chats, but ask first if it is too big to load.

        A verdict that is not known yet is awaited.

        Args:
            model: The id or name of the model.
            do: Makes it the default.
            only_here: Uses it in the open chat only; None does not offer that.
        """
        self._choices = choice = self._choices + 1

        def judged() -> None:
            if choice == self._choices:  # the user has chosen no other model meanwhile
                self._ask_if_too_big(model, do, only_here)

        if self._has_no_verdict(model):
            self._models.judge(judged)
        else:
            judged()

    def _has_no_verdict(self, model: str) -> bool:
        """Return whether it is not known yet if a model on this computer fits."""
        entry = self._entry(model)
        return entry is not None and not (entry.fits or entry.builtin or entry.on_server)

    def _ask_if_too_big(
        self, model: str, do: Callable[[], object], only_here: Callable[[], object] | None
    ) -> None:
        entry = self._entry(model)
        if entry is None or entry.fits != "no":
            do()
            return
        lines = [
            self.tr("{name} is too big for this computer").format(name=name_of(entry)),
            self.tr(
                "It needs more memory than is free. As the model of all new chats, it would leave "
                "them without an answer."
            ),
        ]
        cancel = ("notUsual", self.tr("Cancel"))
        anyway = ("usualAnyway", self.tr("Use for new chats anyway"))
        answers = [anyway, cancel]
        if only_here is not None:
            answers = [cancel, anyway, ("onlyHere", self.tr("Only in this chat"))]
        acts = {"usualAnyway": do, "onlyHere": only_here}

        def answered(answer: str) -> None:
            act = acts.get(answer)
            if act is not None:
                act()

        self._notifier.ask(lines, answers, answered)

    def _use_from_now_on(self, model_id: str) -> None:
        before = self._settings.current.model
        if not self._change(chat=model_id, usual=model_id):
            return
        text = self.tr("{name} answers in this chat and in new ones.").format(
            name=self.displayed_name(model_id)
        )
        if before in (model_id, self._name(model_id)):
            self._say(text)
        else:
            words = self.tr("Only in this chat")
            self._say(text, words, lambda: self.use_for_new(before))

    def load(self, model_id: str) -> None:
        """Load a model with the settings of the open chat."""
        self._loaded.load(model_id, self._chat.with_model(model_id))

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

    def _entry(self, model: str) -> ModelEntry | None:
        """Return the model with this id or name; None if it is not listed."""
        return next((entry for entry in self.entries() if model in (entry.id, entry.name)), None)

    def displayed_name(self, model: str) -> str:
        """Return the displayed name of a model, from its id or name."""
        entry = self._entry(model)
        return name_of(entry) if entry is not None else model

    def is_too_big(self, model: str) -> bool:
        """Return whether a model, by its id or name, is known not to fit into memory."""
        entry = self._entry(model)
        return entry is not None and entry.fits == "no"

    def add(self) -> None:
        """Let the user pick a file to add."""
        title, kinds = self.tr("Add a model file"), (self.tr("Models (*.gguf)"),)
        pick(self._window, "pickModel", title, FILE, self.take, filters=kinds)

    def take(self, paths: Sequence[Path], refused: Sequence[UserError] = ()) -> None:
        """Add files in the way the user has chosen; ask if no way was chosen yet.

        Args:
            refused: The errors of files that were refused before; one message shows all errors.
        """
        choice = self._settings.current.adding
        if choice == "ask" and paths:
            self._report_added((), refused)
            self._ask_how(paths)
            return
        addition = _Addition(len(paths), refused, self._report_added, self._notifier.error)
        for path in paths:
            self._models.add(
                path, copy=choice == "copy", done=addition.done, failed=addition.failed
            )
        if not paths:
            addition.report()

    def take_dropped(self, kinds: Mapping[Path, str]) -> None:
        """Add dropped files and folders, and say of the others why they were not added.

        Args:
            kinds: For each path its `ModelKind`, or any other word for a file that is no model.
        """
        models = [path for path, kind in kinds.items() if kind == "model"]
        if folders := [path for path, kind in kinds.items() if kind == "models"]:
            self._add_folders(folders)
        refused = [
            refusal(path, kind)
            for path, kind in kinds.items()
            if kind not in ("model", "models", "no_model")
        ]
        unread = [path for path, kind in kinds.items() if kind == "no_model"]
        if not (models or refused or unread):
            return
        self._models.why_no_models(unread, lambda errors: self.take(models, [*refused, *errors]))

    def _add_folders(self, folders: Sequence[Path]) -> None:
        """List the models of more folders."""
        before = self._settings.current.model_folders
        listed = parse_folders(before)
        new = [str(folder) for folder in folders if folder not in listed]
        names = ", ".join(folder.name for folder in folders)
        if not new:
            text = self.tr("Already among your folders with models: {names}.")
            self._notifier.say(text.format(names=names))
        elif self._set_folders("\n".join(filter(None, [before, *new]))):
            self._notifier.offer_undo(
                self.tr("The models in {names} are listed now.").format(names=names),
                lambda: self._set_folders(before),
            )

    def _set_folders(self, folders: str) -> bool:
        """Set the folders with models; return whether it worked."""
        try:
            self._settings.set("model_folders", folders)
        except UserError as error:
            self._notifier.error(error)
            return False
        return True

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

    def _report_added(self, added: Sequence[_Added], errors: Sequence[UserError]) -> None:
        """Use the model that was added, or name several; show all errors in one message."""
        if errors:
            self._notifier.error(errors[0] if len(errors) == 1 else refuse_several(errors))
        models = [entry for entry, targets in added if targets is None]
        if len(models) == 1 and not errors:
            self.use_from_now_on(models[0].id)
        elif models:
            names = ", ".join(name_of(entry) for entry in models)
            self._notifier.say(self.tr("Added: {names}.").format(names=names))
        for entry, targets in added:
            if targets is not None:
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


class _Addition:
    """Files that are added together, with one report after the last of them.

    If the user stops a copy, there is no report.

    Args:
        count: The number of files.
        refused: The errors of files that were refused before.
        ended: Receives the models that were added, and the errors.
        crashed: Receives an error that is a bug.
    """

    def __init__(
        self,
        count: int,
        refused: Sequence[UserError],
        ended: Callable[[Sequence[_Added], Sequence[UserError]], object],
        crashed: Callable[[Exception], object],
    ) -> None:
        self._left = count
        self._added: list[_Added] = []
        self._errors = [*refused]
        self._ended = ended
        self._crashed = crashed

    def done(self, entry: ModelEntry, targets: Sequence[str] | None) -> None:
        """Note a model that was added, or a drafter with the names of its models."""
        self._added.append((entry, targets))
        self._end_one()

    def failed(self, error: Exception) -> None:
        """Note the error of a file."""
        if isinstance(error, UserError):
            self._errors.append(error)
        else:
            self._crashed(error)
        self._end_one()

    def report(self) -> None:
        """Report on all files."""
        self._ended(self._added, self._errors)

    def _end_one(self) -> None:
        self._left -= 1
        if not self._left:
            self.report()
