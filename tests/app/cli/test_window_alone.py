"""A start of the window reads its few words without the whole command line."""

from __future__ import annotations

import pytest

from app.cli.main import _window_alone
from app.cli.parser import build_parser


@pytest.mark.parametrize(
    "words", [[], ["--offline"], ["--data-dir", "a b"], ["--offline", "--data-dir", "x"]]
)
def test_it_makes_the_same_of_them(words: list[str]) -> None:
    alone = _window_alone(words)
    assert alone is not None
    parsed = build_parser().parse_args(words)
    assert alone.data_dir == getattr(parsed, "data_dir", None)
    assert alone.offline == getattr(parsed, "offline", False)
    assert (parsed.command, parsed.quick_ask) == (None, False)


@pytest.mark.parametrize(
    "words", [["ask"], ["--json"], ["--data-dir"], ["--data-dir", "--offline"]]
)
def test_all_else_is_left_to_the_parser(words: list[str]) -> None:
    assert _window_alone(words) is None
