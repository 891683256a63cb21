"""Answers as they are printed."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, cast

import pytest

from app.chats.answers.values.answers import AnswerEvent
from app.chats.commands.printing import print_answer
from app.kit.terminal.output import Output
from engines.types import PromptProgress, TextDelta


def test_the_progress_of_reading_gives_way_to_the_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    monkeypatch.setattr(Output, "rewrite", lambda _, line: lines.append(line))

    def events() -> Generator[AnswerEvent, None, None]:
        yield PromptProgress(2100, 4800, 3.0)
        yield TextDelta("Hello")

    assert print_answer(cast("Any", None), events(), Output()) == 0
    assert lines == ["Reading 2,100 of 4,800 tokens", ""]
    assert capsys.readouterr().out == "Hello\n"
