"""The window's place and layout, to open it the same way again."""

from __future__ import annotations

from typing import NamedTuple


class WindowState(NamedTuple):
    """The window's geometry and the layout of its sidebar.

    geometry: as the window system understands it, in hexadecimal; "" for the first time.
    sidebar_width: in pixels of the usual size. folded: the ids of the folders of chats that are
    folded. chat: the id of the one that was open; "" for a new one.
    """

    geometry: str = ""
    sidebar: bool = True
    sidebar_width: int = 264
    folded: tuple[str, ...] = ()
    chat: str = ""
