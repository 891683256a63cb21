"""Storing, testing and using servers through the gate, with a keyring and without one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import keyring
import pytest

from app.base.db import Database
from app.base.errors import (
    AddressInvalid,
    CertificateRefused,
    Offline,
    ServerInvalid,
    ServerUnknown,
    TokenMalformed,
)
from app.base.secrets import Secrets
from app.net import Gate
from app.net.values.connections import LoggedConnection
from app.servers.services import Servers
from app.servers.store import ServerStore
from app.servers.values import ServerProfile
from engines.cancel import CancelToken
from engines.errors import ServerRefused
from engines.remote.engine import RemoteEngine
from engines.types import ServedPlan
from tests.app.base.test_secrets import Ring
from tests.engines.asking import answer, ask
from tests.support.certificates import make_certificates
from tests.support.openai_server import OpenAiServer

KEY = "sk-abcdef"


@dataclass
class Place:
    """The services that store a test's servers.

    Attributes:
        offline: Hearth is offline.
    """

    servers: Servers
    ledger: list[LoggedConnection]
    secrets: Secrets
    offline: bool = False


@pytest.fixture
def ring() -> Iterator[Ring]:
    before = keyring.get_keyring()
    ring = Ring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    ledger: list[LoggedConnection] = []
    database = Database(tmp_path / "hearth.db")
    gate = Gate(ledger.append, lambda: made.offline)
    secrets = Secrets()
    made = Place(Servers(ServerStore(database), secrets, gate), ledger, secrets)
    yield made
    gate.close()
    database.close()


def new(address: str, **more: Path) -> ServerProfile:
    return ServerProfile("", "team", address, **more)


def ask_at(place: Place, profile: ServerProfile, question: str = "What is Hearth?") -> str:
    engine = RemoteEngine(place.servers.lend)
    plan = ServedPlan(profile.id, "tiny", 512)
    engine.load(plan, lambda _: None, CancelToken())
    try:
        return answer(engine, ask(question))
    finally:
        engine.close()


def test_a_server_is_kept_tested_asked_and_forgotten(place: Place, ring: Ring) -> None:
    with OpenAiServer(api_key=KEY) as server:
        profile = place.servers.save(new(f"{server.address}/v1"), KEY)
        assert list(ring.held.values()) == [KEY]
        facts = place.servers.test(profile)
        assert (facts.kind, facts.version, facts.models[0].id) == ("vllm", "0.32.0", "tiny")
        assert place.servers.info(profile.id) == facts
        assert ask_at(place, profile)
    assert {it.purpose for it in place.ledger} == {
        "look at a server", "list a server's models", "ask a server",
    }  # fmt: skip
    assert all(it.host == "127.0.0.1" for it in place.ledger)
    place.servers.remove(profile.id)
    assert not ring.held
    with pytest.raises(ServerUnknown):
        place.servers.lend(profile.id)


def test_without_a_keyring_a_key_lasts_for_the_run(place: Place) -> None:
    with OpenAiServer(api_key=KEY) as server:
        profile = place.servers.save(new(server.address), KEY)
        status = place.servers.key_status(profile)
        assert (status.present, status.place) == (True, "memory")
        assert place.servers.test(profile).kind == "vllm"
        place.servers.save(profile, "")
        with pytest.raises(ServerRefused):
            place.servers.test(profile)


def test_a_key_may_come_from_the_environment(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTH_KEY_TEAM", KEY)
    with OpenAiServer(api_key=KEY) as server:
        profile = place.servers.save(new(server.address), None)
        assert place.servers.key_status(profile).place == "environment"
        assert place.servers.key_variable(profile.name) == "HEARTH_KEY_TEAM"
        assert place.servers.test(profile).models


def test_a_server_is_tested_before_it_is_kept(place: Place) -> None:
    with OpenAiServer(api_key=KEY) as server:
        assert place.servers.test(new(server.address), KEY).models
        with pytest.raises(ServerRefused):
            place.servers.test(new(server.address), "sk-wrong")
    assert not place.servers.list()


def test_a_key_is_one_word(place: Place) -> None:
    with pytest.raises(TokenMalformed):
        place.servers.save(new("http://127.0.0.1:1"), "two words")
    assert not place.servers.list()


def test_offline_asks_nobody_but_this_computer(place: Place) -> None:
    place.offline = True
    with pytest.raises(Offline):
        place.servers.test(new("http://192.0.2.7:8000"))
    assert [it.result for it in place.ledger] == ["refused"]
    with OpenAiServer() as server:
        assert place.servers.test(new(server.address)).models


def test_own_certificates_are_trusted_and_shown(place: Place, tmp_path: Path) -> None:
    made = make_certificates(tmp_path, asks_for_client=True)
    with OpenAiServer(tls=made.server) as server:
        for profile in (new(server.address), new(server.address, ca=made.ca)):
            with pytest.raises(Exception, match=r"certificate|encrypted|broke off"):
                place.servers.test(profile)
        both = new(server.address, ca=made.ca, certificate=made.client)
        assert place.servers.test(both).kind == "vllm"


def test_two_names_have_no_variable_in_common(place: Place) -> None:
    place.servers.save(new("http://127.0.0.1:1"), None)
    for name in ("Team", "TEAM"):
        with pytest.raises(ServerInvalid, match="HEARTH_KEY_TEAM"):
            place.servers.save(ServerProfile("", name, "http://127.0.0.1:2"), None)
    place.servers.save(ServerProfile("", "my box", "http://127.0.0.1:2"), None)
    with pytest.raises(ServerInvalid, match="HEARTH_KEY_MY_BOX"):
        place.servers.save(ServerProfile("", "my-box", "http://127.0.0.1:3"), None)


def test_a_host_that_there_cannot_be_is_refused(place: Place) -> None:
    with pytest.raises(AddressInvalid, match=r"ü\.\.b"):
        place.servers.save(new("http://ü..b:80"), None)
    with pytest.raises(AddressInvalid):
        place.servers.test(new("http://ü..b:80"))
    assert not place.servers.list()


def test_one_without_a_name_is_called_by_its_host(place: Place) -> None:
    with OpenAiServer(api_key=KEY) as server, pytest.raises(ServerRefused) as caught:
        place.servers.test(ServerProfile("", "", server.address))
    assert caught.value.what == "127.0.0.1 requires a key."


def test_no_key_shows_in_what_is_lent(place: Place) -> None:
    profile = place.servers.save(new("http://127.0.0.1:1"), KEY)
    served = place.servers.lend(profile.id)
    assert served.headers["Authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(served)
    served.client.close()


def test_a_file_that_is_no_certificate_is_refused(place: Place, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("no certificate", encoding="utf-8")
    for profile in (
        new("https://127.0.0.1:1", ca=wrong),
        new("https://127.0.0.1:1", certificate=wrong),
        new("https://127.0.0.1:1", ca=tmp_path / "missing.pem"),
    ):
        with pytest.raises(CertificateRefused):
            place.servers.save(profile, None)


def test_the_key_does_not_follow_a_redirect(place: Place) -> None:
    with OpenAiServer(api_key=KEY) as server, OpenAiServer() as other:
        from tests.support.openai_server import Reply

        server.script("/v1/models", Reply(b"", 307, headers={"Location": other.address}))
        with pytest.raises(Exception, match="another address"):
            place.servers.test(new(server.address), KEY)
        assert not other.asked


def test_a_key_stays_at_the_place_that_it_was_given_for(place: Place, ring: Ring) -> None:
    with OpenAiServer(api_key=KEY) as server, OpenAiServer() as other:
        kept = place.servers.save(new(server.address), KEY)
        moved = replace(kept, address=other.address)
        assert place.servers.origin_losing_key(moved) == kept.origin
        place.servers.test(moved)
        place.servers.save(moved, None)
        place.servers.test(moved)
        assert ask_at(place, moved)
        assert other.chats()
        assert not any("authorization" in it.headers for it in other.asked)
        assert not ring.held, "what is of no use any more is not kept"
        place.servers.save(replace(kept, address=f"{server.address}/v1"), None)
        with pytest.raises(ServerRefused):
            place.servers.test(kept)


@pytest.mark.parametrize("path", ["/gateway", "/v1", ""])
def test_a_key_stays_where_only_the_path_changes(place: Place, ring: Ring, path: str) -> None:
    kept = place.servers.save(new("https://AI.example.org"), KEY)
    moved = replace(kept, address=f"https://ai.example.org:443{path}")
    assert place.servers.origin_losing_key(moved) == ""
    saved = place.servers.save(moved, None)
    assert place.servers.key_status(saved).present
    assert list(ring.held.values()) == [KEY]


@pytest.mark.parametrize("address", ["http://ai.example.org:443", "https://ai.example.org:8443"])
def test_another_scheme_or_port_is_another_place(place: Place, ring: Ring, address: str) -> None:
    kept = place.servers.save(new("https://ai.example.org"), KEY)
    assert not place.servers.key_status(
        place.servers.save(replace(kept, address=address), None)
    ).present
    assert not ring.held


def test_a_key_goes_along_where_its_owner_agrees(place: Place, ring: Ring) -> None:
    with OpenAiServer(api_key=KEY) as server:
        kept = place.servers.save(new("http://127.0.0.1:1"), KEY)
        moved = replace(kept, address=server.address)
        assert place.servers.test(moved, take_key=True).models
        saved = place.servers.save(moved, None, take_key=True)
        assert place.servers.test(saved).models
        assert list(ring.held.values()) == [KEY]


def test_a_window_that_knows_the_key_does_not_send_it_to_where_a_terminal_moved_the_server(
    place: Place, ring: Ring, tmp_path: Path
) -> None:
    with OpenAiServer(api_key=KEY) as server, OpenAiServer() as other:
        kept = place.servers.save(new(server.address), KEY)
        assert place.servers.test(kept).models
        database = Database(tmp_path / "hearth.db")
        gate = Gate(place.ledger.append, lambda: False)
        terminal = Servers(ServerStore(database), Secrets(), gate)
        terminal.save(replace(kept, address=other.address), None)
        gate.close()
        database.close()
        place.servers.test(place.servers.find("team"))
        assert other.asked
        assert not any("authorization" in it.headers for it in other.asked)


def test_a_key_in_the_environment_is_not_shown_to_another_of_that_name(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_KEY_TEAM", KEY)
    place.servers.save(new("http://127.0.0.1:1"), None)
    with OpenAiServer() as other:
        with pytest.raises(ServerInvalid, match="HEARTH_KEY_TEAM"):
            place.servers.test(new(other.address))
        assert not other.asked


def test_who_needs_a_key_is_told_how_to_give_it(place: Place) -> None:
    with OpenAiServer(api_key=KEY) as server:
        profile = place.servers.save(new(server.address), None)
        with pytest.raises(ServerRefused) as caught:
            place.servers.test(profile)
        assert "HEARTH_KEY_TEAM" in caught.value.terminal
        assert "--key-stdin" in caught.value.terminal
        with pytest.raises(ServerRefused, match="HEARTH_KEY_TEAM"):
            ask_at(place, profile)


Find = Callable[[str], ServerProfile]


def test_a_server_is_found_by_its_name(place: Place) -> None:
    profile = place.servers.save(new("127.0.0.1:8000"), None)
    assert place.servers.find("TEAM") == profile
    assert profile.address == "http://127.0.0.1:8000"
    changed = place.servers.save(replace(profile, name="Others"), None)
    assert place.servers.list() == (changed,)
