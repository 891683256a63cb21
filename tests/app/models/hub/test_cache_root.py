"""The location of the cache, which is the same as huggingface_hub's."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from app.models.hub.cache_root import default_root

PLACES = [
    {},
    {"HF_HOME": "~/elsewhere"},
    {"HF_HUB_CACHE": "$HOME/cache", "HF_HOME": "/ignored"},
    {"HUGGINGFACE_HUB_CACHE": "/old/name"},
    {"XDG_CACHE_HOME": "/xdg"},
]


@pytest.fixture
def no_names(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize("names", PLACES, ids=str)
def test_the_folder_is_where_the_library_says(
    names: dict[str, str], no_names: pytest.MonkeyPatch
) -> None:
    for name, value in names.items():
        no_names.setenv(name, value)
    said = subprocess.run(
        [sys.executable, "-c", "from huggingface_hub.constants import *; print(HF_HUB_CACHE)"],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(default_root()) == said.stdout.strip()
