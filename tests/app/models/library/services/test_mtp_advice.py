"""Advice on MTP from a model's files, before anything is loaded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.base.errors import CatalogueInvalid
from app.base.shipped import CATALOGUE, STARTER_DRAFTER
from app.models.discover.values.catalogue import Catalogue, Fact, Mtp, load_catalogue
from app.models.discover.values.catalogue_header import header_of
from app.models.library.services.fitting import Fitting
from app.models.library.services.mtp_advice import mtp_of_files, with_catalogue
from app.runtime.services.loaders import LlamaLoader
from app.runtime.services.runtime import Runtime
from engines.cancel import CancelToken
from engines.errors import ModelNotFound, NotAChatModel
from engines.hardware import detect
from engines.llamacpp.sizing.sizer import Sizer
from engines.memory.load_options import LoadOptions
from engines.models.gguf.header import GgufHeader, read_header
from engines.models.pairing import mtp_advice
from tests.engines.gguf_files import write_gemma4, write_llama
from tests.support.services import Services


def test_a_drafter_that_is_there_is_told(services: Services) -> None:
    entry = services.library.find("starter")
    assert mtp_of_files(services.library, entry) == (
        "This model can answer faster: its drafter guesses ahead."
    )


def test_a_model_without_any_says_so(services: Services, tmp_path: Path) -> None:
    write_llama(tmp_path / "plain.gguf")
    entry = services.library.find(str(tmp_path / "plain.gguf"))
    assert "cannot guess ahead" in mtp_of_files(services.library, entry)


def test_a_drafter_is_no_model_to_chat_with(services: Services) -> None:
    with pytest.raises(NotAChatModel):
        mtp_of_files(services.library, services.library.find(str(STARTER_DRAFTER)))


def test_a_file_that_is_gone_is_an_error(services: Services, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound):
        mtp_of_files(services.library, services.library.find(str(tmp_path / "gone.gguf")))


@pytest.fixture
def lone(tmp_path: Path) -> GgufHeader:
    """Return the header of a Gemma 4 model with nothing beside it."""
    return read_header(write_gemma4(tmp_path / "lone.gguf"))


def fact(value: int) -> Fact[int]:
    return Fact(value=value, certainty="checked", source="config")


def catalogue_for(header: GgufHeader, **changes: Any) -> Catalogue:
    """Return Hearth's catalogue with this model's shape for Gemma 4 E2B."""
    catalogue = load_catalogue(CATALOGUE.read_text(encoding="utf-8"), None)
    size = catalogue.sizes["gemma-4-e2b"]
    shape = size.shape.model_copy(
        update={
            "layers": fact(header.block_count),
            "width": fact(header.embedding_length),
            "vocabulary": fact(header.vocab_size),
        }
    )
    size = size.model_copy(update={"shape": shape, **changes})
    family = catalogue.families[0].model_copy(update={"sizes": (size,)})
    return Catalogue(version=1, sources=catalogue.sources, families=(family,))


def test_the_drafter_that_can_be_downloaded_is_named(lone: GgufHeader) -> None:
    advise = with_catalogue(lambda: catalogue_for(lone))
    assert advise(lone) == (
        "This model can answer faster with its 59 MB drafter, which can be downloaded "
        "(unsloth/gemma-4-E2B-it-qat-GGUF/mtp-gemma-4-E2B-it.gguf)"
    )


def test_none_is_named_for_another_model_or_where_it_hardly_helps(lone: GgufHeader) -> None:
    another = replace(lone, embedding_length=lone.embedding_length + 64)
    assert with_catalogue(lambda: catalogue_for(lone))(another) == mtp_advice(another)
    useless = Mtp(kind="drafter", help="off")
    assert with_catalogue(lambda: catalogue_for(lone, mtp=useless))(lone) == mtp_advice(lone)


def test_a_catalogue_that_cannot_be_read_leaves_the_general_advice(
    lone: GgufHeader, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> Catalogue:
        raise CatalogueInvalid("Your catalogue cannot be used.", "It has no end.", "Mend it.")

    assert with_catalogue(broken)(lone) == mtp_advice(lone)
    assert "It has no end." in caplog.text


def test_a_plan_says_what_could_draft(services: Services, tmp_path: Path) -> None:
    entry = services.library.find(str(write_llama(tmp_path / "plain.gguf")))
    fitting = Fitting(detect, services.loads, Sizer())
    runtime = Runtime(
        {"llamacpp": LlamaLoader(lambda: services.engine, lambda: fitting, lambda _: "Get it.")}
    )
    runtime.lease(entry, LoadOptions(), lambda _: None, CancelToken()).close()
    starter = services.library.find("starter")
    runtime.lease(starter, LoadOptions(mtp=False), lambda _: None, CancelToken()).close()
    notes = [plan.mtp_note for plan in services.engine.plans]
    assert notes == ["Get it.", "Guessing ahead is switched off for this model."]


def test_a_head_in_a_file_of_its_own_is_named_for_its_model_and_no_successor() -> None:
    catalogue = load_catalogue(CATALOGUE.read_text(encoding="utf-8"), None)
    advise = with_catalogue(lambda: catalogue)
    lacking = header_of(catalogue.sizes["qwen-3.8-27b"], 18_974_000_000, head=False)
    said = (
        "This model can answer faster with its 1.7 GB drafter, which can be downloaded "
        "(ggml-org/Qwen3.8-27B-GGUF/mtp-Qwen3.8-27B-Q4_0.gguf)"
    )
    assert advise(replace(lacking, name="Qwen3.8-27B")) == said
    for other in ("Qwen3.6-27B", "Qwen3.5-27B", "Mine"):
        it = replace(lacking, name=other)
        assert advise(it) == mtp_advice(it)
    complete = header_of(catalogue.sizes["qwen-3.8-27b"], 17_559_000_000, head=True)
    assert advise(complete) == mtp_advice(complete)
