"""What a model's files say of MTP before anything is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.services.mtp_advice import mtp_of_files
from app.wiring import STARTER_DRAFTER
from engines.errors import ModelNotFound, NotAChatModel
from tests.app.services.conftest import Services
from tests.engines.gguf_files import write_llama


def test_a_drafter_that_is_there_is_told(services: Services) -> None:
    entry = services.library.find("starter")
    assert mtp_of_files(services.library, entry) == (
        "A drafter for multi-token prediction belongs to this model."
    )


def test_a_model_without_any_says_so(services: Services, tmp_path: Path) -> None:
    write_llama(tmp_path / "plain.gguf")
    entry = services.library.find(str(tmp_path / "plain.gguf"))
    assert "no MTP of its own" in mtp_of_files(services.library, entry)


def test_a_drafter_is_no_model_to_chat_with(services: Services) -> None:
    with pytest.raises(NotAChatModel):
        mtp_of_files(services.library, services.library.find(str(STARTER_DRAFTER)))


def test_a_file_that_is_gone_is_an_error(services: Services, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound):
        mtp_of_files(services.library, services.library.find(str(tmp_path / "gone.gguf")))
