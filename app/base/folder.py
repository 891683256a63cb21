"""The data folder: the places of the user's files in it."""

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
from app.base.home import from_home
from app.base.recognition import contents, is_data_folder, is_own_file, mark
from engines.private import below, close_to_others, make_private_folder, replace_text

_ROOM = 256 * 1024
"""Bytes that are taken and given back to see whether there is room: more than deleting a chat
takes in the meantime."""


@dataclass(frozen=True)
class DataFolder:
    """The paths in one data folder; nothing is created before `prepare`."""

    root: Path

    @staticmethod
    def default() -> DataFolder:
        """Return the system's place for it, or HEARTH_DATA_DIR unless that is unset or empty."""
        chosen = os.environ.get("HEARTH_DATA_DIR", "")
        if chosen.strip():
            return DataFolder(from_home(chosen).absolute())
        import platformdirs

        return DataFolder(platformdirs.user_data_path("hearth", appauthor=False))

    @property
    def database(self) -> Path:
        return self.root / "chats.db"

    @property
    def search(self) -> Path:
        """The search index; it can be made again from the chats."""
        return self.root / "search.db"

    @property
    def snapshots(self) -> Path:
        """The folder of daily copies of the database."""
        return self.root / "snapshots"

    @property
    def settings(self) -> Path:
        return self.root / "settings.json"

    @property
    def models(self) -> Path:
        return self.root / "models"

    @property
    def engines(self) -> Path:
        """The folder of vLLM's environments."""
        return self.root / "engines" / "vllm"

    @property
    def packs(self) -> Path:
        """The folder of packs: parts of llama.cpp for graphics cards that come apart from it."""
        return self.root / "engines" / "llamacpp" / "packs"

    @property
    def states(self) -> Path:
        """The folder of KV states, with which chats go on at once."""
        return self.root / "states"

    @property
    def attachments(self) -> Path:
        """The folder of copies of attached files."""
        return self.root / "attachments"

    @property
    def knowledge(self) -> Path:
        """The folder of the collections' indexes; they can be made again from the files."""
        return self.root / "knowledge"

    @property
    def headers(self) -> Path:
        """The folder of headers of models on the Hub that were looked at; nothing of the user's."""
        return self.root / "headers"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    def prepare(self) -> None:
        """Create what is missing, for its owner alone, and check that we may write.

        Raises NotADataFolder, DataFolderReadOnly or DiskFull.
        """
        with explained(self.root):
            self.require_own()
            make_private_folder(self.root)
            mark(self.root)
            for folder in (self.models, self.logs):
                # What lies in its way is told by who wants something in there.
                with suppress(FileExistsError):
                    make_private_folder(folder)
            self.close_to_others()
            with tempfile.TemporaryFile(dir=self.root) as probe:
                probe.write(b"\0" * _ROOM)
                probe.flush()

    def require_own(self) -> None:
        """Refuse a folder that holds files of others and none of Hearth's, and change nothing.

        Raises NotADataFolder, or OSError where the folder cannot be listed.
        """
        if not self.root.is_dir() or is_data_folder(self.root):
            return
        names = sorted(it.name for it in contents(self.root))
        raise NotADataFolder(
            f"{self.root} is not a data folder of Hearth’s.",
            f"It holds other files, such as “{names[0]}”, and Hearth would close its data folder "
            "to all other accounts. Nothing in it was changed.",
            "Choose an empty folder, or one that does not exist yet.",
            terminal=f"Name an empty or a new folder, such as {self.root / 'hearth'}, with "
            "--data-dir or HEARTH_DATA_DIR.",
        )

    def make_room(self) -> None:
        """Remove what can be made again, so that chats can be deleted on a full disk."""
        shutil.rmtree(self.headers, ignore_errors=True)
        shutil.rmtree(self.states, ignore_errors=True)
        for file in self.root.glob(f"{self.search.name}*"):
            with suppress(OSError):
                file.unlink()

    def close_to_others(self) -> list[Path]:
        """Take Hearth's files from other accounts; returns those that some may still read.

        The folder comes first: who cannot enter it has no way to what lies there. So the files of
        an engine's environment, tens of thousands that say nothing of anybody, are left as they
        are. So is everything that is not Hearth's: other files in the folder, and what a link
        leads to; only the data folder itself may be one.
        Raises NotADataFolder, or OSError where the folder cannot be listed.
        """
        self.require_own()
        root = self.root.resolve()
        own = DataFolder(root)
        inside = (path for folder in own._own() for path in (folder, *below(folder)))
        try:
            beside = [Path(it.path) for it in os.scandir(root) if is_own_file(it.name)]
        except OSError:
            beside = []  # whoever needs what is there says why it cannot be had
        above = [it for it in (own.engines.parent, own.engines) if not _is_elsewhere(it, root)]
        places = (root, *beside, *above, *inside)
        return [path for path in places if not close_to_others(path)]

    def _own(self) -> Iterator[Path]:
        """Yield Hearth's folders, of which everything in them is."""
        folders = (self.logs, self.models, self.snapshots, self.headers, self.states)
        more = (self.attachments, self.knowledge, self.root / "wishes", self.engines / "run")
        yield from (it for it in (*folders, *more) if not _is_elsewhere(it, self.root))


def _is_elsewhere(path: Path, root: Path) -> bool:
    """Tell whether a path below the root is a link, or lies behind one."""
    return any(it.is_symlink() for it in (path, *path.parents) if root in it.parents)


def read_file(path: Path, most_bytes: int) -> bytes:
    """Read a file that anybody may have put there. Raises OSError or ValueError.

    What else can have that name, such as a pipe, is not waited for; a larger file is not read.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    facts = os.fstat(handle)
    if stat.S_ISDIR(facts.st_mode):
        os.close(handle)
        raise ValueError("it is a folder")
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(facts.st_mode):
            raise ValueError("it is no file")
        if facts.st_size > most_bytes:
            raise ValueError(f"it has {facts.st_size} bytes, far more than it should")
        return file.read(most_bytes)


def write_whole(path: Path, text: str) -> None:
    """Write a file so that either all of it is there or what was there before; for us alone.

    Raises DataFolderReadOnly or DiskFull.
    """
    with explained(path.parent):
        replace_text(path, text)


@contextmanager
def explained(place: Path) -> Iterator[None]:
    """Turn the system's errors on writing at `place` into ours."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST):
            raise DataFolderReadOnly(
                f"Hearth cannot write to {place}.",
                "The system does not allow writing there, so nothing could be saved.",
                "Allow writing to that folder, or choose another.",
                terminal="Allow writing to that folder, or choose another; the data folder is "
                "chosen with --data-dir.",
            ) from error
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full(place) from error
        raise AppError(
            f"Hearth cannot write to {place}.",
            f"The system says: {error.strerror or error}.",
            "Check the disk, or choose another folder.",
            terminal="Check the disk, or choose another folder; the data folder is chosen with "
            "--data-dir.",
        ) from error


def disk_full(place: Path) -> DiskFull:
    """Make the error for a disk without room."""
    return DiskFull(
        "The disk is full.",
        f"There is no room left to save to {place}; what was saved before is safe.",
        "Free some space, then try again.",
    )
