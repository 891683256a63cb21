"""Greedy answers with drafts have the tokens of answers without, with any drafter."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable
from functools import cache
from itertools import cycle, islice, product
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import MtpUnavailable
from engines.llamacpp.cache import KvCache
from engines.llamacpp.loaded import Loaded
from engines.llamacpp.prompting import Prompt
from engines.llamacpp.speculative import compare
from engines.llamacpp.speculative.speculation import Speculation
from engines.types import MAX_DEPTH, ChatRequest, Message, MtpCheck, Sampling
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.random_models import STARTER
from tests.support.made_apart import cut_off
from tests.support.made_fed import write_dflash, write_eagle
from tests.support.mtp_models import (
    QWEN_NEXT,
    Quantisation,
    Qwen,
    quantised,
    write_mamba,
    write_qwen,
    write_step,
)
from tests.support.suite import sampled

STARTER_DRAFTER = STARTER.with_name("starter-mtp.gguf")
EXAMINATION = STARTER.parent / "make" / "examination.toml"
TOKENS = 64
TIE = 0.02
"""The difference that the order of summing makes, in standard deviations of the logits.

Rows of a batch and single rows are summed in another order, so two tokens this close may change
places.
"""
PROMPTS = 32
"""The most prompts that a case tries without `--all`; a broken rollback shows within 16."""
WRITTEN_ANEW = 8
"""The first answers of each case are written again without drafts, even if they are known."""

Files = tuple[Path, Path | None]


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Quantisation], Files]:
    """Return a function for the model and the drafter of a family in a quantisation."""
    folder = tmp_path_factory.mktemp("pairs")
    made: dict[str, Files] = {}

    def qwen(name: str, shape: Qwen, *, drafts: bool = True) -> Path:
        return write_qwen(folder / f"{name}.gguf", shape, drafts=drafts)

    def apart(name: str, shape: Qwen) -> Files:
        return cut_off(qwen(name, shape), folder / f"{name}-t.gguf", folder / f"mtp-{name}-t.gguf")

    def block(name: str, **how: bool) -> Files:
        return qwen(f"{name}-t", Qwen(), drafts=False), write_dflash(folder / f"{name}.gguf", **how)

    makers: dict[str, Callable[[], Files]] = {
        "starter": lambda: (STARTER, STARTER_DRAFTER),
        "model": lambda: (STARTER, quantised(STARTER, folder / "small.gguf", "Q8_0")),
        "step": lambda: (write_step(folder / "s.gguf"), None),
        "qwen": lambda: (qwen("q", Qwen()), None),
        "apart": lambda: apart("whole", Qwen()),
        "experts apart": lambda: apart("experts", Qwen(experts=4)),
        "next": lambda: (qwen("n", QWEN_NEXT), None),
        "next apart": lambda: apart("whole-next", QWEN_NEXT),
        "eagle": lambda: (qwen("e", Qwen(), drafts=False), write_eagle(folder / "eagle.gguf")),
        "next eagle": lambda: (
            qwen("ne", QWEN_NEXT, drafts=False),
            write_eagle(folder / "eagle-ne.gguf"),
        ),
        "eagle and head": lambda: (qwen("eh", Qwen()), write_eagle(folder / "eagle-eh.gguf")),
        "dflash": lambda: block("dflash"),
        "dflash 2": lambda: block("dflash2", second=True),
        "dspark": lambda: block("dspark", markov=True),
        "mamba": lambda: write_mamba(folder / "m.gguf", folder / "d.gguf"),
    }

    def get(family: str, kind: Quantisation) -> Files:
        if family not in made:
            made[family] = makers[family]()
        plain = made[family]
        if kind == "F16":
            return plain
        model, drafter = (
            path and quantised(path, folder / f"{path.stem}-{kind}.gguf", kind) for path in plain
        )
        assert model is not None
        return model, drafter

    return get


@pytest.fixture(scope="session")
def known() -> dict[tuple[str, tuple[int, ...]], list[int]]:
    """Return the tokens without drafts, by the content of the model and the prompt."""
    return {}


@pytest.fixture
def once(
    monkeypatch: pytest.MonkeyPatch, known: dict[tuple[str, tuple[int, ...]], list[int]]
) -> None:
    """Write each answer without drafts only once per model, for all drafters.

    The first ones of each case are written again, and have to be the same. So is an answer that a
    check repeats, as it needs the logits.
    """
    write, asked = compare.write_answer, list[Prompt]()

    def answer(
        loaded: Loaded,
        request: ChatRequest,
        prompt: Prompt,
        count: int,
        speculation: Speculation | None,
        cancel: CancelToken,
    ) -> list[int]:
        again = bool(asked) and prompt is asked[-1]
        if speculation is None and not again:
            asked.append(prompt)
            key = digest(loaded.plan.model), tuple(prompt.tokens)
            if key in known and len(asked) > WRITTEN_ANEW:
                return known[key]
            tokens = write(loaded, request, prompt, count, None, cancel)
            assert known.setdefault(key, tokens) == tokens
            return tokens
        return write(loaded, request, prompt, count, speculation, cancel)

    monkeypatch.setattr(compare, "write_answer", answer)


@cache
def digest(model: Path) -> str:
    with model.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def questions() -> list[str]:
    """Return questions by a person who had not seen the starter's training data."""
    asked = tomllib.loads(EXAMINATION.read_text(encoding="utf-8"))["questions"]
    return [question for group in asked.values() for question in group]


def checks(load: Load, pair: Files, count: int) -> list[MtpCheck]:
    """Check one answer for each of `count` prompts, at all depths in turn."""
    engine = load(pair[0], drafter=pair[1], kept_bytes=0)
    found = []
    for question, depth in zip(
        islice(cycle(questions()), count), cycle(range(1, MAX_DEPTH + 1)), strict=False
    ):
        request = ChatRequest((Message("user", question),), Sampling(), TOKENS)
        found.append(engine.check_mtp(request, depth, CancelToken()))
    return found


# The rollback of each family is tried at length; other quantisations only change the sums.
CASES = [
    *product(["starter", "qwen", "step", "apart"], [("F16", 1000), ("Q8_0", 50), ("Q4_0", 50)]),
    *product(["next", "mamba"], [("F16", 1000), ("Q8_0", 50)]),
    *product(
        ["experts apart", "next apart", "next eagle", "eagle and head", "model"], [("F16", 1000)]
    ),
    *product(["eagle", "dflash", "dflash 2", "dspark"], [("F16", 1000), ("Q4_0", 50)]),
]
FEW = [case for case in CASES if case[1][0] == "F16" or case[0] == "starter"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("family", "how"), sampled(CASES, FEW))
def test_answers_are_the_same(
    once: None,
    load: Load,
    files: Callable[[str, Quantisation], Files],
    family: str,
    how: tuple[Quantisation, int],
    exhaustive: bool,
) -> None:
    kind, most = how
    count = most if exhaustive else min(most, PROMPTS)
    found = checks(load, files(family, kind), count)
    differing = [check for check in found if not check.identical]
    print(f"{family} {kind}: {len(differing)} of {len(found)} part at a tie: {differing}")
    assert all(check.gap is not None and check.gap < TIE for check in differing)
    assert len(differing) <= max(1, len(found) // 50)
    assert sum(check.tokens for check in found) > count * 16
    assert sum(check.accepted for check in found) > count


@pytest.mark.parametrize("family", ["starter", "qwen", "next", "mamba"])
def test_a_broken_rollback_is_found(
    load: Load,
    files: Callable[[str, Quantisation], Files],
    family: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check can fail: here rejected drafts stay in the KV cache."""

    def forget_only(cache: KvCache, length: int) -> list[int]:
        del cache.tokens[length:]
        held = int(cache._api.llama_memory_seq_pos_max(cache._context.memory, 0)) + 1
        cache.tokens += [0] * (held - length)
        return []

    pair = files(family, "F16")
    with monkeypatch.context() as patched:
        patched.setattr(KvCache, "roll_back", forget_only)
        found = checks(load, pair, 16)
    assert any(not check.identical and check.gap and check.gap > TIE for check in found)


def test_nothing_to_compare_without_drafts(load: Load) -> None:
    engine = load(STARTER, draft_max=0, mtp_note="Guessing ahead is switched off for this model.")
    with pytest.raises(MtpUnavailable, match="switched off for this model"):
        engine.check_mtp(ChatRequest((Message("user", "Hello"),)), 2, CancelToken())
