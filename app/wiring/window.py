"""Creates the window's presenters, on top of the parts that it shares with the terminal.

Qt is imported here, so that the terminal works without the system libraries that Qt needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from app.assistants.presenters.assistants import Assistants
from app.assistants.presenters.prompts import Prompts
from app.base.shipped import GUIDES, LICENCES
from app.chats.answers.presenters.generation import Generation
from app.chats.history.presenters.chat_settings import ChatSettings
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.chats.search.presenters import ChatSearch
from app.documents.collections.presenters import Collections
from app.models.discover.presenters.suggestions import Suggestions
from app.models.downloads.presenters import DownloadList
from app.models.downloads.services.metered import is_metered
from app.models.library.presenters.models import Models
from app.models.presenters import ModelsPresenters, SystemService
from app.runtime.presenters.idle import IdleStop
from app.runtime.presenters.loaded import LoadedModels
from app.window.presenters.dropped import DroppedFiles
from app.window.presenters.global_shortcut.service import GlobalShortcut
from app.window.presenters.notifications import Notifications
from app.window.presenters.session_bus import SessionBus
from app.window.presenters.system_motion import SystemMotion
from app.wiring.app import App
from app.wiring.chats import chat_presenters, context, in_background, scratch
from app.wiring.opening import FirstPresenters, first_presenters

if TYPE_CHECKING:
    from app.activity.presenters import Activity
    from app.api.presenters import ApiServer
    from app.chats.presenters.chat_presenters import ChatPresenters
    from app.chats.presenters.scratch import Scratch
    from app.connections.presenters import Connections
    from app.documents.viewer.presenters import Viewing
    from app.exchange.presenters.exporting import Exporting
    from app.exchange.presenters.importing import Importing
    from app.help.presenters import AboutHearth
    from app.help.services.guides import Guides
    from app.help.services.licences import Licences
    from app.models.discover.presenters.discover import Discover
    from app.models.library.presenters.overview import ModelOverview
    from app.models.library.values.entry import ModelEntry
    from app.models.library.values.memory_use import Fits
    from app.runtime.presenters.engine_list import EngineList
    from app.servers.presenters import ServerList


class WindowApp:
    """The `WindowPresenters`, each created on first use, with the imports of its page.

    The owner closes `tasks` before the app.
    """

    def __init__(self, app: App, first: FirstPresenters | None = None) -> None:
        """Take over the first presenters, or create them, and start the background work."""
        self._app = app
        self.tasks, self.settings, self.chats = first or first_presenters(app.opened)
        self.data_folder = app.folder.root
        self.log_file = app.folder.logs / "hearth.log"
        self.stays_offline = app.stays_offline
        settings, tasks = self.settings, self.tasks
        tasks.closing.connect(app.gate.hang_up)
        settings.changed.connect(lambda now: app.gate.hang_up_outside() if now.offline else None)
        IdleStop(app.runtime, lambda: settings.current.vllm_idle, tasks, parent=tasks)
        self._background = in_background(
            app.chats, app.runtime, app.snapshots, self.chats, self.generation, self.search,
            settings, tasks,
        )  # fmt: skip

    def open_scratch(self) -> Scratch:
        """Open a chat that exists in memory alone."""
        app = self._app
        return scratch(
            app.library, app.runtime, app.assistants, self.assistants, self.settings, self.tasks,
            app.local_fallback.at_once, app.knowledge, app.projectors,
        )  # fmt: skip

    @cached_property
    def search(self) -> ChatSearch:
        """The search in chats."""
        return ChatSearch(self._app.search, self._app.index, self.tasks)

    @cached_property
    def assistants(self) -> Assistants:
        """The assistants, with their signals."""
        return Assistants(self._app.assistants, self.tasks)

    @cached_property
    def chat_settings(self) -> ChatSettings:
        """The settings that chats have of their own."""
        return ChatSettings(
            ChatSettingsStore(self._app.database),
            self.assistants,
            self._app.library,
            self.settings,
            self.tasks,
            local_fallback=self._app.local_fallback.at_once,
        )

    @cached_property
    def collections(self) -> Collections:
        """The collections and their indexing."""
        app = self._app
        collections = Collections(
            lambda: app.knowledge,
            lambda: app.recommending.catalogue(),  # noqa: PLW0108 - created on first use
            lambda: app.runtime.queue.in_use("llamacpp"),
            self.tasks,
        )
        self.models.listed.connect(collections.recheck_embedder)
        return collections

    @cached_property
    def viewing(self) -> Viewing:
        """Opens files in the viewer."""
        from app.documents.reading.page_drawing import PageDrawer
        from app.documents.services.pages import Pages
        from app.documents.viewer.presenters import Viewing

        app = self._app
        pages = Pages(app.knowledge.documents, app.documents, PageDrawer())
        return Viewing(pages, self.tasks)

    @cached_property
    def prompts(self) -> Prompts:
        """The prompts that the user keeps."""
        return Prompts(self._app.prompts, self.tasks)

    @cached_property
    def generation(self) -> Generation:
        """Writes the answers of stored chats."""
        return Generation(self._app.chats, self._app.answers, self.settings, self.tasks)

    @cached_property
    def chat_page(self) -> ChatPresenters:
        """The presenters of the chat page."""
        app, tasks = self._app, self.tasks
        uses = context(
            app.database, app.preparing, app.grounding, app.runtime, self.settings, tasks
        )
        return chat_presenters(
            app.database, self.chats, self.chat_settings, self.generation, uses, app.library,
            app.grounding, app.documents, tasks,
        )  # fmt: skip

    @cached_property
    def models(self) -> Models:
        """The list of models."""
        self.settings.set_model_check(self._app.library.shelf.require_listed)
        app, settings = self._app, self.settings

        def judge(entries: Sequence[ModelEntry]) -> Mapping[str, Fits]:
            return app.verdicts.of(entries, settings.current)

        return Models(app.library, app.manager, self.tasks, app.advise, judge)

    @cached_property
    def loaded(self) -> LoadedModels:
        """Shows which models are in memory."""
        return LoadedModels(self._app.library, self._app.runtime, self.tasks)

    @cached_property
    def downloads(self) -> DownloadList:
        """The list of downloads."""
        return DownloadList(self._app.downloads, self._app.library, is_metered, self.tasks)

    @cached_property
    def suggestions(self) -> Suggestions:
        """The models that suit this computer."""
        return Suggestions(self._app.recommending, self._app.free_hardware, self.tasks)

    @cached_property
    def system(self) -> SystemService:
        """This computer's hardware and engines."""
        return SystemService(self._app.detect_hardware, self._app.availability, self.tasks)

    @cached_property
    def about(self) -> AboutHearth:
        """The facts about this Hearth for its page."""
        from app.help.presenters import AboutHearth

        def vllm() -> str:
            found = next(engine for engine in self._app.availability() if engine.name == "vllm")
            return found.about.removeprefix("vLLM ")

        return AboutHearth(vllm, lambda: self.licences, self.tasks)

    @cached_property
    def licences(self) -> Licences:
        """The licences of all parts."""
        from app.help.services.licences import Licences

        return Licences(LICENCES)

    @cached_property
    def bus(self) -> SessionBus:
        """The session bus of Linux."""
        return SessionBus(self.tasks)

    @cached_property
    def notifications(self) -> Notifications:
        """The system's notifications."""
        return Notifications(self.bus)

    @cached_property
    def global_shortcut(self) -> GlobalShortcut:
        """The shortcut that works in other programs."""
        return GlobalShortcut(self.bus)

    @cached_property
    def system_motion(self) -> SystemMotion:
        """The system's setting for animations."""
        return SystemMotion(self.bus)

    @cached_property
    def exporting(self) -> Exporting:
        """Exports chats to files."""
        from app.exchange.pages.pdf import print_chats
        from app.exchange.presenters.exporting import Exporting

        app = self._app
        return Exporting(app.chats, app.folders, app.citing.check, print_chats, self.tasks)

    @cached_property
    def importing(self) -> Importing:
        """Imports chats of other programs."""
        from app.exchange.presenters.importing import Importing

        return Importing(self._app.imports, self._app.documents.checked, self.tasks)

    @cached_property
    def dropped(self) -> DroppedFiles:
        """Looks at dropped files."""
        return DroppedFiles(self.tasks)

    @cached_property
    def overview(self) -> ModelOverview:
        """The models with their sizes and their last use."""
        from app.models.library.presenters.overview import ModelOverview

        app = self._app
        return ModelOverview(app.library, app.manager, app.folder.root, self.tasks)

    @cached_property
    def models_page(self) -> ModelsPresenters:
        """The presenters of the page of models."""
        from app.models.discover.presenters.hub_token import HubToken
        from app.models.library.presenters.metadata import ModelMetadata
        from app.models.library.presenters.model_page import ModelPage
        from app.models.library.presenters.same_answer import SameAnswer

        app, settings, tasks = self._app, self.settings, self.tasks
        return ModelsPresenters(
            self.models,
            self.overview,
            ModelPage(
                app.library, app.manager, app.runtime.judge, settings, app.free_hardware, tasks
            ),
            ModelMetadata(app.metadata, tasks),
            SameAnswer(app.bench, app.library, settings, tasks),
            self.discover,
            self.suggestions,
            HubToken(app.tokens, tasks),
            self.downloads,
            settings,
            self.system,
        )

    @cached_property
    def connections(self) -> Connections:
        """The list of all connections that Hearth made."""
        from app.connections.presenters import Connections

        return Connections(self._app.ledger, self.tasks)

    @cached_property
    def discover(self) -> Discover:
        """The search for models on the Hub."""
        from app.models.discover.presenters.discover import Discover
        from app.net import endpoint

        app = self._app
        return Discover(
            app.hub, app.downloads, app.fitting, app.tokens, self.settings,
            app.free_hardware, endpoint, app.folder.headers, app.projectors, self.tasks,
        )  # fmt: skip

    @cached_property
    def engines(self) -> EngineList:
        """The engines and their installation."""
        from app.runtime.presenters.engine_list import EngineList
        from app.runtime.services.manager import EngineManager

        app = self._app
        manager = EngineManager(
            app.advisor, app.detect_hardware, app.devices, app.choice, app.runtime,
            app.settings, app.hub, app.downloads, app.fitting, app.vllm,
        )  # fmt: skip
        return EngineList(app.installer, manager, self.generation.stop_all, self.tasks)

    @cached_property
    def activity(self) -> Activity:
        """The figures of the page Activity."""
        from app.activity.presenters import Activity
        from app.activity.services.activity import ActivityReader

        return Activity(ActivityReader(self._app.runtime), self.tasks)

    @cached_property
    def servers(self) -> ServerList:
        """The user's servers."""
        from app.servers.presenters import ServerList

        return ServerList(self._app.servers, self.tasks)

    @cached_property
    def api_server(self) -> ApiServer:
        """Hearth's server for other programs."""
        from app.api.presenters import ApiServer

        app = self._app
        return ApiServer(app.server, app.api_keys, self.settings, self.tasks)

    @cached_property
    def guides(self) -> Guides:
        """The guides that come with Hearth."""
        from app.help.services.guides import Guides

        return Guides(GUIDES)
