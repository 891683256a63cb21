"""The options with which a worker is started, and those that the real vLLM knows."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

from engines.models.checkpoint import read_checkpoint
from engines.types import Adapter, VllmOptions
from engines.vllm.command import WorkerPlace, command
from engines.vllm.provision.environment import quiet
from engines.vllm.provision.home import Installed
from engines.vllm.speculation import SpeculativeConfig
from tests.engines.vllm.faked import PLAN, TARGET


def model(folder: Path, template: str, special: str = "", plain: str = "") -> Path:
    """Make a checkpoint for tests that only read its template and its added tokens."""
    tokens = [{"content": it, "special": True} for it in special.split()]
    tokens += [{"content": it, "special": False} for it in plain.split()]
    (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": tokens}))
    (folder / "chat_template.jinja").write_text(template)
    return folder


def options(installed: Installed, folder: Path) -> set[str]:
    """Return all options that are passed, for cards and for processors."""
    (folder / "adapter_config.json").write_text(json.dumps({"r": 8}))
    plan = replace(PLAN, kv_type="q8_0", adapters=(Adapter("law", folder),))
    given = VllmOptions(cards=2, nodes=2, offload_bytes=10**9, batched=4096)
    plan = replace(plan, options=replace(given, prefix_cache=False, sounds=True))
    thinks = model(folder, "<think> </think>", plain="<think> </think>")
    starter = read_checkpoint(TARGET)
    places = (
        WorkerPlace(folder, folder, folder / "w.sock"),
        WorkerPlace(folder, folder, port=20001, key="x"),
    )
    words: list[str] = []
    for profile, place in zip(("cuda", "cpu"), places, strict=True):
        for checkpoint in (starter, replace(starter, path=thinks)):
            words += command(
                plan,
                replace(installed, profile=profile),  # type: ignore[arg-type]
                place,
                checkpoint,
                drafts=SpeculativeConfig("embedded", 2),
                share=0.8,
                card_numbers=(0, 1),
                host_variables={},
            ).words
    return {word for word in words if word.startswith("--")}


def known_to(installed: Installed, folder: Path) -> set[str]:
    """Return all options in its help.

    Args:
        installed: The environment.
        folder: The folder for caches.
    """
    environment = quiet(installed.folder, folder / "caches", os.environ)
    words = [*installed.runs, "--help=all"]
    said = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    return {word.strip(",[]") for word in said.stdout.split() if word.startswith(("--", "[--"))}
