"""Creates the window's presenters for the chats of a database."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.base.memory_database import MemoryDatabase
from app.chats.answers.presenters.generation import Generation
from app.chats.answers.presenters.model_thinking import ModelThinking
from app.chats.answers.presenters.reproducing import Reproducing
from app.chats.answers.presenters.titles import Titles
from app.chats.answers.presenters.waiting import WaitingMessages
from app.chats.answers.services.answers import Answers
from app.chats.answers.services.chat_layers import ChatLayers
from app.chats.answers.services.citing import Citing
from app.chats.answers.services.grounding import Grounding
from app.chats.answers.services.preparing import Preparing
from app.chats.citations.presenters import Citations
from app.chats.composer.presenters.draft_files import DraftFiles
from app.chats.composer.presenters.recording import Recording
from app.chats.context.presenters import ContextUses
from app.chats.context.services.compacting import Compacting
from app.chats.context.services.counting import Counting
from app.chats.context.store import SummaryStore
from app.chats.history.presenters.branches import Branches
from app.chats.history.presenters.chat_settings import ChatSettings
from app.chats.history.presenters.chats import Chats
from app.chats.history.presenters.drafts import Drafts
from app.chats.history.presenters.snapshots import DailySnapshots
from app.chats.history.services import see_today
from app.chats.history.store.branches import BranchStore
from app.chats.history.store.chat_lists import ChatLists
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.chats.history.store.chats import ChatStore
from app.chats.history.store.drafts import DraftStore
from app.chats.history.store.folders import FolderStore
from app.chats.history.store.waiting import WaitingStore
from app.chats.presenters.chat_presenters import ChatPresenters
from app.chats.presenters.open_chat import OpenChat
from app.chats.presenters.scratch import Scratch
from app.documents.reading.page_drawing import PageDrawer
from app.documents.reading.reader import DocumentReader
from app.documents.services.documents import Documents
from app.documents.services.microphone import SystemMicrophone
from app.documents.services.pages import Pages
from app.documents.services.recording import Recorder
from app.documents.store.documents import DocumentStore, FileCopies
from app.documents.viewer.presenters import Viewing

if TYPE_CHECKING:
    from app.assistants.presenters.assistants import Assistants
    from app.assistants.store.assistants import AssistantStore
    from app.base.db import Database
    from app.base.snapshots import Snapshots
    from app.chats.search.presenters import ChatSearch
    from app.documents.collections.services.knowledge import Knowledge
    from app.kit.tasks.tasks import Tasks
    from app.models.discover.services.projectors import Projectors
    from app.models.library.services.library import Library
    from app.runtime.services.runtime import Runtime
    from app.settings.presenters import SettingsService


def in_background(
    store: ChatStore,
    runtime: Runtime,
    snapshots: Snapshots,
    chats: Chats,
    generation: Generation,
    search: ChatSearch,
    settings: SettingsService,
    tasks: Tasks,
) -> tuple[Titles, DailySnapshots]:
    """Start the background work of an open window; the owner keeps the objects alive."""
    titles = Titles(store, runtime, generation, settings, tasks)
    titles.titled.connect(chats.changed)
    daily = DailySnapshots(snapshots, settings, tasks, lambda: see_today(store))
    for failed in (daily.failed, chats.drafts.failed):
        failed.connect(chats.failed)
    for signal in (chats.changed, generation.asked, generation.ended, generation.saved):
        signal.connect(search.keep_in_step)
    search.keep_in_step()
    return titles, daily


def chat_presenters(
    database: Database,
    chats: Chats,
    chat_settings: ChatSettings,
    generation: Generation,
    context: ContextUses,
    library: Library,
    grounding: Grounding,
    documents: Documents,
    tasks: Tasks,
) -> ChatPresenters:
    """Create the presenters of a chat page for a database's chats.

    Args:
        generation: Writes the answers of these chats.
    """
    citing = Citing(grounding, documents.state_of)
    return ChatPresenters(
        chats,
        OpenChat(chats, chat_settings),
        generation,
        context,
        Branches(BranchStore(database), generation, tasks),
        WaitingMessages(WaitingStore(database), generation, tasks),
        Reproducing(ChatStore(database), library, generation, tasks),
        ModelThinking(library, tasks),
        DraftFiles(DraftStore(database), DocumentStore(database), documents, tasks),
        Citations(citing, tasks),
        Viewing(Pages(grounding.documents, documents, PageDrawer()), tasks),
        Recording(Recorder(SystemMicrophone()), library, tasks),
    )


def context(
    database: Database,
    preparing: Preparing,
    grounding: Grounding,
    runtime: Runtime,
    settings: SettingsService,
    tasks: Tasks,
) -> ContextUses:
    """Create the presenter that measures the contexts of a database's chats."""
    summaries = SummaryStore(database)
    counting = Counting(ChatStore(database), summaries, preparing, grounding, runtime)
    return ContextUses(counting, summaries, settings, tasks)


def scratch(
    library: Library,
    runtime: Runtime,
    stored: AssistantStore,
    assistants: Assistants,
    settings: SettingsService,
    tasks: Tasks,
    local_fallback: Callable[[str], str],
    knowledge: Knowledge,
    projectors: Projectors,
) -> Scratch:
    """Create a scratch chat, whose stores are all in memory and know no data folder.

    It begins with a model on this computer.

    Args:
        local_fallback: As for `ChatSettings`.
        knowledge: The user's collections, which the chat can use.
    """
    database = MemoryDatabase()
    chats, own = ChatStore(database), ChatSettingsStore(database)
    drafts = Drafts(DraftStore(database), tasks)
    grounding = Grounding(DocumentStore(database), knowledge)
    layers = ChatLayers(own, stored)
    preparing = Preparing(library, layers, projectors=projectors, leaves_traces=False)
    compacting = Compacting(SummaryStore(database))
    answers = Answers(chats, preparing, runtime, compacting, grounding)
    generation = Generation(chats, answers, settings, tasks)
    presenters = chat_presenters(
        database,
        Chats(chats, ChatLists(database), FolderStore(database), drafts, lambda _: None, tasks),
        ChatSettings(
            own,
            assistants,
            library,
            settings,
            tasks,
            local_fallback=local_fallback,
            begins_here=True,
        ),
        generation,
        context(database, preparing, grounding, runtime, settings, tasks),
        library,
        grounding,
        Documents(DocumentReader(), FileCopies(None), knowledge.paths_of),
        tasks,
    )
    return Scratch(presenters, database.close, tasks)
