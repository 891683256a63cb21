"""`--engine` and other options for engines, in the terminal."""

from __future__ import annotations

import builtins
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from app.models.library.values.entry import STARTER_CHECKPOINT
from app.wiring.vllm import LocalVllm
from tests.engines.checkpoint_files import DRAFTER, TARGET
from tests.support.houses import ScriptedWorker
from tests.support.openai_server import OpenAiServer
from tests.support.scripted import ScriptedEngine
from tests.support.terminal import Hearth


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> ScriptedWorker:
    """Put a scripted worker in the place of an installed vLLM."""
    from engines.vllm.provision.home import Installed

    worker = ScriptedWorker(("From", " vLLM"))
    monkeypatch.setattr(
        LocalVllm, "installed", lambda _: Installed("0.33.0", "cpu", Path("/nowhere"))
    )
    monkeypatch.setattr(LocalVllm, "make", lambda _: worker)
    return worker


def test_the_same_model_on_vllm(
    hearth: Hearth,
    engine: ScriptedEngine,
    worker: ScriptedWorker,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert hearth("ask", "Hello", "--engine", "vllm", "--json") == 0
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (value["engine"], value["model"]) == ("vllm", STARTER_CHECKPOINT)
    assert (worker.plans[0].model, worker.plans[0].drafter) == (TARGET, DRAFTER)
    assert engine.plans == []


def test_without_vllm_it_says_what_would_help(
    hearth: Hearth, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (("ask", "Hello"), ("chat",), ("bench",)):
        assert hearth(*words, "--engine", "vllm") == 1
        assert "hearth engines install vllm" in capsys.readouterr().err
    assert engine.plans == []


def test_a_depth_for_this_answer_and_mtp_off(hearth: Hearth, worker: ScriptedWorker) -> None:
    assert hearth("ask", "Hello", "--engine", "vllm", "--depth", "5") == 0
    assert hearth("ask", "Hello", "--engine", "vllm", "--mtp", "off") == 0
    assert [it.draft_max for it in worker.plans] == [5, 0]


def test_the_engine_that_the_settings_prefer(
    hearth: Hearth, worker: ScriptedWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("engines", "use", "vllm") == 0
    assert hearth("ask", "Hello") == 0
    assert capsys.readouterr().out.endswith("From vLLM\n")
    assert hearth("ask", "Hello", "--engine", "llamacpp") == 0
    assert capsys.readouterr().out.endswith("Hello there\n")


def test_many_chats_of_an_engine_that_answers_them_side_by_side(
    hearth: Hearth, worker: ScriptedWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.says = {"answers_at_once": 3}
    words = ("bench", "--engine", "vllm", "--concurrency", "1,3", "--rounds", "1", "--tokens", "2")
    assert hearth(*words, "--json") == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["runs_on"], value["side_by_side"]) == ("vllm", 3)
    assert worker.plans[0].parallel == 3, "there is room for all of them"
    assert hearth("recommend", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["engine"]["rows"]
    measured = {it["topic"]: it["vllm"] for it in rows if it["measured"]}
    assert measured["starter, 3 at once"].endswith("tokens a second")


def test_an_adapter_by_its_name(hearth: Hearth, worker: ScriptedWorker, tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}")
    assert hearth("settings", "set", "vllm_adapters", f"law = {tmp_path}") == 0
    assert hearth("ask", "Hello", "--engine", "vllm") == 0
    assert hearth("ask", "Hello", "--engine", "vllm", "--adapter", "law") == 0
    assert hearth("settings", "set", "adapter", "law") == 0
    assert hearth("ask", "Hello", "--engine", "vllm") == 0
    assert hearth("ask", "Hello", "--engine", "vllm", "--adapter", "") == 0
    assert [it.adapter for it in worker.requests] == [None, "law", "law", None]
    assert {it.adapters[0].name for it in worker.plans} == {"law"}


def test_a_chat_goes_on_with_another_engine(
    hearth: Hearth,
    worker: ScriptedWorker,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    worker.says = {"mtp_switch": "restart", "restart_s": 48.0}
    lines = iter(
        ["Hello", "/engine", "/engine vlm", "/engine vllm", "Again", "/engine remote", "/mtp off"]
    )

    def typed(_: str) -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr(builtins, "input", typed)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    assert hearth("chat") == 0
    shown = capsys.readouterr()
    assert shown.out.count("is answered by llama.cpp") == 1
    assert "not vlm" in shown.err
    assert "answers, by vLLM" in shown.out
    assert shown.out.index("Hello there") < shown.out.index("From vLLM")
    assert "of your servers offers this model" in shown.err
    assert "waits for a restart; the last one took 48 s" in shown.out
    assert [it.text for it in worker.requests[0].messages][-3:] == [
        "Hello", "Hello there", "Again",
    ]  # fmt: skip


def test_a_server_answers_under_its_name(
    hearth: Hearth, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    with OpenAiServer("vllm", context=512) as server:
        assert hearth("servers", "add", "team", server.address) == 0
        assert hearth("servers", "test", "team") == 0
        capsys.readouterr()
        assert hearth("models", "list", "--json") == 0
        listed = {it["id"]: it for it in json.loads(capsys.readouterr().out)}
        assert (listed["team:tiny"]["engine"], listed["team:tiny"]["source"]) == (
            "remote",
            "server",
        )
        assert hearth("ask", "Hello", "--model", "team:tiny", "--json") == 0
        value = json.loads(capsys.readouterr().out)
        assert (value["engine"], value["model"]) == ("remote", "team:tiny")
        assert value["text"]
        assert hearth("engines", "list", "--json") == 0
        rows = {it["name"]: it for it in json.loads(capsys.readouterr().out)}
        assert (rows["remote"]["available"], rows["remote"]["about"]) == (True, "1 server")
    assert engine.plans == []


def test_bench_measures_an_engine_that_starts_again_for_mtp(
    hearth: Hearth, worker: ScriptedWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.says = {"mtp_switch": "restart"}
    words = ("bench", "--engine", "vllm", "--rounds", "1", "--tokens", "2", "--json")
    assert hearth(*words) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["runs_on"] == "vllm"
    assert [mode["mode"] for mode in value["kinds"][0]["modes"]] == ["off", "on"]
    assert [it.draft_max for it in worker.plans] == [0, 2]
    assert hearth("recommend", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["engine"]["rows"]
    assert rows[0]["measured"]
    assert rows[0]["topic"] == "starter, one user"


def test_the_engine_before_has_its_model_back_and_a_note_is_said_once(
    hearth: Hearth,
    engine: ScriptedEngine,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with OpenAiServer("vllm", context=512) as server:
        assert hearth("servers", "add", "team", server.address) == 0
        assert hearth("servers", "test", "team") == 0
        engine.notes = ("Something is otherwise here.",)
        lines = iter(["Hello", "Again", "/model team:tiny", "/engine llamacpp", "Back"])

        def typed(_: str) -> str:
            try:
                return next(lines)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr(builtins, "input", typed)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        capsys.readouterr()
        assert hearth("chat") == 0
    shown = capsys.readouterr()
    assert "answers, by llama.cpp" in shown.out
    assert [it.messages[-1].text for it in engine.requests] == ["Hello", "Again", "Back"]
    assert shown.err.count("Something is otherwise here.") == 1
