"""What looks after the engines that Hearth installs, made where it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.core.engine_care import Profile
from app.hub.limiter import Limiter
from app.hub.retry import Patience
from app.hub.transfer import Terms
from app.net import Gate
from app.packages.config import indexes_here
from app.packages.fetch import PackageFetcher
from app.packages.lookup import Lookup
from app.services.engine_care import EngineCare
from app.services.engine_installing import Ways
from engines.vllm.provision.environment import pythons_here, uv
from engines.vllm.provision.facts import look
from engines.vllm.provision.home import EngineHome
from engines.vllm.provision.lock import Lock, Pythons, read_lock
from engines.vllm.provision.preflight import Facts
from engines.vllm.provision.users import in_use

LOCKS = Path(__file__).resolve().parent.parent / "resources" / "vllm"
_ATTEMPTS = 8


def engine_care(root: Path, gate: Gate, offline: Callable[[], bool]) -> EngineCare:
    """For the folder of vLLM's environments; what a killed installation has half made goes.

    Raises AppError.
    """
    home = EngineHome(root)

    def lock(profile: Profile) -> Lock:
        return read_lock(LOCKS, profile)

    def facts(pythons: Pythons) -> Facts:
        return look(home.root, lambda: pythons_here(pythons))

    ways = Ways(
        lock=lock,
        look=facts,
        indexes=lambda: indexes_here(uv()),
        lookup=lambda indexes: Lookup(gate, indexes),
        fetcher=PackageFetcher(gate, Terms(Limiter(), Patience(_ATTEMPTS, most_s=30.0))),
        offline=offline,
        in_use=in_use,
    )
    care = EngineCare(home, ways)
    care.tidy()
    return care
