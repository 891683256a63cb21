"""An engine on the small server that stands in for vLLM, and the processes that belong to it."""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.net.server_client import socket_client
from engines.base import Progress
from engines.cancel import CancelToken
from engines.hardware.values import Cpu, Hardware, Memory
from engines.types import ChatRequest, Event, LoadedModel, Message, Sampling, TextDelta, VllmPlan
from engines.vllm.engine import VllmEngine
from engines.vllm.processes import Process, processes
from engines.vllm.provision.home import Installed
from engines.vllm.supervised import GRACE_S
from engines.vllm.wsl.distribution import Distribution
from engines.vllm.wsl.host import WslHost
from engines.vllm.wsl.program import Wsl
from tests.support.paths import ROOT
from tests.support.wsl.windows import words_at

SERVER = Path(__file__).with_name("fake_vllm.py")
TARGET = ROOT / "resources/starter/safetensors/target"
ASSISTANT = ROOT / "resources/starter/safetensors/drafter"
PLAN = VllmPlan(TARGET, 512, draft_max=0)
MACHINE = Hardware("Linux", Cpu("made up", 2, 2, 2, 2, 2), Memory(16 << 30, 16 << 30))
SHORT_GRACE_S = 0.5
"""Enough time for the small server to end, and to see that it does not."""
LIMIT_S = 60.0
"""Only a failing test waits this long."""


def make_fake(folder: Path, **behaviour: Any) -> Installed:
    """Make an environment whose python is the small server, for any arguments."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text(
        f'#!/bin/sh\nexport FAKE_VLLM="{folder}"\nexec "{sys.executable}" -S "{SERVER}" "$@"\n'
    )
    python.chmod(0o755)
    behave(folder, **behaviour)
    return Installed("0.32.0", "cpu", folder)


def behave(folder: Path, **behaviour: Any) -> None:
    (folder / "behaviour.json").write_text(json.dumps(behaviour))


class SharingEngine(VllmEngine):
    """An engine whose worker others may use, for every load."""

    def load(self, plan: VllmPlan, progress: Progress, cancel: CancelToken) -> LoadedModel:
        return self.share(str(plan), "It", lambda: plan, progress, cancel)


def make_engine(
    installed: Installed | None,
    folder: Path,
    silent_s: float = 60.0,
    grace_s: float = GRACE_S,
    kind: type[VllmEngine] = VllmEngine,
) -> VllmEngine:
    return kind(
        lambda: installed,
        folder,
        lambda where, key: socket_client(Path(where)),
        lambda: MACHINE,
        silent_s,
        grace_s=grace_s,
    )


def make_engine_inside(
    program: Path,
    installed: Installed,
    folder: Path,
    silent_s: float = 60.0,
    grace_s: float = GRACE_S,
) -> VllmEngine:
    """Make an engine whose worker is in the Linux of a Windows.

    Args:
        program: The stand-in for wsl.exe.
        installed: The environment in that Linux.
        folder: The folder of the engine.
        silent_s: The time limit for silence, in seconds.
        grace_s: The time that the worker has for its end, in seconds.
    """
    import httpx2

    def host(installed: Installed) -> WslHost:
        hands = folder.with_name("hands")
        return WslHost(Distribution(Wsl(str(program)), installed.linux, hands))

    return VllmEngine(
        lambda: installed,
        folder,
        lambda where, key: httpx2.Client(trust_env=False, verify=False),
        lambda: MACHINE,
        silent_s,
        host,
        grace_s=grace_s,
    )


def load(engine: VllmEngine, plan: VllmPlan = PLAN) -> None:
    engine.load(plan, lambda _: None, CancelToken())


def question(**options: Any) -> ChatRequest:
    request = ChatRequest((Message("user", "What is Hearth?"),), Sampling(temperature=0.0))
    return replace(request, **options)


def answer(engine: VllmEngine, **options: Any) -> str:
    return text_of(list(engine.chat(question(**options), CancelToken())))


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def tree(worker_session: int, guardian: int) -> dict[str, Process]:
    """Return the worker's processes by their role: "guardian", "api", "core", "worker"."""
    everyone = processes()
    found = {it.pid: it for it in everyone}
    named = {"guardian": found[guardian], "api": found[worker_session]}
    for name, parent in (("core", "api"), ("worker", "core")):
        children = [
            it
            for it in everyone
            if parent in named and it.parent == named[parent].pid and not _tracker(it.pid)
        ]
        if children:
            named[name] = children[0]
    return named


def members(guardian: int) -> set[tuple[int, int]]:
    """Return the guardian and all its descendants, by number and time of start."""
    everyone = processes()
    inside, grown = {guardian}, True
    while grown:
        new = {it.pid for it in everyone if it.parent in inside} - inside
        inside |= new
        grown = bool(new)
    return {it.key for it in everyone if it.pid in inside}


def guardian_under(ancestor: int) -> int:
    """Return the number of the guardian below a process; 0 if there is none yet."""
    found = (pid for pid, _ in members(ancestor) if "engines.vllm.guardian" in words_at(pid))
    return next(found, 0)


def started_in(folder: Path) -> list[Process]:
    """Return the living processes that a made environment has started, by its own variable."""
    wanted = f"FAKE_VLLM={folder}".encode()
    return [it for it in processes() if wanted in _variables(it.pid)]


def let_look(guardian: int) -> None:
    """Make a guardian look at its processes at once, as when a child of it has ended."""
    os.kill(guardian, signal.SIGCHLD)


def gone(keys: set[tuple[int, int]]) -> bool:
    return not keys & {it.key for it in processes()}


def _variables(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _tracker(pid: int) -> bool:
    return b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()
