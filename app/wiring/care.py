"""What looks after the engines that Hearth installs, made where it is first asked for."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.engines.care import Profile
from app.hub.limiter import Limiter
from app.hub.retry import Patience
from app.hub.transfer import Terms
from app.net import Gate
from app.packages.config import indexes_here
from app.packages.fetch import PackageFetcher
from app.packages.lookup import Lookup
from app.services.engines.installer import EngineInstaller
from app.services.engines.installing import InstallSources
from app.wiring.shipped import LOCKS
from engines.errors import EngineError
from engines.vllm.provision.environment import pythons_here, uv
from engines.vllm.provision.facts import look
from engines.vllm.provision.home import EngineHome
from engines.vllm.provision.lock import Lock, Pythons, read_lock
from engines.vllm.provision.preflight import Facts

if TYPE_CHECKING:
    from engines.vllm.wsl.program import Wsl

logger = logging.getLogger(__name__)

_ATTEMPTS = 8


def engine_care(
    root: Path, gate: Gate, offline: Callable[[], bool], wsl: Wsl | None = None
) -> EngineInstaller:
    """For the folder of vLLM's environments; what a killed installation has half made goes.

    wsl: the way into a Linux, where this system is none. Raises AppError. If what is half made is
    in a Linux that does not start, it goes with the next installation.
    """

    def lock(profile: Profile) -> Lock:
        return read_lock(LOCKS, profile)

    def facts(pythons: Pythons) -> Facts:
        return look(root, lambda: pythons_here(pythons))

    ways = InstallSources(
        lock=lock,
        look=facts,
        indexes=lambda: indexes_here(uv()),
        lookup=lambda indexes: Lookup(gate, indexes),
        fetcher=PackageFetcher(gate, Terms(Limiter(), Patience(_ATTEMPTS, most_s=30.0))),
        offline=offline,
    )
    if wsl is not None:
        from app.wiring.care_wsl import inside

        home, ways = inside(wsl, root, ways)
    else:
        home = EngineHome(root)
    care = EngineInstaller(home, ways)
    try:
        care.tidy()
    except EngineError as error:
        logger.warning("what is half made of vLLM stays for now: %s", error)
    return care
