"""The prompt library: its list and its form, and the import and export of prompts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path

from app.assistants.presenters.prompts import Prompts
from app.assistants.values.assistants import LONGEST_NAME
from app.assistants.values.prompts import AUTOMATIC_VARIABLES, SavedPrompt, matching, user_variables
from app.kit.look.format import shortened
from app.kit.look.theme import GRID
from app.kit.notify import Notifier
from app.kit.widgets.action import UserAction
from app.kit.widgets.card import ItemCard
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.fields import LineField, TextField
from app.kit.widgets.form import FormCard, field
from app.kit.widgets.keyed_column import KeyedColumn
from app.kit.widgets.label import Label
from app.kit.widgets.layouts import boxed, column, fill, row
from app.kit.widgets.picking import FILE, pick, pick_target

_MOST_CHARACTERS = 140
"""Of a prompt; the form shows the rest."""
_MOST_SHOWN = 200
"""The largest number of prompts shown at once; a search finds the others."""


class PromptForm(FormCard):
    """The form of a prompt.

    Args:
        prompt: The prompt to edit.
        save: Called with the edited prompt.
        leave: Called if the user cancels.
    """

    def __init__(
        self,
        prompt: SavedPrompt,
        save: Callable[[SavedPrompt], object],
        leave: Callable[[], object],
    ) -> None:
        super().__init__(
            "promptForm",
            UserAction("savePrompt", "check", self.tr("Save"), lambda: save(self._edited())),
            UserAction("leavePrompt", "close", self.tr("Cancel"), leave),
        )
        self._prompt = prompt
        self.name = LineField(
            "promptName", self.tr("Name"), prompt.name,
            hint=self.tr("Such as “Reply to a letter”"), longest=LONGEST_NAME,
        )  # fmt: skip
        hint = self.tr("Reply to this letter in a {{tone}} tone:\n\n{{clipboard}}")
        self._text = TextField("promptText", self.tr("Text"), prompt.text, height=200, hint=hint)
        self._found = Label("", "small", name="foundVariables", wrap=True)
        self._text.textChanged.connect(self._show_variables)
        own = ", ".join(f"{{{{{name}}}}}" for name in AUTOMATIC_VARIABLES)
        words = self.tr(
            "Hearth asks you for {blank} when you use the prompt, and fills in {own} by itself."
        ).format(blank="{{name}}", own=own)
        self.lay_out(
            field(self.tr("Name"), self.name, note=self.tr("Type / and this name to use it")),
            field(self.tr("Text"), self._text, note=words),
            self._found,
        )
        self.save_if(
            lambda: self.name.words and self._text.whole_text.strip(),
            self.name.textChanged,
            self._text.textChanged,
        )
        self._show_variables()

    def _edited(self) -> SavedPrompt:
        name = self.name.line.lstrip("/")
        return replace(self._prompt, name=name, text=self._text.toPlainText())

    def _show_variables(self) -> None:
        names = user_variables(self._text.toPlainText())
        asks = self.tr("You will be asked for: {names}").format(names=", ".join(names))
        self._found.show_text(asks if names else "")


class PromptList(PartPage):
    """The list of prompts, or the form in its place."""

    def __init__(self, service: Prompts, notifier: Notifier) -> None:
        super().__init__("promptList")
        self._service = service
        self._notifier = notifier
        self._form: PromptForm | None = None
        self._words = LineField(
            "searchPrompts", self.tr("Search the prompts"), hint=self.tr("Search"), clears=True
        )
        self._words.textChanged.connect(self._show)
        self._title = Label(self.tr("No prompts yet"), "title")
        self._note = Label("", "muted", name="noPrompts", wrap=True)
        self._cards = KeyedColumn(attrgetter("id"), self._card, spacing=12)
        self._more = Label("", "muted")
        found = column(self._title, self._note, self._cards.layout, self._more, spacing=12)
        self._content = boxed(column(self._words, found, spacing=2 * GRID))
        fill(self.column, self._content, 1)
        service.changed.connect(self._close_form)
        service.failed.connect(notifier.error)
        self._show()

    def show_new(self) -> None:
        """Show the form for a new prompt."""
        self._edit(SavedPrompt("", "", ""))

    def pick_import(self) -> None:
        """Let the user choose a file, and import its prompts."""

        def read(paths: list[Path]) -> None:
            self._service.import_file(paths[0], self._imported, self._notifier.error)

        title, kinds = self.tr("Import prompts"), (self.tr("Prompts (*.json)"),)
        pick(self.window(), "pickPrompts", title, FILE, read, filters=kinds)

    def pick_export(self) -> None:
        """Let the user name a file, and export all prompts to it."""

        def write(path: Path) -> None:
            self._service.export(path, self._exported, self._notifier.error)

        title, kinds = self.tr("Export the prompts"), (self.tr("Prompts (*.json)"),)
        pick_target(self.window(), "pickPrompts", title, "prompts.json", write, filters=kinds)

    def _show(self) -> None:
        prompts = self._service.all()
        matches = matching(prompts, self._words.text())
        self._words.setVisible(bool(prompts))
        self._title.setVisible(not prompts)
        if prompts:
            words = self.tr("No prompt has the name “{name}”.").format(name=self._words.words)
        else:
            words = self.tr(
                "A prompt is a text that you write once and use again. Type / in a message to find "
                "it. The variables in {{double braces}} are filled in for each use."
            )
        self._note.show_text("" if matches else words)
        self._cards.show(matches[:_MOST_SHOWN])
        more = self.tr("{count} more; search for their names.").format(
            count=len(matches) - _MOST_SHOWN
        )
        self._more.show_text(more if len(matches) > _MOST_SHOWN else "")

    def _card(self, prompt: SavedPrompt) -> ItemCard:
        name, text = prompt.name, shortened(prompt.text, _MOST_CHARACTERS)
        change = self.tr("Edit {name}").format(name=name)
        edit = UserAction("editPrompt", "pencil", change, partial(self._edit, prompt))
        take_out = self.tr("Remove {name}").format(name=name)
        remove = UserAction("removePrompt", "trash", take_out, partial(self._remove, prompt))
        buttons = row(edit.icon_button(18), remove.icon_button(18), spacing=GRID // 2)
        texts = column(
            Label(f"/{name}", "strong", wrap=True), Label(text, "muted", wrap=True), spacing=2
        )
        return ItemCard(
            f"prompt-{prompt.id}", (texts, 1), column(buttons, 1), spoken=name,
            margins=(2, 1.5, 1.5, 1.5), spacing=1,
        )  # fmt: skip

    def _edit(self, prompt: SavedPrompt) -> None:
        self._close_form()
        self._form = PromptForm(prompt, self._save, self._close_form)
        self._content.hide()
        self.column.insertWidget(0, self._form)
        self._form.name.setFocus()

    def _close_form(self) -> None:
        if self._form is not None:
            self._form.hide()
            self._form.deleteLater()
            self._form = None
        self._content.show()
        self._show()

    def _save(self, prompt: SavedPrompt) -> None:
        if prompt.id:
            self._service.save(prompt)
        else:
            self._service.create(prompt.name, prompt.text)

    def _remove(self, prompt: SavedPrompt) -> None:
        self._service.remove(prompt.id)
        text = self.tr("“{name}” was removed.").format(name=prompt.name)
        self._notifier.offer_undo(text, partial(self._service.save, prompt))

    def _exported(self, path: Path) -> None:
        self._notifier.say(self.tr("The prompts were saved to {name}.").format(name=path.name))

    def _imported(self, number: int) -> None:
        if number:
            self._notifier.say(self.tr("{number} prompts were added.").format(number=number))
        else:
            self._notifier.say(self.tr("You have all of these prompts already."))
