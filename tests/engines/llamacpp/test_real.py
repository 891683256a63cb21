"""A trained model, for tests that a made one cannot pass."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

import run as setup
from engines.cancel import CancelToken
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.native import load_native
from engines.llamacpp.probe import Probe
from engines.llamacpp.sizing.child import size
from engines.models.gguf.header import read_header
from engines.repetition import ending_loops
from engines.types import ChatRequest, Done, LlamaPlan, Message, MtpMode
from tests.bench.llama_server import LlamaServer
from tests.engines.contract import GREEDY, ask, done_of, run, text_of
from tests.engines.llamacpp.sizing.test_exact import MIB, WAYS, loaded, measured
from tests.support.made_apart import without_layers
from tests.support.paths import ROOT
from tests.support.smollm2 import LEFT_OUT, QUESTIONS

pytestmark = [pytest.mark.smollm2, pytest.mark.timeout(300)]

CONTEXT: Final = 1024
SERVER: Final = ROOT / ".cache/bench/llama-server/build/bin" / f"llama-server{setup.EXE}"
"""The place where tests/bench/build_server.py builds it."""
IN_PARTS: Final = 256
"""The number of tokens from which threads share the attention of a single row.

They add it up in another order than rows that are evaluated together. One thread has one order.
"""
TIE: Final = 0.2
"""The largest distance of two tokens that this order may decide between.

It is measured in standard deviations of the logits. The order moved them by up to 0.16 in 104 rows
of code and prose.
"""


@pytest.fixture(scope="module")
def engine(smollm2: Path) -> Iterator[LlamaCppEngine]:
    engine = LlamaCppEngine(probe=Probe())
    engine.load(plan_of(smollm2), lambda _: None, CancelToken())
    yield engine
    engine.close()


def plan_of(model: Path, threads: int = 1) -> LlamaPlan:
    return LlamaPlan(model, CONTEXT, threads, threads, kept_bytes=0)


def asked(kind: str, tokens: int | None, mode: MtpMode = "off") -> ChatRequest:
    depth = 4 if mode == "on" else None
    message = Message("user", QUESTIONS[kind])
    return ChatRequest((message,), GREEDY, tokens, mtp=mode, depth=depth)


def afresh(engine: LlamaCppEngine, request: ChatRequest) -> tuple[list[int], list[int], str]:
    """Return the tokens of the prompt, the evaluated tokens of the answer, and its text."""
    cache = engine.chat_model.slots[0].cache
    cache.clear()
    prompt = engine.chat_model.prompter.write(request).tokens
    text = text_of(run(engine, request))
    return prompt, cache.tokens[len(prompt) :], text


def test_its_chat_template_writes_the_prompt(engine: LlamaCppEngine, smollm2: Path) -> None:
    assert read_header(smollm2).can == ("chat",)
    written = engine.chat_model.prompter.write(ask("Hello", "Hi there.", "Bye"))
    assert written.text == (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
        "<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\nHi there.<|im_end|>"
        "\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n"
    )
    vocabulary = engine.chat_model.model.vocabulary
    begins, ends = vocabulary.token_of("<|im_start|>"), vocabulary.token_of("<|im_end|>")
    assert [token for token in written.tokens if token in {begins, ends}] == [
        *[begins, ends] * 4, begins,
    ]  # fmt: skip
    named = engine.chat_model.prompter.write(ask("Hello", system="You are a pirate.")).text
    assert named.startswith("<|im_start|>system\nYou are a pirate.<|im_end|>\n")
    assert "SmolLM" not in named
    answered = run(engine, asked("copying", None))
    assert done_of(answered).finish_reason == "stop"
    assert "<|im" not in text_of(answered)


@pytest.mark.parametrize("kind", QUESTIONS)
def test_its_tokens_are_those_of_llama_server(
    engine: LlamaCppEngine, smollm2: Path, kind: str
) -> None:
    if not SERVER.exists():
        pytest.skip("there is no llama-server; tests/bench/build_server.py builds it")
    request = asked(kind, 64)
    prompt, tokens, _ = afresh(engine, request)
    libraries = load_native().folder
    with closing(LlamaServer(SERVER, plan_of(smollm2), 0, libraries)) as server:
        served = server.complete(prompt, GREEDY, 64)
    assert served.tokens[: len(tokens)] == tokens
    assert len(tokens) == 63, "the last is drawn and not evaluated"


@pytest.mark.parametrize("depth", [2, 8])
@pytest.mark.parametrize("kind", QUESTIONS)
def test_what_the_text_drafts_changes_no_token(
    engine: LlamaCppEngine, kind: str, depth: int
) -> None:
    check = engine.check_mtp(asked(kind, 160), depth, CancelToken())
    assert check.identical
    if kind in {"copying", "code", "circle"}:
        assert check.accepted > check.tokens // 4


@pytest.fixture(scope="module")
def shortened(smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return without_layers(smollm2, tmp_path_factory.mktemp("short") / "short.gguf", LEFT_OUT)


@pytest.mark.parametrize("depth", [2, 8])
def test_what_a_smaller_model_drafts_changes_no_token(
    smollm2: Path, shortened: Path, depth: int
) -> None:
    """The drafter is the model without some layers, so it is often wrong and often right."""
    plan = replace(plan_of(smollm2), drafter=shortened)
    with closing(LlamaCppEngine(probe=Probe())) as engine:
        engine.load(plan, lambda _: None, CancelToken())
        checks = [engine.check_mtp(asked(kind, 64), depth, CancelToken()) for kind in QUESTIONS]
    assert all(check.identical for check in checks)
    assert 20 < sum(check.accepted for check in checks) < sum(check.tokens for check in checks) / 2


def test_with_several_threads_answers_part_at_ties_alone(smollm2: Path) -> None:
    with closing(LlamaCppEngine(probe=Probe())) as engine:
        engine.load(plan_of(smollm2, threads=2), lambda _: None, CancelToken())
        for kind in QUESTIONS:
            check = engine.check_mtp(asked(kind, 160), 8, CancelToken())
            prompt, _, _ = afresh(engine, asked(kind, 1))
            if len(prompt) + check.tokens < IN_PARTS:
                assert check.identical
            assert check.identical or (check.gap is not None and check.gap < TIE)


@pytest.mark.parametrize("kind", ["copying", "code"])
def test_most_drafts_hold_where_it_copies(engine: LlamaCppEngine, kind: str) -> None:
    report = done_of(run(engine, asked(kind, None, "on"))).mtp
    assert report.kind == "lookup"
    assert report.accepted > 0.6 * report.drafted
    assert report.drafted > 60


@pytest.mark.parametrize("mode", ["off", "on"])
def test_what_goes_in_circles_ends_where_it_is_told_to(
    engine: LlamaCppEngine, mode: MtpMode
) -> None:
    endless = asked("circle", 200, mode)
    _, _, whole = afresh(engine, endless)
    again = whole[-40:]
    assert whole.count(again) > 3
    done = done_of(run(engine, endless))
    assert (done.finish_reason, done.usage.completion_tokens) == ("length", 200)
    stopped = run(engine, replace(endless, max_tokens=None, stop=(again,)))
    assert done_of(stopped).finish_reason == "stop"
    assert text_of(stopped) == whole[: whole.index(again)]
    full = done_of(run(engine, replace(endless, max_tokens=None)))
    assert full.finish_reason == "length"
    assert full.usage.prompt_tokens + full.usage.completion_tokens == CONTEXT + 1
    assert full.mtp.active is (mode == "on")
    assert full.mtp.accepted <= full.mtp.drafted
    if mode == "on":
        assert f"{round(100 * full.mtp.accepted / full.mtp.drafted)} %" in full.mtp.reason
        steps = full.usage.completion_tokens - full.mtp.accepted
        assert steps >= full.usage.completion_tokens / 5, "of 4 drafts a step has 5 tokens at most"
    else:
        assert full.mtp.drafted == 0


def test_circles_are_noticed_and_what_ends_by_itself_is_left_alone(engine: LlamaCppEngine) -> None:
    *_, last = ending_loops(
        engine.chat, replace(asked("circle", None), max_tokens=None), CancelToken()
    )
    assert isinstance(last, Done)
    assert last.finish_reason == "repetition"
    assert last.usage.completion_tokens < CONTEXT // 2
    *_, last = ending_loops(engine.chat, asked("copying", None), CancelToken())
    assert isinstance(last, Done)
    assert last.finish_reason == "stop"


def test_its_memory_is_what_was_said(smollm2: Path) -> None:
    for context, kv, mmap in WAYS:
        plan = LlamaPlan(smollm2, context, 1, 1, kv_type=kv, mmap=mmap)
        said, real = size(plan), loaded(plan)
        assert said.total == pytest.approx(real.total, rel=0.005), f"{context} {kv} {mmap}"


@pytest.mark.parametrize("way", ["mmap", "none"])
def test_a_process_takes_no_more_than_was_said(smollm2: Path, way: str) -> None:
    said = measured(smollm2, way, 0)
    assert 0.5 * said["buffers"] <= said["grown"] <= said["estimate"] + 16 * MIB


def test_a_chat_goes_on_in_a_new_process_as_in_the_old_one(smollm2: Path, tmp_path: Path) -> None:
    questions = ["Name three fruits and say how they taste.", "Which of them is the sweetest?"]
    without = talk(smollm2, tmp_path / "one", [], questions)
    before = talk(smollm2, tmp_path / "two", [], questions[:1])
    after = talk(smollm2, tmp_path / "two", before["chat"], questions[1:])
    assert after["chat"] == without["chat"]
    assert after["kept"] == without["kept"][1:]
    assert after["kept"][0] > 48


def talk(model: Path, states: Path, said: object, questions: list[str]) -> dict[str, Any]:
    """Run a part of a chat in a separate process."""
    words = [model, states, json.dumps([said, questions])]
    command = [sys.executable, "-m", "tests.support.talk", *map(str, words)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found
