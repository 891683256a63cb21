"""Advice on the engine for described computers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.models.discover.values.counterparts import Card
from app.runtime.values.advice import Advice, MeasuredSpeed, Situation, advise

BIG = Card("RTX 4090", 8.9, 25_700_000_000)
SMALL = Card("RTX 3070", 8.6, 8_500_000_000)
OLD = Card("GTX 1080 Ti", 6.1, 11_800_000_000)
LINUX = Situation("linux", (BIG,), vllm="installed")


@pytest.mark.parametrize(
    ("it", "word"),
    [
        (Situation("macos"), "macOS"),
        (Situation("linux"), "no NVIDIA card"),
        (Situation("linux", (SMALL,)), "less than 16 GB"),
        (Situation("linux", (OLD,)), "too old"),
        (replace(LINUX, vllm="impossible", why_not="The driver is too old."), "driver"),
        (LINUX, "One user"),
    ],
)
def test_llama_unless_something_speaks_for_vllm(it: Situation, word: str) -> None:
    found = advise(it)
    assert found.engine == "llamacpp"
    assert word in found.sentence


def test_many_chats_on_a_card_with_room() -> None:
    found = advise(replace(LINUX, chats_at_once=8))
    assert found.engine == "vllm"
    assert "8 chats at once" in found.sentence
    assert advise(replace(LINUX, cards=(SMALL,), chats_at_once=8)).engine == "llamacpp"


def test_what_was_measured_here_counts_more_than_what_others_report() -> None:
    speeds = (MeasuredSpeed("llamacpp", "Gemma", 1, 40.0), MeasuredSpeed("vllm", "Gemma", 1, 60.0))
    found = advise(replace(LINUX, measured=speeds))
    assert found.engine == "vllm"
    assert "1.5 times" in found.sentence
    assert (found.rows[0].llamacpp, found.rows[0].vllm) == (
        "40 tokens a second",
        "60 tokens a second",
    )
    assert found.rows[0].measured
    even = (speeds[0], replace(speeds[1], tokens_per_s=41.0))
    assert "One user" in advise(replace(LINUX, measured=even)).sentence
    slower = (speeds[0], replace(speeds[1], tokens_per_s=20.0))
    found = advise(replace(LINUX, measured=slower, context=65_536))
    assert found.engine == "llamacpp"
    assert "llama.cpp is 2.0 times as fast for one chat" in found.sentence


def test_for_several_chats_what_was_measured_of_several_counts() -> None:
    speeds = (
        MeasuredSpeed("llamacpp", "Gemma", 1, 60.0), MeasuredSpeed("vllm", "Gemma", 1, 30.0),
        MeasuredSpeed("llamacpp", "Gemma", 8, 60.0), MeasuredSpeed("vllm", "Gemma", 8, 240.0),
    )  # fmt: skip
    one, many = (advise(replace(LINUX, measured=speeds, chats_at_once=n)) for n in (1, 4))
    assert (one.engine, many.engine) == ("llamacpp", "vllm")
    assert "4.0 times as much at once" in many.sentence
    alike = tuple(replace(it, tokens_per_s=60.0) for it in speeds)
    assert "4 chats at once" in advise(replace(LINUX, measured=alike, chats_at_once=4)).sentence


def test_the_model_s_own_measurement_counts_before_those_of_others() -> None:
    speeds = (
        MeasuredSpeed("llamacpp", "Gemma", 1, 40.0), MeasuredSpeed("vllm", "Gemma", 1, 60.0),
        MeasuredSpeed("llamacpp", "Qwen", 1, 40.0), MeasuredSpeed("vllm", "Qwen", 1, 30.0),
    )  # fmt: skip
    found = [advise(replace(LINUX, measured=speeds, model=it)) for it in ("Gemma", "Qwen", "Phi")]
    assert [it.engine for it in found] == ["vllm", "llamacpp", "vllm"]


def test_a_long_context_and_a_model_that_is_loaded_speak_for_vllm_on_a_card() -> None:
    long = advise(replace(LINUX, context=65_536))
    assert (long.engine, "65,536 tokens" in long.sentence) == ("vllm", True)
    assert advise(replace(LINUX, context=16_384)).engine == "llamacpp"
    loaded = advise(replace(LINUX, loaded=True))
    assert (loaded.engine, "has this model loaded" in loaded.sentence) == ("vllm", True)
    assert advise(replace(LINUX, cards=(), context=65_536, loaded=True)).engine == "llamacpp"


def test_many_users_have_a_line_of_their_own_and_servers_none() -> None:
    speeds = (
        MeasuredSpeed("llamacpp", "Gemma", 16, 40.0),
        MeasuredSpeed("vllm", "Gemma", 16, 400.0),
        MeasuredSpeed("remote", "Qwen", 16, 900.0),
    )
    lines = [it for it in advise(replace(LINUX, measured=speeds)).rows if it.measured]
    assert [(it.topic, it.llamacpp, it.vllm) for it in lines] == [
        ("Gemma, 16 at once", "40 tokens a second", "400 tokens a second")
    ]


def test_what_was_not_measured_says_so() -> None:
    found = advise(replace(LINUX, measured=(MeasuredSpeed("llamacpp", "Gemma", 1, 40.0),)))
    assert found.rows[0].vllm == "not measured"


def test_the_comparison_is_there_always() -> None:
    found: Advice = advise(Situation("windows"))
    topics = [row.topic for row in found.rows]
    assert {"One user", "Portability", "Memory"} <= set(topics)
    assert any("users at once" in topic for topic in topics)
