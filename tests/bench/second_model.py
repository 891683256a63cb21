"""The speed of a model beside a second one in the same process with its own threads.

python tests/bench/second_model.py [--dir DIR] [--model FILE] [--rounds N] [--tokens N]
                                   [--threads N]

An embedding model beside the one that answers is such a second model. Without --model both are one
of 0.31 billion random weights, which it makes once in DIR. In each round the first model answers
alone, then the second is loaded and answers, and the first answers once more: the figure is the
median of the ratios of its two speeds. It exits with 1 if it is below 0.9.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from engines.cancel import CancelToken  # noqa: E402
from engines.llamacpp.engine import LlamaCppEngine  # noqa: E402
from engines.types import ChatRequest, Done, LlamaPlan, Message, Sampling  # noqa: E402
from tests.bench.concurrency import made  # noqa: E402

BAR = 0.9
CONTEXT = 512


def opened(plan: LlamaPlan) -> LlamaCppEngine:
    engine = LlamaCppEngine()
    engine.load(plan, lambda _: None, CancelToken())
    return engine


def speed(engine: LlamaCppEngine, tokens: int) -> float:
    """Return the tokens a second after the first token."""
    asked = ChatRequest(
        (Message("user", "Tell me all about Hearth."),), Sampling(temperature=0), tokens, mtp="off"
    )
    *_, done = engine.chat(asked, CancelToken())
    assert isinstance(done, Done)
    return done.timing.decode_tok_s


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dir", type=Path, default=ROOT / ".cache" / "bench")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    model = options.model or made(options.dir)[-1]
    plan = LlamaPlan(model, CONTEXT, options.threads, options.threads, draft_max=0, kept_bytes=0)
    found: list[tuple[float, float]] = []
    with closing(opened(plan)) as first:
        speed(first, options.tokens)  # reads the weights
        for _ in range(options.rounds):
            alone = speed(first, options.tokens)
            with closing(opened(plan)) as second:
                speed(second, 2)
                found.append((alone, speed(first, options.tokens)))
    ratios = [beside / alone for alone, beside in found]
    print(
        f"{model.stem}: {median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f};"
        f" {median(it for it, _ in found):.1f} tok/s alone,"
        f" {median(it for _, it in found):.1f} beside a second model)"
    )
    return 0 if median(ratios) >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
