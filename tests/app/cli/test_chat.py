"""`hearth chat`: its commands around MTP."""

from __future__ import annotations

import io
import sys

import pytest

from engines.types import MtpReport
from tests.app.cli.conftest import Hearth
from tests.support.scripted import NO_DRAFTS, ScriptedEngine


def chat(
    hearth: Hearth,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *lines: str,
) -> tuple[str, str]:
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
    assert hearth("chat") == 0
    out, err = capsys.readouterr()
    return out, err


def test_the_switch_of_a_chat(
    hearth: Hearth,
    engine: ScriptedEngine,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, err = chat(
        hearth, monkeypatch, capsys,
        "/mtp", "One", "/mtp on", "Two", "/mtp", "/mtp off", "Three", "/new", "Four", "/mtp maybe",
    )  # fmt: skip
    assert [request.mtp for request in engine.requests] == ["auto", "on", "off", "auto"]
    belongs = "This model can answer faster: its drafter guesses ahead."
    assert f"MTP is set to auto for this chat.\n{belongs}\n" in out
    assert f"MTP is set to on for this chat.\n{NO_DRAFTS}\n" in out
    assert "MTP is set to off for this chat.\n" in out
    assert "not maybe" in err
    assert err.count(NO_DRAFTS) == 1, "the note after the one answer that wanted MTP"


def test_an_off_is_there_when_the_chat_is_opened_again(
    hearth: Hearth,
    engine: ScriptedEngine,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    engine.reports = [MtpReport("auto", True, "It runs.", "drafter", 2, 9, 9)]
    out, _ = chat(hearth, monkeypatch, capsys, "One", "/mtp", "/mtp off", "/chats")
    assert "MTP is set to auto for this chat.\nIt runs.\n" in out
    chat_id = out.splitlines()[-1].split()[1]
    assert hearth("settings", "set", "mtp", "on") == 0
    chat(hearth, monkeypatch, capsys, f"/open {chat_id}", "Two", "/again")
    assert [request.mtp for request in engine.requests] == ["auto", "off", "off"]
