"""From a search to a model in the list: the real window, Hub client and queue, a loopback Hub."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton

from app.base.shipped import STARTER, STARTER_DRAFTER
from app.kit.text.markdown_view import MarkdownView
from tests.hub.testhub import TestHub
from tests.support.window import Ui

REPO = "ada/Tiny-GGUF"


@pytest.fixture(autouse=True)
def loopback(hub: TestHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestHub:
    """Give the window a loopback Hub and an empty cache; it runs before `ui`."""
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    hub.add(
        REPO,
        {"tiny-Q4_K_M.gguf": STARTER.read_bytes(), "mtp-tiny-Q8_0.gguf": STARTER_DRAFTER},
        licence="mit",
        card="# Tiny\n\nKnows *nothing*. <script>alert(1)</script> [More](https://example.com/)",
        tags=["gguf"],
        gguf={"total": 5_000_000, "architecture": "qwen3"},
    )
    hub.add("bea/Large-GGUF", {"large-Q4_K_M.gguf": b"x"}, gguf={"total": 700 * 10**9})
    return hub


def discover(ui: Ui) -> None:
    ui.press("Ctrl+M")
    ui.click("modelsPart-discover")


def search(ui: Ui, words: str) -> None:
    field = ui.find(QLineEdit, "hubWords")
    field.setText("")
    QTest.keyClicks(field, words)
    ui.press("Return", field)


def test_from_a_search_to_the_list_of_models(ui: Ui, loopback: TestHub) -> None:
    discover(ui)
    search(ui, "gguf")
    ui.qtbot.waitUntil(lambda: ui.has(f"result-{REPO}"))
    assert not ui.has("result-bea/Large-GGUF"), "it is too large for this computer"
    ui.click(f"result-{REPO}")
    ui.qtbot.waitUntil(lambda: ui.has("modelCard"))
    shown = ui.find(MarkdownView, "modelCard").toPlainText()
    assert "Knows nothing." in shown
    assert "<script>" not in shown
    ui.qtbot.waitUntil(lambda: ui.has("memoryBar-memory"))
    assert "MB" in ui.find(QLabel, "fitSentence").text()
    ui.click("getVariant")
    queue = ui.app.downloads
    ui.qtbot.waitUntil(lambda: len(queue.downloads()) == 1)
    ui.qtbot.waitUntil(lambda: queue.downloads()[0].state == "done")
    names = {entry.repo: entry for entry in ui.app.library.entries()}
    assert REPO in names
    assert names[REPO].path.read_bytes() == STARTER.read_bytes()
    ui.press("Ctrl+L")
    ui.qtbot.waitUntil(lambda: ui.find(QLabel, "stripLine").text().startswith("Ready"))
    ui.click("stripButton")
    ui.qtbot.waitUntil(lambda: ui.presenters.settings.current.model == names[REPO].id)
    assert not ui.has("downloadStrip")
    assert all(request.headers.get("authorization") is None for request in loopback.requests)


def test_a_closed_model_is_got_with_a_token(
    ui: Ui, loopback: TestHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    import keyring
    from keyring.backends.fail import Keyring

    monkeypatch.setattr(keyring, "get_keyring", Keyring)
    loopback.add(
        "ada/Closed-GGUF", {"closed-Q4_K_M.gguf": STARTER}, gated="auto", gguf={"total": 5_000_000}
    )
    loopback.token("hf_right", access={"ada/Closed-GGUF"})
    discover(ui)
    search(ui, "closed")
    ui.qtbot.waitUntil(lambda: ui.has("result-ada/Closed-GGUF"))
    ui.click("result-ada/Closed-GGUF")
    ui.qtbot.waitUntil(lambda: ui.has("enterToken"))
    ui.click("enterToken")
    field = ui.find(QLineEdit, "token")
    QTest.keyClicks(field, "hf_wrong")
    ui.press("Return", field)
    ui.qtbot.waitUntil(lambda: ui.find(QLabel, "tokenResult").property("look") == "problem")
    field.clear()
    QTest.keyClicks(field, "hf_right")
    ui.press("Return", field)
    ui.qtbot.waitUntil(lambda: "ada" in ui.find(QLabel, "tokenResult").text())
    ui.click("cancelToken")
    ui.qtbot.waitUntil(lambda: ui.has("getVariant"))
    assert ui.find(QPushButton, "enterToken").text() == "Another token…"
    ui.qtbot.waitUntil(lambda: ui.has("memoryBar-memory"))


def test_offline_nothing_is_asked(ui: Ui, loopback: TestHub) -> None:
    ui.presenters.settings.set("offline", True)
    discover(ui)
    assert "offline" in ui.find(QLabel, "offlineText").text()
    ui.qtbot.waitUntil(lambda: ui.has("catalogue"))
    assert not ui.has("hubWords")
    ui.qtbot.waitUntil(lambda: ui.has("offer-default"))  # the catalogue works offline
    before = len(loopback.requests)
    assert before == 0
    ui.click("goOnline")
    assert not ui.presenters.settings.current.offline
    assert ui.has("hubWords")
