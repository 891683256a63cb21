"""The choice of the turns that a conversation leaves out to fit a context; pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engines.types import Message

_MOST_ANSWER_ROOM = 1024


def answer_room(context: int, max_tokens: int | None) -> int:
    """Return the tokens to reserve for an answer: `max_tokens`, at most a quarter of `context`.

    Args:
        context: Tokens of the context.
        max_tokens: The requested limit; None reserves up to 1024.
    """
    return min(_MOST_ANSWER_ROOM if max_tokens is None else max_tokens, context // 4)


def removable(messages: Sequence[Message]) -> range:
    """Return the indexes of the messages that can be left out.

    They follow the system prompt and precede the last question.
    """
    first = next(
        (index for index, message in enumerate(messages) if message.role != "system"), len(messages)
    )
    question = max(
        (index for index, message in enumerate(messages) if message.role == "user"), default=first
    )
    return range(first, max(first, question))


def turns(messages: Sequence[Message]) -> Iterator[range]:
    """Yield the removable messages turn by turn, a question with its answers, oldest first."""
    candidates = removable(messages)
    first = candidates.start
    for index in candidates:
        if index + 1 == candidates.stop or messages[index + 1].role == "user":
            yield range(first, index + 1)
            first = index + 1


def size(message: Message) -> int:
    """Return the number of bytes of a message's text and its tool calls."""
    calls = sum(len(call.name) + len(call.arguments.encode()) for call in message.calls)
    return len(message.text.encode()) + calls


def pinned(messages: Sequence[Message]) -> list[int]:
    """Return the indexes of old messages that stay because their turn contains a pinned message.

    A turn stays whole: a chat template wants user and assistant to alternate, and an answer means
    little without its question.
    """
    return [index for turn in turns(messages) if _stays(messages, turn) for index in turn]


def cuts(
    messages: Sequence[Message], lengths: Sequence[int], room: int, context: int
) -> list[tuple[int, ...]]:
    """List the ways to leave messages out, as their indexes; the one that leaves out least first.

    Whole turns are left out, except pinned ones. They go in strides of half the context that the
    pinned turns leave free, counted from the beginning of the conversation. So while the
    conversation grows by less than a stride, the cut stays in place, the prompt keeps beginning
    with the same tokens, and the KV cache stays useful.

    Args:
        lengths: Tokens of each message.
        room: Tokens available for all messages.
        context: Tokens of the context.
    """
    stride = max(1, (context - sum(lengths[index] for index in pinned(messages))) // 2)
    enough = -(-(sum(lengths) - room) // stride) * stride
    choices: list[tuple[int, ...]] = []
    removed: list[int] = []
    removed_tokens = 0
    for turn in turns(messages):
        if not _stays(messages, turn):
            removed += turn
            removed_tokens += sum(lengths[index] for index in turn)
            if removed_tokens >= enough:
                choices.append(tuple(removed))
    return choices or [tuple(removed)]


def without(messages: Sequence[Message], removed: Sequence[int]) -> tuple[Message, ...]:
    """Return the messages whose indexes are not in `removed`."""
    excluded = set(removed)
    return tuple(message for index, message in enumerate(messages) if index not in excluded)


def _stays(messages: Sequence[Message], turn: range) -> bool:
    return any(messages[index].pinned for index in turn)
