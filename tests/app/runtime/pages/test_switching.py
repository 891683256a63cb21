"""Switching the engine, restarting for MTP, and failures with a button that helps."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton

from app.base.errors import TokenMalformed
from app.chats.composer.pages.mtp_chip import MtpPopover
from app.models.discover.values.counterparts import Counterpart
from app.models.library.pages.model_picker import ModelPicker
from app.models.library.values.entry import ModelEntry
from app.runtime.values.installation import InstallState
from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import Action, EngineFailed
from engines.types import LlamaPlan, LoadedModel
from tests.support.scripted_engines import ScriptedInstaller, ScriptedManager, ScriptedServers
from tests.support.window import Ui

CHECKPOINT = ModelEntry("gemma-vllm", "Gemma 4 E4B it", Path(), engine="vllm", source="hub")
FETCHED = Counterpart("vllm", "Gemma 4 E4B it", "FP8", None, "google/g-fp8", 3_400_000_000)


@pytest.fixture
def listed(ui: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    before = ui.presenters.models.list()
    monkeypatch.setattr(ui.presenters.models, "list", lambda: [*before, CHECKPOINT])
    ui.window.chooser.announce()


def picker(ui: Ui) -> ModelPicker:
    if not ui.has("modelPicker"):
        ui.click("modelMenu")
    return ui.find(ModelPicker)


def button(ui: Ui, name: str) -> QPushButton:
    picker(ui)
    return ui.find(QPushButton, name)


def press(ui: Ui, name: str) -> None:
    button(ui, name)
    ui.click(name)


def mode(ui: Ui) -> str:
    return ui.page.mtp.mode


def shown(ui: Ui) -> list[str]:
    return [it if isinstance(it, str) else it.name for it in picker(ui).list.choices.rows]


def press_mtp(ui: Ui, mode: str) -> None:
    """Choose a mode on the card at the composer."""
    ui.open_mtp()
    card = ui.find(MtpPopover)
    ui.click(f"mtp-{mode}")
    card.close()


@pytest.mark.usefixtures("listed")
def test_models_are_grouped_by_engine(ui: Ui) -> None:
    assert shown(ui) == [
        "On this computer, llama.cpp", "Starter guide", "On this computer, vLLM", CHECKPOINT.name,
    ]  # fmt: skip
    picker(ui).close()


def test_of_one_engine_alone_there_is_no_heading(ui: Ui) -> None:
    assert shown(ui) == ["Starter guide"]
    picker(ui).close()


@pytest.mark.usefixtures("listed")
def test_a_counterpart_that_is_here_is_used(
    ui: Ui, installer: ScriptedInstaller, manager: ScriptedManager
) -> None:
    installer.now = InstallState("0.33.0", "cuda", None, "0.33.0")
    manager.others = (Counterpart("vllm", CHECKPOINT.name, "", CHECKPOINT),)
    ui.ask("Hi")
    chat = ui.page.chat_id
    assert button(ui, "elsewhere-vllm").text() == "Same model on vLLM"
    press(ui, "elsewhere-vllm")
    assert ui.presenters.chat_settings.model(chat) == CHECKPOINT.id
    assert ui.page.chat_id == chat
    assert ui.texts == ["Hi", "Hello there"]


@pytest.mark.usefixtures("listed")
def test_it_is_offered_once_it_is_known_whether_vllm_is_here(
    ui: Ui, installer: ScriptedInstaller, manager: ScriptedManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = threading.Event()

    def state() -> InstallState:
        known.wait(30)
        return InstallState("0.33.0", "cuda", None, "0.33.0")

    monkeypatch.setattr(installer, "state", state)
    manager.others = (Counterpart("vllm", CHECKPOINT.name, "", CHECKPOINT),)
    picker(ui)
    ui.qtbot.waitUntil(lambda: ui.window.switching._counterparts[1] == manager.others)
    assert not ui.has("elsewhere-vllm")
    known.set()
    press(ui, "elsewhere-vllm")
    assert ui.presenters.chat_settings.model(ui.page.chat_id) == CHECKPOINT.id


def test_one_that_has_to_be_fetched_says_its_price_and_asks(
    ui: Ui, installer: ScriptedInstaller, manager: ScriptedManager
) -> None:
    installer.now = InstallState("0.33.0", "cuda", None, "0.33.0")
    manager.others = (FETCHED,)
    assert button(ui, "elsewhere-vllm").text() == "Same model on vLLM, FP8 (3.4 GB to download)"
    press(ui, "elsewhere-vllm")
    assert "3.4 GB will be downloaded from google/g-fp8" in ui.find(QLabel, "line2").text()
    ui.click("fetch")
    ui.qtbot.waitUntil(lambda: manager.did == ["fetch google/g-fp8"])


def test_one_that_does_not_suit_this_computer_says_why(ui: Ui, manager: ScriptedManager) -> None:
    why = "This computer has no NVIDIA card for it."
    manager.others = (replace(FETCHED, why_not=why),)
    found = button(ui, "elsewhere-vllm")
    assert not found.isEnabled()
    assert found.toolTip() == why
    picker(ui).close()


def test_without_vllm_the_way_leads_to_its_page(
    ui: Ui, installer: ScriptedInstaller, manager: ScriptedManager
) -> None:
    manager.others = (FETCHED,)
    press(ui, "elsewhere-vllm")
    ui.click("seeEngines")
    ui.qtbot.waitUntil(lambda: ui.has("installVllm"))
    assert installer.did == ["check cuda"]


def test_a_restart_for_mtp_is_asked_for_once_with_its_cost(ui: Ui) -> None:
    ui.engine.says = {"mtp_switch": "restart", "restart_s": 84.2}
    ui.ask("Hi")
    press_mtp(ui, "off")
    assert "about 84 s" in ui.find(QLabel, "line2").text()
    assert mode(ui) == "auto"
    assert not ui.has("mtpCard"), "the question is in front"
    ui.click("keepMtp")
    assert mode(ui) == "auto"
    press_mtp(ui, "off")
    ui.click("restartForMtp")
    assert mode(ui) == "off"
    assert ui.page.mtp.sentence == "The engine restarts with the next message: about 84 s."
    press_mtp(ui, "on")
    assert not ui.has("messageDialog")
    assert mode(ui) == "on"
    assert "restarts" not in ui.page.mtp.sentence


def test_a_restart_is_asked_for_where_another_engine_answers_for_the_model(
    ui: Ui, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = replace(ui.app.library.starter, id="guide-elsewhere", name="The guide elsewhere")
    find = ui.app.library.find
    monkeypatch.setattr(
        ui.app.library, "find", lambda it: elsewhere if it == elsewhere.id else find(it)
    )
    monkeypatch.setattr(ui.app.choice, "preferred", lambda *_: elsewhere.id)
    ui.engine.says = {"mtp_switch": "restart", "restart_s": 84.2}
    ui.ask("Hi")
    model = ui.presenters.chat_settings.model(ui.page.chat_id)
    assert model == ui.app.library.starter.id, "the engine is chosen anew for each answer"
    ui.ask("And again?")
    held = ui.app.runtime.loaded_model("llamacpp")
    assert held is not None
    assert held.id == "guide-elsewhere"
    press_mtp(ui, "off")
    assert "The guide elsewhere can change" in ui.find(QLabel, "line2").text()
    ui.click("restartForMtp")
    assert ui.page.mtp.sentence == "The engine restarts with the next message: about 84 s."


def test_where_only_on_drafts_it_is_asked_between_auto_and_on(ui: Ui) -> None:
    ui.engine.says = {"mtp_switch": "restart_for_on", "restart_s": 84.2}
    ui.ask("Hi")
    press_mtp(ui, "off")
    assert not ui.has("messageDialog")
    assert mode(ui) == "off"
    press_mtp(ui, "auto")
    press_mtp(ui, "on")
    assert "about 84 s" in ui.find(QLabel, "line2").text()
    ui.click("restartForMtp")
    assert mode(ui) == "on"


def test_between_auto_and_on_nothing_starts_again(ui: Ui) -> None:
    ui.engine.says = {"mtp_switch": "restart", "restart_s": 84.2}
    ui.ask("Hi")
    press_mtp(ui, "on")
    assert not ui.has("messageDialog")
    assert mode(ui) == "on"


def test_what_differs_is_among_the_facts(ui: Ui) -> None:
    ui.engine.says = {"notes": ("min_p does not work with drafts.", "The context is shorter.")}
    ui.ask("Hi")
    ui.press("Ctrl+N")
    ui.window.open_chat(ui.app.chats.chats()[0].id)
    ui.page.answers.do("facts")
    card = ui.find(QLabel, "factsTitle").window()
    words = [it.text() for it in card.findChildren(QLabel)]
    assert "What differs here" in words
    assert "min_p does not work with drafts. The context is shorter." in words
    card.close()


def fail(ui: Ui, action: Action | None) -> None:
    ui.engine.pieces = ()
    ui.engine.error = EngineFailed("vLLM did not start.", "It is too large.", "Help.", action)
    ui.ask("Hi")
    ui.engine.pieces, ui.engine.error = ("Now it works.",), None


def test_a_failure_offers_the_context_that_fits(ui: Ui) -> None:
    fail(ui, Action("shorter_context", 1_024))
    button = ui.find(QPushButton, "fixFailure")
    assert button.text() == "Use a context of 1,024 tokens"
    ui.click("fixFailure")
    ui.wait_for_text("Now it works.")
    assert ui.engine.plans[-1].context == 1_024
    assert ui.presenters.chat_settings.own(ui.page.chat_id).settings == {"context": 1_024}


@pytest.mark.parametrize(
    ("kind", "did"), [("stop_worker", "stop worker"), ("free_memory", "free memory")]
)
def test_a_failure_frees_memory_and_asks_again(
    ui: Ui, manager: ScriptedManager, kind: str, did: str
) -> None:
    fail(ui, Action(kind))  # type: ignore[arg-type]
    ui.click("fixFailure")
    ui.wait_for_text("Now it works.")
    assert manager.did == [did]


def test_a_failure_leads_to_the_settings_or_the_installation(ui: Ui) -> None:
    fail(ui, Action("open_settings", "vllm_memory"))
    ui.click("fixFailure")
    assert ui.has("settingsDialog")
    ui.find(QPushButton, "way-engines").window().close()
    ui.window.new_chat()
    fail(ui, Action("install", "vllm"))
    assert ui.find(QPushButton, "fixFailure").text() == "See what it needs"
    ui.click("fixFailure")
    ui.qtbot.waitUntil(lambda: ui.has("installVllm"))


def test_a_server_that_wants_a_key_is_given_it_and_asked_again(
    ui: Ui, servers: ScriptedServers
) -> None:
    fail(ui, Action("enter_key", "team"))
    assert ui.find(QPushButton, "fixFailure").text() == "Enter the key…"
    ui.click("fixFailure")
    field = ui.find(QLineEdit, "key")
    assert field.window().focusWidget() is field
    assert not ui.find(QPushButton, "saveKey").isEnabled()
    QTest.keyClicks(field, "sk-good")
    QTest.keyClick(field, Qt.Key.Key_Return)
    ui.wait_for_text("Now it works.")
    assert servers.keys["id-team"] == "sk-good"
    assert not ui.has("keyDialog")


def test_a_key_that_cannot_be_kept_is_said_where_it_was_typed(
    ui: Ui, servers: ScriptedServers
) -> None:
    fail(ui, Action("enter_key", "team"))
    ui.click("fixFailure")
    servers.error = TokenMalformed("That is no key.", "It has a space in it.", "Copy it whole.")
    QTest.keyClicks(ui.find(QLineEdit, "key"), "sk bad")
    ui.click("saveKey")
    ui.qtbot.waitUntil(lambda: ui.has("keyProblem"))
    assert "It has a space in it." in ui.find(QLabel, "keyProblem").text()
    assert ui.find(QLineEdit, "key").text() == "sk bad"
    ui.click("cancelKey")


def test_what_a_model_sees_with_is_got_where_a_picture_was_refused(
    ui: Ui, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def get(_: object, entry: ModelEntry, done: Callable[[None], object], _f: object) -> None:
        asked.append(entry.id)
        done(None)

    monkeypatch.setattr(type(ui.presenters.discover), "get_projector", get)
    fail(ui, Action("get_projector", "starter"))
    ui.click("fixFailure")
    ui.qtbot.waitUntil(lambda: asked == ["starter"])
    ui.qtbot.waitUntil(lambda: ui.window.is_shown(ui.window.page_named("models")))


def test_a_failure_without_an_action_has_no_such_button(ui: Ui) -> None:
    fail(ui, None)
    assert not ui.has("fixFailure")
    assert ui.has("tryAgain")


def test_a_load_says_what_is_done(ui: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(ui.app.answers), "doing", lambda *_: "Loading the weights")
    generation = ui.presenters.generation
    seen: list[str] = []
    told = threading.Event()
    generation.loading.connect(lambda answer_id, _: seen.append(generation.doing(answer_id)))
    generation.loading.connect(lambda *_: told.set())
    load = ui.engine.load

    def slowly(plan: LlamaPlan, progress: Progress, cancel: CancelToken) -> LoadedModel:
        found = load(plan, progress, cancel)
        assert told.wait(60)
        return found

    monkeypatch.setattr(ui.engine, "load", slowly)
    ui.ask("Hi")
    assert "Loading the weights" in seen
