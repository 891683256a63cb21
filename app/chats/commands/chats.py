"""The verbs of `hearth chats`: the history in the terminal."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from app.base.errors import ChatNotFound
from app.base.folder import DataFolder
from app.base.snapshots import Snapshots
from app.chats.history.values.chat import Chat
from app.chats.history.values.places import ARCHIVE, TRASH
from app.chats.search.services import steps
from app.chats.search.values.hits import Hit
from app.kit.terminal.arguments import positive
from app.kit.terminal.command import Command
from app.kit.terminal.output import Output, size, table
from engines.cancel import CancelToken

if TYPE_CHECKING:
    from app.wiring.app import App

_EVERY = -1
"""SQLite's value for no limit."""


def _list(app: App, args: argparse.Namespace, out: Output) -> int:
    place = {"archive": ARCHIVE, "trash": TRASH}.get(args.place)
    found = app.chats.chats() if place is None else app.chat_lists.page(place, 0, _EVERY)
    out.value(
        [asdict(chat) for chat in found],
        lambda: table([_row(chat) for chat in found]) or "There are no chats here yet.",
    )
    return 0


def _search(app: App, args: argparse.Namespace, out: Output) -> int:
    """Search the whole history, after indexing everything that is not indexed yet."""
    for share in steps(app.index, CancelToken(), rest=lambda _: None):
        out.rewrite(f"Reading older chats: {share:4.0%}")
    out.rewrite("")
    hits = app.search.find(" ".join(args.what), args.limit)
    out.value(
        _by_chat(hits),
        lambda: (
            table([(*_row(hit.chat), hit.snippet if hit.message_id else "") for hit in hits])
            or "Nothing was found."
        ),
    )
    return 0


def _remove(app: App, args: argparse.Namespace, out: Output) -> int:
    chat = app.chats.chat(args.what)
    app.chats.delete(chat.id)
    app.forget_state(chat.id)
    out.value({"removed": chat.id}, lambda: f"Deleted “{chat.title}”.")
    return 0


def _undelete(app: App, args: argparse.Namespace, out: Output) -> int:
    chat = _in_trash(app, args.what)
    app.chats.undelete(chat.id)
    out.value({"undeleted": chat.id}, lambda: f"“{chat.title}” is back.")
    return 0


def _archive(app: App, args: argparse.Namespace, out: Output) -> int:
    """Archive a chat, or take it out of the archive."""
    chat, away = app.chats.chat(args.what), args.verb == "archive"
    app.chat_lists.set_archived((chat.id,), away)
    where = "in" if away else "out of"
    out.value({f"{args.verb}d": chat.id}, lambda: f"“{chat.title}” is {where} the archive now.")
    return 0


def _by_chat(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    """Group hits by chat: each chat once, with its hits."""
    found: dict[str, dict[str, Any]] = {}
    for hit in hits:
        chat = found.setdefault(hit.chat.id, {**asdict(hit.chat), "hits": []})
        part = {"message_id": hit.message_id, "snippet": hit.snippet, "marks": hit.marks}
        chat["hits"].append(part)
    return list(found.values())


def _restore(folder: DataFolder, args: argparse.Namespace, out: Output) -> int:
    """List the snapshots, or restore one; this works even if the database is damaged."""
    snapshots = Snapshots(folder.snapshots, folder.database)
    if args.what == "list":
        copies = snapshots.list()
        out.value(
            [asdict(copy) for copy in copies],
            lambda: (
                table([(it.path.name, _when(it.made), size(it.size)) for it in copies])
                or "There are no copies yet."
            ),
        )
        return 0
    folder.prepare()
    source = snapshots.named(args.what)
    kept = snapshots.restore(source, datetime.now().astimezone())
    before = f" What was there before is in {kept}." if kept else ""
    out.value(
        {"restored": str(source), "kept": str(kept) if kept else None},
        lambda: f"The chats are those of {source.name} now.{before}",
    )
    return 0


def _in_trash(app: App, called: str) -> Chat:
    found = [it for it in app.chat_lists.page(TRASH, 0, _EVERY) if it.id.startswith(called)]
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


def _declare_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--place",
        choices=("all", "archive", "trash"),
        default="all",
        help="those that lie there; by default all",
    )


def _declare_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--limit", type=positive, default=50, metavar="N", help="at most N hits; by default 50"
    )


VERBS = (
    Command("list", "all chats, the last used first", _list, declare=_declare_list),
    Command(
        "search",
        "messages and titles that hold all the words",
        _search,
        "WORDS",
        nargs="+",
        declare=_declare_search,
    ),
    Command(
        "rm",
        "delete a chat; it can be brought back for 30 days",
        _remove,
        "ID",
        aliases=("remove",),
    ),
    Command("undelete", "bring a deleted chat back", _undelete, "ID"),
    Command("archive", "put a chat away", _archive, "ID"),
    Command("unarchive", "put a chat back into the list", _archive, "ID"),
    Command(
        "restore",
        "all chats as a daily copy has them; `list` shows the copies",
        what="FILE",
        run_closed=_restore,
    ),
)
"""The verbs of `hearth chats`; `app/exchange/commands.py` adds `show`, `export` and `import`."""
