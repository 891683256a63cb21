"""Models of many architectures, each written once, and llama.cpp's account of their loads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.made_architectures import write_made

Made = Callable[[str], Path]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return a function that returns the file of one of `MODELS`."""
    folder = tmp_path_factory.mktemp("made")
    written: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name not in written:
            written[name] = write_made(folder, name)
        return written[name]

    return get
