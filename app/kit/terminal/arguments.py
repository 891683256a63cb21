"""Arguments that several commands share, and the checks of their values."""

from __future__ import annotations

import argparse

from app.kit.terminal.command import Argument

MODES = ("auto", "on", "off")
USUAL = "otherwise as in the settings"


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


MODEL = Argument(
    "--model",
    f"a model's id, name or GGUF file; {USUAL}",
    type=_model,
    metavar="M",
    offers="models",
)
ENGINE = Argument(
    "--engine",
    "run the model on this engine; otherwise on the model's usual one",
    choices=("llamacpp", "vllm", "remote"),
)
ANYWAY = Argument(
    "--anyway", "load the model even if it seems too large for the memory", action="store_true"
)
REVISION = Argument(
    "--revision",
    "a branch, tag or commit of the repository on the Hub; by default main",
    default="main",
    metavar="REV",
)
REASONING = (
    Argument(
        "--think",
        f"turn reasoning on or off, for a model that can do both; {USUAL}",
        type=_switch,
        metavar="on|off",
    ),
    Argument(
        "--effort",
        f"how much to reason, for models that know such levels; {USUAL}",
        choices=("minimal", "low", "medium", "high", "max"),
    ),
    Argument(
        "--think-budget",
        f"end the reasoning after N tokens and begin the answer; 0 sets no limit; {USUAL}",
        type=count,
        metavar="N",
    ),
)
ADAPTER = Argument("--adapter", f"use this LoRA adapter; '' uses none; {USUAL}", metavar="NAME")
YES = Argument("--yes", "do not ask for confirmation", action="store_true")
