"""A key in foreign text is replaced, in every form."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import EngineError
from engines.redaction import (
    HIDDEN,
    StreamRedactor,
    redact,
    redact_certain,
    redact_value,
    remember,
    remember_address,
    remember_environment,
)

KEY = "sk-Ab3/x+9'\"=zZ_77&qwertyuiop"


@pytest.mark.parametrize(
    "said",
    [
        KEY,
        f"Bearer {KEY}.",
        json.dumps({"a": KEY}),
        json.dumps(json.dumps([KEY])),
        json.dumps(KEY).replace("/", "\\/"),
        "".join(f"\\u{ord(it):04X}" for it in KEY),
        quote(KEY, safe=""),
        quote_plus(KEY).lower(),
        KEY.upper(),
        KEY.replace("&", "&amp;").replace('"', "&quot;").replace("'", "&#39;"),
        KEY.encode().hex(),
        *(base64.b64encode(b"user:abc"[:at] + KEY.encode()).decode() for at in range(4)),
        base64.urlsafe_b64encode(b"it is " + KEY.encode()).decode(),
    ],
)
def test_a_secret_is_hidden_in_whatever_form(said: str) -> None:
    remember(KEY)
    hidden = redact(said)
    assert HIDDEN in hidden
    assert not any(KEY[at : at + 8] in hidden for at in range(len(KEY) - 8))
    assert len(hidden) < len(said) or said == KEY


@given(st.lists(st.integers(0, 60), max_size=8))
def test_a_secret_is_hidden_however_a_stream_is_cut(cuts: list[int]) -> None:
    remember(KEY)
    text = f"It is {KEY}, I think."
    at = sorted({0, len(text), *(min(it, len(text)) for it in cuts)})
    stream = StreamRedactor()
    pieces = [stream.feed(text[a:b]) for a, b in pairwise(at)]
    assert "".join(pieces) + stream.finish() == f"It is {HIDDEN}, I think."


def test_most_of_a_secret_is_no_less_one() -> None:
    remember(KEY)
    stream = StreamRedactor()
    assert stream.feed(f"It is {KEY[:-1]}") + stream.finish() == f"It is {HIDDEN}"


def test_a_text_without_a_secret_is_whole() -> None:
    remember(KEY)
    stream = StreamRedactor()
    assert stream.feed("as") + stream.feed("k s") + stream.finish() == "ask s"


def test_a_word_that_is_somebody_s_key_stays_in_texts_of_our_own() -> None:
    for word in ("Hearth", "password", "lm-studio"):
        remember(word)
    assert (
        redact_certain("Hearth asks LM-Studio for a password")
        == "Hearth asks LM-Studio for a password"
    )
    assert redact("it says lm-studio") == f"it says {HIDDEN}"


def test_every_error_is_without_secrets() -> None:
    remember("hf_0123456789")
    error = EngineError("hf_0123456789 is wrong", "hf_0123456789", "not hf_0123456789")
    assert "0123" not in f"{error} {error.what} {error.why} {error.do}"


def test_values_are_hidden_within_values() -> None:
    remember("hf_0123456789")
    value = {"hf_0123456789": ["hf_0123456789", 1, None, {"a": "b"}]}
    assert redact_value(value) == {HIDDEN: [HIDDEN, 1, None, {"a": "b"}]}


def test_the_environment_and_addresses_hold_secrets() -> None:
    remember_environment(
        {
            "HEARTH_KEY_OFFICE": "office-key-1",
            "HF_TOKEN": "hf_token_22",
            "https_proxy": "http://name:proxy%2Fword3@proxy:3128",
            "PIP_EXTRA_INDEX_URL": "https://a:index-word4@one/simple https://b:other-word5@two/",
            "PATH": "/usr/bin/some-7",
        }
    )
    remember_address("name:plain-word6@proxy:1")
    for secret in (
        "office-key-1",
        "hf_token_22",
        "proxy/word3",
        "proxy%2Fword3",
        "index-word4",
        "other-word5",
        "plain-word6",
    ):
        assert redact(f"a {secret} b") == f"a {HIDDEN} b"
    assert redact("/usr/bin/some-7") == "/usr/bin/some-7"
