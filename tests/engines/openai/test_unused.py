"""Options that a server ignores are named in a note after the answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engines.openai.unused import MIN_P_WITH_MTP, unused
from engines.openai.values import ServerKind
from engines.types import Sampling
from tests.engines.asking import ask, done_of
from tests.engines.openai.conftest import CHAT, Reach, Serve, run
from tests.support.openai_server import refusal

PLAIN = Sampling(top_k=0, top_p=1.0, min_p=0.0)
WISHED = Sampling(temperature=2.5, top_k=40, min_p=0.05, repeat_penalty=1.1)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            "openai",
            ["temperature above 2", "top-k", "min-p", "not support a repeat penalty", "how long"],
        ),
        (
            "ollama",
            ["temperature above 2", "top-k", "min-p", "not support a repeat penalty", "how long"],
        ),
        ("lmstudio", ["temperature above 2", "min-p", "not only to its end", "how long"]),
        ("vllm", ["temperature above 2", "not only to its end"]),
        ("sglang", ["temperature above 2", "not only to its end", "how long"]),
        ("llama-server", []),
    ],
)
def test_each_kind_says_what_it_cannot(kind: ServerKind, words: list[str]) -> None:
    found = unused(ask("Hello", sampling=WISHED, thinking_budget=9), kind)
    assert len(found) == len(words)
    for note, word in zip(found, words, strict=True):
        assert word in note
    assert unused(ask("Hello", sampling=PLAIN), kind) == (), "nothing is missed"


def test_what_is_greedy_needs_no_choice_among_tokens() -> None:
    assert (
        unused(ask("Hello", sampling=replace(WISHED, temperature=0, repeat_penalty=1)), "openai")
        == ()
    )


def test_with_drafts_vllm_leaves_min_p_out() -> None:
    request = ask("Hello", sampling=replace(PLAIN, min_p=0.1))
    assert unused(request, "vllm", drafts=True) == (MIN_P_WITH_MTP,)
    assert unused(request, "vllm") == ()


def test_whether_it_thinks_is_not_everywhere_a_choice() -> None:
    assert unused(ask("Hello", thinking=True), "vllm") == ()
    assert len(unused(ask("Hello", thinking=False), "openai")) == 1


def test_what_a_server_refuses_is_said_with_the_answer(serve: Serve, reach: Reach) -> None:
    server = serve("vllm")
    server.script(CHAT, refusal(400, "Unknown field: top_k"))
    done = done_of(run(ask("Hello", sampling=replace(PLAIN, top_k=5)), reach(server)))
    assert done.notes == ("This server does not support top-k; it was not used.",)
    assert "top_k" not in server.chats()[-1]
