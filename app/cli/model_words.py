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
        "--sort",
        choices=("downloads", "likes", "updated", "name"),
        default="downloads",
        help="what stands first; by default what is downloaded most",
    )
    search.add_argument("--fits", action="store_true", help="only what fits this computer")
    search.add_argument("--mtp", action="store_true", help="only what drafts tokens ahead")
    search.add_argument("--vision", action="store_true", help="only what sees pictures")
    search.add_argument(
        "--licence", metavar="NAME", help="only those with this one, such as apache-2.0"
    )
    search.add_argument(
        "--limit",
        type=int,
        choices=range(1, 101),
        default=20,
        metavar="N",
        help="at most N models, 1 to 100; by default 20",
    )
    for verb in ("fit", "pull"):
        verbs[verb].add_argument(
            "--revision",
            default="main",
            metavar="REV",
            help="a branch, tag or commit of the repository on the Hub; by default main",
        )
    fit = verbs["fit"]
    fit.add_argument("--context", type=int, metavar="N", help="tokens; otherwise as it would load")
    fit.add_argument(
        "--kv-type",
        choices=("f16", "q8_0", "q4_0"),
        help="precision of the KV cache; otherwise as the settings say, which is f16 at first",
    )
    verbs["pull"].add_argument(
        "--limit",
        type=float,
        metavar="MB/S",
        help="most megabytes a second; otherwise as the settings say; 0 sets no limit",
    )
    verbs["import"].add_argument(
        "--copy",
        action="store_true",
        help="copy it to the folder of models; otherwise it is used where it lies",
    )
    verbs["rename"].add_argument("name", metavar="NAME", help="what it is called from now on")
    verbs["set"].add_argument(
        "setting",
        nargs="?",
        metavar="NAME",
        help="of the setting, as `hearth settings list` has it",
    )
    verbs["set"].add_argument("value", nargs="?", metavar="VALUE", help="in the setting's unit")
    verbs["set"].add_argument(
        "--default", action="store_true", help="leave NAME to the settings of the app again"
    )
    verbs["rm"].add_argument(
        "--file", action="store_true", help="move the file to the trash, too, wherever it lies"
    )
