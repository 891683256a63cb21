"""Messages that wait to be sent, stored so that no crash loses one."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.base.db import Database
from app.base.errors import NotWaiting
from app.base.ids import new_id
from app.chats.history.store.message_rows import insert_turn, leaf_of, show_leaf
from app.chats.history.store.rows import insert_row, row_of_waiting, waiting_of
from app.chats.history.values.conversation import StoredMessage
from app.chats.history.values.waiting import Waiting
from engines.sentences import N_

if TYPE_CHECKING:
    from app.documents.values.documents import Attachment


class WaitingStore:
    """The table of waiting messages. Each method is one transaction, safe from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, chat_id: str) -> tuple[Waiting, ...]:
        """Return a chat's waiting messages in the order in which they are to be sent."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT * FROM waiting WHERE chat_id = ? ORDER BY position, rowid", (chat_id,)
            ).fetchall()
        return tuple(map(waiting_of, rows))

    def add(
        self,
        chat_id: str,
        text: str,
        options: str,
        item_id: str | None = None,
        attachments: Sequence[Attachment] = (),
    ) -> Waiting:
        """Add a message after all waiting ones, for the shown branch.

        Args:
            item_id: The id to use; None creates one.
            attachments: Files whose text is already stored.

        Raises:
            ChatNotFound: The chat is deleted or does not exist.
        """
        with self._database.write() as db:
            item_id = item_id or new_id()
            item = Waiting(
                item_id,
                chat_id,
                text,
                options,
                time.time(),
                leaf_of(db, chat_id),
                tuple(attachments),
            )
            last = db.execute(
                "SELECT coalesce(max(position), 0) FROM waiting WHERE chat_id = ?", (chat_id,)
            ).fetchone()[0]
            _insert(db, item, last + 1)
        return item

    def put_back(self, item: Waiting, order: Sequence[str]) -> None:
        """Restore a removed message to its place.

        Args:
            order: All waiting ids of its chat, including this one, the next one first.
        """
        with self._database.write() as db:
            _insert(db, item, 0)
            db.executemany(
                "UPDATE waiting SET position = ? WHERE id = ?",
                [(place, item_id) for place, item_id in enumerate(order, start=1)],
            )

    def change(self, item_id: str, text: str) -> None:
        """Replace the text of a waiting message."""
        with self._database.write() as db:
            db.execute("UPDATE waiting SET text = ? WHERE id = ?", (text, item_id))

    def arrange(self, order: Sequence[str]) -> None:
        """Reorder the waiting messages.

        Args:
            order: All waiting ids of a chat, the next one first.
        """
        with self._database.write() as db:
            db.executemany(
                "UPDATE waiting SET position = ? WHERE id = ?",
                [(place, item_id) for place, item_id in enumerate(order, start=1)],
            )

    def remove(self, item_id: str) -> None:
        """Remove a waiting message."""
        with self._database.write() as db:
            db.execute("DELETE FROM waiting WHERE id = ?", (item_id,))

    def send(self, item_id: str, *, on_shown_branch: bool) -> tuple[StoredMessage, StoredMessage]:
        """Turn a waiting message into a question with an empty answer.

        This is a single transaction: after a crash the message is either waiting or asked. The
        shown path changes only if the question is added at its end.

        Args:
            on_shown_branch: Add the question to the shown branch. Otherwise it goes after the
                message that it waits for or, if that was deleted, to the shown branch too.

        Raises:
            ChatNotFound: The chat is deleted.
            NotWaiting: The message was sent or removed elsewhere.
        """
        now = time.time()
        with self._database.write() as db:
            row = db.execute("SELECT * FROM waiting WHERE id = ?", (item_id,)).fetchone()
            if row is None:
                raise NotWaiting(
                    N_("This message is no longer waiting."),
                    N_("It was sent or removed in another window."),
                    N_("There is nothing left to do."),
                )
            item = waiting_of(row)
            chat_id, after = item.chat_id, item.after
            leaf = leaf_of(db, chat_id)
            after_exists = db.execute(
                "SELECT 1 FROM messages WHERE id = ? AND deleted IS NULL", (after,)
            ).fetchone()
            parent = leaf if on_shown_branch or after_exists is None else after
            pair = insert_turn(db, chat_id, parent, item.text, now, item.attachments)
            if parent == leaf:
                show_leaf(db, chat_id, pair[1].id, now)
            db.execute("DELETE FROM waiting WHERE id = ?", (item_id,))
            # The other messages now wait for this answer.
            db.execute(
                "UPDATE waiting SET [after] = ? WHERE chat_id = ? AND ([after] = ? OR ?)",
                (pair[1].id, chat_id, after, on_shown_branch),
            )
        return pair


def _insert(db: sqlite3.Connection, item: Waiting, position: int) -> None:
    insert_row(db, "waiting", {**row_of_waiting(item), "position": position})
