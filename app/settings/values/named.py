"""The parsers of the settings that list adapters and folders, one per line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from app.base.errors import SettingsInvalid
from app.base.home import expand_home
from engines.sentences import N_
from engines.types import Adapter

_RESERVED_NAME = "model"
"""The name that vLLM's worker uses for the model itself."""


def is_gguf_file(adapter: Adapter) -> bool:
    """Return whether an adapter is a GGUF file, for llama.cpp; an adapter for vLLM is a folder."""
    return adapter.path.suffix.lower() == ".gguf"


def _with_size(adapter: Adapter) -> Adapter:
    """Add the size of the adapter's file; a missing file is reported when it is loaded."""
    if not is_gguf_file(adapter) or not adapter.path.is_file():
        return adapter
    return replace(adapter, size_bytes=adapter.path.stat().st_size)


def parse_adapters(text: str) -> tuple[Adapter, ...]:
    """Parse the setting `vllm_adapters`: one adapter per line. Raises SettingsInvalid."""
    adapters: dict[str, Adapter] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, equals, folder = (part.strip() for part in line.partition("="))
        if not (name and equals and folder) or name in adapters or name == _RESERVED_NAME:
            raise SettingsInvalid(
                N_("“{line}” names no LoRA adapter.", line=line),
                N_(
                    "Each line needs a name of its own, an equals sign and the adapter’s folder or"
                    " GGUF file."
                ),
                N_("Correct it in the settings, under Engines."),
            )
        adapters[name] = _with_size(Adapter(name, expand_home(folder).absolute()))
    return tuple(adapters.values())


def parse_folders(text: str) -> tuple[Path, ...]:
    """Parse the setting `model_folders`: one folder per line."""
    lines = (line.strip() for line in text.splitlines())
    return tuple(dict.fromkeys(expand_home(line).absolute() for line in lines if line))
