"""Recorded requests of real agents in a task of twenty turns, replayed against the server.

`tests/support/agents/record.py` runs the agents and replaces their longer texts.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.agents.leading import LeadingEngine, shell_of
from tests.support.agents.record import AGENTS, RECORDED, TURNS
from tests.support.services import make_services
from tests.support.serving import Served, serving

Asked = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with make_services(tmp_path, LeadingEngine(TURNS)) as services, serving(services) as served:
        yield served


@pytest.fixture(params=AGENTS)
def recorded(request: pytest.FixtureRequest) -> Asked:
    file = RECORDED / f"{request.param}.json.xz"
    return [(path, body) for path, body in json.loads(lzma.decompress(file.read_bytes()))]


def test_each_turn_is_answered_with_the_next_command(served: Served, recorded: Asked) -> None:
    for path, body in recorded:
        answer = served.post(path, body)
        assert answer.status_code == 200, answer.text
        assert "error" not in answer.text.split("data: ")[-2]
    turns = [it for it in served.engine.requests if shell_of(it)]
    assert len(turns) == TURNS + 1
    results = [it.text for it in turns[-1].messages if it.role == "tool"]
    assert len(results) == TURNS
    assert all(f"step {number}" in text for number, text in enumerate(results))


def test_a_turn_only_adds_to_what_was_told_before(served: Served, recorded: Asked) -> None:
    """Nothing at the front of a prompt changes from turn to turn, so it is evaluated only once."""
    for path, body in recorded:
        served.post(path, body)
    turns = [it for it in served.engine.requests if shell_of(it)]
    assert len({it.chat for it in turns}) == 1, "it is one conversation"
    for before, after in pairwise(turns):
        assert after.tools == before.tools
        assert after.messages[: len(before.messages)] == before.messages
