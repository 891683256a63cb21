"""The cost for a turn of running a foreign chat template in a separate process.

python tests/bench/template.py [--rounds N]

The same conversations, of 2 to 400 messages, are rendered by a ChatML template in this process and
in a separate one, in turn. It exits with 1 if a turn of a conversation of up to 100,000 characters
costs more than 2 ms more.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from engines.dialect import CHATML, Dialect  # noqa: E402
from engines.types import Message  # noqa: E402

BAR_S = 0.002
BAR_CHARACTERS = 100_000


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=50)
    rounds = options.parse_args().rounds
    missed = False
    began = perf_counter()
    with closing(Dialect(CHATML)) as apart, closing(Dialect(CHATML, trusted=True)) as here:
        print(f"opening both: {perf_counter() - began:.3f} s")
        for count, length in ((1, 100), (11, 400), (41, 1000), (101, 1000), (401, 2000)):
            turns = [Message("user" if at % 2 == 0 else "assistant", "A word é. " * (length // 10))
                     for at in range(count)]  # fmt: skip
            times: dict[Dialect, list[float]] = {apart: [], here: []}
            for _ in range(rounds):
                for dialect, took in times.items():
                    began = perf_counter()
                    dialect.render(turns)
                    took.append(perf_counter() - began)
            there, own = (median(took) for took in times.values())
            missed |= count * length <= BAR_CHARACTERS + length and there - own > BAR_S
            print(f"{count:4} messages, {count * length:7,} characters: {own * 1e3:6.2f} ms here, "
                  f"{there * 1e3:6.2f} ms apart: {(there - own) * 1e3:5.2f} ms more")  # fmt: skip
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
