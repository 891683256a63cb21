"""The branches of a conversation: which messages are siblings, and where each leads: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from engines.types import Role

_WORDS = 80


@dataclass(frozen=True)
class Node:
    """A message without its full text.

    Attributes:
        words: The beginning of its text.
        created: Seconds since 1970.
    """

    id: str
    parent_id: str | None
    role: Role
    words: str = ""
    created: float = 0.0


@dataclass(frozen=True)
class Fork:
    """Messages that follow the same message, and one of them.

    Attributes:
        ids: The siblings, in the order in which they were written.
        at: Index of the one in question.
    """

    ids: tuple[str, ...]
    at: int

    def sibling(self, step: int) -> str | None:
        """Return the sibling `step` places further on; None if there is none."""
        place = self.at + step
        return self.ids[place] if 0 <= place < len(self.ids) else None


@dataclass(frozen=True)
class Stretch:
    """Messages that follow each other without a choice, up to a fork or the end.

    Attributes:
        first: The first message.
        count: The number of messages.
        last: The id of the last message.
        after: The stretches to choose from at its end.
    """

    first: Node
    count: int
    last: str
    after: tuple[Stretch, ...]


@dataclass(frozen=True)
class RemovedMessage:
    """A message removed from a chat together with everything that followed it.

    Attributes:
        ids: Ids of all removed messages.
        leaf_id: The end of the path that was shown before.
    """

    chat_id: str
    message_id: str
    ids: tuple[str, ...]
    leaf_id: str | None


@dataclass(frozen=True)
class Tree:
    """The messages of one chat that are not removed, in the order in which they were written."""

    nodes: Sequence[Node]

    @cached_property
    def by_id(self) -> Mapping[str, Node]:
        """The messages by id."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def children(self) -> Mapping[str | None, tuple[str, ...]]:
        """The ids of the messages that follow each message, and of the first ones under None."""
        found: dict[str | None, list[str]] = {}
        for node in self.nodes:
            found.setdefault(node.parent_id, []).append(node.id)
        return {parent: tuple(ids) for parent, ids in found.items()}

    def path(self, leaf_id: str | None) -> tuple[str, ...]:
        """Return the ids from the first message to this one."""
        path: list[str] = []
        step = self.by_id.get(leaf_id or "")
        while step is not None:
            path.append(step.id)
            step = self.by_id.get(step.parent_id or "")
        return tuple(reversed(path))

    def fork(self, message_id: str) -> Fork | None:
        """Return the siblings of a message; None if it has none."""
        node = self.by_id.get(message_id)
        ids = self.children.get(node.parent_id, ()) if node else ()
        return Fork(ids, ids.index(message_id)) if len(ids) > 1 else None

    def leaf_of(self, message_id: str, last_shown: Mapping[str, str]) -> str:
        """Return the leaf of the path to show for a message: the last one shown, else the newest.

        Args:
            last_shown: By message, the leaf that was shown with it; a leaf that no longer exists is
                ignored.
        """
        leaf = last_shown.get(message_id, message_id)
        step = leaf if leaf in self.by_id and message_id in self.path(leaf) else message_id
        while below := self.children.get(step):
            step = below[-1]
        return step

    def without(self, message_id: str, last_shown: Mapping[str, str]) -> str | None:
        """Return the leaf to show once a message is removed: that of a sibling, else its parent.

        Args:
            last_shown: By message, the leaf that was shown with it.
        """
        fork = self.fork(message_id)
        neighbour = (fork.sibling(-1) or fork.sibling(1)) if fork else None
        if neighbour is not None:
            return self.leaf_of(neighbour, last_shown)
        node = self.by_id.get(message_id)
        return node.parent_id if node else None

    def below(self, message_id: str) -> tuple[str, ...]:
        """Return the ids of a message and of all that follow it, on every branch."""
        found = [message_id]
        for step in found:
            found += self.children.get(step, ())
        return tuple(found)

    def stretches(self) -> tuple[Stretch, ...]:
        """Group the conversation into stretches, each ending at a fork.

        This builds from the ends, because a chat can have more forks in a row than Python can
        recurse.
        """
        begins = [ids for ids in self.children.values() if len(ids) > 1]
        roots = self.children.get(None, ())
        firsts = {first for ids in (*begins, roots) for first in ids}
        stretches: dict[str, Stretch] = {}
        for node in reversed(self.nodes):
            if node.id in firsts:
                stretches[node.id] = self._stretch(node, stretches)
        return tuple(stretches[root] for root in roots)

    def _stretch(self, first: Node, stretches: Mapping[str, Stretch]) -> Stretch:
        last, count = first.id, 1
        while len(below := self.children.get(last, ())) == 1:
            last, count = below[0], count + 1
        return Stretch(first, count, last, tuple(stretches[child] for child in below))


def first_words(text: str) -> str:
    """Return the beginning of a message, on one line."""
    line = " ".join(text[: 4 * _WORDS].split()).strip("#>*-` ")
    return line if len(line) <= _WORDS else line[:_WORDS].rstrip() + "…"
