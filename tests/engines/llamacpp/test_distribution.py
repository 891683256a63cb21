"""Drafting changes no answer's probability: many seeds with and without drafts are compared.

The two sides have different seeds, so the distributions are compared and not the streams. Each
comparison is a chi-squared test of two samples; together they raise a false alarm with a
probability below 1e-4. Wrong rules of acceptance fail the same test.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

import pytest

from engines.base import Engine
from engines.llamacpp.context import Context
from engines.llamacpp.sampling import ChainSampler
from engines.types import MtpMode, Sampling, TextDelta
from tests.engines.contract import ask, done_of, run
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.random_models import STARTER
from tests.engines.llamacpp.seeded import Answer, Drafter, Rule, Seeded

pytestmark = pytest.mark.exhaustive

Part = TypeVar("Part", int, str)

SEEDS = 1500
SEEDS_OF_A_GRAMMAR = 500
"""Each of them parses the grammar anew, which takes longer than everything else."""
LENGTH = 4
ALARM = 1e-6
"""For all comparisons of a test together; there are fewer than 100 tests."""

FREE = Sampling(temperature=0.8, top_k=0, top_p=1.0, min_p=0.0)
PENALISED = Sampling(1.0, top_k=8, top_p=1.0, min_p=0.0, repeat_penalty=1.3)
WHOLE = Sampling(1.3, 20, 0.98, 0.01, repeat_penalty=1.1)
CHAINS = {
    "temperature 0.8": FREE,
    "temperature 1.3, top-k 5": Sampling(1.3, top_k=5, top_p=1.0, min_p=0.0),
    "top-p 0.8": Sampling(1.0, top_k=0, top_p=0.8, min_p=0.0),
    "temperature 1.3, min-p 0.1": Sampling(1.3, top_k=0, top_p=1.0, min_p=0.1),
    "repeat penalty 1.3": PENALISED,
    "grammar": Sampling(
        1.3, top_k=20, top_p=1.0, min_p=0.0, grammar='root ::= [a-p] [a-z]* (" " [a-m] [a-z]*)*'
    ),
    "everything": Sampling(
        1.2, 12, 0.95, 0.02, repeat_penalty=1.2, repeat_last_n=8, grammar="root ::= [a-zA-Z ]+"
    ),
}


@pytest.fixture(scope="module")
def seeded() -> Iterator[Seeded]:
    # A prompt outside the starter's training data, so that it is unsure.
    made = Seeded("d", LENGTH)
    yield made
    made.close()


def chi_squared(
    ours: Counter[tuple[Part, ...]], theirs: Counter[tuple[Part, ...]]
) -> tuple[float, int]:
    """Return the statistic of two samples and its degrees of freedom; rare answers count as one."""
    both = ours + theirs
    rare = {answer for answer, count in both.items() if count < 16}
    cells = [(ours[answer], theirs[answer]) for answer in both.keys() - rare]
    if rare:
        cells.append((sum(ours[a] for a in rare), sum(theirs[a] for a in rare)))
    weight = math.sqrt(ours.total() / theirs.total())
    statistic = sum((a / weight - b * weight) ** 2 / (a + b) for a, b in cells)
    return statistic, len(cells) - 1


def probability(statistic: float, freedom: int) -> float:
    """Return the probability of a statistic of at least this size for equal distributions.

    Approximation of Wilson and Hilferty, "The distribution of chi-square", 1931.
    """
    if freedom == 0:
        return 1.0
    spread = 2 / (9 * freedom)
    normal = ((statistic / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    return math.erfc(normal / math.sqrt(2)) / 2


def difference(ours: Counter[tuple[Part, ...]], theirs: Counter[tuple[Part, ...]]) -> float:
    """Return the smallest probability over all views of the answers, times their number."""
    views = []
    for length in range(1, max(map(len, ours)) + 1):
        views.append((cut(ours, 0, length), cut(theirs, 0, length)))
        views.append((cut(ours, length - 1, length), cut(theirs, length - 1, length)))
    return len(views) * min(probability(*chi_squared(a, b)) for a, b in views)


def cut(answers: Counter[tuple[Part, ...]], start: int, end: int) -> Counter[tuple[Part, ...]]:
    """Count how often each piece of the answers came."""
    pieces: Counter[tuple[Part, ...]] = Counter()
    for answer, count in answers.items():
        pieces[answer[start:end]] += count
    return pieces


def drafters(plain: Counter[Answer], unlikely: int) -> dict[str, Drafter]:
    """Return drafters that are mostly right, always wrong, and right and wrong in turn."""
    likeliest = {
        answer[:-1]: answer[-1:]
        for length in range(1, LENGTH + 1)
        for answer, _ in reversed(cut(plain, 0, length).most_common())
    }

    def right(written: Answer) -> Answer:
        drafts: Answer = ()
        while len(drafts) < 3:
            drafts += likeliest.get(written + drafts, (unlikely,))
        return drafts

    def wrong(written: Answer) -> Answer:
        return (unlikely,) * 3

    def mixed(written: Answer) -> Answer:
        drafts = right(written)
        return drafts if len(written) % 2 else (*drafts[:1], unlikely, *drafts[2:])

    return {"right": right, "wrong": wrong, "mixed": mixed}


def test_the_model_is_unsure_enough_to_tell(seeded: Seeded) -> None:
    for name, sampling in CHAINS.items():
        answers = seeded.answers(sampling, range(300))
        entropy = -sum(n / 300 * math.log2(n / 300) for n in answers.values())
        assert entropy > 3, f"{name}: {entropy:.1f} bits"


@pytest.mark.parametrize("name", CHAINS)
def test_drafts_leave_the_distribution_as_it_is(name: str, seeded: Seeded) -> None:
    count = SEEDS_OF_A_GRAMMAR if CHAINS[name].grammar else SEEDS
    plain = seeded.answers(CHAINS[name], range(count))
    assert difference(plain, seeded.answers(CHAINS[name], range(count, 2 * count))) > ALARM
    for number, (kind, drafter) in enumerate(drafters(plain, unlikely=7).items(), start=2):
        seeds = range(number * count, (number + 1) * count)
        drafted = seeded.answers(CHAINS[name], seeds, drafter)
        assert difference(plain, drafted) > ALARM, kind


def second_chance(sampler: ChainSampler, context: Context, row: int, draft: int | None) -> int:
    """Draw a token again, from all of them, if it is not the draft."""
    token = sampler.draw(context, row)
    return token if draft is None or token == draft else sampler.draw(context, row)


def trusting(sampler: ChainSampler, context: Context, row: int, draft: int | None) -> int:
    """Keep every draft."""
    token = sampler.draw(context, row)
    return token if draft is None else draft


def telling_of_drafts(sampler: ChainSampler, context: Context, row: int, draft: int | None) -> int:
    """Report drafts to the penalties that were not kept."""
    token = sampler.draw(context, row)
    if draft not in {None, token}:
        sampler._api.llama_sampler_accept(sampler._chain, draft)
    return token


@pytest.mark.parametrize("rule", [second_chance, trusting])
def test_a_wrong_rule_is_found_out(rule: Rule, seeded: Seeded) -> None:
    plain = seeded.answers(FREE, range(SEEDS))
    right = drafters(plain, unlikely=7)["right"]
    wrong = seeded.answers(FREE, range(SEEDS, 2 * SEEDS), right, rule)
    assert difference(plain, wrong) < ALARM


def test_a_penalty_that_hears_of_drafts_is_found_out(seeded: Seeded) -> None:
    """The draft is the most frequent later token: after a refusal it must not be penalised."""
    sampling = replace(PENALISED, repeat_penalty=2.0)
    plain = seeded.answers(sampling, range(SEEDS))
    later = Counter(token for answer in plain.elements() for token in answer[1:])
    ((often, _),) = later.most_common(1)
    rule: Rule = telling_of_drafts  # type: ignore[assignment]
    wrong = seeded.answers(sampling, range(SEEDS, 2 * SEEDS), lambda _: (often,) * 3, rule)
    assert difference(plain, wrong) < ALARM


def whole_answers(
    engine: Engine, sampling: Sampling, seeds: Iterable[int], mtp: MtpMode
) -> Counter[tuple[str, ...]]:
    """Count how often each answer of the engine came, in the pieces in which it arrived."""
    found: Counter[tuple[str, ...]] = Counter()
    drafted = accepted = 0
    for seed in seeds:
        request = ask(
            "Hello",
            "My",  # an answer to continue, which is not in the starter's training data
            sampling=replace(sampling, seed=seed),
            max_tokens=6,  # one from the prompt, then room for three drafts and one after them
            mtp=mtp,
            depth=3,
        )
        events = run(engine, request)
        found[tuple(event.text for event in events if isinstance(event, TextDelta))] += 1
        drafted += done_of(events).mtp.drafted
        accepted += done_of(events).mtp.accepted
    assert (0.1 * drafted < accepted < 0.9 * drafted) == (mtp == "on")
    return found


@pytest.fixture
def paired(load: Load) -> Engine:
    """Return the starter with its drafter."""
    return load(STARTER, context=256, drafter=STARTER.with_name("starter-mtp.gguf"))


@pytest.mark.parametrize(
    ("sampling", "count"),
    [(WHOLE, 500), (Sampling(1.3, 20, 1.0, 0.0, grammar="root ::= [a-zA-Z ]+"), 250)],
    ids=["free", "grammar"],
)
def test_mtp_leaves_the_distribution_as_it_is(
    paired: Engine, sampling: Sampling, count: int
) -> None:
    plain = whole_answers(paired, sampling, range(count), "off")
    drafted = whole_answers(paired, sampling, range(count, 2 * count), "on")
    assert difference(plain, drafted) > ALARM


def test_a_decoder_that_takes_the_wrong_row_is_found_out(
    paired: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = whole_answers(paired, WHOLE, range(300), "off")
    draw = ChainSampler.draw

    def wrong(sampler: ChainSampler, context: Context, row: int = -1) -> int:
        first = -context._batch.native.n_tokens
        return draw(sampler, context, row if row == -1 else first)

    monkeypatch.setattr(ChainSampler, "draw", wrong)
    drafted = whole_answers(paired, WHOLE, range(300, 600), "on")
    assert difference(plain, drafted) < ALARM


def test_the_probability_of_a_statistic() -> None:
    # Quantiles of the chi-squared distribution, as in any table of it.
    for freedom, statistic, expected in [(5, 11.07, 0.05), (30, 59.70, 1e-3), (100, 124.34, 0.05)]:
        assert probability(statistic, freedom) == pytest.approx(expected, rel=0.05)
