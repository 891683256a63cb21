"""Templates, and the memory of other programs on a card."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from engines.vllm.engine import card_users
from engines.vllm.running import read_switch
from tests.engines.vllm.faked import TARGET
from tests.support.paths import ROOT

QWEN = (ROOT / "tests/engines/samples/qwen3.jinja").read_text(encoding="utf-8")


class Nvml:
    """A driver with one card, on which this process and an unknown one have memory."""

    NVMLError = RuntimeError

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails

    def nvmlInit(self) -> None:
        if self.fails:
            raise RuntimeError

    def nvmlShutdown(self) -> None:
        """Do nothing, as there is nothing to give back."""

    def nvmlDeviceGetCount(self) -> int:
        return 1

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetComputeRunningProcesses(self, _: Any) -> list[Any]:
        return [
            SimpleNamespace(pid=os.getpid(), usedGpuMemory=1_500_000_000),
            SimpleNamespace(pid=2**30, usedGpuMemory=2_000_000_000),
        ]

    def nvmlDeviceGetGraphicsRunningProcesses(self, _: Any) -> list[Any]:
        return [SimpleNamespace(pid=os.getpid(), usedGpuMemory=None)]


def test_other_programs_on_the_card_are_named() -> None:
    first, second = card_users(Nvml())
    assert first == f"the process {2**30} 2.0 GB"
    assert second.endswith(" 1.5 GB")
    assert len(card_users(Nvml(), frozenset({os.getpid()}))) == 1
    assert card_users(None) == card_users(Nvml(fails=True)) == ()


def test_a_template_that_can_reason(tmp_path: Path) -> None:
    (tmp_path / "chat_template.jinja").write_text(QWEN)
    tokens = [{"content": "<think>", "special": False}, {"content": "<|im_end|>", "special": True}]
    (tmp_path / "tokenizer.json").write_text(json.dumps({"added_tokens": tokens}))
    assert read_switch(tmp_path).kind == "switch"


def test_a_template_in_the_configuration(tmp_path: Path) -> None:
    named = [{"name": "tool_use", "template": "x"}, {"name": "default", "template": QWEN}]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": named}))
    assert read_switch(tmp_path).kind == "switch"


def test_without_one_nothing_can_be_chosen(tmp_path: Path) -> None:
    assert read_switch(tmp_path).kind == "none"
    assert read_switch(TARGET).kind == "none"
    (tmp_path / "chat_template.jinja").write_text("{% broken")
    assert read_switch(tmp_path).kind == "none"
