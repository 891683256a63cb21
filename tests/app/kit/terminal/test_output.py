"""What is printed at a terminal, and into a file."""

from __future__ import annotations

import sys

import pytest

from app.kit.terminal.output import Output

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
