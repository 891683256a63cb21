"""Where the cache lies that huggingface_hub and Hearth share, before anything is asked of it."""

from __future__ import annotations

import os
from pathlib import Path

from app.core.home import from_home


def default_root() -> Path:
    """The folder that the environment names, or the usual one; read anew at each call.

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
