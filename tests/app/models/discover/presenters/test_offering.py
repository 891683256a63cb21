"""Turning a recommendation into the offers that the window shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.base.shipped import STARTER
from app.models.discover.presenters.offering import offers_of
from app.models.discover.values.offers import CompanionFile
from app.models.discover.values.recommend import Recommendation
from app.models.library.presenters.memory_uses import uses_of
from app.models.library.values.memory_use import MemoryUse
from engines.hardware import Cpu, Gpu, Hardware, Memory
from engines.memory.fit import Parts
from engines.memory.placement import share_on_cards
from engines.models.gguf.header import read_header
from engines.types import LlamaPlan
from tests.support.scripted_hub import GB, ScriptedRecommending

CPU = Cpu("Test CPU", 4, 8, 8, 4, 4)
LAPTOP = Hardware("Test OS", CPU, Memory(16 * GB, 9 * GB))
CARD = Gpu("Card", "nvidia", "CUDA", 12 * GB, 11 * GB, integrated=False, driver="", usable=True)
WITH_CARD = Hardware("Test OS", CPU, Memory(64 * GB, 50 * GB), (CARD,))
PARTS = Parts(weights=8 * GB, kv=2 * GB, compute=GB, drafter=GB)


def test_the_three_picks_are_offered_in_their_order() -> None:
    recommending = ScriptedRecommending(LAPTOP)
    recommendation = recommending.recommend()
    offers = offers_of(recommendation, recommending.catalogue(), LAPTOP)
    assert [offer.kind for offer in offers.offers] == ["default", "faster", "smarter"]
    assert recommendation.default is not None
    first = offers.offers[0]
    assert (first.repo, first.label) == (
        recommendation.default.repo,
        recommendation.default.variant,
    )
    assert first.drafter == CompanionFile(
        "unsloth/gemma-4-E2B-it-qat-GGUF", "mtp-gemma-4-E2B-it.gguf"
    )
    assert first.uses[0].limit == 16 * GB
    assert first.uses[0].others == 7 * GB
    assert first.uses[0].used - first.uses[0].others == recommendation.default.need


def test_every_model_that_writes_is_listed_and_new_ones_come_first() -> None:
    recommending = ScriptedRecommending(LAPTOP)
    recommendation, catalogue = recommending.recommend(), recommending.catalogue()
    offers = offers_of(recommendation, catalogue, LAPTOP, {"gpt-oss-120b"})
    writing = {size.id for size in catalogue.sizes.values() if size.role != "embedding"}
    assert {model.id for model in offers.listed} == writing
    assert len(offers.listed) == len(writing)
    first, *others = offers.listed
    assert (first.id, first.is_new, first.offer.fits) == ("gpt-oss-120b", True, "no")
    assert not any(model.is_new for model in others)
    verdicts = [model.offer.fits for model in others]
    assert verdicts == sorted(verdicts, key="no".__eq__), "those that do not fit come last"
    for suggested in offers.offers:
        listed = next(it.offer for it in others if it.offer.name == suggested.name)
        assert (listed.repo, listed.label, listed.fits) == (
            suggested.repo, suggested.label, suggested.fits,
        )  # fmt: skip
        assert listed.drafter == suggested.drafter


@pytest.mark.parametrize(("layers", "share"), [(-1, 1.0), (0, 0.0), (1, 0.2), (5, 1.0), (99, 1.0)])
def test_of_four_layers_and_the_output_each_is_a_fifth(layers: int, share: float) -> None:
    header = read_header(STARTER)
    assert header.block_count == 4
    plan = LlamaPlan(STARTER, context=512, threads=1, batch_threads=1, gpu_layers=layers)
    assert share_on_cards(plan, header) == share


def test_on_the_processor_there_is_one_memory() -> None:
    (use,) = uses_of(PARTS, 0.0, 9 * GB, LAPTOP)
    assert use == MemoryUse("memory", 16 * GB, 7 * GB, 8 * GB, 2 * GB, GB, GB)
    assert use.missing == 3 * GB


def test_a_limit_of_the_container_is_the_memory() -> None:
    limited = Hardware("Test OS", CPU, Memory(64 * GB, 9 * GB, 16 * GB))
    assert uses_of(PARTS, 0.0, 9 * GB, limited)[0].limit == 16 * GB


def test_on_a_card_what_it_reserves_is_not_free() -> None:
    (use,) = uses_of(PARTS, 1.0, round(10.5 * GB), WITH_CARD)
    assert (use.place, use.limit, use.others) == ("graphics", 12 * GB, round(1.5 * GB))


def test_half_on_the_card_half_beside_it() -> None:
    card, own = uses_of(PARTS, 0.5, 60 * GB, WITH_CARD)
    assert (card.place, card.limit, card.others) == ("graphics", 12 * GB, GB)
    assert (own.place, own.limit, own.others) == ("memory", 64 * GB, 14 * GB)
    assert card.weights + own.weights == PARTS.weights
    assert card.used + own.used == PARTS.total + GB + 14 * GB


def test_graphics_that_share_the_memory_are_one_with_it() -> None:
    chip = Gpu("Chip", "apple", "Metal", 16 * GB, None, integrated=True, driver="", usable=True)
    mac = Hardware("macOS", CPU, Memory(16 * GB, 11 * GB), (chip,))
    (use,) = uses_of(PARTS, 1.0, 10 * GB, mac)
    assert (use.place, use.limit, use.others) == ("memory", 16 * GB, 6 * GB)


@pytest.mark.parametrize(
    ("variant", "drafter"),
    [
        ("ggml-org/Qwen3.8-27B-GGUF:Q4_K_M", "mtp-Qwen3.8-27B-Q4_0.gguf"),
        ("unsloth/Qwen3.8-27B-GGUF:UD-Q4_K_XL", None),
    ],
)
def test_a_head_comes_along_only_with_a_file_that_lacks_it(
    variant: str, drafter: str | None
) -> None:
    recommending = ScriptedRecommending(LAPTOP)
    repo, _, label = variant.partition(":")
    default = recommending.recommend().default
    assert default is not None
    pick = replace(default, size_id="qwen-3.8-27b", repo=repo, variant=label, parts=PARTS)
    (offer,) = offers_of(Recommendation(pick), recommending.catalogue(), LAPTOP).offers
    assert offer.drafter == (CompanionFile(repo, drafter) if drafter else None)
