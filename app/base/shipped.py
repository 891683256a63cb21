"""The paths of the files that come with Hearth."""

from __future__ import annotations

from pathlib import Path

_RESOURCES = Path(__file__).resolve().parents[2] / "resources"

CATALOGUE = _RESOURCES / "catalogue.json"
STARTER = _RESOURCES / "starter" / "starter.gguf"
STARTER_DRAFTER = _RESOURCES / "starter" / "starter-mtp.gguf"
STARTER_PAIR = _RESOURCES / "starter" / "safetensors"
"""The starter and its drafter as checkpoints, for vLLM."""

LOCKS = _RESOURCES / "vllm"
"""The lock files from which vLLM's environments are created."""

GUIDES = _RESOURCES / "docs"
"""The guides, in markdown."""

LICENCES = _RESOURCES / "licences"
"""The list of Hearth's components, and the licence texts that these do not contain themselves."""

TRANSLATIONS = _RESOURCES / "translations"
"""The catalogues of Hearth's words, one .po file and the .mo file made from it per language."""
