"""The options of commands that ask a model: `hearth ask`, `chat` and `bench`."""

from __future__ import annotations

import argparse
from pathlib import Path

from app.core.errors import SettingsInvalid
from engines.types import MAX_DEPTH

MODES = ("auto", "on", "off")
ENGINES = ("llamacpp", "vllm", "remote")
ENGINE = "the same model on this engine; otherwise the engine of the model"
MOST_AT_ONCE = 256
EFFORTS = ("minimal", "low", "medium", "high", "max")
_USUAL = "otherwise as the settings say"
ANYWAY = "load the model even if it does not seem to fit the memory"
MTP = "multi-token prediction: auto guesses ahead where it is faster, on always, off never"


def add_ask(ask: argparse.ArgumentParser) -> None:
    ask.add_argument("text", metavar="TEXT", help="the question; - reads it from standard input")
    add_model(ask)
    ask.add_argument("--engine", choices=ENGINES, help=ENGINE)
    ask.add_argument("--mtp", choices=MODES, help=f"{MTP}; otherwise as the settings say")
    ask.add_argument(
        "--depth",
        type=_depth,
        metavar="N",
        help=f"tokens to guess ahead, 1 to {MAX_DEPTH}; turns MTP on unless --mtp auto is there; "
        "by default MTP chooses",
    )
    ask.add_argument(
        "--system", metavar="S", help="the system prompt; otherwise as the settings say"
    )
    ask.add_argument("--assistant", metavar="NAME", help="as this assistant, without --chat")
    ask.add_argument(
        "--max-tokens",
        type=_count,
        metavar="N",
        help=f"the longest answer, in tokens; 0 lets the model end by itself; {_USUAL}",
    )
    ask.add_argument(
        "--temperature",
        type=_temperature,
        metavar="T",
        help=f"0 to 5; 0 always takes the likeliest token; {_USUAL}, which is 0.7 at first",
    )
    ask.add_argument(
        "--top-p",
        type=_top_p,
        metavar="P",
        help=f"above 0, to 1: the share of the likeliest tokens to draw from; 1 is off; {_USUAL}, "
        "which is 0.95 at first",
    )
    ask.add_argument(
        "--seed",
        type=_count,
        metavar="N",
        help="the same number gives the same answer again; by default another each time",
    )
    ask.add_argument(
        "--context",
        type=_count,
        metavar="N",
        help=f"tokens that the model sees; 0 chooses what fits this computer; {_USUAL}",
    )
    ask.add_argument(
        "--stop",
        action="append",
        default=[],
        metavar="S",
        help="the answer ends before this text; may be given several times; by default none",
    )
    ask.add_argument(
        "--file",
        action="append",
        default=[],
        type=Path,
        metavar="PATH",
        help="a text file (UTF-8) that goes behind the question; may be given several times",
    )
    ask.add_argument(
        "--grammar", type=Path, metavar="FILE", help="a GBNF file that the answer must follow"
    )
    ask.add_argument("--anyway", action="store_true", help=ANYWAY)
    add_answering(ask)
    ask.add_argument("--chat", metavar="ID", help="continue this chat and save it")


def add_answering(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--think",
        type=_switch,
        metavar="on|off",
        help="whether a model that can be asked to reasons first; otherwise as the settings say",
    )
    parser.add_argument(
        "--adapter",
        metavar="NAME",
        help=f"with this LoRA adapter of vLLM's; '' is the model alone; {_USUAL}",
    )
    parser.add_argument(
        "--effort",
        choices=EFFORTS,
        help=f"how hard it reasons, where it knows such levels; {_USUAL}",
    )
    parser.add_argument(
        "--think-budget",
        type=_count,
        metavar="N",
        help="tokens after which the reasoning is ended and the answer begins; 0 sets no limit; "
        f"{_USUAL}",
    )


def add_bench(bench: argparse.ArgumentParser) -> None:
    add_model(bench)
    bench.add_argument("--engine", choices=ENGINES, help=ENGINE)
    bench.add_argument(
        "--mtp", choices=MODES, help="only this mode, beside off; otherwise all three"
    )
    bench.add_argument(
        "--check-mtp",
        action="store_true",
        help="measure nothing: answer eight prompts greedily with and without MTP, at several "
        "depths, and compare the tokens; exit status 1 if one differs by more than rounding",
    )
    bench.add_argument(
        "--tokens",
        type=some,
        metavar="N",
        help="tokens of each answer; by default 128, or 64 with --check-mtp",
    )
    bench.add_argument(
        "--rounds",
        type=some,
        default=3,
        metavar="N",
        help="how often each answer is measured; by default 3",
    )
    bench.add_argument(
        "--concurrency",
        type=_counts,
        default=(1,),
        metavar="1,4,16",
        help="measure so many chats at once instead, each number once: tokens/s in all, and for "
        "each of them; llama.cpp answers one after the other; by default 1",
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", type=_model, metavar="M", help=f"a model's id, name or GGUF file; {_USUAL}"
    )


def _model(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("no model is named; `hearth models list` shows them")
    return text


def _depth(text: str) -> int:
    number = _whole(text)
    if not 1 <= number <= MAX_DEPTH:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and {MAX_DEPTH}")
    return number


def _switch(text: str) -> bool:
    if text not in {"on", "off"}:
        raise argparse.ArgumentTypeError(f"{text} is neither on nor off")
    return text == "on"


def some(text: str) -> int:
    number = _whole(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def _counts(text: str) -> tuple[int, ...]:
    """Numbers of chats at once, each of them once."""
    numbers = tuple(dict.fromkeys(some(part) for part in text.split(",")))
    if max(numbers) > MOST_AT_ONCE:
        raise argparse.ArgumentTypeError(f"{max(numbers)} is more than {MOST_AT_ONCE}")
    return numbers


def _count(text: str) -> int:
    number = _whole(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return number


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number") from None


def _temperature(text: str) -> float:
    return _as_setting("temperature", text)


def _top_p(text: str) -> float:
    return _as_setting("top_p", text)


def _as_setting(name: str, text: str) -> float:
    """Within the bounds of the setting of that name."""
    from app.core.settings.fields import Settings

    try:
        return float(getattr(Settings().changed(name, text), name))
    except SettingsInvalid as error:
        raise argparse.ArgumentTypeError(f"{text}: {error.why.rstrip('.')}") from None
