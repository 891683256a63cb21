"""`hearth token`, with a keyring made for the test and a Hub on this computer."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import keyring
import pytest

from tests.app.base.test_secrets import Ring
from tests.hub.testhub import TestHub
from tests.support.terminal import Hearth

TOKEN = "hf_abcdefgh"

Type = Callable[[str], None]


@pytest.fixture
def ring() -> Iterator[Ring]:
    before = keyring.get_keyring()
    ring = Ring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestHub]:
    with TestHub() as hub:
        hub.token(TOKEN, "ada")
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        yield hub


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Type:
    """Return a function that puts a text on standard input."""
    return lambda text: monkeypatch.setattr(sys, "stdin", io.StringIO(text))


@pytest.mark.usefixtures("hub")
def test_a_token_is_tested_kept_shown_as_present_and_forgotten(
    hearth: Hearth, ring: Ring, given: Type, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given(f"{TOKEN}\n")
    assert hearth("token", "set", "hf", "--json") == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == {
        "service": "hf",
        "present": True,
        "place": "keyring",
        "warning": None,
        "account": "ada",
    }
    assert list(ring.held.values()) == [TOKEN]
    assert hearth("token", "status", "hf") == 0
    assert "keyring" in capsys.readouterr().out
    assert hearth("token", "clear", "hf", "--json") == 0
    cleared = capsys.readouterr()
    assert json.loads(cleared.out)["present"] is False
    assert ring.held == {}
    assert TOKEN not in said.out + said.err + cleared.err
    written = [path for path in data_dir.rglob("*") if path.is_file()]
    assert written
    assert all(TOKEN.encode() not in path.read_bytes() for path in written)


@pytest.mark.usefixtures("hub")
def test_a_token_that_the_hub_does_not_know_is_not_kept(
    hearth: Hearth, ring: Ring, given: Type, capsys: pytest.CaptureFixture[str]
) -> None:
    given("hf_wrong\n")
    assert hearth("token", "set", "hf", "--json") == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["error"]["code"] == "token_refused"
    assert "hf_wrong" not in said.out + said.err
    assert ring.held == {}


def test_untested_nobody_is_asked(
    hearth: Hearth, ring: Ring, hub: TestHub, given: Type, capsys: pytest.CaptureFixture[str]
) -> None:
    given("hf_wrong\n")
    assert hearth("token", "set", "hf", "--untested", "--json") == 0
    assert json.loads(capsys.readouterr().out)["account"] is None
    assert hub.requests == []
    assert list(ring.held.values()) == ["hf_wrong"]


def test_offline_it_is_kept_and_said_to_be_untested(
    hearth: Hearth,
    ring: Ring,
    given: Type,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")
    given(TOKEN)
    assert hearth("token", "set", "hf", "--offline") == 0
    assert "not tested" in capsys.readouterr().err
    assert list(ring.held.values()) == [TOKEN]


@pytest.mark.usefixtures("hub")
def test_without_a_keyring_the_command_says_that_nothing_was_kept(
    hearth: Hearth, given: Type, capsys: pytest.CaptureFixture[str]
) -> None:
    given(TOKEN)
    assert hearth("token", "set", "hf", "--json") == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "no_keyring"
    assert "HF_TOKEN" in error["do"]
    assert "ada" in error["why"]


def test_the_environment_is_told(
    hearth: Hearth, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert hearth("token", "status", "hf", "--json") == 0
    assert json.loads(capsys.readouterr().out)["place"] == "environment"
    monkeypatch.delenv("HF_TOKEN")
    assert hearth("token", "status", "hf", "--json") == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["present"], status["place"]) == (False, "none")
    assert "keyring" in status["warning"]


@pytest.mark.parametrize(("text", "code"), [("", "token_malformed"), ("a b", "token_malformed")])
def test_what_is_no_token(
    hearth: Hearth, given: Type, capsys: pytest.CaptureFixture[str], text: str, code: str
) -> None:
    given(text)
    assert hearth("token", "set", "hf", "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == code


def test_an_unknown_service(hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth("token", "status", "github", "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "no_such_service"
