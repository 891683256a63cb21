"""The presenters for what can be done with a chat's messages, besides asking: one bundle."""

from __future__ import annotations

from dataclasses import dataclass

from app.presenters.branches import Branches
from app.presenters.citations import Citations
from app.presenters.draft_files import DraftFiles
from app.presenters.model_thinking import ModelThinking
from app.presenters.reproducing import Reproducing
from app.presenters.viewing import Viewing
from app.presenters.waiting import WaitingMessages


@dataclass(frozen=True)
class Answering:
    """The presenters of one chat page; all work on the same chats and the same Generation."""

    branches: Branches
    waiting: WaitingMessages
    reproducing: Reproducing
    thinking: ModelThinking
    files: DraftFiles
    citations: Citations
    viewing: Viewing
