"""Every page and state of the window that is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from PySide6.QtWidgets import QWidget

from app.settings.values.declared import SECTIONS, Section
from tests.e2e.looks import ways
from tests.e2e.looks.house import House
from tests.support.windows import models_page


@dataclass(frozen=True)
class Page:
    """A page or state of the window.

    Attributes:
        show: Opens it, and returns its window.
        full: True for a Hearth that has been used.
        empty: The name of a page without contents, which must say what to do.
        leave: Goes back to the starting point of the other pages.
        grows: True if a narrow window becomes wider for it.
        dialog: Its dialog, which stays open while the next page is in it too.
    """

    name: str
    show: Callable[[House], QWidget]
    full: bool = True
    empty: str = ""
    leave: Callable[[House], object] = lambda house: None
    grows: bool = False
    dialog: str = ""


_FIRST: tuple[Section, ...] = ("Appearance", "Engines")
"""Sections of the settings that are shown without “All options”, too."""

PAGES: Final = (
    Page("welcome", ways.first, full=False, empty="firstScreen"),
    Page("here-empty", ways.models("here"), full=False, empty="modelsHere"),
    Page("offers", ways.models("discover", "offer-default"), full=False, empty="discoverHome"),
    Page("catalogue", ways.catalogue, full=False),
    Page("nothing-found", ways.nothing_found, full=False, empty="results"),
    Page(
        "downloads-empty", ways.models("downloads", "noDownloads"), full=False, empty="modelsPage"
    ),
    Page(
        "connections-empty",
        ways.place("show_connections", "noConnections"),
        full=False,
        empty="connectionsPage",
    ),
    Page(
        "servers-empty",
        ways.place("show_servers", "noServers"),
        full=False,
        empty="serversPage",
    ),
    Page(
        "activity-empty",
        ways.place("show_activity", "noActivity"),
        full=False,
        empty="activityPage",
    ),
    Page(
        "documents-empty",
        ways.place("show_documents", "noCollections"),
        full=False,
        empty="documentsPage",
    ),
    Page("assistants-empty", ways.place("show_assistants"), full=False, empty="assistantsPage"),
    Page("prompts-empty", ways.place("show_prompts"), full=False, empty="assistantsPage"),
    Page(
        "archive-empty",
        ways.place("show_archive"),
        full=False,
        empty="sidebar",
        leave=ways.chats_again,
        grows=True,
    ),
    Page(
        "trash-empty",
        ways.place("show_trash"),
        full=False,
        empty="sidebar",
        leave=ways.chats_again,
        grows=True,
    ),
    Page("new-chat", ways.new),
    Page("chat", ways.chat),
    Page("thoughts", ways.thoughts),
    Page("cited", ways.cited),
    Page("quotes", ways.quotes),
    Page("quoted-page", ways.quoted_page(text=False)),
    Page("quoted-text", ways.quoted_page(text=True)),
    Page("streaming", ways.streaming, leave=ways.clear_selection),
    Page("queue", ways.queue, leave=ways.clear_selection),
    Page("edit", ways.edit, leave=lambda house: ways.click(house, "inlineEditCancel")),
    Page("find", ways.find, leave=lambda house: house.window.page.finding.close()),
    Page("facts", ways.card("answer_facts", "factsCard")),
    Page("branches", ways.card("show_branches", "treeDialog")),
    Page("context", ways.context, leave=lambda house: house.window.page.context.toggle_card()),
    Page("attached", ways.attached, leave=ways.nothing_attached),
    Page("attached-context", ways.attached_context, leave=ways.nothing_attached),
    Page("hindered", ways.hindered, leave=ways.nothing_attached),
    Page("recording", ways.recording, leave=ways.recorded),
    Page("sent-files", ways.sent_files),
    Page("failed", ways.ended("Why is the sky dark at night?")),
    Page("circles", ways.ended("Packing list")),
    Page("message-menu", ways.answer_menu("menu", "messageMenu")),
    Page("again-menu", ways.answer_menu("again_menu", "againChoices")),
    Page("again", ways.again),
    Page("picker", ways.picker),
    Page("other-model", ways.other_model),
    Page("mtp", ways.mtp_card),
    Page("options", ways.options),
    Page("chat-menu", ways.chat_menu),
    Page("place-menu", ways.place_menu, leave=lambda house: house.window.uncover_page()),
    Page("pages-menu", ways.pages_menu, leave=lambda house: house.window.uncover_page()),
    Page("export", ways.export),
    Page("import", ways.importing),
    Page("token", ways.token),
    Page("key", ways.key),
    Page("search", ways.search("running total"), leave=ways.chats_again, grows=True),
    Page("search-none", ways.search("zebra crossing"), leave=ways.chats_again, grows=True),
    Page("bulk", ways.bulk, leave=ways.chats_again, grows=True),
    Page("archive", ways.place("show_archive"), leave=ways.chats_again, grows=True),
    Page("trash", ways.place("show_trash"), leave=ways.chats_again, grows=True),
    Page("here", ways.models("here", "diskUse")),
    Page(
        "details",
        ways.details,
        leave=lambda house: models_page(house.window).local_models.go_back(),
    ),
    Page(
        "metadata",
        ways.metadata,
        leave=lambda house: models_page(house.window).local_models.go_back(),
    ),
    Page("results", ways.results),
    Page("repository", ways.repository, leave=lambda house: ways.click(house, "backToResults")),
    Page("downloads", ways.models("downloads")),
    Page("connections", ways.place("show_connections")),
    Page("engines", ways.place("show_engines", "suitsWhy")),
    Page("engines-price", ways.price),
    Page("programs", ways.programs, leave=ways.no_server),
    Page("programs-failed", ways.program_failed, leave=ways.no_server),
    Page("client-dialog", ways.client_dialog, leave=ways.no_server),
    Page("activity", ways.activity()),
    Page("activity-table", ways.activity(table=True)),
    Page("servers", ways.place("show_servers", "server1")),
    Page("server-dialog", ways.server_dialog),
    Page("badge", ways.badge, leave=ways.model_here),
    Page("badge-quick", ways.quick_badge, leave=ways.model_here),
    Page("documents", ways.documents, leave=ways.all_documents),
    Page("collection", ways.collection(), leave=ways.all_documents),
    Page("collection-file", ways.collection(row=3), leave=ways.all_documents),
    Page("collection-added", ways.collection("sources"), leave=ways.all_documents),
    Page("collection-unread", ways.collection("unreadable", row=0), leave=ways.all_documents),
    Page("collection-found", ways.passages, leave=ways.all_documents),
    Page("collection-menu", ways.collection_menu, leave=ways.all_documents),
    Page("collection-dialog", ways.collection_dialog, leave=ways.all_documents),
    Page("collection-name", ways.collection_name, leave=ways.all_documents),
    Page("passage", ways.passage, leave=ways.all_documents),
    Page("chat-documents", ways.chat_documents, leave=ways.no_documents),
    Page("chat-documents-menu", ways.chat_documents_menu, leave=ways.no_documents),
    Page("assistants", ways.place("show_assistants")),
    Page(
        "assistant-form",
        ways.pressed("show_assistants", "newAssistant", "assistantName"),
        leave=lambda house: ways.click(house, "leaveAssistant"),
    ),
    Page("prompts", ways.place("show_prompts")),
    Page(
        "prompt-form",
        ways.pressed("show_prompts", "newAssistant", "promptName"),
        leave=lambda house: ways.click(house, "leavePrompt"),
    ),
    Page("slash", ways.slash),
    Page("chat-settings", ways.chat_settings, leave=ways.no_panel, grows=True),
    Page("scratch", ways.scratch),
    *(
        Page(
            f"settings-first-{section.lower()}",
            ways.settings(section, every=False),
            dialog="settingsDialog",
        )
        for section in _FIRST
    ),
    *(
        Page(f"settings-{section.lower()}", ways.settings(section), dialog="settingsDialog")
        for section in SECTIONS
    ),
    Page("settings-about", ways.about, dialog="settingsDialog"),
    Page("licence", ways.licence, dialog="licenceDialog"),
    Page("settings-found", ways.settings_found, dialog="settingsDialog", leave=ways.as_it_was),
    Page("help", ways.place("show_help", "guide-first-steps")),
    Page("help-search", ways.guides_searched(ways.SEARCHED), leave=ways.no_guide),
    Page("help-none", ways.guides_searched("zebra"), leave=ways.no_guide),
    Page("guide", ways.guide("models"), leave=ways.no_guide),
    Page("guide-tables", ways.guide("measurements"), leave=ways.no_guide),
    Page("shortcuts", ways.dialog("show_shortcuts", "shortcutsDialog")),
    Page("palette", ways.dialog("show_palette", "palette")),
    Page("quick-ask", ways.quick, leave=ways.forget_quick),
    Page("toasts", ways.toasts),
    Page("bug", ways.bug),
    Page("question", ways.question),
)
