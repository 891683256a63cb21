"""`hearth recommend`: recommends models for this computer, with the reason and the memory sum."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output, labelled, size
from app.models.discover.values.recommend import Pick, Recommendation
from app.models.discover.values.recommend_words import speed_words
from app.runtime.services.choice import NAMES
from app.runtime.values.advice import Advice
from engines.cancel import CancelToken
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from app.wiring.app import App

_KINDS = ("default", "faster", "smarter")
_TITLES = {
    "default": N_("Suggested: {name}, {variant}"),
    "faster": N_("Faster: {name}, {variant}"),
    "smarter": N_("Smarter: {name}, {variant}"),
}
_VERDICTS = {
    "fits": N_("fits"),
    "tight": N_("tight"),
    "partial": N_("partial"),
    "no": N_("too large"),
}


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
    advice = app.advisor.advise()
    out.value(
        {**_as_value(found), "engine": asdict(advice)},
        lambda: joined("\n\n", (*_blocks(found), _engine_in_words(app, found, advice))),
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
    lines = [
        N_(
            "Engine: {name}. {reasons}",
            name=NAMES[advice.engine],
            reasons=joined(" ", advice.reasons),
        )
    ]
    lines += [
        N_(
            "  {topic}: llama.cpp {llamacpp}; vLLM {vllm}",
            topic=N_(row.topic),
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
    return joined("\n", lines)


def _blocks(found: Recommendation) -> list[str]:
    blocks = [
        _block(_TITLES[kind], pick) for kind in _KINDS if (pick := getattr(found, kind)) is not None
    ]
    return [*blocks, found.note]


def _block(title: str, pick: Pick) -> str:
    device = N_(pick.device)
    disk = size(pick.disk_bytes)
    disk = N_("about {size}", size=disk) if pick.about else disk
    rows = [
        (N_("Memory"), _sum(pick)),
        (N_("Speed"), N_("{speed}, on the {device}", speed=speed_words(pick.speed), device=device)),
        (N_("Disk"), disk if pick.disk_fits else N_("{size}, not free now", size=disk)),
        (N_("Licence"), _licence(pick)),
        ("MTP", pick.mtp),
        *([(N_("Sees"), _projector(pick))] if pick.projector_bytes else []),
        (N_("Download it"), pick.command),
    ]
    head = N_(title, name=pick.name, variant=pick.variant)
    lines = [head, N_("  {sentence}", sentence=pick.sentence)]
    lines += [f"  {line}" for line in labelled(rows).split("\n")]
    return joined("\n", lines)


def _projector(pick: Pick) -> str:
    more = N_(
        "about {projector_bytes} more to download", projector_bytes=size(pick.projector_bytes)
    )
    return N_("pictures, with its projector: {more}; without it with --no-projector", more=more)


def _sum(pick: Pick) -> str:
    parts = pick.parts
    named = (
        (N_("weights {size}", size=size(parts.weights)), parts.weights),
        (
            N_(
                "context of {context} tokens {size}",
                context=f"{pick.context:,}",
                size=size(parts.kv),
            ),
            parts.kv,
        ),
        (N_("computing {size}", size=size(parts.compute)), parts.compute),
        (N_("drafter {size}", size=size(parts.drafter)), parts.drafter),
    )
    terms = joined(" + ", (term for term, bytes_ in named if bytes_))
    return N_(
        "{terms} = {need} of {have} free; {in_use} are in use ({verdict})",
        terms=terms,
        need=size(pick.need),
        have=size(pick.have),
        in_use=size(pick.in_use),
        verdict=_VERDICTS[pick.verdict],
    )


def _licence(pick: Pick) -> str:
    licence = pick.licence.name
    if pick.licence.account:
        licence = N_("{licence}; needs an account on the Hub", licence=licence)
    return joined(". ", (licence, pick.licence.note))


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
