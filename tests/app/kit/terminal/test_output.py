"""Printing to a terminal and into a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from app.base.language import use_language
from app.kit.terminal.output import Output, labelled, size, table
from engines.sentences import N_, joined

ORDERS = "Begun \x1b[2J\x1b]52;c;aGk=\x07\x9b31m\r\tend\n"


def test_a_text_gives_no_orders_to_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    Output().piece(ORDERS)
    Output().value(None, lambda: ORDERS)
    shown = capsys.readouterr().out
    assert not set(shown) & set("\x1b\x07\x9b\r")
    assert "\tend\n" in shown


def test_into_a_file_goes_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    Output().piece(ORDERS)
    assert capsys.readouterr().out == ORDERS


@pytest.fixture
def german() -> Iterator[None]:
    use_language("de")
    yield
    use_language("en")


def test_a_table_is_in_the_users_language_and_names_stay(german: None) -> None:
    rows = table([("memory", size(1.5e9), N_("paused"))], ("Model", "Memory", "Result"))
    assert rows.splitlines() == [
        "Modell  Speicher  Ergebnis",
        "memory  1,5 GB    angehalten",
    ]


def test_labels_are_translated_before_they_are_aligned(german: None) -> None:
    rows = labelled([("Memory", size(2e6)), ("Id", "memory")])
    assert rows == "Speicher  2,0 MB\nKennung   memory"


def test_a_single_word_that_is_not_marked_is_a_value(
    german: None, capsys: pytest.CaptureFixture[str]
) -> None:
    Output().value(None, lambda: "memory")
    Output().value(None, lambda: joined(", ", ("memory", N_("paused"))))
    assert capsys.readouterr().out == "memory\nmemory, angehalten\n"
