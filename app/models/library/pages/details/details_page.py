"""The page of one model: its fit, the details of its file, and the actions on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.base.language import in_full, translated
from app.kit.look.format import size
from app.kit.look.theme import GRID
from app.kit.notify import Notifier
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.composing import ComposedLine
from app.kit.widgets.emptying import empty
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.page_head import BackLink
from app.kit.widgets.problem_card import ProblemCard
from app.kit.widgets.progress_bar import ProgressBar
from app.models.library.pages.details.fit_card import FitCard
from app.models.library.pages.details.metadata_dialog import MetadataDialog
from app.models.library.pages.details.model_facts_card import ModelFactsCard
from app.models.library.pages.details.own_settings import OwnSettings
from app.models.library.pages.model_box import ModelBox
from app.models.library.pages.model_words import used_words
from app.models.library.pages.names import name_of
from app.models.library.presenters.metadata import ModelMetadata
from app.models.library.presenters.model_page import FitVerdict, ModelPage, Removable, ShownModel
from app.models.library.values.details import CheckedModel
from app.models.library.values.editable import EditableMetadata
from app.models.library.values.entry import ModelEntry
from app.models.library.values.memory_use import Fits
from engines.errors import Cancelled, UserError


class Title(QWidget):
    """The title of the page, with a field to rename the model: Enter saves, Escape cancels.

    Args:
        fixed: Whether the name cannot be changed.

    Signals:
        renamed: The new name.
    """

    renamed = Signal(str)

    def __init__(self, name: str, *, fixed: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("modelTitle")
        self._name = name
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        self._label = Label(name, "title", name="detailsName", wrap=True)
        self._edit = _Field(name)
        self._edit.hide()
        self._edit.returnPressed.connect(self._save)
        self._edit.cancelled.connect(self._end_editing)
        self._pencil = IconButton("pencil", self.tr("Rename"), "renameModel", size=18)
        self._pencil.clicked.connect(self._begin)
        row.addWidget(self._label)
        row.addWidget(self._edit, 1)
        row.addWidget(self._pencil)
        self._pencil.setVisible(not fixed)
        row.addStretch(0)

    def show_name(self, name: str) -> None:
        """Show the model's new name, and close the field."""
        self._name = name
        self._label.setText(name)
        self._end_editing()

    def _begin(self) -> None:
        self._edit.setText(self._name)
        self._label.hide()
        self._pencil.hide()
        self._edit.show()
        self._edit.setFocus()
        self._edit.selectAll()

    def _save(self) -> None:
        name = self._edit.text().strip()
        self._end_editing()
        if name != self._name:
            self.renamed.emit(name)

    def _end_editing(self) -> None:
        if self._edit.isHidden():
            return
        self._edit.hide()
        self._label.show()
        self._pencil.show()
        self._pencil.setFocus()


class _Field(ComposedLine):
    """A line edit that Escape cancels.

    Signals:
        cancelled: The user pressed Escape.
    """

    cancelled = Signal()

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setObjectName("newName")
        self.setAccessibleName(self.tr("New name"))

    def event(self, event: QEvent) -> bool:
        """Claim Escape, which is a shortcut of the window everywhere else."""
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
            return
        super().keyPressEvent(event)


class ModelActions(QWidget):
    """The buttons for one model.

    Signals:
        action_requested: "use", "find_smaller", "check", "reveal", "edit", "off_list" or "trash".
    """

    action_requested = Signal(str)

    def __init__(self, shown: ShownModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("modelActions")
        removable = shown.removable
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        self._use = LabelledButton("chat", self.tr("Use in chat"), "useModel", look="primary")
        self._use.clicked.connect(lambda: self.action_requested.emit("use"))
        self._use.setEnabled(shown.details is not None)
        self._in_use = Label(self.tr("In use"), "chosen", name="inUseHere")
        words = self.tr("Find a model that fits")
        self._smaller = LabelledButton("box", words, "findSmaller", look="primary")
        self._smaller.clicked.connect(lambda: self.action_requested.emit("find_smaller"))
        self._smaller.hide()
        self._first = FlowRow(
            self._smaller,
            self._use,
            self._in_use,
            self._button("check", self.tr("Check the file"), "check", "checkFile"),
            self._button("folder", self.tr("Show in folder"), "reveal", "revealModel"),
        )
        column.addWidget(self._first)
        second = []
        if shown.entry.engine == "llamacpp" and not shown.entry.builtin:
            text = self.tr("Edit metadata…")
            second.append(self._button("pencil", text, "edit", "editMetadata"))
        if removable.off_list:
            text = self.tr("Remove from list")
            second.append(self._button("close", text, "off_list", "takeOffList"))
        if removable.frees is not None:
            text = self.tr("Move to the trash…")
            second.append(self._button("trash", text, "trash", "trashModel"))
        column.addWidget(FlowRow(*second))
        if removable.why_not:
            why = translated(removable.why_not)
            column.addWidget(Label(why, "small", name="whyNotRemoved", wrap=True))

    def show_in_use(self, in_use: bool) -> None:
        """Show that the model is in use, or the button to use it."""
        self._use.setVisible(not in_use)
        self._in_use.setVisible(in_use)

    def show_fits(self, fits: Fits) -> None:
        """Offer another model first if this one is too big, and this one else."""
        too_big = fits == "no"
        self._smaller.setVisible(too_big)
        self._use.set_look("" if too_big else "primary")

    def _button(self, drawing: str, text: str, action: str, name: str) -> LabelledButton:
        button = LabelledButton(drawing, text, name)
        button.clicked.connect(lambda: self.action_requested.emit(action))
        return button


class CheckLine(QWidget):
    """The progress and result of a file check; hidden until there is one.

    Signals:
        stop: The user wants to stop the check.
    """

    stop = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("checkLine")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        row = QHBoxLayout()
        row.setSpacing(12)
        self._bar = ProgressBar("checkBar", self.tr("Checking the file"))
        self._stop = LabelledButton("stop", self.tr("Stop"), "stopCheckingFile")
        self._stop.clicked.connect(self.stop)
        row.addWidget(self._bar, 1)
        row.addWidget(self._stop)
        column.addLayout(row)
        self._words = Label("", name="fileCheckResult", wrap=True, selectable=True)
        column.addWidget(self._words)
        self.hide()

    def show_progress(self, share: float) -> None:
        """Show the share that was read, from 0.0 to 1.0."""
        self._bar.setValue(round(share * 100))
        self._words.show_text(
            self.tr("Checking the file: {share} %").format(share=f"{share * 100:.0f}"), "muted"
        )
        self._running(True)

    def show_checked(self, result: CheckedModel) -> None:
        """Show that the file is intact, or that there was nothing to compare it with."""
        self._running(False)
        if result.compared:
            self._words.show_text(self.tr("The file is intact."), "good")
        else:
            text = self.tr(
                "There was nothing to compare it with. The next check will compare it "
                "with today’s state."
            )
            self._words.show_text(text, "muted")

    def show_problem(self, error: UserError) -> None:
        """Show that the file is damaged or could not be checked."""
        self._running(False)
        self._words.show_text(in_full(error), "problem")

    def show_stopped(self) -> None:
        """Show that the user stopped the check."""
        self._running(False)
        self._words.show_text(self.tr("The check was stopped."), "muted")

    def _running(self, running: bool) -> None:
        self._bar.setVisible(running)
        self._stop.setVisible(running)
        self.show()


class DetailsPage(PartPage):
    """The page of one model.

    Signals:
        back: The user wants to return to the list.
        use: The id of the model to use.
        anyway: The id of a model to load even if it does not seem to fit.
        remove: The id of the model to remove, and whether to remove its file too.
        renamed: A model has a new name.
        find_smaller: The user wants a model that fits this computer.
    """

    back = Signal()
    find_smaller = Signal()
    use = Signal(str)
    anyway = Signal(str)
    remove = Signal(str, bool)
    renamed = Signal()

    def __init__(
        self,
        service: ModelPage,
        metadata: ModelMetadata,
        notifier: Notifier,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("modelDetails", parent=parent)
        self._service = service
        self._metadata = metadata
        self._notifier = notifier
        self._model = ""
        self._current = ""
        self._model_shown: ShownModel | None = None
        self._title: Title | None = None
        self._actions: ModelActions | None = None
        self._settings: OwnSettings | None = None
        back = BackLink(self.tr("All models"), "backToModels", self.back.emit)
        self.column.addWidget(back, 0, Qt.AlignmentFlag.AlignLeft)
        self._head = QVBoxLayout()
        self._head.setSpacing(12)
        self.column.addLayout(self._head)
        self._check = CheckLine()
        self._check.stop.connect(service.stop)
        self.column.addWidget(self._check)
        self._fit = FitCard()
        self._fit.anyway.connect(lambda: self.anyway.emit(self._model))
        self._fit.again.connect(self._judge)
        self.column.addWidget(self._fit)
        self._cards = QVBoxLayout()
        self._cards.setSpacing(2 * GRID)
        self.column.addLayout(self._cards)
        self.column.addStretch(1)
        metadata.crashed.connect(notifier.error)

    @property
    def model(self) -> str:
        """The id of the model on the page."""
        return self._model

    def open(self, model: str) -> None:
        """Open the page of a model."""
        if model != self._model:
            self._service.stop()
            self._check.hide()
            self._clear()
            self._head.addWidget(Label(self.tr("Reading its file…"), "muted", name="openingModel"))
        self._model = model
        self._read()

    def show_current(self, current: str) -> None:
        """Show which model is in use, by its id or name."""
        self._current = current
        if self._model_shown is not None and self._actions is not None:
            entry = self._model_shown.entry
            self._actions.show_in_use(current in (entry.id, entry.name))

    def _read(self) -> None:
        """Read the model's file for the page."""
        self._service.open(
            self._model, self._show, self._notifier.error_handler(self._show_problem)
        )

    def _clear(self) -> None:
        self._model_shown = self._title = self._actions = self._settings = None
        empty(self._head)
        empty(self._cards)
        self._fit.hide()

    def _show(self, shown: ShownModel) -> None:
        entry = shown.entry
        self._clear()
        self._model_shown = shown
        self._title = Title(name_of(entry), fixed=entry.builtin)
        self._title.renamed.connect(lambda name: self._rename(entry.id, name))
        self._head.addWidget(self._title)
        self._head.addWidget(Label(used_words(entry.last_used), "muted", name="detailsUsed"))
        self._actions = ModelActions(shown)
        self._actions.action_requested.connect(self._act)
        self._head.addWidget(self._actions)
        self.show_current(self._current)
        if shown.details is not None:
            self._cards.addWidget(ModelFactsCard(shown.details))
            self._fit.show()
            self._judge()
        elif shown.problem is not None:
            self._cards.addWidget(ProblemCard(shown.problem))
        self._settings = OwnSettings(
            shown.own, shown.general, {"draft_model": partial(_draft_models, shown.draft_models)}
        )
        self._settings.changed.connect(lambda name, value: self._set(entry.id, name, value))
        self._cards.addWidget(self._settings)

    def _show_problem(self, error: UserError) -> None:
        self._clear()
        card = ProblemCard(error, [("openModelAgain", "again", self.tr("Try again"))])
        card.acted.connect(self._read)
        self._head.addWidget(card)

    def _judge(self) -> None:
        model = self._model

        def judged(fitted: FitVerdict) -> None:
            if model == self._model:
                self._fit.show_fitted(fitted)
                if self._actions is not None:
                    self._actions.show_fits(fitted.fits)

        def failed(error: UserError) -> None:
            if model == self._model:
                self._fit.show_problem(error)

        self._fit.show_working()
        self._service.judge(model, judged, self._notifier.error_handler(failed))

    def _act(self, action: str) -> None:
        if self._model_shown is None:
            return
        entry = self._model_shown.entry
        match action:
            case "use":
                self.use.emit(entry.id)
            case "find_smaller":
                self.find_smaller.emit()
            case "check":
                self._verify(entry.id)
            case "reveal":
                self._notifier.reveal(entry.path)
            case "edit":
                self._metadata.read(entry.id, self._edit, self._notifier.error)
            case "off_list":
                self.remove.emit(entry.id, False)
            case "trash":
                self._ask_to_trash(entry, self._model_shown.removable)

    def _edit(self, now: EditableMetadata) -> None:
        dialog = MetadataDialog(self._metadata, self._notifier, now, self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.saved.connect(self._edited)
        dialog.open()

    def _edited(self, entry: ModelEntry) -> None:
        """Show the model that was written: the edited one or its copy."""
        self._notifier.say(self.tr("Saved."))
        self.open(entry.id)
        self.renamed.emit()

    def _ask_to_trash(self, entry: ModelEntry, removable: Removable) -> None:
        count = len(removable.files)
        files = self.tr("File") if count == 1 else self.tr("{files} files").format(files=count)
        self._notifier.confirm(
            self.tr("Move {name} to the trash?").format(name=entry.name),
            self.tr("{files} can be restored from there. Emptying the trash frees {frees}.").format(
                files=files, frees=size(removable.frees or 0)
            ),
            ("confirmTrash", self.tr("Move to the trash")),
            ("keepModel", self.tr("Keep it")),
            lambda: self.remove.emit(entry.id, True),
        )

    def _verify(self, model: str) -> None:
        def read(share: float) -> None:
            if model == self._model:
                self._check.show_progress(share)

        def checked(result: CheckedModel) -> None:
            if model == self._model:
                self._check.show_checked(result)
                self._read()

        def show_problem(error: UserError) -> None:
            if model == self._model:
                self._check.show_problem(error)

        def failed(error: Exception) -> None:
            if not isinstance(error, Cancelled):
                self._notifier.error_handler(show_problem)(error)
            elif model == self._model:
                self._check.show_stopped()

        self._check.show_progress(0.0)
        self._service.verify(model, read, checked, failed)

    def _rename(self, model: str, name: str) -> None:
        def renamed(entry: ModelEntry) -> None:
            if model == self._model and self._title is not None:
                self._title.show_name(entry.name)
            self.renamed.emit()

        self._service.rename(model, name, renamed, self._notifier.error)

    def _set(self, model: str, name: str, value: object) -> None:
        """Change one of the model's own settings, then judge again whether it fits."""

        def show_own(values: Mapping[str, object]) -> None:
            if model == self._model and self._settings is not None:
                self._settings.show_own(values)
                self._judge()

        def refused(error: UserError) -> None:
            if model == self._model and self._settings is not None:
                self._settings.show_problem(name, error)

        self._service.set(model, name, value, show_own, self._notifier.error_handler(refused))


def _draft_models(
    entries: Sequence[ModelEntry], value: object, changed: Callable[[object], None]
) -> QWidget:
    """Make the box for choosing a draft model."""
    box = ModelBox("draft_model", QCoreApplication.translate("details", "Automatic"))
    named = next(
        (entry.id for entry in entries if value in (entry.id, entry.name)), str(value) or None
    )
    box.show_models(entries, named)
    box.chosen.connect(lambda model: changed(model or ""))
    return box
