"""The folder of the cache that Hearth shares with huggingface_hub."""

from __future__ import annotations

import os
from pathlib import Path

from app.base.home import expand_home


def default_root() -> Path:
    """Return the cache folder that the environment names, or the usual one.

    The variables are read at each call; huggingface_hub reads them once, when it is imported.
    """
    cache = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    if cache:
        return _place(cache)
    home = os.environ.get("HF_HOME")
    if home:
        return _place(home) / "hub"
    system = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return _place(system) / "huggingface" / "hub"


def _place(text: str) -> Path:
    return Path(os.path.expandvars(expand_home(text)))
