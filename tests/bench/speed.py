"""The estimate of a model's speed beside the real one, on this computer.

python tests/bench/speed.py FILE.gguf... [--threads N] [--rounds N]

For each model it prints the bandwidth that Hearth measures, the tokens a second that Hearth
estimates from it and from the file's size, the engine's real tokens a second, and the ratio of
these two. Rounds of both take turns, and the best of each counts.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from engines.cancel import CancelToken  # noqa: E402
from engines.hardware.bandwidth import measure  # noqa: E402
from engines.llamacpp.engine import LlamaCppEngine  # noqa: E402
from engines.memory.speed import Reading, decoding_speed  # noqa: E402
from engines.types import ChatRequest, Done, LlamaPlan, Message, Sampling  # noqa: E402

PROMPT = ChatRequest(
    (Message("user", "Tell me all about Hearth. " * 16),), Sampling(temperature=0.0), 48, mtp="off"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    print(f"{'model':32}{'GB/s':>8}{'estimate':>10}{'measured':>10}{'ratio':>8}")
    for path in args.models:
        rate, real = both(path, args.threads, args.rounds)
        estimate = decoding_speed([Reading(path.stat().st_size, rate)]).about
        figures = f"{rate / 1e9:8.1f}{estimate:10.1f}{real:10.1f}{estimate / real:8.2f}"
        print(f"{path.name:32}{figures}", flush=True)


def both(path: Path, threads: int, rounds: int) -> tuple[float, float]:
    """Return bytes a second and tokens a second."""
    engine = LlamaCppEngine()
    rate = speed = 0.0
    try:
        plan = LlamaPlan(path, 1024, threads, threads, draft_max=0)
        engine.load(plan, lambda _: None, CancelToken())
        for _ in range(rounds):
            rate = max(rate, measure(threads))
            for event in engine.chat(PROMPT, CancelToken()):
                if isinstance(event, Done):
                    speed = max(speed, event.timing.decode_tok_s)
    finally:
        engine.close()
    return rate, speed


if __name__ == "__main__":
    main()
