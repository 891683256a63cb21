"""Dialects in this process, for tests of a template's meaning, and the processes of the others."""

from __future__ import annotations

from collections.abc import Iterable

import psutil

from engines.dialect import Dialect
from tests.support.waiting import until


def in_process(
    template: str | None,
    *,
    bos: str = "",
    eos: str = "",
    control: Iterable[str] = (),
    added: Iterable[str] = (),
) -> Dialect:
    return Dialect(template, bos=bos, eos=eos, control=control, added=added, trusted=True)


def template_processes() -> list[psutil.Process]:
    """Return the processes that run a template for this one."""
    return [it for it in psutil.Process().children() if "template_child" in _command(it)]


def wait_for_rendering(process: psutil.Process) -> None:
    """Wait until a template's process computes."""
    before = process.cpu_times().user
    until(lambda: process.cpu_times().user > before + 0.05)


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""  # it has ended
