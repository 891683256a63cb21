"""The dialog for an export: the file format, and what to include."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.exchange.values.export import ExportKind, ExportOptions
from app.kit.look.format import figure
from app.kit.widgets.action import UserAction
from app.kit.widgets.fields import ComboBox
from app.kit.widgets.form import FormDialog
from app.kit.widgets.label import Label
from app.kit.widgets.layouts import boxed, row
from app.kit.widgets.switch import Switch


class ExportDialog(FormDialog):
    """The dialog for an export.

    Args:
        title: The chat's title, if there is only one chat.
        count: The number of chats.
        choose: Called with the options and whether all chats go into one file; asks for the place.
        parent: The window.
    """

    def __init__(
        self,
        title: str,
        count: int,
        choose: Callable[[ExportOptions, bool], object],
        parent: QWidget,
    ) -> None:
        if count == 1:
            words = self.tr("Export “{title}”").format(title=title)
        else:
            words = self.tr("Export {count} chats").format(count=figure(count))
        save = UserAction("exportGo", "", self.tr("Choose where…"), self._accept)
        super().__init__("exportDialog", words, save, "exportCancel", width=440, parent=parent)
        self._choose = choose
        self._kind = ComboBox()
        self._kind.setObjectName("exportKind")
        self._kind.setAccessibleName(self.tr("Format"))
        for kind, name in (("md", "Markdown"), ("html", "HTML"), ("pdf", "PDF"), ("json", "JSON")):
            self._kind.addItem(name, kind)
        self._description = Label("", "small", name="exportSaid", wrap=True)
        self._reasoning, reasoning = self._switch(
            "exportReasoning", self.tr("Include the model’s reasoning")
        )
        self._branches, branches = self._switch("exportBranches", self.tr("Include all branches"))
        self._one_file, one_file = self._switch("exportOneFile", self.tr("All chats in one file"))
        together = boxed(one_file)
        parts = self._kind, self._description, reasoning, branches, together
        self.lay_out(*parts, first=self._kind)
        together.setVisible(count > 1)
        self._kind.currentIndexChanged.connect(self._show_kind)
        self._show_kind()

    def _switch(self, name: str, text: str) -> tuple[Switch, QHBoxLayout]:
        switch = Switch()
        switch.setObjectName(name)
        switch.setAccessibleName(text)
        label = Label(text, wrap=True)
        label.setBuddy(switch)
        return switch, row((label, 1), switch)

    def _chosen(self) -> ExportKind:
        return cast(ExportKind, self._kind.currentData())

    def _show_kind(self) -> None:
        """Explain the chosen format; for JSON, which always has everything, fix the switches on."""
        kind = self._chosen()
        descriptions: dict[ExportKind, str] = {
            "md": self.tr("Plain text that most programs can read."),
            "html": self.tr("One page for a browser, with colours and formulas."),
            "pdf": self.tr("Pages to print or to send."),
            "json": self.tr("Everything; Hearth can import it again without loss."),
        }
        self._description.setText(descriptions[kind])
        self._kind.setAccessibleDescription(descriptions[kind])
        for switch in (self._reasoning, self._branches):
            switch.setEnabled(kind != "json")
            if kind == "json":
                switch.setChecked(True)

    def _accept(self) -> None:
        options = ExportOptions(
            self._chosen(), self._reasoning.isChecked(), self._branches.isChecked()
        )
        self.accept()
        self._choose(options, self._one_file.isChecked())
