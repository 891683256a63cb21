"""`hearth models search` and `show owner/name`: models on the Hub, and their variants."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from app.base.errors import RepositoryUnknown
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output, size, table
from app.models.discover.services.choices import choices_of, most_parameters
from app.models.discover.values.offers import Choice
from app.models.hub.repository import IncompleteModel, choose
from app.models.hub.values.hub import Query, RepoFile, Repository, SearchResult
from app.models.hub.values.names import hub_name
from app.models.hub.values.tags import drafts_ahead
from app.models.library.values.quantisations import same_label
from engines.memory.fit import Verdict
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from app.wiring.app import App

_VERDICTS: dict[Verdict, str] = {
    "fits": N_("fits"),
    "tight": N_("tight"),
    "partial": N_("fits partly"),
    "no": N_("too large"),
}


def search_models(app: App, args: argparse.Namespace, out: Output) -> int:
    """Search the Hub; return the exit status."""
    query = Query(
        words=" ".join(args.what),
        sort=args.sort,
        mtp=args.mtp,
        licence=args.licence,
        most_parameters=most_parameters(_free_memory(app)) if args.fits else None,
        limit=args.limit,
    )
    results = app.hub.search(query)
    none = N_("Nothing was found. Fewer words or filters find more.")
    out.value(
        [_listed(result) for result in results],
        lambda: table([_row(result) for result in results]) or none,
    )
    return 0


def show_repository(app: App, args: argparse.Namespace, out: Output) -> int:
    """Show a repository, or only the quantisation or file named with :QUANT or /file.gguf.

    Returns:
        The exit status.
    """
    name = hub_name(args.what)
    repository = app.hub.repository(name.repo, name.revision or "main")
    choices = choices_of(repository, app.fitting.quick)
    choices_shown = [
        choice for choice in choices if _is_requested(choice, name.quantisation, name.file)
    ]
    if not choices_shown and choices:
        raise RepositoryUnknown(
            N_("“{what}” is not in the repository.", what=args.what),
            N_(
                "The repository has {choices}.",
                choices=", ".join(choice.variant.label for choice in choices),
            ),
            N_("`hearth models show {id}` lists them with their sizes.", id=repository.id),
        )
    card = app.hub.card(repository)
    out.value(
        _described(repository, choices_shown, card),
        lambda: _in_words(repository, choices_shown, card),
    )
    return 0


def _is_requested(choice: Choice, quantisation: str | None, file: str | None) -> bool:
    if quantisation is not None:
        return same_label(choice.variant.label, quantisation)
    return file is None or any(part.path == file for part in choice.variant.files)


def _free_memory(app: App) -> int:
    """Return the free memory of graphics cards and computer together, in bytes."""
    found = app.detect_hardware()
    cards = sum(gpu.free_bytes or 0 for gpu in found.gpus if gpu.usable and not gpu.integrated)
    return found.memory.available_bytes + cards


def _listed(result: SearchResult) -> dict[str, Any]:
    return {
        "repo": result.id,
        "downloads": result.downloads,
        "likes": result.likes,
        "updated": result.updated,
        "licence": result.licence,
        "gated": result.gate != "open",
        "parameters": result.parameters,
        "mtp": drafts_ahead(result.id, result.tags),
    }


def _row(result: SearchResult) -> tuple[str, ...]:
    parameters = f"{result.parameters / 1e9:.1f}B" if result.parameters else ""
    marks = [
        mark
        for mark, is_so in (
            ("MTP", drafts_ahead(result.id, result.tags)),
            (N_("needs an account"), result.gate != "open"),
        )
        if is_so
    ]
    return (
        result.id,
        parameters,
        N_("{count} downloads", count=f"{result.downloads:,}"),
        _day(result.updated),
        result.licence or "",
        joined(", ", marks),
    )


def _described(repository: Repository, choices: list[Choice], card: str) -> dict[str, Any]:
    best = next((choice for choice in choices if choice.recommended), None)
    return {
        "repo": repository.id,
        "revision": repository.revision,
        "licence": repository.licence,
        "gated": repository.gate != "open",
        "variants": [
            {
                "label": choice.variant.label,
                "files": [file.path for file in choice.variant.files],
                "size_bytes": choice.variant.size_bytes,
                "quality": choice.quality,
                "fits": choice.fits,
            }
            for choice in choices
        ],
        "recommended": best.variant.label if best else None,
        "drafter": _path(best.drafter if best else repository.drafter),
        "left_out": [asdict(incomplete) for incomplete in _left_out(repository)],
        "card": card,
    }


def _left_out(repository: Repository) -> tuple[IncompleteModel, ...]:
    return choose(repository.files, repository.id).left_out


def _path(file: RepoFile | None) -> str | None:
    return file.path if file else None


def _in_words(repository: Repository, choices: list[Choice], card: str) -> str:
    facts = [
        repository.licence or N_("no licence given"),
        N_("{count} downloads", count=f"{repository.downloads:,}"),
        N_("changed {day}", day=_day(repository.updated)) if repository.updated else "",
        N_("needs an account that has accepted the licence") if repository.gate != "open" else "",
    ]
    rows = [
        (
            choice.variant.label,
            size(choice.variant.size_bytes),
            choice.quality,
            _VERDICTS[choice.fits],
            N_("recommended") if choice.recommended else "",
        )
        for choice in choices
    ]
    best = next((choice for choice in choices if choice.recommended), None)
    drafter = best.drafter if best else repository.drafter
    lines = [
        N_("Left out: {name}. {why}", name=incomplete.name, why=incomplete.why)
        for incomplete in _left_out(repository)
    ]
    if drafter:
        words = N_("Drafter: {path}, {size}", path=drafter.path, size=size(drafter.size))
        lines.insert(0, words)
    parts = (
        joined("\n", (repository.id, joined(" · ", facts))),
        table(rows) or N_("It has no GGUF model that Hearth could load."),
        joined("\n", lines),
        card,
    )
    return joined("\n\n", parts)


def _day(seconds: float | None) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d") if seconds else ""


SEARCH = Command(
    "search",
    "search the Hugging Face Hub for models",
    search_models,
    (
        Argument("what", "the words to search for", metavar="WORDS", nargs="+"),
        Argument(
            "--sort",
            "the order of the results; by default the most downloaded first",
            choices=("downloads", "likes", "updated", "name"),
            default="downloads",
        ),
        Argument("--fits", "only models that fit this computer", action="store_true"),
        Argument("--mtp", "only models with multi-token prediction (MTP)", action="store_true"),
        Argument("--licence", "only those under this licence, such as apache-2.0", metavar="NAME"),
        Argument(
            "--limit",
            "at most N models, 1 to 100; by default 20",
            type=int,
            choices=range(1, 101),
            default=20,
            metavar="N",
        ),
    ),
)
