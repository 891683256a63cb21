"""The contract of the terminal: names, JSON and exit codes, on the real model.

Tests of streams, bytes, ends and signals use a process, as only a process shows them.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from app.base.migrations import MIGRATIONS
from app.base.shipped import STARTER, STARTER_DRAFTER
from tests.e2e.conftest import ROOT, Hearth, environment, value
from tests.engines.gguf_files import write_llama
from tests.engines.llamacpp.random_models import Size, write_random_llama
from tests.support.waiting import until

QUESTION = "What is Hearth?"


def test_one_answer_as_text(process: Hearth) -> None:
    result = process("ask", QUESTION)
    assert result.returncode == 0, result.stderr
    assert "private AI chat" in result.stdout


def test_one_answer_as_json(hearth: Hearth) -> None:
    answer = value(hearth("ask", QUESTION, "--json"))
    assert "private AI chat" in answer["text"]
    assert answer["finish_reason"] == "stop"
    assert (answer["model"], answer["engine"]) == ("starter", "llamacpp")
    assert set(answer["mtp"]) >= {"mode", "active", "reason", "depth", "drafted", "accepted"}
    assert answer["mtp"]["mode"] == "auto"
    assert answer["mtp"]["reason"]
    assert answer["usage"]["prompt_tokens"] > 0
    assert answer["usage"]["cached_tokens"] == 0
    assert answer["usage"]["completion_tokens"] > 10
    assert set(answer["timing"]) == {"load_s", "ttft_s", "prefill_tok_s", "decode_tok_s"}
    assert all(seconds > 0 for seconds in answer["timing"].values())


def test_options_reach_the_engine(hearth: Hearth) -> None:
    short = value(hearth("--json", "ask", QUESTION, "--max-tokens", "4", "--context", "512"))
    assert short["finish_reason"] == "length"
    assert short["usage"]["completion_tokens"] == 4
    assert short["usage"]["context"] == 512
    stopped = value(hearth("ask", QUESTION, "--json", "--stop", "private"))
    assert stopped["finish_reason"] == "stop"
    assert stopped["text"]
    assert "private" not in stopped["text"]


def test_the_same_seed_gives_the_same_answer(hearth: Hearth) -> None:
    words = ("ask", "Tell me a joke", "--json", "--temperature", "1.5", "--seed", "11")
    first, second = value(hearth(*words)), value(hearth(*words))
    assert first["text"] == second["text"]
    assert first["seed"] == 11


def test_the_question_may_come_from_standard_input_and_files(
    hearth: Hearth, tmp_path: Path
) -> None:
    assert "private AI chat" in hearth("ask", "-", given=QUESTION).stdout
    note = tmp_path / "note.txt"
    note.write_text("some words of a note")
    with_file = value(hearth("ask", "Hello", "--file", str(note), "--json"))
    without = value(hearth("ask", "Hello", "--json"))
    assert with_file["usage"]["prompt_tokens"] > without["usage"]["prompt_tokens"]
    missing = hearth("ask", "Hello", "--file", str(tmp_path / "gone.txt"), "--json")
    assert missing.returncode == 1
    assert value(missing)["error"]["code"] == "document_not_read"


def test_nothing_on_standard_input_gets_one_built_in_answer(process: Hearth) -> None:
    result = process()
    assert result.returncode == 0
    assert "No display" in result.stderr
    assert "private AI chat" in result.stdout


def test_a_silent_standard_input_gets_one_built_in_answer(data_dir: Path) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "app"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env=environment(data_dir),
    )
    assert started.stdout is not None
    assert "private AI chat" in started.stdout.read()
    started.communicate()
    assert started.returncode == 0


def test_piped_lines_are_a_conversation_that_is_kept(hearth: Hearth, process: Hearth) -> None:
    result = process("chat", given="Hello\nWhat is a token?\n")
    assert result.returncode == 0
    (chat,) = value(hearth("chats", "list", "--json"))
    assert chat["title"] == "Hello"
    shown = value(hearth("chats", "show", chat["id"], "--json"))
    assert [m["role"] for m in shown["messages"]] == ["user", "assistant"] * 2
    second = shown["messages"][3]
    assert second["state"] == "complete"
    assert second["facts"]["cached_tokens"] > 0, "the first turn was evaluated again"


def test_ask_continues_a_chat(hearth: Hearth) -> None:
    hearth("chat", given="Hello\n")
    (chat,) = value(hearth("chats", "list", "--json"))
    result = hearth("ask", "What is a token?", "--chat", chat["id"][:8])
    assert result.returncode == 0
    assert len(value(hearth("chats", "show", chat["id"], "--json"))["messages"]) == 4
    exported = hearth("chats", "export", chat["id"]).stdout
    assert exported.startswith("# Hello\n\n## You\n\nHello\n")
    assert value(hearth("chats", "export", chat["id"], "--format", "json"))["title"] == "Hello"
    assert value(hearth("chats", "search", "token", "--json"))[0]["id"] == chat["id"]
    assert hearth("chats", "rm", chat["id"]).returncode == 0
    assert value(hearth("chats", "list", "--json")) == []


def test_commands_of_the_chat(hearth: Hearth) -> None:
    lines = "/help\nHello\n/again\n/model\n/chats\n/new\nHello\n/nonsense\n/quit\nnever\n"
    result = hearth("chat", given=lines)
    assert result.returncode == 0, result.stderr
    assert "/continue" in result.stdout
    assert "no command /nonsense" in result.stderr
    assert len(value(hearth("chats", "list", "--json"))) == 2


def test_hardware_has_the_names_of_the_contract(hearth: Hearth) -> None:
    found = value(hearth("hardware", "--json"))
    assert {"os", "cpu", "memory", "gpus", "devices", "engines"} <= set(found)
    assert {"name", "physical_cores", "logical_cores", "usable_threads", "features"} <= set(
        found["cpu"]
    )
    assert set(found["memory"]) == {"total_bytes", "available_bytes", "limit_bytes"}
    states = {engine["name"]: engine for engine in found["engines"]}
    assert states["llamacpp"]["available"]
    assert not states["vllm"]["available"]
    assert states["vllm"]["why_not"]
    assert hearth("hardware").returncode == 0


def test_models(hearth: Hearth, tmp_path: Path) -> None:
    (starter,) = value(hearth("models", "list", "--json"))
    assert starter["id"] == "starter"
    assert starter["architecture"] == "gemma4"
    assert starter["mtp"] == {"kind": "drafter", "ready": True}
    assert {"parameters", "quantisation", "context_max", "size_bytes", "path"} <= set(starter)
    copy = tmp_path / "copy.gguf"
    shutil.copy(STARTER, copy)
    assert value(hearth("models", "import", str(copy), "--json"))["id"] == "copy"
    assert value(hearth("ask", "Hello", "--model", "copy", "--json"))["model"] == "copy"
    fit = value(hearth("models", "fit", "copy", "--json"))
    assert fit["verdict"] == "fits"
    assert set(fit["parts"]) == {"weights", "kv", "compute", "drafter", "projector"}
    copy.unlink()
    assert value(hearth("ask", "Hello", "--model", "copy", "--json"))["error"]["code"] == (
        "model_not_found"
    )
    listed = value(hearth("models", "list", "--json"))
    assert "error" in listed[1]
    assert hearth("models", "rm", "copy").returncode == 0


def test_settings(hearth: Hearth) -> None:
    assert hearth("settings", "set", "theme", "dark").returncode == 0
    assert value(hearth("settings", "get", "theme", "--json")) == {"name": "theme", "value": "dark"}
    wrong = hearth("settings", "set", "theme", "pink", "--json")
    assert wrong.returncode == 1
    assert value(wrong)["error"]["code"] == "settings_invalid"
    assert "temperature" in hearth("settings", "list").stdout
    missing = hearth("settings", "get", "colour", "--json")
    assert value(missing)["error"]["code"] == "no_such_setting"


def test_doctor_finds_nothing_wrong_here(hearth: Hearth) -> None:
    findings = value(hearth("doctor", "--json"))
    assert {finding["state"] for finding in findings} <= {"ok", "warning"}
    assert {"data folder", "chats", "llama.cpp", "starter model"} <= {f["check"] for f in findings}


@pytest.mark.parametrize(
    "words",
    [
        ("ask",),
        ("frobnicate",),
        ("ask", "x", "--depth", "many"),
        ("ask", "x", "--depth", "9"),
        ("ask", "x", "--depth", "2", "--mtp", "off"),
        ("bench", "--concurrency", "1,many"),
        ("models",),
    ],
)
def test_wrong_usage_is_exit_status_2(hearth: Hearth, words: tuple[str, ...]) -> None:
    result = hearth(*words, "--json")
    assert result.returncode == 2
    assert value(result)["error"]["code"] == "usage"
    assert "Traceback" not in result.stderr


def test_an_error_is_the_exit_status_of_the_process(process: Hearth) -> None:
    assert process("frobnicate").returncode == 2
    assert process("settings", "get", "nothing").returncode == 1


def test_an_engine_that_is_not_here_says_why(hearth: Hearth) -> None:
    result = hearth("ask", "Hello", "--engine", "vllm", "--json")
    assert result.returncode == 1
    assert value(result)["error"]["code"] == "engine_unavailable"


def broken_models(folder: Path) -> dict[str, tuple[Path, str]]:
    """Return files that are no chat model, and the code of the error for each."""
    whole = STARTER.read_bytes()
    contents = {
        "empty": (b"", "model_not_gguf"),
        "text": (b"Hello, I am a text file.\n" * 100, "model_not_gguf"),
        "page": (b"<!DOCTYPE html><html><body>Not found</body></html>", "model_not_gguf"),
        "pointer": (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            "model_not_gguf",
        ),
        "header-cut": (whole[:1000], "model_damaged"),
        "data-cut": (whole[: len(whole) // 2], "model_damaged"),
        "unknown": (whole.replace(b"gemma4", b"gemma9"), "model_architecture"),
    }
    made = {}
    for name, (content, code) in contents.items():
        path = folder / f"{name}.gguf"
        path.write_bytes(content)
        made[name] = (path, code)
    made["missing"] = (folder / "missing.gguf", "model_not_found")
    made["drafter"] = (STARTER_DRAFTER, "model_not_chat")
    return made


@pytest.mark.parametrize(
    "name",
    ["empty", "text", "page", "pointer", "header-cut", "data-cut", "unknown", "missing", "drafter"],
)
def test_a_file_that_is_no_chat_model_has_its_own_error(
    hearth: Hearth, tmp_path: Path, name: str
) -> None:
    path, code = broken_models(tmp_path)[name]
    result = hearth("ask", "Hello", "--model", str(path), "--json")
    error = value(result)["error"]
    assert result.returncode == 1
    assert error["code"] == code
    assert error["what"]
    assert error["why"]
    assert error["do"]
    assert "Traceback" not in result.stderr


def test_a_model_too_big_for_the_memory_is_refused(hearth: Hearth, tmp_path: Path) -> None:
    giant = tmp_path / "giant.gguf"
    write_llama(giant, embedding_length=65_536, feed_forward_length=524_288)
    result = hearth("ask", "Hello", "--model", str(giant), "--json")
    assert result.returncode == 1
    assert value(result)["error"]["code"] == "memory"


def test_more_context_than_the_model_knows_is_refused(hearth: Hearth) -> None:
    result = hearth("ask", "Hello", "--context", "500000", "--json")
    assert result.returncode == 1
    assert value(result)["error"]["code"] == "context"


def test_a_newer_database_is_refused_and_untouched(hearth: Hearth, data_dir: Path) -> None:
    hearth("chats", "list")
    path = data_dir / "chats.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version={len(MIGRATIONS) + 1}")
    result = hearth("chats", "list", "--json")
    assert result.returncode == 1
    assert value(result)["error"]["code"] == "database_newer"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_killed_answer_is_there_marked_and_can_be_continued(
    hearth: Hearth, data_dir: Path, tmp_path: Path
) -> None:
    ramble(hearth, tmp_path)
    first = subprocess.Popen(
        [sys.executable, "-m", "app", "chat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env=environment(data_dir),
    )
    assert first.stdin is not None
    first.stdin.write(QUESTION.encode() + b"\n")
    first.stdin.close()
    _wait_for_text(data_dir / "chats.db")
    first.kill()
    first.wait()

    (chat,) = value(hearth("chats", "list", "--json"))
    question, answer = value(hearth("chats", "show", chat["id"], "--json"))["messages"]
    assert question["text"] == QUESTION
    assert answer["state"] == "interrupted"
    assert answer["text"]
    hearth("settings", "set", "max_tokens", "8")
    hearth("chat", given=f"/open {chat['id']}\n/continue\n")
    _, whole = value(hearth("chats", "show", chat["id"], "--json"))["messages"]
    assert whole["state"] == "complete"
    assert whole["text"].startswith(answer["text"])
    assert len(whole["text"]) > len(answer["text"])


@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl-C to whole groups of processes")
def test_ctrl_c_keeps_what_was_answered(hearth: Hearth, data_dir: Path, tmp_path: Path) -> None:
    hearth("chat", given="Hello\n")
    (chat,) = value(hearth("chats", "list", "--json"))
    ramble(hearth, tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "ask", QUESTION, "--chat", chat["id"]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env=environment(data_dir),
    )
    assert process.stdout is not None
    process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    answer = value(hearth("chats", "show", chat["id"], "--json"))["messages"][-1]
    assert answer["state"] == "stopped"
    assert answer["text"]
    assert answer["facts"]["finish_reason"] == "cancelled"


def ramble(hearth: Hearth, folder: Path) -> None:
    """Choose a model with random weights, which continues until its context is full."""
    model = write_random_llama(folder / "rambler.gguf", Size(6, 256, 4, 2, 512))
    hearth("models", "import", str(model))
    for name, setting in {"model": "rambler", "temperature": 0}.items():
        assert hearth("settings", "set", name, str(setting)).returncode == 0


def _wait_for_text(database: Path) -> None:
    """Wait until a part of an answer has reached the disk."""

    def has_text() -> bool:
        if not database.exists():
            return False
        with closing(sqlite3.connect(database, timeout=5)) as db:
            try:
                query = "SELECT 1 FROM messages WHERE role = 'assistant' AND text != ''"
                return db.execute(query).fetchone() is not None
            except sqlite3.OperationalError:
                return False

    until(has_text, 90, "no part of an answer reached the disk")


@pytest.mark.skipif(os.name == "nt", reason="Windows has other pipes")
def test_a_reader_that_goes_away_is_no_bug(hearth: Hearth, data_dir: Path, tmp_path: Path) -> None:
    ramble(hearth, tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "ask", QUESTION],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=environment(data_dir),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 1
    assert complaint == b""
    assert not list((data_dir / "logs").glob("report-*"))


@pytest.mark.skipif(sys.platform == "win32", reason="its command lines are text")
def test_a_question_whose_bytes_are_no_text_is_asked_and_kept(
    hearth: Hearth, process: Hearth
) -> None:
    hearth("chat", given="Hello\n")
    (chat,) = value(hearth("chats", "list", "--json"))
    result = process("ask", os.fsdecode(b"Hello \xff there"), "--chat", chat["id"])
    assert result.returncode == 0, result.stderr
    shown = value(hearth("chats", "show", chat["id"], "--json"))
    assert shown["messages"][2]["text"] == "Hello \ufffd there"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are text")
def test_a_file_whose_name_is_no_text_is_found(process: Hearth, tmp_path: Path) -> None:
    note = tmp_path / os.fsdecode(b"note\xff.txt")
    note.write_text("some words")
    assert process("ask", "Hello", "--file", str(note)).returncode == 0
