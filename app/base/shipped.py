"""The paths of the files that Hearth comes with."""

from __future__ import annotations

from pathlib import Path

_RESOURCES = Path(__file__).resolve().parents[2] / "resources"

CATALOGUE = _RESOURCES / "catalogue.json"
STARTER = _RESOURCES / "starter" / "starter.gguf"
STARTER_DRAFTER = _RESOURCES / "starter" / "starter-mtp.gguf"
STARTER_PAIR = _RESOURCES / "starter" / "safetensors"
"""The same two as checkpoints, for vLLM."""

LOCKS = _RESOURCES / "vllm"
"""The locks from which environments of vLLM are made."""

GUIDES = _RESOURCES / "docs"
"""The guides, in markdown."""

LICENCES = _RESOURCES / "licences"
"""What is told of the parts of Hearth, and the texts that these do not bring themselves."""
