"""`hearth servers`, with servers on this computer."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest

from app.chats.commands import printing
from engines.openai.values import ServerKind
from tests.app.base.test_secrets import Ring
from tests.support.openai_server import OpenAiServer
from tests.support.paths import ROOT
from tests.support.terminal import Hearth
from tests.support.unfit_llama import unfit_llama

KEY = "sk-abcdef"
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def ring() -> Iterator[Ring]:
    before = keyring.get_keyring()
    ring = Ring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


def test_a_server_is_added_tested_listed_and_removed(
    hearth: Hearth, capsys: Captured, monkeypatch: pytest.MonkeyPatch, data_dir: Path
) -> None:
    monkeypatch.setenv("HEARTH_KEY_TEAM", KEY)
    with OpenAiServer(api_key=KEY, context=4096) as server:
        assert hearth("servers", "add", "team", f"{server.address}/v1", "--json") == 0
        added = json.loads(capsys.readouterr().out)
        assert (added["name"], added["address"], added["key"]) == (
            "team",
            server.address,
            "environment",
        )
        assert added["leaves_computer"] is False
        assert hearth("servers", "test", "team") == 0
        said = capsys.readouterr().out
        assert said == "team: vLLM 0.32.0; tiny (context 4,096); MTP is off\n"
        assert hearth("servers", "list", "--json") == 0
        (listed,) = json.loads(capsys.readouterr().out)
        assert listed["kind"] == "vllm"
        assert listed["models"] == [{"id": "tiny", "context": 4096}]
    assert KEY.encode() not in b"".join(
        it.read_bytes() for it in data_dir.rglob("*") if it.is_file()
    )
    assert hearth("servers", "rm", "team") == 0
    assert hearth("servers", "list") == 0
    assert "No servers yet" in capsys.readouterr().out


@pytest.mark.parametrize("how", ["absent", "asks for more"])
def test_a_server_answers_where_llama_cpp_does_not_fit(
    how: str, data_dir: Path, tmp_path: Path
) -> None:
    unfit = {"PYTHONPATH": unfit_llama(tmp_path, how), "HEARTH_DATA_DIR": str(data_dir)}

    def said(*words: str) -> str:
        ended = subprocess.run(
            [sys.executable, "-m", "app", *words],
            env=os.environ | unfit,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    with OpenAiServer(context=4096) as server:
        said("servers", "add", "team", f"{server.address}/v1")
        said("servers", "test", "team")
        assert said("ask", "Hello", "--model", "team:tiny").strip()


def test_a_key_without_a_keyring_is_told(
    hearth: Hearth, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{KEY}\n"))
    assert hearth("servers", "add", "team", "http://192.0.2.7:8000", "--key-stdin") == 0
    told = capsys.readouterr().err
    assert "HEARTH_KEY_TEAM" in told
    assert "without encryption" in told


def test_what_becomes_of_a_key_is_told(
    hearth: Hearth, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_KEY_MY_BOX", KEY)
    assert hearth("servers", "add", "my box", "http://127.0.0.1:1") == 0
    assert "servers test 'my box'" in capsys.readouterr().out
    assert hearth("servers", "add", "my box", "http://192.0.2.7") == 0
    assert "key of “my box” goes to http://192.0.2.7:80" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert hearth("servers", "add", "my box", "http://192.0.2.7", "--key-stdin") == 0
    assert "No key was entered" in capsys.readouterr().err


@pytest.mark.parametrize("agrees", [False, True])
def test_a_kept_key_goes_to_another_address_only_if_told_to(
    hearth: Hearth, capsys: Captured, monkeypatch: pytest.MonkeyPatch, ring: Ring, agrees: bool
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{KEY}\n"))
    assert hearth("servers", "add", "team", "https://ai.example.org", "--key-stdin") == 0
    capsys.readouterr()
    more = ["--keep-key"] if agrees else []
    assert hearth("servers", "add", "team", "https://elsewhere.example", *more, "--json") == 0
    added = json.loads(capsys.readouterr().out)
    assert added["key"] == ("keyring" if agrees else "none")
    assert len(ring.held) == agrees
    assert hearth("servers", "rm", "team") == 0
    assert not ring.held


def test_that_a_key_is_forgotten_is_said(
    hearth: Hearth, capsys: Captured, monkeypatch: pytest.MonkeyPatch, ring: Ring
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{KEY}\n"))
    hearth("servers", "add", "team", "https://ai.example.org", "--key-stdin")
    capsys.readouterr()
    hearth("servers", "add", "team", "https://elsewhere.example")
    told = capsys.readouterr().err
    assert "was for https://ai.example.org:443 only" in told
    assert "--key-stdin" in told


def test_remove_is_another_word_for_rm(hearth: Hearth, capsys: Captured) -> None:
    hearth("servers", "add", "team", "http://192.0.2.7")
    assert hearth("servers", "remove", "team") == 0
    assert "Removed “team”." in capsys.readouterr().out
    assert hearth("servers", "remove", "team", "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "server_not_found"


def test_the_path_of_a_models_file_is_shortened_for_people(
    hearth: Hearth, capsys: Captured
) -> None:
    path = "/srv/models/unsloth/very/deep/gemma-3-12b-it-Q4_K_M.gguf"
    with OpenAiServer("llama-server", context=4096) as server:
        server.model = path
        hearth("servers", "add", "team", server.address)
        assert hearth("servers", "test", "team") == 0
        assert "; gemma-3-12b-it-Q4_K_M (context 4,096);" in capsys.readouterr().out
        assert hearth("models", "list") == 0
        listed = capsys.readouterr().out
        assert "gemma-3-12b-it-Q4_K_M on team" in listed
        assert "/srv/models" not in listed
        called = "gemma-3-12b-it-Q4_K_M on team"
        assert hearth("ask", "What is Hearth?", "--model", called, "--json") == 0
        assert server.chats()[0]["model"] == path
        for name in (path, "gemma-3-12b-it-Q4_K_M"):
            assert hearth("ask", "What is Hearth?", "--model", f"team:{name}", "--json") == 0
            assert server.chats()[-1]["model"] == path


def test_what_a_server_says_steers_no_terminal(hearth: Hearth, capsys: Captured) -> None:
    with OpenAiServer() as server:
        server.model = "tiny\x1b[31m"
        hearth("servers", "add", "team", server.address)
        assert hearth("servers", "test", "team") == 0
        assert "\x1b" not in capsys.readouterr().out


def test_a_second_add_changes_it(hearth: Hearth, capsys: Captured) -> None:
    for port in ("8000", "8001"):
        assert hearth("servers", "add", "team", f"127.0.0.1:{port}") == 0
    capsys.readouterr()
    assert hearth("servers", "list", "--json") == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert listed["address"] == "http://127.0.0.1:8001"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("test", "nobody"), "server_not_found"),
        (("add", "a:b", "http://127.0.0.1:1"), "server_invalid"),
        (("add", "team", "ftp://box"), "address_invalid"),
        (("add", "team", "https://box", "--ca", "no-such.pem"), "certificate_refused"),
    ],
)
def test_what_is_wrong_is_said(
    hearth: Hearth, capsys: Captured, words: tuple[str, ...], code: str
) -> None:
    assert hearth("servers", *words, "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == code


def test_a_server_that_is_down_and_one_far_away(hearth: Hearth, capsys: Captured) -> None:
    with OpenAiServer() as server:
        pass
    hearth("servers", "add", "down", server.address)
    hearth("servers", "add", "far", "http://192.0.2.7")
    capsys.readouterr()
    assert hearth("servers", "test", "down", "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "server_unreachable"
    assert hearth("servers", "test", "far", "--offline", "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "offline"


@pytest.mark.parametrize("kind", ["vllm", "openai"])
def test_a_question_goes_to_a_server(hearth: Hearth, capsys: Captured, kind: ServerKind) -> None:
    with OpenAiServer(kind, context=4096) as server:
        assert hearth("servers", "add", "team", server.address) == 0
        assert hearth("servers", "test", "team") == 0
        capsys.readouterr()
        assert hearth("ask", "What is Hearth?", "--model", "team:tiny", "--json") == 0
        said = json.loads(capsys.readouterr().out)
        assert said["engine"] == "remote"
        assert said["text"]
        assert said["usage"]["context"] == (4096 if kind == "vllm" else 0)
        assert server.chats()[0]["messages"][-1]["content"] == "What is Hearth?"
        assert hearth("ask", "Go on", "--model", "team:gone", "--json") == 1
        assert json.loads(capsys.readouterr().out)["error"]["code"] == "model_not_found"


def test_that_text_leaves_is_said_before_it_does(
    hearth: Hearth, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAiServer(context=4096) as server:
        hearth("servers", "add", "team", server.address)
        hearth("servers", "test", "team")
        capsys.readouterr()
        assert hearth("ask", "Hello", "--model", "team:tiny") == 0
        assert "leaves this computer" not in capsys.readouterr().err
        monkeypatch.setattr(printing, "is_loopback", lambda _: False)
        assert hearth("ask", "Hello", "--model", "team:tiny") == 0
        assert "Text leaves this computer: it goes to team (127.0.0.1)." in capsys.readouterr().err
        assert hearth("models", "list") == 0
        assert " 0 B " not in capsys.readouterr().out


def test_a_model_of_a_server_that_was_not_asked_yet(hearth: Hearth, capsys: Captured) -> None:
    hearth("servers", "add", "team", "http://192.0.2.7")
    capsys.readouterr()
    assert hearth("ask", "Hello", "--model", "team:/models/tiny.gguf", "--json") == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "model_not_found"
    assert "servers test team" in error["do"]
