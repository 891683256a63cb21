"""Tokens: tested before they are stored, stored untested when offline, and never shown."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import keyring
import pytest
from keyring.backends import fail

from app.base.errors import (
    AppError,
    KeyringBroken,
    NoSuchService,
    Offline,
    TokenMalformed,
)
from app.base.secrets import Secrets
from app.base.tokens import Tokens, checked
from tests.app.base.test_secrets import Ring

TOKEN = "hf_abcdefgh"


class Hub:
    """A stand-in for the Hub that knows one token."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.offline = False

    def account_of(self, token: str) -> str:
        self.asked.append(token)
        if self.offline:
            raise Offline("Hearth is offline.", "It was told so.", "Go on line.")
        if token != TOKEN:
            raise AppError("That token is not known.", "It has expired.", "Make a new one.")
        return "ada"


@pytest.fixture
def hub() -> Hub:
    return Hub()


@pytest.fixture
def ring() -> Iterator[Ring]:
    before = keyring.get_keyring()
    ring = Ring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def tokens(hub: Hub, ring: Ring) -> Tokens:
    return Tokens(Secrets(), hub.account_of)


def test_a_token_is_tested_and_kept(tokens: Tokens, hub: Hub) -> None:
    kept = tokens.save("hf", f"  {TOKEN}\n")
    assert (kept.account, kept.status.place, kept.why_untested) == ("ada", "keyring", None)
    assert hub.asked == [TOKEN]
    assert tokens.for_hub() == TOKEN
    assert tokens.status("hf").present
    assert not tokens.clear("hf").present
    assert tokens.for_hub() is None


def test_a_token_that_is_refused_is_not_kept(tokens: Tokens, ring: Ring) -> None:
    with pytest.raises(AppError, match="not known"):
        tokens.save("hf", "hf_wrong")
    assert ring.held == {}
    assert tokens.for_hub() is None


def test_a_token_may_be_kept_untested(tokens: Tokens, hub: Hub) -> None:
    kept = tokens.save("hf", "hf_wrong", test=False)
    assert (kept.account, hub.asked) == (None, [])
    assert tokens.for_hub() == "hf_wrong"


def test_offline_it_is_kept_untested_and_told(tokens: Tokens, hub: Hub) -> None:
    hub.offline = True
    kept = tokens.save("hf", TOKEN)
    assert kept.account is None
    assert "offline" in str(kept.why_untested)
    assert tokens.for_hub() == TOKEN


@pytest.mark.parametrize("text", ["", "  \n", "two words", "hf_\N{BULLET}", "hf_a\nb", "hf_\x7f"])
def test_what_is_no_token_is_refused_unasked(tokens: Tokens, hub: Hub, text: str) -> None:
    with pytest.raises(TokenMalformed) as caught:
        tokens.save("hf", text)
    assert hub.asked == []
    assert text.strip() == "" or text.strip() not in str(caught.value)


def test_a_malformed_token_of_the_environment_is_told(
    tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "two words")
    with pytest.raises(TokenMalformed, match="HF_TOKEN") as caught:
        tokens.for_hub()
    assert "two words" not in str(caught.value)


def test_another_service_is_unknown(tokens: Tokens) -> None:
    for call in (tokens.status, tokens.clear, lambda name: tokens.save(name, TOKEN)):
        with pytest.raises(NoSuchService, match="hf"):
            call("github")


def test_a_locked_keyring_does_not_stop_public_models(
    tokens: Tokens, ring: Ring, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    ring.locked = True
    assert [tokens.for_hub(), tokens.for_hub()] == [None, None]
    assert ring.asked == 1, "it opened its dialog twice"
    assert "without a token" in caplog.text
    with pytest.raises(KeyringBroken):
        tokens.status("hf")
    ring.locked = False
    ring.held["Hearth", "hf"] = TOKEN
    assert tokens.status("hf").present
    assert tokens.for_hub() == TOKEN


def test_without_a_keyring_it_holds_for_this_run(hub: Hub) -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())  # type: ignore[no-untyped-call]
    try:
        tokens = Tokens(Secrets(), hub.account_of)
        assert tokens.save("hf", TOKEN).status.place == "memory"
        assert tokens.for_hub() == TOKEN
    finally:
        keyring.set_keyring(before)


def test_checked_hides_what_it_checked() -> None:
    assert TOKEN not in repr(checked(TOKEN))
