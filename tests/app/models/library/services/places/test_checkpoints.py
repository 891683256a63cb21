"""Checkpoints in the Hub's cache, in folders and added by hand: pairing, copying and deleting."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from app.base.db import Database
from app.base.errors import ModelNotOurs
from app.base.shipped import STARTER as GUIDE
from app.base.shipped import STARTER_DRAFTER
from app.models.library.services.details import details
from app.models.library.services.library import Library
from app.models.library.services.manager import ModelManager
from app.models.library.services.mtp_advice import mtp_of_files
from app.models.library.services.places.found_models import FoundModels
from app.models.library.services.places.places import Places
from app.models.library.store.models import ModelStore
from app.models.library.values.entry import STARTER, STARTER_CHECKPOINT, ModelEntry
from app.runtime.services.loaders import RemoteLoader
from app.runtime.services.prepared_vllm_load import drafter_of
from app.runtime.services.vllm_loader import VllmLoader
from engines.cancel import CancelToken
from engines.errors import DrafterMismatch, NotAChatModel, NotAModel
from engines.hardware import detect
from engines.memory.load_options import LoadOptions
from engines.models.checkpoint import read_checkpoint
from tests.engines.checkpoint_files import (
    DFLASH,
    DFLASH_TENSORS,
    DRAFTER,
    EAGLE3,
    EAGLE3_TENSORS,
    QWEN3,
    SPECULATOR,
    SPECULATOR_TENSORS,
    TARGET,
    write_checkpoint,
)

BERT = {"architectures": ["BertModel"], "model_type": "bert"}


class Shop:
    """A library with folders of its own."""

    def __init__(self, root: Path, further: tuple[ModelEntry, ...] = ()) -> None:
        self.hub, self.own, self.folder = root / "hub", root / "models", root / "further"
        for folder in (self.hub, self.own, self.folder):
            folder.mkdir()
        places = Places(self.hub)
        self.database = Database(root / "chats.db")
        store = ModelStore(self.database)
        collection = FoundModels(places, self.own, lambda: (self.folder,))
        self.library = Library(store, GUIDE, STARTER_DRAFTER, collection, lambda: further)
        self.care = ModelManager(self.library, store, collection)

    def in_hub(self, repo: str, source: Path, commit: str = "c1") -> Path:
        folder = self.hub / f"models--{repo.replace('/', '--')}" / "snapshots" / commit
        shutil.copytree(source, folder)
        return folder

    def import_(self, path: Path, *, copy: bool = False) -> ModelEntry:
        return self.care.import_model(
            path, copy=copy, progress=lambda _: None, cancel=CancelToken()
        )


def not_started() -> NoReturn:
    pytest.fail("an engine was made only to judge a model")


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_a_checkpoint_of_the_hub_comes_with_its_assistant(shop: Shop) -> None:
    folder = shop.in_hub("google/tiny-it", TARGET)
    assistant = shop.in_hub("google/tiny-it-assistant", DRAFTER)
    entry = shop.library.find("google/tiny-it")
    assert (entry.engine, entry.path, entry.name, entry.source) == (
        "vllm",
        folder,
        "tiny-it",
        "hub",
    )
    assert entry.drafter == assistant
    assert entry.size_bytes == (folder / "model.safetensors").stat().st_size
    assert [it.id for it in shop.library.entries()] == [STARTER, entry.id]
    found = shop.library.facts(entry)
    assert (found.mtp, found.context_max, found.quantisation) == ("drafter", 4096, "BF16")
    assert "its drafter guesses" in mtp_of_files(shop.library, entry)
    shown = details(shop.library, entry.id)
    assert (shown.file.layers, shown.template.present, shown.file.architecture) == (
        4,
        True,
        "Gemma4ForCausalLM",
    )


def test_a_folder_of_the_user_and_what_is_none(shop: Shop) -> None:
    shutil.copytree(TARGET, shop.folder / "mine")
    write_checkpoint(shop.folder / "bert", BERT)
    cut = write_checkpoint(shop.folder / "half", json.loads((TARGET / "config.json").read_text()))
    (cut / "model.safetensors.index.json").write_text('{"weight_map": {"a": "more.safetensors"}}')
    names = [it.name for it in shop.library.entries()]
    assert names == ["Starter guide", "mine"]
    assert any("more.safetensors is not in it" in note for note in shop.library.notes())


def test_an_added_folder_keeps_its_engine_and_pairs_with_an_added_drafter(
    shop: Shop, tmp_path: Path
) -> None:
    target = shutil.copytree(TARGET, tmp_path / "a" / "Target")
    entry = shop.import_(target)
    assert (entry.engine, entry.id, entry.path, entry.source) == (
        "vllm", "target", target, "added",
    )  # fmt: skip
    assert shop.library.find(str(target)).id == "target"
    assert shop.library.find("target").drafter is None
    drafter = shop.import_(shutil.copytree(DRAFTER, tmp_path / "a" / "draft"))
    assert drafter.drafts
    assert [it.id for it in shop.library.drafts_for(drafter)] == ["target"]
    assert shop.library.find("target").drafter == drafter.path


def test_drafters_of_every_kind_are_found_beside_their_model(shop: Shop) -> None:
    target = write_checkpoint(shop.folder / "Qwen3", QWEN3)
    assert shop.library.find("Qwen3").drafter is None
    for number, (config, tensors) in enumerate(
        ((EAGLE3, EAGLE3_TENSORS), (SPECULATOR, SPECULATOR_TENSORS), (DFLASH, DFLASH_TENSORS))
    ):
        drafter = write_checkpoint(shop.folder / f"draft{number}", config, tensors)
        shop.library.refresh()
        assert [it.name for it in shop.library.entries()] == ["Starter guide", "Qwen3"]
        assert shop.library.find("Qwen3").drafter == drafter
        shutil.rmtree(drafter)
    write_checkpoint(shop.folder / "Qwen3-small", QWEN3)
    write_checkpoint(target, QWEN3, size=1 << 20)
    shop.library.refresh()
    assert shop.library.find("Qwen3").drafter is None, "it only lies there, to chat"
    assert "cannot guess ahead" in mtp_of_files(shop.library, shop.library.find("Qwen3"))


def test_a_smaller_checkpoint_is_chosen_to_draft_and_one_that_does_not_fit_is_told(
    shop: Shop,
) -> None:
    write_checkpoint(shop.folder / "Qwen3", QWEN3, size=1 << 20)
    small = write_checkpoint(shop.folder / "Qwen3-small", QWEN3)
    other = write_checkpoint(shop.folder / "Other", {**QWEN3, "vocab_size": 100})
    model = shop.library.find("Qwen3")
    assert [it.name for it in shop.library.draft_models(model)] == ["Qwen3-small"]
    shop.care.set("Qwen3", "draft_model", "Qwen3-small")
    chosen = shop.library.find("Qwen3")
    assert chosen.drafter == small
    checkpoint = read_checkpoint(chosen.path)
    found, trouble = drafter_of(checkpoint, chosen)
    assert found is not None
    assert (found.path, trouble) == (small, "")
    found, trouble = drafter_of(checkpoint, replace(chosen, drafter=other))
    assert found is None
    assert trouble == (
        "The drafter cannot be used: “Other” cannot guess ahead for “Qwen3”. It knows 100 tokens,"
        " and the model 512: they have different vocabularies."
    )


def test_a_drafter_for_another_model_is_refused_with_the_reason(shop: Shop, tmp_path: Path) -> None:
    write_checkpoint(shop.folder / "Qwen3", {**QWEN3, "hidden_size": 128})
    with pytest.raises(DrafterMismatch) as caught:
        shop.import_(write_checkpoint(tmp_path / "eagle", EAGLE3, EAGLE3_TENSORS))
    assert "width 64" in caught.value.why
    assert caught.value.do


def test_what_cannot_be_added(shop: Shop, tmp_path: Path) -> None:
    with pytest.raises(NotAChatModel):
        shop.import_(write_checkpoint(tmp_path / "bert", BERT))
    with pytest.raises(NotAChatModel, match="does not say what it is"):
        shop.import_(write_checkpoint(tmp_path / "nothing", {}))
    with pytest.raises(DrafterMismatch):
        shop.import_(DRAFTER)
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotAModel):
        shop.import_(tmp_path / "empty")


def test_a_copy_is_whole_and_goes_whole(shop: Shop, trash: Path, tmp_path: Path) -> None:
    entry = shop.import_(TARGET, copy=True)
    assert entry.path == shop.own / "target"
    assert {it.name for it in entry.path.iterdir()} == {it.name for it in TARGET.iterdir()}
    checked = shop.care.verify(entry.id, lambda _: None, CancelToken())
    assert checked.compared
    gone = shop.care.delete(entry.id)
    assert len(gone.files) == len(list(TARGET.iterdir()))
    assert not (shop.own / "target").exists()


def test_a_checkpoint_of_the_hub_goes_with_what_describes_it(shop: Shop, trash: Path) -> None:
    shop.in_hub("google/tiny-it", TARGET)
    shop.care.delete(shop.library.find("google/tiny-it").id)
    assert [it.id for it in shop.library.entries()] == [STARTER]
    assert not list(shop.hub.iterdir())


def test_gguf_readers_are_told_what_it_is(shop: Shop) -> None:
    shop.in_hub("google/tiny-it", TARGET)
    with pytest.raises(NotAModel) as caught:
        shop.library.header(shop.library.find("google/tiny-it"))
    assert "checkpoint for vLLM" in caught.value.why


def test_whether_it_fits_is_said_with_numbers(shop: Shop) -> None:
    shop.in_hub("google/tiny-it", TARGET)
    entry = shop.library.find("google/tiny-it")
    loader = VllmLoader(not_started, lambda: "cpu", detect)
    report = loader.judge(entry, LoadOptions(), CancelToken())
    assert report.fit.parts.weights == (TARGET / "model.safetensors").stat().st_size
    assert report.fit.context == 4096
    assert (report.exact, report.share) == (False, 0.0)


class TestServer:
    SERVED = ModelEntry(
        "team:big", "big on team", Path("big"), source="server", engine="remote", server="p1",
        served="big", context=4096,
    )  # fmt: skip

    @pytest.fixture
    def shop(self, tmp_path: Path) -> Shop:
        guide = ModelEntry(
            STARTER_CHECKPOINT, "Guide", TARGET, builtin=True, drafter=DRAFTER, engine="vllm"
        )
        return Shop(tmp_path, (guide, self.SERVED))

    def test_it_is_listed_and_found(self, shop: Shop) -> None:
        assert [it.id for it in shop.library.entries()] == [STARTER, STARTER_CHECKPOINT, "team:big"]
        entry = shop.library.find("team:big")
        assert (entry.engine, entry.files) == ("remote", ())
        assert shop.library.facts(entry).context_max == 4096
        assert details(shop.library, "team:big").file.title == "big"
        assert "itself decides" in mtp_of_files(shop.library, entry)
        shop.care.rename("team:big", "Big one")
        assert shop.library.find("Big one").id == "team:big"

    def test_it_has_no_files_to_check_or_delete(self, shop: Shop) -> None:
        assert shop.care.disk_use().models["team:big"] == 0
        for verb in (
            lambda: shop.care.delete("team:big"),
            lambda: shop.care.verify("team:big", lambda _: None, CancelToken()),
        ):
            with pytest.raises(ModelNotOurs) as caught:
                verb()
            assert "another server" in caught.value.why
        with pytest.raises(NotAModel):
            RemoteLoader(not_started).judge(self.SERVED, LoadOptions(), CancelToken())

    def test_the_guide_for_vllm_is_made_for_what_the_guide_is(self, shop: Shop) -> None:
        entry = shop.library.find(STARTER_CHECKPOINT)
        assert entry.drafter == DRAFTER
        assert shop.library.own_when_listed(STARTER_CHECKPOINT)["temperature"] == 0.0
        with pytest.raises(ModelNotOurs):
            shop.care.delete(STARTER_CHECKPOINT)
