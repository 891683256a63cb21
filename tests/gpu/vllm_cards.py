"""What only an NVIDIA card can show of the vLLM engine: run by hand, on a machine that has one.

    python3 -m tests.gpu.vllm_cards HOME CHECKPOINT [--drafter FOLDER] [--only NAME …]

HOME is an installed environment (`hearth engines install vllm`, then the folder engines/vllm of the
data folder). CHECKPOINT is a folder with config.json and safetensors that fits the card, FOLDER its
assistant. With a model of up to 8 GB all takes less than ten minutes; each part says what it
proves, prints what it saw, and ends with PASS, FAIL or LEFT OUT:

    load        a start reaches every stage of progress that only cards have, in order; the share
                of memory is computed from what is free; the answer is the same twice
    memory      the card is as free behind a close as it was before, and after a SIGKILL of each
                process of the tree; on one card the engine core is the worker
    context     a context that cannot fit is refused with a length that does fit, and that loads
    occupied    with most of the card taken, the error names who takes it
    mtp         answers with and without drafts are the same where greedy, and the measured gain
    many        eight answers at once are faster in all than one after the other
    fp8cache    keys and values in 8 bits load, and leave room for more tokens
    quantised   a checkpoint whose quantisation the card cannot compute is refused in plain words
                (--wrong FOLDER, such as an NVFP4 one before Blackwell)
    cards       tensor parallel over two cards answers as one card does; left out with one card

Nothing of this has been run where it was written: there was no card. Put date, card, driver,
versions and the printed lines into resources/docs/measurements.md. Exit code 1 if a part failed.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from app.net.server_client import socket_client
from engines.cancel import CancelToken
from engines.errors import EngineError, NotEnoughMemory
from engines.hardware.detect import detect
from engines.models.checkpoint import read_checkpoint
from engines.types import (
    ChatRequest,
    Done,
    LoadedModel,
    LoadPlan,
    Message,
    Sampling,
    TextDelta,
)
from engines.vllm.engine import VllmEngine
from engines.vllm.memory import memory_share, used_cards
from engines.vllm.provision.home import EngineHome
from tests.engines.vllm.faked import gone, members, tree, until

SLACK = 400_000_000
QUESTION = "Write a short story about a lighthouse keeper and a storm."


class LeftOut(Exception):
    """A part that this machine cannot show."""


@dataclass
class Machine:
    """What the parts share. plan: for the checkpoint, without drafts."""

    home: EngineHome
    plan: LoadPlan
    drafter: Path | None
    wrong: Path | None
    folder: Path

    @contextmanager
    def engine(self) -> Iterator[VllmEngine]:
        engine = VllmEngine(
            self.home.current, self.folder, lambda where, _: socket_client(Path(where)), detect
        )
        try:
            yield engine
        finally:
            engine.close()

    def free(self, cards: int = 1) -> int:
        return sum(card.free_bytes or 0 for card in used_cards(detect(), cards))

    def drafting(self) -> LoadPlan:
        plan = replace(self.plan, drafter=self.drafter, draft_max=2)
        if self.drafter is None and read_checkpoint(plan.model).mtp != "embedded":
            raise LeftOut("the checkpoint has no head of its own, and no --drafter was given")
        return plan


def load(engine: VllmEngine, plan: LoadPlan) -> LoadedModel:
    began = time.monotonic()
    report = engine.load(plan, lambda _: None, CancelToken())
    print(
        f"  loaded in {time.monotonic() - began:.0f} s: {report.device}, context {report.context}"
    )
    return report


def ask(engine: VllmEngine, tokens: int = 200, text: str = QUESTION) -> tuple[str, Done]:
    request = ChatRequest((Message("user", text),), Sampling(temperature=0.0), max_tokens=tokens)
    events = list(engine.chat(request, CancelToken()))
    done = events[-1]
    assert isinstance(done, Done)
    return "".join(event.text for event in events if isinstance(event, TextDelta)), done


def said(engine: VllmEngine, pattern: str) -> str:
    """The number in the worker's log behind a pattern; empty if there is none."""
    found = re.findall(pattern + r"\s*([\d.,]+)", "\n".join(engine.status().log))
    return str(found[-1]) if found else ""


def refused(engine: VllmEngine, plan: LoadPlan) -> EngineError | None:
    """Why it does not load; None if it does."""
    try:
        load(engine, plan)
    except EngineError as error:
        print(f"  {error.code}: {error}")
        return error
    return None


def common(one: str, other: str) -> str:
    """What both begin with."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(letter for letter, _ in same)


def part_load(machine: Machine) -> None:
    seen: list[str] = []
    shares: list[float] = []
    with machine.engine() as engine:

        def progress(share: float) -> None:
            shares.append(share)
            words = engine.status().words
            if words and words not in seen:
                seen.append(words)

        free = machine.free()
        wanted = memory_share(used_cards(detect(), 1), None)
        engine.load(machine.plan, progress, CancelToken())
        print(f"  stages: {', '.join(seen)}")
        print(f"  share of the card: {wanted}; free before: {free / 1e9:.1f} GB")
        weights = said(engine, "Model loading took")
        print(f"  weights: {weights} GiB; room for {said(engine, 'KV cache size:')} tokens")
        assert shares == sorted(shares)
        assert any("CUDA graphs" in words for words in seen), "graph capture was seen"
        assert any("Measuring" in words for words in seen), "memory profiling was seen"
        assert weights, "the log says what the weights take"
        first, again = ask(engine)[0], ask(engine)[0]
        assert first
        assert first == again, "greedy answers are the same"


def part_memory(machine: Machine) -> None:
    before = machine.free()
    for victim in ("", "api", "core"):
        with machine.engine() as engine:
            load(engine, machine.plan)
            worker = engine.worker
            assert worker is not None
            named = tree(worker.session, worker.guardian)
            everything = members(worker.guardian)
            print(f"  processes: {sorted(named)}; taken: {(before - machine.free()) / 1e9:.1f} GB")
            if victim:
                os.kill(named[victim].pid, signal.SIGKILL)
                until(lambda keys=everything: gone(keys), 30)  # type: ignore[misc]
        assert gone(everything)
        until(lambda: machine.free() >= before - SLACK, 15)
        print(f"  after {victim or 'a close'}: {machine.free() / 1e9:.1f} GB free")


def part_context(machine: Machine) -> None:
    most = read_checkpoint(machine.plan.model).context_max
    with machine.engine() as engine:
        error = refused(engine, replace(machine.plan, context=most, anyway=True))
        if error is None:
            raise LeftOut(f"the whole context of {most:,} tokens fits this card")
        assert isinstance(error, NotEnoughMemory)
        assert error.action is not None
        assert error.action.kind == "shorter_context"
        fits = int(error.action.value)
        assert load(engine, replace(machine.plan, context=fits)).context == fits


def part_occupied(machine: Machine) -> None:
    installed = machine.home.current()
    assert installed is not None
    size = int(machine.free() * 0.9)
    hold = (
        "import torch, time\n"
        f"x = torch.empty({size}, dtype=torch.uint8, device='cuda')\n"
        "print('held', flush=True)\ntime.sleep(600)"
    )
    command = [str(installed.python), "-c", hold]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline().strip() == "held"
            with machine.engine() as engine:
                plan = replace(machine.plan, memory_share=0.9, anyway=True)
                error = refused(engine, plan)
            assert isinstance(error, NotEnoughMemory), "it loaded on a card that is taken"
            assert "python" in error.why, "it names who takes it"
        finally:
            other.kill()


def part_mtp(machine: Machine) -> None:
    drafting = machine.drafting()
    texts, speeds = [], []
    with machine.engine() as engine:
        for plan in (replace(drafting, draft_max=0), drafting):
            report = load(engine, plan)
            print(f"  {report.mtp_line}")
            ask(engine)
            text, done = ask(engine)
            texts.append(text)
            speeds.append(done.timing.decode_tok_s)
            print(f"  {done.timing.decode_tok_s:.1f} tokens/s; {done.mtp.reason}")
    print(f"  gain: {speeds[1] / speeds[0]:.2f}x")
    same = common(*texts)
    print(f"  the same for {len(same)} of {len(texts[0])} characters")
    assert done.mtp.accepted > 0
    assert len(same) > 80, "a near tie may fall the other way later, not at once"


def part_many(machine: Machine) -> None:
    with machine.engine() as engine:
        load(engine, replace(machine.plan, parallel=8))
        ask(engine, 32)
        began = time.monotonic()
        one = ask(engine)[1].usage.completion_tokens / (time.monotonic() - began)
        counts: list[int] = []

        def answer(number: int) -> None:
            counts.append(
                ask(engine, 200, f"{QUESTION} Number {number}.")[1].usage.completion_tokens
            )

        threads = [threading.Thread(target=answer, args=(number,)) for number in range(8)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        eight = sum(counts) / (time.monotonic() - began)
    print(f"  one chat: {one:.1f} tokens/s, eight at once: {eight:.1f} in all ({eight / one:.1f}x)")
    assert len(counts) == 8
    assert eight > 1.5 * one


def part_fp8cache(machine: Machine) -> None:
    room = []
    with machine.engine() as engine:
        for plan in (machine.plan, replace(machine.plan, kv_type="q8_0")):
            report = load(engine, plan)
            room.append(int(said(engine, "KV cache size:").replace(",", "") or 0))
            print(f"  {plan.kv_type}: room for {room[-1]:,} tokens {report.notes}")
            assert ask(engine, 40)[0]
    assert room[1] > 1.5 * room[0]


def part_quantised(machine: Machine) -> None:
    if machine.wrong is None:
        raise LeftOut("no --wrong checkpoint was given")
    with machine.engine() as engine:
        error = refused(engine, replace(machine.plan, model=machine.wrong))
    assert error is not None, "the card can compute it"
    assert error.code in {"engine_unavailable", "model_architecture"}


def part_cards(machine: Machine) -> None:
    if len(used_cards(detect(), 2)) < 2:
        raise LeftOut("there is one card")
    texts = []
    with machine.engine() as engine:
        for cards in (1, 2):
            load(engine, replace(machine.plan, tensor_parallel=cards))
            texts.append(ask(engine)[0])
            print(f"  {cards} cards: {ask(engine)[1].timing.decode_tok_s:.1f} tokens/s")
    assert len(common(*texts)) > 40, "the sums differ in their last bits only"


PARTS: dict[str, Callable[[Machine], None]] = {
    name.removeprefix("part_"): thing
    for name, thing in list(globals().items())
    if name.startswith("part_")
}


def main() -> int:
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("home", type=Path)
    words.add_argument("checkpoint", type=Path)
    words.add_argument("--drafter", type=Path)
    words.add_argument("--wrong", type=Path)
    words.add_argument("--context", type=int, default=8192)
    words.add_argument("--only", nargs="+", choices=sorted(PARTS), default=list(PARTS))
    given = words.parse_args()
    plan = LoadPlan(given.checkpoint, given.context, 4, 4, gpu_layers=-1, draft_max=0)
    failed = False
    print(
        f"{time.strftime('%Y-%m-%d')}: {[gpu for gpu in detect().gpus if gpu.vendor == 'nvidia']}"
    )
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(EngineHome(given.home), plan, given.drafter, given.wrong, Path(folder))
        print(f"environment: {machine.home.current()}")
        for name in given.only:
            began = time.monotonic()
            print(f"{name}:")
            try:
                PARTS[name](machine)
            except LeftOut as reason:
                print(f"  LEFT OUT: {reason}")
            except Exception:  # noqa: BLE001  the next part says more than an end here
                failed = True
                traceback.print_exc()
                print("  FAIL")
            else:
                print(f"  PASS in {time.monotonic() - began:.0f} s")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
