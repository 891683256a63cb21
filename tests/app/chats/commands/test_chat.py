"""`hearth chat`: its commands for MTP, piped input and line editing."""

from __future__ import annotations

import io
import os
import select
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from engines.types import MtpReport
from tests.support.scripted import NO_DRAFTS, ScriptedEngine
from tests.support.terminal import Hearth
from tests.support.waiting import until


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


def test_what_is_piped_in_is_answered_as_it_comes(
    hearth: Hearth, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that writes into the pipe may wait for an answer before it asks again."""
    reads, writes = os.pipe()
    before: list[int] = []

    def ask() -> None:
        with os.fdopen(writes, "w", encoding="utf-8") as pipe:
            for line in ("One", "Two", "Three"):
                until(lambda: len(engine.requests) >= len(before))
                before.append(len(engine.requests))
                print(line, file=pipe, flush=True)

    asking = threading.Thread(target=ask)
    with os.fdopen(reads, encoding="utf-8") as given:
        monkeypatch.setattr(sys, "stdin", given)
        asking.start()
        assert hearth("chat") == 0
    asking.join()
    assert before == [0, 1, 2]


def test_a_command_that_fails_does_not_end_what_is_piped_in(
    hearth: Hearth,
    engine: ScriptedEngine,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("/model nowhere\nHello\n"))
    assert hearth("chat") == 1, "what failed shows in the status"
    assert "There is no model “nowhere”." in capsys.readouterr().err
    assert len(engine.requests) == 1


@pytest.mark.skipif(os.name == "nt", reason="a terminal of this kind is not there on Windows")
def test_a_typed_line_is_edited_recalled_and_completed(data_dir: Path) -> None:
    """At a real terminal: arrows, the history, Tab, pasted lines, Ctrl-C and Ctrl-D."""
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "app", "--data-dir", str(data_dir), "chat"]
    environment = os.environ | {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    shown = bytearray()

    ready = b"\x1b[?2004h"  # turns on bracketed paste, so typing works by then too

    def type_until(keys: bytes, *wanted: bytes) -> None:
        del shown[:]
        os.write(ours, keys)
        end = time.monotonic() + 60
        for words in wanted:
            while words not in shown and time.monotonic() < end:
                if select.select([ours], [], [], 0.1)[0]:
                    shown.extend(os.read(ours, 65536))
            assert words in shown, shown.decode()
            del shown[: shown.index(words)]

    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    ) as program:
        os.close(theirs)
        try:
            type_until(b"", ready)
            left, up = b"\x1b[D", b"\x1b[A"
            type_until(b"/thnk off" + left * 6 + b"i\r", b"Thinking is off", ready)
            type_until(up + b"\r", b"Thinking is off", ready)
            type_until(b"/he\t", b"/help")
            type_until(b"\r", b"show these commands", ready)
            pasted = b"\x1b[200~/nothing\nof the kind\x1b[201~"
            type_until(pasted + b"\r", b"no command /nothing", ready)
            type_until(b"half a li\x03", ready)
            type_until(b"/mtp off\r", b"MTP is set to off", ready)
            os.write(ours, b"\x04")
            assert program.wait(60) == 0
        finally:
            program.kill()
            os.close(ours)
