"""The folders in which programs keep models, on each system."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.models.library.services.places.places import places_of

HOME = Path("/home/anna")
HUB = HOME / "hub"


def test_linux() -> None:
    places = places_of({}, HOME, "linux", HUB)
    assert places.hub == HUB
    assert places.ollama == (HOME / ".ollama/models", Path("/usr/share/ollama/.ollama/models"))
    assert places.lm_studio == (HOME / ".lmstudio", HOME / ".cache/lm-studio")
    assert HOME / ".local/share/Jan" in places.jan
    assert places.gpt4all == (HOME / ".local/share/nomic.ai/GPT4All",)
    assert places.gpt4all_settings == HOME / ".config/nomic.ai/GPT4All.ini"


def test_macos() -> None:
    support = HOME / "Library/Application Support"
    places = places_of({}, HOME, "darwin", HUB)
    assert places.ollama == (HOME / ".ollama/models",)
    assert support / "Jan" in places.jan
    assert places.gpt4all == (support / "nomic.ai/GPT4All",)


def test_windows() -> None:
    roaming, local = HOME / "AppData/Roaming", HOME / "AppData/Local"
    for environ in ({}, {"APPDATA": str(roaming), "LOCALAPPDATA": str(local)}):
        places = places_of(environ, HOME, "win32", HUB)
        assert places.ollama == (HOME / ".ollama/models",)
        assert places.jan[0] == roaming / "Jan"
        assert places.gpt4all == (local / "nomic.ai/GPT4All",)
        assert places.gpt4all_settings == roaming / "nomic.ai/GPT4All.ini"


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_what_the_environment_names_goes_first(platform: str) -> None:
    places = places_of({"OLLAMA_MODELS": "/data/o"}, HOME, platform, HUB)
    assert places.ollama[0] == Path("/data/o")


def test_folders_of_the_desktop_can_be_moved() -> None:
    places = places_of({"XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c"}, HOME, "linux", HUB)
    assert places.jan[0] == Path("/d/Jan")
    assert places.gpt4all_settings == Path("/c/nomic.ai/GPT4All.ini")
