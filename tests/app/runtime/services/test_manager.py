"""The state of the engines for the window, from the worker, the devices and the Hub."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from app.models.discover.values.counterparts import Counterpart
from app.models.downloads.values.downloads import DownloadRequest
from app.models.hub.values.hub import RepoFile
from app.models.library.values.entry import ModelEntry
from app.runtime.services.device_trials import DeviceState
from app.runtime.services.manager import EngineManager
from app.runtime.values.installation import StayingWorker, WorkerState
from app.settings.values.fields import Settings
from engines.errors import EngineUnavailable
from engines.hardware import Cpu, Hardware, Memory
from engines.types import EngineStatus
from tests.e2e.looks.contents import scripted_hub

ENTRY = ModelEntry("g", "Gemma", Path(), engine="vllm")
COMPUTER = Hardware("Test OS", Cpu("Test CPU", 4, 8, 8, 4, 4), Memory(16 * 10**9, 9 * 10**9))


def manager(**parts: Any) -> EngineManager:
    """Return a manager with these parts; a test that uses any other part fails."""
    others = ("devices", "choice", "runtime", "settings", "hub", "downloads", "fitting")
    made: dict[str, Any] = dict.fromkeys(others)
    made["workers"] = SimpleNamespace(staying=tuple)
    made.update(advisor=SimpleNamespace(system="linux"), hardware=lambda: COMPUTER, **parts)
    return EngineManager(**made)


LOADING = EngineStatus("loading", "Loading the weights", 0.5, ("a",))


def ready(process: int, *, elsewhere: bool = False) -> EngineStatus:
    return EngineStatus("ready", log=("a",), process=process, elsewhere=elsewhere)


def seen(status: EngineStatus, held: ModelEntry | None = ENTRY, **parts: Any) -> WorkerState:
    """Return the worker's state, given this status of the vLLM engine."""
    runtime = SimpleNamespace(
        status=lambda _: status, loaded_model=lambda _: held, idle_s=lambda _: 12.0
    )
    settings = SimpleNamespace(read=lambda: Settings(vllm_idle=30))
    return manager(runtime=runtime, settings=settings, **parts).worker()


def test_a_worker_that_starts_says_how_far_it_is() -> None:
    state = seen(replace(LOADING, process=os.getpid(), detail="50 %"), None)
    assert (state.state, state.words, state.share) == ("loading", "Loading the weights: 50 %", 0.5)


def test_one_that_starts_again_after_a_crash_does_not_seem_ready() -> None:
    assert seen(LOADING) == WorkerState(
        "loading", words="Loading the weights", share=0.5, log=("a",)
    )


def test_one_that_is_ready_says_what_it_holds() -> None:
    state = seen(ready(os.getpid()))
    assert (state.state, state.model) == ("ready", "Gemma")
    assert state.memory_bytes > 1_000_000
    assert state.memory_once == sys.platform.startswith("linux")
    assert (state.idle_s, state.stops_after_s) == (12.0, 1800.0)


def test_of_one_in_wsl2_no_process_of_this_system_is_looked_at() -> None:
    state = seen(ready(0, elsewhere=True))
    assert (state.state, state.memory_bytes) == ("ready", 0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="where vLLM runs")
def test_what_processes_share_is_counted_once() -> None:
    """Two processes that share 64 MB count for half of it each."""
    held = 64 << 20
    words = (
        f"import mmap, os, sys\nm = mmap.mmap(-1, {held})\n"
        f"m.write(b'x' * {held})\nos.fork()\nm.seek(0)\nm.read()\n"
        "os.write(1, b'there\\n')\nsys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        assert first.stdout is not None
        assert [first.stdout.readline() for _ in range(2)] == [b"there\n"] * 2
        state = seen(ready(first.pid))
        first.communicate()
    assert state.memory_once
    assert held < state.memory_bytes < 1.8 * held


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="where vLLM runs")
def test_where_that_cannot_be_had_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: psutil.Process) -> None:
        raise psutil.AccessDenied(self.pid)

    monkeypatch.setattr(psutil.Process, "memory_full_info", refuse)
    state = seen(ready(os.getpid()))
    assert not state.memory_once
    assert state.memory_bytes > 1_000_000


@pytest.mark.parametrize("held", [ENTRY, None])
def test_one_that_has_ended_leaves_its_log(held: ModelEntry | None) -> None:
    assert seen(EngineStatus("stopped", log=("a",)), held) == WorkerState("stopped", log=("a",))


@dataclass
class Others:
    """Workers left by commands, or used by other Hearths."""

    found: tuple[StayingWorker, ...]
    did: list[str] = field(default_factory=list)

    def staying(self) -> tuple[StayingWorker, ...]:
        return self.found

    def end_staying(self) -> tuple[str, ...]:
        self.did.append("end")
        return ()

    def end_unused(self) -> None:
        self.did.append("end unused")


@pytest.mark.parametrize(("users", "left_s"), [(0, 600.0), (2, None)])
def test_one_that_another_has_is_seen(users: int, left_s: float | None) -> None:
    others = Others((StayingWorker("Gemma", os.getpid(), users, left_s),))
    state = seen(EngineStatus("stopped"), None, workers=others)
    assert (state.state, state.model, state.others) == ("ready", "Gemma", users)
    assert state.stops_after_s == (left_s or 0.0)
    assert state.memory_bytes > 1_000_000


def test_its_own_comes_before_another_s() -> None:
    others = Others((StayingWorker("Other", os.getpid(), 1, None),))
    state = seen(ready(os.getpid()), workers=others)
    assert (state.model, state.others) == ("Gemma", None)


def test_who_stops_vllm_stops_what_others_have_too() -> None:
    others = Others(())
    runtime = SimpleNamespace(stop=others.did.append, unload=lambda: others.did.append("unload"))
    cared = manager(runtime=runtime, workers=others)
    cared.stop_worker()
    assert others.did == ["vllm", "end"]
    cared.free_memory()
    assert others.did[2:] == ["unload", "end unused"]


def test_of_one_that_ends_while_it_is_looked_at_no_memory_is_told() -> None:
    ended = subprocess.Popen([sys.executable, "-c", "pass"])
    ended.wait()
    assert seen(ready(ended.pid)).memory_bytes == 0


def test_the_processor_is_no_device_and_refused_ones_are_tried_again() -> None:
    tried: list[str] = []

    def try_again(name: str, _cancel: object) -> DeviceState:
        tried.append(name)
        return DeviceState(name, "Card", "Vulkan", 8, 4, "works")

    found = (
        DeviceState("CPU", "Processor", "CPU", 8, 4, "works"),
        DeviceState("Vulkan0", "Card", "Vulkan", 8, 4, "broken", "It crashed."),
    )
    devices = SimpleNamespace(list=lambda: found, try_again=try_again)
    now = manager(devices=devices).devices(again=False)
    assert [(it.name, it.state, it.why) for it in now] == [("Vulkan0", "refused", "It crashed.")]
    again = manager(devices=devices).devices(again=True)
    assert ([it.state for it in again], tried) == (["works"], ["Vulkan0"])


def test_without_a_library_it_says_why_there_are_no_devices() -> None:
    def none() -> tuple[DeviceState, ...]:
        raise EngineUnavailable("No.", "No library.", "Install it.")

    with pytest.raises(EngineUnavailable, match="No library"):
        manager(devices=SimpleNamespace(list=none)).devices(again=False)


def test_of_counterparts_the_first_that_suits_is_told() -> None:
    large = Counterpart("vllm", "Gemma", "BF16", None, "google/g", 7, why_not="It is too large.")
    small = Counterpart("vllm", "Gemma", "INT4", None, "google/g-int4", 3)
    choice = SimpleNamespace(
        counterparts=lambda _, engine: (large, small) if engine == "vllm" else (large,)
    )
    local = ModelEntry("g", "Gemma", Path())
    assert manager(choice=choice).counterparts(local) == (small, large)


def test_where_no_counterpart_suits_its_reason_is_told() -> None:
    large = Counterpart("vllm", "Gemma", "BF16", None, "google/g", 7, why_not="It is too large.")
    choice = SimpleNamespace(
        counterparts=lambda _, engine: (large, large) if engine == "vllm" else ()
    )
    assert manager(choice=choice).counterparts(ModelEntry("g", "Gemma", Path())) == (large,)


def test_a_gguf_file_is_fetched_in_its_quantisation() -> None:
    found = scripted_hub().repositories["ada/Model-8B-Instruct-GGUF"]
    added: list[DownloadRequest] = []
    parts = {
        "hub": SimpleNamespace(repository=lambda _: found),
        "downloads": SimpleNamespace(add=added.append, start=lambda: None),
        "fitting": SimpleNamespace(quick=None),
    }
    other = Counterpart("llamacpp", "Model 8B", "Q4_K_M", None, found.id, 5)
    manager(**parts).fetch(other)
    assert [it.label for it in added] == [f"{found.id} Q4_K_M"]


def test_a_checkpoint_is_fetched_with_its_drafter_and_nothing_else() -> None:
    names = (
        "model-00001-of-00002.safetensors", "config.json", "tokenizer.json", "README.md",
        "chat_template.jinja", "consolidated.safetensors", "gguf/model.gguf", "onnx/config.json",
    )  # fmt: skip
    files = tuple(RepoFile(name, 7, None) for name in names)
    added: list[DownloadRequest] = []
    hub = SimpleNamespace(
        repository=lambda repo: SimpleNamespace(id=repo, revision="0" * 40, files=files)
    )
    downloads = SimpleNamespace(add=added.append, start=lambda: None)
    other = Counterpart("vllm", "Gemma", "FP8", None, "google/g", 7, "google/g-assistant")
    manager(hub=hub, downloads=downloads).fetch(other)
    assert [it.repo for it in added] == ["google/g", "google/g-assistant"]
    assert [it.path for it in added[0].files] == [names[0], names[1], names[2], names[4]]
