"""The gain of MTP: Auto beside Off and every fixed depth, side by side in one run.

python tests/bench/mtp.py [--dir DIR] [--size 0.3b|1b] [--quantisation F16]... [--tokens N]
                          [--rounds N] [--threads N] [--kind gemma|qwen] [--real]

The models are made once in DIR: real architectures at sizes with real costs, and random weights, so
their text makes no sense. The acceptance is therefore set by construction: the real drafter works
and is timed, and its guesses are replaced by the true continuation, each wrong at a given rate
(tests/support/oracle.py). The real loop then checks them: it really draws, but gets the token of
that continuation, so that every mode writes the same text. A kind of text is such a rate, which
Auto has to find out.

For each text it measures tokens a second against Off: the median of rounds in which every mode runs
once, in turns. Each answer stands between two with Off, half as long, and is compared with those,
as a shared computer is a tenth faster or slower from one half minute to the next. Auto has to reach
0.98 of Off, and 0.95 of the best of the fixed depths and Off. In each round, the best one is the
one that was best in the other rounds, since the best of the same round would be the luckiest of
several equals. The gain has to reach 0.95 of its bound, the tokens of a step / (c(k) + k d). c(k),
the time to check k drafts in plain steps, and d, the time to make one, are timed at the beginning
of each round, after the same text: while other programs use the memory, the plain step waits for
it, and checks are cheaper. It exits with 1 below a bar.

With --real it measures SmolLM2-135M-Instruct, a trained model (`python3 run.py test --real` fetches
it). It has no head; it drafts from the text, and its own tokens are kept. For each text it prints
the gain of Auto and of depth 4, the accepted drafts, and the gain of the whole answer by the wall
clock, with the prompt, as an app notices it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import engines.llamacpp.answer as answers  # noqa: E402
from engines.cancel import CancelToken  # noqa: E402
from engines.llamacpp.context import EVALUATED  # noqa: E402
from engines.llamacpp.engine import LlamaCppEngine  # noqa: E402
from engines.llamacpp.guided import open_sampler  # noqa: E402
from engines.llamacpp.loaded import Loaded  # noqa: E402
from engines.llamacpp.mtp import More  # noqa: E402
from engines.llamacpp.sampling import Greedy  # noqa: E402
from engines.llamacpp.speculative.costs import Costs  # noqa: E402
from engines.types import ChatRequest, Done, LlamaPlan, Message, MtpMode, Sampling  # noqa: E402
from tests.support.mtp_models import Kind, Quantisation, Size, made  # noqa: E402
from tests.support.oracle import Dictated, Oracle  # noqa: E402
from tests.support.smollm2 import QUESTIONS, fetched  # noqa: E402

TEXTS = {"copying": 0.98, "code": 0.9, "chat": 0.75, "prose": 0.45}
DEPTHS = (1, 2, 3, 4, 6, 8)
PROMPT = Message("user", "Tell me of the sea, and of the ships on it. ")

Way = tuple[MtpMode, int | None]
OFF: Way = ("off", None)
AUTO: Way = ("auto", None)


@dataclass
class Bench:
    """A loaded model whose drafts have a chosen acceptance."""

    engine: LlamaCppEngine
    tokens: int
    prompt: Message = PROMPT
    text: list[int] = field(default_factory=list)

    @property
    def loaded(self) -> Loaded:
        return self.engine.chat_model

    def answer(self, way: Way, tokens: int | None = None) -> Done:
        request = ChatRequest(
            (self.prompt,),
            Sampling(temperature=0.0),
            tokens or self.tokens,
            mtp=way[0],
            depth=way[1],
        )
        for event in self.engine.chat(request, CancelToken()):
            if isinstance(event, Done):
                done = event
        return done

    def learn_the_text(self) -> None:
        """Make every later answer the same as this one."""
        self.answer(OFF)
        self.text = list(self.loaded.slots[0].cache.tokens)
        vars(answers)["open_sampler"] = self.dictate

    def dictate(self, *args: Any, **more: Any) -> Dictated:
        prompt = more["prior"]
        return Dictated(open_sampler(*args, **more), self.text[len(prompt) :])

    def draft(self, right: float, seed: int) -> None:
        speculation = self.loaded.slots[0].speculation
        assert speculation is not None
        drafter = self.loaded.slots[0].drafting.each[0].drafter
        assert drafter is not None
        speculation.drafter = Oracle(drafter, self.text, right, seed)


def measured_costs(bench: Bench, rounds: int) -> Costs:
    """Return c(k) and d after the text, by the clock alone, without the engine's own estimates."""
    loaded = bench.loaded
    drafter, vocabulary = loaded.slots[0].drafting.each[0].drafter, loaded.model.vocabulary.size
    assert drafter is not None
    bench.answer(OFF)
    start = len(loaded.slots[0].cache.tokens)
    sampler = Greedy(loaded.native, vocabulary)
    depths = (0, *DEPTHS)
    steps: dict[int, list[float]] = {k: [] for k in depths}
    drafts: list[float] = []
    loaded.slots[0].drafting.each[0].expose()
    for _ in range(rounds):
        for k in depths:
            # The first of several equal calls builds llama.cpp's graph, and the others reuse it.
            for repetition in range(4):
                began = perf_counter()
                outcome = loaded.context.evaluate(bench.text[: k + 1], start, outputs=k + 1)
                assert outcome == EVALUATED
                for row in range(k + 1):
                    sampler.draw(loaded.context, row)
                if repetition:
                    steps[k].append(perf_counter() - began)
                loaded.native.api.llama_memory_seq_rm(loaded.context.memory, 0, start, -1)
        assert loaded.context.evaluate(bench.text[:1], start, outputs=1) == EVALUATED
        drafter.observe(bench.text[:1], start)
        began = perf_counter()
        made = drafter.propose(bench.text[1], start + 1, some(3))
        drafts.append((perf_counter() - began) / len(made))
        drafter.roll_back(start)
        loaded.native.api.llama_memory_seq_rm(loaded.context.memory, 0, start, -1)
    return Costs({k: median(times) for k, times in steps.items()}, median(drafts))


def some(count: int) -> More:
    """Ask a drafter for this many guesses."""
    asked = iter(range(1, count))
    return lambda _token, _sure: next(asked, None) is not None


def bound(costs: Costs, depth: int, done: Done) -> float:
    """Return the gain that the costs and this answer's acceptance allow at a fixed depth."""
    steps = done.usage.completion_tokens - done.mtp.accepted
    tokens_a_step = done.usage.completion_tokens / steps
    drafts_a_step = done.mtp.drafted / steps
    return tokens_a_step / (costs.ratio(depth) + drafts_a_step * costs.draft)


def plain_seconds(bench: Bench) -> float:
    """Return the current seconds for a token without drafts."""
    return 1 / bench.answer(OFF, bench.tokens // 2).timing.decode_tok_s


def measure_real(bench: Bench, text: str, rounds: int) -> None:
    """Print the figures of a text that the model writes itself, from an empty cache each time."""
    ways: list[Way] = [AUTO, ("on", 4)]
    speeds: dict[Way, list[float]] = {way: [] for way in ways}
    walls: dict[Way, list[float]] = {way: [] for way in ways}
    plain, said = list[float](), dict[Way, str]()
    bench.prompt = Message("user", QUESTIONS[text])
    before = cold(bench, OFF)
    for number in range(rounds):
        for way in ways if number % 2 == 0 else ways[::-1]:
            done, wall = cold(bench, way)
            after = cold(bench, OFF)
            rate = (before[0].timing.decode_tok_s + after[0].timing.decode_tok_s) / 2
            speeds[way].append(done.timing.decode_tok_s / rate)
            walls[way].append((before[1] + after[1]) / 2 / wall)
            plain.append(rate)
            said[way] = f"{done.mtp.accepted} of {done.mtp.drafted} drafts held: {done.mtp.reason}"
            before = after
    print(
        f"  {text}, {before[0].usage.prompt_tokens} tokens and an answer of"
        f" {before[0].usage.completion_tokens}; Off {median(plain):.1f} tok/s"
    )
    for way in ways:
        name = f"depth {way[1]}" if way[1] else "Auto"
        print(
            f"    {name}: {median(speeds[way]):.2f}x ({min(speeds[way]):.2f} to"
            f" {max(speeds[way]):.2f}), whole answer {median(walls[way]):.2f}x\n      {said[way]}",
            flush=True,
        )


def cold(bench: Bench, way: Way) -> tuple[Done, float]:
    """Write an answer; return it and its seconds per token, prompt included."""
    bench.loaded.slots[0].cache.clear()
    began = perf_counter()
    done = bench.answer(way)
    return done, (perf_counter() - began) / done.usage.completion_tokens


def beside_best(speeds: Mapping[Way, Sequence[float]]) -> float:
    """Return Auto's speed, relative to the way that was best in the other rounds; the median."""
    rounds = range(len(speeds[AUTO]))

    def elsewhere(way: Way, but: int) -> float:
        return median(speeds[way][number] for number in rounds if number != but)

    ratios = []
    for number in rounds:
        best = max((way for way in speeds if way != AUTO), key=lambda way: elsewhere(way, number))
        ratios.append(speeds[AUTO][number] / speeds[best][number])
    return median(ratios)


def measure(bench: Bench, text: str, right: float, rounds: int) -> bool:
    """Print the figures of one text; return False if one of them is below its bar."""
    ways: list[Way] = [AUTO, *(("on", depth) for depth in DEPTHS)]
    speeds: dict[Way, list[float]] = {OFF: [1.0] * rounds, **{way: [] for way in ways}}
    bounds: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    plain: list[float] = []
    for number in range(rounds):
        costs = measured_costs(bench, rounds=2)
        before = plain_seconds(bench)
        plain.append(before)
        for way in ways if number % 2 == 0 else ways[::-1]:
            bench.draft(right, seed=number + 1)
            done = bench.answer(way)
            after = plain_seconds(bench)
            speeds[way].append(done.timing.decode_tok_s * (before + after) / 2)
            before = after
            if way[1] is None:
                said = done.mtp.reason
            else:
                bounds[way[1]].append(bound(costs, way[1], done))
    gains = {way: median(values) for way, values in speeds.items()}
    print(f"  {text}, {right:.0%} of guesses right; Off {1 / median(plain):.1f} tok/s")
    reached = True
    for depth in DEPTHS:
        gain, most = gains["on", depth], median(bounds[depth])
        reached = reached and gain >= 0.95 * most
        print(f"    depth {depth}: {gain:.2f}x, bound {most:.2f}x, {gain / most:.2f} of it")
    auto, of_best = gains[AUTO], beside_best(speeds)
    print(f"    Auto: {auto:.2f}x, {of_best:.2f} of the best of these and Off")
    print(f"      {said}", flush=True)
    return reached and auto >= 0.98 and of_best >= 0.95


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dir", type=Path, default=ROOT / ".cache" / "bench")
    parser.add_argument("--kind", choices=("gemma", "qwen"), default="gemma")
    parser.add_argument("--size", choices=("0.3b", "1b"), default="0.3b")
    parser.add_argument(
        "--quantisation", action="append", choices=("F16", "Q8_0", "Q4_0", "Q4_K"), default=[]
    )
    parser.add_argument("--text", action="append", choices={*TEXTS, *QUESTIONS}, default=[])
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5, help="3 at least")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.real:
        run_real(options)
        return 0
    passed = []
    for quantisation in options.quantisation or ("F16", "Q8_0", "Q4_0", "Q4_K"):
        passed += run_model(options, options.kind, options.size, quantisation)
    return 0 if all(passed) else 1


def run_model(
    options: argparse.Namespace, kind: Kind, size: Size, quantisation: Quantisation
) -> list[bool]:
    model, drafter = made(options.dir, kind, size, quantisation)
    engine = LlamaCppEngine()
    plan = LlamaPlan(model, 1024, options.threads, options.threads, drafter=drafter, kept_bytes=0)
    report = engine.load(plan, lambda _: None, CancelToken())
    bench = Bench(engine, options.tokens)
    # A recurrent model has another context for answers without drafts. The oracle is in the context
    # with drafts, so all answers here come from that one.
    vars(bench.loaded)["suit"] = lambda _mode: None
    bench.learn_the_text()
    costs = measured_costs(bench, rounds=5)
    curve = ", ".join(f"{costs.ratio(k):.2f}" for k in range(costs.limit + 1))
    print(
        f"{report.name} {quantisation}, {report.parameters / 1e6:.0f} M parameters,"
        f" {options.threads} threads: {1 / costs.step_seconds(0):.1f} tok/s without drafts\n"
        f"  c(k) for k = 0 to {costs.limit}: {curve}; d = {costs.draft:.2f};"
        f" at most {costs.best_possible():.2f}x"
    )
    texts = options.text or TEXTS
    passed = [measure(bench, text, TEXTS[text], options.rounds) for text in texts]
    engine.close()
    return passed


def run_real(options: argparse.Namespace) -> None:
    engine = LlamaCppEngine()
    plan = LlamaPlan(fetched(), 1024, options.threads, options.threads, kept_bytes=0)
    report = engine.load(plan, lambda _: None, CancelToken())
    bench = Bench(engine, options.tokens)
    print(f"{report.name}, {report.parameters / 1e6:.0f} M parameters, {options.threads} threads")
    for text in options.text or QUESTIONS:
        measure_real(bench, text, options.rounds)
    engine.close()


if __name__ == "__main__":
    sys.exit(main())
