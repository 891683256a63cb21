"""The verbs of `hearth chats`: the history in the terminal."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from app.base.errors import ChatNotFound
from app.base.folder import DataFolder
from app.base.snapshots import Snapshots
from app.chats.history.values.chat import Chat
from app.chats.history.values.places import ARCHIVE, TRASH
from app.chats.search.services import steps
from app.chats.search.values.hits import Hit
from app.kit.terminal.arguments import positive
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output, size, table
from engines.cancel import CancelToken
from engines.sentences import N_

if TYPE_CHECKING:
    from app.wiring.app import App

_EVERY = -1
"""SQLite's value for no limit."""


def _list(app: App, args: argparse.Namespace, out: Output) -> int:
    place = {"archive": ARCHIVE, "trash": TRASH}.get(args.place)
    found = app.chats.chats() if place is None else app.chat_lists.page(place, 0, _EVERY)
    out.value(
        [asdict(chat) for chat in found],
        lambda: table([_row(chat) for chat in found]) or N_("There are no chats here yet."),
    )
    return 0


def _search(app: App, args: argparse.Namespace, out: Output) -> int:
    """Search the whole history, after indexing everything that is not indexed yet."""
    for share in steps(app.index, CancelToken(), rest=lambda _: None):
        out.progress(share, N_("Reading older chats"))
    out.rewrite("")
    hits = app.search.find(" ".join(args.what), args.limit)
    out.value(
        _by_chat(hits),
        lambda: (
            table([(*_row(hit.chat), hit.snippet if hit.message_id else "") for hit in hits])
            or N_("Nothing was found.")
        ),
    )
    return 0


def _remove(app: App, args: argparse.Namespace, out: Output) -> int:
    chat = app.chats.chat(args.what)
    app.chats.delete(chat.id)
    app.forget_state(chat.id)
    out.value({"removed": chat.id}, lambda: N_("Deleted “{title}”.", title=chat.title))
    return 0


def _undelete(app: App, args: argparse.Namespace, out: Output) -> int:
    chat = _in_trash(app, args.what)
    app.chats.undelete(chat.id)
    out.value({"undeleted": chat.id}, lambda: N_("“{title}” was restored.", title=chat.title))
    return 0


def _archive(app: App, args: argparse.Namespace, out: Output, *, archived: bool) -> int:
    """Archive a chat, or take it out of the archive."""
    chat = app.chats.chat(args.what)
    app.chat_lists.set_archived((chat.id,), archived)
    words = N_("“{title}” is in the archive now.", title=chat.title)
    if not archived:
        words = N_("“{title}” is out of the archive now.", title=chat.title)
    out.value({f"{args.verb}d": chat.id}, lambda: words)
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
                table([(copy.path.name, _when(copy.made), size(copy.size)) for copy in copies])
                or N_("There are no copies yet.")
            ),
        )
        return 0
    folder.prepare()
    source = snapshots.find(args.what)
    replaced = snapshots.restore(source, datetime.now().astimezone())
    note = N_(" The previous chats are saved in {kept}.", kept=replaced) if replaced else ""
    out.value(
        {"restored": str(source), "kept": str(replaced) if replaced else None},
        lambda: N_("All chats were restored from {name}.{before}", name=source.name, before=note),
    )
    return 0


def _in_trash(app: App, called: str) -> Chat:
    found = [chat for chat in app.chat_lists.page(TRASH, 0, _EVERY) if chat.id.startswith(called)]
    if len(found) != 1:
        raise ChatNotFound(
            N_("There is no chat “{called}” in the trash.", called=called),
            N_("Several begin like that.")
            if found
            else N_("It was deleted for good, or never existed."),
            N_("`hearth chats list --place trash` shows the chats that can be restored."),
        )
    return found[0]


def _row(chat: Chat) -> tuple[str, str, str]:
    return chat.id[:8], _when(chat.updated), chat.title


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).astimezone().strftime("%Y-%m-%d %H:%M")


CHAT = Argument("what", N_("the chat's id, or its beginning"), metavar="ID")

VERBS = (
    Command(
        "list",
        "list the chats, the last used first",
        _list,
        (
            Argument(
                "--place",
                "the chats to list; by default all but those in the trash",
                choices=("all", "archive", "trash"),
                default="all",
            ),
        ),
    ),
    Command(
        "search",
        "find messages and titles that contain all the words",
        _search,
        (
            Argument("what", "the words to search for", metavar="WORDS", nargs="+"),
            Argument(
                "--limit", "at most N hits; by default 50", type=positive, default=50, metavar="N"
            ),
        ),
    ),
    Command(
        "rm",
        "move a chat to the trash, where it stays for 30 days",
        _remove,
        (CHAT,),
        aliases=("remove",),
    ),
    Command("undelete", "take a chat out of the trash", _undelete, (CHAT,)),
    Command("archive", "move a chat to the archive", partial(_archive, archived=True), (CHAT,)),
    Command(
        "unarchive", "take a chat out of the archive", partial(_archive, archived=False), (CHAT,)
    ),
    Command(
        "restore",
        "go back to a daily copy of all chats",
        run_closed=_restore,
        arguments=(
            Argument(
                "what", N_("the copy's file name, or `list` to list the copies"), metavar="FILE"
            ),
        ),
    ),
)
"""The verbs of `hearth chats`; `app/exchange/commands.py` adds `show`, `export` and `import`."""
