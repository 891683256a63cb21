"""Requests an answer again in the same way, and compares the two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject

from app.base.errors import ModelUnknown, NotReproducible, ReproductionMayDiffer
from app.chats.answers.presenters.generation import Generation
from app.chats.answers.values.answer_record import AnswerRecord, differences, from_json, mark_of
from app.chats.answers.values.answers import AnswerOptions
from app.chats.history.store.chats import ChatStore
from app.chats.history.values.conversation import StoredMessage
from app.kit.tasks.tasks import SYSTEM, Failed, Tasks
from app.models.library.services.library import Library
from app.models.library.values.entry import ModelEntry
from app.settings.values.models import valid_settings
from engines.sentences import N_


@dataclass(frozen=True)
class Plan:
    """A plan for requesting an answer again.

    Attributes:
        doubt: Why the new answer might differ; None if nothing suggests that it will.
    """

    answer: StoredMessage
    options: AnswerOptions
    doubt: ReproductionMayDiffer | None


@dataclass(frozen=True)
class Comparison:
    """The comparison of an answer with the one written again.

    Attributes:
        same: Whether they match word for word, as far as both go.
        words: How many words match before the first difference.
        reasons: What differed in the requests, in a few words each.
    """

    same: bool
    words: int = 0
    reasons: tuple[str, ...] = ()


Compared = Callable[[StoredMessage, Comparison], object]
"""Called with the original answer and its comparison with the new one."""


class Reproducing(QObject):
    """Reproduces answers: `plan` checks whether that is possible, `begin` writes one again."""

    def __init__(
        self,
        store: ChatStore,
        library: Library,
        generation: Generation,
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._library = library
        self._generation = generation
        self._tasks = tasks
        self._pending: dict[str, tuple[StoredMessage, Compared]] = {}
        generation.ended.connect(self._ended)

    def plan(self, answer: StoredMessage, done: Callable[[Plan], object], failed: Failed) -> None:
        """Check on another thread whether everything the answer needed still exists."""
        self._tasks.run(lambda: plan(answer, self._library.find), done, failed, on=SYSTEM)

    def begin(self, planned: Plan, done: Compared, failed: Failed) -> None:
        """Write the answer again, beside the old one.

        Args:
            done: Called with the comparison if the new answer is completed.
            failed: Called if the answer could not be begun.
        """
        original = planned.answer

        def save() -> StoredMessage:
            repetition = self._store.answer_again(original.chat_id, original.id)
            self._pending[repetition.id] = original, done
            return repetition

        self._generation.answer_by(save, planned.options, failed)

    def _ended(self, answer: StoredMessage) -> None:
        original, done = self._pending.pop(answer.id, (None, None))
        if original is not None and done is not None and answer.state == "complete":
            done(original, compare(original, answer))


def plan(answer: StoredMessage, find: Callable[[str], ModelEntry]) -> Plan:
    """Plan to request an answer again.

    Args:
        find: Finds a model by its id.

    Raises:
        NotReproducible: The error carries the reason.
    """
    record = from_json(answer.asked)
    if record is not None and record.edited:
        raise NotReproducible(
            N_("This text cannot be reproduced."),
            N_("You wrote it yourself, in place of the model’s answer."),
            N_("Go to the model’s own answer, in another branch, and reproduce that one."),
        )
    if record is None or record.seed is None:
        raise NotReproducible(
            N_("This answer cannot be reproduced."),
            N_("Hearth has no record of how it was made: it is too old, or it failed."),
            N_("Answer again; the new answer can be reproduced."),
        )
    try:
        entry = find(record.model)
        marks = tuple(mark_of(path) for path in entry.files)
    except (ModelUnknown, OSError) as error:
        raise NotReproducible(
            N_("This answer cannot be reproduced."),
            N_(
                "“{name}”, the model that wrote it, is no longer on this computer.",
                name=record.name,
            ),
            N_("Download that model again, or let another one answer."),
        ) from error
    is_same_file = marks == record.files or bool(record.sha256 and record.sha256 == entry.sha256)
    return Plan(answer, options_of(record), _doubt(record, same_file=is_same_file))


def options_of(record: AnswerRecord) -> AnswerOptions:
    """Return everything that was set then, including settings that differ now."""
    thinking = None if record.thinking is None else "on" if record.thinking else "off"
    return AnswerOptions(
        {
            "mtp": record.settings.get("mtp"),
            "overflow": record.settings.get("overflow"),
            "thinking": thinking,
            "effort": record.effort,
            **valid_settings(record.settings),
            "model": record.model,
        },
        seed=record.seed,
        stop=record.stop,
        grammar=record.grammar,
        depth=record.depth,
        thinking_budget=record.thinking_budget,
    )


def compare(original: StoredMessage, repetition: StoredMessage) -> Comparison:
    """Compare two answers; compare a stopped one only as far as it goes."""
    old, new = original.text, repetition.text
    if old == new or (original.state != "complete" and new.startswith(old)):
        return Comparison(same=True)
    words = zip(old.split(), new.split(), strict=False)
    count = next((at for at, (one, other) in enumerate(words) if one != other), None)
    same_words = min(len(old.split()), len(new.split())) if count is None else count
    old_record, new_record = from_json(original.asked), from_json(repetition.asked)
    return Comparison(
        False, same_words, differences(old_record, new_record) if old_record and new_record else ()
    )


def _doubt(record: AnswerRecord, *, same_file: bool) -> ReproductionMayDiffer | None:
    if not same_file:
        return ReproductionMayDiffer(
            N_("The model’s file has changed."),
            N_(
                "“{name}” was changed or downloaded again after it wrote this answer.",
                name=record.name,
            ),
            N_("Answer with the current file; the words may differ."),
        )
    if record.parts > 1:
        return ReproductionMayDiffer(
            N_("This answer was not written in one go."),
            N_("It was stopped and continued, so that it has {parts} parts.", parts=record.parts),
            N_("Write it in one go with the last seed; the words may differ."),
        )
    return None
