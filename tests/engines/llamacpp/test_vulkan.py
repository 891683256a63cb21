"""The starter on Vulkan, if llama.cpp is built with it; Mesa's software driver is enough.

That driver compiles shaders for a minute or two the first time, and keeps them.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.hardware import Hardware, detect
from engines.hardware.values import NativeDevice
from engines.llamacpp.devices import Devices
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.sizing.child import size
from engines.llamacpp.sizing.sizer import Sizer
from engines.llamacpp.trial import Trials
from engines.memory.load_options import LoadOptions
from engines.memory.planner import by_formula, make_plan
from engines.models.gguf.header import read_header
from engines.types import ChatRequest, Done, LlamaPlan, LoadedModel, Message, Sampling, TextDelta
from tests.engines.llamacpp.drafting import STARTER_DRAFTER
from tests.engines.llamacpp.random_models import STARTER
from tests.support.made_architectures import write_made

FOUND = importlib.util.find_spec("llama_cpp")
LIBRARIES = Path(FOUND.origin or "").parent / "lib" if FOUND else Path()
BUILT = any("vulkan" in path.name for path in LIBRARIES.glob("*ggml-vulkan*"))

pytestmark = [
    pytest.mark.skipif(not BUILT, reason="this build of llama.cpp has no part for Vulkan"),
    pytest.mark.timeout(900),
]
QUESTIONS = ("What is a token?", "Write a function that adds two numbers.")


@pytest.fixture(scope="module", autouse=True)
def shown() -> Iterator[None]:
    """Select the device by its number, as ggml hides software drivers otherwise.

    Named twice, one device counts as two, so that several can be tested with one.
    """
    before = os.environ.get("GGML_VK_VISIBLE_DEVICES")
    os.environ.setdefault("GGML_VK_VISIBLE_DEVICES", "0,0")
    yield
    if before is None:
        del os.environ["GGML_VK_VISIBLE_DEVICES"]


@pytest.fixture(scope="module")
def card() -> NativeDevice:
    cards = [device for device in Devices().list_devices() if device.backend == "Vulkan"]
    if not cards:
        pytest.skip("no driver for Vulkan is here, not even Mesa's")
    return cards[0]


def answered(
    plan: LlamaPlan, *, mtp: bool = False, tokens: int = 48
) -> tuple[list[str], LoadedModel, list[Done]]:
    engine = LlamaCppEngine()
    try:
        loaded = engine.load(plan, lambda _: None, CancelToken())
        texts, ends = [], []
        for question in QUESTIONS:
            request = ChatRequest(
                (Message("user", question),), Sampling(temperature=0.0), max_tokens=tokens,
                mtp="on" if mtp else "off", depth=2 if mtp else None,
            )  # fmt: skip
            events = list(engine.chat(request, CancelToken()))
            texts.append("".join(it.text for it in events if isinstance(it, TextDelta)))
            ends += [it for it in events if isinstance(it, Done)]
        return texts, loaded, ends
    finally:
        engine.close()


def plan_for(card: NativeDevice | None, **values: object) -> LlamaPlan:
    names = (card.name,) if card else ()
    return LlamaPlan(
        STARTER, 1024, 2, 2, devices=names, **({"draft_max": 0} | values)  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.fixture(scope="module")
def expected() -> list[str]:
    texts, loaded, _ = answered(plan_for(None))
    assert loaded.device == "CPU"
    assert all(texts)
    return texts


@pytest.mark.parametrize(
    "values",
    [
        {"gpu_layers": -1},
        {"gpu_layers": 3},
        {"gpu_layers": -1, "kv_type": "q8_0"},
        {"gpu_layers": -1, "mmap": False},
    ],
    ids=["all layers", "some layers", "KV q8_0", "not mapped"],
)
def test_a_greedy_text_is_the_processors(
    card: NativeDevice, expected: list[str], values: dict[str, object]
) -> None:
    kv = {"kv_type": values["kv_type"]} if "kv_type" in values else {}
    theirs = answered(plan_for(None, **kv))[0] if kv else expected
    texts, loaded, _ = answered(plan_for(card, **values))
    assert texts == theirs
    assert loaded.device == card.description
    assert loaded.notes == ()
    assert loaded.buffers is not None
    assert loaded.buffers.cards.weights > 1 << 20


def test_two_devices_share_the_layers(card: NativeDevice, expected: list[str]) -> None:
    names = [device.name for device in Devices().list_devices() if device.backend == "Vulkan"]
    if len(names) < 2:
        pytest.skip("there is one device only")
    plan = replace(plan_for(card, gpu_layers=-1), devices=tuple(names[:2]))
    texts, loaded, _ = answered(plan)
    assert texts == expected
    assert loaded.buffers is not None
    taken = {it.device: it.weights for it in loaded.buffers.devices}
    assert all(taken[name] > 1 << 20 for name in names[:2])
    said = size(plan)
    assert said.cards.weights == pytest.approx(loaded.buffers.cards.weights, rel=0.005)
    assert by_formula(read_header(STARTER), plan, None).gpu.compute >= said.cards.compute


def test_tokens_are_drafted_there_too(card: NativeDevice, expected: list[str]) -> None:
    plan = plan_for(card, gpu_layers=-1, drafter=STARTER_DRAFTER, draft_max=2)
    texts, loaded, ends = answered(plan, mtp=True)
    assert texts == expected
    assert loaded.mtp == "drafter"
    assert all(end.mtp.accepted > 0 for end in ends)


def test_it_passes_its_trial(card: NativeDevice, tmp_path: Path) -> None:
    trials = Trials(tmp_path, STARTER)
    trials.require([card], CancelToken())
    verdict = trials.verdict(card)
    assert verdict is not None
    assert verdict.why == ""
    assert trials.judged([card]) == (card,)


@pytest.mark.parametrize(
    ("layers", "experts"), [(-1, 0), (3, 0), (-1, 2), (-1, 4), (4, 9)], ids=str
)
@pytest.mark.parametrize("name", ["qwen3moe", "gemma4 with experts"])
def test_experts_stay_in_the_own_memory_as_it_was_counted(
    card: NativeDevice, name: str, layers: int, experts: int, tmp_path: Path
) -> None:
    plan = LlamaPlan(
        write_made(tmp_path, name), 1024, 2, 2, gpu_layers=layers, devices=(card.name,),
        experts_in_ram=experts, draft_max=0,
    )  # fmt: skip
    said = size(plan)
    engine = LlamaCppEngine()
    try:
        real = engine.load(plan, lambda _: None, CancelToken()).buffers
    finally:
        engine.close()
    assert real is not None
    assert said.total == pytest.approx(real.total, rel=0.005)
    assert said.cards.weights == pytest.approx(real.cards.weights, rel=0.005)
    assert said.own.weights == pytest.approx(real.own.weights, rel=0.005)
    if experts:
        bare = Sizer().buffers(
            LlamaPlan(plan.model, 1024, 2, 2, gpu_layers=layers, devices=plan.devices, draft_max=0),
            CancelToken(),
        )
        assert said.cards.weights < bare.cards.weights


def test_a_mixture_answers_the_same_with_its_experts_behind(
    card: NativeDevice, tmp_path: Path
) -> None:
    def text(**values: object) -> list[str]:
        values = {"draft_max": 0, "experts_in_ram": 0} | values
        plan = LlamaPlan(path, 512, 2, 2, **values)  # type: ignore[arg-type]
        return answered(plan, tokens=6)[0]

    path = write_made(tmp_path, "qwen3moe")
    whole = text(gpu_layers=-1, devices=(card.name,))
    assert text(gpu_layers=-1, devices=(card.name,), experts_in_ram=4) == whole


def test_the_planner_names_it(card: NativeDevice) -> None:
    hardware: Hardware = detect([card])
    plan = make_plan(STARTER, read_header(STARTER), hardware, LoadOptions(mtp=False))
    assert (plan.gpu_layers, plan.devices) == (-1, (card.name,))


def test_a_driver_that_dies_leaves_the_processor(
    card: NativeDevice, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the real process; a very short limit interrupts the driver's shaders."""
    trials = Trials(tmp_path, STARTER, limit_s=0.2)
    trials.require([card], CancelToken())
    [judged] = trials.judged([card])
    assert "came to no end" in judged.why_not
    hardware = detect([judged])
    plan = make_plan(STARTER, read_header(STARTER), hardware, LoadOptions(context=1024, mtp=False))
    assert plan.gpu_layers == 0
    texts, loaded, _ = answered(plan)
    assert (texts, loaded.device) == (expected, "CPU")
