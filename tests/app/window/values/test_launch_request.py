"""The request that a second start sends to the first."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.window.values.launch_request import LaunchRequest


@pytest.mark.parametrize(
    "sent",
    [
        LaunchRequest(),
        LaunchRequest(quick_ask=True),
        LaunchRequest(files=(Path("/a b/ü\n.gguf"), Path("/c"))),
        LaunchRequest(link="hearth://model/a/b\n"),
    ],
)
def test_a_request_arrives_as_it_was_sent(sent: LaunchRequest) -> None:
    line = sent.to_line()
    assert line.count(b"\n") == 1
    assert LaunchRequest.from_line(line) == sent


@pytest.mark.parametrize("line", [b"", b"show\n", b"[]", b'{"files": 3, "quick_ask": 1}', b"\xff"])
def test_what_cannot_be_read_only_shows_the_window(line: bytes) -> None:
    assert LaunchRequest.from_line(line) == LaunchRequest()
