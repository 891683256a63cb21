"""The words of the window are for people who see buttons, not a terminal."""

from __future__ import annotations

import re

from resources.translations.make.extract import texts

_COMMANDS = re.compile(r"`|\bhearth [a-z]|(?<![\w-])--[a-z]")
_OF_WINDOWS = re.compile(r"“(wsl|sudo apt) [^”]*”")
"""What nobody but the user can do, for which Windows and its Linux have no button."""


def test_no_text_of_the_window_is_a_command_line() -> None:
    found = [text for text in texts() if _COMMANDS.search(_OF_WINDOWS.sub("", text))]
    assert found == []
