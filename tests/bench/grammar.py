"""The cost of a schema for an answer: its preparation, each mask, and the speed of decoding.

python tests/bench/grammar.py [--dir DIR] [--rounds N] [--tokens N] [--threads N]

It measures with a model of 0.3 billion random weights and 152,000 tokens, which it makes once in
DIR. Random weights nearly always draw tokens that the schema forbids, so that a mask is made for
each token: the worst case. Answers with and without the schema come in turn; the figures are
medians. It exits with 1 if a mask takes 0.2 ms or more, a grammar is ready after 50 ms or later, or
an answer with a schema decodes below 0.97 of one without.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from engines.cancel import CancelToken  # noqa: E402
from engines.llamacpp.constraints import TokenGuides, write_answer  # noqa: E402
from engines.llamacpp.engine import LlamaCppEngine  # noqa: E402
from engines.llamacpp.lark import Lark  # noqa: E402
from engines.llamacpp.model import open_model  # noqa: E402
from engines.llamacpp.native import load_native  # noqa: E402
from engines.types import ChatRequest, Done, LlamaPlan, Message, Sampling  # noqa: E402
from tests.engines.llamacpp.random_models import Size, write_random_llama  # noqa: E402
from tests.support.made_gguf import starter_tokens  # noqa: E402

TOKENS = 152_000
MASK_MS, READY_MS, RATIO = 0.2, 50.0, 0.97
TEXT = (
    '{"people": [{"name": "Ada Lovelace", "age": 36, "mail": "ada@example.com",'
    ' "tags": ["a", "b"]}, {"name": "Bob", "age": 3'
)


def schema(number: int) -> str:
    """Return a schema of people that differs from that of every other number."""
    person: dict[str, Any] = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 20 + number},
            "age": {"type": "integer", "minimum": 0, "maximum": 120},
            "mail": {"type": "string", "format": "email"},
            "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 5},
        },
        "required": ["name", "age", "mail", "tags"],
    }
    people = {"type": "array", "minItems": 200, "items": person}
    return json.dumps({"type": "object", "properties": {"people": people}, "required": ["people"]})


def measure_steps(path: Path) -> tuple[float, float]:
    """Return the milliseconds until a grammar is ready, and those of a mask."""
    plan = LlamaPlan(path, 64, 1, 1)
    model = open_model(load_native(), plan, lambda _: None, CancelToken())
    try:
        guides = model.guides
        began = perf_counter()
        ready(guides, 0)
        print(f"  the first grammar of a model, with its tokeniser: {ms(began):.0f} ms")
        times = []
        for number in range(1, 16):
            began = perf_counter()
            ready(guides, number)
            times.append(ms(began))
        guide = ready(guides, 1)
        masks = []
        for token in model.vocabulary.tokenise(TEXT):
            began = thread_time()  # for so short a time the clock would count other programs
            guide.allowed()
            masks.append((thread_time() - began) * 1000)
            guide.accept(token)
        print(f"  a mask: median {median(masks):.3f} ms, most {max(masks):.2f} ms")
        print(f"  a new grammar: median {median(times):.1f} ms, most {max(times):.1f} ms")
        return median(times), median(masks)
    finally:
        model.close()


def ready(guides: TokenGuides, number: int) -> Any:
    lark = Lark()
    start = write_answer(Sampling(schema=schema(number)), guides, lark)
    return guides.open(lark.text(start))


def ms(began: float) -> float:
    return (perf_counter() - began) * 1000


def measure_decode(path: Path, rounds: int, count: int, threads: int) -> float:
    """Return the speed of decoding with a schema, as a share of that without."""
    engine = LlamaCppEngine()
    engine.load(LlamaPlan(path, 1024, threads, threads), lambda _: None, CancelToken())
    try:
        rate(engine, None, 0, count)
        rate(engine, schema(1), 0, count)
        ratios, rates = [], []
        for seed in range(1, rounds + 1):
            # The order changes, as the machine may become slower or faster meanwhile.
            order = (None, schema(1)) if seed % 2 else (schema(1), None)
            found = {it: rate(engine, it, seed, count) for it in order}
            ratios.append(found[schema(1)] / found[None])
            rates.append(found[None])
        print(
            f"  decode: {median(rates):.1f} tok/s without a schema, {median(ratios):.3f} of that"
            f" with one (of {rounds}: {min(ratios):.3f} to {max(ratios):.3f})"
        )
        return median(ratios)
    finally:
        engine.close()


def rate(engine: Any, text: str | None, seed: int, count: int) -> float:
    sampling = Sampling(temperature=0.7, top_k=40, top_p=0.95, min_p=0.05, seed=seed)
    request = ChatRequest((Message("user", "Tell me."),), sampling, count, mtp="off")
    for event in engine.chat(
        replace(request, sampling=replace(sampling, schema=text)), CancelToken()
    ):
        if isinstance(event, Done):
            return event.timing.decode_tok_s
    raise RuntimeError("the answer has no end")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dir", type=Path, default=ROOT / ".cache" / "bench")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    path = options.dir / "random-152k-tokens-q8_0.gguf"
    if not path.exists():
        options.dir.mkdir(parents=True, exist_ok=True)
        tokenizer = dict(starter_tokens(TOKENS).values)
        unfinished = path.with_suffix(".part")
        write_random_llama(unfinished, Size(), quantised=True, tokenizer=tokenizer).rename(path)
    print(f"{path.name}: {TOKENS} tokens, {options.threads} threads")
    ready_ms, mask_ms = measure_steps(path)
    ratio = measure_decode(path, options.rounds, options.tokens, options.threads)
    passed = mask_ms < MASK_MS and ready_ms < READY_MS and ratio >= RATIO
    if not passed:
        print(f"Not within {MASK_MS} ms a mask, {READY_MS:.0f} ms a grammar and {RATIO} of decode.")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
