"""Advice on which engine suits a computer and why, in criteria people care about: pure.

it = advise(Situation("linux", cards, vllm="installed"))
print(it.engine, it.sentence)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from app.models.discover.values.counterparts import Card
from engines.sentences import N_
from engines.types import EngineName

System = Literal["linux", "windows", "macos"]
"""The operating system."""

LEAST_CARD: Final = 15_500_000_000
"""Minimum bytes of a card sold with 16 GB, which reports slightly less."""

LEAST_CAPABILITY: Final = 7.5
"""Minimum CUDA compute capability for vLLM."""
LONG: Final = 32_768
"""Tokens from which a context counts as long."""
_CLEARLY: Final = 1.1
"""The ratio of speeds from which one engine is clearly faster."""


@dataclass(frozen=True)
class MeasuredSpeed:
    """One measurement on this computer.

    Attributes:
        at_once: Answers side by side.
        tokens_per_s: Tokens a second of all answers together.
    """

    engine: EngineName
    model: str
    at_once: int
    tokens_per_s: float


@dataclass(frozen=True)
class Situation:
    """The computer and its use, from which `advise` decides.

    Attributes:
        cards: The NVIDIA cards.
        vllm: Whether vLLM is installed, or can be.
        why_not: A sentence that says why vLLM cannot be installed.
        chats_at_once: Chats to answer side by side.
        profiles: The number of known servers.
        measured: Measurements on this computer, possibly of several models.
        model: The name of the model that is to answer, as in `measured`.
        context: Tokens of context in its settings; 0 for automatic.
        loaded: vLLM has it loaded.
    """

    system: System
    cards: tuple[Card, ...] = ()
    vllm: Literal["installed", "possible", "impossible"] = "possible"
    why_not: str = ""
    chats_at_once: int = 1
    profiles: int = 0
    measured: tuple[MeasuredSpeed, ...] = ()
    model: str = ""
    context: int = 0
    loaded: bool = False


@dataclass(frozen=True)
class Row:
    """A row of the comparison.

    Attributes:
        measured: It was measured on this computer, not reported by others.
    """

    topic: str
    llamacpp: str
    vllm: str
    measured: bool = False


@dataclass(frozen=True)
class Advice:
    """The engine that suits a computer.

    Attributes:
        sentence: The most important reason.
        reasons: All reasons.
        rows: The comparison as a table.
    """

    engine: EngineName
    sentence: str
    reasons: tuple[str, ...]
    rows: tuple[Row, ...]


def advise(situation: Situation) -> Advice:
    """Advise vLLM where it can run and is better at something; otherwise llama.cpp.

    Measurements on this computer come first. Without them, llama.cpp suits one user, and vLLM suits
    several chats at once, a long context, or a model that it has loaded already.
    """
    rows = (*_measured(situation.measured), *_COMPARISON)
    if against := _against(situation):
        return Advice("llamacpp", against[0], against, rows)
    if measured := _measured_best(situation):
        engine, words = measured
        return Advice(engine, words, (words,), rows)
    card = situation.cards[0]
    if situation.chats_at_once > 1:
        reasons = (
            N_(
                "{chats_at_once} chats at once: vLLM answers them together, llama.cpp in turn.",
                chats_at_once=situation.chats_at_once,
            ),
            N_("{name} has the memory for it.", name=card.name),
        )
        return Advice("vllm", reasons[0], reasons, rows)
    if situation.context >= LONG:
        words = N_(
            "A context of {context} tokens: vLLM is made for long ones on a card.",
            context=f"{situation.context:,}",
        )
        return Advice("vllm", words, (words,), rows)
    if situation.loaded:
        words = N_("vLLM has this model loaded, so it answers at once.")
        return Advice("vllm", words, (words,), rows)
    reasons = (
        N_("One user at a time: llama.cpp is as fast or faster, and is ready in seconds."),
        N_("vLLM on {name} is faster for several chats or programs at once.", name=card.name),
    )
    return Advice("llamacpp", reasons[0], reasons, rows)


def _against(situation: Situation) -> tuple[str, ...]:
    """Return why vLLM does not suit; empty if nothing speaks against it."""
    found = []
    if situation.system == "macos":
        found.append(N_("vLLM does not run on macOS; llama.cpp uses this Mac's graphics."))
    elif not situation.cards:
        found.append(N_("This computer has no NVIDIA card; llama.cpp runs on any computer."))
    elif situation.cards[0].capability < LEAST_CAPABILITY:
        found.append(
            N_("{name} is too old for vLLM; llama.cpp uses it.", name=situation.cards[0].name)
        )
    elif max(card.total_bytes for card in situation.cards) < LEAST_CARD:
        found.append(
            N_(
                "{name} has less than 16 GB, and vLLM needs a whole model on the card; llama.cpp "
                "shares it with the processor.",
                name=situation.cards[0].name,
            )
        )
    if situation.vllm == "impossible":
        found.append(situation.why_not or N_("vLLM cannot be installed on this computer."))
    return tuple(found)


def _measured_best(situation: Situation) -> tuple[EngineName, str] | None:
    """Return the engine that measurements here show to be clearly faster for so many chats.

    Only measurements of the model itself count; if it was not measured on both engines, those of
    all other models do.
    """
    several = situation.chats_at_once > 1
    ratios = _ratios([m for m in situation.measured if (m.at_once > 1) is several])
    of_model = [ratio for model, ratio in ratios if model == situation.model]
    best = max(of_model or [ratio for _, ratio in ratios], default=1.0)
    if best >= _CLEARLY and several:
        return "vllm", N_(
            "Measured on this computer: vLLM writes {best} times as much at once.",
            best=f"{best:.1f}",
        )
    if best >= _CLEARLY:
        words = N_(
            "Measured on this computer: vLLM writes {best} times as fast for one chat.",
            best=f"{best:.1f}",
        )
        return "vllm", words
    less = 1 / best
    if less >= _CLEARLY and several:
        words = N_(
            "Measured on this computer: llama.cpp writes {less} times as much at once.",
            less=f"{less:.1f}",
        )
        return "llamacpp", words
    if less >= _CLEARLY:
        words = N_(
            "Measured on this computer: llama.cpp is {less} times as fast for one chat.",
            less=f"{less:.1f}",
        )
        return "llamacpp", words
    return None


def _ratios(measured: Sequence[MeasuredSpeed]) -> list[tuple[str, float]]:
    """Return vLLM's speed divided by llama.cpp's, for each model measured on both."""
    speeds = {(m.engine, m.model, m.at_once): m.tokens_per_s for m in measured}
    return [
        (model, speed / other)
        for (engine, model, at_once), speed in speeds.items()
        if engine == "vllm" and speed and (other := speeds.get(("llamacpp", model, at_once)))
    ]


def _measured(measured: Sequence[MeasuredSpeed]) -> tuple[Row, ...]:
    """Return a row for each model and number of answers at once, without servers."""
    speeds = {(m.model, m.at_once, m.engine): m.tokens_per_s for m in measured}
    keys = dict.fromkeys(
        (model, at_once) for model, at_once, engine in speeds if engine != "remote"
    )

    def words(model: str, at_once: int, engine: EngineName) -> str:
        speed = speeds.get((model, at_once, engine))
        return N_("{speed} tokens a second", speed=f"{speed:,.0f}") if speed else N_("not measured")

    return tuple(
        Row(
            N_("{model}, {at_once} at once", model=model, at_once=at_once)
            if at_once > 1
            else N_("{model}, one user", model=model),
            words(model, at_once, "llamacpp"),
            words(model, at_once, "vllm"),
            measured=True,
        )
        for model, at_once in keys
    )


_COMPARISON: Final = (
    Row(N_("One user"), N_("as fast or faster"), N_("0.75 to 1 times as fast, others report")),
    Row(
        N_("16 users at once"),
        N_("side by side"),
        N_("1.5 to 2.6 times as much in all as llama.cpp's own server, others report"),
    ),
    Row(
        N_("Portability"),
        N_("any computer, with or without a card"),
        N_("Linux or WSL2, NVIDIA cards"),
    ),
    Row("Memory", N_("shares a model between card and RAM"), N_("the whole model on the card")),
    Row(
        N_("To get started"),
        N_("included; a model is ready in seconds"),
        N_("9 GB on disk; a minute or more"),
    ),
    Row("Models", N_("GGUF, one file, 2 to 8 bits"), N_("checkpoints, 4 to 16 bits, adapters")),
)
