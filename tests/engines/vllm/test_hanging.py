"""A worker that hangs in the middle of an answer is ended, and the next answer has a new one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.net.server_client import socket_client
from engines.cancel import CancelToken
from engines.types import Done, Event
from engines.vllm.engine import VllmEngine
from engines.vllm.failures import Hung
from tests.engines.vllm.faked import (
    MACHINE,
    SHORT_GRACE_S,
    answer,
    behave,
    gone,
    load,
    make_fake,
    members,
    question,
    text_of,
)

# httpcore2 does not close a local socket if nothing listens at its other end.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket.*family=1:ResourceWarning")


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    return tmp_path / "env"


@pytest.fixture
def engine(fake: Path, tmp_path: Path) -> Iterator[VllmEngine]:
    """Make an engine that waits for a moment instead of a minute."""
    installed = make_fake(fake, token_s=30.0)
    engine = VllmEngine(
        lambda: installed,
        tmp_path / "engine",
        lambda where, _: socket_client(Path(where)),
        lambda: MACHINE,
        hang_s=1.5,
        grace_s=SHORT_GRACE_S,
    )
    yield engine
    engine.close()


def test_a_worker_that_hangs_is_ended_and_what_it_said_is_kept(
    engine: VllmEngine, fake: Path
) -> None:
    load(engine)
    worker = engine.worker
    assert worker is not None
    everything = members(worker.guardian)
    said: list[Event] = []
    with pytest.raises(Hung, match="stopped responding") as caught:
        said.extend(engine.chat(question(), CancelToken()))
    assert text_of(said) == " word0"
    assert "Ask again" in caught.value.do
    assert gone(everything)
    behave(fake)
    assert answer(engine).startswith(" word0 word1")


def test_who_stops_a_hanging_worker_s_answer_has_stopped_it(engine: VllmEngine) -> None:
    load(engine)
    cancel = CancelToken()
    said: list[Event] = []
    for event in engine.chat(question(), cancel):
        said.append(event)
        cancel.cancel()
    assert isinstance(said[-1], Done)
    assert said[-1].finish_reason == "cancelled"


def test_what_is_slow_but_computes_does_not_hang(engine: VllmEngine, fake: Path) -> None:
    behave(fake, token_s=2.5, busy=True)
    load(engine)
    assert len(answer(engine, max_tokens=2).split()) == 2


def test_what_says_something_now_and_then_does_not_hang(engine: VllmEngine, fake: Path) -> None:
    behave(fake, token_s=0.2)
    load(engine)
    assert len(answer(engine, max_tokens=12).split()) == 12
