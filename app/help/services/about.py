"""Hearth's versions, and its parts with their licences."""

from __future__ import annotations

import platform
from importlib import metadata

from app import __version__
from app.base.db import SQLITE_VERSION
from app.help.services.licences import Licences
from app.help.values.about import About


def about(vllm: str, licences: Licences) -> About:
    """Return the versions and parts of this installation.

    Args:
        vllm: The version of vLLM as text; "" if it is not installed.
    """
    from engines.llamacpp.native import LIBRARY_VERSION

    versions = [
        ("Hearth", __version__),
        ("Python", platform.python_version()),
        ("Qt", _version("PySide6-Essentials")),
        ("llama.cpp", LIBRARY_VERSION.decode()),
        ("llama-cpp-python", _version("llama-cpp-python")),
        ("SQLite", SQLITE_VERSION),
        *([("vLLM", vllm)] if vllm else []),
        ("System", platform.platform()),
    ]
    return About(tuple(versions), licences.all())


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
