"""The prompt library for the window: held in memory, saved on the store's queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.assistants.store.prompts import PromptStore
from app.assistants.values.assistants import free_name
from app.assistants.values.prompts import LONGEST_FILE, SavedPrompt, as_json, from_json
from app.base.errors import PromptsNotRead
from app.base.folder import write_atomically
from app.base.ids import new_id
from app.kit.tasks.tasks import STORE, Failed, Tasks
from engines.regular import read_regular_text
from engines.sentences import N_


class Prompts(QObject):
    """The prompt library.

    Signals:
        changed(): The list has changed.
        failed(error): A change was not saved.
    """

    changed = Signal()
    failed = Signal(Exception)

    def __init__(self, store: PromptStore, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._tasks = tasks
        self._prompts = {prompt.id: prompt for prompt in store.prompts()}

    def all(self) -> list[SavedPrompt]:
        """Return the prompts, sorted by name."""
        return sorted(
            self._prompts.values(), key=lambda prompt: (prompt.name.casefold(), prompt.id)
        )

    def get(self, prompt_id: str) -> SavedPrompt | None:
        """Return the prompt with this id; None if it does not exist or was removed."""
        return self._prompts.get(prompt_id)

    def create(self, name: str, text: str) -> SavedPrompt:
        """Save a new prompt; add a number to its name if that is taken."""
        name = free_name(name, {prompt.name for prompt in self._prompts.values()})
        prompt = SavedPrompt(new_id(), name, text)
        self.save(prompt)
        return prompt

    def save(self, *prompts: SavedPrompt) -> None:
        """Save prompts; removed ones are added again."""
        self._prompts |= {prompt.id: prompt for prompt in prompts}
        self._write(lambda: self._store.save(prompts))

    def remove(self, prompt_id: str) -> SavedPrompt | None:
        """Remove a prompt, and return it, so that `save` can undo this."""
        removed = self._prompts.pop(prompt_id, None)
        self._write(lambda: self._store.remove(prompt_id))
        return removed

    def export(self, path: Path, done: Callable[[Path], object], failed: Failed) -> None:
        """Write all prompts to a file."""
        prompts = self.all()

        def write() -> Path:
            write_atomically(path, as_json(prompts))
            return path

        self._tasks.run(write, done, failed, on=STORE)

    def import_file(self, path: Path, done: Callable[[int], object], failed: Failed) -> None:
        """Add the prompts of a file, except those that exist with the same name and text.

        Args:
            done: Called with the number of new prompts.
        """
        self._tasks.run(
            lambda: _read_file(path), lambda prompt: done(self._add(prompt)), failed, on=STORE
        )

    def _add(self, entries: Sequence[tuple[str, str]]) -> int:
        existing = {(prompt.name, prompt.text) for prompt in self._prompts.values()}
        names = {prompt.name for prompt in self._prompts.values()}
        added = []
        for name, text in dict.fromkeys(entries):
            if (name, text) not in existing:
                name_here = free_name(name, names)
                names.add(name_here)
                added.append(SavedPrompt(new_id(), name_here, text))
        self.save(*added)
        return len(added)

    def _write(self, change: Callable[[], None]) -> None:
        self._tasks.run(change, lambda _: None, self.failed.emit, on=STORE)
        self.changed.emit()


def _read_file(path: Path) -> list[tuple[str, str]]:
    """Read a file of prompts. Raises PromptsNotRead."""
    try:
        if path.stat().st_size > LONGEST_FILE:
            raise PromptsNotRead(
                N_("No prompts were read from this file."),
                N_("It is too large for a file of prompts."),
                N_("Choose a file that was exported from the prompt library."),
            )
        return from_json(read_regular_text(path, encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise PromptsNotRead(
            N_("{name} could not be read.", name=path.name),
            N_("The system says: {strerror}.", strerror=error),
            N_("Check that the file is there and that you may read it."),
        ) from error
