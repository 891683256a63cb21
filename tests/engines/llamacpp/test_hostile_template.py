"""A model with a chat template that is harmless until it meets a word in the chat."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineError, TemplateFailed
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.probe import Probe
from engines.types import LlamaPlan
from tests.engines.asking import ask, done_of, run
from tests.engines.dialects import template_processes, wait_for_rendering
from tests.engines.llamacpp.random_models import byte_tokenizer, write_random_llama

TEMPLATE = (
    "{% if 'EVIL' in messages[-1].content %}"
    "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}{% endif %}"
    "{% for m in messages %}{{ m.content }}{% endfor %}"
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[LlamaCppEngine]:
    path = tmp_path / "turncoat.gguf"
    write_random_llama(path, tokenizer=byte_tokenizer("gpt-2", TEMPLATE))
    engine = LlamaCppEngine(probe=Probe())
    engine.load(LlamaPlan(path, 256, 1, 1, draft_max=0), lambda _: None, CancelToken())
    yield engine
    engine.close()
    assert not template_processes(), "the template's process ends with its model"


@pytest.mark.exhaustive
def test_the_answer_fails_with_a_reason_and_the_next_one_comes(engine: LlamaCppEngine) -> None:
    with pytest.raises(TemplateFailed, match="seconds"):
        run(engine, ask("EVIL"))
    assert done_of(run(engine, ask("Hello", max_tokens=2))).finish_reason == "length"


def test_a_cancel_ends_it(engine: LlamaCppEngine) -> None:
    cancel = CancelToken()
    timer = threading.Timer(0.2, cancel.cancel)
    timer.start()
    events = run(engine, ask("EVIL"), cancel)
    timer.join()
    assert done_of(events).finish_reason == "cancelled"
    assert done_of(run(engine, ask("Hello", max_tokens=2))).finish_reason == "length"


def test_counting_is_cancelled_and_ends_with_the_model(engine: LlamaCppEngine) -> None:
    ended: list[type[BaseException]] = []

    def count(cancel: CancelToken) -> None:
        try:
            engine.measure(ask("EVIL"), cancel)
        except (EngineError, Cancelled) as error:
            ended.append(type(error))

    cancel = CancelToken()
    for end in (cancel.cancel, engine.close):
        thread = threading.Thread(target=count, args=(cancel if not ended else CancelToken(),))
        engine.measure(ask("Hello"), CancelToken())  # starts a process, if there is none
        [child] = template_processes()
        thread.start()
        wait_for_rendering(child)
        end()
        thread.join(30)
        assert not thread.is_alive()
    assert ended[0] is Cancelled
    assert issubclass(ended[1], EngineError)
