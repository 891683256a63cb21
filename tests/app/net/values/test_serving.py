"""The address, the allowed callers and other texts in the settings of the server."""

from __future__ import annotations

import pytest

from app.api.values import OTHER_ENDPOINT, endpoint_of
from app.base.errors import SettingsInvalid
from app.net.values.serving import Address, parse_aliases, parse_names, parse_sites


@pytest.mark.parametrize(
    ("host", "url", "loopback"),
    [
        ("127.0.0.1", "http://127.0.0.1:80", True),
        ("127.9.9.9", "http://127.9.9.9:80", True),
        ("localhost", "http://localhost:80", True),
        ("::1", "http://[::1]:80", True),
        ("0.0.0.0", "http://127.0.0.1:80", False),
        ("::", "http://[::1]:80", False),
        ("192.168.1.20", "http://192.168.1.20:80", False),
    ],
)
def test_an_address_says_where_and_for_whom(host: str, url: str, loopback: bool) -> None:
    address = Address(host, 80)
    assert (address.url(), address.is_loopback) == (url, loopback)


def test_sites_are_written_as_browsers_do() -> None:
    text = "https://Chat.example/\n\n http://localhost:3000 \nhttps://a.example:443"
    assert parse_sites(text) == (
        "https://chat.example", "http://localhost:3000", "https://a.example",
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["*", "chat.example", "null", "https://", "https://a.example/page", "file:///x", "http://a:b"],
)
def test_what_is_no_site_is_refused(text: str) -> None:
    with pytest.raises(SettingsInvalid):
        parse_sites(text)


def test_names_and_aliases_are_read_line_by_line() -> None:
    assert parse_names("Box.local\n\nbox\n") == ("box.local", "box")
    assert parse_aliases("gpt-4o = starter\nmine=repo:Q4_K_M\n") == {
        "gpt-4o": "starter", "mine": "repo:Q4_K_M",
    }  # fmt: skip
    for text in ("http://box", "box:80", "two words", "böx"):
        with pytest.raises(SettingsInvalid):
            parse_names(text)
    for text in ("gpt-4o", "= starter", "gpt-4o =", "a = b\na = c"):
        with pytest.raises(SettingsInvalid):
            parse_aliases(text)


def test_of_a_path_only_the_endpoint_is_kept() -> None:
    assert endpoint_of("/v1/messages/count_tokens") == "/v1/messages/count_tokens"
    assert endpoint_of("/v1/messages") == "/v1/messages"
    assert endpoint_of("/v1/models/some/model") == "/v1/models"
    assert endpoint_of("/rerank") == "/rerank"
    assert endpoint_of("/v1/modelsecret") == OTHER_ENDPOINT
