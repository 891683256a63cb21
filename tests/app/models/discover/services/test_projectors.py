"""Finding the projector of a model, on the Hub and on this computer."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.base.errors import CatalogueInvalid, FileNotOnHub
from app.base.shipped import CATALOGUE
from app.models.discover.services.projectors import Projectors
from app.models.discover.values.catalogue import Catalogue, load_catalogue
from app.models.library.services.places.files import find_projector
from app.models.library.values.entry import ModelEntry
from tests.support.made_senses import qwen3vl_projector, write_qwen3vl
from tests.support.scripted_hub import SMALL, ScriptedHub, repository
from tests.support.services import Services

SEEING = "google/gemma-4-E2B-it-qat-q4_0-gguf"


def shipped() -> Catalogue:
    return load_catalogue(CATALOGUE.read_text(encoding="utf-8"))


def entry(repo: str | None, file: str = "gemma-4-E2B_q4_0-it.gguf") -> ModelEntry:
    return ModelEntry("a", "A", Path(file), repo=repo, file=file)


@pytest.fixture
def hub() -> ScriptedHub:
    return ScriptedHub()


def test_a_model_of_the_catalogue_is_offered_its_projector_with_its_size(hub: ScriptedHub) -> None:
    offer = Projectors(shipped, lambda: hub).offer(entry(SEEING))
    assert offer is not None
    assert offer.size_bytes == 990_000_000
    assert offer.repo.startswith(f"{SEEING}:")
    assert not hub.asked, "nobody is asked for that"


@pytest.mark.parametrize("repo", [None, "ada/Unknown-7B-GGUF"])
def test_a_model_that_the_catalogue_does_not_know_is_offered_none(
    hub: ScriptedHub, repo: str | None
) -> None:
    assert Projectors(shipped, lambda: hub).offer(entry(repo)) is None


def test_a_catalogue_that_cannot_be_used_offers_none(hub: ScriptedHub) -> None:
    def broken() -> Catalogue:
        raise CatalogueInvalid("It cannot be used.", "It is not valid JSON.", "Correct it.")

    assert Projectors(broken, lambda: hub).offer(entry(SEEING)) is None


def test_the_projector_is_got_from_where_the_model_came_from(hub: ScriptedHub) -> None:
    wanted = Projectors(shipped, lambda: hub).wanted(entry(SMALL.id, "small-7b-Q4_K_M.gguf"))
    assert [it.path for it in wanted.files] == ["mmproj-small-7b-F16.gguf"]


def test_a_repository_without_a_projector_says_so(hub: ScriptedHub) -> None:
    hub.repositories["ada/Blind"] = repository("ada/Blind", files=(("b-Q4_K_M.gguf", 1.0),))
    with pytest.raises(FileNotOnHub):
        Projectors(shipped, lambda: hub).wanted(entry("ada/Blind", "b-Q4_K_M.gguf"))


def test_an_added_model_has_the_projector_in_its_folder(services: Services, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    model = write_qwen3vl(tmp_path / "own" / "model.gguf")
    blind = services.library.facts(services.library.add(model)).can or ()
    assert "sees" not in blind
    other = qwen3vl_projector(model.with_name("mmproj-other.gguf"), width=256)
    assert find_projector(model) is None, "it is for another model"
    other.unlink()
    projector = qwen3vl_projector(model.with_name("mmproj.gguf"))
    found = services.library.find("model")
    assert found.projector == projector
    assert services.library.find(str(model)).projector == projector
    assert "sees" in (services.library.facts(found).can or ())
    assert "hears" not in (services.library.facts(found).can or ())
