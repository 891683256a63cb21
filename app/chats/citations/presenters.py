"""The checked quotes of answers, for the window."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QObject

from app.chats.answers.services.citing import Citing
from app.chats.history.values.conversation import StoredMessage
from app.documents.citations.values import CheckedAnswer
from app.kit.tasks.tasks import Failed, Tasks

CITING: Final = "citing"
_REMEMBERED: Final = 200


class Citations(QObject):
    """Checks answers on a queue of its own; one that was checked before is known at once."""

    def __init__(self, citing: Citing, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._citing = citing
        self._tasks = tasks
        self._known: OrderedDict[tuple[str, ...], CheckedAnswer] = OrderedDict()

    def known(self, path: Sequence[StoredMessage], text: str) -> CheckedAnswer | None:
        """Return what `check` found of this answer before."""
        return self._known.get(_key(path, text))

    def check(
        self,
        path: Sequence[StoredMessage],
        text: str,
        done: Callable[[CheckedAnswer], object],
        failed: Failed,
    ) -> None:
        """Check the answer at the end of a path against its files. text: as `Citing.check`."""

        def keep(checked: CheckedAnswer) -> None:
            self._known[_key(path, text)] = checked
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
            done(checked)

        self._tasks.run(lambda: self._citing.check(path, text), keep, failed, on=CITING)


def _key(path: Sequence[StoredMessage], text: str) -> tuple[str, ...]:
    """Tell an answer by all that its verdicts depend on."""
    attached = (it.sha256 for message in path for it in message.attachments)
    told = (it.document for message in path for it in message.sources)
    return (path[-1].id, text, *dict.fromkeys((*attached, *told)))
