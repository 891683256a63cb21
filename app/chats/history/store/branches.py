"""The branches of chats in the database: siblings, ratings, edits and removed messages."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping

from app.base.db import Database
from app.chats.history.store.chats import IN_TRASH_FOR, in_trash_values
from app.chats.history.store.message_rows import insert_message, insert_turn, leaf_of, show_leaf
from app.chats.history.values.conversation import StoredMessage
from app.chats.history.values.tree import Node, RemovedMessage, Tree, first_words
from app.documents.store.documents import remove_unused_documents

_BELOW = """WITH RECURSIVE below(id) AS (
    VALUES (?) UNION ALL SELECT m.id FROM messages m JOIN below ON m.parent_id = below.id
)"""
_ABOVE = """WITH RECURSIVE above(id) AS (
    VALUES (?) UNION ALL SELECT m.parent_id FROM messages m JOIN above ON m.id = above.id
)"""


class BranchStore:
    """Changes to trees of messages. Each method is one transaction, safe from any thread.

    Nothing that was written is ever overwritten: a changed message gets a sibling, and a removed
    one stays until `purge`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def tree(self, chat_id: str) -> Tree:
        """Return all branches without text, which is much faster than reading the messages."""
        with self._database.read() as db:
            return _tree(db, chat_id)

    def siblings(self, chat_id: str) -> dict[str, tuple[str, ...]]:
        """Return the siblings of each message that has some, including itself, in written order.

        The database finds them: reading a long chat completely takes longer than a frame.
        """
        with self._database.read() as db:
            rows = db.execute(
                "WITH there AS (SELECT id, coalesce(parent_id, '') AS parent, created, rowid AS row"
                " FROM messages WHERE chat_id = ? AND deleted IS NULL)"
                " SELECT id, parent FROM there WHERE parent IN"
                " (SELECT parent FROM there GROUP BY parent HAVING count(*) > 1)"
                " ORDER BY created, row",
                (chat_id,),
            ).fetchall()
        families: dict[str, list[str]] = {}
        for row in rows:
            families.setdefault(row["parent"], []).append(row["id"])
        return {message_id: tuple(ids) for ids in families.values() for message_id in ids}

    def last_two(self, chat_id: str) -> tuple[str, ...]:
        """Return the ids of the last two messages of the shown path, the older one first."""
        with self._database.read() as db:
            leaf = leaf_of(db, chat_id)
            row = db.execute(
                "SELECT parent_id FROM messages WHERE id = ? AND deleted IS NULL", (leaf,)
            ).fetchone()
        return tuple(
            message_id for message_id in (row and row["parent_id"], row and leaf) if message_id
        )

    def tree_with_words(self, chat_id: str) -> Tree:
        """Return all branches with the beginnings of their messages."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT id, parent_id, role, substr(text, 1, 400) AS text, created FROM messages"
                " WHERE chat_id = ? AND deleted IS NULL ORDER BY created, rowid",
                (chat_id,),
            ).fetchall()
        return Tree(
            [
                Node(
                    row["id"], row["parent_id"], row["role"], first_words(row["text"]),
                    row["created"],
                )
                for row in rows
            ]
        )  # fmt: skip

    def leaf(self, chat_id: str) -> str | None:
        """Return the id of the last message of the path that a chat shows.

        Raises:
            ChatNotFound: The chat is deleted or does not exist.
        """
        with self._database.read() as db:
            return leaf_of(db, chat_id)

    def show(self, chat_id: str, leaf_id: str) -> None:
        """Show another path, which does not count as use: the chat keeps its place in the list."""
        with self._database.write() as db:
            leaf_of(db, chat_id)
            db.execute("UPDATE chats SET leaf_id = ? WHERE id = ?", (leaf_id, chat_id))

    def ask_instead(
        self, question: StoredMessage, text: str
    ) -> tuple[StoredMessage, StoredMessage]:
        """Add another question beside one, with an empty answer, and show both."""
        now = time.time()
        with self._database.write() as db:
            leaf_of(db, question.chat_id)
            pair = insert_turn(
                db, question.chat_id, question.parent_id, text, now, question.attachments
            )
            show_leaf(db, question.chat_id, pair[1].id, now)
        return pair

    def answer_to(self, question: StoredMessage) -> StoredMessage:
        """Add an empty answer to a question, beside its other answers, and show it."""
        now = time.time()
        with self._database.write() as db:
            leaf_of(db, question.chat_id)
            answer = insert_message(
                db, question.chat_id, question.id, "assistant", "", "streaming", now
            )
            show_leaf(db, question.chat_id, answer.id, now)
        return answer

    def say_instead(self, answer: StoredMessage, text: str, record: str) -> StoredMessage:
        """Add the user's own text beside an answer, and show it."""
        now = time.time()
        with self._database.write() as db:
            leaf_of(db, answer.chat_id)
            edited = insert_message(
                db, answer.chat_id, answer.parent_id, "assistant", text, "complete", now, record
            )
            show_leaf(db, answer.chat_id, edited.id, now)
        return edited

    def edits(self, chat_id: str) -> dict[str, str]:
        """Return the edits in progress in place of messages, by message id."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT message_id, edits.text AS text FROM edits"
                " CROSS JOIN messages ON messages.id = message_id WHERE chat_id = ?",
                (chat_id,),
            ).fetchall()
        return {row["message_id"]: row["text"] for row in rows}

    def keep_edit(self, message_id: str, text: str | None) -> None:
        """Save the text of an edit in progress; None once it was sent or dropped."""
        with self._database.write() as db:
            if text is None:
                db.execute("DELETE FROM edits WHERE message_id = ?", (message_id,))
            else:
                db.execute("REPLACE INTO edits VALUES (?, ?)", (message_id, text))

    def rate(self, message_id: str, rating: int) -> None:
        """Rate an answer: 1 is good, -1 bad, 0 removes the rating."""
        with self._database.write() as db:
            db.execute("UPDATE messages SET rating = ? WHERE id = ?", (rating, message_id))

    def remove(self, message: StoredMessage, last_shown: Mapping[str, str]) -> RemovedMessage:
        """Remove a message and everything that follows it, on every branch.

        Args:
            last_shown: By message, the leaf of the path that was last shown with it, to choose
                the next path.
        """
        now = time.time()
        with self._database.write() as db:
            leaf = leaf_of(db, message.chat_id)
            leaf_id = _tree(db, message.chat_id).without(message.id, last_shown)
            rows = db.execute(
                f"{_BELOW} SELECT id FROM messages WHERE id IN below AND deleted IS NULL",  # noqa: S608
                (message.id,),
            ).fetchall()
            ids = tuple(row["id"] for row in rows)
            db.executemany(
                "UPDATE messages SET deleted = ? WHERE id = ?",
                [(now, message_id) for message_id in ids],
            )
            db.execute("UPDATE chats SET leaf_id = ? WHERE id = ?", (leaf_id, message.chat_id))
        return RemovedMessage(message.chat_id, message.id, ids, leaf)

    def put_back(self, removed: RemovedMessage) -> None:
        """Restore removed messages and the path that was shown then.

        The messages above them are restored too, if they were removed since.
        """
        with self._database.write() as db:
            leaf_of(db, removed.chat_id)
            db.executemany(
                "UPDATE messages SET deleted = NULL WHERE id = ?",
                [(message_id,) for message_id in removed.ids],
            )
            db.execute(
                f"{_ABOVE} UPDATE messages SET deleted = NULL WHERE id IN above",  # noqa: S608
                (removed.message_id,),
            )
            last_shown = {removed.message_id: removed.leaf_id} if removed.leaf_id else {}
            leaf = _tree(db, removed.chat_id).leaf_of(removed.message_id, last_shown)
            db.execute("UPDATE chats SET leaf_id = ? WHERE id = ?", (leaf, removed.chat_id))

    def purge(self, days: int) -> None:
        """Remove for good messages removed at least `days` days ago; see `ChatStore.count_day`."""
        with self._database.write() as db:
            db.execute(f"DELETE FROM messages WHERE {IN_TRASH_FOR}", in_trash_values(days))  # noqa: S608  our own words
            remove_unused_documents(db)


def _tree(db: sqlite3.Connection, chat_id: str) -> Tree:
    rows = db.execute(
        "SELECT id, parent_id, role FROM messages WHERE chat_id = ? AND deleted IS NULL"
        " ORDER BY created, rowid",
        (chat_id,),
    ).fetchall()
    return Tree([Node(row["id"], row["parent_id"], row["role"]) for row in rows])
