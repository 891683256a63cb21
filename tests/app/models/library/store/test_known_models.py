"""The stored data about models and their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.base.db import Database
from app.models.library.store.known_models import ModelUse, free_id
from app.models.library.store.models import ModelStore


@pytest.fixture
def store(database: Database) -> ModelStore:
    return ModelStore(database)


def test_an_identity_keeps_its_id(store: ModelStore) -> None:
    wanted = [("hub:a/m", "M"), ("hub:b/m", "M")]
    assert store.known.ids(wanted, ["starter"]) == {"hub:a/m": "m", "hub:b/m": "m-2"}
    assert store.known.ids(wanted[1:], ["starter"]) == {"hub:b/m": "m-2"}
    assert store.known.ids([("x", "starter")], ["starter"]) == {"x": "starter-2"}


def test_ids_of_models_that_were_added_are_taken(store: ModelStore) -> None:
    def add(path: str) -> str:
        return store.add("m", Path(path), drafts=False, reserved=["starter"])

    assert add("/m.gguf") == "m"
    assert store.known.ids([("hub:a/m", "m")], []) == {"hub:a/m": "m-2"}
    assert [add("/b/m.gguf"), add("/m.gguf")] == ["m-3", "m"], "a file is added once"
    assert len(store.models()) == 2


@pytest.mark.parametrize(
    ("name", "model_id"),
    [
        ("Qwen3.5-4B-Q4_K_M", "qwen3.5-4b-q4-k-m"),
        ("日本", "model"),
        ("--", "model"),
        ("a b", "a-b"),
    ],
)
def test_ids_can_be_typed(name: str, model_id: str) -> None:
    assert free_id(name, set()) == model_id


def test_names_and_use_are_kept_apart(store: ModelStore) -> None:
    assert store.known.remembered() == {}
    store.known.rename("m", "Mine")
    store.known.used("m")
    store.known.rename("m", "Yours")
    kept = store.known.remembered()["m"]
    assert (kept.name, kept.last_used is not None) == ("Yours", True)
    store.known.used("n")
    assert store.known.remembered()["n"].name is None
    store.known.forget("m")
    assert store.known.remembered().get("m", ModelUse()) == ModelUse()


def test_settings_keep_their_type(store: ModelStore) -> None:
    store.known.change_settings("m", {"context": 4096, "temperature": 0.5, "system_prompt": "é"})
    store.known.change_settings("m", {"context": None, "mtp": "off"})
    assert store.known.settings("m") == {"temperature": 0.5, "system_prompt": "é", "mtp": "off"}
    assert store.known.settings("n") == {}


def test_a_hash_holds_as_long_as_the_file_is_as_it_was(store: ModelStore) -> None:
    path = Path("/models/m.gguf")
    assert store.hashes.get(path) is None
    store.hashes.save(path, 10, 20, "ab")
    kept = store.hashes.get(path)
    assert kept is not None
    assert (kept.matches(10, 20), kept.matches(10, 21), kept.matches(11, 20)) == (
        True,
        False,
        False,
    )
    store.hashes.mark_changed(path, "ab")
    doubted = store.hashes.all()[path]
    assert (doubted.sha256, doubted.matches(10, 20)) == ("ab", False)
    store.hashes.forget([path])
    assert store.hashes.all() == {}
