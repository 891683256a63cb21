"""MTP on the real model: in the terminal, in the window's line, in its check."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import shiboken6
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.base.folder import DataFolder
from app.base.reports import describe
from app.chats.composer.pages.mtp_chip import MtpChip
from app.chats.history.values.conversation import StoredMessage
from app.wiring.app import open_app
from app.wiring.window import WindowApp
from tests.e2e.conftest import ROOT, Hearth, environment, value
from tests.engines.llamacpp.random_models import Size, write_random_llama
from tests.support.waiting import until
from tests.support.windows import built_window

QUESTION = "What is Hearth?"


def test_mtp_runs_at_the_depth_that_is_asked_for(hearth: Hearth) -> None:
    words = ("ask", QUESTION, "--json", "--temperature", "0")
    ahead = value(hearth(*words, "--depth", "2"))
    assert (ahead["mtp"]["mode"], ahead["mtp"]["active"]) == ("on", True)
    assert (ahead["mtp"]["kind"], ahead["mtp"]["depth"]) == ("drafter", 2)
    assert 0 < ahead["mtp"]["accepted"] <= ahead["mtp"]["drafted"]
    off = value(hearth(*words, "--mtp", "off"))
    assert (off["mtp"]["active"], off["mtp"]["drafted"]) == (False, 0)
    assert off["text"] == ahead["text"]
    note = hearth("ask", QUESTION, "--mtp", "on")
    assert "MTP on" in note.stderr


def test_bench_measures_and_checks(hearth: Hearth) -> None:
    found = value(hearth("bench", "--rounds", "1", "--tokens", "16", "--json"))
    assert [kind["kind"] for kind in found["kinds"]] == ["code", "prose", "copying", "chat"]
    for kind in found["kinds"]:
        assert kind["prefill_tok_s"] > 0
        assert [mode["mode"] for mode in kind["modes"]] == ["off", "auto", "on"]
        assert all(mode["decode_tok_s"] > 0 and mode["same_text"] for mode in kind["modes"])
    checked = hearth("bench", "--check-mtp", "--tokens", "16", "--json")
    assert checked.returncode == 0, checked.stdout
    assert len(value(checked)["checks"]) == 8 * 4
    assert "Same answer" in hearth("bench", "--check-mtp", "--tokens", "8").stdout
    for words in (("--help",), ("bench", "--help")):
        assert "speed on this computer" in " ".join(hearth(*words).stdout.split())


@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl-C to whole groups of processes")
@pytest.mark.parametrize("words", [(), ("--check-mtp",)])
def test_ctrl_c_ends_a_measurement(data_dir: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    model = str(write_random_llama(tmp_path / "rambler.gguf", Size(6, 256, 4, 2, 512)))
    command = ("bench", "--model", model, *words, "--tokens", "100000", "--json")
    process = subprocess.Popen(
        [sys.executable, "-m", "app", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=environment(data_dir),
    )
    try:
        # It has passed the probe by then, and is about to be loaded or at work.
        until((data_dir / "probed.json").exists)
        worked = psutil.Process(process.pid).cpu_times
        before = worked().user
        until(lambda: worked().user > before + 0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (130, b"", b"")
    finally:
        process.kill()
        process.communicate()


def test_the_window_says_what_runs_and_checks_it(qapp: QApplication, qtbot: QtBot) -> None:
    app = open_app(DataFolder.default())
    presenters = WindowApp(app)
    window = built_window(presenters, describe)
    window.show()
    try:
        chip = window.findChild(MtpChip)
        assert chip is not None
        ended: list[StoredMessage] = []
        presenters.generation.ended.connect(ended.append)
        chip.chosen.emit("on")
        window.page.ask(QUESTION)
        qtbot.waitUntil(lambda: bool(ended), timeout=60_000)
        assert ended[0].facts is not None
        report = ended[0].facts.mtp
        assert report is not None
        assert (report.mode, report.active, report.kind) == ("on", True, "drafter")
        qtbot.waitUntil(lambda: chip.sentence == report.reason)
        facts = window.findChild(QLabel, "answerFacts")
        assert facts is not None
        assert "MTP" in facts.toolTip()
        window.go_to("models", "here")
        button = window.findChild(QPushButton, "checkMtp")
        result = window.findChild(QLabel, "checkResult")
        assert button is not None
        assert result is not None
        button.click()
        qtbot.waitUntil(lambda: result.text().startswith("Same answer"), timeout=60_000)
    finally:
        window.close()
        presenters.tasks.close()
        app.close()
        shiboken6.delete(window)
