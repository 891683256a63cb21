"""Turns a repository's name, as a user writes it, into the files to download: pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from app.base.errors import FileNotOnHub
from app.models.discover.services.choices import choices_of
from app.models.downloads.values.downloads import DownloadRequest
from app.models.downloads.values.requests import checkpoint_request
from app.models.hub.repository import RepositoryModels, choose
from app.models.hub.values.hub import RepoFile, Repository, Variant
from app.models.hub.values.names import HubName
from app.models.library.values.quantisations import same_label
from engines.memory.fit import Verdict
from engines.sentences import N_

_COMMIT = re.compile(r"[0-9a-f]{40}")


def request_of(
    repository: Repository,
    name: HubName,
    ref: str,
    quick: Callable[[int], Verdict],
    *,
    projector: bool = False,
) -> DownloadRequest:
    """Collect the files to download: a variant with its drafter, a checkpoint, or a single file.

    If the name has neither a quantisation nor a file, the recommended variant is taken; a
    repository without variants can give a checkpoint.

    Args:
        ref: The branch, tag or commit that led to the repository's revision.
        quick: Gives a first verdict on a model, from its size in bytes.
        projector: Whether to include the variant's projector, if there is one.

    Raises:
        FileNotOnHub: The repository does not have the file or quantisation.
    """
    chosen = choose(repository.files, repository.id)
    if name.file is None and name.quantisation is None and not chosen.variants:
        checkpoint = checkpoint_request(repository)
        if checkpoint is not None:
            return replace(checkpoint, ref=_ref(ref, repository))
    variant = _variant(repository, chosen, name, quick)
    if variant is None:
        file = next((file for file in repository.files if file.path == name.file), None)
        if file is None:
            raise _not_in_repository(repository, name)
        files: tuple[RepoFile, ...] = (file,)
        label = f"{repository.id} {file.path}"
    else:
        projector_file = chosen.projector_for(variant) if projector else None
        companions = (
            file for file in (chosen.drafter_for(variant), projector_file) if file is not None
        )
        files = (*variant.files, *companions)
        label = f"{repository.id} {variant.label}"
    return DownloadRequest(repository.id, repository.revision, files, label, _ref(ref, repository))


def _variant(
    repository: Repository, chosen: RepositoryModels, name: HubName, quick: Callable[[int], Verdict]
) -> Variant | None:
    """Return the variant that the name asks for; None if there is no such variant."""
    if name.file is not None:
        return next((variant for variant in chosen.variants if _holds(variant, name.file)), None)
    if name.quantisation is not None:
        quantisation = name.quantisation
        return next(
            (variant for variant in chosen.variants if same_label(variant.label, quantisation)),
            None,
        )
    choices = choices_of(repository, quick)
    best = next((variant.variant for variant in choices if variant.recommended), None)
    # If no variant would run well here, take the smallest: the user asked for this model by name.
    return best or (chosen.variants[0] if chosen.variants else None)


def _holds(variant: Variant, path: str) -> bool:
    return any(file.path == path for file in variant.files)


def _ref(ref: str, repository: Repository) -> str:
    """Return the branch or tag by which tools will look for the files.

    A commit, even a shortened one, is not a branch; for it, return the full commit.
    """
    return repository.revision if _COMMIT.fullmatch(ref) else ref


def _not_in_repository(repository: Repository, name: HubName) -> FileNotOnHub:
    requested = name.file or name.quantisation or N_("a GGUF file")
    available = ", ".join(variant.label for variant in repository.variants) or N_(
        "no GGUF file that is a model"
    )
    return FileNotOnHub(
        N_(
            "{repository} does not have {requested}.", repository=repository.id, requested=requested
        ),
        N_("It has {available}.", available=available),
        N_("Choose one of those."),
        terminal=f"`hearth models show {repository.id}` lists what it has, with sizes.",
    )
