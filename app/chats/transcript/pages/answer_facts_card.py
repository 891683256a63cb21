"""The card with the details of an answer: model, speed and settings."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QWidget

from app.base.engine_names import proper_name
from app.base.language import translated
from app.chats.answers.values.answer_record import AnswerRecord, from_json
from app.chats.history.values.conversation import AnswerFacts, StoredMessage
from app.kit.look.format import figure, moment, tokens
from app.kit.look.theme import GRID
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.popover import Popover, fit_words

Row = tuple[str, str]

_tr = QCoreApplication.translate
_SETTINGS = (
    "temperature", "top_k", "top_p", "min_p", "repeat_penalty", "max_tokens", "context", "kv_type",
    "mtp", "adapter",
)  # fmt: skip


def rows_of(answer: StoredMessage) -> list[Row]:
    """Return the name and the value of each known detail of an answer."""
    record = from_json(answer.asked)
    rows: list[Row] = []
    if record is not None and record.edited:
        writer = _tr("facts", "You, in place of {name}").format(
            name=translated(record.name) or _tr("facts", "the model")
        )
        rows.append((_tr("facts", "Written by"), writer))
    elif record is not None:
        rows.append((_tr("facts", "Model"), translated(record.name)))
        rows.append((_tr("facts", "Started by"), ", ".join(map(translated, record.before))))
    elif answer.facts is not None:
        rows.append((_tr("facts", "Model"), translated(answer.facts.model)))
    rows.append((_tr("facts", "Asked"), moment(answer.created)))
    if answer.facts is not None:
        rows += _rows_of_facts(answer.facts)
    if answer.reasoning_s:
        rows.append((_tr("facts", "Reasoned for"), _seconds(answer.reasoning_s)))
    if record is not None and not record.edited:
        rows += _rows_of_record(record)
    return [row for row in rows if row[1]]


def _rows_of_facts(facts: AnswerFacts) -> list[Row]:
    rows = [
        (_tr("facts", "Engine"), proper_name(facts.engine)),
        (_tr("facts", "Why this engine"), translated(facts.why)),
        (
            _tr("facts", "Answer"),
            tokens(facts.completion_tokens, guessed=facts.guessed),
        ),
        (
            _tr("facts", "Speed"),
            _tr("facts", "{decode_tok_s} tokens/s").format(
                decode_tok_s=figure(facts.decode_tok_s, 1)
            )
            if facts.decode_tok_s
            else "",
        ),
        (_tr("facts", "First token after"), _seconds(facts.ttft_s)),
        (
            _tr("facts", "Prompt"),
            _tr("facts", "{prompt_tokens} tokens, {cached_tokens} of them cached").format(
                prompt_tokens=figure(facts.prompt_tokens), cached_tokens=figure(facts.cached_tokens)
            ),
        ),
    ]
    if facts.context:
        words = tokens(facts.context)
        if facts.left_out:
            words = _tr("facts", "{words}, {left_out} messages left out").format(
                words=words, left_out=facts.left_out
            )
        rows.append((_tr("facts", "Context"), words))
    if facts.mtp is not None:
        rows.append((_tr("facts", "MTP"), translated(facts.mtp.reason)))
        if facts.mtp.drafted:
            rows.append(
                (
                    _tr("facts", "Drafted"),
                    _tr("facts", "{drafted} tokens, {accepted} accepted").format(
                        drafted=figure(facts.mtp.drafted), accepted=figure(facts.mtp.accepted)
                    ),
                )
            )
    rows.append((_tr("facts", "Seed"), str(facts.seed)))
    differs = " ".join(translated(note) for note in facts.notes)
    rows.append((_tr("facts", "What differs here"), differs))
    return rows


def _rows_of_record(record: AnswerRecord) -> list[Row]:
    settings = [
        f"{name} {record.settings[name]:g}"
        if isinstance(record.settings[name], float)
        else f"{name} {record.settings[name]}"
        for name in _SETTINGS
        if record.settings.get(name) not in {None, 0, ""} or name == "temperature"
        if name in record.settings
    ]
    rows = [(_tr("facts", "Settings"), ", ".join(settings))]
    prompt = str(record.settings.get("system_prompt") or "").strip()
    if prompt:
        rows.append((_tr("facts", "System prompt"), prompt))
    if record.parts > 1:
        words = _tr("facts", "{parts} parts, stopped and continued").format(parts=record.parts)
        rows.append((_tr("facts", "Written in"), words))
    return rows


def _seconds(seconds: float) -> str:
    return _tr("facts", "{value} s").format(
        value=figure(seconds, 2) if seconds < 10 else figure(seconds)
    )


_WORDS = 200
"""The width of a value in pixels; longer values wrap."""
_LONGEST = 400
"""The maximum number of characters of one value; a system prompt can be a page long."""


class AnswerFactsCard(Popover):
    """The card with the details of an answer.

    Signals:
        reproduce(): The user wants the same answer to be written again.
        copied(): The user copied the details.
    """

    reproduce = Signal()
    copied = Signal()

    def __init__(self, answer: StoredMessage, parent: QWidget) -> None:
        super().__init__("factsCard", self.tr("Answer details"), parent)
        rows = rows_of(answer)
        self.setAccessibleDescription(". ".join(f"{name}: {fact}" for name, fact in rows))
        self._text = "\n".join(f"{name}: {fact}" for name, fact in rows)
        self.card.box.addWidget(Label(self.windowTitle(), "strong", name="factsTitle"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(6)
        for number, (name, fact) in enumerate(rows):
            words = fact if len(fact) <= _LONGEST else fact[:_LONGEST].rstrip() + "…"
            value = Label(words, name=f"fact{number + 1}", wrap=True, selectable=True)
            fit_words(value, _WORDS)
            grid.addWidget(Label(name, "muted"), number, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, number, 1, Qt.AlignmentFlag.AlignTop)
        self.card.box.addLayout(grid)
        again = LabelledButton("again", self.tr("Reproduce this answer"), "reproduce")
        again.setToolTip(self.tr("Write it again with the same settings and seed, and compare."))
        again.clicked.connect(self._reproduce)
        copy = LabelledButton("copy", self.tr("Copy"), "copyFacts")
        copy.clicked.connect(self._copy)
        buttons = FlowRow(again, copy)
        buttons.setContentsMargins(0, GRID // 2, 0, 0)
        self.card.box.addWidget(buttons)
        again.setFocus()

    def _reproduce(self) -> None:
        self.close()
        self.reproduce.emit()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
        self.close()
        self.copied.emit()
