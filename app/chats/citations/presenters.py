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
    """The check of answers, on its own queue, with a cache of earlier results."""

    def __init__(self, citing: Citing, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._citing = citing
        self._tasks = tasks
        self._known: OrderedDict[tuple[str, ...], CheckedAnswer] = OrderedDict()

    def known(self, path: Sequence[StoredMessage], text: str) -> CheckedAnswer | None:
        """Return the cached result of `check` for this answer; None if there is none."""
        return self._known.get(_key(path, text))

    def check(
        self,
        path: Sequence[StoredMessage],
        text: str,
        done: Callable[[CheckedAnswer], object],
        failed: Failed,
    ) -> None:
        """Check an answer against the files of its branch.

        Args:
            path: The messages from the first one to the answer.
            text: As for `Citing.check`.
            done: Called with the result.
            failed: Called with the error.
        """

        def store(checked: CheckedAnswer) -> None:
            self._known[_key(path, text)] = checked
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
            done(checked)

        self._tasks.run(lambda: self._citing.check(path, text), store, failed, on=CITING)


def _key(path: Sequence[StoredMessage], text: str) -> tuple[str, ...]:
    """Return a cache key that contains everything on which the verdicts depend."""
    attached_hashes = (attachment.sha256 for message in path for attachment in message.attachments)
    sent = (source.document for message in path for source in message.sources)
    return (path[-1].id, text, *dict.fromkeys((*attached_hashes, *sent)))
