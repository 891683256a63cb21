"""Declares a setting: its place in the form, its texts and limits, and its default."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal, get_args

Section = Literal[
    "Appearance",
    "Desktop",
    "Assistant",
    "Answers",
    "Model",
    "Speed",
    "Engines",
    "Server",
    "Downloads",
    "Privacy",
]
SECTIONS: tuple[Section, ...] = get_args(Section)


def setting(
    default: Any,
    section: Section,
    title: str,
    description: str,
    *,
    also: str = "",
    unit: str = "",
    lowest: str = "",
    multiline: bool = False,
    in_form: bool = True,
    if_lost: Any = None,
    **limits: float,
) -> Any:
    """Declare a setting as a field of a dataclass; copy a dict default for each object."""
    words = {"section": section, "title": title, "description": description}
    words |= {"also": also, "unit": unit, "lowest": lowest}
    kind = {"multiline": multiline, "in_form": in_form, "if_lost": if_lost}
    metadata = {**words, **kind, **limits}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)
