"""Every option that a worker is started with is one that the real vLLM knows."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from engines.models.checkpoint import read_checkpoint
from engines.types import Adapter
from engines.vllm.command import WorkerPlace, command
from engines.vllm.provision.environment import quiet
from engines.vllm.provision.home import Installed
from engines.vllm.speculation import SpeculativeConfig
from tests.engines.vllm.faked import PLAN, TARGET
from tests.engines.vllm.test_parsing import model

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300)]


def options(installed: Installed, folder: Path) -> set[str]:
    """All that are passed, for cards and processors, one way and the other."""
    (folder / "adapter_config.json").write_text(json.dumps({"r": 8}))
    plan = replace(PLAN, tensor_parallel=2, nodes=2, kv_type="q8_0")
    plan = replace(plan, adapters=(Adapter("law", folder),))
    plan = replace(plan, offload_bytes=10**9, batched=4096, prefix_cache=False, sounds=True)
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
                outside={},
            ).words
    return {word for word in words if word.startswith("--")}


def known_to(installed: Installed, folder: Path) -> set[str]:
    """All options that its help names. folder: for caches."""
    environment = quiet(installed.folder, folder / "caches", os.environ)
    words = [*installed.runs, "--help=all"]
    said = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    return {word.strip(",[]") for word in said.stdout.split() if word.startswith(("--", "[--"))}


def test_all_options_are_vllm_s(vllm: Installed, tmp_path: Path) -> None:
    wanted = options(vllm, tmp_path)
    assert {"--reasoning-parser", "--reasoning-config", "--lora-modules", "--uds"} <= wanted
    assert not wanted - known_to(vllm, tmp_path)
