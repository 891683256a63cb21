"""Arguments that several commands share, and the checks of their values."""

from __future__ import annotations

import argparse

MODES = ("auto", "on", "off")
ENGINES = ("llamacpp", "vllm", "remote")
ENGINE = "the same model on this engine; otherwise the engine of the model"
EFFORTS = ("minimal", "low", "medium", "high", "max")
USUAL = "otherwise as the settings say"
ANYWAY = "load the model even if it does not seem to fit the memory"
MTP = "multi-token prediction: auto guesses ahead where it is faster, on always, off never"


def add_answering(parser: argparse.ArgumentParser) -> None:
    """Add the options that change how a model answers: reasoning and LoRA adapter."""
    parser.add_argument(
        "--think",
        type=_switch,
        metavar="on|off",
        help="whether a model that can be asked to reasons first; otherwise as the settings say",
    )
    parser.add_argument(
        "--adapter",
        metavar="NAME",
        help=f"with this LoRA adapter; '' is the model alone; {USUAL}",
    )
    parser.add_argument(
        "--effort",
        choices=EFFORTS,
        help=f"how hard it reasons, where it knows such levels; {USUAL}",
    )
    parser.add_argument(
        "--think-budget",
        type=count,
        metavar="N",
        help="tokens after which the reasoning is ended and the answer begins; 0 sets no limit; "
        f"{USUAL}",
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the option `--model`."""
    parser.add_argument(
        "--model", type=_model, metavar="M", help=f"a model's id, name or GGUF file; {USUAL}"
    )


def add_revision(parser: argparse.ArgumentParser) -> None:
    """Add the option `--revision`."""
    parser.add_argument(
        "--revision",
        default="main",
        metavar="REV",
        help="a branch, tag or commit of the repository on the Hub; by default main",
    )


def _model(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("no model is named; `hearth models list` shows them")
    return text


def _switch(text: str) -> str:
    if text not in {"on", "off"}:
        raise argparse.ArgumentTypeError(f"{text} is neither on nor off")
    return text


def positive(text: str) -> int:
    """Parse a whole number of at least 1."""
    number = whole(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def count(text: str) -> int:
    """Parse a whole number of at least 0."""
    number = whole(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return number


def whole(text: str) -> int:
    """Parse a whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number") from None
