"""Fills the model card: `{name}` and `{name:format}` marks become measured figures."""

import json
from pathlib import Path

from guide.evaluate import Figures


def write(template: Path, card: Path, figures: Figures, facts: dict[str, object]) -> None:
    """Write `card` from `template`, the figures and further `facts`.

    Raises KeyError where the template names a figure that does not exist.
    """
    text = template.read_text(encoding="utf-8")
    card.write_text(text.format(**figures.as_dict(), **facts), encoding="utf-8")


def write_figures(path: Path, figures: Figures, facts: dict[str, object]) -> None:
    """Write all figures as JSON."""
    content = {**facts, **figures.as_dict()}
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
