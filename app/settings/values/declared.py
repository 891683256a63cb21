"""The declaration of a setting: its place in the form, its texts and limits, and its default."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal, get_args

from engines.sentences import N_

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
    keywords: str = "",
    unit: str = "",
    lowest_label: str = "",
    multiline: bool = False,
    in_form: bool = True,
    common: bool = False,
    engine: str = "",
    safe_value: Any = None,
    **limits: float,
) -> Any:
    """Declare a setting as a field of a dataclass; `SettingField` explains the arguments.

    A default that is a dict is copied for each object.
    """
    words = {"section": section, "title": title, "description": description}
    words |= {"keywords": keywords, "unit": unit, "lowest_label": lowest_label}
    words = {name: N_(text) for name, text in words.items()}
    kind = {"multiline": multiline, "in_form": in_form, "safe_value": safe_value}
    place = {"common": common, "engine": engine}
    metadata = {**words, **kind, **place, **limits}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)
