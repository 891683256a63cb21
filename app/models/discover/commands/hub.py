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
from app.models.hub.repository import Incomplete, choose
from app.models.hub.values.hub import Query, RepoFile, Repository, SearchResult
from app.models.hub.values.names import hub_name
from app.models.hub.values.tags import drafts_ahead
from app.models.library.values.quantisations import same_label
from engines.memory.fit import Verdict
from engines.sentences import N_, joined, word

if TYPE_CHECKING:
    from app.wiring.app import App

_VERDICTS: dict[Verdict, str] = {
    "fits": word("fits"),
    "tight": word("tight"),
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
    found = app.hub.search(query)
    none = N_("Nothing was found. Fewer words or filters find more.")
    out.value([_listed(it) for it in found], lambda: table([_row(it) for it in found]) or none)
    return 0


def show_repository(app: App, args: argparse.Namespace, out: Output) -> int:
    """Show a repository, or only the quantisation or file named with :QUANT or /file.gguf.

    Returns:
        The exit status.
    """
    name = hub_name(args.what)
    repository = app.hub.repository(name.repo, name.revision or "main")
    choices = choices_of(repository, app.fitting.quick)
    shown = [it for it in choices if _is_asked(it, name.quantisation, name.file)]
    if not shown and choices:
        raise RepositoryUnknown(
            N_("“{what}” is not there.", what=args.what),
            N_(
                "The repository has {choices}.",
                choices=", ".join(it.variant.label for it in choices),
            ),
            N_("`hearth models show {id}` lists them with their sizes.", id=repository.id),
        )
    card = app.hub.card(repository)
    out.value(_described(repository, shown, card), lambda: _in_words(repository, shown, card))
    return 0


def _is_asked(choice: Choice, quantisation: str | None, file: str | None) -> bool:
    if quantisation is not None:
        return same_label(choice.variant.label, quantisation)
    return file is None or any(it.path == file for it in choice.variant.files)


def _free_memory(app: App) -> int:
    """Return the free memory of graphics cards and computer together, in bytes."""
    found = app.detect_hardware()
    cards = sum(gpu.free_bytes or 0 for gpu in found.gpus if gpu.usable and not gpu.integrated)
    return found.memory.available_bytes + cards


def _listed(found: SearchResult) -> dict[str, Any]:
    return {
        "repo": found.id,
        "downloads": found.downloads,
        "likes": found.likes,
        "updated": found.updated,
        "licence": found.licence,
        "gated": found.gate != "open",
        "parameters": found.parameters,
        "mtp": drafts_ahead(found.id, found.tags),
    }


def _row(found: SearchResult) -> tuple[str, ...]:
    parameters = f"{found.parameters / 1e9:.1f}B" if found.parameters else ""
    marks = [
        mark
        for mark, is_so in (
            ("MTP", drafts_ahead(found.id, found.tags)),
            (N_("needs an account"), found.gate != "open"),
        )
        if is_so
    ]
    return (
        found.id,
        parameters,
        N_("{count} downloads", count=f"{found.downloads:,}"),
        _day(found.updated),
        found.licence or "",
        joined(", ", marks),
    )


def _described(repository: Repository, choices: list[Choice], card: str) -> dict[str, Any]:
    best = next((it for it in choices if it.recommended), None)
    return {
        "repo": repository.id,
        "revision": repository.revision,
        "licence": repository.licence,
        "gated": repository.gate != "open",
        "variants": [
            {
                "label": it.variant.label,
                "files": [file.path for file in it.variant.files],
                "size_bytes": it.variant.size_bytes,
                "quality": it.quality,
                "fits": it.fits,
            }
            for it in choices
        ],
        "recommended": best.variant.label if best else None,
        "drafter": _path(best.drafter if best else repository.drafter),
        "left_out": [asdict(it) for it in _left_out(repository)],
        "card": card,
    }


def _left_out(repository: Repository) -> tuple[Incomplete, ...]:
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
            it.variant.label,
            size(it.variant.size_bytes),
            it.quality,
            _VERDICTS[it.fits],
            word("recommended") if it.recommended else "",
        )
        for it in choices
    ]
    best = next((it for it in choices if it.recommended), None)
    drafter = best.drafter if best else repository.drafter
    along = [
        N_("Left out: {name}. {why}", name=it.name, why=it.why) for it in _left_out(repository)
    ]
    if drafter:
        words = N_("Drafter: {path}, {size}", path=drafter.path, size=size(drafter.size))
        along.insert(0, words)
    parts = (
        joined("\n", (repository.id, joined(" · ", facts))),
        table(rows) or N_("It has no GGUF model that Hearth could load."),
        joined("\n", along),
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
