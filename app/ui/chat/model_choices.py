"""The models to choose from, as a menu: by the engine that runs them, where there are several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from app.core.models.entry import ModelEntry
from app.ui.engines.names import engine_called
from app.ui.look.format import size
from app.ui.look.icons import icon
from app.ui.look.language import translated
from app.ui.look.theme import theme_of
from app.ui.models.names import name_at_server, name_of
from engines.types import EngineName

if TYPE_CHECKING:
    from app.core.models.counterparts import Counterpart

_tr = QCoreApplication.translate


def fill_choices(
    menu: QMenu, entries: Sequence[ModelEntry], current: str, choose: Callable[[str], object]
) -> None:
    """Fill a menu with models; those of a server say so. current: id or name of the one in use."""
    group = QActionGroup(menu)
    groups = list(_groups(entries))
    for heading, members in groups:
        if len(groups) > 1:
            _add_heading(menu, heading)
        for entry in members:
            action = QAction(_called(entry), menu)
            action.setObjectName(f"choose-{entry.id}")
            action.setCheckable(True)
            action.setActionGroup(group)
            action.setChecked(current in (entry.id, entry.name))
            action.triggered.connect(lambda _=False, chosen=entry.id: choose(chosen))
            if entry.on_server:
                action.setIcon(icon("server", theme_of(menu.palette()).muted, 16))
            menu.addAction(action)


def _called(entry: ModelEntry) -> str:
    return name_at_server(entry) if entry.served else name_of(entry)


def add_counterpart(menu: QMenu, other: Counterpart, take: Callable[[Counterpart], object]) -> None:
    """Add the same model on another engine, with its cost, or why it cannot be here."""
    words = _tr("choices", "Same model on {0}").format(engine_called(other.engine))
    if other.entry is None and other.label:
        words = f"{words}, {other.label}"
    if other.entry is None and other.bytes:
        words = _tr("choices", "{0} ({1} to download)").format(words, size(other.bytes))
    action = menu.addAction(words)
    action.setObjectName(f"elsewhere-{other.engine}")
    action.setIcon(icon("again", theme_of(menu.palette()).muted, 16))
    action.triggered.connect(lambda _=False: take(other))
    if other.entry is None and other.why_not:
        action.setEnabled(False)
        action.setToolTip(translated(other.why_not))
        menu.setToolTipsVisible(True)


def _groups(entries: Sequence[ModelEntry]) -> Iterator[tuple[str, list[ModelEntry]]]:
    """llama.cpp's first, then vLLM's, then those of each server, with a heading for each."""
    here: tuple[EngineName, ...] = ("llamacpp", "vllm")
    for engine in here:
        members = [it for it in entries if it.engine == engine]
        if members:
            yield engine_called(engine), members
    servers: dict[str, list[ModelEntry]] = {}
    for entry in entries:
        if entry.on_server:
            servers.setdefault(entry.id.partition(":")[0], []).append(entry)
    for server, members in servers.items():
        yield _tr("choices", "Server {0}").format(server), members


def _add_heading(menu: QMenu, words: str) -> None:
    if not menu.isEmpty():
        menu.addSeparator()
    heading = menu.addAction(words)
    heading.setEnabled(False)
