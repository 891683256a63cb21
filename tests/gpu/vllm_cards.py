"""Checks of the vLLM engine that need an NVIDIA card: run them by hand, on a machine with one.

    python3 -m tests.gpu.vllm_cards HOME CHECKPOINT [--drafter FOLDER] [--only NAME …]

HOME is an installed environment (`hearth engines install vllm`, then the folder engines/vllm of the
data folder). CHECKPOINT is a folder with config.json and safetensors that fits the card, ideally a
Gemma 4 or a Qwen 3 that can think; FOLDER is its assistant. The starter of resources/starter is
enough, except for its answers. This needs nothing but Hearth's own packages, and no connection.

One command runs all parts in one process. Parts that need the same loaded model share one start,
and all starts share one folder for everything that vLLM compiles: --folder keeps it for the next
command. With a model of up to 8 GB everything takes less than twenty minutes, and `--only tools
load again` five, of which a first start without compiled kernels takes four.

The parts are in the best order for a first run, so that faults of the environment show before the
wait for a start. Each part names its claim, prints its findings, and ends with PASS, FAIL or LEFT
OUT; at the end comes a table of them all, for resources/docs/measurements.md. The exit code is 1 if
a part failed.

    tools       the worker finds the environment's own ninja and nvcc first; nvcc and the
                runtime's headers are of one minor version; the linker finds the driver's library;
                Python.h is there; Ray's needs, if it was installed with Ray
    options     every passed option is in `vllm serve --help=all` of this version
    choice      the cards that would be used, and why: their abilities, the screen, the variables
    load        a start reaches every stage of progress that only cards have, in order, including
                compiling, with the time of each; the share of memory is computed from the free
                memory; no part for pictures is loaded; the log does not mention a missing
                compiler; the answer is the same twice
    again       a second start compiles nothing again; the time of both
    many        eight answers at once are faster in total than one after the other
    fp8cache    keys and values in 8 bits load, and leave room for more tokens
    answers     the checkpoint's generation_config.json changes nothing; cached tokens are
                counted; reasoning and tool calls are no part of the answer
    memory      the card is as free after a close as before, and after a SIGKILL of each
                process of the tree; on one card the engine core is the worker
    stays       the next process continues at once with a worker that stays; a killed process
                leaves the card as free as it was before
    context     a context that cannot fit is refused with a length that fits, and that loads
    occupied    with most of the card in use, the error names the program that uses it
    mtp         greedy answers are the same with and without drafts, and the measured gain
    quantised   a checkpoint whose quantisation the card cannot compute is refused in plain words
                (--wrong FOLDER, such as an NVFP4 one before Blackwell)
    cards       tensor parallel over two cards answers like one card; left out with one card

The checks that need no card are in the suite: `python3 run.py test --vllm`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

from app import __version__
from app.net.server_client import socket_client
from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import EngineError, NotEnoughMemory
from engines.hardware.detect import detect
from engines.models.checkpoint import read_checkpoint
from engines.types import (
    ChatRequest,
    Done,
    Event,
    LoadedModel,
    Message,
    ReasoningDelta,
    Sampling,
    TextDelta,
    Tool,
    ToolCall,
    VllmOptions,
    VllmPlan,
)
from engines.vllm.command import CARD_VARIABLES
from engines.vllm.engine import VllmEngine
from engines.vllm.log import COMPILING
from engines.vllm.memory import card_numbers, memory_share, used_cards
from engines.vllm.parsing import parsing_of
from engines.vllm.provision.home import TOOLKIT, EngineHome, Installed, bytes_in
from engines.vllm.scratch import driver_library
from tests.engines.vllm.another import Hearth
from tests.engines.vllm.faked import gone, members, tree
from tests.engines.vllm.flags import known_to, options
from tests.support.waiting import until

AT_ONCE = 8
SLACK = 400_000_000
QUESTION = "Write a short story about a lighthouse keeper and a storm."


class LeftOut(Exception):
    """A part cannot run on this machine."""


@dataclass
class Machine:
    """The shared state of the parts.

    Attributes:
        plan: The plan for the checkpoint, without drafts.
        folder: The folder for everything that vLLM compiles.
        seen: The findings of the current part.
        first_s: The time of the first start in seconds; 0 before there was one.
    """

    home: EngineHome
    plan: VllmPlan
    drafter: Path | None
    wrong: Path | None
    folder: Path
    seen: list[str] = field(default_factory=list)
    first_s: float = 0.0
    _engine: VllmEngine | None = None
    _loaded: LoadedModel | None = None
    _runs: VllmPlan | None = None

    def saw(self, what: str) -> None:
        """Print a finding of a part, and keep it for the table."""
        print(f"  {what}")
        self.seen.append(what)

    @property
    def engine(self) -> VllmEngine:
        """The engine of all parts."""
        if self._engine is None:
            self._engine = VllmEngine(
                self.home.current, self.folder, lambda where, _: socket_client(Path(where)), detect
            )
        return self._engine

    def load(self, plan: VllmPlan) -> LoadedModel:
        """Load a plan, unless exactly this one is running."""
        if self._loaded is None or self._runs != plan or not self.engine.is_healthy:
            self.start(plan)
        assert self._loaded is not None
        return self._loaded

    def start(self, plan: VllmPlan, progress: Progress = lambda _: None) -> LoadedModel:
        """Start a new worker for a plan, and print how it went."""
        self.close()
        report = self._loaded = self.engine.load(plan, progress, CancelToken())
        self._runs = plan
        self.first_s = self.first_s or report.load_s
        print(f"  loaded in {report.load_s:.0f} s: {report.device}, context {report.context}")
        return report

    def close(self) -> None:
        """End the worker, and wait until the card is free again."""
        self._loaded = self._runs = None
        if self._engine is not None:
            self._engine.close()
            self._engine.settle()

    @property
    def installed(self) -> Installed:
        found = self.home.current()
        assert found is not None, "no environment is in use there"
        return found

    def free(self, cards: int = 1) -> int:
        return sum(card.free_bytes or 0 for card in used_cards(detect(), cards))

    def drafting(self) -> VllmPlan:
        plan = replace(self.plan, drafter=self.drafter, draft_max=2)
        if self.drafter is None and read_checkpoint(plan.model).mtp != "embedded":
            raise LeftOut("the checkpoint has no head of its own, and no --drafter was given")
        return plan

    def compiled(self) -> dict[str, int]:
        """Count the files from which kernels are loaded, by their cache."""
        caches = self.folder / "caches"
        found: dict[str, int] = {}
        for file in caches.rglob("*"):
            if file.suffix in {".so", ".o", ".cubin"}:
                name = file.relative_to(caches).parts[0]
                found[name] = found.get(name, 0) + 1
        return dict(sorted(found.items()))


QUIET = ("Could not find nvcc", "ninja", "Python.h", "Failed to find C compiler")
"""Words in the log if a compiler is missing."""
WEATHER = Tool(
    "get_weather",
    "Tell the weather in a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def events_of(engine: VllmEngine, tokens: int, text: str, **options: object) -> list[Event]:
    request = ChatRequest((Message("user", text),), Sampling(temperature=0.0), max_tokens=tokens)
    return list(engine.chat(replace(request, **options), CancelToken()))  # type: ignore[arg-type]


def text_in(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def ask(engine: VllmEngine, tokens: int = 200, text: str = QUESTION) -> tuple[str, Done]:
    events = events_of(engine, tokens, text)
    done = events[-1]
    assert isinstance(done, Done)
    return text_in(events), done


def said(engine: VllmEngine, pattern: str) -> str:
    """Return the number after a pattern in the worker's log; empty if there is none."""
    found = re.findall(pattern + r"\s*([\d.,]+)", "\n".join(engine.status().log))
    return str(found[-1]) if found else ""


def refused(machine: Machine, plan: VllmPlan) -> EngineError | None:
    """Return the error with which a plan does not load; None if it loads."""
    try:
        machine.start(plan)
    except EngineError as error:
        machine.saw(f"{error.code}: {error}")
        return error
    return None


def common(one: str, other: str) -> str:
    """Return the common beginning of two texts."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(letter for letter, _ in same)


def output(*words: object) -> str:
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def part_tools(machine: Machine) -> None:
    installed = machine.installed
    folder = installed.folder
    machine.saw(f"ninja: {output(folder / 'bin' / 'ninja', '--version')}")
    nvcc = output(folder / TOOLKIT / "bin" / "nvcc", "--version")
    compiler = re.search(r"release (\d+\.\d+)", nvcc)
    header = (folder / TOOLKIT / "include" / "cuda_runtime_api.h").read_text(errors="replace")
    runtime = re.search(r"#define\s+CUDART_VERSION\s+(\d+)", header)
    assert compiler, nvcc
    assert runtime
    headers = f"{int(runtime[1]) // 1000}.{int(runtime[1]) % 1000 // 10}"
    machine.saw(f"nvcc {compiler[1]}, headers of CUDA {headers}")
    assert compiler[1] == headers, "kernels cannot be compiled"
    machine.saw(f"the driver's library: {driver_library()}")
    assert driver_library() is not None, "kernels cannot be linked"
    where = "import sysconfig; print(sysconfig.get_paths()['include'])"
    assert Path(output(installed.python, "-c", where), "Python.h").exists(), "see the preflight"
    if installed.lock == "cuda-ray":
        output(installed.python, "-c", "import ray")
        machine.saw("Ray is there")


def part_options(machine: Machine) -> None:
    with tempfile.TemporaryDirectory() as made:
        wanted = options(machine.installed, Path(made))
        unknown = wanted - known_to(machine.installed, Path(made))
    machine.saw(f"{len(wanted)} options, {len(unknown)} unknown {sorted(unknown) or ''}".strip())
    assert not unknown


def part_choice(machine: Machine) -> None:
    hardware = detect()
    every = [gpu for gpu in hardware.gpus if gpu.vendor == "nvidia"]
    for gpu in every:
        computes = ".".join(map(str, gpu.capability or ())) or "unknown"
        more = (" draws the screen," if gpu.shows else "") + (" hidden," if gpu.hidden else "")
        machine.saw(f"{gpu.name}: {computes},{more} {(gpu.free_bytes or 0) / 1e9:.1f} GB free")
    chosen = used_cards(hardware, 1)
    assert chosen, "no card can be used"
    machine.saw(f"takes number {card_numbers(hardware, chosen)[0]}")
    variables = {name: os.environ[name] for name in CARD_VARIABLES if name in os.environ}
    print(f"  variables: {variables}")
    assert not chosen[0].hidden
    plain = [gpu for gpu in every if not gpu.shows and not gpu.hidden]
    same = [gpu for gpu in plain if gpu.capability == chosen[0].capability]
    emptier = [gpu for gpu in same if (gpu.free_bytes or 0) > (chosen[0].free_bytes or 0)]
    assert not emptier, "another card has more free and draws no screen"


def part_load(machine: Machine) -> None:
    stages: list[tuple[str, float]] = []
    shares: list[float] = []
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
            words = machine.engine.status().words
            if words and (not stages or stages[-1][0] != words):
                stages.append((words, time.monotonic()))

    before = machine.compiled()
    free = machine.free()
    most = memory_share(used_cards(detect(), 1), None)
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        report = machine.start(machine.plan, shares.append)
    finally:
        over.set()
        watcher.join()
        ends = [it[1] for it in stages[1:]] + [time.monotonic()]
        took = [f"{it[0]} {end - it[1]:.0f} s" for it, end in zip(stages, ends, strict=True)]
        print(f"  stages: {', '.join(took)}")
    taken = (free - machine.free()) / 1e9
    machine.saw(f"{report.load_s:.0f} s, {free / 1e9:.1f} GB free before, {taken:.1f} GB taken")
    machine.saw(f"at most {most} of the card may be taken")
    weights = said(machine.engine, "Model loading took")
    room = said(machine.engine, "KV cache size:")
    machine.saw(f"weights {weights} GiB, room for {room} tokens")
    machine.saw(f"compiled {machine.compiled() or 'nothing'}, before {before or 'nothing'}")
    log = machine.engine.status().log
    missing = [line for line in log for word in QUIET if word in line]
    assert not missing, missing
    assert not any("vision" in line and "loading" in line.lower() for line in log)
    assert shares == sorted(shares)
    _in_order([it[0] for it in stages], cold=not before)
    assert weights, "the log says what the weights take"
    first, again = ask(machine.engine)[0], ask(machine.engine)[0]
    assert first
    assert first == again, "greedy answers are the same"


def _in_order(words: list[str], *, cold: bool) -> None:
    """Check that the stages of cards were seen in order.

    Memory is measured between them, which may be too short to be seen.

    Args:
        words: The stages that were seen.
        cold: True if it had to compile.
    """
    wanted = ["Loading the weights", *([COMPILING] if cold else []), "Capturing CUDA graphs"]
    firsts = [
        next((at for at, it in enumerate(words) if it.startswith(mark)), -1) for mark in wanted
    ]
    assert -1 not in firsts, dict(zip(wanted, firsts, strict=True))
    assert firsts == sorted(firsts), dict(zip(wanted, firsts, strict=True))


def part_again(machine: Machine) -> None:
    if not machine.first_s:
        machine.start(machine.plan)
    before = machine.compiled()
    report = machine.start(machine.plan)
    after = machine.compiled()
    _, done = ask(machine.engine)
    size = bytes_in(machine.folder / "caches") / 1e9
    machine.saw(f"{report.load_s:.0f} s, the first {machine.first_s:.0f} s, caches {size:.1f} GB")
    machine.saw(f"kept {after}")
    machine.saw(f"{done.timing.decode_tok_s:.1f} tokens/s")
    assert before, "nothing compiled is kept in Hearth's folder"
    assert after == before, f"compiled anew: {before} before"
    assert not any("Building JIT module" in line for line in machine.engine.status().log)


def part_many(machine: Machine) -> None:
    machine.load(machine.plan)
    engine = machine.engine
    ask(engine, 32)
    began = time.monotonic()
    one = ask(engine)[1].usage.completion_tokens / (time.monotonic() - began)
    counts: list[int] = []

    def answer(number: int) -> None:
        counts.append(ask(engine, 200, f"{QUESTION} Number {number}.")[1].usage.completion_tokens)

    threads = [threading.Thread(target=answer, args=(number,)) for number in range(AT_ONCE)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    eight = sum(counts) / (time.monotonic() - began)
    machine.saw(f"one {one:.1f} tokens/s, eight {eight:.1f} in all ({eight / one:.1f}x)")
    assert len(counts) == AT_ONCE
    assert eight > 1.5 * one


def part_fp8cache(machine: Machine) -> None:
    room = []
    for plan in (machine.plan, replace(machine.plan, kv_type="q8_0")):
        report = machine.load(plan)
        room.append(int(said(machine.engine, "KV cache size:").replace(",", "") or 0))
        machine.saw(f"{plan.kv_type}: room for {room[-1]:,} tokens {' '.join(report.notes)}")
        assert ask(machine.engine, 40)[0]
    assert room[1] > 1.5 * room[0]


def part_answers(machine: Machine) -> None:
    model = machine.folder / "governed"
    shutil.rmtree(model, ignore_errors=True)
    shutil.copytree(machine.plan.model, model, copy_function=os.symlink)
    told = model / "generation_config.json"
    written = json.loads(told.read_text()) if told.exists() else {}
    told.unlink(missing_ok=True)
    told.write_text(json.dumps(written | {"max_new_tokens": 7, "min_p": 0.2, "temperature": 0.1}))
    report = machine.start(replace(machine.plan, model=model))
    engine = machine.engine
    assert ask(engine)[1].usage.completion_tokens > 7, "the model's file ended the answer"
    long = "Where are my chats, and who can read them? " * 120
    counts = [ask(engine, 8, long)[1].usage.cached_tokens for _ in range(2)]
    machine.saw(f"{counts[1]} of the tokens had been read before")
    assert counts[0] == 0 < counts[1]
    if report.thinking == "none":
        machine.saw("it does not think: take one that does to see that")
    else:
        _thinks(machine, engine, model)
    events = events_of(engine, 400, "What is the weather in Paris?", tools=(WEATHER,))
    calls = [event for event in events if isinstance(event, ToolCall)]
    machine.saw(f"asks for {[(it.name, it.arguments) for it in calls] or 'no tool'}")
    assert "<" not in text_in(events), "a marker is in the text"


def _thinks(machine: Machine, engine: VllmEngine, model: Path) -> None:
    events = events_of(engine, 600, "What is 17 times 23?", thinking=True, thinking_budget=200)
    thought = "".join(event.text for event in events if isinstance(event, ReasoningDelta))
    done = events[-1]
    assert isinstance(done, Done)
    machine.saw(f"{done.usage.reasoning_tokens} tokens of reasoning apart from the answer")
    assert thought
    assert text_in(events)
    markers = ("<|channel", "<channel|", "<think>", "</think>", "[THINK]", "[/THINK]")
    assert not any(it in thought + text_in(events) for it in markers)
    if parsing_of(model).budget:
        assert done.usage.reasoning_tokens <= 210


def part_memory(machine: Machine) -> None:
    machine.close()
    before = machine.free()
    for victim in ("", "api", "core"):
        machine.start(machine.plan)
        worker = machine.engine.worker
        assert worker is not None
        named = tree(worker.session, worker.guardian)
        everything = members(worker.guardian)
        print(f"  processes: {sorted(named)}; taken: {(before - machine.free()) / 1e9:.1f} GB")
        if victim:
            os.kill(named[victim].pid, signal.SIGKILL)
            until(lambda keys=everything: gone(keys), 30)  # type: ignore[misc]
        machine.close()
        assert gone(everything)
        until(lambda: machine.free() >= before - SLACK, 15)
        machine.saw(f"after {victim or 'a close'} {machine.free() / 1e9:.1f} GB free")


def part_stays(machine: Machine) -> None:
    machine.close()
    before = machine.free()
    plan = ["--model", str(machine.plan.model), "--context", str(machine.plan.context)]
    seconds, texts, sessions = [], [], []
    everything: set[tuple[int, int]] = set()
    for last in (False, True):
        began = time.monotonic()
        with Hearth(machine.home.root, machine.folder, "it", *plan) as hearth:
            sessions.append(hearth.session)
            seconds.append(time.monotonic() - began)
            texts.append(hearth.ask())
            everything |= members(hearth.guardian)
            if not last:
                hearth.leave(600)
                assert not gone(everything), "it does not stay"
    machine.saw(f"the first start {seconds[0]:.0f} s, the next process {seconds[1]:.1f} s")
    assert sessions[0] == sessions[1]
    assert texts[0] == texts[1]
    # The last one was killed.
    until(lambda: gone(everything), 30)
    until(lambda: machine.free() >= before - SLACK, 15)


def part_context(machine: Machine) -> None:
    most = read_checkpoint(machine.plan.model).context_max
    error = refused(machine, replace(machine.plan, context=most, anyway=True))
    if error is None:
        raise LeftOut(f"the whole context of {most:,} tokens fits this card")
    assert isinstance(error, NotEnoughMemory)
    assert error.action is not None
    assert error.action.kind == "shorter_context"
    fits = int(error.action.value)
    assert machine.start(replace(machine.plan, context=fits)).context == fits


def part_occupied(machine: Machine) -> None:
    machine.close()
    installed = machine.installed
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
            error = refused(
                machine, replace(machine.plan, options=VllmOptions(memory_share=0.9), anyway=True)
            )
            assert isinstance(error, NotEnoughMemory), "it loaded on a card that is taken"
            assert "python" in error.why, "it names who takes it"
        finally:
            other.kill()


def part_mtp(machine: Machine) -> None:
    drafting = machine.drafting()
    texts, speeds = [], []
    for plan in (machine.plan, drafting):
        report = machine.load(plan)
        print(f"  {report.mtp_line}")
        ask(machine.engine)
        text, done = ask(machine.engine)
        texts.append(text)
        speeds.append(done.timing.decode_tok_s)
        print(f"  {done.timing.decode_tok_s:.1f} tokens/s; {done.mtp.reason}")
    machine.saw(f"{speeds[0]:.1f} and {speeds[1]:.1f} tokens/s, {speeds[1] / speeds[0]:.2f}x")
    same = common(*texts)
    machine.saw(f"the same for {len(same)} of {len(texts[0])} characters")
    assert done.mtp.accepted > 0
    assert len(same) > 80, "a near tie may fall the other way later, not at once"


def part_quantised(machine: Machine) -> None:
    if machine.wrong is None:
        raise LeftOut("no --wrong checkpoint was given")
    error = refused(machine, replace(machine.plan, model=machine.wrong))
    assert error is not None, "the card can compute it"
    assert error.code in {"engine_unavailable", "model_architecture"}


def part_cards(machine: Machine) -> None:
    if len(used_cards(detect(), 2)) < 2:
        raise LeftOut("there is one card")
    texts = []
    for cards in (1, 2):
        machine.load(replace(machine.plan, options=VllmOptions(cards=cards)))
        texts.append(ask(machine.engine)[0])
        speed = ask(machine.engine)[1].timing.decode_tok_s
        machine.saw(f"{cards} cards: {speed:.1f} tokens/s")
    assert len(common(*texts)) > 40, "the sums differ in their last bits only"


PARTS: dict[str, Callable[[Machine], None]] = {
    name.removeprefix("part_"): thing
    for name, thing in list(globals().items())
    if name.startswith("part_")
}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a part: a row of the table."""

    name: str
    result: str
    seconds: float
    seen: str

    @property
    def row(self) -> str:
        return f"| {self.name} | {self.result} | {self.seconds:.0f} | {self.seen} |"


def carried_out(name: str, machine: Machine) -> Outcome:
    """Run a part. A failure does not end the run, as the next parts are still worth running."""
    print(f"{name}:")
    machine.seen.clear()
    began = time.monotonic()
    try:
        PARTS[name](machine)
    except LeftOut as reason:
        result = "left out"
        machine.seen.append(str(reason))
    except Exception as error:  # noqa: BLE001
        result = "FAIL"
        traceback.print_exc()
        machine.seen.append(f"{type(error).__name__}: {error}".splitlines()[0])
    else:
        result = "pass"
    seconds = time.monotonic() - began
    seen = "; ".join(machine.seen).replace("|", "\\|").replace("\n", " ")
    print(f"  {result.upper()} in {seconds:.0f} s")
    return Outcome(name, result, seconds, seen)


def table(machine: Machine, outcomes: list[Outcome]) -> str:
    """Return the table for the measurements: the machine, then a row for each part."""
    cards = ", ".join(
        f"{gpu.name} (driver {gpu.driver})" for gpu in detect().gpus if gpu.vendor == "nvidia"
    )
    installed = machine.installed
    where = [
        time.strftime("%Y-%m-%d"),
        cards or "no card",
        f"vLLM {installed.version} ({installed.lock or installed.profile})",
        f"Hearth {__version__}, Python {platform.python_version()}, {platform.platform()}",
        machine.plan.model.name,
    ]
    rows = ["| Part | Outcome | s | Seen |", "|---|---|---|---|", *(it.row for it in outcomes)]
    return "\n".join(["; ".join(where), "", *rows])


def main() -> int:
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )

    def folder(text: str) -> Path:
        return Path(text).resolve()  # a worker starts elsewhere

    words.add_argument("home", type=folder)
    words.add_argument("checkpoint", type=folder)
    words.add_argument("--drafter", type=folder)
    words.add_argument("--wrong", type=folder)
    words.add_argument("--context", type=int, help="the model's own, if that is less", default=8192)
    words.add_argument("--folder", type=folder, help="keep what is compiled here")
    words.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    given = words.parse_args()
    context = min(given.context, read_checkpoint(given.checkpoint).context_max or given.context)
    plan = VllmPlan(given.checkpoint, context, draft_max=0, parallel=AT_ONCE)
    with tempfile.TemporaryDirectory() as made:
        kept = given.folder or Path(made)
        kept.mkdir(parents=True, exist_ok=True)
        machine = Machine(EngineHome(given.home), plan, given.drafter, given.wrong, kept)
        print(f"environment: {machine.installed}")
        try:
            outcomes = [carried_out(name, machine) for name in given.only]
        finally:
            machine.close()
        print(f"\n{table(machine, outcomes)}")
    return int(any(it.result == "FAIL" for it in outcomes))


if __name__ == "__main__":
    sys.exit(main())
