"""The data folder, and the paths of the user's files in it."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from app.base.errors import AppError, DataFolderReadOnly, DiskFull, NotADataFolder
from app.base.home import expand_home
from app.base.recognition import contents, is_data_folder, is_own_file, mark
from engines.private import close_to_others, make_private_folder, replace_text, walk
from engines.sentences import N_
from engines.text import amount

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The codes of the system's errors for a disk, or a user's share of it, that is full."""

FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
"""The codes of the system's errors for a place that must not be written to."""

_ROOM = 256 * 1024
"""The number of bytes written to test for free space.

It is more than deleting a chat needs meanwhile.
"""


@dataclass(frozen=True)
class DataFolder:
    """The paths in one data folder, which `prepare` creates."""

    root: Path

    @staticmethod
    def default() -> DataFolder:
        """Return HEARTH_DATA_DIR if it is set and not empty, else the system's usual folder."""
        from_environment = os.environ.get("HEARTH_DATA_DIR", "")
        if from_environment.strip():
            return DataFolder(expand_home(from_environment).absolute())
        import platformdirs

        return DataFolder(platformdirs.user_data_path("hearth", appauthor=False))

    @property
    def database(self) -> Path:
        """The database of chats."""
        return self.root / "chats.db"

    @property
    def search(self) -> Path:
        """The search index, which can be rebuilt from the chats."""
        return self.root / "search.db"

    @property
    def snapshots(self) -> Path:
        """The folder of daily copies of the database."""
        return self.root / "snapshots"

    @property
    def settings(self) -> Path:
        """The file of the settings that differ from their defaults."""
        return self.root / "settings.json"

    @property
    def models(self) -> Path:
        """The folder of downloaded models."""
        return self.root / "models"

    @property
    def engines(self) -> Path:
        """The folder of vLLM's environments."""
        return self.root / "engines" / "vllm"

    @property
    def packs(self) -> Path:
        """The folder of packs: parts of llama.cpp for graphics cards that come separately."""
        return self.root / "engines" / "llamacpp" / "packs"

    @property
    def states(self) -> Path:
        """The folder of saved KV caches, with which chats continue without delay."""
        return self.root / "states"

    @property
    def attachments(self) -> Path:
        """The folder of the copies of attached files."""
        return self.root / "attachments"

    @property
    def knowledge(self) -> Path:
        """The folder of the collections' indexes, which can be rebuilt from the files."""
        return self.root / "knowledge"

    @property
    def headers(self) -> Path:
        """The folder of model headers read from the Hub; it contains no data of the user."""
        return self.root / "headers"

    @property
    def logs(self) -> Path:
        """The folder of the log and the crash reports."""
        return self.root / "logs"

    def prepare(self) -> None:
        """Create missing folders, for their owner only, and check that Hearth can write.

        Raises:
            NotADataFolder: The folder belongs to something else.
            DataFolderReadOnly: The system does not allow writing there.
            DiskFull: The disk has no free space.
        """
        with as_user_errors(self.root):
            self.require_own()
            make_private_folder(self.root)
            mark(self.root)
            for folder in (self.models, self.logs):
                # The part that uses the folder reports the file that is in its way.
                with suppress(FileExistsError):
                    make_private_folder(folder)
            self.close_to_others()
            with tempfile.TemporaryFile(dir=self.root) as probe:
                probe.write(b"\0" * _ROOM)
                probe.flush()

    def require_own(self) -> None:
        """Refuse a folder that contains other files and none of Hearth's; change nothing.

        Raises:
            NotADataFolder: It is such a folder.
            OSError: The folder cannot be listed.
        """
        if not self.root.is_dir() or is_data_folder(self.root):
            return
        names = sorted(entry.name for entry in contents(self.root))
        raise NotADataFolder(
            N_("{root} is not a data folder of Hearth’s.", root=self.root),
            N_(
                "It holds other files, such as “{names}”, and Hearth would close its data folder "
                "to "
                "all other accounts. Nothing in it was changed.",
                names=names[0],
            ),
            N_("Choose an empty folder, or one that does not exist yet."),
            terminal=N_(
                "Name an empty or a new folder, such as {root}, with --data-dir or "
                "HEARTH_DATA_DIR.",
                root=self.root / "hearth",
            ),
        )

    def free_space(self) -> None:
        """Delete files that can be created again, so that chats can be deleted on a full disk."""
        shutil.rmtree(self.headers, ignore_errors=True)
        shutil.rmtree(self.states, ignore_errors=True)
        for file in self.root.glob(f"{self.search.name}*"):
            with suppress(OSError):
                file.unlink()

    def close_to_others(self) -> list[Path]:
        """Close Hearth's files to other accounts; return those that others may still read.

        The data folder comes first: without access to it, nobody can reach its contents. So the
        files of an engine's environment, tens of thousands without personal data, are left as they
        are. Everything that is not Hearth's is left alone too: other files in the folder, and the
        targets of links; only the data folder itself may be a link.

        Raises:
            NotADataFolder: The folder belongs to something else.
            OSError: The folder cannot be listed.
        """
        self.require_own()
        root = self.root.resolve()
        own = DataFolder(root)
        inside = (path for folder in own._own_folders() for path in (folder, *walk(folder)))
        try:
            files = [Path(entry.path) for entry in os.scandir(root) if is_own_file(entry.name)]
        except OSError:
            files = []  # code that needs these files reports the error
        parents = [
            folder
            for folder in (own.engines.parent, own.engines)
            if not _is_elsewhere(folder, root)
        ]
        places = (root, *files, *parents, *inside)
        return [path for path in places if not close_to_others(path)]

    def _own_folders(self) -> Iterator[Path]:
        """Yield the folders whose whole content is Hearth's."""
        folders = (self.logs, self.models, self.snapshots, self.headers, self.states)
        others = (self.attachments, self.knowledge, self.root / "requests", self.engines / "run")
        yield from (
            folder for folder in (*folders, *others) if not _is_elsewhere(folder, self.root)
        )


def _is_elsewhere(path: Path, root: Path) -> bool:
    """Return whether a path below the root is a link, or is reached through one."""
    return any(part.is_symlink() for part in (path, *path.parents) if root in part.parents)


def read_file(path: Path, most_bytes: int) -> bytes:
    """Read a file that another program may have written.

    It neither waits for something else under that name, such as a pipe, nor reads a larger file.

    Raises:
        OSError: The file cannot be opened or read.
        ValueError: It is not a regular file, or larger than `most_bytes`.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    status = os.fstat(handle)
    if stat.S_ISDIR(status.st_mode):
        os.close(handle)
        raise ValueError(N_("it is a folder"))
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(N_("it is no file"))
        if status.st_size > most_bytes:
            raise ValueError(
                N_("it has {size}, far more than it should", size=amount(status.st_size))
            )
        return file.read(most_bytes)


def write_atomically(path: Path, text: str) -> None:
    """Replace a file, for its owner only; if that fails, the old file stays.

    Raises:
        DataFolderReadOnly: The system does not allow writing there.
        DiskFull: The disk has no free space.
    """
    with as_user_errors(path.parent):
        replace_text(path, text)


@contextmanager
def as_user_errors(
    place: Path,
    *,
    full: DiskFull | None = None,
    do: str = "",
    refused: type[AppError] = DataFolderReadOnly,
    failed: type[AppError] = AppError,
) -> Iterator[None]:
    """Turn the system's errors on writing at `place` into errors for the user.

    Args:
        place: The file or folder.
        full: The error for a disk without free space; None for that of `disk_full`.
        do: The advice for the other errors; by default that for the data folder.
        refused: The class of the error if the system does not allow writing.
        failed: The class of any other error.
    """
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise (full or disk_full(place)) from error
        is_refused = error.errno in (*FORBIDDEN, errno.ENOTDIR, errno.EEXIST)
        raise (refused if is_refused else failed)(
            N_("Hearth cannot write to {place}.", place=place),
            N_("The system does not allow writing there, so nothing could be saved.")
            if is_refused
            else N_("The system says: {strerror}.", strerror=error.strerror or error),
            do or N_("Check the disk and allow writing to that folder, or choose another."),
            terminal=do
            or N_(
                "Check the disk and allow writing to that folder, or choose another; the data "
                "folder is chosen with --data-dir."
            ),
        ) from error


def disk_full(place: Path) -> DiskFull:
    """Make the error for a disk without free space."""
    return DiskFull(
        N_("The disk is full."),
        N_("There is no room left to save to {place}; what was saved before is safe.", place=place),
        N_("Free some space, then try again."),
    )
