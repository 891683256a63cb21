"""Creates the installer of vLLM: for this system or, on Windows, for WSL2."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.base.shipped import LOCKS
from app.models.hub.limiter import Limiter
from app.models.hub.retry import Patience
from app.models.hub.transfer import Terms
from app.net import Gate
from app.runtime.packages.config import configured_indexes
from app.runtime.packages.fetch import PackageFetcher
from app.runtime.packages.lookup import Lookup
from app.runtime.services.installer import EngineInstaller
from app.runtime.services.installing import InstallSources
from engines.cancel import CancelToken
from engines.errors import EngineError
from engines.vllm.provision.environment import EnvironmentMaker, available_pythons, has_headers, uv
from engines.vllm.provision.home import EngineHome
from engines.vllm.provision.lock import (
    Lock,
    LockedFile,
    LockName,
    Pythons,
    TargetSystem,
    read_lock,
    read_tool,
)
from engines.vllm.provision.preflight import SystemInfo
from engines.vllm.provision.system_info import examine
from engines.vllm.wsl.distribution import Distribution
from engines.vllm.wsl.making import in_use, remove_environment
from engines.vllm.wsl.making import making as make_in_wsl
from engines.vllm.wsl.program import Wsl

logger = logging.getLogger(__name__)

_ATTEMPTS = 8


def engine_installer(
    root: Path, gate: Gate, offline: Callable[[], bool], wsl: Wsl | None = None
) -> EngineInstaller:
    """Create the installer for a folder of environments, and remove incomplete ones.

    Incomplete environments in a Linux that does not start are removed by the next installation.
    Raises AppError.

    Args:
        wsl: Runs commands in WSL2; None if vLLM runs on this system.
    """

    def lock(name: LockName) -> Lock:
        return read_lock(LOCKS, name)

    def system(pythons: Pythons) -> SystemInfo:
        return examine(root, lambda: available_pythons(pythons), has_headers)

    sources = InstallSources(
        lock=lock,
        look=system,
        indexes=lambda: configured_indexes(uv()),
        lookup=lambda indexes: Lookup(gate, indexes),
        fetcher=PackageFetcher(gate, Terms(Limiter(), Patience(_ATTEMPTS, most_s=30.0))),
        offline=offline,
    )
    if wsl is not None:
        home, sources = in_wsl(wsl, root, sources)
    else:
        home = EngineHome(root)
    installer = EngineInstaller(home, sources)
    try:
        installer.tidy()
    except EngineError as error:
        logger.warning("what is half made of vLLM stays for now: %s", error)
    return installer


def wsl_folder(root: Path) -> Path:
    """Return the folder of the program that runs inside WSL2.

    Args:
        root: The folder of vLLM's environments.
    """
    return root.with_name("vllm-wsl")


def in_wsl(
    wsl: Wsl, root: Path, sources: InstallSources, locks: Path = LOCKS
) -> tuple[EngineHome, InstallSources]:
    """Return the home of the environments and the sources of an installation, both for WSL2.

    A new environment is created in the distribution of the current one, as long as that exists.
    """
    folder = wsl_folder(root)
    home = EngineHome(root, partial(remove_environment, wsl, folder))

    def examine(pythons: Pythons) -> SystemInfo:
        state = home.current()
        return wsl.examine(root, pythons, state.linux if state else "")

    def tools(target: TargetSystem) -> tuple[LockedFile, ...]:
        return (read_tool(locks, "uv", target.machine),)

    @contextmanager
    def making(
        home: EngineHome, lock: Lock, target: TargetSystem, _holding: int, cancel: CancelToken
    ) -> Iterator[EnvironmentMaker]:
        state = home.current()
        name = wsl.find(state.linux if state else "").name
        (tool,) = tools(target)
        with make_in_wsl(Distribution(wsl, name, folder), home, lock, tool.name, cancel) as maker:
            yield maker

    return home, replace(
        sources, look=examine, tools=tools, making=making, in_use=partial(in_use, wsl, folder)
    )
