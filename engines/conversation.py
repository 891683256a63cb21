"""Decides which turns of a conversation leave so that the rest fits a context: pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engines.types import Message

_MOST_ROOM = 1024


def answer_room(context: int, max_tokens: int | None) -> int:
    """Return the tokens to keep free for an answer: what was asked for, at most a quarter."""
    return min(_MOST_ROOM if max_tokens is None else max_tokens, context // 4)


def removable(messages: Sequence[Message]) -> range:
    """Return the range that may leave: behind the system prompt, before the last question."""
    first = next((at for at, m in enumerate(messages) if m.role != "system"), len(messages))
    asked = max((at for at, m in enumerate(messages) if m.role == "user"), default=first)
    return range(first, max(first, asked))


def turns(messages: Sequence[Message]) -> Iterator[range]:
    """Yield what is removable in whole turns, the oldest first: a question with its answers."""
    old = removable(messages)
    begin = old.start
    for at in old:
        if at + 1 == old.stop or messages[at + 1].role == "user":
            yield range(begin, at + 1)
            begin = at + 1


def size(message: Message) -> int:
    """Return the bytes of what a message says, with the tools that it asks for."""
    calls = sum(len(it.name) + len(it.arguments.encode()) for it in message.calls)
    return len(message.text.encode()) + calls


def pinned(messages: Sequence[Message]) -> list[int]:
    """Return the places of old messages that stay because something in their turn is pinned.

    A turn stays whole: a chat template wants user and assistant to take turns, and an answer says
    little without its question.
    """
    return [at for turn in turns(messages) if _stays(messages, turn) for at in turn]


def cuts(
    messages: Sequence[Message], lengths: Sequence[int], room: int, context: int
) -> list[tuple[int, ...]]:
    """List ways to leave messages out, by their places; the one that leaves out least first.

    Whole turns leave, without those that are pinned. They leave in strides of half of what the
    pins leave of the context, counted from the beginning of the conversation: so while it grows by
    less than a stride, the cut stays where it is, the prompt goes on beginning with the same
    tokens, and the KV cache remains of use.

    lengths: tokens of each message. room: tokens there are for all of them.
    """
    stride = max(1, (context - sum(lengths[at] for at in pinned(messages))) // 2)
    enough = -(-(sum(lengths) - room) // stride) * stride
    found: list[tuple[int, ...]] = []
    left: list[int] = []
    gone = 0
    for turn in turns(messages):
        if not _stays(messages, turn):
            left += turn
            gone += sum(lengths[at] for at in turn)
            if gone >= enough:
                found.append(tuple(left))
    return found or [tuple(left)]


def without(messages: Sequence[Message], left: Sequence[int]) -> tuple[Message, ...]:
    """Return the messages whose places are not among these."""
    gone = set(left)
    return tuple(message for at, message in enumerate(messages) if at not in gone)


def _stays(messages: Sequence[Message], turn: range) -> bool:
    return any(messages[at].pinned for at in turn)
