"""What can be done with the messages of a chat, besides asking: one bundle for a page."""

from __future__ import annotations

from dataclasses import dataclass

from app.services.branches import Branches
from app.services.model_thinking import ModelThinking
from app.services.reproducing import Reproducing
from app.services.waiting import WaitingMessages


@dataclass(frozen=True)
class Answering:
    """All of them work on the same chats and the same Generation."""

    branches: Branches
    waiting: WaitingMessages
    reproducing: Reproducing
    thinking: ModelThinking
