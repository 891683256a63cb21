"""Reading the keys of the global shortcut."""

from __future__ import annotations

import pytest

from app.window.presenters.global_shortcut.keys import Keys, KeysInvalid, read


def test_keys_are_read_in_any_spelling() -> None:
    assert read(" alt + ctrl+H ") == Keys(("Ctrl", "Alt"), "h")
    assert read("Super+Space") == Keys(("Meta",), "space")
    assert read("Ctrl+Shift+F12") == Keys(("Ctrl", "Shift"), "F12")
    assert read("Alt+,") == Keys(("Alt",), "comma")


def test_each_system_gets_its_own_spelling() -> None:
    keys = read("Ctrl+Alt+Meta+H")
    assert keys.for_portal == "CTRL+ALT+LOGO+h"
    assert keys.x11_mask == 4 | 8 | 64


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("H", "Add Ctrl, Alt or Meta"),
        ("Shift+H", "Add Ctrl, Alt or Meta"),
        ("Strg+H", "“Strg” cannot begin a shortcut"),
        ("Ctrl+", "cannot be used as a key"),
        ("Ctrl+Enter", "“Enter” cannot be used as a key"),
        ("Ctrl+F99", "“F99” cannot be used as a key"),
        ("Ctrl+ü", "“ü” cannot be used as a key"),
    ],
)
def test_what_cannot_be_used_is_said(text: str, reason: str) -> None:
    with pytest.raises(KeysInvalid, match=reason.replace("+", r"\+")):
        read(text)
