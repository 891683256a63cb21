"""Finding, adding and removing models."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.base.errors import ModelUnknown
from app.base.shipped import STARTER, STARTER_DRAFTER
from app.models.library.services.library import Library
from app.models.library.services.mtp_advice import mtp_of_files
from engines.errors import DrafterMismatch, ModelDamaged, ModelNotFound, NotAChatModel, NotAModel
from tests.engines.checkpoint_files import TARGET
from tests.engines.gguf_files import LLAMA, write_assistant, write_gemma4, write_gguf, write_llama
from tests.support.made_embedding import write_bert
from tests.support.made_fed import write_dflash, write_eagle
from tests.support.mtp_models import quantised, write_qwen
from tests.support.services import Services


def test_the_guide_is_always_there(services: Services) -> None:
    (starter,) = services.library.entries()
    assert (starter.id, starter.builtin, starter.path) == ("starter", True, STARTER)
    with pytest.raises(ModelUnknown):
        services.library.remove("starter")


def test_a_file_is_added_where_it_lies_and_can_be_taken_off(
    services: Services, tmp_path: Path
) -> None:
    path = tmp_path / "My Model (Q8).gguf"
    shutil.copy(STARTER, path)
    entry = services.library.add(path)
    assert (entry.id, entry.name, entry.path) == ("my-model-q8", "My Model (Q8)", path)
    assert services.library.add(path) == entry
    assert services.library.find("my-model-q8") == entry
    assert services.library.header(entry).architecture == "gemma4"
    services.library.remove("my-model-q8")
    assert path.exists()
    assert len(services.library.entries()) == 1


def test_two_files_of_one_name_stay_two(services: Services, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        shutil.copy(STARTER, tmp_path / folder / "m.gguf")
    ids = {services.library.add(tmp_path / folder / "m.gguf").id for folder in ("one", "two")}
    assert ids == {"m", "m-2"}


def test_a_file_can_be_used_without_being_added(services: Services) -> None:
    entry = services.library.find(str(STARTER))
    assert (entry.path, entry.builtin) == (STARTER, False)


def test_an_embedding_model_is_added_for_programs(services: Services, tmp_path: Path) -> None:
    entry = services.library.add(write_bert(tmp_path / "bert.gguf"))
    assert services.library.facts(entry).can == ("embeds",)


def test_what_is_no_chat_model_is_not_added(services: Services, tmp_path: Path) -> None:
    projector = write_gguf(tmp_path / "clip.gguf", "clip", LLAMA, {})
    with pytest.raises(NotAChatModel):
        services.library.add(projector)
    text = tmp_path / "text.gguf"
    text.write_text("Not a model.\n")
    with pytest.raises(NotAModel):
        services.library.add(text)
    with pytest.raises(ModelNotFound):
        services.library.add(tmp_path / "gone.gguf")
    assert len(services.library.entries()) == 1


def test_an_unknown_name_says_what_to_do(services: Services) -> None:
    with pytest.raises(ModelUnknown) as caught:
        services.library.find("gemma")
    assert "models list" in caught.value.terminal


class TestDrafters:
    @pytest.fixture
    def models(self, tmp_path: Path) -> Path:
        """Make a folder with a Gemma 4 model that has no drafter beside it."""
        folder = tmp_path / "models"
        folder.mkdir()
        write_gemma4(folder / "gemma.gguf")
        return folder

    def test_the_guide_brings_its_own(self, services: Services) -> None:
        starter = services.library.find("starter")
        assert starter.drafter == STARTER_DRAFTER
        assert services.library.drafter_for(starter) == STARTER_DRAFTER

    def test_one_is_added_for_a_model_that_is_here(
        self, services: Services, models: Path, tmp_path: Path
    ) -> None:
        services.library.add(models / "gemma.gguf")
        assert services.library.find("gemma").drafter is None
        drafter = services.library.add(write_assistant(tmp_path / "any name.gguf"))
        assert [it.id for it in services.library.drafters()] == [drafter.id]
        assert [it.id for it in services.library.entries()] == ["starter", "gemma"]
        assert services.library.find("gemma").drafter == drafter.path
        assert services.library.find(drafter.id) == drafter
        assert [it.id for it in services.library.drafts_for(drafter)] == ["gemma"]
        services.library.remove(drafter.id)
        assert services.library.find("gemma").drafter is None
        assert drafter.path.exists()

    def test_one_in_the_models_folder_needs_no_adding(
        self, services: Services, models: Path
    ) -> None:
        services.library.add(models / "gemma.gguf")
        write_assistant(models / "other.gguf", embedding_length_out=320)
        assert services.library.find("gemma").drafter is None
        beside = write_assistant(models / "no hint in the name.gguf")
        assert services.library.find("gemma").drafter == beside
        assert services.library.find(str(models / "gemma.gguf")).drafter == beside
        beside.unlink()
        assert services.library.find("gemma").drafter is None

    def test_one_that_was_added_is_preferred(
        self, services: Services, models: Path, tmp_path: Path
    ) -> None:
        services.library.add(models / "gemma.gguf")
        write_assistant(models / "beside.gguf")
        added = services.library.add(write_assistant(tmp_path / "added.gguf"))
        assert services.library.find("gemma").drafter == added.path

    def test_a_file_that_is_replaced_is_read_again(self, services: Services, models: Path) -> None:
        services.library.add(models / "gemma.gguf")
        path = write_assistant(models / "d.gguf")
        assert services.library.find("gemma").drafter == path
        write_assistant(path, vocab_size=2000)
        assert services.library.find("gemma").drafter is None

    def test_one_that_was_lost_is_still_a_drafter_and_is_told(
        self, services: Services, models: Path, tmp_path: Path
    ) -> None:
        library = services.library
        library.add(models / "gemma.gguf")
        llama = library.add(write_llama(models / "llama.gguf"))
        added = library.add(write_assistant(tmp_path / "added.gguf"))
        content = added.path.read_bytes()
        added.path.write_bytes(content[: len(content) // 2])
        for says in (ModelDamaged, ModelNotFound):
            assert [it.id for it in library.entries()] == ["starter", "gemma", "llama"]
            assert library.drafters() == [added]
            gemma = library.find("gemma")
            assert (gemma.drafter, library.drafter_for(gemma)) == (added.path, None)
            assert library.find(llama.id).drafter is None
            with pytest.raises(says):
                mtp_of_files(library, gemma)
            added.path.unlink(missing_ok=True)

    def test_one_of_another_model_is_refused_with_the_reason(
        self, services: Services, models: Path, tmp_path: Path
    ) -> None:
        services.library.add(models / "gemma.gguf")
        wrong = write_assistant(tmp_path / "wrong.gguf", embedding_length_out=320)
        with pytest.raises(DrafterMismatch, match="width 320, and this one has 256"):
            services.library.add(wrong)
        assert services.library.drafters() == []

    def test_one_without_a_model_is_refused_with_what_to_do(
        self, services: Services, tmp_path: Path
    ) -> None:
        with pytest.raises(DrafterMismatch) as caught:
            services.library.add(write_assistant(tmp_path / "d.gguf"))
        assert caught.value.do == "Add its model first, then the drafter."

    @pytest.mark.parametrize("architecture", ["eagle3", "dflash"])
    def test_one_that_cannot_be_run_is_refused(
        self, services: Services, tmp_path: Path, architecture: str
    ) -> None:
        path = write_gguf(tmp_path / "d.gguf", architecture, LLAMA, {})
        with pytest.raises(DrafterMismatch, match="which layers of its model"):
            services.library.add(path)

    @pytest.mark.parametrize("write", [write_eagle, write_dflash])
    def test_one_that_is_fed_by_its_model_comes_with_it(
        self, services: Services, tmp_path: Path, write: Callable[[Path], Path]
    ) -> None:
        library = services.library
        library.add(write_qwen(tmp_path / "qwen.gguf"))
        library.add(write_llama(tmp_path / "llama.gguf"))
        (tmp_path / "elsewhere").mkdir()
        drafter = write(tmp_path / "elsewhere" / "d.gguf")
        library.add(drafter)
        assert library.find("qwen").drafter == drafter
        assert library.find("llama").drafter is None

    def test_models_of_other_families_have_none(self, services: Services, models: Path) -> None:
        write_assistant(models / "d.gguf")
        entry = services.library.add(write_llama(models / "llama.gguf"))
        assert services.library.drafter_for(entry) is None

    def test_a_model_whose_file_has_gone_stays_on_the_list(
        self, services: Services, models: Path
    ) -> None:
        services.library.add(models / "gemma.gguf")
        (models / "gemma.gguf").unlink()
        assert [it.id for it in services.library.entries()] == ["starter", "gemma"]
        assert services.library.find("gemma").drafter is None


def test_a_smaller_model_is_chosen_to_draft(services: Services, tmp_path: Path) -> None:
    library = services.library
    large = library.add(Path(shutil.copy(STARTER, tmp_path / "large.gguf")))
    small = library.add(quantised(STARTER, tmp_path / "small.gguf", "Q8_0"))
    library.add(write_llama(tmp_path / "other.gguf"))
    assert [it.id for it in library.draft_models(large)] == ["small"]
    assert library.draft_models(small) == []
    assert library.find("large").drafter == STARTER_DRAFTER, "nothing else was said"
    services.own("large", draft_model="small")
    assert library.find("large").drafter == small.path
    assert library.find("small").drafter == STARTER_DRAFTER
    services.own("large", draft_model="gone")
    assert library.find("large").drafter == Path("gone"), "its load says that it is gone"


def test_one_draft_model_can_be_for_all_models_of_its_engine(
    services: Services, tmp_path: Path
) -> None:
    library = Library(services.models, STARTER, STARTER_DRAFTER, draft_model=lambda: "small")
    library.add(Path(shutil.copy(STARTER, tmp_path / "large.gguf")))
    small = library.add(quantised(STARTER, tmp_path / "small.gguf", "Q8_0"))
    checkpoint = library.add(TARGET)
    assert library.find("large").drafter == small.path
    services.own("large", draft_model="")
    assert library.find("large").drafter == STARTER_DRAFTER
    assert library.find(checkpoint.id).drafter != small.path
