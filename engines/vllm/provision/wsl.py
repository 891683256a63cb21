"""A command of this Windows as one inside its Linux: pure."""

from __future__ import annotations

from collections.abc import Sequence


def inside(distribution: str, words: Sequence[str]) -> list[str]:
    """The same command inside a distribution of WSL2.

    Nothing passes through a shell: `--exec` takes the words as they are.
    """
    return ["wsl.exe", "--distribution", distribution, "--exec", *words]
