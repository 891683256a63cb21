"""The presenters of one chat page, in one bundle."""

from __future__ import annotations

from dataclasses import dataclass

from app.chats.answers.presenters.generation import Generation
from app.chats.answers.presenters.model_thinking import ModelThinking
from app.chats.answers.presenters.reproducing import Reproducing
from app.chats.answers.presenters.waiting import WaitingMessages
from app.chats.citations.presenters import Citations
from app.chats.composer.presenters.draft_files import DraftFiles
from app.chats.composer.presenters.recording import Recording
from app.chats.context.presenters import ContextUses
from app.chats.history.presenters.branches import Branches
from app.chats.history.presenters.chats import Chats
from app.chats.presenters.open_chat import OpenChat
from app.documents.viewer.presenters import Viewing


@dataclass(frozen=True)
class ChatPresenters:
    """The presenters of one chat page; all work on the same chats and the same Generation."""

    chats: Chats
    open_chat: OpenChat
    generation: Generation
    context: ContextUses
    branches: Branches
    waiting: WaitingMessages
    reproducing: Reproducing
    thinking: ModelThinking
    files: DraftFiles
    citations: Citations
    viewing: Viewing
    recording: Recording
