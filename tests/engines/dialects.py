"""Dialects for tests of what a template means, without a process for each of them."""

from __future__ import annotations

from collections.abc import Iterable

from engines.dialect import Dialect


def in_process(
    template: str | None,
    *,
    bos: str = "",
    eos: str = "",
    control: Iterable[str] = (),
    added: Iterable[str] = (),
) -> Dialect:
    return Dialect(template, bos=bos, eos=eos, control=control, added=added, trusted=True)
