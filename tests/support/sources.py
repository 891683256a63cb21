"""The syntax trees of the source, for the tests that hold rules of it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a file; parsing all files takes seconds."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return all nodes of a tree; walking through all trees takes half a second."""
    return tuple(ast.walk(tree))
