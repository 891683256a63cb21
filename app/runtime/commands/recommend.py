"""`hearth recommend`: recommends models for this computer, with the reason and the memory sum."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output, size, table
from app.models.discover.values.recommend import Pick, Recommendation
from app.models.discover.values.recommend_words import speed_words
from app.runtime.services.choice import NAMES
from app.runtime.values.advice import Advice
from engines.cancel import CancelToken
from engines.sentences import N_

if TYPE_CHECKING:
    from app.wiring.app import App

_KINDS = ("default", "faster", "smarter")
_TITLES = {"default": "Suggested", "faster": "Faster", "smarter": "Smarter"}


def recommend(app: App, args: argparse.Namespace, out: Output) -> int:
    """Print the recommendation and the advice on engines."""
    if args.refresh:
        done = app.recommending.refresh(
            CancelToken(),
            lambda share: out.rewrite(N_("Asking the Hub: {share}", share=f"{share:.0%}")),
        )
        out.rewrite("")
        for repo, why in done.missing:
            out.note(N_("{repo} could not be refreshed: {why}", repo=repo, why=why))
    found = app.recommending.recommend()
    advice = app.choice.advise()
    out.value(
        {**_as_value(found), "engine": asdict(advice)},
        lambda: f"{_in_words(found)}\n\n{_engine_in_words(app, found, advice)}",
    )
    return 0


def _as_value(found: Recommendation) -> dict[str, Any]:
    value: dict[str, Any] = {kind: _pick_value(getattr(found, kind)) for kind in _KINDS}
    return {**value, "note": found.note}


def _pick_value(pick: Pick | None) -> dict[str, Any] | None:
    if pick is None:
        return None
    speed = {"tokens_per_s": round(pick.tokens_per_s, 1), "at_least": pick.speed.at_least}
    speed |= {"low": round(pick.speed.low, 1), "high": round(pick.speed.high, 1)}
    licence = {"name": pick.licence.name, "account": pick.licence.account}
    return {
        **asdict(pick),
        "speed": speed,
        "licence": {**licence, "note": pick.licence.note},
        "command": pick.command,
    }


def _engine_in_words(app: App, found: Recommendation, advice: Advice) -> str:
    lines = [f"Engine: {NAMES[advice.engine]}. {' '.join(advice.reasons)}"]
    lines += [
        N_(
            "  {topic}: llama.cpp {llamacpp}; vLLM {vllm}",
            topic=row.topic,
            llamacpp=row.llamacpp,
            vllm=row.vllm,
        )
        for row in advice.rows
        if row.measured
    ]
    size = app.recommending.catalogue().sizes.get(found.default.size_id) if found.default else None
    other = app.choice.checkpoint_of(size) if size and advice.engine == "vllm" else None
    if other is not None:
        lines.append(
            N_(
                "  For vLLM: {repo}, {label}. {price}",
                repo=other.repo,
                label=other.label,
                price=other.price,
            )
        )
    return "\n".join(lines)


def _in_words(found: Recommendation) -> str:
    blocks = [
        _block(_TITLES[kind], pick) for kind in _KINDS if (pick := getattr(found, kind)) is not None
    ]
    return "\n\n".join([*blocks, found.note] if found.note else blocks)


def _block(title: str, pick: Pick) -> str:
    about = "about " if pick.about else ""
    rows = [
        ("Memory", _sum(pick)),
        (
            "Speed",
            N_("{speed}, on the {device}", speed=speed_words(pick.speed), device=pick.device),
        ),
        (
            "Disk",
            N_(
                "{about}{disk_bytes}{words}",
                about=about,
                disk_bytes=size(pick.disk_bytes),
                words="" if pick.disk_fits else N_(", not free now"),
            ),
        ),
        ("Licence", _licence(pick)),
        ("MTP", pick.mtp),
        *([("Sees", _projector(pick))] if pick.projector_bytes else []),
        (N_("Download it"), pick.command),
    ]
    lines = table([(f"  {name}", text) for name, text in rows])
    return f"{title}: {pick.name}, {pick.variant}\n  {pick.sentence}\n{lines}"


def _projector(pick: Pick) -> str:
    more = N_(
        "about {projector_bytes} more to download", projector_bytes=size(pick.projector_bytes)
    )
    return N_("pictures, with its projector: {more}; without it with --no-projector", more=more)


def _sum(pick: Pick) -> str:
    parts = pick.parts
    named = (
        ("weights", parts.weights),
        (N_("context of {context} tokens", context=f"{pick.context:,}"), parts.kv),
        ("computing", parts.compute),
        ("drafter", parts.drafter),
    )
    terms = " + ".join(f"{name} {size(bytes_)}" for name, bytes_ in named if bytes_)
    return N_(
        "{terms} = {need} of {have} free; {in_use} are in use ({verdict})",
        terms=terms,
        need=size(pick.need),
        have=size(pick.have),
        in_use=size(pick.in_use),
        verdict=pick.verdict,
    )


def _licence(pick: Pick) -> str:
    account = N_("; needs an account on the Hub") if pick.licence.account else ""
    return f"{pick.licence.name}{account}{'. ' + pick.licence.note if pick.licence.note else ''}"


COMMAND = Command(
    "recommend",
    "recommend a model for this computer, with the reason and the memory that it takes",
    recommend,
    (
        Argument(
            "--refresh", "ask the Hub for the exact sizes of the files first", action="store_true"
        ),
    ),
)
