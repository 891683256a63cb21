"""A real vLLM with a stand-in for a model that thinks: the starter, with its template changed.

On request, the prompt ends within the reasoning, and a limit ends that. The model's
generation_config.json is one that would change every answer.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace

import pytest

from engines.cancel import CancelToken
from engines.types import ChatRequest, Event, Message, ReasoningDelta, Sampling
from engines.vllm.engine import VllmEngine
from engines.vllm.provision.home import Installed
from tests.engines.contract import done_of, text_of
from tests.engines.vllm.conftest import DRAFTING
from tests.engines.vllm.faked import TARGET, make_engine

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore:unclosed <socket.*family=1:ResourceWarning"),
]

BUDGET = 6
OPENING = "{%- if enable_thinking is defined and enable_thinking %}{{ '<|channel>thought\\n' }}"


@pytest.fixture(scope="module")
def thinker(vllm: Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmEngine]:
    """Start it with MTP, which does not allow min-p."""
    folder = tmp_path_factory.mktemp("thinker")
    model = shutil.copytree(TARGET, folder / "model")
    template = model / "chat_template.jinja"
    written = template.read_text(encoding="utf-8").rstrip() + OPENING + "{%- endif -%}"
    template.write_text(written, encoding="utf-8")
    told = model / "generation_config.json"
    governs = {"max_new_tokens": 7, "min_p": 0.2, "temperature": 0.1}
    told.write_text(json.dumps(json.loads(told.read_text()) | governs))
    engine = make_engine(vllm, folder / "worker", silent_s=400)
    engine.load(replace(DRAFTING, model=model, context=2048), lambda _: None, CancelToken())
    yield engine
    engine.close()


def say(engine: VllmEngine, text: str = "What is Hearth?", **options: object) -> list[Event]:
    sampling = options.pop("sampling", Sampling(temperature=0.0, min_p=0.0))
    request = ChatRequest((Message("user", text),), sampling, max_tokens=40)  # type: ignore[arg-type]
    return list(engine.chat(replace(request, **options), CancelToken()))  # type: ignore[arg-type]


def thought_of(events: list[Event]) -> str:
    return "".join(it.text for it in events if isinstance(it, ReasoningDelta))


def test_what_is_thought_is_no_part_of_the_answer_and_ends_where_it_shall(
    thinker: VllmEngine,
) -> None:
    events = say(thinker, thinking=True, thinking_budget=BUDGET)
    assert thought_of(events)
    assert text_of(events)
    assert "<" not in thought_of(events) + text_of(events), "no marker is text"
    assert 0 < done_of(events).usage.reasoning_tokens <= BUDGET
    assert "how long" not in " ".join(done_of(events).notes)


def test_who_does_not_think_just_answers(thinker: VllmEngine) -> None:
    for thinking in (False, None):
        events = say(thinker, thinking=thinking)
        assert text_of(events).startswith("Hearth is")
        assert not thought_of(events)


def test_a_grammar_binds_the_answer_and_not_the_thoughts(thinker: VllmEngine) -> None:
    bound = Sampling(temperature=0.0, min_p=0.0, grammar='root ::= "yes" | "no"')
    events = say(thinker, thinking=True, thinking_budget=BUDGET, sampling=bound)
    assert thought_of(events)
    assert text_of(events) in {"yes", "no"}
    assert text_of(say(thinker, thinking=False, sampling=bound)) in {"yes", "no"}


def test_what_the_model_s_own_file_says_does_not_govern_answers(thinker: VllmEngine) -> None:
    """It sets a limit of seven tokens, and min-p, which does not go with MTP."""
    done = done_of(say(thinker, sampling=Sampling(temperature=1.0, min_p=0.0, seed=3)))
    assert done.usage.completion_tokens > 7


def test_what_has_been_read_before_is_counted(thinker: VllmEngine) -> None:
    """The count is in whole blocks of 128 tokens."""
    question = "Where are my chats, and who can read them? " * 120
    assert done_of(say(thinker, question)).usage.cached_tokens == 0
    assert done_of(say(thinker, question)).usage.cached_tokens > 0
