"""The words of `hearth models`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Final

MODELS: Final[dict[str, tuple[str, str | None]]] = {
    "list": ("all models on this computer", None),
    "search": ("search the Hub", "WORDS"),
    "show": ("what a model here says of itself, or what a repository on the Hub offers", "M"),
    "fit": ("whether a model fits the memory, and the sum", "M"),
    "pull": ("download a model: owner/name, owner/name:QUANT or owner/name/file.gguf", "M"),
    "import": ("add a GGUF file where it lies, or a copy of it", "PATH"),
    "verify": ("compare a model's bytes with what they should be", "M"),
    "rename": ("call a model something else", "M"),
    "set": ("a setting for this model alone; with no value, all that are set", "M"),
    "rm": ("take a model off the list, or move a downloaded one to the trash", "M"),
}
"""Verb by verb: what it does, and what it is given."""


def add_models(verbs: Mapping[str, argparse.ArgumentParser]) -> None:
    """Add what single verbs understand beyond that."""
    search = verbs["search"]
    search.add_argument(
        "--sort", choices=("downloads", "likes", "updated", "name"), default="downloads"
    )
    search.add_argument("--fits", action="store_true", help="only what fits this computer")
    search.add_argument("--mtp", action="store_true", help="only what drafts tokens ahead")
    search.add_argument("--vision", action="store_true", help="only what sees pictures")
    search.add_argument("--licence", metavar="NAME", help="such as apache-2.0")
    search.add_argument(
        "--limit",
        type=int,
        choices=range(1, 101),
        default=20,
        metavar="N",
        help="1 to 100; 20 if it is left out",
    )
    for verb in ("fit", "pull"):
        verbs[verb].add_argument("--revision", default="main", metavar="REV", help="of the Hub's")
    fit = verbs["fit"]
    fit.add_argument("--context", type=int, metavar="N", help="tokens; otherwise as it would load")
    fit.add_argument(
        "--kv-type", choices=("f16", "q8_0", "q4_0"), help="otherwise as the settings say"
    )
    verbs["pull"].add_argument(
        "--limit", type=float, metavar="MB/S", help="most megabytes a second; otherwise the setting"
    )
    verbs["import"].add_argument(
        "--copy", action="store_true", help="copy it to the folder of models"
    )
    verbs["rename"].add_argument("name", metavar="NAME")
    verbs["set"].add_argument("setting", nargs="?", metavar="NAME")
    verbs["set"].add_argument("value", nargs="?", metavar="VALUE")
    verbs["set"].add_argument(
        "--default", action="store_true", help="leave NAME to the settings of the app again"
    )
    verbs["rm"].add_argument(
        "--file", action="store_true", help="move the file to the trash, too, wherever it lies"
    )
