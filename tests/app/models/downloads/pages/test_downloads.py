"""The downloads page, with the real queue and a Hub on this computer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from gguf import GGMLQuantizationType
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDoubleSpinBox, QLabel, QProgressBar, QPushButton

from app.base.folder import DataFolder
from app.base.shipped import STARTER
from app.models.downloads.pages.downloads_page import DownloadRow
from app.models.downloads.services.pulling import request_of
from app.models.downloads.values.downloads import Download
from app.models.hub.values.names import hub_name
from app.wiring.app import open_app
from tests.app.models.library.services.places.layouts import write_projector
from tests.engines.gguf_files import write_assistant, write_gemma4
from tests.hub.faults import Stall, Status, Trickle
from tests.hub.testhub import TestHub
from tests.support.control_names import all_named
from tests.support.window import Ui

TINY, SECOND = "ada/Tiny-GGUF", "ada/Second-GGUF"
SLOW = 300_000.0
"""Speed limit in bytes per second, at which the largest file takes some seconds."""


@pytest.fixture(autouse=True)
def loopback(hub: TestHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestHub:
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    files = {
        "tiny-Q4_0.gguf": write_gemma4(tmp_path / "tiny.gguf", GGMLQuantizationType.Q4_0),
        "mtp-tiny-Q8_0.gguf": write_assistant(tmp_path / "mtp.gguf", GGMLQuantizationType.Q8_0),
        "mmproj-tiny-F16.gguf": write_projector(tmp_path / "mmproj.gguf"),
    }
    hub.add(TINY, {name: path.read_bytes() for name, path in files.items()})
    hub.add(SECOND, {"second-Q4_K_M.gguf": STARTER})
    return hub


def add(ui: Ui, repo: str = TINY) -> str:
    """Queue the download of a model and return its id."""
    app = ui.app
    wanted = request_of(app.hub.repository(repo), hub_name(repo), "main", app.fitting.quick)
    return app.downloads.add(wanted).id


def one(ui: Ui, name: str) -> Download:
    return ui.app.downloads.download(name)


def show(ui: Ui) -> None:
    ui.press("Ctrl+J")


def wait_for(ui: Ui, name: str, state: str) -> None:
    ui.qtbot.waitUntil(lambda: one(ui, name).state == state)


def row_of(ui: Ui, name: str) -> DownloadRow:
    return ui.find(DownloadRow, f"download-{name}")


def test_a_drafter_by_itself_says_whom_it_serves_and_is_not_to_be_used(ui: Ui) -> None:
    app = ui.app
    name = hub_name(f"{TINY}/mtp-tiny-Q8_0.gguf")
    wanted = request_of(app.hub.repository(TINY), name, "main", app.fitting.quick)
    drafter = app.downloads.add(wanted).id
    show(ui)
    wait_for(ui, drafter, "done")
    state = ui.find(QLabel, f"state-{drafter}")
    ui.qtbot.waitUntil(lambda: "a drafter; its model" in state.text())
    assert not ui.has(f"use-{drafter}")
    assert [it.id for it in app.library.entries()] == ["starter"]
    model = add(ui)
    wait_for(ui, model, "done")
    ui.qtbot.waitUntil(
        lambda: state.text() == "Ready: a drafter, which helps tiny-Q4_0 answer faster."
    )
    assert ui.has(f"use-{model}")
    ui.window.go_to("models", "here")
    notes = ui.find(QLabel, "modelNotes")
    ui.qtbot.waitUntil(lambda: "which helps tiny-Q4_0 answer faster." in notes.text())


def test_without_downloads_the_page_leads_on(ui: Ui) -> None:
    show(ui)
    ui.qtbot.waitUntil(lambda: ui.has("noDownloads"))
    all_named(ui, ui.window)
    ui.click("discoverModels")
    assert ui.has("discover")


def test_a_download_comes_is_listed_and_used(ui: Ui, loopback: TestHub) -> None:
    loopback.fault(Stall(path="*.gguf", times=None, after=1_500_000))
    name = add(ui)
    ui.qtbot.waitUntil(lambda: ui.has("downloadBadge"))
    show(ui)
    ui.qtbot.waitUntil(lambda: ui.find(QProgressBar, f"bar-{name}").value() > 5)
    assert " of 3 MB, 2 files" in ui.find(QLabel, f"amount-{name}").text()
    all_named(ui, ui.window)
    loopback.release()
    wait_for(ui, name, "done")
    ui.qtbot.waitUntil(lambda: ui.has(f"use-{name}"))
    assert not ui.has("downloadBadge")
    ui.click(f"use-{name}")
    ui.qtbot.waitUntil(lambda: ui.presenters.settings.current.model == "tiny-q4-0")
    entry = ui.app.library.find("tiny-q4-0")
    assert entry.drafter is not None
    assert entry.drafter.name == "mtp-tiny-Q8_0.gguf"
    assert entry.projector is None, "nobody has asked for it"
    assert entry.verified is not None
    ui.press("Ctrl+M")
    ui.click("modelsPart-here")
    ui.qtbot.waitUntil(lambda: ui.has("model-tiny-q4-0"))
    show(ui)
    ui.click("clearDownloads")
    ui.qtbot.waitUntil(lambda: ui.has("noDownloads"))


def test_keys_and_buttons_pause_and_go_on(ui: Ui, loopback: TestHub) -> None:
    loopback.fault(Trickle(path="*.gguf", times=None, bytes_per_s=SLOW))
    show(ui)
    name = add(ui)
    ui.qtbot.waitUntil(lambda: ui.has(f"download-{name}"))
    ui.qtbot.waitUntil(lambda: one(ui, name).bytes_done > 500_000)
    row = row_of(ui, name)
    QTest.keyClick(row, Qt.Key.Key_Space)
    wait_for(ui, name, "paused")
    state = ui.find(QLabel, f"state-{name}")
    ui.qtbot.waitUntil(lambda: state.text().startswith("Paused at"))
    came = one(ui, name).bytes_done
    assert came > 0
    loopback.clear_faults()
    before = len(loopback.requests)
    ui.click(f"turn-{name}")
    wait_for(ui, name, "done")
    ranges = [it.headers.get("range") for it in loopback.requests[before:]]
    assert any(it and it != "bytes=0-" for it in ranges), "it went on where it was"


def test_the_order_is_changed_with_keys(ui: Ui) -> None:
    ui.presenters.settings.set("offline", True)
    show(ui)
    ui.presenters.settings.set("offline", False)
    ui.app.downloads.start(only=set())
    first, second = add(ui), add(ui, SECOND)
    for name in (first, second):
        ui.app.downloads.pause(name)
    ui.qtbot.waitUntil(lambda: ui.has(f"download-{second}"))
    assert row_of(ui, first).y() < row_of(ui, second).y()
    QTest.keyClick(row_of(ui, second), Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    ui.qtbot.waitUntil(lambda: row_of(ui, second).y() < row_of(ui, first).y())
    assert [it.id for it in ui.app.downloads.downloads()] == [second, first]
    ui.click(f"down-{second}")
    ui.qtbot.waitUntil(lambda: row_of(ui, first).y() < row_of(ui, second).y())


def test_a_download_is_cancelled_after_a_question(ui: Ui, loopback: TestHub) -> None:
    loopback.fault(Trickle(path="*.gguf", times=None, bytes_per_s=SLOW))
    show(ui)
    name = add(ui)
    ui.qtbot.waitUntil(lambda: ui.has(f"download-{name}"))
    ui.qtbot.waitUntil(lambda: row_of(ui, name).download.bytes_done > 0)
    QTest.keyClick(row_of(ui, name), Qt.Key.Key_Delete)
    ui.click("keepDownload")
    assert one(ui, name).state == "running"
    ui.click(f"cancel-{name}")
    ui.click("confirmCancel")
    wait_for(ui, name, "cancelled")
    ui.qtbot.waitUntil(lambda: ui.has("noDownloads"))
    assert ui.app.library.entries() == [ui.app.library.find("starter")]


def test_what_failed_says_why_and_is_tried_again(ui: Ui, loopback: TestHub) -> None:
    loopback.fault(Status(status=404, path="*/tiny-Q4_0.gguf", method="*", times=None))
    show(ui)
    name = add(ui)
    wait_for(ui, name, "failed")
    ui.qtbot.waitUntil(lambda: ui.has(f"do-{name}"))
    for part in ("what", "why", "do"):
        assert ui.find(QLabel, f"{part}-{name}").text()
    loopback.clear_faults()
    ui.click(f"again-{name}")
    wait_for(ui, name, "done")
    ui.qtbot.waitUntil(lambda: not ui.has(f"what-{name}"))


def test_offline_says_so_and_what_stopped_goes_on_online(ui: Ui, loopback: TestHub) -> None:
    show(ui)
    ui.press("Ctrl+Shift+O")
    assert "offline" in ui.find(QLabel, "downloadsOfflineText").text()
    ui.app.downloads.start(only=set())
    name = add(ui)
    entry = ui.app.downloads._entries.find(name)
    # The Hub is on this computer and so works offline; the test sets the paused state itself.
    ui.app.downloads._entries.save(entry, replace(entry.stored, state="paused", code="offline"))
    ui.app.downloads.start()
    assert one(ui, name).state == "paused"
    ui.click("downloadsGoOnline")
    assert not ui.has("downloadsOffline")
    wait_for(ui, name, "done")


@pytest.fixture
def metered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.wiring.window.is_metered", lambda: True)


def test_a_metered_connection_is_told(metered: None, ui: Ui) -> None:
    show(ui)
    ui.qtbot.waitUntil(lambda: ui.has("downloadsMetered"))


def test_the_speed_limit_is_set_where_the_downloads_are(ui: Ui) -> None:
    show(ui)
    ui.find(QDoubleSpinBox, "download_limit").setValue(1.5)
    assert ui.app.settings.read().download_limit == 1.5
    ui.press("Ctrl+M")
    ui.click("modelsPart-here")
    ui.presenters.settings.set("download_limit", 3.0)
    show(ui)
    assert ui.find(QDoubleSpinBox, "download_limit").value() == 3.0


def test_the_badge_leads_to_the_downloads(ui: Ui, loopback: TestHub) -> None:
    loopback.fault(Trickle(path="*.gguf", times=None, bytes_per_s=SLOW))
    name = add(ui)
    ui.qtbot.waitUntil(lambda: ui.has("downloadBadge"))
    assert "Downloads:" in ui.find(QPushButton, "downloadBadge").accessibleName()
    ui.click("downloadBadge")
    assert ui.has(f"download-{name}")


def test_a_download_of_an_earlier_run_goes_on_by_itself(
    loopback: TestHub, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    app = open_app(DataFolder.default())
    wanted = request_of(app.hub.repository(TINY), hub_name(TINY), "main", app.fitting.quick)
    name = app.downloads.add(wanted).id
    app.close()
    ui: Ui = request.getfixturevalue("ui")
    wait_for(ui, name, "done")
    ready = "Ready: Tiny-GGUF"
    ui.qtbot.waitUntil(lambda: ui.find(QLabel, "stripLine").text().startswith(ready))
    assert not ui.has("toast"), "the strip over the chat says it already"
    ui.click("stripButton")
    ui.qtbot.waitUntil(lambda: ui.presenters.settings.current.model == "tiny-q4-0")


def test_where_the_chat_is_out_of_view_a_toast_says_what_has_come(ui: Ui) -> None:
    show(ui)
    wait_for(ui, add(ui), "done")
    ui.qtbot.waitUntil(lambda: ui.has("toastAction"))
    ui.click("toastAction")
    ui.qtbot.waitUntil(lambda: ui.presenters.settings.current.model == "tiny-q4-0")
