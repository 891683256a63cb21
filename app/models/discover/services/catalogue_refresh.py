"""Asks the Hub for the real files of the catalogue's repositories, and stores the answers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.base.errors import AppError, GatedRepository, RepositoryUnknown
from app.base.folder import read_file, write_atomically
from app.models.hub.values.hub import Repository
from engines.cancel import CancelToken
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from app.models.discover.values.catalogue_sizes import KnownRepositories
    from app.models.hub.client import Hub

_MOST_BYTES: Final = 64_000_000

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RefreshResult:
    """The result of a refresh.

    Attributes:
        described: Repositories that the Hub described.
        missing: The other repositories, each with the reason.
    """

    described: tuple[str, ...]
    missing: tuple[tuple[str, str], ...]


class RepositoryBook:
    """The file that stores the answers; an unreadable file counts as empty."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> KnownRepositories:
        """Return the stored answers; empty if there are none or they cannot be read."""
        from app.models.discover.values.catalogue_sizes import KnownRepositories

        try:
            return KnownRepositories.model_validate_json(read_file(self._file, _MOST_BYTES))
        except FileNotFoundError:
            return KnownRepositories()
        except (OSError, ValueError) as error:
            logger.warning("what the Hub told before cannot be read: %s", error)
            return KnownRepositories()

    def add(self, repositories: dict[str, Repository]) -> None:
        """Add repositories, or replace them.

        Raises:
            DataFolderReadOnly, DiskFull
        """
        from app.models.discover.values.catalogue_sizes import KnownRepositories

        known = KnownRepositories(repositories={**self.read().repositories, **repositories})
        write_atomically(self._file, known.model_dump_json(indent=1) + "\n")


def refresh(
    hub: Hub,
    repos: Sequence[str],
    book: RepositoryBook,
    cancel: CancelToken,
    progress: Callable[[float], None] = lambda _: None,
) -> RefreshResult:
    """Ask for one repository after another; keep the stored facts of those that fail.

    A repository that is gone or needs an account does not stop the refresh; an error that would
    affect every repository does.

    Args:
        progress: Receives the share that is done, from 0 to 1.

    Raises:
        DataFolderReadOnly, DiskFull
    """
    repositories: dict[str, Repository] = {}
    missing: list[tuple[str, str]] = []
    for at, repo in enumerate(repos):
        progress(at / len(repos))
        if cancel.cancelled:
            missing += [(other, N_("It was stopped before its turn.")) for other in repos[at:]]
            break
        try:
            repositories[repo] = hub.repository(repo, purpose="refresh the catalogue")
        except (RepositoryUnknown, GatedRepository) as error:
            missing.append((repo, joined(" ", (error.what, error.why))))
        except AppError as error:
            missing += [(other, joined(" ", (error.what, error.why))) for other in repos[at:]]
            break
    progress(1.0)
    if repositories:
        book.add(repositories)
    return RefreshResult(tuple(repositories), tuple(missing))
