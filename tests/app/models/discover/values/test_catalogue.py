"""The catalogue that Hearth ships, and a user's file that changes it."""

from __future__ import annotations

import json
from collections import Counter
from fnmatch import fnmatch
from typing import Any, get_args

import pytest

from app.base.errors import CatalogueInvalid
from app.models.discover.values.catalogue import Catalogue, load_catalogue
from app.models.discover.values.offers import ModelPurpose
from app.models.hub.values.names import hub_name
from app.models.library.values.quantisations import quantisation_of
from tests.support.paths import ROOT

RESOURCES = ROOT / "resources"
SHIPPED = (RESOURCES / "catalogue.json").read_text(encoding="utf-8")
CATALOGUE = load_catalogue(SHIPPED)
SIZES = list(CATALOGUE.sizes.values())
SIDECARS = ("mmproj*", "mtp-*", "*mmproj*")


def fact(value: Any) -> dict[str, Any]:
    return {"value": value, "certainty": "stated", "source": "us"}


def own_family(**changes: Any) -> dict[str, Any]:
    size: dict[str, Any] = {
        "id": "our-model",
        "name": "Our model",
        "tier": "small",
        "parameters": fact(3.0),
        "active": fact(3.0),
        "good_at": "Our own questions.",
        "quality": fact(99),
        "everyday": True,
        "variants": [{"repo": "us/our-model", "quantisation": "Q4_K_M", "gb": fact(2.0)}],
        "shape": {
            "layers": fact(20),
            "width": fact(2048),
            "vocabulary": fact(32000),
            "context_max": fact(8192),
            "kv": fact(40960),
        },
    }
    licence = {"name": "mit"}
    return {"id": "ours", "name": "Ours", "maker": "Us", "licence": licence, "sizes": [size]} | (
        changes
    )


def extension(**fields: Any) -> str:
    return json.dumps({"version": 1, "sources": {"us": "ourselves"}, **fields})


def test_the_schema_is_the_one_of_the_model() -> None:
    schema = json.dumps(Catalogue.model_json_schema(), indent=1) + "\n"
    assert (RESOURCES / "catalogue.schema.json").read_text(encoding="utf-8") == schema


def test_every_family_that_people_ask_for_is_there() -> None:
    wanted = {
        "gemma-4-e2b", "gemma-4-e4b", "gemma-4-12b", "gemma-4-26b-a4b", "gemma-4-31b",
        "qwen-3.5-0.8b", "qwen-3.5-2b", "qwen-3.5-4b", "qwen-3.5-9b", "qwen-3.5-27b",
        "qwen-3.5-35b-a3b", "qwen-3.5-122b-a10b", "qwen-3.6-27b", "qwen-3.6-35b-a3b",
        "qwen-3.8-27b", "gpt-oss-20b", "gpt-oss-120b", "ministral-3-3b", "ministral-3-8b",
        "ministral-3-14b", "devstral-small-2-24b", "granite-4.0-h-micro", "granite-4.0-h-tiny",
        "granite-4.0-h-small", "granite-4.1-3b", "granite-4.1-8b", "smollm3-3b", "lfm-2.5-1.2b",
        "lfm-2.5-2.6b", "lfm-2.5-8b-a1b", "phi-4-mini", "glm-4.7-flash", "qwen3-embedding-0.6b",
        "nomic-embed-text-v2-moe", "embeddinggemma-300m",
    }  # fmt: skip
    assert wanted == CATALOGUE.sizes.keys()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.id)
def test_what_is_said_of_a_model_holds_together(size: Any) -> None:
    assert size.active.value <= size.parameters.value
    assert size.good_at.endswith(".")
    assert size.mtp.why.endswith(".")
    for variant in size.variants:
        hub_name(variant.name)
        bits = variant.gb.value * 8 / size.parameters.value
        said = quantisation_of(variant.quantisation).bits
        assert said, variant.quantisation
        # Small models keep their large vocabulary in more bits, those trained for four in fewer.
        assert 0.8 * said < bits < 1.55 * said, (variant.name, bits)
    for file in (size.drafter, size.projector):
        if file:
            hub_name(file.repo)
            assert any(fnmatch(file.pattern, sidecar) for sidecar in SIDECARS)
    if size.mtp.help != "off" and size.mtp.kind == "drafter":
        assert size.drafter
    if size.shape.window:
        assert size.shape.window_kv
    assert size.vision or size.projector is None


def test_the_shapes_that_logs_of_real_files_tell_are_right() -> None:
    """The KV bytes of a token are layers with a cache × (key + value) × heads × width × 2 bytes."""
    twelve = CATALOGUE.sizes["gemma-4-12b"].shape
    assert twelve.kv.value == 8 * 2 * 1 * 512 * 2
    assert twelve.window_kv
    assert twelve.window_kv.value == 40 * 2 * 8 * 256 * 2
    dense = CATALOGUE.sizes["qwen-3.6-27b"].shape
    assert dense.kv.value == 16 * 2 * 4 * 256 * 2
    assert dense.state
    assert dense.state.value > 48 * 48 * 128 * 128 * 4


def test_a_family_can_be_added() -> None:
    found = load_catalogue(SHIPPED, extension(families=[own_family()]))
    assert found.sizes["our-model"].quality.value == 99
    assert found.sizes.keys() > CATALOGUE.sizes.keys()


def test_only_ones_own_models_are_there_if_one_wants_that() -> None:
    found = load_catalogue(SHIPPED, extension(only=True, families=[own_family()]))
    assert list(found.sizes) == ["our-model"]


def test_families_and_sizes_can_be_hidden() -> None:
    found = load_catalogue(SHIPPED, extension(hide=["gpt-oss", "gemma-4-31b"]))
    gone = CATALOGUE.sizes.keys() - found.sizes.keys()
    assert gone == {"gpt-oss-20b", "gpt-oss-120b", "gemma-4-31b"}
    assert "gpt-oss" not in {family.id for family in found.families}


def test_a_size_can_be_changed_and_the_others_stay() -> None:
    changed = own_family(id="gpt-oss", name="gpt-oss")
    changed["sizes"][0]["id"] = "gpt-oss-20b"
    found = load_catalogue(SHIPPED, extension(families=[changed]))
    assert found.sizes["gpt-oss-20b"].name == "Our model"
    assert found.sizes["gpt-oss-120b"] == CATALOGUE.sizes["gpt-oss-120b"]


def test_a_source_may_be_one_that_hearth_names() -> None:
    family = own_family()
    family["sizes"][0]["quality"]["source"] = "card"
    found = load_catalogue(SHIPPED, extension(families=[family]))
    assert found.sizes["our-model"].quality.source == "card"


def wrong(**changes: Any) -> str:
    family = own_family()
    family["sizes"][0] |= changes
    return json.dumps(
        {"version": 1, "sources": {"us": "ourselves"}, "families": [family]}, indent=1
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "line 1 column 1"),
        ("[]", "the whole: "),
        ("{}", "version: "),
        (extension(family=[]), "family: there is no such field, in line 1"),
        (wrong(qualty=3), "families[0].sizes[0].qualty: there is no such field, in line"),
        (wrong(tier="big"), "families[0].sizes[0].tier: "),
        (wrong(variants=[]), "families[0].sizes[0].variants: "),
        (wrong(id="No such id!"), "families[0].sizes[0].id: "),
        (wrong(quality={"value": 1, "certainty": "stated", "source": "him"}), "“him”"),
        (extension(families=[own_family(), own_family(id="other")]), "“our-model” is there twice"),
        (extension(hide=["gpt-os"]), "hides “gpt-os”"),
    ],
)
def test_an_error_in_ones_own_file_says_where_it_is(text: str, says: str) -> None:
    with pytest.raises(CatalogueInvalid) as caught:
        load_catalogue(SHIPPED, text, "the/catalogue.json")
    error = caught.value
    assert "the/catalogue.json" in error.why
    assert says in error.why
    assert error.what
    assert error.do


def test_an_unknown_field_of_the_shipped_list_is_a_bug() -> None:
    with pytest.raises(ValueError, match="extra_forbidden"):
        Catalogue.model_validate({"version": 1, "families": [], "extra": 1})


def test_every_model_that_writes_has_a_purpose_or_is_plain() -> None:
    """Each filter narrows the list down, and none of them finds nothing."""
    writing = [size for size in SIZES if size.role != "embedding"]
    found = Counter(purpose for size in writing for purpose in size.purposes)
    assert set(found) == set(get_args(ModelPurpose))
    assert all(number < 0.7 * len(writing) for number in found.values())
    by_id = {size.id: size.purposes for size in writing}
    assert by_id["devstral-small-2-24b"] == ("code",)
    assert by_id["gemma-4-e2b"] == ("everyday", "sees", "small", "long")
    assert "long" not in by_id["ministral-3-3b"], "its context takes more memory than the model"
