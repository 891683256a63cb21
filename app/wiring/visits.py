"""The services of the window's pages that are seldom gone to: a part of the composition root."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.presenters.window import LazyServices
from app.wiring.shipped import GUIDES
from app.wiring.vllm import system

if TYPE_CHECKING:
    from app.presenters.connections import Connections
    from app.presenters.discover import Discover
    from app.presenters.engine_list import EngineList
    from app.presenters.exporting import Exporting
    from app.presenters.hub_token import HubToken
    from app.presenters.importing import Importing
    from app.presenters.model_page import ModelPage
    from app.presenters.overview import ModelOverview
    from app.presenters.same_answer import SameAnswer
    from app.presenters.server_list import ServerList
    from app.presenters.settings import SettingsService
    from app.presenters.tasks import Tasks
    from app.services.guides import Guides
    from app.wiring.core import Core


def makers(core: Core, settings: SettingsService, tasks: Tasks) -> LazyServices:
    """Each imports what it makes, so that a start of the window does without."""

    def exporting() -> Exporting:
        from app.presenters.exporting import Exporting
        from app.ui.exchange.pdf import print_chats

        return Exporting(core.chats, core.folders, print_chats, tasks)

    def importing() -> Importing:
        from app.presenters.importing import Importing

        return Importing(core.imports, tasks)

    def overview() -> ModelOverview:
        from app.presenters.overview import ModelOverview

        return ModelOverview(core.library, core.care, core.folder.root, tasks)

    def model_page() -> ModelPage:
        from app.presenters.model_page import ModelPage

        return ModelPage(
            core.library, core.care, core.fitting, settings, core.look, tasks,
            vllm=core.vllm.profile,
        )  # fmt: skip

    def connections() -> Connections:
        from app.presenters.connections import Connections

        return Connections(core.ledger, tasks)

    def same_answer() -> SameAnswer:
        from app.presenters.same_answer import SameAnswer

        return SameAnswer(core.bench, core.library, settings, tasks)

    def discover() -> Discover:
        from app.net import endpoint
        from app.presenters.discover import Discover

        return Discover(
            core.hub,
            core.downloads,
            core.fitting,
            core.tokens,
            settings,
            core.look,
            endpoint,
            core.folder.headers,
            tasks,
        )

    def hub_token() -> HubToken:
        from app.presenters.hub_token import HubToken

        return HubToken(core.tokens, tasks)

    def guides() -> Guides:
        from app.services.guides import Guides

        return Guides(GUIDES)

    return LazyServices(
        exporting=exporting,
        importing=importing,
        overview=overview,
        model_page=model_page,
        connections=connections,
        same_answer=same_answer,
        discover=discover,
        hub_token=hub_token,
        engines=lambda stop_answers: _engines(core, stop_answers, tasks),
        servers=lambda: _servers(core, tasks),
        guides=guides,
    )


def _engines(core: Core, stop_answers: Callable[[], object], tasks: Tasks) -> EngineList:
    from app.presenters.engine_list import EngineList
    from app.presenters.engine_seams import EngineSeams

    seams = EngineSeams(
        system(),
        core.look,
        core.devices,
        core.choice,
        core.runtime,
        core.settings,
        core.hub,
        core.downloads,
        core.fitting,
    )
    return EngineList(core.engine_care(), seams, stop_answers, tasks)


def _servers(core: Core, tasks: Tasks) -> ServerList:
    from app.presenters.server_list import ServerList

    return ServerList(core.servers, tasks)
