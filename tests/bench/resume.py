"""Measure the time to continue a chat after a restart, against evaluating it from zero.

python tests/bench/resume.py [--model FILE | --real] [--small] [--tokens N] [--rounds N]
                             [--threads N]

Without --model it makes a model of random weights (0.32 billion parameters, Q8_0; with --small a
tenth of that); with --real it takes SmolLM2-135M-Instruct, a trained model. Each round opens the
model twice, as two new processes would: once without a saved state, which evaluates the chat and a
short message, and once with one. The time runs from the request to the first drawn token, without
opening the model. The ratio is that of the best times, as other work on the machine can only add
time. It exits with 1 above a ratio of 0.15, or if more than the new tokens are evaluated, or if the
two answers differ.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.engines.llamacpp.opened import Opened  # noqa: E402
from tests.engines.llamacpp.random_models import Size, write_random_llama  # noqa: E402
from tests.support.smollm2 import fetched  # noqa: E402

BAR = 0.15
SMALL = Size(layers=8, width=512, heads=8, kv_heads=4, inner=1408)
NEW = 24
"""The tokens of the short message, including those of the template around it."""


class Bench:
    """A chat of `tokens` tokens with one model, and its state in `folder`."""

    def __init__(self, model: Path, folder: Path, tokens: int, threads: int) -> None:
        self._model = model
        self._folder = folder
        self._plan: dict[str, Any] = {
            "context": tokens + 1024,
            "batch": 512,
            "threads": threads,
            "batch_threads": threads,
        }
        opened = Opened(model, states=folder, disk=1 << 34, **self._plan)
        chat = opened.words(tokens, seed=1)
        began = perf_counter()
        opened.answer(chat, "chat", count=1)
        self.prompt = [*opened.cache.tokens, *opened.words(NEW, seed=2)]
        evaluated = perf_counter()
        opened.cache.save_to_disk()
        self.put_away_s = perf_counter() - evaluated
        self.first_s = evaluated - began
        self.size = sum(file.stat().st_size for file in folder.iterdir())
        opened.close()

    def first_token(self, *, saved: bool) -> tuple[float, int, int]:
        """Return the seconds until the first token, the evaluated tokens, and the token itself."""
        states = self._folder if saved else None
        opened = Opened(self._model, states=states, disk=1 << 34, **self._plan)
        began = perf_counter()
        (token,) = opened.answer(self.prompt, "chat", count=1)
        seconds = perf_counter() - began
        opened.close()
        return seconds, opened.evaluated, token


def measure(bench: Bench, rounds: int) -> bool:
    """Print the figures; return False if they miss the bar."""
    print(
        f"  a chat of {len(bench.prompt) - NEW} tokens: evaluated in {bench.first_s:.2f} s,"
        f" {bench.size / 2**20:.0f} MiB put away in {bench.put_away_s:.2f} s"
    )
    zero, resumed = [], []
    for _ in range(rounds):
        zero.append(bench.first_token(saved=False))
        resumed.append(bench.first_token(saved=True))
    ratio = min(resumed)[0] / min(zero)[0]
    evaluated = {count for _, count, _ in resumed}
    print(
        f"  chat and a message of {NEW} tokens from zero {min(zero)[0]:.3f} s,"
        f" {zero[0][1]} tokens evaluated"
    )
    print(f"  after a restart {min(resumed)[0]:.3f} s, {max(evaluated)} tokens evaluated")
    print(f"  ratio {ratio:.3f}; the bar is {BAR}")
    same = len({token for _, _, token in [*zero, *resumed]}) == 1
    if not same:
        print("  The first tokens differ.")
    return ratio <= BAR and evaluated == {NEW} and same


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dir", type=Path, default=ROOT / ".cache" / "bench")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    model = fetched() if options.real else options.model
    if model is None:
        size, name = (SMALL, "random-small") if options.small else (Size(), "random-311m")
        model = options.dir / f"{name}-q8_0.gguf"
        if not model.exists():
            options.dir.mkdir(parents=True, exist_ok=True)
            write_random_llama(model.with_suffix(".part"), size, quantised=True).rename(model)
    print(f"{model.name}, {options.threads} threads")
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        bench = Bench(model, Path(folder) / "states", options.tokens, options.threads)
        passed = measure(bench, options.rounds)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
