"""The name of the operating system, as its users know it."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from engines.hardware.files import read_text


def linux_name(root: Path) -> str:
    """From /etc/os-release; says so when Linux runs inside Windows."""
    name = "Linux"
    for line in (read_text(root / "etc/os-release") or "").splitlines():
        key, _, value = line.partition("=")
        if key == "PRETTY_NAME":
            name = value.strip("\"'")
    return f"{name} on WSL" if is_wsl(root) else name


def is_wsl(root: Path) -> bool:
    """Whether this Linux is the Windows Subsystem for Linux."""
    return "microsoft" in (read_text(root / "proc/version") or "").lower()


def system_name(root: Path) -> str:
    if sys.platform == "linux":
        name = linux_name(root)
    elif sys.platform == "darwin":
        name = f"macOS {platform.mac_ver()[0]}"
    else:
        name = f"{platform.system()} {platform.release()}"
    return f"{name}, {platform.machine()}"
