"""Turns a chat of another program into one that Hearth can store and continue.

In Hearth the user's and the model's messages alternate, in a tree. Other programs have messages of
the system and of tools in between, and answers in several pieces.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.chats.history.values.chat import Chat, title_from
from app.chats.history.values.conversation import AnswerFacts, StoredMessage
from app.exchange.values.found import Broken, FoundChat, FoundMessage, ReadyChat, check_size
from engines.sentences import N_

if TYPE_CHECKING:
    from engines.types import Role

_SPACE = uuid.UUID("5c1f5c63-7f6e-4f1a-9f0b-6d1b7c8f2a11")
"""The namespace of derived ids: the same source and id always give the same id."""
_MOST_TEXT = 200_000_000
"""Most characters of a chat; joining answers copies text at forks."""
_PIECE = 20
"""Size of a piece besides its text, in characters."""
_LONGEST_TITLE = 200
TOOLS = N_("calls and results of tools")
LATER_SYSTEM = N_("later system prompts")


def folder_for(source: str) -> str:
    """Return the name of the folder for the chats of a program."""
    return N_("Imported from {source}", source=source)


def made_id(*parts: str) -> str:
    """Derive an id from parts; the same parts always give the same id."""
    return uuid.uuid5(_SPACE, "\n".join(parts)).hex


def convert(found: FoundChat) -> ReadyChat:
    """Convert a found chat.

    Raises:
        Broken: The chat has no messages, or is too large.
    """
    check_size(found.messages)
    ordered = _parents_first(found.messages)
    system, left_out = _system_prompt(found, ordered)
    spoken = _joined(_without_others(ordered))
    if not spoken:
        raise Broken(N_("It has no messages."))
    name = found.id or "\n".join([found.title, str(found.created), *(turn.text for turn in spoken)])
    chat_id = made_id(found.source, name)
    times = _times(spoken, found.created)
    messages = tuple(_stored(chat_id, turn, times[turn.id], found.source) for turn in spoken)
    leaf = _shown_leaf(found, ordered, spoken)
    created = found.created or messages[0].created
    title = " ".join(found.title.split())[:_LONGEST_TITLE]
    first = next((turn.text for turn in spoken if turn.role == "user"), spoken[0].text)
    chat = Chat(
        id=chat_id,
        title=title or title_from(first),
        created=created,
        updated=found.updated or max(created, *(message.created for message in messages)),
        leaf_id=made_id(chat_id, leaf),
        pinned=found.pinned,
        titled_by="user" if title else "text",
        settings={"system_prompt": system} if system else {},
    )
    if found.archived:
        chat = replace(chat, archived=chat.updated)
    return ReadyChat(
        found.source,
        chat,
        messages,
        folder_for(found.source),
        left_out,
        damage=found.damage,
    )


@dataclass
class _Spoken:
    """A message being built from one or more pieces."""

    id: str
    parent: str | None
    role: Role
    pieces: tuple[FoundMessage, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(text for piece in self.pieces if (text := piece.text.strip("\n")))


def _parents_first(messages: Sequence[FoundMessage]) -> list[FoundMessage]:
    """Order messages so that each comes once, after its parent; orphans and cycles become roots."""
    by_id: dict[str, FoundMessage] = {}
    for message in messages:
        by_id.setdefault(message.id, message)
    children: dict[str | None, list[FoundMessage]] = {}
    for message in by_id.values():
        known = message.parent is None or message.parent in by_id
        placed = message if known else replace(message, parent=None)
        children.setdefault(placed.parent, []).append(placed)
    ordered: list[FoundMessage] = []
    while True:
        waiting = children.pop(None, [])
        while waiting:
            ordered += waiting
            waiting = [child for message in waiting for child in children.pop(message.id, ())]
        if not children:
            return ordered
        # The rest is a cycle: open it where it is found first.
        circle = children.pop(next(iter(children)))
        children[None] = [replace(message, parent=None) for message in circle]


def _system_prompt(
    found: FoundChat, messages: Iterable[FoundMessage]
) -> tuple[str, Mapping[str, int]]:
    """Return the system prompt that applies, and a count of the content that is left out."""
    left_out = dict(found.left_out)
    system = found.system_prompt.strip()
    for message in messages:
        text = message.text.strip()
        if tools := message.tools or int(message.role == "tool"):
            left_out[TOOLS] = left_out.get(TOOLS, 0) + tools
        if message.role == "system" and text and text != system:
            if system:
                left_out[LATER_SYSTEM] = left_out.get(LATER_SYSTEM, 0) + 1
            else:
                system = text
    return system, left_out


def _without_others(messages: Iterable[FoundMessage]) -> list[FoundMessage]:
    """Keep the messages of user and model; a child of a dropped message gets that one's parent."""
    above: dict[str, str | None] = {}
    spoken: list[FoundMessage] = []
    for message in messages:
        parent = message.parent
        if parent in above:
            parent = above[parent]
        if message.role in ("user", "assistant") and (message.text.strip() or message.reasoning):
            same = parent == message.parent
            spoken.append(message if same else replace(message, parent=parent))
        else:
            above[message.id] = parent
    return spoken


def _joined(messages: Sequence[FoundMessage]) -> list[_Spoken]:
    """Join consecutive messages of one role, on each branch."""
    spoken: dict[str, _Spoken] = {}
    taken_up: set[str] = set()
    answered: set[str] = set()
    size = 0
    for message in messages:
        role: Role = "user" if message.role == "user" else "assistant"
        turn = _Spoken(message.id, message.parent, role, (message,))
        before = spoken.get(message.parent or "")
        if before is not None and before.role == role:
            turn.parent, turn.pieces = before.parent, (*before.pieces, message)
            taken_up.add(before.id)
        elif before is not None:
            answered.add(before.id)
        size += _PIECE * len(turn.pieces) + sum(len(piece.text) for piece in turn.pieces)
        if size > _MOST_TEXT:
            raise Broken(N_("Its messages are too long for one chat."))
        spoken[turn.id] = turn
    merged = taken_up - answered
    return [turn for turn in spoken.values() if turn.id not in merged]


def _times(spoken: Iterable[_Spoken], begin: float | None) -> dict[str, float]:
    """Return when each message was written; without a time of its own, it gets its parent's."""
    times: dict[str, float] = {}
    for turn in spoken:
        known = next((piece.created for piece in turn.pieces if piece.created), None)
        times[turn.id] = known or times.get(turn.parent or "") or begin or 1.0
    return times


def _shown_leaf(
    found: FoundChat, ordered: Sequence[FoundMessage], spoken: Sequence[_Spoken]
) -> str:
    """Return the end of the shown path: the other program's, or the nearest message above it."""
    left = {turn.id for turn in spoken}
    parents = {message.id: message.parent for message in ordered}
    step = found.leaf
    while step is not None and step not in left:
        step = parents.get(step)
    return step or spoken[-1].id


def _stored(chat_id: str, turn: _Spoken, created: float, source: str) -> StoredMessage:
    model = next((piece.model for piece in reversed(turn.pieces) if piece.model), "")
    return StoredMessage(
        id=made_id(chat_id, turn.id),
        chat_id=chat_id,
        parent_id=made_id(chat_id, turn.parent) if turn.parent else None,
        role=turn.role,
        text=turn.text,
        created=created,
        state="stopped" if turn.pieces[-1].stopped else "complete",
        reasoning="\n\n".join(piece.reasoning for piece in turn.pieces if piece.reasoning),
        facts=AnswerFacts(model, source) if model and turn.role == "assistant" else None,
        reasoning_s=sum(piece.reasoning_s for piece in turn.pieces),
        rating=next((piece.rating for piece in reversed(turn.pieces) if piece.rating), 0),
    )
