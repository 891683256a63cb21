"""`hearth models fit`: shows whether a model fits the memory, and the sum behind it."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.base.errors import ModelUnknown
from app.kit.terminal.arguments import REVISION, USUAL
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output, labelled, number, size
from app.models.downloads.values.requests import checkpoint_request
from app.models.hub.repository import choose
from app.models.hub.values.hub import RepoFile, Repository, Variant
from app.models.hub.values.names import HubName, hub_name, is_hub_name
from app.models.library.services.fitting import FitReport, projector_file
from app.models.library.services.load_options import load_options_of
from app.models.library.values.entry import ModelEntry
from app.models.library.values.load_records import LoadRecord
from app.models.library.values.quantisations import best_variant, same_label
from app.settings.values.fields import Settings
from engines.memory.fit import Parts
from engines.memory.load_options import LoadOptions
from engines.models.gguf.header import read_header
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from app.wiring.app import App

_PARTS = {
    "weights": N_("Weights"),
    "kv": N_("KV cache"),
    "compute": N_("Computing"),
    "drafter": N_("Drafting ahead"),
    "projector": N_("Projector"),
}
_VERDICTS = {
    "fits": N_("fits: {reason}"),
    "tight": N_("tight: {reason}"),
    "partial": N_("partial: {reason}"),
    "no": N_("no: {reason}"),
}


def fit_model(app: App, args: argparse.Namespace, out: Output) -> int:
    """Carry out the command; return the exit status.

    Raises:
        UserError: The model cannot be found or judged.
    """
    settings = app.settings.read()
    try:
        entry = app.library.find(args.what)
    except ModelUnknown:
        if not is_hub_name(args.what):
            raise
        entry = None
    if entry is None or (is_hub_name(args.what) and entry.files and not entry.path.exists()):
        report = _on_hub(app, hub_name(args.what), settings, args)
    else:
        effective_settings = app.library.effective(entry, settings)
        load_options = _with_arguments(load_options_of(effective_settings, entry.engine), args)
        report = app.runtime.judge(entry, load_options)
    out.value(_described(report), lambda: _in_words(report))
    return 0


def _with_arguments(load_options: LoadOptions, args: argparse.Namespace) -> LoadOptions:
    return replace(
        load_options,
        context=load_options.context if args.context is None else args.context,
        kv_type=args.kv_type or load_options.kv_type,
    )


def _on_hub(app: App, name: HubName, settings: Settings, args: argparse.Namespace) -> FitReport:
    """Judge a model by the headers of its files, which are kept as sparse files in a folder."""
    repository = app.hub.repository(name.repo, name.revision or args.revision)

    def headers(files: tuple[RepoFile, ...]) -> Path:
        return app.hub.headers(repository, Variant("", files), app.folder.headers)

    checkpoint = checkpoint_request(repository)
    if checkpoint is not None and not repository.variants:
        files_to_read = (
            file
            for file in checkpoint.files
            if file.path == "config.json" or file.path.endswith(".safetensors")
        )
        entry = ModelEntry(
            name.repo, name.repo, headers(tuple(files_to_read)).parent, engine="vllm"
        )
        return app.runtime.judge(entry, _with_arguments(load_options_of(settings, "vllm"), args))
    variant = _variant(app, repository, name)
    chosen = choose(repository.files, repository.id)
    drafter = chosen.drafter_for(variant)
    model = headers(variant.files)
    load_options = _with_arguments(load_options_of(settings), args)
    drafter_headers = headers((drafter,)) if drafter else None
    # Judge the projector that `hearth models pull` would download.
    file = chosen.projector_for(variant) if app.projectors.of_repo(name.repo) else None
    projector = projector_file(headers((file,))) if file else None
    return app.fitting.report(
        model, read_header(model), load_options, drafter_headers, projector=projector
    )


def _variant(app: App, repository: Repository, name: HubName) -> Variant:
    """Return the variant that the name asks for, or the one that suits this computer.

    Raises:
        ModelUnknown: The repository has no such variant.
    """
    matching = [
        variant
        for variant in repository.variants
        if (name.quantisation is None or same_label(variant.label, name.quantisation))
        and (name.file is None or name.file in (file.path for file in variant.files))
    ]
    chosen = best_variant(matching, lambda variant: app.fitting.quick(variant.size_bytes))
    if chosen is None and matching:
        chosen = matching[0]
    if chosen is None:
        available = ", ".join(variant.label for variant in repository.variants) or N_(
            "none that can be run"
        )
        raise ModelUnknown(
            N_("{repo} has no such model.", repo=name.repo),
            N_("It offers these quantisations: {available}.", available=available),
            N_("Choose one of them, as owner/name:QUANT."),
        )
    return chosen


def _described(report: FitReport) -> dict[str, Any]:
    last = report.last
    fit = asdict(report.fit)
    del fit["split"]
    return {
        **fit,
        "parts": asdict(report.fit.parts),
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
        (N_("Needed"), size(fit.need_bytes)),
        (N_("Free"), N_("{size} on {device}", size=size(fit.have_bytes), device=fit.device)),
        (
            N_("Context"),
            N_(
                "{context} tokens, KV cache {kv_type}",
                context=f"{fit.context:,}",
                kv_type=report.plan.kv_type,
            ),
        ),
        (N_("Figures"), N_("llama.cpp's own") if report.exact else N_("estimated")),
    ]
    if (last := report.last) is not None:
        figures = N_(
            "{predicted_bytes} expected, {real_bytes} taken",
            predicted_bytes=size(last.predicted_bytes),
            real_bytes=size(last.real_bytes),
        )
        error = number(f"{last.error:+.1%}")
        rows.append((N_("Last load"), N_("{figures}: {error}", figures=figures, error=error)))
    verdict = N_(_VERDICTS[fit.verdict], reason=fit.reason)
    sentences = joined("\n", (verdict, *report.sentences[1:]))
    return joined("\n\n", (sentences, labelled(rows)))


FIT = Command(
    "fit",
    "check whether a model fits into the memory, and show the sum",
    fit_model,
    (
        Argument(
            "what",
            "a model here, or on the Hub: owner/name, owner/name:QUANT or owner/name/file.gguf",
            metavar="M",
            offers="models",
        ),
        REVISION,
        Argument(
            "--context",
            "the context in tokens; otherwise as the model would be loaded",
            type=int,
            metavar="N",
        ),
        Argument(
            "--kv-type",
            f"the precision of the KV cache; {USUAL}, at first f16",
            choices=("f16", "q8_0", "q4_0"),
        ),
    ),
)
