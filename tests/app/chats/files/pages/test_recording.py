"""Recording for a message: offered if the model hears, confirmed each time, visible while on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from PySide6.QtWidgets import QAbstractButton, QLabel

from app.chats.files.pages.chip import FileChip
from app.documents.services.microphone import SystemMicrophone
from app.documents.services.recording import RATE
from tests.support.window import Ui


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace the microphone by two seconds of sound; list its openings and closings."""
    done: list[str] = []

    @contextmanager
    def speak(_: SystemMicrophone, heard: Callable[[bytes], None]) -> Iterator[None]:
        done.append("opened")
        heard(b"\x01\x02" * 2 * RATE)
        try:
            yield
        finally:
            done.append("closed")

    monkeypatch.setattr(SystemMicrophone, "opened", speak)
    return done


def chips(ui: Ui) -> dict[str, str]:
    found = ui.page.composer.attached.findChildren(FileChip)
    return {it.name: it.words for it in found if it.isVisible()}


def test_a_model_that_does_not_hear_has_no_microphone(ui: Ui) -> None:
    ui.settle()
    assert not ui.has("recordSound")


def test_it_is_asked_each_time_and_nothing_is_on_before(ui: Ui, opened: list[str]) -> None:
    ui.page.composer.show_microphone(True)
    for _ in range(2):
        ui.click("recordSound")
        assert "microphone" in ui.find(QLabel, "line1").text()
        ui.click("recordNot")
    assert opened == []
    assert not ui.has("recordingLine")


def test_a_recording_is_seen_while_it_goes_on_and_is_attached(ui: Ui, opened: list[str]) -> None:
    ui.page.composer.show_microphone(True)
    ui.click("recordSound")
    ui.click("record")
    ui.qtbot.waitUntil(lambda: "0:02" in ui.find(QLabel, "recordingWords").text())
    stop = ui.find(QAbstractButton, "stopRecording")
    ui.qtbot.waitUntil(lambda: ui.window.focusWidget() is stop)
    ui.press("Space", stop)
    ui.qtbot.waitUntil(lambda: opened == ["opened", "closed"])
    ui.qtbot.waitUntil(lambda: not ui.has("recordingLine"))
    ui.qtbot.waitUntil(lambda: chips(ui).get("Recording", "").startswith("0:02"))
    assert not ui.app.folder.attachments.exists()


def test_a_recording_is_dropped(ui: Ui, opened: list[str]) -> None:
    ui.page.composer.show_microphone(True)
    ui.click("recordSound")
    ui.click("record")
    ui.click("dropRecording")
    ui.qtbot.waitUntil(lambda: opened == ["opened", "closed"])
    ui.qtbot.waitUntil(lambda: not ui.has("recordingLine"))
    assert chips(ui) == {}


def test_another_chat_ends_the_recording(ui: Ui, opened: list[str]) -> None:
    ui.page.composer.show_microphone(True)
    ui.ask("Hello")
    ui.page.composer.show_microphone(True)
    ui.click("recordSound")
    ui.click("record")
    ui.press("Ctrl+N")
    ui.qtbot.waitUntil(lambda: opened == ["opened", "closed"])
    ui.settle()
    assert chips(ui) == {}
