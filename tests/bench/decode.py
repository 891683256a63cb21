"""The llama.cpp engine's speed of decoding, as a share of a bare loop's.

python tests/bench/decode.py [--dir DIR] [--model FILE]... [--real] [--rounds N] [--tokens N]
                             [--threads N]

Without --model it measures a model of 0.31 billion random weights, which it makes once in DIR, and
the starter model; with --real SmolLM2-135M-Instruct, a trained model. Both loops run in turn, on
the same library, model, threads, samplers and seed, and give the same tokens; the figures are
medians of the ratios of neighbouring runs. It exits with 1 if the engine decodes a model of 0.3
billion parameters or more below 0.98 of the bare loop.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from engines.cancel import CancelToken  # noqa: E402
from engines.llamacpp.engine import LlamaCppEngine  # noqa: E402
from engines.llamacpp.native import load_native  # noqa: E402
from engines.types import ChatRequest, Done, LlamaPlan, Message, Sampling  # noqa: E402
from tests.bench.bare import BareLoop  # noqa: E402
from tests.engines.llamacpp.random_models import (  # noqa: E402
    STARTER,
    Size,
    write_random_llama,
)
from tests.support.smollm2 import fetched  # noqa: E402

BAR = 0.98
BAR_PARAMETERS = 300_000_000
PROMPT = Message("user", "Tell me all about Hearth and where it keeps its chats. " * 24)


class Pair:
    """The engine and the bare loop, with the same model."""

    def __init__(self, plan: LlamaPlan) -> None:
        self.engine = LlamaCppEngine()
        self.report = self.engine.load(plan, lambda _: None, CancelToken())
        self.bare = BareLoop(load_native().api, plan)
        loaded = self.engine.chat_model
        self.cache = loaded.slots[0].cache
        self.prompt = loaded.prompter.write(ChatRequest((PROMPT,))).tokens

    def chat(self, count: int, sampling: Sampling) -> tuple[float, int]:
        """Let the engine write a whole answer; return its seconds and tokens."""
        began = perf_counter()
        for event in self.engine.chat(
            ChatRequest((PROMPT,), sampling, count, mtp="off"), CancelToken()
        ):
            if isinstance(event, Done):
                done = event
        return perf_counter() - began, done.usage.completion_tokens

    def prefill(self) -> tuple[float, float]:
        """Evaluate the prompt and draw a token; return the seconds of engine and bare loop."""
        self.cache.clear()
        engine, _ = self.chat(1, Sampling(temperature=0))
        return engine, self.bare.prefill(self.prompt)

    def decode(self, count: int, seed: int, *, engine_first: bool) -> tuple[float, float]:
        """Return the tokens a second of engine and bare loop, which give the same tokens."""
        sampling = Sampling(temperature=0.7, top_k=40, top_p=0.95, min_p=0.05, seed=seed)
        if engine_first:
            engine_s, tokens = self.chat(count, sampling)
        bare_s, answer = self.bare.decode(self.prompt, count, sampling)
        if not engine_first:
            engine_s, tokens = self.chat(count, sampling)
        if tokens != len(answer):
            raise RuntimeError(f"the engine drew {tokens} tokens and the bare loop {len(answer)}")
        return (tokens + 1) / engine_s, (tokens + 1) / bare_s

    def close(self) -> None:
        self.bare.close()
        self.engine.close()


def measure(plan: LlamaPlan, rounds: int, count: int) -> bool:
    """Print the figures of one model; return False if it misses the bar for its size."""
    pair = Pair(plan)
    prefills = [pair.prefill() for _ in range(max(3, rounds // 3))]
    pair.decode(count, 0, engine_first=True)
    rates = [pair.decode(count, seed, engine_first=seed % 2 == 0) for seed in range(1, rounds + 1)]
    ratio = median(engine / bare for engine, bare in rates)
    tokens = len(pair.prompt)
    print(
        f"{pair.report.name} ({plan.model.name}): {pair.report.parameters / 1e6:.0f} M parameters,"
        f" {plan.threads} threads"
    )
    print(
        f"  decode   engine {median(rate for rate, _ in rates):8.1f} tok/s,"
        f" bare loop {median(rate for _, rate in rates):8.1f} tok/s, ratio {ratio:.3f}"
        f" (of {rounds}: {min(e / b for e, b in rates):.3f} to {max(e / b for e, b in rates):.3f})"
    )
    print(
        f"  prefill  engine {median(tokens / engine for engine, _ in prefills):8.1f} tok/s,"
        f" bare loop {median(tokens / bare for _, bare in prefills):8.1f} tok/s,"
        f" ratio {median(bare / engine for engine, bare in prefills):.3f}"
    )
    pair.close()
    return pair.report.parameters < BAR_PARAMETERS or ratio >= BAR


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dir", type=Path, default=ROOT / ".cache" / "bench")
    parser.add_argument("--model", type=Path, action="append")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    models = [fetched()] if options.real else options.model
    if not models:
        big = options.dir / "random-311m-q8_0.gguf"
        if not big.exists():
            options.dir.mkdir(parents=True, exist_ok=True)
            unfinished = write_random_llama(big.with_suffix(".part"), Size(), quantised=True)
            unfinished.rename(big)
        print(f"{big.name} has random weights: it writes nonsense, at the speed of any other.")
        models = [big, STARTER]
    plan = LlamaPlan(STARTER, 1024, options.threads, options.threads)
    passed = [measure(replace(plan, model=m), options.rounds, options.tokens) for m in models]
    if not all(passed):
        print(f"The engine decodes below {BAR} of the bare loop.")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
