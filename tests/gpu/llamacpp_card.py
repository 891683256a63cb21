"""The common part of the scripts for each kind of graphics card: it checks llama.cpp on a card.

It uses the built-in starter, so that nothing is downloaded. Each line is a check, its outcome and
its seconds; the card, the driver and the versions come at the end, for
resources/docs/measurements.md. The exit status is the number of failed checks.
"""

from __future__ import annotations

import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from engines.cancel import CancelToken
from engines.hardware import NativeDevice, detect
from engines.llamacpp.devices import Devices
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.native import BINDINGS_VERSION, LIBRARY_VERSION
from engines.llamacpp.sizing.child import size
from engines.llamacpp.trial import Trials
from engines.memory.load_options import LoadOptions
from engines.memory.planner import check, make_plan
from engines.models.gguf.header import read_header
from engines.types import (
    ChatRequest,
    Done,
    KvType,
    LlamaPlan,
    Medium,
    Message,
    Sampling,
    TextDelta,
)
from tests.support.made_senses import gemma4_projector, png, write_gemma4

STARTER = Path(__file__).parents[2] / "resources" / "starter" / "starter.gguf"
DRAFTER = STARTER.with_name("starter-mtp.gguf")
QUESTION = "What is a token?"
TOKENS = 48

QUESTIONS = ("What is a token?", "Is Hearth free?", "What is MTP?", "Where are my chats?")

Check = Callable[[NativeDevice], str]
"""Returns the finding for the line; an AssertionError names the fault."""


def answer(plan: LlamaPlan, *, mtp: bool = False) -> tuple[str, Done, str]:
    """Return a greedy answer, how it ended, and its device."""
    engine = LlamaCppEngine()
    try:
        loaded = engine.load(plan, lambda _: None, CancelToken())
        request = ChatRequest(
            (Message("user", QUESTION),), Sampling(temperature=0.0), max_tokens=TOKENS,
            mtp="on" if mtp else "off", depth=2 if mtp else None,
        )  # fmt: skip
        events = list(engine.chat(request, CancelToken()))
    finally:
        engine.close()
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    done = events[-1]
    assert isinstance(done, Done)
    assert not loaded.notes, loaded.notes
    return text, done, loaded.device


def plan_for(
    device: NativeDevice | None, layers: int, kv: KvType = "f16", *, mtp: bool = False
) -> LlamaPlan:
    return LlamaPlan(
        STARTER, 1024, 4, 4, gpu_layers=layers, devices=(device.name,) if device else (),
        kv_type=kv, drafter=DRAFTER if mtp else None, draft_max=2 if mtp else 0,
    )  # fmt: skip


def same_text(device: NativeDevice, layers: int, kv: KvType = "f16", *, mtp: bool = False) -> str:
    expected, _, _ = answer(plan_for(None, 0, kv))
    text, done, ran_on = answer(plan_for(device, layers, kv, mtp=mtp), mtp=mtp)
    assert ran_on == device.description, f"it ran on {ran_on}"
    assert text == expected, f"“{text}” is not the processor's “{expected}”"
    assert not mtp or done.mtp.accepted, "no drafted token was accepted"
    drafts = f", {done.mtp.accepted} of {done.mtp.drafted} drafted tokens" if mtp else ""
    return f"the processor's text, {done.timing.decode_tok_s:.0f} tokens a second{drafts}"


def answers(plan: LlamaPlan, requests: Sequence[ChatRequest]) -> list[str]:
    """Return the texts of simultaneous answers, as many as the plan allows."""
    engine = LlamaCppEngine()

    def tell(request: ChatRequest) -> str:
        events = engine.chat(request, CancelToken())
        return "".join(event.text for event in events if isinstance(event, TextDelta))

    try:
        engine.load(plan, lambda _: None, CancelToken())
        with ThreadPoolExecutor(plan.parallel) as pool:
            return list(pool.map(tell, requests))
    finally:
        engine.close()


def at_once(device: NativeDevice) -> str:
    asked = [
        ChatRequest((Message("user", question),), Sampling(temperature=0.0), max_tokens=TOKENS)
        for question in QUESTIONS
    ]
    expected = answers(plan_for(None, 0), asked)
    texts = answers(replace(plan_for(device, -1), parallel=len(asked)), asked)
    same = sum(text == other for text, other in zip(texts, expected, strict=True))
    assert same >= len(asked) - 1, f"{texts} are not the processor's {expected}"
    return f"{same} of {len(asked)} have the text that the processor gives them one by one"


def looked_at(device: NativeDevice) -> str:
    """Compare the answers of a model with random weights about two pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = write_gemma4(folder / "gemma4.gguf")
        eyes = gemma4_projector(folder / "mmproj-gemma4.gguf", ears=False)
        asked = []
        for seed in (0, 3):
            data = png(320, 240, seed=seed)
            shown = Medium("image", data, sha256(data).hexdigest(), 0)
            message = Message("user", "What is it?", media=(shown,))
            asked.append(ChatRequest((message,), Sampling(temperature=0.0), max_tokens=8))
        plans = [
            replace(plan_for(where, layers), model=model, projector=eyes, context=2048)
            for where, layers in ((None, 0), (device, -1))
        ]
        expected, texts = (answers(plan, asked) for plan in plans)
    assert texts[0] != texts[1], f"both pictures are “{texts[0]}”"
    assert texts == expected, f"{texts} are not the processor's {expected}"
    return "the processor's texts of two pictures"


def trial(device: NativeDevice) -> str:
    with tempfile.TemporaryDirectory() as folder:
        verdict = Trials(Path(folder), STARTER).try_out(device, CancelToken())
    assert not verdict.why, verdict.why
    return "passed"


def counted(device: NativeDevice) -> str:
    """Compare the library's prediction of its allocations with the real ones."""
    plan = plan_for(device, -1)
    said = size(plan)
    engine = LlamaCppEngine()
    try:
        real = engine.load(plan, lambda _: None, CancelToken()).buffers
    finally:
        engine.close()
    assert real is not None
    apart = said.total / real.total - 1
    assert abs(apart) <= 0.005, f"{said.total} bytes foretold, {real.total} taken"
    return f"{real.cards.total} bytes on the card, foretold to {apart:+.2%}"


def planned(device: NativeDevice) -> str:
    hardware = detect([device])
    header = read_header(STARTER)
    plan = make_plan(STARTER, header, hardware, LoadOptions(mtp=False))
    assert plan.gpu_layers == -1, f"{plan.gpu_layers} layers"
    assert plan.devices == (device.name,), plan.devices
    return check(header, hardware, plan).reason


CHECKS: dict[str, Check] = {
    "trial in a process of its own": trial,
    "all layers": lambda device: same_text(device, -1),
    "some layers": lambda device: same_text(device, 3),
    "KV cache q8_0": lambda device: same_text(device, -1, "q8_0"),
    "tokens drafted ahead": lambda device: same_text(device, -1, mtp=True),
    "four answers at once": at_once,
    "two pictures": looked_at,
    "memory foretold": counted,
    "the plan": planned,
}


def prove(*backends: str) -> int:
    """Run every check on the first device of one of these back ends, as llama.cpp names them."""
    found = [device for device in Devices().list_devices() if device.backend in backends]
    if not found:
        print(f"llama.cpp sees no device of {' or '.join(backends)}: see installers/README.md.")
        return 1
    device, failed = found[0], 0
    for name, run_check in CHECKS.items():
        began = time.monotonic()
        try:
            outcome = f"ok      {name}: {run_check(device)}"
        except Exception as error:  # noqa: BLE001 - every other check is still worth running
            failed += 1
            outcome = f"FAILED  {name}: {error}"
        print(f"{outcome} ({time.monotonic() - began:.1f} s)", flush=True)
    gpu = next(gpu for gpu in detect(found).gpus if gpu.device == device.name)
    print(f"{device.description}, {device.backend}, driver {gpu.driver or 'unknown'}")
    print(f"{platform.platform()}, llama-cpp-python {BINDINGS_VERSION}, {LIBRARY_VERSION.decode()}")
    return failed
