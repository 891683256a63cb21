"""Storing secrets with a keyring, without one, and with one that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null
from keyring.errors import KeyringLocked, PasswordDeleteError

from app.base.errors import KeyringBroken
from app.base.secret import Secret
from app.base.secrets import SERVICE, Secrets

TOKEN = "hf_abcdefgh"


class Ring(KeyringBackend):
    """A keyring in this process, chosen only by the tests."""

    priority = 5.0
    viable = False

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.held: dict[tuple[str, str], str] = {}
        self.locked = False
        self.asked = 0

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        self._check()
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check(password)
        self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._check()
        if (service, username) not in self.held:
            raise PasswordDeleteError("no such password")
        del self.held[service, username]

    def _check(self, quoted: str = "") -> None:
        if self.locked:
            raise KeyringLocked(f"cannot keep {quoted}")


def chosen(backend: KeyringBackend) -> Iterator[KeyringBackend]:
    before = keyring.get_keyring()
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(before)


@pytest.fixture
def ring() -> Iterator[Ring]:
    backend = Ring()
    for _ in chosen(backend):
        yield backend


@pytest.fixture(params=[fail.Keyring, null.Keyring])
def no_ring(request: pytest.FixtureRequest) -> Iterator[KeyringBackend]:
    yield from chosen(request.param())


def test_a_secret_is_in_the_keyring_and_found_by_the_next_run(ring: Ring) -> None:
    status = Secrets().set("hf", Secret(TOKEN))
    assert (status.present, status.place, status.warning) == (True, "keyring", None)
    assert ring.held == {(SERVICE, "hf"): TOKEN}
    next_run = Secrets()
    found = next_run.get("hf")
    assert found is not None
    assert found.reveal() == TOKEN
    assert next_run.status("hf").place == "keyring"


def test_the_keyring_is_asked_once_in_a_run(ring: Ring) -> None:
    secrets = Secrets()
    for _ in range(3):
        assert secrets.get("hf") is None
    assert ring.asked == 1


def test_clearing_takes_it_out_of_the_keyring(ring: Ring) -> None:
    secrets = Secrets()
    secrets.set("hf", Secret(TOKEN))
    status = secrets.clear("hf")
    assert (status.present, status.place) == (False, "none")
    assert ring.held == {}
    assert secrets.clear("hf").present is False, "nothing to clear is no error"


@pytest.mark.usefixtures("no_ring")
def test_without_a_keyring_it_is_in_memory_and_says_so() -> None:
    secrets = Secrets()
    status = secrets.set("hf", Secret(TOKEN))
    assert (status.present, status.place) == (True, "memory")
    assert status.warning is not None
    assert "forgotten when Hearth ends" in status.warning
    assert secrets.status("hf") == status
    assert Secrets().get("hf") is None
    assert secrets.clear("hf").place == "none"


def test_the_environment_wins_and_is_never_written(
    ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", " hf_environment\n")
    secrets = Secrets()
    found = secrets.get("hf")
    assert found is not None
    assert found.reveal() == "hf_environment"
    assert secrets.status("hf").place == "environment"
    assert (ring.held, ring.asked) == ({}, 0)
    status = secrets.set("hf", Secret(TOKEN))
    assert status.place == "keyring"
    assert "takes precedence" in str(status.warning)
    assert secrets.clear("hf").place == "environment"
    assert ring.held == {}


@pytest.mark.parametrize("verb", ["get", "status", "set", "clear"])
def test_a_locked_keyring_is_told_and_nothing_is_quoted(ring: Ring, verb: str) -> None:
    ring.locked = True
    secrets = Secrets()
    calls: dict[str, Callable[[], object]] = {
        "get": lambda: secrets.get("hf"),
        "status": lambda: secrets.status("hf"),
        "set": lambda: secrets.set("hf", Secret(TOKEN)),
        "clear": lambda: secrets.clear("hf"),
    }
    with pytest.raises(KeyringBroken) as caught:
        calls[verb]()
    assert "Unlock" in caught.value.do
    assert "KeyringLocked" in caught.value.why
    assert TOKEN not in str(caught.value)
    ring.locked = False
    assert secrets.get("hf") is None, "what was refused is not kept"


def test_a_broken_keyring_leaves_no_token_in_a_report(ring: Ring) -> None:
    from app.base.reports import describe

    ring.locked = True
    with pytest.raises(KeyringBroken) as caught:
        Secrets().set("hf", Secret(TOKEN))
    assert TOKEN not in describe(caught.value)


def test_a_secret_shows_nothing() -> None:
    secret = Secret(TOKEN)
    assert TOKEN not in f"{secret} {secret!r} {[secret]} {vars(Secrets())}"
    assert not hasattr(secret, "__dict__")
