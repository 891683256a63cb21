"""How a setting is declared: its place in the form, its words and its limits, with its default."""

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
    multiline: bool = False,
    in_form: bool = True,
    if_lost: Any = None,
    **limits: float,
) -> Any:
    """A default of type dict is made anew for each object; the rest is as in `SettingField`."""
    words = {"section": section, "title": title, "description": description}
    kind = {"multiline": multiline, "in_form": in_form, "if_lost": if_lost}
    metadata = {**words, **kind, **limits}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)
