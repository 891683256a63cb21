"""What of a conversation fits a context: which turns leave, as a pure decision."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from engines.types import Message

_MOST_ROOM = 1024


def answer_room(context: int, max_tokens: int | None) -> int:
    """Tokens to keep free for an answer: what was asked for, but at most a quarter."""
    return min(_MOST_ROOM if max_tokens is None else max_tokens, context // 4)


def removable(messages: Sequence[Message]) -> range:
    """Where the messages that may leave lie: behind the system prompt, before the last question."""
    first = next((at for at, m in enumerate(messages) if m.role != "system"), len(messages))
    asked = max((at for at, m in enumerate(messages) if m.role == "user"), default=first)
    return range(first, max(first, asked))


def cuts(messages: Sequence[Message], lengths: Sequence[int], room: int, context: int) -> list[int]:
    """How many messages to leave out, the smallest number first.

    Whole turns leave, a question with its answers. They leave in strides of half a context,
    counted from the beginning of the conversation: so while it grows by less than a stride, the
    cut stays where it is, the prompt goes on beginning with the same tokens, and the KV cache
    remains of use.

    lengths: tokens of each message. room: tokens there are for all of them.
    """
    old = removable(messages)
    stride = max(1, context // 2)
    enough = -(-(sum(lengths) - room) // stride) * stride
    sums = list(accumulate(lengths[at] for at in old))
    ends = [at for at in old if at + 1 == old.stop or messages[at + 1].role == "user"]
    counts = [end + 1 - old.start for end in ends]
    return [count for count in counts if sums[count - 1] >= enough] or [len(old)]
