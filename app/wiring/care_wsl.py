"""The care of vLLM's environments on a Windows: the same, with its hands in the Linux inside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.services.engines.installing import InstallSources
from app.wiring.shipped import LOCKS
from engines.cancel import CancelToken
from engines.vllm.provision.environment import Maker
from engines.vllm.provision.home import EngineHome
from engines.vllm.provision.lock import Lock, LockedFile, Pythons, Target, read_tool
from engines.vllm.provision.preflight import Facts
from engines.vllm.wsl.distribution import Distribution
from engines.vllm.wsl.making import drop, in_use, making
from engines.vllm.wsl.program import Wsl


def hands(root: Path) -> Path:
    """Where the file lies that Hearth's hands come in. root: of vLLM's environments."""
    return root.with_name("vllm-wsl")


def inside(
    wsl: Wsl, root: Path, ways: InstallSources, locks: Path = LOCKS
) -> tuple[EngineHome, InstallSources]:
    """What stands for the environments, and the ways to make them in WSL2.

    The distribution that has one is the one for the next, as long as it is there.
    """
    folder = hands(root)
    home = EngineHome(root, partial(drop, wsl, folder))

    def look(pythons: Pythons) -> Facts:
        now = home.current()
        return wsl.look(root, pythons, now.linux if now else "")

    def tools(target: Target) -> tuple[LockedFile, ...]:
        return (read_tool(locks, "uv", target.machine),)

    @contextmanager
    def made(
        home: EngineHome, lock: Lock, target: Target, _holding: int, cancel: CancelToken
    ) -> Iterator[Maker]:
        now = home.current()
        name = wsl.find(now.linux if now else "").name
        (tool,) = tools(target)
        with making(Distribution(wsl, name, folder), home, lock, tool.name, cancel) as maker:
            yield maker

    return home, replace(
        ways, look=look, tools=tools, making=made, in_use=partial(in_use, wsl, folder)
    )
