"""The presenters for everything done with a chat's messages except asking, in one bundle."""

from __future__ import annotations

from dataclasses import dataclass

from app.chats.answers.presenters.model_thinking import ModelThinking
from app.chats.answers.presenters.reproducing import Reproducing
from app.chats.answers.presenters.waiting import WaitingMessages
from app.chats.citations.presenters import Citations
from app.chats.composer.presenters.draft_files import DraftFiles
from app.chats.composer.presenters.recording import Recording
from app.chats.history.presenters.branches import Branches
from app.documents.viewer.presenters import Viewing


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
    recording: Recording
