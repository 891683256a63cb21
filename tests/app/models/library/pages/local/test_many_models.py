"""Lists of more models than fit on a page: making rows, and scanning off the window's thread."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, Qt
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QToolButton, QWidget

from app.base.folder import DataFolder
from app.kit.look import icons
from app.models.library.pages.local import model_rows
from app.models.library.pages.local.model_rows import PORTION, ModelRow
from app.models.library.services.index import ModelIndex
from app.models.library.services.places.found_models import FoundModels
from tests.engines.gguf_files import write_llama
from tests.support.window import Ui, is_active

MANY = PORTION + 19
"""With the guide, these are one portion and 20 more."""


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows with the names of the rows made from now on."""
    names: list[str] = []

    class Noted(ModelRow):
        def __init__(self, *values: object) -> None:
            super().__init__(*values)  # type: ignore[arg-type]
            names.append(self.objectName())

    monkeypatch.setattr(model_rows, "ModelRow", Noted)
    return names


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return a set of the names of all threads that scan folders."""
    threads: set[str] = set()
    everything, models = ModelIndex.everything, FoundModels.models

    def noted_everything(shelf: ModelIndex) -> object:
        threads.add(threading.current_thread().name)
        return everything(shelf)

    def noted_models(collection: FoundModels) -> object:
        threads.add(threading.current_thread().name)
        return models(collection)

    monkeypatch.setattr(ModelIndex, "everything", noted_everything)
    monkeypatch.setattr(FoundModels, "models", noted_models)
    return threads


@pytest.fixture
def many(data_dir: Path, made: list[str], scans: set[str], request: pytest.FixtureRequest) -> Ui:
    DataFolder(data_dir).prepare()
    for number in range(MANY):
        write_llama(data_dir / "models" / f"m{number:03}.gguf")
    ui: Ui = request.getfixturevalue("ui")
    ui.qtbot.waitUntil(lambda: len(ui.presenters.models.list()) == MANY + 1)
    return ui


def rows(ui: Ui) -> list[str]:
    QApplication.processEvents()
    shown = [row for row in ui.window.findChildren(ModelRow) if row.isVisible()]
    return [row.objectName() for row in sorted(shown, key=lambda row: row.y())]


def show(ui: Ui) -> None:
    with ui.qtbot.waitSignal(ui.presenters.overview.looked):
        ui.press("Ctrl+M")
    ui.qtbot.waitUntil(lambda: len(rows(ui)) >= PORTION)


def in_focus() -> str:
    focus = QApplication.focusWidget()
    return focus.objectName() if focus else ""


def wait_for_focus(ui: Ui, name: str) -> None:
    ui.qtbot.waitUntil(lambda: is_active(ui.window) and in_focus() == name)


def test_nothing_is_made_of_a_page_that_was_not_opened(many: Ui, made: list[str]) -> None:
    with many.qtbot.waitSignal(many.presenters.overview.looked):
        many.presenters.overview.look()
    many.ask("Hi")
    assert made == []


def test_only_a_portion_is_made_and_more_when_it_is_asked_for(many: Ui, made: list[str]) -> None:
    show(many)
    first = [f"model-m{number:03}" for number in range(PORTION)]
    assert rows(many) == made == first
    assert many.find(QLabel, "modelsShown").text() == "50 of 70 models are shown."
    many.click("showMoreModels")
    wait_for_focus(many, f"details-m{PORTION:03}")
    many.qtbot.waitUntil(lambda: len(rows(many)) == MANY + 1)
    assert len(made) == MANY + 1
    assert not many.has("moreModels")


def test_the_tab_key_goes_through_the_rows_in_their_order(many: Ui) -> None:
    show(many)
    many.find(QWidget, "orderModels").setFocus()
    stops = []
    for _ in range(4):
        many.press("Tab")
        stops.append(in_focus())
    assert stops == ["use-m000", "details-m000", "use-m001", "details-m001"]


def test_rows_that_show_the_same_stay(many: Ui, made: list[str]) -> None:
    show(many)
    made.clear()
    many.press("Ctrl+N")
    show(many)
    assert made == []
    many.find(QToolButton, "details-m003").setFocus()
    many.click("use-m002")
    assert made == ["model-m002"]
    assert many.has("inUse")
    wait_for_focus(many, "details-m002")  # the focus stays in the row
    assert len(rows(many)) == PORTION


def test_the_filter_finds_what_is_not_shown(many: Ui) -> None:
    show(many)
    field = many.find(QLineEdit, "filterModels")
    field.setFocus()
    QTest.keyClicks(field, "m068")
    assert rows(many) == ["model-m068"]
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert field.text() == ""
    many.qtbot.waitUntil(lambda: len(rows(many)) == PORTION)


def test_the_window_never_looks_into_folders_itself(many: Ui, scans: set[str]) -> None:
    show(many)
    many.click("details-m001")
    many.qtbot.waitUntil(lambda: many.has("ownSettings"))
    many.click("useModel")
    many.presenters.settings.set("mtp", "off")
    many.ask("Hi")
    assert scans
    assert "MainThread" not in scans


def test_an_own_setting_of_the_model_in_use_holds_by_id_and_by_name(many: Ui) -> None:
    many.app.manager.set("m001", "mtp", "off")
    many.app.manager.rename("m001", "Mine")
    with many.qtbot.waitSignal(many.presenters.models.listed):
        many.presenters.models.look()
    for called in ("m001", "Mine"):
        many.presenters.settings.set("model", "m002")
        assert many.presenters.generation.usual_mtp() == "auto"
        many.presenters.settings.set("model", called)
        assert many.presenters.generation.usual_mtp() == "off"


def test_an_icon_is_drawn_once(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[QByteArray] = []

    def noted(drawing: QByteArray) -> QSvgRenderer:
        drawn.append(drawing)
        return QSvgRenderer(drawing)

    monkeypatch.setattr(icons, "QSvgRenderer", noted)
    pictures = [icons.pixmap("box", "#123456", 20, ratio) for ratio in (1.0, 2.0, 2.0, 1.0)]
    assert len(drawn) == 2
    assert [it.devicePixelRatio() for it in pictures] == [1.0, 2.0, 2.0, 1.0]
    assert pictures[0].toImage() == pictures[3].toImage()
    icons.pixmap("box", "#123457", 20)
    icons.pixmap("box", "#123456", 21)
    assert len(drawn) == 4
