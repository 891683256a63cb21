"""`hearth chats`: the history in the terminal."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from app.cli.exchange import export_chats, import_chats
from app.cli.output import Output, size, table
from app.core.chats.chat import Chat
from app.core.chats.places import ARCHIVE, TRASH
from app.core.errors import ChatNotFound
from app.core.exchange.export import as_markdown
from app.core.search.hits import Hit
from app.services.chats.indexing import steps
from app.store.folder import DataFolder
from app.store.snapshots import Snapshots
from app.wiring import Core
from engines.cancel import CancelToken

_EVERY = -1
"""No limit, in SQLite's words."""


def manage_chats(core: Core, args: argparse.Namespace, out: Output) -> int:
    match args.verb:
        case "list":
            _list(core, args, out)
        case "search":
            _search(core, " ".join(args.what), args.limit, out)
        case "export":
            export_chats(core, args, out)
        case "import":
            import_chats(core, args, out)
        case "undelete":
            chat = _in_trash(core, args.what)
            core.shelves.undelete((chat.id,))
            out.value({"undeleted": chat.id}, lambda: f"“{chat.title}” is back.")
        case _:
            _with_chat(core, core.chats.chat(args.what), args, out)
    return 0


def _with_chat(core: Core, chat: Chat, args: argparse.Namespace, out: Output) -> None:
    path = core.chats.path(chat.id)
    match args.verb:
        case "rm":
            core.chats.delete(chat.id)
            core.states.forget(chat.id)
            out.value({"removed": chat.id}, lambda: f"Deleted “{chat.title}”.")
        case "archive" | "unarchive":
            core.shelves.set_archived((chat.id,), args.verb == "archive")
            out.value(
                {f"{args.verb}d": chat.id},
                lambda: (
                    f"“{chat.title}” is {'in' if args.verb == 'archive' else 'out of'} the "
                    "archive now."
                ),
            )
        case _:
            out.value(
                {**asdict(chat), "messages": [asdict(message) for message in path]},
                lambda: as_markdown(chat, path),
            )


def _list(core: Core, args: argparse.Namespace, out: Output) -> None:
    place = {"archive": ARCHIVE, "trash": TRASH}.get(args.place)
    found = core.chats.chats() if place is None else core.shelves.page(place, 0, _EVERY)
    out.value([asdict(chat) for chat in found], lambda: table([_row(chat) for chat in found]))


def _search(core: Core, words: str, limit: int, out: Output) -> None:
    """All of the history: what the index has not read yet is read first."""
    for share in steps(core.index, CancelToken(), rest=lambda _: None):
        out.rewrite(f"Reading older chats: {share:4.0%}")
    out.rewrite("")
    hits = core.search.find(words, limit)
    out.value(
        _by_chat(hits),
        lambda: table([(*_row(hit.chat), hit.snippet if hit.message_id else "") for hit in hits]),
    )


def _by_chat(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    """Each chat once, with what was found in it."""
    found: dict[str, dict[str, Any]] = {}
    for hit in hits:
        chat = found.setdefault(hit.chat.id, {**asdict(hit.chat), "hits": []})
        part = {"message_id": hit.message_id, "snippet": hit.snippet, "marks": hit.marks}
        chat["hits"].append(part)
    return list(found.values())


def restore_chats(folder: DataFolder, what: str, out: Output) -> int:
    """List the copies, or put one back; the database need not be whole for that."""
    snapshots = Snapshots(folder.snapshots, folder.database)
    if what == "list":
        copies = snapshots.list()
        out.value(
            [asdict(copy) for copy in copies],
            lambda: table([(it.path.name, _when(it.made), size(it.size)) for it in copies]),
        )
        return 0
    folder.prepare()
    source = snapshots.named(what)
    kept = snapshots.restore(source, datetime.now().astimezone())
    before = f" What was there before is in {kept}." if kept else ""
    out.value(
        {"restored": str(source), "kept": str(kept) if kept else None},
        lambda: f"The chats are those of {source.name} now.{before}",
    )
    return 0


def _in_trash(core: Core, called: str) -> Chat:
    found = [it for it in core.shelves.page(TRASH, 0, _EVERY) if it.id.startswith(called)]
    if len(found) != 1:
        raise ChatNotFound(
            f"There is no chat “{called}” in the trash.",
            "Several begin like that." if found else "It is gone for good, or was never there.",
            "`hearth chats list --place trash` shows what can be brought back.",
        )
    return found[0]


def _row(chat: Chat) -> tuple[str, str, str]:
    return chat.id[:8], _when(chat.updated), chat.title


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).astimezone().strftime("%Y-%m-%d %H:%M")
