"""`hearth models fit`: whether a model fits the memory, and the sum."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from app.cli.output import Output, size, table
from app.core.errors import ModelUnknown
from app.core.models.hub import RepoFile, Repository, Variant
from app.core.models.hub_names import HubName, hub_name, is_hub_name
from app.core.models.loads import LoadRecord
from app.core.models.quantisations import recommend, same_label
from app.hub.repository import choose
from app.services.engines.load_options import load_options_of
from app.services.models.checkpoint_fit import fit_of
from app.services.models.fitting import FitReport
from app.wiring import Core
from engines.memory.fit import Parts
from engines.memory.load_options import LoadOptions
from engines.models.gguf.header import read_header

_PARTS = {
    "weights": "Weights",
    "kv": "KV cache",
    "compute": "Computing",
    "drafter": "Drafting ahead",
    "projector": "Seeing pictures",
}


class _Files(NamedTuple):
    """Real files, or sparse ones with their headers only."""

    model: Path
    drafter: Path | None
    projector: Path | None


def fit_model(core: Core, args: argparse.Namespace, out: Output) -> int:
    """Carry out the command; returns the exit status. Raises UserError."""
    if (apart := _without_header(core, args)) is not None:
        out.value(_described(apart), lambda: _in_words(apart))
        return 0
    files, load_options = _found(core, args)
    load_options = replace(
        load_options,
        context=load_options.context if args.context is None else args.context,
        kv_type=args.kv_type or load_options.kv_type,
    )
    header = read_header(files.model)
    report = core.fitting.report(files.model, header, load_options, files.drafter, files.projector)
    out.value(_described(report), lambda: _in_words(report))
    return 0


def _without_header(core: Core, args: argparse.Namespace) -> FitReport | None:
    """Of a checkpoint here; None for all else. Raises NotAModel for a server's model."""
    try:
        entry = core.library.find(args.what)
    except ModelUnknown:
        return None
    if entry.engine == "llamacpp":
        return None
    load_options = load_options_of(
        core.library.effective(entry, core.settings.read()), entry.engine
    )
    load_options = replace(
        load_options,
        context=load_options.context if args.context is None else args.context,
        kv_type=args.kv_type or load_options.kv_type,
    )
    profile, depth = core.vllm.profile(), core.choice.depth_for(entry)
    return fit_of(entry, load_options, core.library.checkpoints, core.look(), profile, depth)


def _found(core: Core, args: argparse.Namespace) -> tuple[_Files, LoadOptions]:
    """The model's files, and how it would be loaded. What is not here is looked up on the Hub."""
    settings = core.settings.read()
    try:
        entry = core.library.find(args.what)
    except ModelUnknown:
        if not is_hub_name(args.what):
            raise
        entry = None
    if entry is None or (is_hub_name(args.what) and not entry.path.exists()):
        return _on_hub(core, hub_name(args.what), args.revision), load_options_of(settings)
    held = core.library.effective(entry, settings, {})
    return _Files(entry.path, entry.drafter, entry.projector), load_options_of(held)


def _on_hub(core: Core, name: HubName, revision: str) -> _Files:
    repository = core.hub.repository(name.repo, name.revision or revision)
    variant = _variant(core, repository, name)
    along = choose(repository.files, repository.id).along_with(variant)

    def headers(files: tuple[RepoFile, ...]) -> Path:
        return core.hub.headers(repository, Variant("", files), core.folder.headers)

    return _Files(
        headers(variant.files),
        headers((along.drafter,)) if along.drafter else None,
        headers((along.projector,)) if along.projector else None,
    )


def _variant(core: Core, repository: Repository, name: HubName) -> Variant:
    """The one that was named, or that suits this computer. Raises ModelUnknown."""
    found = [
        it
        for it in repository.variants
        if (name.quantisation is None or same_label(it.label, name.quantisation))
        and (name.file is None or name.file in (file.path for file in it.files))
    ]
    chosen = recommend(found, lambda it: core.fitting.quick(it.size_bytes))
    if chosen is None and found:
        chosen = found[0]
    if chosen is None:
        there = ", ".join(it.label for it in repository.variants) or "none that can be run"
        raise ModelUnknown(
            f"{name.repo} has no such model.",
            f"It offers these quantisations: {there}.",
            "Choose one of them, as owner/name:QUANT.",
        )
    return chosen


def _described(report: FitReport) -> dict[str, Any]:
    last = report.last
    return {
        **asdict(report.fit),
        "exact": report.exact,
        "last_load": _last(last) if last else None,
        "sentences": report.sentences,
    }


def _last(load: LoadRecord) -> dict[str, Any]:
    return {
        "predicted_bytes": load.predicted_bytes,
        "real_bytes": load.real_bytes,
        "error": load.error,
    }


def _in_words(report: FitReport) -> str:
    fit = report.fit
    parts: Parts = fit.parts
    rows = [(text, size(getattr(parts, name))) for name, text in _PARTS.items()]
    rows = [row for row, name in zip(rows, _PARTS, strict=True) if getattr(parts, name)]
    rows += [
        ("Needed", size(fit.need_bytes)),
        ("Free", f"{size(fit.have_bytes)} on {fit.device}"),
        ("Context", f"{fit.context:,} tokens, KV cache {report.plan.kv_type}"),
        ("Figures", "llama.cpp's own" if report.exact else "estimated"),
    ]
    if (last := report.last) is not None:
        figures = f"{size(last.predicted_bytes)} expected, {size(last.real_bytes)} taken"
        rows.append(("Last load", f"{figures}: {last.error:+.1%}"))
    sentences = [f"{fit.verdict}: {fit.reason}", *report.sentences[1:]]
    return "\n".join([*sentences, "", table(rows)])
