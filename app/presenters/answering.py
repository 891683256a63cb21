"""What can be done with the messages of a chat, besides asking: one bundle for a page."""

from __future__ import annotations

from dataclasses import dataclass

from app.presenters.branches import Branches
from app.presenters.model_thinking import ModelThinking
from app.presenters.reproducing import Reproducing
from app.presenters.waiting import WaitingMessages


@dataclass(frozen=True)
class Answering:
    """All of them work on the same chats and the same Generation."""

    branches: Branches
    waiting: WaitingMessages
    reproducing: Reproducing
    thinking: ModelThinking
