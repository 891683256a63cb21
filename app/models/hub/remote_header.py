"""Fetches only the header of a model's file, into a sparse file of the true size.

path = fetch_headers(read, variant.files, folder)
read_header(path)  # as if the model was here

For the formats see engines/models/gguf/reader.py, whose headers have some MB, most of it tokens,
and engines/models/checkpoint.py. The files that describe a checkpoint are fetched whole.
"""

from __future__ import annotations

import ctypes
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import IO, Final

from app.base.folder import as_user_errors
from app.models.hub.values.hub import RepoFile
from engines.errors import ModelDamaged, NotAModel
from engines.models.gguf.reader import MAGIC, BadGguf, Truncated, read_gguf
from engines.private import make_private_folder, replacing
from engines.sentences import N_

FIRST: Final = 1 << 20
MOST: Final = 64 << 20
"""`FIRST` and `MOST`: how many bytes are read first, and at most; each step doubles the amount."""

Read = Callable[[RepoFile, int, int], bytes]
"""Reads a range of a file, given its first byte and its length; returns every byte or raises."""


def fetch_headers(read: Read, files: Sequence[RepoFile], folder: Path) -> Path:
    """Put the headers of a model's parts into `folder`, at the paths of the parts.

    Headers that are there already are not read again.

    Returns:
        The path of the first part.

    Raises:
        NotAModel, ModelDamaged, DiskFull, DataFolderReadOnly, and the errors of `read`.
    """
    paths = [folder / file.path for file in files]
    for file, path in zip(files, paths, strict=True):
        if not path.is_file() or path.stat().st_size != file.size:
            start = _read_start(read, file)
            with as_user_errors(folder):
                _save(start, file.size, path)
    return paths[0]


def forget_headers(folder: Path, older_than_s: float) -> None:
    """Remove the headers of repositories that were fetched more than `older_than_s` seconds ago.

    Links are left alone: their targets do not belong to Hearth.
    """
    if folder.is_symlink():
        return
    oldest = time.time() - older_than_s
    for repository in folder.glob("*"):
        if repository.is_symlink():
            continue
        for commit in repository.glob("*"):
            with suppress(OSError):  # the next start tries again
                if commit.stat().st_mtime < oldest:
                    shutil.rmtree(commit, ignore_errors=True)
        with suppress(OSError):  # the folder still contains a commit
            repository.rmdir()


def _read_start(read: Read, file: RepoFile) -> bytes:
    if file.path.endswith(".safetensors"):
        return _tensors_header(read, file)
    if file.path.endswith(".json"):
        return read(file, 0, min(file.size, MOST))
    return _gguf_header(read, file)


def _tensors_header(read: Read, file: RepoFile) -> bytes:
    start = read(file, 0, min(file.size, FIRST))
    end = 8 + int.from_bytes(start[:8], "little")
    if not 8 < end <= min(file.size, MOST):
        raise ModelDamaged(
            N_("“{name}” cannot be used.", name=Path(file.path).name),
            N_("It does not begin like a safetensors file."),
            N_("Choose another repository."),
        )
    return start + read(file, len(start), end - len(start)) if end > len(start) else start


def _gguf_header(read: Read, file: RepoFile) -> bytes:
    name = Path(file.path).name
    most = min(file.size, MOST)
    start = b""
    while True:
        start += read(file, len(start), min(max(len(start), FIRST), most - len(start)))
        if not start.startswith(MAGIC):
            raise NotAModel(
                N_("“{name}” is not a model.", name=name),
                N_("It does not begin like a GGUF file."),
                N_("Choose another file or repository."),
            )
        try:
            read_gguf(BytesIO(start), file.size)
        except Truncated as error:
            if len(start) < most:
                continue
            raise _damaged(name, error) from None
        except BadGguf as error:
            raise _damaged(name, error) from None
        return start


def _damaged(name: str, error: BadGguf) -> ModelDamaged:
    return ModelDamaged(
        N_("“{name}” cannot be used.", name=name),
        N_("Its header is invalid: {error}.", error=error),
        N_("Choose another quantisation or repository."),
    )


def _save(start: bytes, size: int, path: Path) -> None:
    """Save a header as a file of `size` bytes that takes disk space for the header alone.

    The file appears only when it is complete.
    """
    make_private_folder(path.parent)
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        _make_sparse(file)
        file.write(start)
        file.truncate(size)


def _make_sparse(file: IO[bytes]) -> None:
    """Mark a file as sparse on Windows, which would fill it; other systems need no mark."""
    if sys.platform == "win32":
        import msvcrt

        set_sparse, returned = 0x000900C4, ctypes.c_ulong()
        ctypes.windll.kernel32.DeviceIoControl(
            ctypes.c_void_p(msvcrt.get_osfhandle(file.fileno())),
            set_sparse, None, 0, None, 0, ctypes.byref(returned), None,
        )  # fmt: skip
