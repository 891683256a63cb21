"""LoRA adapters in this process: by name, several at a time, each with its own KV state."""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import AdapterUnknown
from engines.llamacpp.decoder import Decoding
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.probe import Probe
from engines.llamacpp.resume.native_state import NativeState
from engines.llamacpp.resume.states import StateFolder
from engines.types import Adapter, ChatRequest, LlamaPlan, PromptReady
from tests.engines.asking import GREEDY, ask, run, text_of
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.drafting import STARTER_DRAFTER
from tests.engines.llamacpp.random_models import STARTER
from tests.support.made_adapter import write_adapter

QUESTION = ask("What can you do for me?", sampling=GREEDY, max_tokens=24)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Adapter, ...]:
    folder = tmp_path_factory.mktemp("adapters")
    return (
        Adapter("loud", write_adapter(folder / "loud.gguf", STARTER, seed=1)),
        Adapter("odd", write_adapter(folder / "odd.gguf", STARTER, seed=2)),
        Adapter("none", write_adapter(folder / "none.gguf", STARTER, strength=0.0)),
    )


def with_adapter(name: str | None, request: ChatRequest = QUESTION) -> ChatRequest:
    return replace(request, adapter=name)


def cached(engine: LlamaCppEngine, request: ChatRequest) -> int:
    ready = run(engine, request)[0]
    assert isinstance(ready, PromptReady)
    return ready.cached_tokens


def test_an_answer_is_written_with_the_adapter_that_it_names(
    load: Load, files: tuple[Adapter, ...]
) -> None:
    engine = load(context=512, adapters=files)
    plain = text_of(run(load(context=512), QUESTION))
    texts = {
        name: text_of(run(engine, with_adapter(name))) for name in (None, "loud", "odd", "none")
    }
    assert texts[None] == texts["none"] == plain
    assert len({texts[None], texts["loud"], texts["odd"]}) == 3
    again = {name: text_of(run(engine, with_adapter(name))) for name in reversed(texts)}
    assert again == texts


def test_answers_with_different_adapters_are_written_side_by_side(
    load: Load, files: tuple[Adapter, ...]
) -> None:
    engine = load(context=512, adapters=files, parallel=4)
    names = (None, "loud", "odd", "loud")
    alone = [text_of(run(engine, with_adapter(name))) for name in names]
    together: dict[int, str] = {}

    def write(at: int) -> None:
        together[at] = text_of(run(engine, with_adapter(names[at])))

    threads = [threading.Thread(target=write, args=(at,)) for at in range(len(names))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [together[at] for at in range(len(names))] == alone


def test_who_is_passed_over_for_another_adapter_has_the_next_step(
    load: Load, files: tuple[Adapter, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = load(context=512, adapters=files, parallel=2)
    loaded = engine.chat_model
    endless = tuple((token, -1000.0) for token in loaded.model.vocabulary.ends)
    request = replace(QUESTION, sampling=replace(GREEDY, logit_bias=endless), max_tokens=40)
    steps: list[tuple[str, list[str]]] = []
    scheduler = loaded.scheduler
    begin = scheduler._begin

    def noted() -> list[Decoding]:
        step = begin()
        skipped = [answer.adapter for answer in scheduler._skipped]
        if step:
            steps.append((step[0].adapter, skipped))
            assert {answer.adapter for answer in step} == {step[0].adapter}
        return step

    monkeypatch.setattr(scheduler, "_begin", noted)
    began = threading.Barrier(2)

    def write(name: str) -> None:
        began.wait(30)
        run(engine, with_adapter(name, request))

    threads = [threading.Thread(target=write, args=(name,)) for name in ("loud", "odd")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all(sum(name == it for it, _ in steps) >= 40 for name in ("loud", "odd"))
    assert any(skipped for _, skipped in steps)
    for (_, skipped), (following, _) in pairwise(steps):
        assert not skipped or following == skipped[0]


def test_a_guest_s_prompt_with_another_adapter_takes_no_step_from_a_prompt_asked_here(
    load: Load, files: tuple[Adapter, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = load(context=2048, adapters=files, parallel=2, batch=32)
    loaded = engine.chat_model
    scheduler = loaded.scheduler
    begin, together = scheduler._begin, threading.Barrier(2)
    steps: list[tuple[set[bool], set[bool]]] = []

    def noted() -> list[Decoding]:
        step = begin()
        others = scheduler._skipped
        steps.append(
            (
                {it.guest for it in step if it.has_prompt_left},
                {it.guest for it in others if it.has_prompt_left},
            )
        )
        return step

    monkeypatch.setattr(scheduler, "_begin", noted)

    def write(name: str, *, guest: bool) -> None:
        asked = ask(f"{name} What can you do for me? " * 60, sampling=GREEDY, max_tokens=4)
        together.wait(30)
        run(engine, replace(with_adapter(name, asked), guest=guest))

    threads = [
        threading.Thread(target=write, args=("loud",), kwargs={"guest": True}),
        threading.Thread(target=write, args=("odd",), kwargs={"guest": False}),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert any(here and waiting for here, waiting in steps), "both were read at one time"
    assert not [it for it in steps if True in it[0] and False in it[1]]


def test_what_was_read_with_one_adapter_is_of_no_use_to_another(
    load: Load, files: tuple[Adapter, ...]
) -> None:
    engine = load(context=512, adapters=files)
    assert cached(engine, with_adapter("loud")) == 0
    held = cached(engine, with_adapter("loud"))
    assert held > 0
    assert cached(engine, with_adapter("odd")) == 0
    assert cached(engine, with_adapter(None)) == 0
    # Each gets back from memory what it had read itself.
    assert cached(engine, with_adapter("loud")) == held
    assert cached(engine, with_adapter("odd")) == held


def test_the_adapter_holds_where_what_was_read_cannot_be_had_again(
    load: Load, files: tuple[Adapter, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = load(context=512, adapters=files)
    text = text_of(run(engine, with_adapter("loud")))
    run(engine, QUESTION)
    monkeypatch.setattr(NativeState, "write", lambda *_, **__: False)
    assert cached(engine, with_adapter("loud")) == 0
    run(engine, QUESTION)
    assert text_of(run(engine, with_adapter("loud"))) == text


def test_it_is_of_none_after_a_restart_either(
    load: Load, files: tuple[Adapter, ...], tmp_path: Path
) -> None:
    loud, odd, _ = files
    asked = replace(QUESTION, chat="chat")
    first = load(states=StateFolder(tmp_path, 1 << 28), context=512, adapters=files)
    run(first, with_adapter("loud", asked))
    first.close()
    # The names are swapped, but the file counts.
    swapped = (Adapter("loud", odd.path), Adapter("odd", loud.path))
    second = load(states=StateFolder(tmp_path, 1 << 28), context=512, adapters=swapped)
    assert cached(second, with_adapter("loud", asked)) == 0
    assert cached(second, with_adapter(None, asked)) == 0
    assert cached(second, with_adapter("odd", asked)) > 0


def test_drafts_do_not_change_what_an_adapter_writes(
    load: Load, files: tuple[Adapter, ...]
) -> None:
    engine = load(STARTER, drafter=STARTER_DRAFTER, context=512, adapters=files)
    plain = text_of(run(engine, replace(with_adapter("loud"), mtp="off")))
    assert text_of(run(engine, replace(with_adapter("loud"), mtp="on"))) == plain


def test_an_adapter_that_does_not_fit_is_refused_with_the_reason(
    load: Load, files: tuple[Adapter, ...], random_llama: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(files[0].path.read_bytes()[:5000])
    given = (
        files[0],
        Adapter("larger", write_adapter(tmp_path / "l.gguf", random_llama, architecture="gemma4")),
        Adapter("other", write_adapter(tmp_path / "o.gguf", STARTER, architecture="qwen3")),
        Adapter("model", STARTER),
        Adapter("gone", tmp_path / "gone.gguf"),
        Adapter("broken", broken),
    )
    engine = LlamaCppEngine()
    try:
        plan = LlamaPlan(STARTER, 512, 1, 1, adapters=given)
        notes = engine.load(plan, lambda _: None, CancelToken()).notes
        assert len(notes) == 5
        reasons = {
            "other": "a model of the kind qwen3",
            "model": "is not a LoRA adapter",
            "gone": "cannot be read",
            "larger": "llama.cpp says",
            "broken": "",
        }
        for name, why in reasons.items():
            with pytest.raises(AdapterUnknown) as error:
                run(engine, with_adapter(name))
            assert why in error.value.why
        with pytest.raises(AdapterUnknown, match="“loud”"):
            run(engine, with_adapter("nobody's"))
        assert text_of(run(engine, with_adapter("loud")))
        assert text_of(run(engine, QUESTION))
    finally:
        engine.close()


def test_the_probe_tries_a_model_with_its_adapters(
    files: tuple[Adapter, ...], tmp_path: Path
) -> None:
    plan = LlamaPlan(STARTER, 512, 1, 1, adapters=files)
    Probe(tmp_path).require_safe(plan, CancelToken())
