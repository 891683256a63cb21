"""The places in the window to which its parts can take the user."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtWidgets import QWidget


class Navigation(Protocol):
    """The navigation that the window offers its pages and controllers."""

    def go_to(self, page: str, part: str = "") -> None:
        """Show a page.

        Args:
            page: Its name in `app.window.pages.pages`.
            part: The part to show, if the page has parts.
        """

    def go_to_chat(self) -> None:
        """Return to the open chat, ready to write a message."""

    def open_chat(self, chat_id: str | None, *, to_write: bool = True) -> None:
        """Show a chat.

        Args:
            chat_id: The chat; None begins a new one.
            to_write: Whether to put the cursor into the message field.
        """

    def show_model(self, repo: str, label: str = "") -> None:
        """Show a repository of the Hub on the page where the user discovers models.

        This sends a request to the Hub.

        Args:
            repo: The repository.
            label: The entry to select first.
        """

    def show_panel(self, panel: QWidget | None) -> None:
        """Show a panel beside the page, or in its place if the window is narrow; None closes it."""

    def show_settings(self, name: str = "") -> None:
        """Open the settings.

        Args:
            name: The setting to scroll to; empty for none.
        """

    def show_shortcuts(self) -> None:
        """Open the list of shortcuts."""
