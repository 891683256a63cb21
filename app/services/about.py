"""What Hearth is made of: its versions, and what it uses under which licence."""

from __future__ import annotations

import platform
from importlib import metadata

from app import __version__
from app.core.about import About, Part
from app.store.db import SQLITE_VERSION

_ITSELF = "hearth"
_LICENCE = "License :: "
_LONGEST = 60
"""Letters of a licence's name; more are its text."""
_BESIDES = (
    ("Inter", "4.001", "OFL-1.1"),
    ("JetBrains Mono", "2.305", "OFL-1.1"),
)
"""What lies in `resources` and is not ours."""


def about(vllm: str) -> About:
    """Look at what is installed. vllm: its version in words, "" where there is none."""
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
    besides = [Part(*it) for it in _BESIDES]
    return About(
        tuple(versions), tuple(sorted([*_used(), *besides], key=lambda it: it.name.lower()))
    )


def _used() -> list[Part]:
    """The libraries that Hearth needs, and those that they need."""
    from packaging.requirements import Requirement

    found: dict[str, Part] = {}
    waiting = [_ITSELF]
    while waiting:
        name = waiting.pop()
        key = name.lower().replace("_", "-")
        if key in found:
            continue
        try:
            its = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # of another system
        found[key] = Part(its.name, its.version, _licence(its.metadata))
        for text in its.requires or ():
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                waiting.append(needed.name)
    found.pop(_ITSELF, None)
    return list(found.values())


def _licence(its: metadata.PackageMetadata) -> str:
    """The licence as the package says it; older ones have it among their classifiers alone."""
    for key in ("License-Expression", "License"):
        said = str((its.get_all(key) or [""])[0])
        if said and len(said) < _LONGEST and "\n" not in said:
            return said
    named = [it for it in its.get_all("Classifier") or () if it.startswith(_LICENCE)]
    return named[0].rpartition(" :: ")[2] if named else ""


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
