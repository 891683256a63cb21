"""The real vLLM knows every option with which a worker is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.vllm.provision.home import Installed
from tests.engines.vllm.flags import known_to, options

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300)]


def test_all_options_are_vllm_s(vllm: Installed, tmp_path: Path) -> None:
    wanted = options(vllm, tmp_path)
    assert {"--reasoning-parser", "--reasoning-config", "--lora-modules", "--uds"} <= wanted
    assert not wanted - known_to(vllm, tmp_path)
