"""Finding, adding and removing models."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.core.errors import ModelUnknown
from app.wiring import STARTER, STARTER_DRAFTER
from engines.errors import ModelNotFound, NotAChatModel, NotAModel
from tests.app.services.conftest import Services


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


def test_what_is_no_chat_model_is_not_added(services: Services, tmp_path: Path) -> None:
    with pytest.raises(NotAChatModel):
        services.library.add(STARTER_DRAFTER)
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
    assert "models list" in caught.value.do
