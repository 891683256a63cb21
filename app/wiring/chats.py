"""Makes the window's presenters for the chats of one database."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.documents.pages import PageDrawer
from app.documents.reader import DocumentReader
from app.presenters.answering import Answering
from app.presenters.branches import Branches
from app.presenters.chat_settings import ChatSettings
from app.presenters.chats import Chats
from app.presenters.citations import Citations
from app.presenters.context_use import ContextUses
from app.presenters.draft_files import DraftFiles
from app.presenters.drafts import Drafts
from app.presenters.generation import Generation
from app.presenters.model_thinking import ModelThinking
from app.presenters.recording import Recording
from app.presenters.reproducing import Reproducing
from app.presenters.scratch import Scratch
from app.presenters.snapshots import DailySnapshots
from app.presenters.titles import Titles
from app.presenters.viewing import Viewing
from app.presenters.waiting import WaitingMessages
from app.services.answers.answers import Answers
from app.services.answers.chat_layers import ChatLayers
from app.services.answers.citing import Citing
from app.services.answers.compacting import Compacting
from app.services.answers.counting import Counting
from app.services.answers.grounding import Grounding
from app.services.answers.senses import ProjectorOf
from app.services.chats.trash import see_today
from app.services.documents import Documents
from app.services.microphone import SystemMicrophone
from app.services.pages import Pages
from app.services.recording import Recorder
from app.store.branches import BranchStore
from app.store.chat_lists import ChatLists
from app.store.chat_settings import ChatSettingsStore
from app.store.chats import ChatStore
from app.store.documents import DocumentStore, FileCopies
from app.store.drafts import DraftStore
from app.store.folders import FolderStore
from app.store.memory_database import MemoryDatabase
from app.store.summaries import SummaryStore
from app.store.waiting import WaitingStore

if TYPE_CHECKING:
    from app.presenters.assistants import Assistants
    from app.presenters.settings import SettingsService
    from app.presenters.tasks import Tasks
    from app.presenters.window import WindowPresenters
    from app.services.engines.runtime import Runtime
    from app.services.knowledge.knowledge import Knowledge
    from app.services.models.library import Library
    from app.store.assistants import AssistantStore
    from app.store.db import Database
    from app.store.snapshots import Snapshots


def in_background(
    store: ChatStore,
    runtime: Runtime,
    snapshots: Snapshots,
    presenters: WindowPresenters,
    tasks: Tasks,
) -> tuple[Titles, DailySnapshots]:
    """Start what goes on by itself while the window is open; the owner keeps it."""
    chats, generation, search = presenters.chats, presenters.generation, presenters.search
    titles = Titles(store, runtime, generation, presenters.settings, tasks)
    titles.titled.connect(chats.changed)
    daily = DailySnapshots(snapshots, presenters.settings, tasks, lambda: see_today(store))
    for failed in (daily.failed, chats.drafts.failed):
        failed.connect(chats.failed)
    for signal in (chats.changed, generation.asked, generation.ended, generation.saved):
        signal.connect(search.keep_in_step)
    search.keep_in_step()
    return titles, daily


def answering(
    database: Database,
    library: Library,
    generation: Generation,
    grounding: Grounding,
    documents: Documents,
    tasks: Tasks,
) -> Answering:
    """Make the presenters around answers for a database's chats, which `generation` answers."""
    citing = Citing(grounding, documents.state_of)
    return Answering(
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
    answers: Answers,
    grounding: Grounding,
    runtime: Runtime,
    settings: SettingsService,
    tasks: Tasks,
) -> ContextUses:
    """Make the service that measures the contexts of a database's chats."""
    summaries = SummaryStore(database)
    counting = Counting(ChatStore(database), summaries, answers, grounding, runtime)
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
    projector_of: ProjectorOf,
) -> Scratch:
    """Make a chat with stores of its own, all in memory: none knows the data folder.

    local_fallback, projector_of: as of `app.services.answers.answers.Answers`; it begins on this
    computer.
    knowledge: the user's collections, which it may be grounded in.
    """
    database = MemoryDatabase()
    chats, own = ChatStore(database), ChatSettingsStore(database)
    drafts = Drafts(DraftStore(database), tasks)
    grounding = Grounding(DocumentStore(database), knowledge)
    answers = Answers(
        chats,
        library,
        runtime,
        ChatLayers(own, stored),
        Compacting(SummaryStore(database)),
        grounding,
        leaves_traces=False,
        projector_of=projector_of,
    )
    generation = Generation(chats, answers, settings, tasks)
    return Scratch(
        chats=Chats(
            chats, ChatLists(database), FolderStore(database), drafts, lambda _: None, tasks
        ),
        generation=generation,
        answering=answering(
            database,
            library,
            generation,
            grounding,
            Documents(DocumentReader(), FileCopies(None), knowledge.paths_of),
            tasks,
        ),
        chat_settings=ChatSettings(
            own,
            assistants,
            library,
            settings,
            tasks,
            local_fallback=local_fallback,
            begins_here=True,
        ),
        context=context(database, answers, grounding, runtime, settings, tasks),
        forget=database.close,
        tasks=tasks,
    )
