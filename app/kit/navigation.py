"""The places in the window that its parts can send the user to."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtWidgets import QWidget


class Navigation(Protocol):
    """The navigation that the window offers its pages and controllers."""

    def go_to(self, page: str, part: str = "") -> None:
        """Show a page of `app.window.pages.pages`, by its name; part: of one that has parts."""

    def go_to_chat(self) -> None:
        """Back to the chat that is open, to write in it."""

    def open_chat(self, chat_id: str | None, *, to_write: bool = True) -> None:
        """Show a chat, with the cursor in the message if it is to write; None begins a new one."""

    def show_model(self, repo: str, label: str = "") -> None:
        """Show a repository of the Hub, where models are discovered; label: what to choose first.

        The Hub is asked for it.
        """

    def show_panel(self, panel: QWidget | None) -> None:
        """Show a panel beside the page, or in place of it in a narrow window; None: no more."""

    def show_settings(self, name: str = "") -> None:
        """Open the settings. name: of a setting to go to."""

    def show_shortcuts(self) -> None: ...
