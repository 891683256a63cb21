"""Translates keys that people write, such as Ctrl+Alt+H, for the systems' interfaces."""

from __future__ import annotations

from dataclasses import dataclass

from engines.sentences import N_

_MODIFIERS = {"ctrl": "Ctrl", "alt": "Alt", "shift": "Shift", "meta": "Meta", "super": "Meta"}
_PORTAL = {"Ctrl": "CTRL", "Alt": "ALT", "Shift": "SHIFT", "Meta": "LOGO"}
_X11 = {"Shift": 1, "Ctrl": 4, "Alt": 8, "Meta": 64}
"""Masks from X.h: Alt is usually Mod1 and the logo key Mod4."""

_NAMED = {"space": "space", "home": "Home", "end": "End", "insert": "Insert", "tab": "Tab"}
_SIGNS = {
    ".": "period", ",": "comma", "-": "minus", "/": "slash", ";": "semicolon", "'": "apostrophe",
    "[": "bracketleft", "]": "bracketright", "\\": "backslash", "`": "grave", "=": "equal",
}  # fmt: skip


class KeysInvalid(ValueError):
    """These keys cannot be a global shortcut; the message says why."""


@dataclass(frozen=True)
class Keys:
    """A key with its modifiers.

    Attributes:
        modifiers: A selection of Ctrl, Alt, Shift and Meta, in this order.
        key: The key's name in X11 (keysym).
    """

    modifiers: tuple[str, ...]
    key: str

    @property
    def for_portal(self) -> str:
        """The keys in the spelling of the XDG shortcuts specification, such as `CTRL+ALT+h`."""
        return "+".join([*(_PORTAL[name] for name in self.modifiers), self.key])

    @property
    def x11_mask(self) -> int:
        """The modifiers as a mask of X11."""
        return sum(_X11[name] for name in self.modifiers)


def read(text: str) -> Keys:
    """Parse keys as people write them.

    Raises:
        KeysInvalid: The keys cannot be a global shortcut.
    """
    *others, last = [part.strip() for part in text.split("+")]
    unknown = next((part for part in others if part.lower() not in _MODIFIERS), None)
    if unknown is not None:
        raise KeysInvalid(
            N_(
                "“{unknown}” cannot begin a shortcut; Ctrl, Alt, Shift and Meta can.",
                unknown=unknown,
            )
        )
    pressed = {_MODIFIERS[part.lower()] for part in others}
    if not pressed - {"Shift"}:
        raise KeysInvalid(N_("Add Ctrl, Alt or Meta: the key by itself is needed for writing."))
    modifiers = tuple(each for each in ("Ctrl", "Alt", "Shift", "Meta") if each in pressed)
    return Keys(modifiers, _key(last))


def _key(text: str) -> str:
    name = text.lower()
    if len(name) == 1 and name.isascii() and name.isalnum():
        return name
    if name in _NAMED:
        return _NAMED[name]
    if text in _SIGNS:
        return _SIGNS[text]
    if name[:1] == "f" and name[1:].isdigit() and 1 <= int(name[1:]) <= 24:
        return name.upper()
    raise KeysInvalid(N_("“{text}” cannot be used as a key of this shortcut.", text=text))
