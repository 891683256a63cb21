"""The list of the engines, and whether each can run on this computer."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.sentences import N_
from engines.types import EngineName

_MISSING: Final = N_("Its library is not installed; start Hearth with run.py, which installs it.")
_NOT_INSTALLED: Final = N_("It is not installed.")
_NOT_ON_MACOS: Final = N_(
    "vLLM does not run on macOS; you can add one on another computer as a server."
)
_NO_SERVER: Final = N_("No server has been added.")


@dataclass(frozen=True)
class EngineAvailability:
    """The availability of an engine on this computer.

    Attributes:
        why_not: One sentence; None if it can run.
        about: Short description of the installation, such as its version.
    """

    name: EngineName
    available: bool
    why_not: str | None = None
    about: str = ""


def availability(vllm: Path | None = None, servers: int = 0) -> tuple[EngineAvailability, ...]:
    """Return for each engine whether it can run.

    This loads no library: whether an installed one loads is found out when it is used.

    Args:
        vllm: The folder of vLLM's environments.
        servers: Number of configured servers.
    """
    installed = importlib.util.find_spec("llama_cpp") is not None
    return (
        EngineAvailability("llamacpp", installed, None if installed else _MISSING),
        _vllm(vllm),
        _remote(servers),
    )


def _vllm(folder: Path | None) -> EngineAvailability:
    environment = None
    if folder is not None and folder.exists():
        from engines.vllm.provision.home import EngineHome

        environment = EngineHome(folder).current()
    if environment is not None:
        build = N_("for NVIDIA cards") if environment.profile == "cuda" else N_("for processors")
        return EngineAvailability(
            "vllm", available=True, about=f"vLLM {environment.version}, {build}"
        )
    why_not = _NOT_ON_MACOS if sys.platform == "darwin" else _NOT_INSTALLED
    return EngineAvailability("vllm", available=False, why_not=why_not)


def _remote(servers: int) -> EngineAvailability:
    if not servers:
        return EngineAvailability("remote", available=False, why_not=_NO_SERVER)
    count_text = "1 server" if servers == 1 else f"{servers} servers"
    return EngineAvailability("remote", available=True, about=count_text)
