"""Access to the server: its own token, and a key for each client."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import keyring
import pytest

from app.api.services.api_keys import ApiKeys
from app.api.store import KEEP_S, ApiClientStore
from app.api.values import ApiUse
from app.base.db import Database
from app.base.errors import ClientInvalid, ClientUnknown, KeyringBroken, TokenMalformed
from app.base.secrets import API_TOKEN, SERVICE, Secrets
from tests.app.base.test_secrets import Ring


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chats.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    with closing(Database(path)) as database:
        yield database


@pytest.fixture
def keys(database: Database) -> ApiKeys:
    return ApiKeys(Secrets(), ApiClientStore(database))


@pytest.fixture
def ring() -> Iterator[Ring]:
    before, ring = keyring.get_keyring(), Ring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


def test_the_token_is_made_once_and_kept_in_the_keyring(database: Database, ring: Ring) -> None:
    store = ApiClientStore(database)
    first = ApiKeys(Secrets(), store).token()
    assert (first.is_new, first.status.place) == (True, "keyring")
    assert ring.held == {(SERVICE, API_TOKEN): first.secret.reveal()}
    again = ApiKeys(Secrets(), store).token()
    assert (again.is_new, again.secret.reveal()) == (False, first.secret.reveal())
    other = ApiKeys(Secrets(), store).renew()
    assert other.secret.reveal() != first.secret.reveal()
    assert len(other.secret.reveal()) > 40


def test_a_locked_keyring_is_told(keys: ApiKeys, ring: Ring) -> None:
    ring.locked = True
    with pytest.raises(KeyringBroken, match="HEARTH_API_TOKEN"):
        keys.token()


def test_the_environment_may_hold_it(keys: ApiKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTH_API_TOKEN", "a-token-of-the-environment")
    token = keys.token()
    assert (token.secret.reveal(), token.status.place, token.is_new) == (
        "a-token-of-the-environment", "environment", False,
    )  # fmt: skip


def test_a_short_token_of_the_environment_is_refused(
    keys: ApiKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_API_TOKEN", "1234")
    for asked in (keys.token, keys.owner):
        with pytest.raises(TokenMalformed):
            asked()


def test_two_that_ask_first_get_one_token(keys: ApiKeys) -> None:
    with ThreadPoolExecutor(8) as threads:
        tokens = {it.secret.reveal() for it in threads.map(lambda _: keys.token(), range(8))}
    assert len(tokens) == 1


def test_a_token_may_be_given_for_one_run(database: Database, ring: Ring) -> None:
    keys = ApiKeys(Secrets(), ApiClientStore(database))
    keys.use_token(" of-somebody-who-knows-best\n")
    owner = keys.identify("of-somebody-who-knows-best")
    assert owner is not None
    assert owner.id == ""
    assert ring.held == {}
    for bad in ("short", "two words of a sentence", "ümlaut-ümlaut-ümlaut", ""):
        with pytest.raises(TokenMalformed):
            keys.use_token(bad)


def test_a_client_is_known_by_its_key_alone(keys: ApiKeys) -> None:
    client, key = keys.add("  my   editor ", ["starter"], per_minute=5, at_once=2)
    assert (client.name, client.may_use("starter"), client.may_use("other")) == (
        "my editor", True, False,
    )  # fmt: skip
    assert keys.identify(key.reveal()) == client
    assert keys.clients() == (client,)
    for wrong in (key.reveal()[:-1], key.reveal().upper(), "", client.digest, client.id):
        assert keys.identify(wrong) is None
    assert keys.identify(keys.token().secret.reveal()) == keys.owner()


def test_no_key_lies_in_the_database(keys: ApiKeys, database: Database, path: Path) -> None:
    _, key = keys.add("editor")
    database.close()
    assert key.reveal().encode() not in path.read_bytes()


def test_what_another_process_changes_counts_at_once(keys: ApiKeys, path: Path) -> None:
    with closing(Database(path)) as other:
        elsewhere = ApiKeys(Secrets(), ApiClientStore(other))
        _, key = elsewhere.add("editor")
        assert keys.identify(key.reveal()) is not None
        elsewhere.remove("EDITOR")
        assert keys.identify(key.reveal()) is None


@pytest.mark.parametrize("name", ["", " \t ", "…", "Hearth", "hearth ", "a\x07b"])
def test_a_client_needs_a_name_of_its_own(keys: ApiKeys, name: str) -> None:
    with pytest.raises(ClientInvalid):
        keys.add(name)


def test_two_clients_have_two_names(keys: ApiKeys) -> None:
    keys.add("editor")
    with pytest.raises(ClientInvalid):
        keys.add("Editor")
    with pytest.raises(ClientUnknown):
        keys.remove("other")


def test_uses_are_kept_for_a_month(keys: ApiKeys) -> None:
    def use(started: float) -> ApiUse:
        return ApiUse(
            started,
            1.5,
            "editor",
            "127.0.0.1",
            8117,
            "GET",
            "/v1/models",
            "starter",
            3,
            4,
            5,
            6,
            200,
        )

    for started in (1000.0, 2000.0, 2000.0 + KEEP_S):
        keys.record_use(use(started))
    assert keys.uses(10) == [use(2000.0 + KEEP_S), use(2000.0)]
    assert keys.uses(1) == [use(2000.0 + KEEP_S)]
    assert keys.clear_uses() == 2
    assert keys.uses(10) == []
