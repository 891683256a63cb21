"""Which process is at work on something that several can see, and whether it still lives."""

from __future__ import annotations

import os

import psutil


def this_process() -> str:
    """A name that no later process has, even one with the same number."""
    return f"{os.getpid()} {psutil.Process().create_time():.2f}"


def is_alive(runner: str) -> bool:
    number, _, created = runner.partition(" ")
    try:
        return f"{psutil.Process(int(number)).create_time():.2f}" == created
    except (psutil.Error, ValueError):
        return False
