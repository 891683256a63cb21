"""The installer of an engine over a made package index; also a program that a test can kill.

`python -m tests.support.engine_making ROOT LOCK ADDRESS` installs and prints the phases.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from app.models.hub.limiter import Limiter
from app.models.hub.retry import Patience
from app.models.hub.transfer import Terms
from app.net import Gate
from app.runtime.packages.config import Indexes
from app.runtime.packages.fetch import PackageFetcher
from app.runtime.packages.lookup import Lookup
from app.runtime.services.installer import EngineInstaller
from app.runtime.services.installing import InstallSources
from app.runtime.values.installation import Step
from engines.cancel import CancelToken
from engines.vllm.provision.home import EngineHome
from engines.vllm.provision.lock import Lock, LockName, Pythons
from engines.vllm.provision.preflight import SystemInfo

PYTHON = sys.version_info[:2]
HERE = SystemInfo("linux", "x86_64", (2, 36), disk_bytes=10**12, pythons=(PYTHON,))
TERMS = Terms(Limiter(), Patience(attempts=3, first_s=0.01, most_s=0.02), stall_s=60)


def care_of(
    root: Path,
    lock: Callable[[], Lock],
    gate: Gate,
    indexes: Sequence[str],
    facts: Callable[[], SystemInfo] = lambda: HERE,
    offline: Callable[[], bool] = lambda: False,
    of_cards: Lock | None = None,
) -> EngineInstaller:
    """Make an installer like the app's, with another lock, computer and index.

    Args:
        root: The folder of the engine.
        lock: Returns the lock to install.
        gate: The gate for its connections.
        indexes: The addresses of the indexes.
        facts: Describes this computer.
        offline: True to stay offline.
        of_cards: The lock for NVIDIA cards, if it is another one.
    """

    def lock_of(name: LockName) -> Lock:
        return of_cards if of_cards and name == "cuda" else lock()

    def look(_: Pythons) -> SystemInfo:
        return facts()

    ways = InstallSources(
        lock=lock_of,
        look=look,
        indexes=lambda: Indexes(tuple(indexes)),
        lookup=lambda found: Lookup(gate, found),
        fetcher=PackageFetcher(gate, TERMS),
        offline=offline,
    )
    return EngineInstaller(EngineHome(root), ways)


def main(root: str, lock: str, address: str) -> None:
    wanted: Lock = pickle.loads(Path(lock).read_bytes())
    gate = Gate(lambda _: None, lambda: True)

    def tell(step: Step) -> None:
        print(step.phase, round(step.share, 3), flush=True)

    care_of(Path(root), lambda: wanted, gate, [address]).install("cpu", tell, CancelToken())
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
