"""A real vLLM in the Linux of a Windows, with MTP: it answers, and ends with wsl.exe.

It is the build for processors that `run.py test --vllm` has installed, through a stand-in for
wsl.exe.
"""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from engines.vllm.processes import process
from engines.vllm.provision.home import Installed
from tests.engines.vllm.conftest import DRAFTING
from tests.engines.vllm.faked import answer, gone, load, make_engine_inside, members
from tests.support.waiting import until
from tests.support.wsl.windows import Windows

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]


def test_it_answers_and_goes_with_wsl_exe(vllm: Installed, tmp_path: Path) -> None:
    windows = Windows(tmp_path / "windows")
    windows.add()
    engine = make_engine_inside(
        windows.program, replace(vllm, linux="Ubuntu"), tmp_path / "engine", silent_s=300.0
    )
    try:
        load(engine, DRAFTING)
        said = answer(engine, max_tokens=20)
        assert said.startswith("Hearth is")
        assert engine.worker is not None
        first = process(engine.worker.session)
        assert first is not None
        everything = members(first.parent)
        os.kill(windows.through("guard").pid, signal.SIGKILL)
        until(lambda: gone(everything))
        assert answer(engine, max_tokens=20) == said
    finally:
        engine.close()
