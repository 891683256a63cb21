"""Chats at the same time on a worker in its own process: a fake one, and the real vLLM."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.models.library.values.entry import STARTER_CHECKPOINT
from engines.vllm.engine import VllmEngine
from engines.vllm.provision.home import EngineHome
from tests.engines.vllm.faked import SHORT_GRACE_S, make_engine, make_fake
from tests.support.desks import Desk, a_desk
from tests.support.houses import a_house

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux only"),
    pytest.mark.filterwarnings("ignore:unclosed <socket.*family=1:ResourceWarning"),
]
MINUTES_MS = 300_000
ENDLESS = "root ::= [a-z ] root"
"""A grammar for an answer that ends only by a stop or a full context, so that two overlap."""


@pytest.fixture
def go(tmp_path: Path) -> Path:
    """Return the path of a file: until it exists, answers pause after their first word."""
    return tmp_path / "fake" / "go"


@pytest.fixture
def engine(tmp_path: Path, go: Path) -> VllmEngine:
    return make_engine(make_fake(go.parent, pauses=True), tmp_path / "vllm", grace_s=SHORT_GRACE_S)


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path, engine: VllmEngine) -> Iterator[Desk]:
    with a_house(tmp_path, engine) as house, a_desk(house, qtbot, tmp_path) as made:
        yield made


def test_two_are_written_and_one_that_is_stopped_is_alone_in_it(desk: Desk, go: Path) -> None:
    one, two = desk.ask(STARTER_CHECKPOINT), desk.ask(STARTER_CHECKPOINT)
    desk.until_text(one, two)
    desk.generation.stop_answer(one)
    desk.until_ended(one)
    assert two not in desk.ended
    go.touch()
    desk.until_ended(two)
    assert (desk.saved(one).state, desk.saved(two).state) == ("stopped", "complete")
    assert desk.saved(two).text == desk.text[two]


def test_after_a_kill_both_conversations_go_on_with_one_restart(
    desk: Desk, engine: VllmEngine, go: Path
) -> None:
    both = desk.ask(STARTER_CHECKPOINT), desk.ask(STARTER_CHECKPOINT)
    desk.until_text(*both)
    killed = engine.worker
    assert killed is not None
    os.kill(killed.session, signal.SIGKILL)
    desk.until_ended(*both)
    for it in both:
        assert (desk.saved(it).state, desk.saved(it).text) == ("failed", desk.text[it])
    go.touch()
    more = [desk.ask(STARTER_CHECKPOINT, "Go on", desk.chat_of(it)) for it in both]
    desk.until_text(*more)
    assert engine.worker is not killed
    fresh = engine.worker
    desk.until_ended(*more)
    assert [desk.saved(it).state for it in more] == ["complete", "complete"]
    assert engine.worker is fresh
    assert len(engine._crashes) == 1


@pytest.mark.vllm
def test_two_chats_at_the_same_time_on_a_real_vllm(qtbot: QtBot, tmp_path: Path) -> None:
    home = os.environ.get("HEARTH_VLLM_HOME", "")
    installed = EngineHome(Path(home)).current() if home else None
    if installed is None:
        pytest.skip("HEARTH_VLLM_HOME names no installed vLLM")
    engine = make_engine(installed, tmp_path / "vllm", silent_s=300)
    with a_house(tmp_path, engine) as house, a_desk(house, qtbot, tmp_path) as desk:
        both = [desk.ask(STARTER_CHECKPOINT, grammar=ENDLESS) for _ in range(2)]
        desk.until(lambda: all(desk.text.get(it) for it in both), MINUTES_MS)
        assert not desk.ended, "one after the other"
        for it in both:
            desk.generation.stop_answer(it)
        desk.until(lambda: all(it in desk.ended for it in both), MINUTES_MS)
        for it in both:
            assert (desk.saved(it).state, desk.saved(it).text) == ("stopped", desk.text[it])
            assert re.fullmatch("[a-z ]+", desk.text[it])
        more = desk.ask(STARTER_CHECKPOINT, "What is a token?", desk.chat_of(both[0]))
        desk.until(lambda: more in desk.ended, MINUTES_MS)
        assert (desk.saved(more).state, desk.saved(more).text) == ("complete", desk.text[more])
