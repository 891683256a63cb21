"""The options of `hearth chats export` and `hearth chats import`."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_exchange(export: argparse.ArgumentParser, import_: argparse.ArgumentParser) -> None:
    """Beside what they are about, which is there already."""
    export.add_argument(
        "--format", choices=("md", "html", "pdf", "json"), default="md", help="by default md"
    )
    export.add_argument(
        "--output",
        type=Path,
        metavar="PATH",
        help="a file, or a folder for a file each; otherwise stdout",
    )
    export.add_argument("--folder", metavar="NAME", help="all chats in this folder, too")
    export.add_argument(
        "--reasoning", action="store_true", help="with the model's reasoning; JSON always has it"
    )
    export.add_argument(
        "--branches", action="store_true", help="with every branch; JSON always has them"
    )
    import_.add_argument(
        "--dry-run", action="store_true", help="say what would be imported, and keep nothing"
    )
