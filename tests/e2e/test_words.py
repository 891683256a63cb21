"""The words of the window are for people who see buttons, not a terminal."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from resources.translations.make.extract import ROOT, marked_in, texts

_COMMANDS = re.compile(r"`|\bhearth [a-z]|(?<![\w-])--[a-z]")
_TERMINAL = re.compile(r"/commands[/.]|^app/cli/|^app/kit/terminal/")
_OF_WINDOWS = re.compile(r"“(wsl|sudo apt) [^”]*”")
"""Commands that only the user can run, as Windows and its Linux have no button for them."""


def terminal_texts() -> Iterator[str]:
    """Yield the sentences of errors for people who type commands."""
    for folder in ("app", "engines"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.keyword) and node.arg == "terminal":
                    yield from marked_in(node.value)
                if isinstance(node, ast.AnnAssign) and node.value and _is_for_terminal(node.target):
                    yield from marked_in(node.value)


def _is_for_terminal(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id.endswith("IN_TERMINAL")


def test_no_text_of_the_window_is_a_command_line() -> None:
    for_terminal = frozenset(terminal_texts())
    found = [
        text
        for text, places in texts().items()
        if _COMMANDS.search(_OF_WINDOWS.sub("", text))
        and text not in for_terminal
        and not all(_TERMINAL.search(place) for place in places)
    ]
    assert found == []
