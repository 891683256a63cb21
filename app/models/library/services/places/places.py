"""The folders in which programs keep their models, as documented or as implemented: pure.

Sources: Ollama's envconfig and its FAQ; LM Studio's documents on
importing models; Jan's app commands (data folder, settings.json); GPT4All's mysettings.cpp.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.models.hub.cache_root import default_root


@dataclass(frozen=True)
class Places:
    """The places where models are stored.

    Attributes:
        hub: The Hub's cache.
        ollama: Ollama's folders of models.
        lm_studio: LM Studio's home folders.
        jan: Jan's settings folders; each has the data folder "data" unless its settings name
            another.
        gpt4all: GPT4All's folders of models.
        gpt4all_settings: GPT4All's settings file, which can name another folder.
    """

    hub: Path
    ollama: tuple[Path, ...] = ()
    lm_studio: tuple[Path, ...] = ()
    jan: tuple[Path, ...] = ()
    gpt4all: tuple[Path, ...] = ()
    gpt4all_settings: Path | None = None


def local_places() -> Places:
    """Return the places of this computer's user."""
    return places_of(os.environ, home(), sys.platform, default_root())


def home() -> Path:
    """Return the user's home folder; tests replace it with an empty one, to find no models."""
    return Path.home()


def places_of(environ: Mapping[str, str], home_folder: Path, platform: str, hub: Path) -> Places:
    """Return the places for an environment.

    Args:
        environ: Environment variables of the process.
        platform: As in `sys.platform`.
        hub: The Hub's cache.
    """
    data = _data_folder(environ, home_folder, platform)
    config = _config_folder(environ, home_folder, platform)
    local = data
    if platform == "win32":
        local = Path(environ.get("LOCALAPPDATA") or home_folder / "AppData" / "Local")
    ollama = [Path(environ["OLLAMA_MODELS"])] if environ.get("OLLAMA_MODELS") else []
    ollama.append(home_folder / ".ollama" / "models")
    if platform.startswith("linux"):
        ollama.append(Path("/usr/share/ollama/.ollama/models"))
    jan = [data / "Jan", data / "jan.ai.app"]
    if config != data:
        jan.append(config / "Jan")
    return Places(
        hub=hub,
        ollama=tuple(ollama),
        lm_studio=(home_folder / ".lmstudio", home_folder / ".cache" / "lm-studio"),
        jan=tuple(jan),
        gpt4all=(local / "nomic.ai" / "GPT4All",),
        gpt4all_settings=config / "nomic.ai" / "GPT4All.ini",
    )


def _data_folder(environ: Mapping[str, str], home_folder: Path, platform: str) -> Path:
    if platform == "win32":
        return Path(environ.get("APPDATA") or home_folder / "AppData" / "Roaming")
    if platform == "darwin":
        return home_folder / "Library" / "Application Support"
    return Path(environ.get("XDG_DATA_HOME") or home_folder / ".local" / "share")


def _config_folder(environ: Mapping[str, str], home_folder: Path, platform: str) -> Path:
    """Return the folder of Qt's ini files: APPDATA on Windows, otherwise ~/.config."""
    if platform == "win32":
        return Path(environ.get("APPDATA") or home_folder / "AppData" / "Roaming")
    return Path(environ.get("XDG_CONFIG_HOME") or home_folder / ".config")
