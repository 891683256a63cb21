"""What MTP gains: Auto beside Off and every fixed depth, side by side in one run.

python tests/bench/mtp.py [--dir DIR] [--size 0.3b|1b] [--quantisation F16]... [--tokens N]
                          [--rounds N] [--threads N] [--kind gemma|qwen]

The models are made once in DIR: real architectures at sizes with real costs, and random weights,
so nothing they write makes sense. How many drafts hold is therefore set by construction: the real
drafter works and is timed, and its guesses are replaced by the true continuation, each wrong at a
given rate (tests/support/oracle.py). They are then checked by the real loop. A kind of text is such
a rate, told to nobody: Auto has to find out. "copying" drafts from the text itself as well: its
answer begins again in the middle.

For each text: tokens a second against Off, the median of rounds in which every mode runs once, in
turns; Auto against Off (at least 0.98) and against the best fixed depth (0.95); and the gain beside
its bound, (1 + a + ... + a^k) / (c(k) + k d), at least 0.95 of it. c(k), the time to check k drafts
in plain steps, and d, the time to make one, are from the same run. Exits with 1 below a bar.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from engines.cancel import CancelToken  # noqa: E402
from engines.llamacpp.engine import LlamaCppEngine  # noqa: E402
from engines.llamacpp.loaded import Loaded  # noqa: E402
from engines.types import ChatRequest, Done, LoadPlan, Message, MtpMode, Sampling  # noqa: E402
from tests.support.mtp_models import Kind, Quantisation, Size, made  # noqa: E402
from tests.support.oracle import Oracle  # noqa: E402

TEXTS = {"code": 0.93, "chat": 0.75, "prose": 0.45, "copying": 0.97}
DEPTHS = (1, 2, 3, 4, 6, 8)
PROMPT = Message("user", "Tell me of the sea, and of the ships on it. ")

Way = tuple[MtpMode, int | None]
OFF: Way = ("off", None)
AUTO: Way = ("auto", None)


@dataclass
class Run:
    """One answer. step_s: seconds of a step with k drafts, by k."""

    tok_s: float
    done: Done


@dataclass
class Bench:
    """A loaded model whose drafts are as good as they are told to be."""

    engine: LlamaCppEngine
    tokens: int
    text: list[int] = field(default_factory=list)

    @property
    def loaded(self) -> Loaded:
        loaded = self.engine._loaded
        assert loaded is not None
        return loaded

    def answer(self, way: Way) -> Run:
        request = ChatRequest(
            (PROMPT,), Sampling(temperature=0.0), self.tokens, mtp=way[0], depth=way[1]
        )
        for event in self.engine.chat(request, CancelToken()):
            if isinstance(event, Done):
                done = event
        return Run(done.timing.decode_tok_s, done)

    def learn_the_text(self) -> None:
        self.answer(OFF)
        self.text = list(self.loaded.cache.tokens)

    def draft(self, right: float, seed: int) -> None:
        speculation = self.loaded.speculation
        assert speculation is not None
        drafter = self.loaded.drafting.drafter
        assert drafter is not None
        speculation.drafter = Oracle(drafter, self.text, right, seed)


def bound(bench: Bench, run: Run) -> float:
    """The gain that the costs of this run and its acceptance allow."""
    value = run.done.mtp.bound
    return value or 1.0


def measure(bench: Bench, text: str, right: float, rounds: int) -> bool:
    """Print the figures of one text; False if one of them is below its bar."""
    ways: list[Way] = [OFF, AUTO, *(("on", depth) for depth in DEPTHS)]
    speeds: dict[Way, list[float]] = {way: [] for way in ways}
    bounds: dict[Way, list[float]] = {way: [] for way in ways}
    last: dict[Way, Run] = {}
    for number in range(rounds):
        turn = ways if number % 2 == 0 else ways[::-1]
        base = 0.0
        results = {}
        for way in turn:
            bench.draft(right, seed=number + 1)
            results[way] = last[way] = bench.answer(way)
        base = results[OFF].tok_s
        for way, run in results.items():
            speeds[way].append(run.tok_s / base)
            bounds[way].append(bound(bench, run))
    gains = {way: median(values) for way, values in speeds.items()}
    fixed = {way: gains[way] for way in ways if way[0] == "on"}
    best = max(fixed, key=lambda way: fixed[way])
    print(f"  {text}, {right:.0%} of guesses right")
    for way in fixed:
        most = median(bounds[way])
        print(f"    depth {way[1]}: {gains[way]:.2f}x, bound {most:.2f}x")
    auto, most = gains[AUTO], median(bounds[AUTO])
    of_best = auto / max(fixed[best], 1.0)
    print(f"    Auto: {auto:.2f}x, bound {most:.2f}x, {of_best:.2f} of the best fixed depth or Off")
    print(f"      {last[AUTO].done.mtp.reason}")
    return auto >= 0.98 and of_best >= 0.95 and auto >= 0.95 * most


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dir", type=Path, default=ROOT / ".cache" / "bench")
    parser.add_argument("--kind", choices=("gemma", "qwen"), default="gemma")
    parser.add_argument("--size", choices=("0.3b", "1b"), default="0.3b")
    parser.add_argument(
        "--quantisation", action="append", choices=("F16", "Q8_0", "Q4_0", "Q4_K"), default=[]
    )
    parser.add_argument("--text", action="append", choices=TEXTS, default=[])
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    passed = []
    for quantisation in options.quantisation or ("F16", "Q8_0", "Q4_0", "Q4_K"):
        passed += run_model(options, options.kind, options.size, quantisation)
    return 0 if all(passed) else 1


def run_model(
    options: argparse.Namespace, kind: Kind, size: Size, quantisation: Quantisation
) -> list[bool]:
    model, drafter = made(options.dir, kind, size, quantisation)
    engine = LlamaCppEngine()
    plan = LoadPlan(model, 1024, options.threads, options.threads, drafter=drafter, kept_bytes=0)
    report = engine.load(plan, lambda _: None, CancelToken())
    bench = Bench(engine, options.tokens)
    speculation = bench.loaded.speculation
    assert speculation is not None
    bench.learn_the_text()
    plain = bench.answer(OFF)
    costs = speculation.costs
    curve = ", ".join(f"{costs.ratio(k):.2f}" for k in range(costs.limit + 1))
    print(
        f"{report.name} {quantisation}, {report.parameters / 1e6:.0f} M parameters,"
        f" {options.threads} threads: {plain.tok_s:.1f} tok/s without drafts\n"
        f"  c(k) for k = 0 to {costs.limit}: {curve}; d = {costs.draft:.2f};"
        f" at most {costs.best_possible():.2f}x"
    )
    texts = options.text or TEXTS
    passed = [measure(bench, text, TEXTS[text], options.rounds) for text in texts]
    engine.close()
    return passed


if __name__ == "__main__":
    sys.exit(main())
