"""The texts of run.py about the progress or the failure of a step. Standard library only."""

import re
import time

REMEDIES = {
    "No space left on device": "The disk is full: free 2 GB.",
    "do not match the hashes": "A download is not the file that Hearth was made with.",
    "CERTIFICATE_VERIFY_FAILED|TLS CA": "The package server's certificate is not trusted here: "
    "install ca-certificates, check the clock, or set PIP_CERT.",
    "name resolution|NewConnection|Failed to establish|Max retries|timed out|Failed to fetch"
    "|Could not resolve": "The package server cannot be reached: check the network or HTTPS_PROXY.",
    "No matching distribution": "Hearth needs 64-bit Windows 10, macOS 14, or Linux with glibc "
    "2.34 (2.39 on ARM), or newer.",
    "SPIRV-Headers": "Install spirv-headers: see installers/vulkan.",
    "CUDA::cublas": "CUDA's library cuBLAS is missing: install the whole toolkit.",
    "xcode-select|xcrun": "A C++ compiler is missing. To get it: xcode-select --install",
    "Visual Studio|nmake": "Install Visual Studio Build Tools, 'Desktop development with C++'.",
    "[Kk]illed|memory exhausted|bad_alloc": "Out of memory: set CMAKE_BUILD_PARALLEL_LEVEL=1.",
    "[Dd]enied|Read-only file system": "Put Hearth where you may write; close it if it is open.",
}
"""Remedies for a failure, by a pattern in its output; the first match counts."""


def step_of(output: str) -> str:
    """Return a build's progress by ninja's count, or else the package that pip is processing."""
    steps = re.findall(r"^\s*\[(\d+)/(\d+)\]", output, re.MULTILINE)
    if steps:
        finished, total = map(int, steps[-1])
        return f"{100 * finished // total} % ({finished} of {total})"
    work = re.findall(r"^\s*(?:Collecting ([\w.-]+)|(Installing))", output, re.MULTILINE)
    return "".join(work[-1]).lower() if work else ""


def report(title: str, status: str, started: float, live: bool) -> str:
    """Return the line on a step: its title, status and duration."""
    minutes, seconds = divmod(int(time.monotonic() - started), 60)
    elapsed = f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"
    line = f"{title}: {status}, {elapsed}" if status else f"{title}: {elapsed}"
    return f"\r{line:<78}" if live else line


def remedy(output: str) -> str:
    """Return what to do about a failure with this output."""
    remedies = (advice for pattern, advice in REMEDIES.items() if re.search(pattern, output))
    return f"{next(remedies, '')} Run this again; finished steps are not repeated.".strip()
