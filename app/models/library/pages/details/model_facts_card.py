"""The card of a model's file: its details line by line, and its quantisations as a bar."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from app.base.language import translated
from app.kit.look.format import day, figure, size
from app.kit.look.theme import GRID
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel
from app.kit.widgets.share_bar import BarPart, ShareBar, limited
from app.models.library.pages.model_words import mtp_sentence, source_sentence
from app.models.library.values.details import ModelDetails, TemplateAbilities
from app.models.library.values.entry import ModelEntry

_BILLION = 1_000_000_000


class ModelFactsCard(Panel):
    """The card of a file's details; a line is left out if the file says nothing about it."""

    def __init__(self, details: ModelDetails, parent: QWidget | None = None) -> None:
        super().__init__("card", "factsCard", margins=(2.5, 2, 2.5, 2), spacing=1.25, parent=parent)
        self.box.addWidget(Label(self.tr("What the file says"), "group"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(7)
        grid.setColumnMinimumWidth(0, 15 * GRID)
        grid.setColumnStretch(1, 1)
        for row, (name, text) in enumerate(self._lines(details)):
            top = Qt.AlignmentFlag.AlignTop
            grid.addWidget(Label(name, "muted"), row, 0, top)
            fact = Label(text, name=f"fact{row + 1}", wrap=True, selectable=True)
            fact.setMinimumWidth(1)
            grid.addWidget(fact, row, 1)
        for name, text in self._long_lines(details):
            row = grid.rowCount()
            grid.addWidget(Label(name, "muted"), row, 0)
            grid.addWidget(ElidedLabel(text, name=f"fact{row + 1}"), row, 1)
        grid.setContentsMargins(0, 0, 0, 4)
        self.box.addLayout(grid)
        if len(details.file.tensors) > 0:
            self.box.addWidget(self._mix(details))

    def _lines(self, details: ModelDetails) -> list[tuple[str, str]]:
        file = details.file
        lines = [
            (self.tr("Name in the file"), file.title),
            (self.tr("Made by"), file.made_by),
            (self.tr("Licence"), file.licence or self.tr("Not stated in the file")),
            (self.tr("Architecture"), self._architecture(details)),
            (self.tr("Parameters"), parameters(file.parameters)),
            (self.tr("Context"), self._tokens(file.context_max)),
            (
                self.tr("Quantisation"),
                f"{file.quantisation}, {size(file.weight_bytes)}",
            ),
            (self.tr("Faster answers (MTP)"), mtp_sentence(file.mtp) or self.tr("None")),
            (self.tr("Chat template"), self._template(details.template)),
            (self.tr("Tokenizer"), self._tokenizer(details)),
            (self.tr("Repository"), self._repository(details.entry)),
            (self.tr("Source"), source_sentence(details.entry.source)),
            (self.tr("Checked"), self._checked(details.entry)),
        ]
        return [(name, text) for name, text in lines if text]

    def _long_lines(self, details: ModelDetails) -> list[tuple[str, str]]:
        """Return the lines that cannot wrap, which are elided to the available width."""
        companions = (details.file.drafter, details.entry.projector)
        files = [*details.entry.files, *(path for path in companions if path is not None)]
        title = self.tr("File") if len(files) == 1 else self.tr("Files")
        lines = [(title if not number else "", str(path)) for number, path in enumerate(files)]
        return (
            [*lines, (self.tr("SHA-256"), details.entry.sha256)] if details.entry.sha256 else lines
        )

    def _architecture(self, details: ModelDetails) -> str:
        file = details.file
        parts = [file.architecture]
        if file.layers:
            parts.append(self.tr("{layers} layers").format(layers=file.layers))
        if file.heads:
            heads = self.tr("{heads} heads over {kv_heads} for keys and values")
            parts.append(heads.format(heads=file.heads, kv_heads=file.kv_heads))
        return ", ".join(parts)

    def _tokens(self, count: int) -> str:
        return self.tr("{count} tokens at most").format(count=figure(count)) if count else ""

    def _template(self, template: TemplateAbilities) -> str:
        if template.trouble:
            return translated(template.trouble)
        if not template.present:
            return self.tr("None in the file; ChatML is used")
        parts = [self.tr("In the file")]
        if template.system_prompt:
            parts.append(self.tr("supports a system prompt"))
        if template.thinking:
            parts.append(self.tr("thinks before it answers"))
        return ", ".join(parts)

    def _tokenizer(self, details: ModelDetails) -> str:
        file = details.file
        words = (
            self.tr("{total} tokens").format(total=figure(file.vocab_size))
            if file.vocab_size
            else ""
        )
        return ", ".join(part for part in (file.tokenizer, words) if part)

    def _repository(self, entry: ModelEntry) -> str:
        if not entry.repo:
            return ""
        return f"{entry.repo} ({entry.revision[:8]})" if entry.revision else entry.repo

    def _checked(self, entry: ModelEntry) -> str:
        if entry.verified is None:
            return self.tr("Not yet; use “Check the file”")
        return self.tr("On {day}: intact").format(day=day(entry.verified))

    def _mix(self, details: ModelDetails) -> ShareBar:
        tensors = details.file.tensors
        parts = [
            BarPart(f"{tensor.type} {tensor.share * 100:.0f} %", tensor.size_bytes)
            for tensor in tensors
        ]
        return ShareBar("mixBar", self.tr("Quantisations"), limited(parts, self.tr("{count} more")))


def parameters(count: int) -> str:
    """Format a number of parameters: 270 M, 7.2 B."""
    if not count:
        return ""
    if count < _BILLION:
        return f"{figure(count / 1_000_000, 0 if count >= 10_000_000 else 1)} M"
    return f"{figure(count / _BILLION, 1)} B"
