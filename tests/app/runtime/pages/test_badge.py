"""The badge on a chat whose text goes to another program or computer, shown before sending."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QWidget

from app.chats.composer.pages.mtp_chip import MtpPopover
from app.chats.pages.engine_badge import EngineBadge
from app.models.library.values.entry import ModelEntry
from app.window.desktop.pages.quick_ask import QuickAsk
from app.window.scratch.pages.scratch_window import ScratchWindow
from tests.app.runtime.pages.conftest import NEAR, TEAM
from tests.support.scripted_engines import ScriptedServers
from tests.support.window import Ui, part

FAR = ModelEntry(
    "team:qwen3-32b", "qwen3-32b", Path(), source="server", engine="remote", server=TEAM.id,
    served="qwen3-32b",
)  # fmt: skip
BESIDE = replace(FAR, id="near:llama3.2", name="llama3.2", server=NEAR.id, served="llama3.2")
LOST = replace(FAR, id="gone:x", name="x", server="id-gone")


@pytest.fixture
def choose(ui: Ui, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    ui.presenters.settings.set_model_check(lambda _: None)  # they are not in the library's list
    listed = ui.presenters.models.list()
    monkeypatch.setattr(ui.presenters.models, "list", lambda: [*listed, FAR, BESIDE, LOST])
    return ui.window.chooser.use


def said(root: QWidget, name: str) -> str:
    return part(root, QLabel, name).text()


def test_a_model_here_has_no_badge(ui: Ui, choose: Callable[[str], None]) -> None:
    choose("starter")
    assert not ui.has("engineBadge")
    assert not ui.has("headerBadge")


def test_at_the_composer_and_in_the_head_it_names_the_server(
    ui: Ui, choose: Callable[[str], None]
) -> None:
    choose(FAR.id)
    assert ui.has("engineBadge")
    assert said(ui.window, "engineBadgeWhat") == "Text leaves this computer"
    assert said(ui.window, "engineBadgeWhere") == (
        "What you send here, and this chat’s messages, go to team (ai.example.org)."
    )
    assert said(ui.window, "headerBadgeWords") == "team: text leaves this computer"
    badge = ui.find(EngineBadge)
    assert badge.accessibleName() == "Text leaves this computer"
    assert "ai.example.org" in badge.accessibleDescription()
    assert "ai.example.org" in ui.find(QWidget, "headerBadge").accessibleName()
    choose("starter")
    assert not ui.has("engineBadge")
    assert not ui.has("headerBadge")


def test_in_a_narrow_window_the_head_still_names_it(ui: Ui, choose: Callable[[str], None]) -> None:
    choose(FAR.id)
    ui.window.set_sidebar(False)
    ui.window.resize(540, 700)
    ui.qtbot.waitUntil(lambda: said(ui.window, "headerBadgeWords") == "Goes to team")


def test_it_belongs_to_the_chat(ui: Ui, choose: Callable[[str], None]) -> None:
    ui.ask("Hi")
    here = ui.page.chat_id
    ui.window.new_chat()
    choose(FAR.id)
    assert ui.has("engineBadge")
    ui.ask("Hello")
    there = ui.page.chat_id
    ui.window.open_chat(here)
    assert not ui.has("engineBadge")
    ui.window.open_chat(there)
    assert ui.has("engineBadge")
    ui.window.new_chat()
    assert not ui.has("engineBadge"), "new chats begin with what is usual"


def test_another_program_on_this_computer_is_told_apart(
    ui: Ui, choose: Callable[[str], None]
) -> None:
    choose(BESIDE.id)
    assert said(ui.window, "engineBadgeWhat") == "Another program answers"
    assert "stays on this computer" in said(ui.window, "engineBadgeWhere")


def test_a_server_that_is_unknown_counts_as_another_computer(
    ui: Ui, choose: Callable[[str], None]
) -> None:
    choose(LOST.id)
    assert said(ui.window, "engineBadgeWhat") == "Text leaves this computer"


def test_it_is_there_before_the_models_are_listed(ui: Ui) -> None:
    ui.presenters.settings.set_model_check(lambda _: None)
    ui.presenters.settings.set("model", "team:qwen3-32b")
    ui.window.new_chat()
    ui.window.chooser.announce()
    assert ui.has("engineBadge")


def test_the_switch_of_mtp_says_that_the_server_decides(
    ui: Ui, choose: Callable[[str], None]
) -> None:
    choose(FAR.id)
    ui.open_mtp()
    assert not ui.find(QWidget, "mtp").isEnabled()
    assert "The server decides on this" in ui.find(QLabel, "mtpLine").text()
    ui.find(MtpPopover).close()
    choose("starter")
    ui.open_mtp()
    assert ui.find(QWidget, "mtp").isEnabled()
    ui.find(MtpPopover).close()


@pytest.mark.usefixtures("choose")
def test_the_scratch_chat_says_it(ui: Ui) -> None:
    ui.press("Ctrl+Shift+N")
    window = ui.find(ScratchWindow)
    window.chooser.use(FAR.id)
    assert "team" in said(window, "engineBadgeWhere")
    window.chooser.use("starter")
    assert part(window, EngineBadge, "engineBadge").isHidden()
    window.close_now()


@pytest.mark.usefixtures("choose")
def test_the_quick_question_says_it(ui: Ui) -> None:
    ui.window.chooser.use_from_now_on(FAR.id)
    ui.window.desktop.quick_ask()
    quick = ui.find(QuickAsk)
    assert "team" in said(quick, "quickBadgeWhere")
    ui.window.chooser.use_from_now_on("starter")
    assert part(quick, EngineBadge, "quickBadge").isHidden()
    quick.close()


def test_profiles_that_change_change_it(
    ui: Ui, choose: Callable[[str], None], servers: ScriptedServers
) -> None:
    choose(FAR.id)
    servers.kept = [replace(TEAM, name="crew")]
    ui.press("Ctrl+Shift+Y")
    ui.qtbot.waitUntil(lambda: "crew" in said(ui.window, "engineBadgeWhere"))
