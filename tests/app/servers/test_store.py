"""Profiles of servers in the database."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.base.db import Database
from app.base.errors import AddressInvalid, ServerInvalid
from app.servers.store import ServerStore
from app.servers.values import (
    ServedModel,
    ServerInfo,
    ServerProfile,
    key_variable,
    normalised_address,
    normalised_name,
)

TEAM = ServerProfile("1", "Team", "https://ai.example.com", Path("/ca.pem"), None)
FACTS = ServerInfo("vllm", "0.32.0", (ServedModel("tiny", 4096), ServedModel("x")), True, True)


def test_profiles_are_kept_changed_and_removed(database: Database) -> None:
    store = ServerStore(database)
    other = ServerProfile("2", "box", "http://192.168.1.20:8000")
    store.save(TEAM)
    store.save(other)
    assert store.profiles() == [other, TEAM]
    changed = replace(TEAM, name="Zoo", certificate=Path("/me.pem"))
    store.save(changed)
    store.remove("2")
    assert store.profiles() == [changed]


def test_a_name_is_given_once(database: Database) -> None:
    store = ServerStore(database)
    store.save(TEAM)
    with pytest.raises(ServerInvalid, match="already"):
        store.save(replace(TEAM, id="2", name="team"))


def test_what_was_found_is_kept_until_the_address_is_another(database: Database) -> None:
    store = ServerStore(database)
    store.save(TEAM)
    assert store.info("1") is None
    store.save_info("1", FACTS)
    store.save(replace(TEAM, name="Other"))
    assert store.info("1") == FACTS
    store.save(replace(TEAM, address="http://elsewhere.example.com"))
    assert store.info("1") is None


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("http://box:8000/", "http://box:8000"),
        (" https://gate.example.com/llm/v1 ", "https://gate.example.com/llm"),
        ("box:8000", "http://box:8000"),
        ("http://box/v1/chat/completions", "http://box"),
        ("http://[::1]:8000/v1/", "http://[::1]:8000"),
        ("HTTPS://Box.example/v1", "https://Box.example"),
    ],
)
def test_an_address_is_kept_without_its_ending(text: str, address: str) -> None:
    assert normalised_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ftp://box",
        "http://",
        "http://bo x",
        "http://a:b@box",
        "http://box:99999",
        "http://b\x1b[1m",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(AddressInvalid):
        normalised_address(text)


def test_names_and_variables() -> None:
    assert normalised_name("  my   box ") == "my box"
    assert key_variable("my box-1") == "HEARTH_KEY_MY_BOX_1"
    for text in ("", " ", "a:b", "…", "red \x1b[31m", "a\u202eb"):
        with pytest.raises(ServerInvalid) as caught:
            normalised_name(text)
        assert caught.value.what.isprintable()
