"""Each line about MTP consists of translated texts and numbers, and of nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest

from app.base import language
from engines.llamacpp.speculative import mtp_status as llama
from engines.llamacpp.speculative.costs import Costs
from engines.models.checkpoint import NOTHING_DRAFTS
from engines.mtp_words import looked_up
from engines.openai import faults
from engines.remote import engine as remote
from engines.sentences import N_
from engines.vllm import mtp_status as vllm
from engines.vllm.gain_book import DraftSpeeds
from engines.vllm.log import BEFORE, Stage, stage
from resources.translations.make.extract import texts

CHEAP = Costs({0: 1.0, 1: 1.05, 3: 1.1, 7: 1.3}, 0.05)
DEAR = Costs({0: 1.0, 1: 2.1, 3: 4.2, 7: 8.4}, 0.3)
FLAT = Costs({0: 1.0, 1: 2.9, 3: 3.0, 7: 8.4}, 0.3)


@cache
def said_in_source() -> frozenset[str]:
    return frozenset(texts())


class Hidden:
    """A catalogue that leaves only the values of each text in the source."""

    def gettext(self, message: str, /) -> str:
        if message == "1,234.5" or message not in said_in_source():
            return message
        return " ".join(re.findall(r"\{\w+\}", message)) + " "


@pytest.fixture
def hidden() -> Iterator[None]:
    language.use_catalogue(Hidden())
    yield
    language.use_catalogue(None)


def lines() -> Iterator[str]:
    for depth in (1, 2, 8):
        yield llama.running("embedded", depth, 0, 0, None, 1.0)
        yield llama.running("embedded", depth, 100, 71, None, 1.5)
        yield llama.running("embedded", depth, 100, 71, 0.97, 1.5)
        yield vllm.status_running("drafter", depth, 0, 0, None)
        for gain in (None, 0.97, 1.8):
            yield vllm.status_running("drafter", depth, 40, 30, gain)
            yield looked_up(depth, 40, 30, gain)
        yield vllm.still_on(depth, 22.4)
        yield vllm.still_on(depth, 0.0)
        for kind in ("embedded", "drafter"):
            for pace in (DraftSpeeds(), DraftSpeeds(20.0, 20.5), DraftSpeeds(20.0, 36.0)):
                yield vllm.status_before_answers(kind, depth, pace, "")
    yield from (vllm.still_off(22.4), vllm.still_off(0.0), vllm.OFF, llama.OFF)
    yield from (vllm.LOOKS_UP, NOTHING_DRAFTS)
    for costs in (CHEAP, DEAR, FLAT):
        yield llama.cannot_win(costs) or ""
        yield llama.no_gain(costs, 0.31)
        yield llama.no_gain(costs, 0.99)
        yield llama.standing("embedded", costs, "")
        yield llama.standing("drafter", costs, "")
    yield llama.standing("drafter", None, "")
    for mtp in (True, False, None):
        yield remote.mtp_line(mtp)


def failures() -> Iterator[str]:
    for status in (400, 401, 403, 404, 413, 429, 500, 502, 503):
        for variable in ("", "HEARTH_KEY_1"):
            found = faults.status_error("7", status, {"retry-after": "3"}, b"", "8", variable)
            yield from (found.what, found.why, found.do)


def stages() -> Iterator[str]:
    yield BEFORE
    for line in (
        "non-default args: {}", "Resolved architecture: X", "Using max model len 4096",
        "Initializing a V1 LLM engine", "Starting to load model x", "Loading weights took 3",
        "Loading drafter model", "Model loading took 3", "Starting torch.compile",
        "torch.compile took 3", "Available KV cache memory", "KV cache size: 3",
        "Graph capturing finished", "init engine (profile", "Starting vLLM server on",
        "Loading safetensors checkpoint shards:  50% Completed", "Capturing CUDA graphs: 50%",
        "JIT kernel warmup (3 keys): 50%",
    ):  # fmt: skip
        found = stage(line, Stage(0.0, ""))
        assert found.words
        yield found.words


def left_of(sentence: str) -> str:
    """Return the text that stays in English; numbers and names that people type do not count."""
    said = language.translated(sentence)
    return " ".join(re.findall(r"[^\W\d_]{2,}", re.sub(r"HEARTH_KEY\w*|GB|ms\b", "", said)))


def test_no_word_of_the_lines_about_mtp_is_without_a_translation(hidden: None) -> None:
    assert {it: left_of(it) for it in lines() if left_of(it)} == {}


def test_no_word_of_a_servers_refusal_is_without_one(hidden: None) -> None:
    assert {it: left_of(it) for it in failures() if left_of(it)} == {}


def test_no_word_of_a_start_is_without_one(hidden: None) -> None:
    assert {it: left_of(it) for it in stages() if left_of(it)} == {}


def test_what_has_none_is_seen(hidden: None) -> None:
    assert (
        left_of(N_("MTP on: {ahead}, {accepted} accepted", ahead="two over there", accepted="5 %"))
        == "two over there"
    )
