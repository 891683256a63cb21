"""Extracting a title from a model's answer."""

from __future__ import annotations

import pytest

from app.chats.history.values.titles import title_in, title_request


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Baking Bread", "Baking Bread"),
        ('\n "Baking Bread."\n', "Baking Bread"),
        ("**Title: Baking Bread**", "Baking Bread"),
        ("# Brot backen", "Brot backen"),
        ("Titel: „Brot backen“", "Brot backen"),
        ("标题\uff1a「做面包」", "做面包"),
        ("Sort a list in O(n)", "Sort a list in O(n)"),
        ("What is a token?", "What is a token?"),
    ],
)
def test_a_title_is_cleaned(said: str, title: str) -> None:
    assert title_in(said, finished=True) == title


@pytest.mark.parametrize(
    "said",
    [
        "",
        " \n ",
        "…",
        '""',
        "<think>Baking</think>",
        "Sure, here is a title for the conversation that you had with me: bread",
        "x" * 61,
        "See https://example.com",
        '{"title": "Bread"}',
        "Bread\0",
    ],
)
def test_what_is_no_title_is_none(said: str) -> None:
    assert title_in(said, finished=True) is None


def test_a_line_that_was_cut_off_is_none() -> None:
    assert title_in("Baking Bread and", finished=False) is None
    assert title_in("Baking Bread\nIt", finished=False) == "Baking Bread"


def test_the_request_belongs_to_no_chat_and_is_short() -> None:
    request = title_request("q" * 10_000, "a" * 10_000, "off")
    assert (request.chat, request.thinking, request.mtp) == (None, False, "off")
    (message,) = request.messages
    assert len(message.text) < 1500
