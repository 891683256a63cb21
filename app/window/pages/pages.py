"""The pages of the window, one entry for each.

The entry gives a page its commands with their shortcuts (in menus, palette and list of shortcuts),
its button in the sidebar, and the function that creates it on the first visit. The chat has no
entry, because every page leads back to it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.connections.pages.going_online import GoingOnline
    from app.kit.navigation import Navigation
    from app.kit.notify import Notifier
    from app.models.library.pages.chooser import ModelChooser
    from app.window.presenters.window import WindowPresenters

_tr = QCoreApplication.translate


@dataclass(frozen=True)
class PageTools:
    """The collaborators that a page can be created with."""

    presenters: WindowPresenters
    notifier: Notifier
    navigation: Navigation
    chooser: ModelChooser
    online: GoingOnline


@dataclass(frozen=True)
class PageCommand:
    """A command that shows a page.

    Attributes:
        keys: The default shortcut; "" for none.
        part: The part of the page to show; "" for the part that was shown last.
    """

    name: str
    text: str
    keys: str
    part: str = ""


@dataclass(frozen=True)
class Page:
    """A page of the window.

    Attributes:
        make: Creates the page on the first visit, and imports its modules only then.
        commands: The commands that show the page; the first one is also that of its button.
        drawing: The icon of its button in the sidebar; "" if its commands are in the menu *More*.
        group: The group of its commands.
    """

    name: str
    make: Callable[[PageTools], QWidget]
    commands: tuple[PageCommand, ...]
    drawing: str = ""
    group: Literal["window", "help"] = "window"


def pages() -> tuple[Page, ...]:
    """Return the pages in the order in which they are shown."""
    # Qt's Ctrl is Command on macOS, where Command+M minimises a window; Qt's Meta is Control.
    models_key = "Meta+M" if sys.platform == "darwin" else "Ctrl+M"
    return (
        Page(
            "assistants",
            _assistants,
            (
                PageCommand(
                    "show_assistants", _tr("pages", "Assistants"), "Ctrl+Shift+A", "assistants"
                ),
                PageCommand(
                    "show_prompts", _tr("pages", "Prompt library"), "Ctrl+Shift+L", "prompts"
                ),
            ),
            drawing="assistant",
        ),
        Page(
            "documents",
            _documents,
            (PageCommand("show_documents", _tr("pages", "Documents"), "Ctrl+Shift+W"),),
            drawing="documents",
        ),
        Page(
            "models",
            _models,
            (
                PageCommand("show_models", _tr("pages", "Models"), models_key),
                PageCommand("show_downloads", _tr("pages", "Downloads"), "Ctrl+J", "downloads"),
            ),
            drawing="box",
        ),
        Page(
            "engines",
            _engines,
            (
                PageCommand("show_engines", _tr("pages", "Engines"), "Ctrl+Shift+G"),
                PageCommand("show_api", _tr("pages", "For other programs (API)"), "", "api"),
            ),
        ),
        Page(
            "activity",
            _activity,
            (PageCommand("show_activity", _tr("pages", "Activity"), "Ctrl+Shift+R"),),
        ),
        Page(
            "servers",
            _servers,
            (PageCommand("show_servers", _tr("pages", "Servers"), "Ctrl+Shift+Y"),),
        ),
        Page(
            "connections",
            _connections,
            (PageCommand("show_connections", _tr("pages", "Connections"), "Ctrl+Shift+J"),),
        ),
        Page(
            "help",
            _help,
            (PageCommand("show_help", _tr("pages", "Help"), "Shift+F1"),),
            group="help",
        ),
    )


def _assistants(tools: PageTools) -> QWidget:
    from app.assistants.pages.assistant_list import AssistantList
    from app.assistants.pages.assistants_page import AssistantsPage
    from app.assistants.pages.prompt_list import PromptList

    presenters, notifier, navigation = tools.presenters, tools.notifier, tools.navigation

    def chat_with(assistant_id: str) -> None:
        navigation.open_chat(None)
        presenters.chat_page.open_chat.set_assistant(assistant_id)

    assistants = AssistantList(
        presenters.assistants,
        presenters.settings,
        presenters.models.list,
        presenters.collections.all,
        notifier,
        chat_with,
    )
    return AssistantsPage(assistants, PromptList(presenters.prompts, notifier), navigation)


def _documents(tools: PageTools) -> QWidget:
    from app.documents.collections.pages.documents_page import DocumentsPage

    presenters, navigation = tools.presenters, tools.navigation

    def chat_about(collection: str) -> None:
        navigation.open_chat(None)
        presenters.chat_page.open_chat.set_collections((collection,))

    page = DocumentsPage(presenters, tools.notifier, navigation)
    page.chat.connect(chat_about)
    return page


def _models(tools: PageTools) -> QWidget:
    from app.models.pages.models_page import ModelsPage

    presenters, generation = tools.presenters.models_page, tools.presenters.generation
    page = ModelsPage(presenters, tools.notifier, tools.navigation, tools.chooser, tools.online)
    page.local_models.anyway.connect(generation.load_anyway)
    # An answer has priority over a check.
    generation.begun.connect(presenters.same_answer.stop)
    return page


def _engines(tools: PageTools) -> QWidget:
    from app.api.pages.api_card import ApiCard
    from app.api.pages.api_controller import ApiController
    from app.runtime.pages.engines_page import EnginesPage

    presenters, notifier, navigation = tools.presenters, tools.notifier, tools.navigation
    settings, models = presenters.settings, presenters.models
    api = ApiCard()
    ApiController(api, presenters.api_server, settings, models, notifier, navigation)
    return EnginesPage(
        presenters.engines,
        presenters.servers,
        settings,
        models,
        api,
        presenters.data_folder / "engines" / "vllm",
        notifier,
        navigation,
    )


def _activity(tools: PageTools) -> QWidget:
    from app.activity.pages.activity_page import ActivityPage

    return ActivityPage(tools.presenters.activity, tools.notifier, tools.navigation)


def _servers(tools: PageTools) -> QWidget:
    from app.servers.pages.servers_page import ServersPage

    presenters = tools.presenters
    return ServersPage(
        presenters.servers, presenters.models, tools.notifier, tools.navigation, tools.chooser
    )


def _connections(tools: PageTools) -> QWidget:
    from app.connections.pages.connections_page import ConnectionsPage

    return ConnectionsPage(tools.presenters.connections, tools.notifier, tools.navigation)


def _help(tools: PageTools) -> QWidget:
    from app.help.pages.help_page import HelpPage

    presenters = tools.presenters
    return HelpPage(presenters.guides, presenters.settings, tools.notifier, tools.navigation)
