"""Asks the Hub for the real files of the catalogue's repositories, and stores the answers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from app.base.errors import AppError, GatedRepository, RepositoryUnknown
from app.base.folder import read_file, write_whole
from app.models.hub.values.hub import Repository
from app.net.values.connections import Purpose
from engines.cancel import CancelToken

if TYPE_CHECKING:
    from app.models.discover.values.catalogue_sizes import KnownFiles, KnownRepository

_MOST_BYTES: Final = 64_000_000

logger = logging.getLogger(__name__)


class AsksRepository(Protocol):
    """The part of `app.models.hub.client.Hub` that is needed here."""

    def repository(
        self, repo: str, revision: str = "main", purpose: Purpose = "look at a model"
    ) -> Repository: ...


@dataclass(frozen=True)
class Refreshed:
    """The result of a refresh.

    Attributes:
        told: Repositories that the Hub described.
        missing: The other repositories, each with the reason.
    """

    told: tuple[str, ...]
    missing: tuple[tuple[str, str], ...]


class KnownFilesBook:
    """The file that stores the answers; an unreadable file counts as empty."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> KnownFiles:
        from app.models.discover.values.catalogue_sizes import KnownFiles

        try:
            return KnownFiles.model_validate_json(read_file(self._file, _MOST_BYTES))
        except FileNotFoundError:
            return KnownFiles()
        except (OSError, ValueError) as error:
            logger.warning("what the Hub told before cannot be read: %s", error)
            return KnownFiles()

    def write(self, known: KnownFiles) -> None:
        """Write the answers.

        Raises:
            DataFolderReadOnly, DiskFull
        """
        write_whole(self._file, known.model_dump_json(indent=1) + "\n")


def refresh(
    hub: AsksRepository,
    repos: Sequence[str],
    book: KnownFilesBook,
    cancel: CancelToken,
    progress: Callable[[float], None] = lambda _: None,
) -> Refreshed:
    """Ask for one repository after another; keep the stored facts of those that fail.

    A repository that is gone or needs an account does not stop the refresh; an error that would
    affect every repository does.

    Args:
        progress: Receives the share that is done, from 0 to 1.

    Raises:
        DataFolderReadOnly, DiskFull
    """
    from app.models.discover.values.catalogue_sizes import known_repository, updated

    told: dict[str, KnownRepository] = {}
    missing: list[tuple[str, str]] = []
    for at, repo in enumerate(repos):
        progress(at / len(repos))
        if cancel.cancelled:
            missing += [(it, "It was stopped before its turn.") for it in repos[at:]]
            break
        try:
            found = hub.repository(repo, purpose="refresh the catalogue")
            told[repo] = known_repository(found, time.time())
        except (RepositoryUnknown, GatedRepository) as error:
            missing.append((repo, f"{error.what} {error.why}"))
        except AppError as error:
            missing += [(it, f"{error.what} {error.why}") for it in repos[at:]]
            break
    progress(1.0)
    if told:
        book.write(updated(book.read(), told))
    return Refreshed(tuple(told), tuple(missing))
