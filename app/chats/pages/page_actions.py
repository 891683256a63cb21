"""The actions on the page of a chat, in any window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.kit.look.theme import GRID

if TYPE_CHECKING:
    from app.chats.pages.chat_page import ChatPage


def page_actions(page: ChatPage) -> dict[str, Callable[[], object]]:
    """Return the actions by their names in `app.window.pages.actions`."""
    return {
        "regenerate": lambda: page.answers.do("regenerate"),
        "copy_last": lambda: page.answers.do("copy"),
        "edit_message": lambda: page.answers.do("edit"),
        "quote": lambda: page.answers.do("quote"),
        "answer_facts": lambda: page.answers.do("facts"),
        "branch_before": lambda: page.answers.step(-1),
        "branch_after": lambda: page.answers.step(1),
        "show_branches": page.answers.show_tree,
        "scroll_up": lambda: _scroll_page(page, -1),
        "scroll_down": lambda: _scroll_page(page, 1),
        "go_to_end": page.transcript.jump_to_newest,
        "focus_messages": page.keys.toggle,
        "message_above": lambda: page.keys.step(-1),
        "message_below": lambda: page.keys.step(1),
        "focus_composer": page.write,
        "attach_files": page.files.choose,
    }


def _scroll_page(page: ChatPage, direction: int) -> None:
    """Scroll by a little less than the visible height; -1 is up."""
    area = page.transcript
    bar = area.verticalScrollBar()
    bar.setValue(bar.value() + direction * (area.viewport().height() - 6 * GRID))
