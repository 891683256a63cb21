"""The dialog that edits a model's metadata: name, context length and chat template."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFormLayout,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app.base.language import in_full, translated
from app.kit.look.format import size
from app.kit.look.theme import GRID
from app.kit.notify import Notifier
from app.kit.widgets.composing import ComposedLine, commit_composed
from app.kit.widgets.dialog import Dialog
from app.kit.widgets.fields import SpinBox
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.progress_bar import ProgressBar
from app.models.library.pages.names import name_of
from app.models.library.presenters.metadata import ModelMetadata
from app.models.library.values.editable import EditableMetadata
from app.models.library.values.entry import ModelEntry
from engines.errors import UserError

_EDITOR_HEIGHT = 160
_SAMPLE_HEIGHT = 90
_MOST_TOKENS = 999_999_999
"""The largest number that can be typed; the service decides which values make sense."""


class TemplateEdit(QWidget):
    """An editor for a chat template, with the prompt that it makes of a short chat.

    Signals:
        try_requested: The template that the user wants to try.
        changed: The text has changed.
    """

    try_requested = Signal(str)
    changed = Signal()

    def __init__(self, template: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        self._editor = _code_field("metadataTemplate", self.tr("Chat template"))
        self._editor.setPlainText(template)
        self._editor.setMinimumHeight(_EDITOR_HEIGHT)
        if not template:
            self._editor.setPlaceholderText(self.tr("The file has none; ChatML is used."))
        self._before = self.text()
        attempt = LabelledButton("play", self.tr("Try it on a short chat"), "tryTemplate")
        attempt.clicked.connect(self._try)
        self._result = Label("", name="templateSaid", wrap=True, selectable=True)
        self._sample = _code_field("templateSample", self.tr("What the template writes"))
        self._sample.setReadOnly(True)
        self._sample.setFixedHeight(_SAMPLE_HEIGHT)
        self._sample.hide()
        column.addWidget(self._editor, 1)
        column.addWidget(attempt, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._result)
        column.addWidget(self._sample)
        self._editor.textChanged.connect(self._edited)

    def text(self) -> str:
        """Return the text of the editor; the editor's own method would lose non-breaking spaces."""
        return self._editor.document().toRawText().replace("\u2029", "\n")

    @property
    def is_changed(self) -> bool:
        """True if the text differs from the template in the file."""
        return self.text() != self._before

    def show_sample(self, prompt: str) -> None:
        """Show the prompt that the template makes of a short chat."""
        self._result.setText(self.tr("It works. This is what the model would read:"))
        self._sample.setPlainText(prompt)
        self._sample.show()

    def show_problem(self, error: UserError) -> None:
        """Show why the template cannot be used."""
        self._result.setText(f"{translated(error.what)} {translated(error.why)}")
        self._sample.hide()

    def _try(self) -> None:
        self._result.setText(self.tr("Trying it…"))
        self.try_requested.emit(self.text())

    def _edited(self) -> None:
        self._result.setText("")
        self._sample.hide()
        self.changed.emit()


class TargetChoice(QWidget):
    """The choice between saving a copy and overwriting the file.

    Signals:
        changed: The user has switched from one to the other.
    """

    changed = Signal()

    def __init__(self, now: EditableMetadata, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._now = now
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        self._copy = QRadioButton(self.tr("Save as a copy"))
        self._copy.setObjectName("metadataCopy")
        self._copy.setChecked(True)
        in_place = QRadioButton(self.tr("Change this file"))
        in_place.setObjectName("metadataInPlace")
        in_place.setEnabled(not now.why_not)
        for button in (self._copy, in_place):
            button.setAccessibleName(button.text())
            row.addWidget(button)
        row.addStretch(1)
        column.addLayout(row)
        if now.why_not:
            why = Label(translated(now.why_not), "small", name="whyNotInPlace", wrap=True)
            column.addWidget(why)
        self._plan = Label("", "small", name="metadataPlan", wrap=True)
        column.addWidget(self._plan)
        self._copy.toggled.connect(self._update)
        self._copy.toggled.connect(self.changed)
        self._update()

    @property
    def is_copy(self) -> bool:
        """True if a copy is written, not the file itself."""
        return self._copy.isChecked()

    def _update(self) -> None:
        if self.is_copy:
            text = self.tr("A copy of {copy_bytes} is written into Hearth’s folder of models.")
            self._plan.setText(text.format(copy_bytes=size(self._now.copy_bytes)))
        else:
            text = self.tr(
                "A new {name} ({size_bytes}) is written first and then replaces the old one."
            )
            self._plan.setText(
                text.format(name=self._now.entry.path.name, size_bytes=size(self._now.size_bytes))
            )


class MetadataDialog(Dialog):
    """The dialog for a model's metadata.

    Signals:
        saved: The ModelEntry of the changed model or of its copy, as listed now.
    """

    saved = Signal(object)

    def __init__(
        self,
        service: ModelMetadata,
        notifier: Notifier,
        now: EditableMetadata,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("metadataDialog", width=720, height=560, parent=parent)
        self.set_title(self.tr("Metadata of “{name}”").format(name=name_of(now.entry)))
        self._service = service
        self._notifier = notifier
        self._now = now
        self._name = ComposedLine(now.name)
        self._name.setObjectName("metadataName")
        self._context = SpinBox()
        self._context.setObjectName("metadataContext")
        self._context.setRange(0, _MOST_TOKENS)
        self._context.setGroupSeparatorShown(True)
        self._context.setSuffix(self.tr(" tokens"))
        self._context.setValue(now.context)
        self._template = TemplateEdit(now.template)
        self._target = TargetChoice(now)
        self._problem = Label("", "problem", name="metadataProblem", wrap=True, selectable=True)
        self._bar = ProgressBar("metadataProgress", self.tr("How much of the file is written"))
        self._save = QPushButton(self.tr("Save"))
        self._lay_out()
        self._template.try_requested.connect(self._try)
        self._template.changed.connect(self._update)
        self._name.textChanged.connect(self._update)
        self._context.valueChanged.connect(self._update)
        service.writing.connect(self._show_share)
        self._update()

    def reject(self) -> None:
        """Close the dialog, or stop the writing if it is under way."""
        if self._bar.isVisible():
            self._service.stop()
        else:
            super().reject()

    def done(self, result: int) -> None:
        """Close the dialog, and discard a template that is being tried."""
        self._service.stop_trying()
        super().done(result)

    def _lay_out(self) -> None:
        column = self.column
        form = QFormLayout()
        form.setSpacing(GRID)
        for text, field in (
            (self.tr("Name"), self._name),
            (self.tr("Context length"), self._context),
        ):
            field.setAccessibleName(text)
            label = Label(text)
            label.setBuddy(field)
            form.addRow(label, field)
        column.addLayout(form)
        label = Label(self.tr("Chat template"))
        label.setBuddy(self._template)
        column.addWidget(label)
        column.addWidget(self._template, 1)
        for widget in (self._target, self._problem, self._bar):
            column.addWidget(widget)
        self._problem.hide()
        self._bar.hide()
        self._make_buttons()

    def _make_buttons(self) -> None:
        cancel = QPushButton(self.tr("Cancel"))
        cancel.setObjectName("metadataCancel")
        cancel.clicked.connect(self.reject)
        self._save.setObjectName("metadataSave")
        self._save.setProperty("look", "primary")
        self._save.setDefault(True)
        self._save.clicked.connect(self._confirm_and_write)
        for button in (cancel, self._save):
            button.setAccessibleName(button.text())
        self.add_buttons(cancel, self._save)

    def _update(self) -> None:
        """Enable *Save* if something changed."""
        changed = (
            self._name.whole_text != self._now.name
            or self._context.value() != self._now.context
            or self._template.is_changed
        )
        self._save.setEnabled(changed)

    def _try(self, template: str) -> None:
        self._service.try_template(
            template, self._template.show_sample, self._template.show_problem
        )

    def _confirm_and_write(self) -> None:
        commit_composed()
        if self._target.is_copy:
            self._write()
            return
        self._notifier.confirm(
            self.tr("Change {name} itself?").format(name=self._now.entry.path.name),
            self.tr("The current values cannot be restored. The weights stay as they are."),
            ("changeMetadata", self.tr("Change the file")),
            ("keepMetadata", self.tr("Keep it")),
            self._write,
        )

    def _write(self) -> None:
        name, context, now = self._name.text(), self._context.value(), self._now
        self._problem.hide()
        self._show_share(0.0)
        self._save.setEnabled(False)
        self._service.save(
            now.entry.id,
            self._written,
            self._failed,
            name=name if name != now.name else None,
            template=self._template.text() if self._template.is_changed else None,
            context=context if context != now.context else None,
            copy=name if self._target.is_copy else None,
        )

    def _show_share(self, share: float) -> None:
        self._bar.setValue(round(share * 100))
        self._bar.show()

    def _written(self, entry: ModelEntry | None) -> None:
        self._bar.hide()
        if entry is None:
            self.reject()
            return
        self.saved.emit(entry)
        self.accept()

    def _failed(self, error: UserError) -> None:
        self._bar.hide()
        self._save.setEnabled(True)
        self._problem.setText(in_full(error))
        self._problem.show()


def _code_field(name: str, called: str) -> QPlainTextEdit:
    field = QPlainTextEdit()
    field.setObjectName(name)
    field.setAccessibleName(called)
    field.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    field.setTabChangesFocus(True)
    field.setProperty("look", "code")
    return field
