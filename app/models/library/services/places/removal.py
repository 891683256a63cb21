"""Plans and carries out the deletion of a model's files."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from app.base.errors import TrashFailed
from engines.sentences import N_


@dataclass(frozen=True)
class Removal:
    """The plan for deleting a model.

    Attributes:
        trash: Files that move to the trash.
        links: Links to delete, which have no bytes of their own.
        frees: Bytes that emptying the trash will free.
        repository: Its folder in the Hub's cache, which is deleted if nothing is left in it.
    """

    trash: tuple[Path, ...]
    links: tuple[Path, ...] = ()
    frees: int = 0
    repository: Path | None = None


def of_files(files: Iterable[Path]) -> Removal:
    """Plan the removal of files outside of a cache."""
    present = tuple(path for path in files if path.is_file())
    return Removal(present, frees=sum(_freed(path) for path in present))


def of_hub_files(files: Iterable[Path], cache: Path) -> Removal:
    """Plan a removal from the Hub's cache: the links in all snapshots, and the blobs left unused.

    Args:
        files: The paths of the files in one snapshot.
    """
    trash: dict[Path, None] = {}
    links: dict[Path, None] = {}
    repository: Path | None = None
    for file in files:
        repository = cache / file.relative_to(cache).parts[0]
        snapshots = repository / "snapshots"
        name = Path(*file.relative_to(snapshots).parts[1:])
        same = [commit / name for commit in snapshots.iterdir() if _same_file(commit / name, file)]
        for link in same:
            if link.is_symlink():
                links[link] = None
            else:
                trash[link] = None  # without links, the snapshot itself holds the bytes
        if file.is_symlink():
            blob = file.parent / file.readlink()
            other_links = [
                link for link in snapshots.rglob("*") if link not in links and link.is_symlink()
            ]
            if not any(_same_file(other, blob) for other in other_links):
                # A blob that is a link leads to bytes that repositories share, which stay.
                (links if blob.is_symlink() else trash)[blob.parent.resolve() / blob.name] = None
    frees = sum(_freed(path) for path in trash)
    return Removal(tuple(trash), tuple(links), frees, repository)


def remove(removal: Removal) -> None:
    """Carry out a plan; links are deleted only once the bytes are in the trash.

    Raises:
        TrashFailed: A file could not be moved to the trash.
    """
    from send2trash import send2trash

    for path in removal.trash:
        try:
            send2trash(str(path))
        except OSError as error:
            raise TrashFailed(
                N_("“{name}” could not be moved to the trash.", name=path.name),
                N_("The system says: {strerror}.", strerror=error.strerror or error),
                N_(
                    "Close what uses the file, or delete it by hand: it is in {folder}.",
                    folder=path.parent,
                ),
            ) from error
    for link in removal.links:
        link.unlink(missing_ok=True)
    if removal.repository is not None:
        with contextlib.suppress(FileNotFoundError):  # another program can clean up meanwhile
            _tidy(removal.repository)


def _tidy(repository: Path) -> None:
    """Remove empty snapshots that no branch points to, and the repository if nothing is left."""
    snapshots, blobs = repository / "snapshots", repository / "blobs"
    for folder in sorted(
        (folder for folder in snapshots.rglob("*") if folder.is_dir()), reverse=True
    ):
        if folder.parent != snapshots and not any(folder.iterdir()):
            folder.rmdir()
    used = {_text(path) for path in (repository / "refs").rglob("*") if path.is_file()}
    commits = [commit for commit in snapshots.iterdir() if commit.is_dir()]
    not_empty = [commit for commit in commits if any(commit.iterdir())]
    if not not_empty and not (blobs.exists() and any(blobs.iterdir())):
        shutil.rmtree(repository)
        return
    for commit in commits:
        if commit not in not_empty and commit.name not in used:
            commit.rmdir()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace").strip()


def _same_file(first: Path, second: Path) -> bool:
    with contextlib.suppress(OSError):
        return first.samefile(second)
    return False


def _freed(path: Path) -> int:
    """Return how many bytes deleting a file frees: 0 while another name has the same bytes."""
    facts = path.lstat()
    return facts.st_size if facts.st_nlink == 1 else 0
