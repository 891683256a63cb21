"""The engines page: advice, devices, and installing and managing vLLM."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QProgressBar, QPushButton, QWidget

from app.kit.widgets.switch import Switch
from app.runtime.values.advice import MeasuredSpeed, Situation, advise
from app.runtime.values.installation import Device, InstallState, WorkerState
from engines.errors import EngineUnavailable
from engines.vllm.provision.preflight import SystemInfo, preflight
from engines.vllm.provision.windows import Wsl2
from tests.e2e.looks.spoken import lost_focus
from tests.support.control_names import all_named
from tests.support.scripted_engines import (
    IN_THE_WAY,
    OFFERED,
    WELL,
    ScriptedInstaller,
    ScriptedManager,
)
from tests.support.window import Ui
from tests.support.windows import engines_page

CARD = Device("CUDA0", "RTX 4090 (CUDA)", 24_000_000_000, 21_000_000_000, "works")
OLD = Device(
    "Vulkan1", "Old card (Vulkan)", 4_000_000_000, 3_900_000_000, "refused",
    "Its text was not the processor's.",
)  # fmt: skip
NEW = Device("CUDA1", "RTX 4070 (CUDA)", 12_000_000_000, 11_000_000_000, "untried")


def text(ui: Ui, name: str) -> str:
    return ui.find(QLabel, name).text()


def all_words(root: QWidget) -> list[str]:
    return [it.text() for it in root.findChildren(QLabel)]


def test_what_suits_is_said_with_what_was_measured_here(ui: Ui, manager: ScriptedManager) -> None:
    speeds = (
        MeasuredSpeed("llamacpp", "Gemma 4 E4B", 1, 92.0),
        MeasuredSpeed("vllm", "Gemma 4 E4B", 1, 61.0),
    )
    manager.advice = advise(Situation("linux", measured=speeds))
    ui.press("Ctrl+Shift+G")
    ui.qtbot.waitUntil(lambda: text(ui, "suits") == "llama.cpp suits this computer")
    assert "no NVIDIA card" in text(ui, "suitsWhy")
    words = all_words(engines_page(ui.window).advice)
    assert "Gemma 4 E4B, one user (measured here)" in words
    assert "92 tokens a second" in words
    all_named(ui, ui.window)
    ui.click("enginesBack")
    assert not ui.has("enginesPage")


def test_devices_are_chosen_and_the_last_one_stays(ui: Ui, manager: ScriptedManager) -> None:
    manager.found = (CARD, OLD, NEW)
    ui.press("Ctrl+Shift+G")
    first, old = ui.find(Switch, "useDevice1"), ui.find(Switch, "useDevice2")
    new = ui.find(Switch, "useDevice3")
    assert (first.isChecked(), old.isChecked(), old.isEnabled(), new.isChecked()) == (
        True, False, False, True,
    )  # fmt: skip
    assert text(ui, "deviceState1").endswith("24 GB of memory, 21 GB of it free now.")
    new.setFocus()
    QTest.keyClick(new, Qt.Key.Key_Space)
    assert ui.app.settings.read().devices == "CUDA0"
    assert not first.isEnabled()
    QTest.keyClick(new, Qt.Key.Key_Space)
    assert ui.app.settings.read().devices == ""


def test_a_library_that_does_not_load_is_not_called_ready(ui: Ui, manager: ScriptedManager) -> None:
    manager.found = (OLD,)
    ui.press("Ctrl+Shift+G")
    ui.qtbot.waitUntil(lambda: ui.has("tryDevices"))
    manager.fault = EngineUnavailable("It cannot start.", "It is another one.", "Run run.py.")
    ui.click("tryDevices")
    ui.qtbot.waitUntil(lambda: ui.has("llamaFault"))
    assert not ui.has("deviceState1")
    assert not ui.has("tryDevices")
    assert not ui.has("devicesNote")
    assert text(ui, "llamaFault") == "It is another one.\nRun run.py."
    assert not ui.has("llamaCardStatus")
    manager.fault = None
    ui.click("enginesBack")
    ui.press("Ctrl+Shift+G")
    ui.qtbot.waitUntil(lambda: ui.has("llamaCardStatus"))
    assert text(ui, "llamaCardStatus") == "Ready"
    assert not ui.has("llamaFault")


def test_a_refused_device_says_why_and_is_tried_again(ui: Ui, manager: ScriptedManager) -> None:
    manager.found = (OLD,)
    ui.press("Ctrl+Shift+G")
    ui.qtbot.waitUntil(lambda: ui.has("tryDevices"))
    assert "Its text was not the processor's." in all_words(engines_page(ui.window).llama)
    ui.click("tryDevices")
    ui.qtbot.waitUntil(lambda: not ui.has("tryDevices"))
    assert manager.did == ["try again"]
    assert ui.find(Switch, "useDevice1").isChecked()


def test_the_price_is_said_before_anything_starts(ui: Ui, installer: ScriptedInstaller) -> None:
    ui.press("Ctrl+Shift+G")
    ui.click("checkVllm")
    ui.qtbot.waitUntil(lambda: ui.has("installVllm"))
    assert installer.did == ["check cuda"]
    assert text(ui, "priceDownload") == "5.1 GB"
    assert text(ui, "priceDisk") == "9.8 GB; up to 24 GB during the installation"
    assert "25 minutes" in text(ui, "priceTime")
    assert str(ui.presenters.data_folder / "engines" / "vllm") in text(ui, "priceTouched")
    button = ui.find(QPushButton, "installVllm")
    assert (button.isEnabled(), button.text()) == (True, "Download 5.1 GB and install")


def test_inside_windows_the_folder_of_its_linux_is_named_too(
    ui: Ui, installer: ScriptedInstaller
) -> None:
    installer.linux = "Ubuntu"
    ui.press("Ctrl+Shift+G")
    ui.click("checkVllm")
    ui.qtbot.waitUntil(lambda: ui.has("installVllm"))
    touched = text(ui, "priceTouched")
    assert "in Ubuntu, the Linux inside Windows" in touched
    assert "~/.local/share/hearth" in touched
    assert "You can remove it here" in touched


def test_without_wsl2_the_page_says_what_to_do_and_no_price(
    ui: Ui, installer: ScriptedInstaller
) -> None:
    installer.findings = preflight(SystemInfo("win32", "", None, wsl=Wsl2("absent")), "cuda")
    installer.price = None
    ui.press("Ctrl+Shift+G")
    ui.click("checkVllm")
    ui.qtbot.waitUntil(lambda: ui.has("installVllm"))
    assert not ui.find(QPushButton, "installVllm").isEnabled()
    assert not ui.has("priceDownload")
    words = " ".join(all_words(engines_page(ui.window).vllm))
    assert "wsl --install" in words
    assert "administrator" in words
    assert "until this is fixed" in words


def test_what_is_in_the_way_is_named_with_its_fix(ui: Ui, installer: ScriptedInstaller) -> None:
    installer.findings = (WELL, IN_THE_WAY)
    ui.press("Ctrl+Shift+G")
    ui.click("checkVllm")
    ui.qtbot.waitUntil(lambda: ui.has("installVllm"))
    assert not ui.find(QPushButton, "installVllm").isEnabled()
    assert "until this is fixed" in text(ui, "priceVerdict")
    assert not ui.has("priceDownload"), "what cannot be had has no price"
    assert IN_THE_WAY.do in all_words(engines_page(ui.window).vllm)
    installer.findings = (WELL,)
    ui.click("checkVllmAgain")
    ui.qtbot.waitUntil(lambda: ui.find(QPushButton, "installVllm").isEnabled())


def test_an_installation_tells_its_steps_and_ends_installed(
    ui: Ui, installer: ScriptedInstaller
) -> None:
    ui.press("Ctrl+Shift+G")
    ui.click("checkVllm")
    ui.qtbot.waitUntil(lambda: ui.has("installVllm"))
    ui.click("installVllm")
    ui.qtbot.waitUntil(lambda: text(ui, "installPhase") == "Step 2 of 6: Downloading")
    assert ui.find(QProgressBar, "installProgress").value() == 40
    assert text(ui, "installWords") == "torch 2.9.1: 350 of 870 MB."
    ui.click("enginesBack")
    ui.ask("Hi")
    ui.press("Ctrl+Shift+G")
    assert ui.has("installLine")
    installer.hold.set()
    ui.qtbot.waitUntil(lambda: ui.has("vllmVersion"))
    assert text(ui, "vllmVersion") == f"Version {OFFERED}, for NVIDIA cards"
    assert installer.did == ["check cuda", "install cuda"]


def test_an_installation_is_cancelled(ui: Ui, installer: ScriptedInstaller) -> None:
    ui.press("Ctrl+Shift+G")
    ui.click("checkVllm")
    ui.qtbot.waitUntil(lambda: ui.has("installVllm"))
    ui.click("installVllm")
    ui.qtbot.waitUntil(lambda: ui.has("installLine"))
    ui.click("cancelInstall")
    ui.qtbot.waitUntil(lambda: ui.has("checkVllm"))
    assert installer.now.version is None
    assert not ui.has("toastText")


def test_it_is_rolled_back_and_removed_after_a_question(
    ui: Ui, installer: ScriptedInstaller, manager: ScriptedManager
) -> None:
    installer.now = InstallState(
        "0.33.0", "cuda", "0.32.0", "0.34.0", kept_bytes=9_800_000_000, outdated=True
    )
    ui.press("Ctrl+Shift+G")
    ui.qtbot.waitUntil(lambda: ui.has("rollBackVllm"))
    assert ui.find(QPushButton, "updateVllm").text() == "Update to 0.34.0"
    ui.click("rollBackVllm")
    ui.click("keepVllm")
    assert installer.did == []
    ui.click("rollBackVllm")
    ui.click("confirmRollBack")
    ui.qtbot.waitUntil(lambda: text(ui, "vllmVersion") == "Version 0.32.0, for NVIDIA cards")
    ui.click("removeVllm")
    ui.click("confirmRemove")
    ui.qtbot.waitUntil(lambda: ui.has("checkVllm"))
    assert installer.did == ["rollback", "remove"]
    assert manager.did == ["stop worker", "stop worker"]


def test_the_worker_is_seen_with_its_log_and_stopped(
    ui: Ui, installer: ScriptedInstaller, manager: ScriptedManager
) -> None:
    installer.now = InstallState("0.33.0", "cuda", None, "0.33.0")
    manager.runs = WorkerState("loading", words="Loading the weights", share=0.5, log=("INFO one",))
    ui.press("Ctrl+Shift+G")
    ui.qtbot.waitUntil(lambda: text(ui, "workerState") == "Loading the weights")
    assert ui.find(QProgressBar, "workerProgress").value() == 50
    assert not ui.has("workerLog")
    ui.click("openLog")
    assert ui.find(QPlainTextEdit, "workerLog").toPlainText() == "INFO one"
    manager.runs = WorkerState(
        "ready", "Gemma 4 E4B", memory_bytes=11_000_000_000, idle_s=300, stops_after_s=1800,
        log=("INFO one", "INFO two"),
    )  # fmt: skip
    ui.qtbot.waitUntil(lambda: text(ui, "workerState") == "Running: Gemma 4 E4B")
    assert text(ui, "workerFacts") == (
        "Uses 11 GB of memory; memory that its processes share is counted once. Without a "
        "message it stops in about 25 minutes."
    )
    assert ui.find(QPlainTextEdit, "workerLog").toPlainText() == "INFO one\nINFO two"
    ui.click("stopWorker")
    ui.qtbot.waitUntil(lambda: not ui.has("stopWorker"))
    assert manager.did == ["stop worker"]


LEFT = "A command in a terminal left it running; a message to this model uses it."


@pytest.mark.parametrize(
    ("worker", "facts"),
    [
        (
            WorkerState("ready", "Gemma 4 E4B", others=0, stops_after_s=600),
            f"{LEFT} Without a message it stops in about 10 minutes.",
        ),
        (
            WorkerState("ready", "Gemma 4 E4B", others=1),
            "Another program uses it, such as a command in a terminal.",
        ),
    ],
)
def test_a_worker_that_a_command_has_left_is_seen_and_stopped(
    ui: Ui,
    installer: ScriptedInstaller,
    manager: ScriptedManager,
    worker: WorkerState,
    facts: str,
) -> None:
    installer.now = InstallState("0.33.0", "cuda", None, "0.33.0")
    manager.runs = worker
    ui.press("Ctrl+Shift+G")
    ui.qtbot.waitUntil(lambda: text(ui, "workerState") == "Running: Gemma 4 E4B")
    assert text(ui, "workerFacts") == facts
    ui.click("stopWorker")
    ui.qtbot.waitUntil(lambda: not ui.has("stopWorker"))
    assert manager.did == ["stop worker"]


@pytest.mark.parametrize(
    ("system", "words", "can_look"),
    [("macos", "does not run on macOS", False), ("windows", "inside WSL2", True)],
)
def test_where_vllm_cannot_run_the_page_says_so(
    ui: Ui, manager: ScriptedManager, system: str, words: str, can_look: bool
) -> None:
    manager.system = system  # type: ignore[assignment]
    ui.press("Ctrl+Shift+G")
    ui.qtbot.waitUntil(lambda: words in text(ui, "vllmWords"))
    ui.settle()
    assert ui.has("checkVllm") is can_look
    ui.click("vllmServers")
    assert ui.has("serversPage")


def test_the_settings_lead_to_the_page(ui: Ui) -> None:
    ui.window.show_settings("engine")
    ui.click("way-engines")
    assert ui.has("enginesPage")
    assert not ui.has("settingsDialog")
    ui.click("enginesSettings")
    assert ui.has("settingsDialog")


@pytest.mark.parametrize("keys", ["Ctrl+Shift+G", "Ctrl+Shift+Y"])
def test_tab_reaches_every_control(
    ui: Ui, installer: ScriptedInstaller, manager: ScriptedManager, keys: str
) -> None:
    installer.now = InstallState("0.33.0", "cuda", "0.32.0", "0.34.0", outdated=True)
    manager.found = (CARD, OLD, NEW)
    manager.runs = WorkerState("ready", "Gemma 4 E4B", log=("INFO one",))
    ui.press(keys)
    ui.settle()
    assert list(lost_focus(ui.window)) == []
