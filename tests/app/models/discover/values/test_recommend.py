"""Recommendations for described computers, and rules that hold on all of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.models.discover.values.catalogue import Catalogue, Size, load_catalogue
from app.models.discover.values.placing import Computer, place
from app.models.discover.values.recommend import Pick, Recommendation, recommend
from app.models.discover.values.recommend_words import mtp_sentence, speed_words
from tests.support.machines import MACHINES, Machine, card, mac, with_card
from tests.support.paths import ROOT

SHIPPED = ROOT / "resources" / "catalogue.json"
CATALOGUE = load_catalogue(SHIPPED.read_text(encoding="utf-8"))


def of(machine: Machine, catalogue: Catalogue = CATALOGUE) -> Recommendation:
    return recommend(
        machine.hardware, catalogue, machine.bandwidth, disk_free=int(machine.disk * 1e9)
    )


def free_on(machine: Machine) -> int:
    hardware = machine.hardware
    cards = sum(gpu.free_bytes or 0 for gpu in hardware.gpus if gpu.usable and not gpu.integrated)
    return hardware.memory.available_bytes + cards


def require_sound(found: Recommendation, free: int) -> None:
    """Check the rules that hold on every computer."""
    if found.default is None:
        assert found.picks == ()
        assert found.note
    for pick in found.picks:
        parts = pick.parts
        assert pick.need == parts.total
        # The logits alone are a number for each token of the vocabulary.
        assert parts.compute > 4 * _size(pick).shape.vocabulary.value
        assert pick.need <= pick.have <= free
        assert pick.verdict in ("fits", "tight", "partial")
        assert (pick.verdict == "partial") == (pick.device == "graphics card and processor")
        assert pick.tokens_per_s > 0
        assert parts.weights <= pick.disk_bytes <= pick.need + parts.drafter
        assert pick.in_use >= 0
        assert pick.sentence.endswith(".")
        assert pick.mtp.endswith(".")
        assert pick.licence.name
    if found.default:
        assert found.default.verdict != "tight"
    if found.default and found.faster:
        assert found.faster.tokens_per_s > found.default.tokens_per_s
        assert found.faster.need <= found.default.need
        assert found.faster.verdict == "fits"
        assert _size(found.faster).quality.value < _size(found.default).quality.value
    if found.default and found.smarter:
        default, smarter = _size(found.default), _size(found.smarter)
        assert smarter.quality.value > default.quality.value
        assert (
            smarter.parameters.value > default.parameters.value
            or smarter.active.value > default.active.value
        )


def _size(pick: Pick) -> Size:
    return CATALOGUE.sizes[pick.size_id]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_a_described_computer_gets_what_suits_it(machine: Machine) -> None:
    found = of(machine)
    require_sound(found, free_on(machine))
    if not machine.suits:
        assert found.default is None
    else:
        assert found.default is not None
        assert found.default.name in machine.suits
        assert found.default.device == machine.device
    assert machine.says in found.note


def test_enough_computers_are_described() -> None:
    assert len({machine.name for machine in MACHINES}) == len(MACHINES) >= 40


def test_the_tiers_have_the_alternatives_that_a_person_expects() -> None:
    by_name = {machine.name: machine for machine in MACHINES}

    def names(machine: str) -> tuple[str, ...]:
        return tuple(pick.name for pick in of(by_name[machine]).picks)

    assert names("8 GB laptop") == ("Gemma 4 E2B", "LFM 2.5 1.2B", "Qwen 3.5 4B")
    assert names("32 GB laptop")[2] == "Qwen 3.6 35B-A3B"
    assert names("card 12 GB")[2] in {"Gemma 4 26B-A4B", "Qwen 3.6 35B-A3B"}
    assert names("card 24 GB") == ("Qwen 3.6 27B", "Gemma 4 26B-A4B", "Gemma 4 31B")


def test_a_card_with_much_memory_beside_it_gets_no_huge_download() -> None:
    found = of(with_card(8, 272, (), ram=64, free=50)).default
    assert found
    assert found.disk_bytes < 8e9


def test_it_says_where_the_speed_was_measured_under_load() -> None:
    machine = MACHINES[0]
    calm, busy = (replace(machine.bandwidth, sure=sure) for sure in (True, False))
    assert "was busy" not in recommend(machine.hardware, CATALOGUE, calm).note
    assert "was busy" in recommend(machine.hardware, CATALOGUE, busy).note


def test_eight_bits_are_taken_where_they_are_quick() -> None:
    assert of(with_card(48, 960, ())).default is not None
    large = of(with_card(48, 960, ())).default
    small = of(with_card(24, 936, ())).default
    assert large
    assert small
    assert (large.variant, small.variant) == ("Q8_0", "UD-Q4_K_XL")


def test_the_sum_counts_the_drafter_where_it_helps_and_no_projector() -> None:
    twelve = of(with_card(12, 360, ())).default
    assert twelve
    assert twelve.parts.drafter > 0
    assert twelve.mtp.startswith("Automatic. ")
    assert not twelve.parts.projector
    assert twelve.disk_bytes > twelve.parts.weights
    laptop = next(of(machine).default for machine in MACHINES if machine.name == "8 GB laptop")
    assert laptop
    assert laptop.parts.drafter


def test_mtp_is_off_where_a_model_is_split() -> None:
    smarter = of(with_card(12, 360, ())).smarter
    assert smarter
    assert smarter.device == "graphics card and processor"
    assert smarter.parts.drafter == 0
    assert smarter.mtp.startswith("Off. With a part")


def test_a_card_that_tells_nothing_has_a_lower_bound_only() -> None:
    machine = next(it for it in MACHINES if "nothing is known" in it.name)
    found = of(machine)
    assert found.default
    assert found.default.speed.at_least
    assert f"writes {speed_words(found.default.speed)}" in found.default.sentence
    assert "at least" in found.default.sentence


def test_what_the_hub_tells_counts_more_than_the_catalogue() -> None:
    machine = with_card(12, 360, ())
    told = {"google/gemma-4-12B-it-qat-q4_0-gguf:Q4_0": 6_900_000_001}
    found = recommend(machine.hardware, CATALOGUE, machine.bandwidth, told)
    assert found.default
    assert found.default.parts.weights == 6_900_000_001
    assert not found.default.about
    assert found.smarter
    assert found.smarter.about


def test_a_full_disk_is_said_and_hides_nothing() -> None:
    machine = next(it for it in MACHINES if "full disk" in it.name)
    found = of(machine)
    assert [pick.disk_fits for pick in found.picks] == [False, False, False]
    assert found.default
    assert of(replace(machine, disk=500.0)).default == replace(found.default, disk_fits=True)


def test_an_empty_catalogue_recommends_nothing() -> None:
    empty = CATALOGUE.model_copy(update={"families": ()})
    found = of(with_card(12, 360, ()), Catalogue(version=1, families=empty.families))
    assert found.picks == ()
    assert "The list of models is empty, so the small guide" in found.note
    assert "fit" not in found.note


def test_a_list_without_models_for_every_day_still_has_a_default() -> None:
    family = next(it for it in CATALOGUE.families if it.id == "ministral-3")
    assert not any(size.everyday for size in family.sizes)
    own = Catalogue(version=1, sources=CATALOGUE.sources, families=(family,))
    found = of(with_card(12, 360, ()), own)
    assert found.default
    assert found.default.name == "Ministral 3 14B"


def test_the_command_gets_what_is_shown() -> None:
    found = of(with_card(16, 448, ()))
    assert found.default
    assert found.default.command == "hearth models pull ggml-org/gpt-oss-20b-GGUF:MXFP4"


MEMORY = st.floats(0.3, 600, allow_nan=False)
RATE = st.floats(4, 400, allow_nan=False)


@given(
    total=MEMORY,
    part=st.floats(0.05, 1),
    rate=RATE,
    cards=st.lists(st.tuples(st.floats(0.5, 100), st.floats(10, 4000)), max_size=3),
)
def test_nothing_is_recommended_that_does_not_fit(
    total: float, part: float, rate: float, cards: list[tuple[float, float]]
) -> None:
    gpus = tuple(card(f"Card {at}", size) for at, (size, _) in enumerate(cards))
    rates = {gpu.name: of_it for gpu, (_, of_it) in zip(gpus, cards, strict=True)}
    machine = Machine("any", total, total * part, rate, (), gpus=gpus, rates=rates)
    require_sound(of(machine), free_on(machine))


@given(free=MEMORY, more=st.floats(0, 200), rate=RATE, apple=st.booleans())
def test_more_memory_never_gives_a_smaller_default(
    free: float, more: float, rate: float, apple: bool
) -> None:
    def default(gib: float) -> Pick | None:
        if apple:
            return of(mac(gib * 1.25, gib, rate, ())).default
        return of(Machine("any", gib * 1.25, gib, rate, ())).default

    before, after = default(free), default(free + more)
    if before:
        assert after
        assert _size(after).parameters.value >= _size(before).parameters.value


@given(
    size=st.floats(1, 90),
    free=st.floats(1, 200),
    more=st.floats(0, 200),
    rate=st.floats(50, 4000),
    own=RATE,
)
def test_more_memory_beside_a_card_never_gives_a_smaller_default(
    size: float, free: float, more: float, rate: float, own: float
) -> None:
    def default(gib: float) -> Pick | None:
        return of(with_card(size, rate, (), ram=gib + 4, free=gib, own=own)).default

    before, after = default(free), default(free + more)
    if before:
        assert after
        assert _size(after).quality.value >= _size(before).quality.value


def test_a_tiny_card_takes_a_whole_model_however_much_other_memory_there_is() -> None:
    """No model is split between them; the note says so if nothing runs on the card."""
    slow = of(with_card(2.75, 50, (), ram=12, free=8, own=4))
    quick = of(with_card(2.2, 50, (), ram=40, free=32, own=60))

    assert slow.default
    assert slow.default.device == "graphics card"
    assert "too little memory" not in slow.note
    assert {pick.device for pick in quick.picks} == {"processor"}
    assert "too little memory" in quick.note


@given(free=MEMORY, rate=RATE, times=st.floats(1, 10))
def test_faster_memory_never_gives_a_lesser_default(free: float, rate: float, times: float) -> None:
    def default(of_memory: float) -> Pick | None:
        return of(Machine("any", free * 1.25, free, of_memory, ())).default

    before, after = default(rate), default(rate * times)
    assert (before is None) == (after is None)
    if before and after:
        assert _size(after).quality.value >= _size(before).quality.value


def test_a_head_in_a_file_of_its_own_is_counted_where_the_model_lacks_it() -> None:
    machine = with_card(48, 960, ())
    computer = Computer(machine.hardware, machine.bandwidth)
    size = CATALOGUE.sizes["qwen-3.8-27b"]
    found = {it.head: place(computer, size, it, 8192) for it in size.variants[:2]}
    assert size.drafter
    head = round(size.drafter.gb.value * 1e9)
    assert size.drafter_of(found[True].variant) is None
    assert size.drafter_of(found[False].variant) is size.drafter
    assert 0 < found[True].parts.drafter < head < found[False].parts.drafter
    assert mtp_sentence(found[False]).startswith("Automatic. ")


def test_a_head_in_a_file_of_its_own_is_downloaded_with_the_model_and_counted() -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    family = next(it for it in json.loads(text)["families"] if it["id"] == "qwen-3.8")
    (size,) = family["sizes"]
    size["variants"] = [it for it in size["variants"] if it["quantisation"] == "Q4_K_M"]
    own = {"version": 1, "only": True, "families": [family]}
    catalogue = load_catalogue(text, json.dumps(own))
    machine = with_card(48, 960, ())
    pick = recommend(machine.hardware, catalogue, machine.bandwidth).default
    assert pick
    assert pick.disk_bytes == 18_974_000_000 + 1_680_000_000
    known = {"ggml-org/Qwen3.8-27B-GGUF/mtp-Qwen3.8-27B-Q4_0.gguf": 1_700_000_000}
    told = recommend(machine.hardware, catalogue, machine.bandwidth, known).default
    assert told
    assert told.disk_bytes == 18_974_000_000 + 1_700_000_000
