"""Finding the same model for another engine in the catalogue that Hearth ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.base.shipped import CATALOGUE
from app.models.discover.values.catalogue import Catalogue, load_catalogue
from app.models.discover.values.counterparts import (
    Card,
    advised_depth,
    best,
    counterparts,
    size_of,
    surely_same,
)
from app.models.library.values.entry import STARTER, STARTER_CHECKPOINT, ModelEntry

ADA = Card("RTX 4090", 8.9, 25_700_000_000)
AMPERE = Card("RTX 3090", 8.6, 25_400_000_000)
BLACKWELL = Card("RTX 5090", 12.0, 34_000_000_000)


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue(CATALOGUE.read_text(encoding="utf-8"))


def gguf(name: str, repo: str | None = None) -> ModelEntry:
    return ModelEntry(name.lower(), name, Path(f"/m/{name}.gguf"), repo=repo)


def checkpoint(repo: str) -> ModelEntry:
    name = repo.rpartition("/")[2]
    return ModelEntry(name.lower(), name, Path(f"/c/{name}"), repo=repo, engine="vllm")


TWELVE = gguf("gemma-4-12B-it-Q4_0", "google/gemma-4-12B-it-qat-q4_0-gguf")


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("gemma-4-E4B-it-Q4_K_M", "gemma-4-e4b"),
        ("Qwen3.6-27B-UD-Q4_K_XL", None),
        ("qwen-3.6-27b-q4", "qwen-3.6-27b"),
        ("my-own", None),
    ],
)
def test_a_model_is_known_by_its_name(catalogue: Catalogue, name: str, size: str | None) -> None:
    found = size_of(gguf(name), catalogue)
    assert (found.id if found else None) == size


def test_a_model_is_known_by_its_repository_on_either_side(catalogue: Catalogue) -> None:
    for repo in ("unsloth/Qwen3.6-27B-MTP-GGUF", "Qwen/Qwen3.6-27B-FP8", "qwen/qwen3.6-27b-fp8"):
        found = size_of(gguf("x", repo), catalogue)
        assert found is not None
        assert found.id == "qwen-3.6-27b"


def test_the_same_model_surely_is_one_by_where_both_come_from(catalogue: Catalogue) -> None:
    theirs = checkpoint("google/gemma-4-12B-it")
    same = gguf("gemma-4-12B-it-Q4_0", "google/gemma-4-12B-it-qat-q4_0-gguf")
    assert surely_same(same, theirs, catalogue)
    assert surely_same(theirs, same, catalogue)
    made_of_it = gguf("gemma-4-12B-it-heretic", "somebody/gemma-4-12B-it-heretic-GGUF")
    assert size_of(made_of_it, catalogue) is size_of(theirs, catalogue)
    assert not surely_same(made_of_it, theirs, catalogue)
    assert not surely_same(gguf("gemma-4-12B-it-Q4_0"), theirs, catalogue)


def test_what_is_here_costs_nothing(catalogue: Catalogue) -> None:
    here = [TWELVE, checkpoint("RedHatAI/gemma-4-12B-it-FP8-Dynamic")]
    found = counterparts(TWELVE, "vllm", here, catalogue, ADA)
    assert (found[0].entry, found[0].label, found[0].bytes) == (here[1], "FP8", 0)
    assert "nothing has to be downloaded" in found[0].price
    assert best(found) is found[0]
    assert len([it for it in found if it.repo == here[1].repo]) == 1


@pytest.mark.parametrize(
    ("card", "precision"), [(ADA, "FP8"), (AMPERE, "INT4"), (BLACKWELL, "FP8")]
)
def test_of_what_can_be_had_the_card_decides(
    catalogue: Catalogue, card: Card, precision: str
) -> None:
    found = counterparts(TWELVE, "vllm", [TWELVE], catalogue, card)
    chosen = best(found)
    assert chosen is not None
    assert chosen.label == precision
    assert chosen.drafter == "google/gemma-4-12B-it-assistant"
    assert chosen.depth == 4
    assert "GB have to be downloaded" in chosen.price


def test_native_four_bits_first_on_a_card_that_has_them(catalogue: Catalogue) -> None:
    moe = gguf("gemma-4-26B-A4B-it-Q4_0")
    wanted = {
        name: best(counterparts(moe, "vllm", [], catalogue, card))
        for name, card in (("ada", ADA), ("blackwell", BLACKWELL))
    }
    assert wanted["blackwell"] is not None
    assert wanted["blackwell"].label == "NVFP4"
    assert wanted["ada"] is not None
    assert wanted["ada"].label == "INT4"
    other = [it for it in counterparts(moe, "vllm", [], catalogue, ADA) if it.label == "NVFP4"]
    assert not other[0].why_not, "vLLM unpacks it there"


def test_what_a_card_cannot_run_at_all_says_so(catalogue: Catalogue) -> None:
    turing, pascal = Card("RTX 2080", 7.5, 80_000_000_000), Card("GTX 1080", 6.1, 80_000_000_000)
    assert best(counterparts(TWELVE, "vllm", [], catalogue, turing)) is not None
    refused = counterparts(TWELVE, "vllm", [], catalogue, pascal)
    assert refused
    assert all("compute capability 7.5" in it.why_not for it in refused)


def test_what_is_too_large_says_so(catalogue: Catalogue) -> None:
    found = counterparts(
        gguf("gemma-4-31B-it-Q4_0"), "vllm", [], catalogue, Card("Small", 8.9, 8_000_000_000)
    )
    assert found
    assert all("Small has 8" in it.why_not or "capability" in it.why_not for it in found)
    assert best(found) is None


def test_without_a_card_nothing_can_be_had(catalogue: Catalogue) -> None:
    found = counterparts(TWELVE, "vllm", [TWELVE], catalogue, None)
    assert {it.why_not for it in found} == {"This computer has no NVIDIA card for it."}


def test_back_to_llama(catalogue: Catalogue) -> None:
    entry = checkpoint("google/gemma-4-12B-it")
    found = counterparts(entry, "llamacpp", [TWELVE, entry], catalogue, None)
    assert found[0].entry == TWELVE
    assert {it.repo for it in found[1:]} >= {"google/gemma-4-12B-it-qat-q4_0-gguf"}
    assert counterparts(entry, "vllm", [TWELVE, entry], catalogue, ADA) == ()


def test_a_server_that_offers_it(catalogue: Catalogue) -> None:
    served = ModelEntry(
        "team:google/gemma-4-12B-it", "gemma on team", Path("x"), engine="remote", server="p",
        served="google/gemma-4-12B-it", source="server",
    )  # fmt: skip
    assert [it.entry for it in counterparts(TWELVE, "remote", [served], catalogue, None)] == [
        served
    ]
    assert counterparts(gguf("gemma-4-E4B-it"), "remote", [served], catalogue, None) == ()


def test_the_guide_has_a_pair_of_its_own(catalogue: Catalogue) -> None:
    guide = ModelEntry(STARTER, "Guide", Path("/s.gguf"), builtin=True)
    pair = ModelEntry(STARTER_CHECKPOINT, "Guide", Path("/s"), builtin=True, engine="vllm")
    assert [it.entry for it in counterparts(guide, "vllm", [guide, pair], catalogue, None)] == [
        pair
    ]
    assert [it.entry for it in counterparts(pair, "llamacpp", [guide, pair], catalogue, None)] == [
        guide
    ]
    assert counterparts(guide, "vllm", [guide, TWELVE], catalogue, ADA) == ()


def test_depths_of_the_recipes(catalogue: Catalogue) -> None:
    assert advised_depth(checkpoint("google/gemma-4-E2B-it"), catalogue) == 2
    assert advised_depth(checkpoint("google/gemma-4-31B-it"), catalogue) == 4
    assert advised_depth(checkpoint("zai-org/GLM-4.7-Flash"), catalogue) == 1
    assert advised_depth(checkpoint("somebody/else"), catalogue) is None


def test_all_checkpoints_have_a_size_and_most_a_price(catalogue: Catalogue) -> None:
    for size in catalogue.sizes.values():
        for it in size.vllm:
            if size.id.startswith("gemma"):
                assert it.gb is not None
                assert it.vram_gb is not None
                assert it.speculative is not None
