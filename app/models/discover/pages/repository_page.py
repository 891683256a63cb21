"""The page of a repository: its quantisations, their fit, and its description."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.format import size
from app.kit.look.theme import BASE, GRID
from app.kit.text.markdown_view import MarkdownView
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.page_head import BackLink
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.kit.widgets.problem_card import ProblemCard
from app.kit.widgets.row_button import RowButton
from app.markdown.parser import Parser
from app.models.discover.pages.choice_panel import ChoicePanel
from app.models.discover.pages.fit_badge import FitBadge
from app.models.discover.pages.words import BETWEEN, facts_of, fits_sentence, split_name
from app.models.discover.values.offers import Choice, ChoiceVerdict, OpenedRepository
from app.models.downloads.values.downloads import Download
from app.models.hub.values.hub import Gate
from app.models.library.values.memory_use import Fits
from engines.errors import UserError


class VariantRow(RowButton):
    """The row of one quantisation, chosen with a click or with the arrow keys."""

    def __init__(self, choice: Choice, parent: QWidget | None = None) -> None:
        self.choice = choice
        label, amount = choice.variant.label, size(choice.variant.size_bytes)
        super().__init__(f"variant-{label}", "", parent)
        self.setCheckable(True)
        self.setAutoExclusive(True)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        first = QHBoxLayout()
        first.setSpacing(GRID)
        first.addWidget(Label(translated(choice.quality) or label, "strong"))
        if choice.recommended:
            first.addWidget(Label(self.tr("Recommended"), "chosen", name="recommendedBadge"))
        first.addStretch(1)
        texts.addLayout(first)
        texts.addWidget(ElidedLabel(f"{label} · {amount}", "small"))
        self.box.addLayout(texts, 1)
        self._badge = FitBadge(choice.fits)
        self.box.addWidget(self._badge)
        self._describe(choice.fits)

    def show_fits(self, fits: Fits) -> None:
        """Show a more exact verdict."""
        old, self._badge = self._badge, FitBadge(fits)
        self.box.replaceWidget(old, self._badge)
        old.hide()
        old.deleteLater()
        self._describe(fits)

    def _describe(self, fits: Fits) -> None:
        choice = self.choice
        words = [
            choice.variant.label,
            translated(choice.quality),
            size(choice.variant.size_bytes),
            fits_sentence(fits),
            self.tr("Recommended.") if choice.recommended else "",
        ]
        self.setAccessibleName(", ".join(word for word in words if word))
        self.let_clicks_through()


class GateCard(Panel):
    """The card that explains how to get access to a repository.

    Signals:
        licence: The user wants to open the page on which the terms are accepted.
        token: The user wants to enter a token.
    """

    licence = Signal()
    token = Signal()

    def __init__(self, gate: Gate, has_token: bool, parent: QWidget | None = None) -> None:
        super().__init__("banner", "gateCard", margins=(2.5, 2, 2.5, 2), spacing=1, parent=parent)
        title = QHBoxLayout()
        title.setSpacing(GRID)
        title.addWidget(Picture("lock", "accent_text"))
        title.addWidget(Label(self.tr("Its owner wants to know who downloads it"), "strong"), 1)
        self.box.addLayout(title)
        consent = (
            self.tr("1.  Open its page, sign in, and accept the terms. Access is given at once.")
            if gate == "auto"
            else self.tr(
                "1.  Open its page, sign in, and ask for access. Its owner has to grant it, "
                "which may take days."
            )
        )
        second = (
            self.tr("2.  Hearth already has your token. Come back and press “Download”.")
            if has_token
            else self.tr("2.  Create a token with read access in your account, and enter it here.")
        )
        for text in (consent, second):
            self.box.addWidget(Label(text, wrap=True))
        row = QHBoxLayout()
        row.setSpacing(GRID)
        page = LabelledButton("browse", self.tr("Open its page"), "openLicence")
        page.clicked.connect(self.licence)
        words = self.tr("Another token…") if has_token else self.tr("Enter a token…")
        token = LabelledButton("key", words, "enterToken")
        token.clicked.connect(self.token)
        row.addWidget(page)
        row.addWidget(token)
        row.addStretch(1)
        row.setContentsMargins(0, 4, 0, 0)
        self.box.addLayout(row)


class RepositoryPage(PartPage):
    """The page of one repository.

    Signals:
        back: The user wants to return to the results.
        chosen: The Choice (quantisation) that is now selected.
        get: The Choice to download, and whether to include its projector.
        again: The repository to open again.
        page: The user wants to open its page in the browser.
        token: The user wants to enter a token.
        link: The address of a link in its description that was clicked.
    """

    back = Signal()
    chosen = Signal(object)
    get = Signal(object, bool)
    again = Signal(str)
    page = Signal()
    token = Signal()
    link = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("repositoryPage", parent=parent)
        self._repo = ""
        self._opened: OpenedRepository | None = None
        self._panel: ChoicePanel | None = None
        self._downloads: Sequence[Download] = ()
        self._place = QVBoxLayout()
        self._back_button = BackLink(
            self.tr("Back to the results"), "backToResults", self.back.emit
        )
        self.column.addWidget(self._back_button, 0, Qt.AlignmentFlag.AlignLeft)
        top = QHBoxLayout()
        top.setSpacing(GRID)
        self._name = Label("", "title", name="repositoryName", wrap=True)
        top.addWidget(self._name, 1)
        browse = LabelledButton("browse", self.tr("Open its page"), "openPage", look="link")
        browse.clicked.connect(self.page)
        top.addWidget(browse)
        self.column.addLayout(top)
        self._facts = Label("", "muted", name="repositoryFacts", wrap=True)
        self.column.addWidget(self._facts)
        self._content = QVBoxLayout()
        self._content.setSpacing(2 * GRID)
        self.column.addLayout(self._content)
        self._card = MarkdownView(Parser(), BASE)
        self._card.setObjectName("modelCard")
        self._card.setAccessibleName(self.tr("Description"))
        self._card.link.connect(self.link)
        self._card_box = Panel("card", "modelCardBox", margins=(2.5, 2, 2.5, 2), spacing=1.5)
        self._card_box.box.addWidget(Label(self.tr("Description"), "group"))
        self._card_box.box.addWidget(self._card)
        self.column.addWidget(self._card_box)
        self.column.addStretch(1)

    @property
    def repo(self) -> str:
        """The name of the repository on the page; empty before the first."""
        return self._repo

    @property
    def opened(self) -> OpenedRepository | None:
        """The repository with its choices; None until the Hub has described it."""
        return self._opened

    def focus(self) -> None:
        """Move the keyboard focus to the top of the page."""
        self._back_button.setFocus()

    def show_opening(self, repo: str) -> None:
        """Empty the page, and show that the Hub is asked about a repository."""
        self._begin(repo)
        self._content.addWidget(
            Label(self.tr("Asking the Hub for its files…"), "muted", name="opening")
        )

    def show_problem(self, error: UserError, *, gated: bool) -> None:
        """Show an error.

        Args:
            gated: Whether accepting the terms and entering a token can help.
        """
        self._begin(self._repo)
        actions = [("openAgain", "again", self.tr("Try again"))]
        if gated:
            actions.append(("openLicence", "browse", self.tr("Open its page")))
            actions.append(("enterToken", "key", self.tr("Enter a token…")))
        card = ProblemCard(error, actions)
        card.acted.connect(self._act)
        self._content.addWidget(card)

    def show_opened(self, opened: OpenedRepository, *, label: str = "") -> None:
        """Show the repository.

        Args:
            label: The quantisation to choose first; "" means the recommended one.
        """
        repository = opened.repository
        self._begin(repository.id)
        self._opened = opened
        self._facts.setText(BETWEEN.join(facts_of(repository)))
        if repository.gate != "open":
            gate = GateCard(repository.gate, opened.has_token)
            gate.licence.connect(self.page)
            gate.token.connect(self.token)
            self._content.addWidget(gate)
        if not opened.choices:
            self._content.addWidget(self._nothing(drafts=opened.drafts))
            return
        rows = self._rows(opened)
        first = next(
            (row for row in rows if row.choice.variant.label == label),
            next((row for row in rows if row.choice.recommended), rows[0]),
        )
        first.setChecked(True)

    def show_judged(self, judged: ChoiceVerdict) -> None:
        """Show an exact estimate if its quantisation is still chosen."""
        if self._panel is not None and self._is_shown(judged.repo, judged.label):
            self._panel.show_judged(judged)
            row = self.findChild(VariantRow, f"variant-{judged.label}")
            if row is not None:
                row.show_fits(judged.fits)

    def show_not_judged(self, repo: str, label: str, error: UserError) -> None:
        """Show why there is no exact estimate if its quantisation is still chosen."""
        if self._panel is not None and self._is_shown(repo, label):
            self._panel.show_not_judged(error)

    def show_card(self, repo: str, text: str) -> None:
        """Show the repository's description, as markdown, if it is still on the page."""
        if repo == self._repo and text.strip():
            self._card_box.show()
            self._card.show_markdown(text)

    def show_waiting(self) -> None:
        """Show that the chosen quantisation is being put into the queue."""
        if self._panel is not None:
            self._panel.show_waiting()

    def show_not_queued(self, repo: str, label: str) -> None:
        """Show that a requested download did not get into the queue."""
        if self._panel is not None and self._is_shown(repo, label):
            self._panel.show_downloads(self._downloads)

    def show_downloads(self, downloads: Sequence[Download]) -> None:
        """Show the download of the chosen quantisation."""
        self._downloads = downloads
        if self._panel is not None:
            self._panel.show_downloads(downloads)

    def _begin(self, repo: str) -> None:
        """Show an empty page for a repository."""
        self._repo = repo
        self._opened = self._panel = None
        name, owner = split_name(repo)
        self._name.setText(name)
        self._facts.setText(owner)
        empty(self._content)
        self._card.show_blocks(())
        self._card_box.hide()
        self.verticalScrollBar().setValue(0)

    def _choose(self, opened: OpenedRepository, choice: Choice) -> None:
        empty(self._place)
        self._panel = ChoicePanel(opened.repository, choice)
        self._panel.get.connect(lambda projector: self.get.emit(choice, projector))
        self._panel.show_downloads(self._downloads)
        self._place.addWidget(self._panel)
        self.chosen.emit(choice)

    def _rows(self, opened: OpenedRepository) -> list[VariantRow]:
        """Add the panel of the chosen quantisation and, below it, a row for each quantisation."""
        self._place = QVBoxLayout()
        self._content.addLayout(self._place)
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(Label(self.tr("All sizes, the smallest first"), "group"))
        rows = [VariantRow(choice) for choice in opened.choices]
        for row in rows:
            row.toggled.connect(
                lambda on, choice=row.choice: self._choose(opened, choice) if on else None
            )
            column.addWidget(row)
        self._content.addWidget(box)
        return rows

    def _nothing(self, *, drafts: bool) -> QWidget:
        """Return a card that explains why there is nothing to download.

        Args:
            drafts: Whether the repository has only drafters.
        """
        card = Panel("card", "nothingToGet", margins=(2.5, 2, 2.5, 2))
        text = self.tr("There is no GGUF file here that Hearth can run.")
        advice = self.tr("Go back and search for the model’s name with “GGUF”.")
        if drafts:
            text = self.tr("This is a drafter, not a model to chat with.")
            advice = self.tr(
                "It helps the model in its name to answer faster. Download that model: its "
                "drafter is included where there is one."
            )
        card.box.addWidget(Label(text, "strong", wrap=True))
        card.box.addWidget(Label(advice, "muted", wrap=True))
        return card

    def _act(self, name: str) -> None:
        if name == "openAgain":
            self.again.emit(self._repo)
        elif name == "openLicence":
            self.page.emit()
        else:
            self.token.emit()

    def _is_shown(self, repo: str, label: str) -> bool:
        return (
            repo == self._repo
            and self._panel is not None
            and self._panel.choice.variant.label == label
        )
