"""A worker of vLLM that a command leaves running for the next command and for the window."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.folder import DataFolder
from app.chats.answers.values.answers import AnswerOptions
from app.models.library.values.entry import STARTER_CHECKPOINT
from app.wiring.app import App, open_app
from app.wiring.opening import open_data
from engines.cancel import CancelToken
from engines.types import Message
from engines.vllm.processes import Process
from tests.engines.vllm.faked import behave, make_fake, started_in
from tests.support.terminal import Hearth
from tests.support.waiting import until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux"),
    # httpcore2 does not close a Unix socket if nobody listens at its other end.
    pytest.mark.filterwarnings("ignore:unclosed <socket.*family=1:ResourceWarning"),
]
ASK = ("ask", "What is Hearth?", "--model", STARTER_CHECKPOINT, "--max-tokens", "2")
NAME = "Starter guide for vLLM"


@pytest.fixture
def fake(data_dir: Path) -> Iterator[Path]:
    """Yield the folder of a made vLLM environment, active in the data folder."""
    home = data_dir / "engines" / "vllm"
    folder = home / "versions" / "0.32.0-cpu-made"
    make_fake(folder)
    (folder / "hearth.json").write_text(json.dumps({"version": "0.32.0", "profile": "cpu"}))
    (home / "current").write_text(folder.name + "\n")
    yield folder
    with closing(open_app(DataFolder(data_dir))) as app:
        app.vllm.end_staying()
    until(lambda: started_in(folder) == [])


def servers(fake: Path) -> list[Process]:
    """Return the first process of each running worker."""
    return [it for it in started_in(fake) if it.pid == it.session]


def running(hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    capsys.readouterr()
    assert hearth("engines", "list", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    (row,) = [it for it in rows if it["name"] == "vllm"]
    return list(row["running"])


def test_two_questions_one_start(
    hearth: Hearth, fake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth(*ASK) == 0
    assert "word0 word1" in capsys.readouterr().out
    (server,) = servers(fake)
    assert hearth(*ASK) == 0
    assert "word0 word1" in capsys.readouterr().out
    assert servers(fake) == [server]
    (row,) = running(hearth, capsys)
    assert (row["model"], row["users"]) == (NAME, 0)
    assert hearth("engines", "list") == 0
    assert "`hearth engines stop vllm` ends it now" in capsys.readouterr().out
    assert hearth("engines", "stop", "vllm") == 0
    assert f"{NAME} has ended" in capsys.readouterr().out
    assert started_in(fake) == []
    assert running(hearth, capsys) == []
    assert hearth("engines", "stop", "vllm", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"stopped": []}


def test_where_none_may_stay_it_ends_with_the_command(hearth: Hearth, fake: Path) -> None:
    assert hearth("settings", "set", "vllm_idle", "0") == 0
    assert hearth(*ASK) == 0
    assert started_in(fake) == []


def test_other_options_end_what_nobody_uses(hearth: Hearth, fake: Path) -> None:
    assert hearth(*ASK) == 0
    (first,) = servers(fake)
    assert hearth(*ASK, "--context", "256") == 0
    (second,) = servers(fake)
    assert first != second


def test_llama_cpp_gets_the_memory_of_what_nobody_uses(hearth: Hearth, fake: Path) -> None:
    assert hearth(*ASK) == 0
    assert servers(fake)
    assert hearth("ask", "What is Hearth?", "--model", "starter", "--max-tokens", "2") == 0
    assert started_in(fake) == []


def test_the_window_uses_what_a_command_has_left_and_leaves_none(
    hearth: Hearth, fake: Path, data_dir: Path
) -> None:
    assert hearth(*ASK) == 0
    (server,) = servers(fake)
    window = App(open_data(DataFolder(data_dir)), lists_devices_in_child=True)
    with closing(window):
        (staying,) = window.vllm.staying()
        assert (staying.model, staying.process, staying.users) == (NAME, server.pid, 0)
        ask(window)
        (staying,) = window.vllm.staying()
        assert (staying.process, staying.users, staying.left_s) == (server.pid, 1, None)
        assert hearth(*ASK) == 0, "a command uses the window's"
        assert servers(fake) == [server]
    assert started_in(fake) == []


def ask(app: App) -> None:
    messages = (Message("user", "What is Hearth?"),)
    settings = replace(app.settings.read(), model=STARTER_CHECKPOINT, max_tokens=2)
    list(app.answers.once(messages, settings, AnswerOptions(), lambda _: None, CancelToken()))


def test_a_command_that_fails_leaves_nothing(hearth: Hearth, fake: Path) -> None:
    behave(fake, fails=["(EngineCore pid=7) ERROR [core.py:1] ValueError: No"])
    assert hearth(*ASK) == 1
    assert started_in(fake) == []


def test_a_removed_vllm_has_no_worker_left(hearth: Hearth, fake: Path) -> None:
    assert hearth(*ASK) == 0
    assert servers(fake)
    assert hearth("engines", "remove", "vllm") == 0
    assert started_in(fake) == []


def test_only_vllm_can_be_stopped(
    hearth: Hearth, fake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("engines", "stop", "llamacpp") == 1
    assert "nothing to install, stop" in capsys.readouterr().err
