"""Branches of a conversation: forks, the remembered leaf, and the folded tree."""

from __future__ import annotations

import sys

from app.chats.history.values.tree import Fork, Node, Tree, first_words


def tree(*pairs: tuple[str, str | None]) -> Tree:
    """Return a tree of nodes by id and parent; ids that begin with "q" are questions."""
    return Tree([Node(it, parent, "user" if it[0] == "q" else "assistant") for it, parent in pairs])


PARTED = tree(
    ("q1", None), ("a1", "q1"), ("q2", "a1"), ("a2", "q2"), ("a1b", "q1"), ("q3", "a1"),
    ("a3", "q3"),
)  # fmt: skip
"""Two answers to the first question; the first of them is followed by two questions."""


def test_a_fork_knows_its_neighbours() -> None:
    fork = PARTED.fork("a1b")
    assert fork == Fork(("a1", "a1b"), 1)
    assert (fork.sibling(-1), fork.sibling(1)) == ("a1", None)
    assert PARTED.fork("q1") is None
    assert PARTED.fork("gone") is None


def test_the_forks_of_a_path() -> None:
    assert {it for it in PARTED.path("a3") if PARTED.fork(it)} == {"a1", "q3"}


def test_one_comes_back_to_where_one_was() -> None:
    assert PARTED.leaf_of("a1", {}) == "a3", "the newest"
    assert PARTED.leaf_of("a1", {"a1": "a2"}) == "a2"
    assert PARTED.leaf_of("a1", {"a1": "gone"}) == "a3"
    assert PARTED.leaf_of("a1", {"a1": "a1b"}) == "a3", "not on another branch"


def test_what_was_written_on_at_the_remembered_leaf_is_shown_too() -> None:
    grown = Tree([*PARTED.nodes, Node("q4", "a2", "user"), Node("a4", "q4", "assistant")])
    assert grown.leaf_of("a1", {"a1": "a2"}) == "a4"


def test_what_is_shown_once_a_message_has_gone() -> None:
    assert PARTED.without("a1b", {"a1": "a2"}) == "a2"
    assert PARTED.without("q2", {}) == "a3"
    assert PARTED.without("a3", {}) == "q3"
    assert PARTED.without("q1", {}) is None


def test_below_is_every_branch() -> None:
    assert set(PARTED.below("a1")) == {"a1", "q2", "a2", "q3", "a3"}


def test_the_tree_is_folded_to_where_it_parts() -> None:
    (root,) = PARTED.stretches()
    assert (root.first.id, root.count, root.last) == ("q1", 1, "q1")
    first, second = root.after
    assert [(it.first.id, it.count) for it in (first, second)] == [("a1", 1), ("a1b", 1)]
    assert [(it.first.id, it.count, it.last) for it in first.after] == [
        ("q2", 2, "a2"),
        ("q3", 2, "a3"),
    ]


def test_more_forks_in_a_row_than_python_can_recurse() -> None:
    nodes = [Node("n0", None, "user")]
    for number in range(1, 2 * sys.getrecursionlimit()):
        nodes += [Node(f"{side}{number}", f"n{number - 1}", "user") for side in "sn"]
    (step,) = Tree(nodes).stretches()
    depth = 0
    while step.after:
        step, depth = step.after[1], depth + 1
    assert depth == 2 * sys.getrecursionlimit() - 1


def test_an_edited_first_question_makes_two_roots() -> None:
    assert len(tree(("q1", None), ("q1b", None)).stretches()) == 2


def test_a_path_does_not_hang_on_a_parent_that_is_not_there() -> None:
    assert tree(("q1", "gone")).path("q1") == ("q1",)


def test_first_words_are_one_line() -> None:
    assert first_words("# Title\n\nand  more") == "Title and more"
    assert first_words("x" * 500) == "x" * 80 + "…"
