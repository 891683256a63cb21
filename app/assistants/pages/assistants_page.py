"""The page of assistants and prompts: two parts below one head."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QWidget

from app.assistants.pages.assistant_list import AssistantList
from app.assistants.pages.prompt_list import PromptList
from app.kit.navigation import Navigation
from app.kit.widgets.action import UserAction
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.page_head import FixedHead, PageHead
from app.kit.widgets.segments import Segments


class AssistantsPage(QWidget):
    """The page of assistants, in two parts: the assistants and the prompt library."""

    def __init__(
        self,
        assistants: AssistantList,
        prompts: PromptList,
        navigation: Navigation,
    ) -> None:
        super().__init__()
        self._navigation = navigation
        self.setObjectName("assistantsPage")
        self.assistants = assistants
        self.prompts = prompts
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
        self._add = UserAction("newAssistant", "plus", "", self._create).button()
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

    def _create(self) -> None:
        if self._segments.choice == "prompts":
            self.prompts.show_new()
        else:
            self.assistants.show_new()

    def _head(self) -> FixedHead:
        import_, export = self.prompts.pick_import, self.prompts.pick_export
        words = self.tr("Import…"), self.tr("Export…")
        self._import = UserAction("importPrompts", "folder", words[0], import_).button("quiet")
        self._export = UserAction("exportPrompts", "export", words[1], export).button("quiet")
        head = PageHead(
            self.tr("Assistants"), "assistantsBack", self._navigation.go_to_chat, self._add
        )
        return FixedHead(head, FlowRow(self._segments, self._import, self._export))
