"""What Hearth is made of, as values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """Something that Hearth uses, and its licence; "" where it names none."""

    name: str
    version: str
    licence: str


@dataclass(frozen=True)
class About:
    """versions: names with versions, of what decides how Hearth works. parts: by their names."""

    versions: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]
