"""Chats and messages in the database."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.base.db import Database
from app.base.errors import AnswerInUse, ChatNotFound
from app.base.ids import new_id
from app.base.processes import is_alive, this_process
from app.chats.history.store.message_rows import (
    insert_message,
    insert_turn,
    leaf_of,
    show_leaf,
)
from app.chats.history.store.rows import chat_of, insert_row, message_of, row_of_message
from app.chats.history.values.chat import Chat, title_from
from app.documents.store.documents import DocumentStore, insert_document, remove_unused_documents
from engines.sentences import N_

if TYPE_CHECKING:
    from app.assistants.values.assistants import NewChat
    from app.chats.history.values.conversation import StoredMessage
    from app.documents.values.documents import AttachedFile, Attachment, Document
    from engines.types import MtpMode

_BEHIND_ALL = "\U0010ffff"
"""Sorts after every character that can occur in an id."""

_OF_AN_ANSWER = (
    "text",
    "reasoning",
    "state",
    "writer",
    "facts",
    "failure",
    "reasoning_s",
    "asked",
    "sources",
)
"""The columns of a message that change while it is written."""

IN_TRASH_FOR = "deleted IS NOT NULL AND trash_days >= ? AND abs(? - deleted) >= ?"
"""Condition for rows that have been in the trash for some days; see `in_trash_values`.

They count by days that Hearth has seen and by the clock. If the clock was ahead when a row was
deleted and has been corrected since, the row is still removed in time.
"""
_DAY_S = 24 * 3600.0


def in_trash_values(days: int) -> tuple[float, ...]:
    """Return the values for the placeholders of `IN_TRASH_FOR`."""
    return days, time.time(), days * _DAY_S


class ChatStore:
    """The tables of chats and messages. Each method is one transaction, safe from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def chats(self) -> list[Chat]:
        """Return the chats that are not deleted, the most recently used first."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT * FROM chats WHERE deleted IS NULL ORDER BY updated DESC, rowid DESC"
            ).fetchall()
        return [chat_of(row) for row in rows]

    def chat(self, chat_id: str) -> Chat:
        """Find a chat by its id or a unique beginning of the id.

        Raises:
            ChatNotFound: No chat, or more than one, matches.
        """
        with self._database.read() as db:
            rows = db.execute(
                "SELECT * FROM chats WHERE id >= ? AND id < ? AND deleted IS NULL LIMIT 2",
                (chat_id, chat_id + _BEHIND_ALL),
            ).fetchall()
        if len(rows) != 1 or not chat_id:
            raise ChatNotFound(
                N_("There is no chat “{chat_id}”.", chat_id=chat_id),
                N_("Several chats begin like that.")
                if rows
                else N_("It was deleted, or never existed."),
                N_("Choose another chat."),
                terminal=N_("`hearth chats list` shows all chats with their ids."),
            )
        return chat_of(rows[0])

    def messages(self, chat_id: str) -> list[StoredMessage]:
        """Return the messages of a chat, on every branch, in the order they were written."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT * FROM messages WHERE chat_id = ? AND deleted IS NULL"
                " ORDER BY created, rowid",
                (chat_id,),
            ).fetchall()
        return [message_of(row) for row in rows]

    def path(self, chat_id: str) -> tuple[StoredMessage, ...]:
        """Return the messages that the chat shows, oldest first."""
        from app.chats.history.values.conversation import path_to

        return path_to(self.messages(chat_id), self.chat(chat_id).leaf_id)

    def documents(self, chat_id: str) -> list[Document]:
        """Return the text of all files attached in a chat."""
        hashes = {
            attachment.sha256
            for message in self.messages(chat_id)
            for attachment in message.attachments
        }
        return list(DocumentStore(self._database).documents(hashes).values()) if hashes else []

    def ask(
        self,
        chat_id: str | None,
        text: str,
        mtp: MtpMode | None = None,
        begins: NewChat | None = None,
        files: Sequence[AttachedFile] = (),
        attachments: Sequence[Attachment] = (),
    ) -> tuple[StoredMessage, StoredMessage]:
        """Save a question and the empty answer to it.

        Args:
            chat_id: None begins a new chat.
            mtp: The switch of a new chat; an existing chat keeps its own.
            begins: A new chat's own settings.
            files: Files that go with the question; their text is saved too.
            attachments: More files that go with it, whose text is already stored.
        """
        now = time.time()
        attachments = [*attachments, *(file.attachment for file in files)]
        with self._database.write() as db:
            for file in files:
                insert_document(db, file.document, now, was_read=True)
            if chat_id is None:
                chat_id = new_id()
                title = title_from(text or " ".join(attachment.name for attachment in attachments))
                insert_row(
                    db,
                    "chats",
                    {"id": chat_id, "title": title, "created": now, "updated": now, "mtp": mtp},
                )
                if begins is not None:
                    from app.chats.history.store.chat_settings import save_own

                    save_own(db, chat_id, begins)
                if begins is not None and begins.greeting:
                    greeting = insert_message(
                        db, chat_id, None, "assistant", begins.greeting, "complete", now
                    )
                    show_leaf(db, chat_id, greeting.id, now)
            leaf = leaf_of(db, chat_id)
            question, answer = insert_turn(db, chat_id, leaf, text, now, attachments)
            show_leaf(db, chat_id, answer.id, now)
        return question, answer

    def answer_again(self, chat_id: str, message_id: str) -> StoredMessage:
        """Begin another answer beside the given one, which stays as a branch."""
        now = time.time()
        with self._database.write() as db:
            leaf_of(db, chat_id)
            row = db.execute(
                "SELECT parent_id FROM messages WHERE id = ? AND chat_id = ?", (message_id, chat_id)
            ).fetchone()
            answer = insert_message(
                db, chat_id, row["parent_id"], "assistant", "", "streaming", now
            )
            show_leaf(db, chat_id, answer.id, now)
        return answer

    def reopen(self, message: StoredMessage) -> StoredMessage:
        """Continue writing an answer that had ended.

        The longer of the stored text and that of `message` is continued: another window or terminal
        can have continued the answer, or its last save can have failed.

        Raises:
            ChatNotFound: The chat is deleted.
            AnswerInUse: Another process is writing the answer.
        """
        with self._database.write() as db:
            leaf_of(db, message.chat_id)
            row = db.execute("SELECT * FROM messages WHERE id = ?", (message.id,)).fetchone()
            writer = row["writer"]
            if row["state"] == "streaming" and writer != this_process() and is_alive(writer):
                raise AnswerInUse(
                    N_("This answer is being written elsewhere."),
                    N_("Another of your windows or terminals is working on it."),
                    N_("Wait until it has ended, or stop it there."),
                )
            stored = message_of(row)
            longer = stored if len(stored.text) > len(message.text) else message
            db.execute(
                "UPDATE messages SET text = ?, state = 'streaming', writer = ?, failure = NULL"
                " WHERE id = ?",
                (longer.text, this_process(), message.id),
            )
        return replace(longer, state="streaming", failure=None)

    def save_answer(self, message: StoredMessage) -> None:
        """Save an answer's text, state and facts as they are now."""
        writer = this_process() if message.state == "streaming" else None
        row = {**row_of_message(message), "writer": writer}
        changes = ", ".join(f"{column} = :{column}" for column in _OF_AN_ANSWER)
        with self._database.write() as db:
            db.execute(f"UPDATE messages SET {changes} WHERE id = :id", row)  # noqa: S608  our own words

    def mark_interrupted(self) -> int:
        """Mark answers whose writing process is gone as interrupted, and return their number."""
        with self._database.read() as db:
            rows = db.execute("SELECT id, writer FROM messages WHERE state = 'streaming'")
            abandoned = [(row["id"],) for row in rows if not is_alive(row["writer"])]
        if abandoned:
            with self._database.write() as db:
                db.executemany(
                    "UPDATE messages SET state = 'interrupted', writer = NULL WHERE id = ?",
                    abandoned,
                )
        return len(abandoned)

    def rename(self, chat_id: str, title: str) -> None:
        """Set the user's title, which no model replaces any more."""
        with self._database.write() as db:
            db.execute(
                "UPDATE chats SET title = ?, titled_by = 'user' WHERE id = ?", (title, chat_id)
            )

    def entitle(self, chat_id: str, title: str) -> bool:
        """Replace a title taken from the first question; return False if the title is another."""
        with self._database.write() as db:
            done = db.execute(
                "UPDATE chats SET title = ?, titled_by = 'model'"
                " WHERE id = ? AND titled_by = 'text'",
                (title, chat_id),
            )
        return done.rowcount > 0

    def duplicate(self, chat_id: str, title: str) -> str:
        """Copy a chat with all its messages and summaries, and return the id of the copy.

        The copy goes into the same folder. It gets no draft and no waiting messages, and is neither
        pinned nor archived.

        Raises:
            ChatNotFound: The chat is deleted or does not exist.
        """
        now, copy_id = time.time(), new_id()
        with self._database.write() as db:
            leaf = leaf_of(db, chat_id)
            # A message can be stored before the message that it follows.
            db.execute("PRAGMA defer_foreign_keys = ON")
            chat = dict(db.execute("SELECT * FROM chats WHERE id = ?", (chat_id,)).fetchone())
            rows = db.execute(
                "SELECT * FROM messages WHERE chat_id = ? AND deleted IS NULL"
                " ORDER BY created, rowid",
                (chat_id,),
            ).fetchall()
            names = {row["id"]: new_id() for row in rows}
            insert_row(
                db,
                "chats",
                chat
                | {"id": copy_id, "title": title, "titled_by": "user"}
                | {"draft": "", "draft_files": ""}
                | {"created": now, "updated": now, "leaf_id": names.get(leaf or "")}
                | {"pinned": 0, "archived": None, "unread": 0},
            )
            for row in rows:
                interrupted = {"state": "interrupted", "writer": None}
                insert_row(
                    db,
                    "messages",
                    dict(row)
                    | {"id": names[row["id"]], "chat_id": copy_id}
                    | {"parent_id": names.get(row["parent_id"])}
                    | (interrupted if row["state"] == "streaming" else {}),
                )
            for row in db.execute(
                "SELECT summaries.* FROM summaries JOIN messages ON messages.id = message_id"
                " WHERE chat_id = ? AND deleted IS NULL",
                (chat_id,),
            ).fetchall():
                insert_row(db, "summaries", dict(row) | {"message_id": names[row["message_id"]]})
        return copy_id

    def set_mtp(self, chat_id: str, mtp: MtpMode) -> None:
        """Set the MTP mode of a chat's next answers."""
        with self._database.write() as db:
            db.execute("UPDATE chats SET mtp = ? WHERE id = ?", (mtp, chat_id))

    def mtp(self, chat_id: str) -> MtpMode | None:
        """Return the MTP mode of a chat, even a deleted one; None if it was never set."""
        with self._database.read() as db:
            row = db.execute("SELECT mtp FROM chats WHERE id = ?", (chat_id,)).fetchone()
        return row["mtp"] if row else None

    def delete(self, *chat_ids: str) -> None:
        """Move chats to the trash; `undelete` restores them until `purge`."""
        self._set_deleted(time.time(), chat_ids)

    def undelete(self, *chat_ids: str) -> None:
        """Restore chats to where they were: pinned, in their folder, or archived."""
        self._set_deleted(None, chat_ids)

    def _set_deleted(self, when: float | None, chat_ids: Sequence[str]) -> None:
        with self._database.write() as db:
            changes = [(when, chat_id) for chat_id in chat_ids]
            db.executemany("UPDATE chats SET deleted = ? WHERE id = ?", changes)

    def deleted(self, days: int = 0) -> list[str]:
        """Return the ids of chats that were in the trash for at least `days`; see `count_day`."""
        with self._database.read() as db:
            query = f"SELECT id FROM chats WHERE {IN_TRASH_FOR}"  # noqa: S608  our own words
            rows = db.execute(query, in_trash_values(days)).fetchall()
        return [row["id"] for row in rows]

    def count_day(self, day: str) -> None:
        """Count a day for everything in the trash, once for each date.

        Counted days survive a clock that jumps, because the clock alone does not decide how long
        something has been in the trash.

        Args:
            day: A local date such as 2026-03-01.
        """
        with self._database.read() as db:
            if db.execute("SELECT 1 FROM days WHERE day = ?", (day,)).fetchone():
                return
        with self._database.write() as db:
            if db.execute("INSERT OR IGNORE INTO days (day) VALUES (?)", (day,)).rowcount:
                for table in ("chats", "messages"):
                    db.execute(
                        f"UPDATE {table} SET trash_days = trash_days + 1"  # noqa: S608  as above
                        " WHERE deleted IS NOT NULL"
                    )

    def purge(self, chat_id: str) -> None:
        """Remove a deleted chat for good."""
        with self._database.write() as db:
            db.execute("DELETE FROM chats WHERE id = ? AND deleted IS NOT NULL", (chat_id,))
            remove_unused_documents(db)
