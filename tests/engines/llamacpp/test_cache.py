"""The KV cache evaluates little again and answers like an empty one, for each kind of memory.

The models have random weights, or a few million trained ones; each keeps its past in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from engines.llamacpp.cache import Cut, best_cut
from engines.llamacpp.context import ABORTED, AbortFlag
from engines.llamacpp.resume.native_state import NativeState
from tests.engines.llamacpp.opened import Opened
from tests.engines.llamacpp.random_models import STARTER, write_random_llama, write_random_mamba
from tests.support.mtp_models import write_qwen

Open = Callable[..., Opened]
NOISE = 0.05
"""The largest difference of logits between batch sizes, in standard deviations."""
KINDS = ["plain", "window", "recurrent", "hybrid"]


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("kinds")
    return {
        "plain": write_random_llama(folder / "plain.gguf"),
        "window": STARTER,
        "recurrent": write_random_mamba(folder / "recurrent.gguf"),
        "hybrid": write_qwen(folder / "hybrid.gguf"),
    }


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def start(models: dict[str, Path], kind: str) -> Iterator[Open]:
    """Return a function that opens the model as a new process would.

    start(states=folder, memory=...)
    """
    started: list[Opened] = []

    def make(**given: object) -> Opened:
        started.append(Opened(models[kind], **given))  # type: ignore[arg-type]
        return started[-1]

    yield make
    for opened in started:
        opened.close()


def answers_as_cold(opened: Opened, start: Open, prompt: list[int], chat: str = "chat") -> bool:
    """Return whether tokens and logits are those of a cache that was empty before.

    A trained model may find the right token even with half of its window missing, so the logits
    have to agree as closely as other batch sizes allow. If they do and the tokens differ, two
    tokens were equally likely, and from there on the answers continue different texts.
    """
    answer = opened.answer(prompt, chat)
    cold = start(memory=0)
    expected = cold.answer(prompt)
    for token, other, row, cold_row in zip(answer, expected, opened.rows, cold.rows, strict=True):
        if np.abs(row - cold_row).max() > NOISE * cold_row.std():
            return False
        if token != other:
            break
    return True


def test_a_chat_that_was_left_and_comes_back_goes_on(start: Open, kind: str) -> None:
    opened = start()
    one, other = opened.words(700, seed=1), opened.words(300, seed=2)
    one += opened.answer(one, "one")
    opened.answer(other, "other")
    assert opened.evaluated == len(other)
    one += opened.words(20, seed=3)
    assert answers_as_cold(opened, start, one, "one")
    assert opened.evaluated == 21, "the last token of the answer was drawn, but not evaluated"
    other += opened.words(5, seed=4)
    assert answers_as_cold(opened, start, other, "other")
    assert opened.evaluated == (5 if kind == "plain" else 6), "the checkpoint is one token back"


def test_an_answer_is_asked_for_again(start: Open) -> None:
    opened = start()
    prompt = opened.words(600, seed=1)
    first = opened.answer(prompt, "chat", count=40)
    assert opened.answer(prompt, "chat", count=40) == first
    assert opened.evaluated == 1


def test_an_early_message_is_changed(start: Open, kind: str) -> None:
    opened = start()
    turns = opened.words(320, seed=1)
    opened.answer(turns, "chat")
    held = list(opened.cache.tokens)
    long = held + opened.words(500, seed=2)
    before = opened.answer(long, "chat")
    edited = held[:300] + opened.words(200, seed=3)
    assert answers_as_cold(opened, start, edited)
    # If it cannot roll back, it continues from a checkpoint, and there is one per batch.
    assert opened.evaluated <= 200 + (0 if kind == "plain" else opened.context.batch_size)
    assert opened.answer(long, "chat") == before, "the first version is still there"
    assert opened.evaluated == 1


def test_no_checkpoint_of_what_was_changed_is_used(start: Open) -> None:
    opened = start()
    prompt = opened.words(600, seed=1)
    opened.answer(prompt, "chat")
    edited = [*prompt[:300], *opened.words(300, seed=2)]
    assert answers_as_cold(opened, start, edited)
    assert answers_as_cold(opened, start, edited)
    assert opened.evaluated == 1


def test_a_chat_goes_on_after_a_restart(start: Open, tmp_path: Path) -> None:
    opened = start(states=tmp_path / "states")
    one, other = opened.words(700, seed=1), opened.words(300, seed=2)
    one += opened.answer(one, "one")
    opened.answer(other, "other")
    opened.cache.save_to_disk()
    opened.close()
    one += opened.words(20, seed=3)
    again = start(states=tmp_path / "states")
    assert answers_as_cold(again, start, one, "one")
    assert again.evaluated == 21
    assert answers_as_cold(again, start, one, "one")
    assert again.evaluated == 1
    assert answers_as_cold(again, start, other, "other")
    assert again.evaluated == 1


def test_a_restart_in_the_middle_of_an_edit(start: Open, tmp_path: Path, kind: str) -> None:
    opened = start(states=tmp_path / "states")
    prompt = opened.words(640, seed=1)
    opened.answer(prompt, "chat")
    opened.cache.save_to_disk()
    edited = prompt[:500] + opened.words(40, seed=2)
    again = start(states=tmp_path / "states")
    assert answers_as_cold(again, start, edited)
    assert again.evaluated <= 40 + (0 if kind == "plain" else again.context.batch_size)


def test_an_evaluation_that_was_cut_off_leaves_nothing_wrong(start: Open, kind: str) -> None:
    opened = start()
    prompt = opened.words(400, seed=1)
    opened.answer(prompt, "chat")
    held = len(opened.cache.tokens)
    flag = AbortFlag()
    opened.context.watch(flag)
    flag.set()
    tried = opened.words(30, seed=2)
    assert opened.context.evaluate(tried, held, outputs=1) == ABORTED
    opened.cache.recover(tried, held)
    opened.context.watch(AbortFlag())
    longer = [*prompt, *opened.words(30, seed=3)]
    assert answers_as_cold(opened, start, longer)
    assert opened.evaluated == 30 + (kind in {"recurrent", "hybrid"})


def test_how_a_chat_was_spelled_is_known_wherever_it_is(start: Open, tmp_path: Path) -> None:
    opened = start(states=tmp_path / "states")
    prompt = opened.words(100, seed=1)
    whole = [*prompt, *opened.answer(prompt, "chat")]
    opened.cache.expect(whole)
    assert opened.cache.known("chat") == [whole]
    assert opened.cache.tokens == whole[:-1]
    opened.answer(opened.words(100, seed=2), None)
    assert opened.cache.known("chat") == [whole]
    assert opened.cache.known(None) == [opened.cache.tokens]
    opened.cache.save_to_disk()
    again = start(states=tmp_path / "states")
    assert again.cache.known("chat") == [whole]
    again.cache.expect(whole)
    assert again.cache.known(None) == [whole], "nothing held is the beginning of everything"
    assert again.cache.known("another chat") == []


def test_drafts_that_nobody_verified_do_not_stay(start: Open) -> None:
    opened = start()
    prompt = opened.words(100, seed=1)
    opened.answer(prompt, "chat", count=1)
    assert opened.context.evaluate(prompt[:3], 100, outputs=1) == 0
    opened.cache.recover(prompt[:3], 101)
    assert len(opened.cache.tokens) <= 101
    prompt += opened.words(30, seed=2)
    assert answers_as_cold(opened, start, prompt)


def test_drafts_that_were_taken_back_are_not_in_what_is_kept(start: Open, tmp_path: Path) -> None:
    opened = start(states=tmp_path / "states")
    prompt = opened.words(600, seed=1)
    opened.answer(prompt, "chat", count=8)
    for seed in (2, 3):
        held = len(opened.cache.tokens)
        opened.cache.mark()
        opened.evaluate(opened.words(4, seed=seed), outputs=4)
        if repeated := opened.cache.roll_back(held + 1):
            assert opened.context.marks
            opened.evaluate(repeated, outputs=1)
        assert len(opened.cache.tokens) == held + 1
    opened.cache.save_snapshot()
    prompt = [*opened.cache.tokens, *opened.words(20, seed=4)]
    opened.answer(opened.words(300, seed=5), "another chat")
    assert answers_as_cold(opened, start, prompt)
    assert opened.evaluated == 20
    opened.cache.save_to_disk()
    again = start(states=tmp_path / "states")
    assert answers_as_cold(again, start, prompt)
    assert again.evaluated == 1


def test_older_versions_of_a_chat_stay_in_memory_and_off_the_disk(
    start: Open, tmp_path: Path, kind: str
) -> None:
    opened = start(states=tmp_path / "states")
    prompt = opened.words(300, seed=1)
    opened.answer(prompt, "chat")
    size = opened.cache.size_bytes
    opened.close()
    opened = start(states=tmp_path / "states", memory=size * (2 if kind == "plain" else 4))
    for seed in range(2, 6):
        opened.answer([*prompt[:150], *opened.words(150, seed=seed)], "chat")
    assert not list((tmp_path / "states").glob("*"))
    assert 1 <= len(opened.cache.states.in_memory) < 3, "of three older versions"
    opened.answer(opened.words(300, seed=9), "another chat")
    opened.cache.save_to_disk()
    chats = {path.name[:24] for path in (tmp_path / "states").iterdir()}
    assert len(chats) == 2


def test_a_chat_in_memory_of_which_only_the_beginning_is_used_stays_there(start: Open) -> None:
    opened = start()
    prompt, other = opened.words(600, seed=1), opened.words(300, seed=2)
    opened.answer(prompt, "chat")
    opened.answer(other, "other")
    opened.answer([*prompt[:200], *opened.words(50, seed=3)], "chat")
    opened.answer(prompt, "chat")
    assert opened.evaluated == 1
    chats = [record.chat for record in opened.cache.states.in_memory]
    assert sorted(map(str, chats)) == ["chat", "other"], "what is live is not kept twice"


def test_changes_of_a_chat_too_large_for_memory_are_not_written_each_time(
    start: Open, tmp_path: Path
) -> None:
    opened = start(memory=1000, states=tmp_path / "states")
    for seed in (1, 2, 3):
        opened.answer(opened.words(200, seed=seed), "chat")
    assert not list((tmp_path / "states").glob("*"))
    opened.answer(opened.words(200, seed=4), "another chat")
    assert len(list((tmp_path / "states").glob("*"))) == 1


def test_a_small_memory_keeps_what_fits_and_the_disk_takes_the_rest(
    start: Open, tmp_path: Path
) -> None:
    opened = start(memory=1000, states=tmp_path / "states")
    prompts = [opened.words(200, seed=seed) for seed in range(3)]
    answers = [opened.answer(prompt, str(at)) for at, prompt in enumerate(prompts)]
    assert not opened.cache.states.in_memory
    longer = [*prompts[0], *answers[0], 7, 8, 9]
    assert answers_as_cold(opened, start, longer, "0")
    assert opened.evaluated == 4


def test_what_llama_cpp_does_not_take_back_is_not_kept_for_another_time(
    start: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = start()
    one, other = opened.words(300, seed=1), opened.words(300, seed=2)
    answer = opened.answer(one, "one")
    opened.answer(other, "other")
    with monkeypatch.context() as patched:
        patched.setattr(NativeState, "write", lambda *_, **__: False)
        assert opened.answer(one, "one") == answer
    assert opened.evaluated == len(one)
    assert [record.chat for record in opened.cache.states.in_memory] == ["other"]


def test_without_memory_and_disk_only_the_live_sequence_is_there(start: Open) -> None:
    opened = start(memory=0)
    one, other = opened.words(300, seed=1), opened.words(300, seed=2)
    opened.answer(one, "one")
    opened.answer(other, "other")
    assert answers_as_cold(opened, start, one, "one")
    assert opened.evaluated == len(one)


@pytest.mark.parametrize(
    ("checkpoints", "first", "recurrent", "expected"),
    [
        ([], 0, False, Cut(6)),
        ([2, 5], 0, False, Cut(6)),
        ([2, 5], 5, False, Cut(5, from_snapshot=True)),
        ([2, 7], 7, True, Cut(2, from_snapshot=True)),
        ([7], 7, True, Cut(0)),
        ([], 7, True, Cut(0)),
    ],
)
def test_a_checkpoint_is_used_where_the_cache_does_not_go_back(
    checkpoints: list[int], first: int, recurrent: bool, expected: Cut
) -> None:
    found = best_cut(
        b"abcdefgh",
        b"abcdefX",
        checkpoints,
        first_position=first,
        sliding_window=4,
        recurrent=recurrent,
    )
    assert found == expected
