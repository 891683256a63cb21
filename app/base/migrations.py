"""The steps from an empty database to the present one. Append a function; never change one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

Migration = Callable[[sqlite3.Connection], None]


def _chats_and_messages(db: sqlite3.Connection) -> None:
    db.execute(
        """CREATE TABLE chats (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL,
            created REAL NOT NULL,
            updated REAL NOT NULL,
            leaf_id TEXT,
            deleted REAL
        ) STRICT"""
    )
    db.execute(
        """CREATE TABLE messages (
            id TEXT PRIMARY KEY,
            chat_id TEXT NOT NULL REFERENCES chats(id) ON DELETE CASCADE,
            parent_id TEXT REFERENCES messages(id) ON DELETE CASCADE,
            role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
            text TEXT NOT NULL,
            reasoning TEXT NOT NULL DEFAULT '',
            state TEXT NOT NULL,
            writer TEXT,
            facts TEXT,
            failure TEXT,
            created REAL NOT NULL
        ) STRICT"""
    )
    db.execute("CREATE INDEX messages_of_chat ON messages(chat_id, created)")
    db.execute("CREATE INDEX chats_by_time ON chats(updated)")


def _models(db: sqlite3.Connection) -> None:
    db.execute(
        """CREATE TABLE models (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            path TEXT NOT NULL UNIQUE,
            added REAL NOT NULL
        ) STRICT"""
    )


def _mtp_of_chat(db: sqlite3.Connection) -> None:
    """Add the chat's MTP mode; NULL in chats that are older than this setting."""
    db.execute("ALTER TABLE chats ADD COLUMN mtp TEXT CHECK (mtp IN ('off', 'auto', 'on'))")


def _drafters(db: sqlite3.Connection) -> None:
    """Mark the files that were added as drafters, so that this is known when they are gone, too."""
    db.execute("ALTER TABLE models ADD COLUMN drafts INTEGER NOT NULL DEFAULT 0")


def _known_models(db: sqlite3.Connection) -> None:
    """Add the models wherever their files are: their ids, names, last use and settings.

    identity: repository, file and hash, or other facts that identify a file; NULL for models that
    were added, whose id is in `models`. value: JSON.
    """
    db.execute(
        """CREATE TABLE known_models (
            id TEXT PRIMARY KEY,
            identity TEXT UNIQUE,
            name TEXT,
            last_used REAL
        ) STRICT"""
    )
    db.execute(
        """CREATE TABLE model_settings (
            model_id TEXT NOT NULL,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (model_id, name)
        ) STRICT"""
    )
    db.execute(
        """CREATE TABLE file_hashes (
            path TEXT PRIMARY KEY,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            sha256 TEXT NOT NULL,
            checked REAL NOT NULL
        ) STRICT"""
    )


def _connections(db: sqlite3.Connection) -> None:
    """Add the ledger of connections, as in `app.net.values.connections.LoggedConnection`."""
    db.execute(
        """CREATE TABLE connections (
            id INTEGER PRIMARY KEY,
            started REAL NOT NULL,
            seconds REAL NOT NULL,
            host TEXT NOT NULL,
            port INTEGER NOT NULL,
            purpose TEXT NOT NULL,
            method TEXT NOT NULL,
            sent INTEGER NOT NULL,
            received INTEGER NOT NULL,
            result TEXT NOT NULL,
            proxy TEXT
        ) STRICT"""
    )


def _loads(db: sqlite3.Connection) -> None:
    """Add the loads with their predicted and real memory, as in `LoadRecord`."""
    db.execute(
        """CREATE TABLE loads (
            id INTEGER PRIMARY KEY,
            model TEXT NOT NULL,
            device TEXT NOT NULL,
            context INTEGER NOT NULL,
            kv_type TEXT NOT NULL,
            mmap INTEGER NOT NULL,
            draft_max INTEGER NOT NULL,
            exact INTEGER NOT NULL,
            predicted_bytes INTEGER NOT NULL,
            real_bytes INTEGER NOT NULL,
            need_bytes INTEGER NOT NULL,
            used_bytes INTEGER NOT NULL,
            [when] REAL NOT NULL
        ) STRICT"""
    )
    db.execute("CREATE INDEX loads_of_model ON loads(model)")


def _downloads(db: sqlite3.Connection) -> None:
    """Add the queue of downloads, by position. wanted: JSON. runner: the process at work on it."""
    db.execute(
        """CREATE TABLE downloads (
            id TEXT PRIMARY KEY,
            position INTEGER NOT NULL,
            state TEXT NOT NULL,
            wanted TEXT NOT NULL,
            what TEXT NOT NULL DEFAULT '',
            why TEXT NOT NULL DEFAULT '',
            what_to_do TEXT NOT NULL DEFAULT '',
            code TEXT NOT NULL DEFAULT '',
            runner TEXT
        ) STRICT"""
    )


def _headers(db: sqlite3.Connection) -> None:
    """Add the headers of model files, as last read. header: JSON.

    reader: the version of Hearth's reader, since another one may see more in a file.
    """
    db.execute(
        """CREATE TABLE headers (
            path TEXT PRIMARY KEY,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            reader TEXT NOT NULL,
            header TEXT NOT NULL
        ) STRICT"""
    )


def _order_of_chats(db: sqlite3.Connection) -> None:
    """Add folders and more columns of chats. archived, deleted: seconds since 1970."""
    db.execute(
        """CREATE TABLE folders (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            position INTEGER NOT NULL,
            created REAL NOT NULL
        ) STRICT"""
    )
    for column in (
        "folder_id TEXT REFERENCES folders(id) ON DELETE SET NULL",
        "pinned INTEGER NOT NULL DEFAULT 0",
        "archived REAL",
        "titled_by TEXT NOT NULL DEFAULT 'text'",
        "model TEXT",
        "assistant_id TEXT",
        "thinking INTEGER",
        "overflow TEXT",
        "draft TEXT NOT NULL DEFAULT ''",
    ):
        db.execute(f"ALTER TABLE chats ADD COLUMN {column}")


def _more_of_messages(db: sqlite3.Connection) -> None:
    """Add columns for `StoredMessage`. deleted: when the user removed it, in seconds since 1970."""
    for column in (
        "reasoning_s REAL NOT NULL DEFAULT 0",
        "rating INTEGER NOT NULL DEFAULT 0",
        "pinned INTEGER NOT NULL DEFAULT 0",
        "asked TEXT NOT NULL DEFAULT ''",
        "deleted REAL",
    ):
        db.execute(f"ALTER TABLE messages ADD COLUMN {column}")


def _summaries(db: sqlite3.Connection) -> None:
    """Add summaries, which replace all messages up to one in the prompt; the messages stay."""
    db.execute(
        """CREATE TABLE summaries (
            message_id TEXT PRIMARY KEY REFERENCES messages(id) ON DELETE CASCADE,
            text TEXT NOT NULL,
            model TEXT NOT NULL,
            tokens INTEGER NOT NULL,
            created REAL NOT NULL
        ) STRICT"""
    )


def _waiting(db: sqlite3.Connection) -> None:
    """Add messages that wait until an answer ends. options: JSON."""
    db.execute(
        """CREATE TABLE waiting (
            id TEXT PRIMARY KEY,
            chat_id TEXT NOT NULL REFERENCES chats(id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            text TEXT NOT NULL,
            options TEXT NOT NULL DEFAULT '{}',
            created REAL NOT NULL
        ) STRICT"""
    )


def _assistants(db: sqlite3.Connection) -> None:
    """Add assistants, sampling presets and the prompt library. settings: JSON by name."""
    db.execute(
        """CREATE TABLE assistants (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            position INTEGER NOT NULL,
            system_prompt TEXT NOT NULL DEFAULT '',
            greeting TEXT NOT NULL DEFAULT '',
            model TEXT,
            settings TEXT NOT NULL DEFAULT '{}'
        ) STRICT"""
    )
    db.execute(
        """CREATE TABLE presets (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            position INTEGER NOT NULL,
            settings TEXT NOT NULL
        ) STRICT"""
    )
    db.execute(
        """CREATE TABLE prompts (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            position INTEGER NOT NULL,
            text TEXT NOT NULL
        ) STRICT"""
    )


def _settings_of_chat(db: sqlite3.Connection) -> None:
    """Add a chat's own settings other than its model: JSON by name."""
    db.execute("ALTER TABLE chats ADD COLUMN settings TEXT NOT NULL DEFAULT '{}'")


def _what_summaries_cover(db: sqlite3.Connection) -> None:
    """Add a hash of the texts that a summary was made of; it is invalid once they change."""
    db.execute("ALTER TABLE summaries ADD COLUMN covers TEXT NOT NULL DEFAULT ''")


def _children_of_messages(db: sqlite3.Connection) -> None:
    """Index messages by parent; without it, removing one searches all others for its children.

    `waiting.after`: the message after which a waiting one is to be sent.
    """
    db.execute("CREATE INDEX messages_of_parent ON messages(parent_id)")
    db.execute("CREATE INDEX messages_deleted ON messages(deleted) WHERE deleted IS NOT NULL")
    db.execute("CREATE INDEX waiting_of_chat ON waiting(chat_id, position)")
    db.execute("ALTER TABLE waiting ADD COLUMN [after] TEXT")


def _places_and_changes(db: sqlite3.Connection) -> None:
    """Add indexes that keep lists and starts fast with a million messages, and the search's log.

    changes: the rows of chats and messages that the search index has to read again. kept: values of
    the database itself, by name. An answer is logged when it has ended, not while it is being
    written.
    """
    db.execute("DROP INDEX chats_by_time")
    here = "deleted IS NULL AND archived IS NULL"
    for index in (
        f"chats_here ON chats(updated) WHERE {here}",
        f"chats_pinned ON chats(updated) WHERE {here} AND pinned = 1",
        f"chats_in_place ON chats(folder_id, updated) WHERE {here} AND pinned = 0",
        "chats_archived ON chats(archived) WHERE deleted IS NULL AND archived IS NOT NULL",
        "chats_deleted ON chats(deleted) WHERE deleted IS NOT NULL",
        "chats_of_folder ON chats(folder_id) WHERE folder_id IS NOT NULL",
        "messages_streaming ON messages(state) WHERE state = 'streaming'",
    ):
        db.execute(f"CREATE INDEX {index}")
    db.execute("CREATE TABLE kept (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT")
    db.execute(
        """CREATE TABLE changes (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            place INTEGER NOT NULL
        ) STRICT"""
    )
    differs = "old.state = 'streaming' OR old.text <> new.text OR old.deleted IS NOT new.deleted"
    ended = f"new.state <> 'streaming' AND ({differs})"
    for name, when, kind, row in (
        ("message_added", "INSERT ON messages WHEN new.state <> 'streaming'", "message", "new"),
        (
            "message_changed",
            f"UPDATE OF text, state, deleted ON messages WHEN {ended}",
            "message",
            "new",
        ),
        ("message_removed", "DELETE ON messages", "message", "old"),
        ("chat_added", "INSERT ON chats", "chat", "new"),
        ("chat_changed", "UPDATE OF title ON chats WHEN old.title <> new.title", "chat", "new"),
        ("chat_removed", "DELETE ON chats", "chat", "old"),
    ):
        db.execute(
            f"CREATE TRIGGER {name} AFTER {when} BEGIN"  # noqa: S608  our own words
            f" INSERT INTO changes (kind, place) VALUES ('{kind}', {row}.rowid); END"
        )


def _edits(db: sqlite3.Connection) -> None:
    """Add edits: texts written in place of messages, until they are sent or dropped."""
    db.execute(
        """CREATE TABLE edits (
            message_id TEXT PRIMARY KEY REFERENCES messages(id) ON DELETE CASCADE,
            text TEXT NOT NULL
        ) STRICT"""
    )


def _servers(db: sqlite3.Connection) -> None:
    """Add server profiles; their keys are in the keyring. facts: as last seen, in JSON."""
    db.execute(
        """CREATE TABLE servers (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL UNIQUE COLLATE NOCASE,
            address TEXT NOT NULL,
            ca TEXT,
            certificate TEXT,
            facts TEXT
        ) STRICT"""
    )


def _days_in_trash(db: sqlite3.Connection) -> None:
    """Add the dates on which Hearth was open, and the number of them since each deletion.

    So a clock that jumps ahead counts as one date, not as the weeks between.
    """
    db.execute("CREATE TABLE days (day TEXT PRIMARY KEY) STRICT")
    for table in ("chats", "messages"):
        db.execute(f"ALTER TABLE {table} ADD COLUMN trash_days INTEGER NOT NULL DEFAULT 0")
        db.execute(
            f"CREATE TRIGGER {table}_trashed AFTER UPDATE OF deleted ON {table} BEGIN"  # noqa: S608  our own words
            f" UPDATE {table} SET trash_days = 0 WHERE rowid = new.rowid; END"
        )


def _unread(db: sqlite3.Connection) -> None:
    """Mark chats with an answer that ended while the user was elsewhere."""
    db.execute("ALTER TABLE chats ADD COLUMN unread INTEGER NOT NULL DEFAULT 0")


def _api_clients(db: sqlite3.Connection) -> None:
    """Add the programs that have a key of their own, and when they used the server, but no content.

    digest: SHA-256 of the key, which is stored nowhere. models: ids in JSON; an empty list allows
    all.
    """
    db.execute(
        """CREATE TABLE api_clients (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL UNIQUE COLLATE NOCASE,
            digest TEXT NOT NULL UNIQUE,
            models TEXT NOT NULL DEFAULT '[]',
            per_minute INTEGER NOT NULL DEFAULT 0,
            at_once INTEGER NOT NULL DEFAULT 0,
            created REAL NOT NULL
        ) STRICT"""
    )
    db.execute(
        """CREATE TABLE api_uses (
            id INTEGER PRIMARY KEY,
            started REAL NOT NULL,
            seconds REAL NOT NULL,
            client TEXT NOT NULL,
            address TEXT NOT NULL,
            port INTEGER NOT NULL,
            method TEXT NOT NULL,
            endpoint TEXT NOT NULL,
            model TEXT NOT NULL,
            prompt_tokens INTEGER NOT NULL,
            completion_tokens INTEGER NOT NULL,
            received INTEGER NOT NULL,
            sent INTEGER NOT NULL,
            status INTEGER NOT NULL
        ) STRICT"""
    )
    db.execute("CREATE INDEX api_uses_by_time ON api_uses(started)")


def _documents(db: sqlite3.Connection) -> None:
    """Add the text of attached files, by the files' hashes, and the attachments of messages.

    attachments, sources: JSON lists, "" for none; they are copied with a message. content:
    compressed JSON.
    """
    db.execute(
        """CREATE TABLE documents (
            sha256 TEXT PRIMARY KEY,
            added REAL NOT NULL,
            content BLOB NOT NULL
        ) STRICT"""
    )
    for column in ("attachments", "sources"):
        db.execute(f"ALTER TABLE messages ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")
    db.execute("ALTER TABLE waiting ADD COLUMN attachments TEXT NOT NULL DEFAULT ''")
    db.execute("CREATE INDEX messages_with_files ON messages(id) WHERE attachments <> ''")


def _media(db: sqlite3.Connection) -> None:
    """Add the pictures and sounds of documents, in the form that engines take.

    They are here rather than in files, so that they share the fate of the text: into the trash and
    out of it, into copies, and nowhere for a chat that is not kept. page: of a scan; 0 is the file
    itself.
    """
    db.execute(
        """CREATE TABLE media (
            document TEXT NOT NULL REFERENCES documents(sha256) ON DELETE CASCADE,
            page INTEGER NOT NULL,
            data BLOB NOT NULL,
            PRIMARY KEY (document, page)
        ) STRICT"""
    )


def _files_of_drafts(db: sqlite3.Connection) -> None:
    """Add the files attached to the message that the user is writing: a JSON list, "" for none.

    Those of a chat that has not begun are in `kept`, beside its draft.
    """
    db.execute("ALTER TABLE chats ADD COLUMN draft_files TEXT NOT NULL DEFAULT ''")


def _collections(db: sqlite3.Connection) -> None:
    """Add collections with the paths that the user added, and those of chats and assistants.

    path: bytes, as the system has it. collections: ids in a JSON list; NULL for a chat that uses
    those of its assistant. The index of each collection is a file of its own, see
    `CollectionIndex`.
    """
    db.execute(
        """CREATE TABLE collections (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL UNIQUE COLLATE NOCASE,
            paused INTEGER NOT NULL DEFAULT 0,
            created REAL NOT NULL
        ) STRICT"""
    )
    db.execute(
        """CREATE TABLE collection_paths (
            collection_id TEXT NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
            path BLOB NOT NULL,
            added REAL NOT NULL,
            PRIMARY KEY (collection_id, path)
        ) STRICT"""
    )
    db.execute("ALTER TABLE chats ADD COLUMN collections TEXT")
    db.execute("ALTER TABLE assistants ADD COLUMN collections TEXT NOT NULL DEFAULT '[]'")


MIGRATIONS: tuple[Migration, ...] = (
    _chats_and_messages,
    _models,
    _mtp_of_chat,
    _drafters,
    _known_models,
    _connections,
    _loads,
    _downloads,
    _headers,
    _order_of_chats,
    _more_of_messages,
    _summaries,
    _waiting,
    _assistants,
    _settings_of_chat,
    _what_summaries_cover,
    _children_of_messages,
    _places_and_changes,
    _edits,
    _servers,
    _days_in_trash,
    _unread,
    _api_clients,
    _documents,
    _media,
    _files_of_drafts,
    _collections,
)
