"""A real vLLM for the tests marked `vllm`, started once for all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engines.base import Progress
from engines.cancel import CancelToken
from engines.types import LoadedModel, VllmPlan
from engines.vllm.engine import VllmEngine
from engines.vllm.provision.home import EngineHome, Installed
from tests.engines.vllm.faked import ASSISTANT, PLAN, make_engine

DEPTH = 2
AT_ONCE = 2
DRAFTING = replace(PLAN, drafter=ASSISTANT, draft_max=DEPTH, parallel=AT_ONCE)
"""The plan for the starter's pair."""
LONG = 3072
"""A context with room for a prompt that vLLM on a processor would read in pieces."""


class SharedEngine(VllmEngine):
    """An engine that keeps its worker: the same load finds it again, and a close leaves it.

    `end` closes it. Starts and ends are tested elsewhere.
    """

    shared: VllmEngine

    def __init__(self, shared: VllmEngine) -> None:
        self.shared = shared
        self.__dict__.update(shared.__dict__)

    def load(self, plan: VllmPlan, progress: Progress, cancel: CancelToken) -> LoadedModel:
        running = self.shared._running
        if (
            running is None
            or running.setup.plan != plan
            or not self.shared.is_healthy
            or cancel.cancelled
        ):
            report = self.shared.load(plan, progress, cancel)
        else:
            report = running.report
            progress(1.0)
        self.__dict__.update(self.shared.__dict__)
        return report

    def close(self) -> None:
        self._running = self._setup = None


@pytest.fixture(scope="session")
def vllm() -> Installed:
    """Return the environment; without one, the test is skipped."""
    home = os.environ.get("HEARTH_VLLM_HOME", "")
    installed = EngineHome(Path(home)).current() if home else None
    if installed is None:
        pytest.skip("HEARTH_VLLM_HOME names no installed vLLM")
    return installed


@pytest.fixture(scope="session")
def vllm_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder for the worker's log, caches and measured speeds."""
    return tmp_path_factory.mktemp("vllm")


def shared_memory() -> set[Path]:
    """Return the shared memory of this computer's processes that has vLLM's names."""
    return set(Path("/dev/shm").glob("psm_*"))


@pytest.fixture(scope="session")
def shared_before() -> set[Path]:
    return shared_memory()


@pytest.fixture(scope="session")
def shared_vllm(
    vllm: Installed, vllm_folder: Path, shared_before: set[Path]
) -> Iterator[VllmEngine]:
    """Start one worker with the starter's pair and MTP on."""
    engine = make_engine(vllm, vllm_folder, silent_s=300)
    engine.load(DRAFTING, lambda _: None, CancelToken())
    yield engine
    engine.close()
