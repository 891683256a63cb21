"""The model picker: typing to find a model, keyboard use, and speed with hundreds of models."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton

from app.models.library.pages.model_list import ModelChoice
from app.models.library.pages.model_picker import ModelPicker
from app.servers.store import ServerStore
from app.servers.values import ServedModel, ServerInfo, ServerProfile
from app.window.scratch.pages.scratch_window import ScratchWindow
from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import NotEnoughMemory
from engines.types import LlamaPlan, LoadedModel
from tests.engines.gguf_files import LLAMA, llama_tensors, write_gguf, write_llama
from tests.support.window import Ui, is_active

TEMPLATE = (
    "{% if tools %}<tool_call>{% endif %}{% for m in messages %}<think>{{ m.content }}</think>"
    "{% endfor %}"
)
GATEWAY = ServerProfile("id-gateway", "gateway", "https://ai.example.org")
SERVED = [f"maker/model-{number:03}" for number in range(300)]


@pytest.fixture
def several(ui: Ui, tmp_path: Path) -> Ui:
    """Add two models besides the guide: one that can do all, one without a chat template."""
    able = write_gguf(
        tmp_path / "able.gguf", "llama", LLAMA, llama_tensors(LLAMA),
        {"tokenizer.chat_template": TEMPLATE},
    )  # fmt: skip
    ui.app.library.add(able)
    ui.app.library.add(write_llama(tmp_path / "bare.gguf"))
    return listed(ui)


@pytest.fixture
def gateway(ui: Ui) -> Ui:
    store = ServerStore(ui.app.database)
    store.save(GATEWAY)
    served = tuple(ServedModel(name, None) for name in SERVED)
    store.save_info(GATEWAY.id, ServerInfo("vllm", "1", served, True, True))
    return listed(ui)


def listed(ui: Ui) -> Ui:
    ui.presenters.models.look()
    ui.qtbot.waitUntil(lambda: len(ui.presenters.models.list()) == len(ui.app.library.entries()))
    return ui


def opened(ui: Ui) -> ModelPicker:
    ui.settle()
    ui.qtbot.waitUntil(lambda: is_active(ui.window))
    ui.click("modelMenu")
    return ui.find(ModelPicker)


def rows(picker: ModelPicker) -> dict[str, ModelChoice]:
    return {it.id: it for it in picker.list.choices.rows if isinstance(it, ModelChoice)}


def headings(picker: ModelPicker) -> list[str]:
    return [it for it in picker.list.choices.rows if isinstance(it, str)]


def marked(picker: ModelPicker) -> str:
    found = picker.list.marked
    assert found is not None
    return found.id


def keys(picker: ModelPicker, *pressed: Qt.Key) -> None:
    for key in pressed:
        QTest.keyClick(picker.list.field, key)


def test_a_row_says_what_is_known_without_loading(several: Ui) -> None:
    picker = opened(several)
    several.qtbot.waitUntil(lambda: bool(rows(picker)["bare"].chips))
    several.qtbot.waitUntil(lambda: bool(rows(picker)["able"].chips))
    able, bare = rows(picker)["able"], rows(picker)["bare"]
    assert able.chips == ("Thinks", "Tools")
    assert able.detail.startswith("F16 · ")
    assert bare.chips == ("Base model",)
    assert "it continues text" in bare.tip
    assert rows(picker)["starter"].chips == ("MTP",)
    assert rows(picker)["starter"].current
    picker.close()


def test_it_is_used_with_the_keyboard_alone(several: Ui) -> None:
    picker = opened(several)
    assert marked(picker) == "starter"
    keys(picker, Qt.Key.Key_Down)
    assert marked(picker) == "able"
    keys(picker, Qt.Key.Key_Up, Qt.Key.Key_Up)
    assert marked(picker) == "bare", "past the top to the end"
    assert "bare" in picker.list.field.accessibleDescription()
    QTest.keyClicks(picker.list.field, "abl")
    assert list(rows(picker)) == ["able"]
    keys(picker, Qt.Key.Key_Return)
    assert several.window.chooser.current() == "able"
    assert several.find(QPushButton, "modelMenu").text() == "able"
    several.qtbot.waitUntil(lambda: not several.has("modelPicker"))


def test_escape_empties_the_field_and_then_closes(several: Ui) -> None:
    picker = opened(several)
    QTest.keyClicks(picker.list.field, "nobody")
    assert several.has("noModelMatches")
    keys(picker, Qt.Key.Key_Return)
    assert several.has("modelPicker")
    keys(picker, Qt.Key.Key_Escape)
    assert len(rows(picker)) == 3
    keys(picker, Qt.Key.Key_Escape)
    several.qtbot.waitUntil(lambda: not several.has("modelPicker"))
    assert several.window.chooser.current() == "starter"


def test_a_click_chooses(several: Ui) -> None:
    picker = opened(several)
    view = picker.list.view
    index = next(
        view.model().index(row, 0)
        for row, it in enumerate(picker.list.choices.rows)
        if isinstance(it, ModelChoice) and it.id == "bare"
    )
    where = view.visualRect(index).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert several.window.chooser.current() == "bare"


def test_hundreds_of_models_of_a_gateway_are_found_by_their_name(gateway: Ui) -> None:
    picker = opened(gateway)
    assert headings(picker) == ["On this computer", "Server gateway"]
    assert len(rows(picker)) == 301
    QTest.keyClicks(picker.list.field, "gateway 217")
    assert list(rows(picker)) == ["gateway:maker/model-217"]
    assert rows(picker)["gateway:maker/model-217"].name == "maker/model-217"
    assert not gateway.has("loadModel"), "nothing of it can lie here"
    keys(picker, Qt.Key.Key_Return)
    assert gateway.window.chooser.current() == "gateway:maker/model-217"


def test_a_model_is_loaded_and_ejected_from_its_row(several: Ui) -> None:
    picker = opened(several)
    keys(picker, Qt.Key.Key_Down)
    assert several.find(QPushButton, "loadModel").accessibleName() == "Load able"
    several.click("loadModel")
    several.qtbot.waitUntil(lambda: rows(picker)["able"].state == "Loaded")
    assert [plan.model.name for plan in several.engine.plans] == ["able.gguf"]
    several.qtbot.waitUntil(
        lambda: several.find(QPushButton, "loadModel").accessibleName() == "Eject able"
    )
    several.click("loadModel")
    several.qtbot.waitUntil(lambda: not rows(picker)["able"].state)
    assert several.engine.closed == 1
    picker.close()


def test_a_row_says_how_far_its_load_is(several: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    load, rest = several.engine.load, threading.Event()

    def slowly(plan: LlamaPlan, progress: Progress, cancel: CancelToken) -> LoadedModel:
        progress(0.43)
        rest.wait(30)
        return load(plan, progress, cancel)

    monkeypatch.setattr(several.engine, "load", slowly)
    picker = opened(several)
    keys(picker, Qt.Key.Key_Down)
    several.click("loadModel")
    several.qtbot.waitUntil(lambda: rows(picker)["able"].state == "Loading, 43 %")
    assert picker.list.field.accessibleDescription().endswith("Loading, 43 %")
    rest.set()
    several.qtbot.waitUntil(lambda: rows(picker)["able"].state == "Loaded")
    picker.close()


def test_what_was_loaded_answers_without_another_load(several: Ui) -> None:
    several.window.chooser.use("able")
    picker = opened(several)
    several.click("loadModel")
    several.qtbot.waitUntil(lambda: rows(picker)["able"].state == "Loaded")
    picker.close()
    several.ask("Hi")
    assert len(several.engine.plans) == 1


def test_a_load_that_fails_says_why(several: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise NotEnoughMemory("It is too large.", "It needs 90 GB.", "Use a smaller one.")

    monkeypatch.setattr(several.engine, "load", refuse)
    picker = opened(several)
    several.click("loadModel")
    several.qtbot.waitUntil(lambda: several.has("toastLine1"))
    assert several.find(QLabel, "toastLine1").text() == "It is too large."
    assert not rows(picker)["starter"].state
    picker.close()


def test_what_an_answer_has_loaded_is_marked(several: Ui) -> None:
    several.ask("Hi")
    picker = opened(several)
    assert rows(picker)["starter"].state == "Loaded"
    picker.close()


def test_a_choice_is_of_this_chat_until_it_is_wanted_for_new_ones(several: Ui) -> None:
    picker = opened(several)
    assert several.find(QLabel, "usualModel").text() == "New chats use it too."
    assert not several.has("useForNew")
    QTest.keyClicks(picker.list.field, "bare")
    keys(picker, Qt.Key.Key_Return)
    assert several.find(QLabel, "toastLine1").text() == "bare answers in this chat."
    assert several.presenters.settings.current.model == "starter"
    opened(several)
    assert several.find(QLabel, "usualModel").text().endswith("New chats use Starter guide.")
    several.click("useForNew")
    assert several.presenters.settings.current.model == "bare"
    several.window.new_chat()
    assert several.window.chooser.current() == "bare"


def test_a_choice_at_the_list_of_models_says_what_it_changes_and_offers_less(several: Ui) -> None:
    several.window.chooser.use_from_now_on("bare")
    assert several.find(QLabel, "toastLine1").text() == (
        "bare answers in this chat and in new ones."
    )
    several.click("toastAction")
    assert several.presenters.settings.current.model == "starter"
    assert several.window.chooser.current() == "bare"


def test_a_scratch_chat_stays_here_until_a_server_is_chosen_in_it(gateway: Ui) -> None:
    far = "gateway:maker/model-000"
    gateway.window.chooser.use_from_now_on(far)
    gateway.press("Ctrl+Shift+N")
    scratch = gateway.find(ScratchWindow)
    assert scratch.chooser.current() == "starter"
    assert scratch.scratch.presenters.open_chat.model == "starter"
    assert scratch.findChild(QLabel, "stayLineWhat") is not None
    button = scratch.findChild(QPushButton, "modelMenu")
    assert button is not None
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    picker = gateway.find(ModelPicker)
    assert not gateway.has("useForNew")
    field = picker.findChild(QLineEdit, "findModel")
    assert field is not None
    QTest.keyClicks(field, "model-007")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert scratch.scratch.presenters.open_chat.model == "gateway:maker/model-007"
    assert gateway.presenters.settings.current.model == far
    scratch.close_now()


def test_the_box_of_the_chat_settings_opens_the_same_list(gateway: Ui) -> None:
    gateway.press("Ctrl+T")
    box = gateway.find(QComboBox, "chatModel")
    box.setFocus()
    gateway.press("Space", box)
    picker = gateway.find(ModelPicker)
    assert marked(picker) == ""
    assert not gateway.has("loadModel")
    assert picker.list.view.visibleRegion().boundingRect().height() > 100
    QTest.keyClicks(picker.list.field, "model-099")
    keys(picker, Qt.Key.Key_Return)
    assert gateway.window.chooser.current() == "gateway:maker/model-099"
    assert box.currentText() == "maker/model-099 on gateway"
    gateway.press("Space", box)
    picker = gateway.find(ModelPicker)
    QTest.keyClicks(picker.list.field, "default")
    keys(picker, Qt.Key.Key_Return)
    assert gateway.window.chooser.current() == "starter"


def test_a_choice_in_a_chat_that_has_not_begun_survives_a_look_at_another_page(several: Ui) -> None:
    several.window.chooser.use("bare")
    several.window.go_to("models")
    several.click("backToChat")
    assert several.window.chooser.current() == "bare"
    several.ask("Hi")
    assert several.engine.plans[-1].model.name == "bare.gguf"
