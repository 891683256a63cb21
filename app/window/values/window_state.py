"""The window's geometry and layout, so that it opens the same way again."""

from __future__ import annotations

from typing import NamedTuple


class WindowState(NamedTuple):
    """The window's geometry and the layout of its sidebar.

    Attributes:
        geometry: In the window system's own format, in hexadecimal; "" at the first start.
        sidebar: Whether the sidebar is shown.
        sidebar_width: In pixels, at normal zoom.
        folded: The ids of the folders of chats that are folded.
        chat: The id of the chat that was open; "" for a new one.
    """

    geometry: str = ""
    sidebar: bool = True
    sidebar_width: int = 264
    folded: tuple[str, ...] = ()
    chat: str = ""
