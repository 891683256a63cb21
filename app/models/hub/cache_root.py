"""The folder of the cache that huggingface_hub and Hearth share."""

from __future__ import annotations

import os
from pathlib import Path

from app.base.home import from_home


def default_root() -> Path:
    """Return the folder that the environment names, or the usual one; read anew at each call.

    huggingface_hub reads these variables once, when it is imported.
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
    return Path(os.path.expandvars(from_home(text)))
