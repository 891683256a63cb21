"""Reads the chats of each sidebar place page by page, and moves chats between places."""

from __future__ import annotations

import time
from collections.abc import Sequence

from app.base.db import Database
from app.chats.history.store.rows import LISTED, MARK, listed_chat
from app.chats.history.values.chat import MARKS, ChatMark, ListedChat
from app.chats.history.values.places import Place, PlaceKind

_LISTED = "deleted IS NULL AND archived IS NULL"
_WHERE: dict[PlaceKind, str] = {
    "all": _LISTED,
    "pinned": f"{_LISTED} AND pinned = 1",
    "chats": f"{_LISTED} AND pinned = 0 AND folder_id IS NULL",
    "folder": f"{_LISTED} AND pinned = 0 AND folder_id = ?",
    "archive": "deleted IS NULL AND archived IS NOT NULL",
    "trash": "deleted IS NOT NULL",
}
_ORDER: dict[PlaceKind, str] = {"archive": "archived", "trash": "deleted"}


class ChatLists:
    """Lists of chats. Each method is one transaction, safe from any thread.

    Pages and counts are read from an index of their own; see the migration that creates it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, place: Place, offset: int, limit: int) -> list[ListedChat]:
        """Return a page of chats, the newest first.

        They are sorted by last use; in the archive and the trash, by when they were moved there.
        """
        order = _ORDER.get(place.kind, "updated")
        with self._database.read() as db:
            rows = db.execute(
                f"{LISTED} WHERE {_WHERE[place.kind]}"
                f" ORDER BY {order} DESC, chats.rowid DESC LIMIT ? OFFSET ?",
                (*_values(place), limit, offset),
            ).fetchall()
        return [listed_chat(row) for row in rows]

    def count(self, place: Place) -> int:
        """Return the number of chats in a place of the sidebar."""
        with self._database.read() as db:
            found = db.execute(
                f"SELECT count(*) FROM chats WHERE {_WHERE[place.kind]}",  # noqa: S608  as above
                _values(place),
            ).fetchone()
        return int(found[0])

    def count_since(self, place: Place, when: float) -> int:
        """Count the chats at or after the time `when`, by the date that `page` sorts by."""
        order = _ORDER.get(place.kind, "updated")
        with self._database.read() as db:
            found = db.execute(
                f"SELECT count(*) FROM chats WHERE {_WHERE[place.kind]}"  # noqa: S608  as above
                f" AND {order} >= ?",
                (*_values(place), when),
            ).fetchone()
        return int(found[0])

    def marks(self, place: Place) -> dict[ChatMark, int]:
        """Count the chats of a place by their marks, the strongest first, without the mark ""."""
        with self._database.read() as db:
            found = dict(
                db.execute(
                    f"SELECT {MARK} AS mark, count(*) FROM chats"  # noqa: S608  our own words
                    f" WHERE {_WHERE[place.kind]} GROUP BY mark",
                    _values(place),
                ).fetchall()
            )
        return {mark: found[mark] for mark in MARKS if mark in found}

    def ids_in_folder(self, folder_id: str) -> tuple[str, ...]:
        """Return the ids of a folder's chats, including pinned ones, the last used first."""
        with self._database.read() as db:
            rows = db.execute(
                f"SELECT id FROM chats WHERE {_LISTED} AND folder_id = ?"  # noqa: S608  as above
                " ORDER BY updated DESC, rowid DESC",
                (folder_id,),
            ).fetchall()
        return tuple(row["id"] for row in rows)

    def find(self, chat_id: str) -> ListedChat | None:
        """Find a chat in any place; return None if it was removed for good."""
        with self._database.read() as db:
            row = db.execute(f"{LISTED} WHERE id = ?", (chat_id,)).fetchone()
        return listed_chat(row) if row else None

    def set_pinned(self, chat_ids: Sequence[str], pinned: bool) -> None:
        """Pin chats, or unpin them."""
        self._each("UPDATE chats SET pinned = ? WHERE id = ?", int(pinned), chat_ids)

    def set_archived(self, chat_ids: Sequence[str], archived: bool) -> None:
        """Move chats to the archive, or out of it."""
        when = time.time() if archived else None
        self._each("UPDATE chats SET archived = ? WHERE id = ?", when, chat_ids)

    def set_unread(self, chat_id: str, unread: bool) -> None:
        """Mark a chat as unread, or as read."""
        self._each("UPDATE chats SET unread = ? WHERE id = ?", int(unread), [chat_id])

    def move(self, chat_ids: Sequence[str], folder_id: str | None) -> None:
        """Move chats into a folder, or out of their folder with None."""
        self._each("UPDATE chats SET folder_id = ? WHERE id = ?", folder_id, chat_ids)

    def _each(self, change: str, value: object, chat_ids: Sequence[str]) -> None:
        with self._database.write() as db:
            db.executemany(change, [(value, chat_id) for chat_id in chat_ids])


def _values(place: Place) -> tuple[str, ...]:
    return (place.folder_id or "",) if place.kind == "folder" else ()
