"""The installer of an engine on a made Windows; also a program that a test can kill.

`python -m tests.support.wsl.care WSL ROOT LOCK ADDRESS LOCKS` installs and prints the phases.
"""

from __future__ import annotations

import io
import json
import pickle
import platform
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import uv

from app.net import Gate
from app.runtime.packages.config import Indexes
from app.runtime.packages.fetch import PackageFetcher
from app.runtime.packages.lookup import Lookup
from app.runtime.services.installer import EngineInstaller
from app.runtime.services.installing import InstallSources
from app.runtime.values.installation import Step
from app.wiring.installer import in_wsl
from engines.cancel import CancelToken
from engines.vllm.provision.lock import Lock, LockName
from engines.vllm.wsl.program import Wsl
from tests.support.engine_making import HERE, TERMS
from tests.support.package_index import Wheel


def care_inside(
    wsl: Wsl, root: Path, lock: Callable[[], Lock], gate: Gate, index: str, locks: Path
) -> EngineInstaller:
    """Make an installer like the app's, with another lock and index.

    Args:
        wsl: The made WSL.
        root: The folder of the engine.
        lock: Returns the lock to install.
        gate: The gate for its connections.
        index: The address of the index.
        locks: The folder of `write_tool`.
    """

    def lock_of(_: LockName) -> Lock:
        return lock()

    ways = InstallSources(
        lock=lock_of,
        look=lambda _: HERE,
        indexes=lambda: Indexes((index,)),
        lookup=lambda found: Lookup(gate, found),
        fetcher=PackageFetcher(gate, TERMS),
        offline=lambda: False,
    )
    return EngineInstaller(*in_wsl(wsl, root, ways, locks))


def tool_wheel() -> Wheel:
    """Make a wheel like uv's, whose program only starts the uv of this computer."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        started = f'#!/bin/sh\nexec "{uv.find_uv_bin()}" "$@"\n'
        packed.writestr("uv-1.0.data/scripts/uv", started)
    machine = platform.machine()
    return Wheel(f"uv-1.0-py3-none-manylinux_2_17_{machine}.whl", out.getvalue())


def write_tool(locks: Path, tool: Wheel) -> None:
    """Write the file from which Hearth reads the name and the checksum of the tool."""
    locks.mkdir(parents=True, exist_ok=True)
    (locks / "uv.json").write_text(json.dumps({tool.name: [len(tool.data), tool.sha256]}))


def main(program: str, root: str, lock: str, address: str, locks: str) -> None:
    wanted: Lock = pickle.loads(Path(lock).read_bytes())
    gate = Gate(lambda _: None, lambda: True)
    care = care_inside(Wsl(program), Path(root), lambda: wanted, gate, address, Path(locks))

    def tell(step: Step) -> None:
        print(step.phase, round(step.share, 3), flush=True)

    care.install("cpu", tell, CancelToken())
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
