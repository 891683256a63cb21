"""Files dropped onto the window: their kinds, and how a text becomes part of a message."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from app.core.errors import FileNotText

MOST_BYTES = 400_000
"""The longest text file; more is beyond the context of most models anyway."""

_PICTURES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".avif"}


def kind_of(path: Path) -> Literal["model", "picture", "other"]:
    """Tell what kind of file this is, by the ending of its name."""
    ending = path.suffix.lower()
    if ending == ".gguf":
        return "model"
    return "picture" if ending in _PICTURES else "other"


def read_text(path: Path) -> str:
    """Read a text file, with its name, fenced so that nothing in it counts as markdown.

    Raises FileNotText for a folder, a file that is too long, or is no text in UTF-8.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        data, text = b"", None
    if text is None or "\0" in text:
        raise FileNotText(
            f"{path.name} cannot be added to a message.",
            "It is not a text file (UTF-8) that Hearth can read.",
            "Open it in its own program and copy the part that your question is about.",
        )
    if len(data) > MOST_BYTES:
        raise FileNotText(
            f"{path.name} is too long for a message.",
            f"It has more than {MOST_BYTES // 1000} kB of text.",
            "Copy the part that your question is about.",
        )
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{path.name}:\n{fence}{path.suffix[1:].lower()}\n{text.rstrip()}\n{fence}\n\n"
