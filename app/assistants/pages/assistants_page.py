"""The page of assistants and prompts: two parts below one head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QStackedWidget, QWidget

from app.assistants.pages.assistant_list import AssistantList
from app.assistants.pages.prompt_list import PromptList
from app.kit.navigation import Navigation
from app.kit.notify import Notifier
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.page_head import HeadAbove, PageHead
from app.kit.widgets.segments import Segments

if TYPE_CHECKING:
    from app.window.presenters.window import WindowPresenters


class AssistantsPage(QWidget):
    """The page of assistants, in two parts: the assistants and the prompt library."""

    def __init__(
        self,
        presenters: WindowPresenters,
        notifier: Notifier,
        navigation: Navigation,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._navigation = navigation
        self._chat_settings = presenters.chat_settings
        self.setObjectName("assistantsPage")
        self.assistants = AssistantList(
            presenters.assistants,
            presenters.settings,
            presenters.models.list,
            presenters.collections.all,
            notifier,
        )
        self.assistants.chat.connect(self._start_chat)
        self.prompts = PromptList(presenters.prompts, notifier)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.assistants)
        self._stack.addWidget(self.prompts)
        self._segments = Segments(
            "assistantsPart",
            self.tr("Part of the page"),
            (
                ("assistants", self.tr("Assistants"), self.tr("Assistants")),
                ("prompts", self.tr("Prompts"), self.tr("Prompt library")),
            ),
        )
        self._segments.chosen.connect(self._show_part)
        self._add = LabelledButton("plus", "", "newAssistant")
        self._add.clicked.connect(self._create)
        self._head().lay_over(self._stack, self)
        self._show_part("assistants")

    def show_part(self, part: str) -> None:
        """Show a part: "assistants" or "prompts"."""
        self._segments.show_choice(part)
        self._show_part(part)

    def _show_part(self, part: str) -> None:
        prompts = part == "prompts"
        self._stack.setCurrentWidget(self.prompts if prompts else self.assistants)
        self._add.redraw("plus", self.tr("New prompt") if prompts else self.tr("New assistant"))
        for button in (self._import, self._export):
            button.setVisible(prompts)

    def _start_chat(self, assistant_id: str) -> None:
        """Begin a new chat with this assistant."""
        self._navigation.open_chat(None)
        self._chat_settings.set_assistant(None, assistant_id)

    def _create(self) -> None:
        if self._segments.choice == "prompts":
            self.prompts.show_new()
        else:
            self.assistants.show_new()

    def _head(self) -> HeadAbove:
        self._import = LabelledButton("folder", self.tr("Import…"), "importPrompts", look="quiet")
        self._import.clicked.connect(self.prompts.pick_import)
        self._export = LabelledButton("export", self.tr("Export…"), "exportPrompts", look="quiet")
        self._export.clicked.connect(self.prompts.pick_export)
        head = PageHead(self.tr("Assistants"), "assistantsBack", self._add)
        head.back.connect(self._navigation.go_to_chat)
        return HeadAbove(head, FlowRow(self._segments, self._import, self._export))
