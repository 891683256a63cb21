"""The words of the window are for people who see buttons, not a terminal."""

from __future__ import annotations

import re

from resources.translations.make.extract import texts

_COMMANDS = re.compile(r"`|\bhearth [a-z]|(?<![\w-])--[a-z]")
_TERMINAL = re.compile(r"/commands[/.]|^app/cli/|^app/kit/terminal/")
_OF_WINDOWS = re.compile(r"“(wsl|sudo apt) [^”]*”")
"""What nobody but the user can do, for which Windows and its Linux have no button."""


def test_no_text_of_the_window_is_a_command_line() -> None:
    found = [
        text
        for text, places in texts().items()
        if _COMMANDS.search(_OF_WINDOWS.sub("", text))
        and not all(_TERMINAL.search(place) for place in places)
    ]
    assert found == []
