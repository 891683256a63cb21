"""Downloads or copies locked files into a folder and checks them; skips those already there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.base.errors import WrongBytes
from app.models.hub.checksum import hasher
from app.models.hub.part import SUFFIX, PartFile, remove_part
from app.models.hub.source import Source
from app.models.hub.transfer import Checking, Receiving, Retrying, Terms, transfer
from app.models.hub.transfer import Step as TransferStep
from app.net import Gate
from app.runtime.packages.lookup import Lookup, local
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.private import make_private_folder, replace_file
from engines.regular import open_regular
from engines.sentences import N_
from engines.vllm.provision.lock import LockedFile

_READ_BYTES = 1 << 20


@dataclass(frozen=True)
class Progress:
    """The progress of fetching files.

    Attributes:
        done: Bytes so far, of all files.
        total: Bytes of all files.
        name: The file in progress.
        trouble: Why the fetch is waiting; "" if it is not.
    """

    done: int
    total: int
    name: str
    trouble: str = ""


class PackageFetcher:
    """Fetches locked files from the user's indexes; blocking."""

    def __init__(self, gate: Gate, terms: Terms) -> None:
        self._gate = gate
        self._terms = terms

    def fetch(
        self,
        files: Sequence[LockedFile],
        lookup: Lookup,
        folder: Path,
        tell: Callable[[Progress], None],
        cancel: CancelToken,
    ) -> None:
        """Fetch files into the folder, under their own names, and verify their hashes.

        Raises Cancelled, AppError and OSError. The next call continues from what has arrived.
        """
        make_private_folder(folder)
        count = _ByteCount(files, tell)
        for file in files:
            if cancel.cancelled:
                raise Cancelled
            target = folder / file.name
            if not _is_complete(target, file, cancel):
                self._fetch(file, lookup, target, count, cancel)
            count.finish(file, target.stat().st_size)

    def _fetch(
        self,
        file: LockedFile,
        lookup: Lookup,
        target: Path,
        count: _ByteCount,
        cancel: CancelToken,
    ) -> None:
        link = lookup.find(file, cancel)
        size = file.size or link.size or lookup.size(link, cancel)
        part = target.with_name(target.name + SUFFIX)
        path = local(link.address)
        if path is not None:
            _copy(path, part, file, count, cancel)
        else:
            source = Source(link.address, "", file.name, size, file.sha256)
            with self._gate.for_purpose("get an engine"):
                transfer(
                    self._gate.client,
                    source,
                    part,
                    self._terms,
                    lambda step: count.record(file, step),
                    cancel,
                )
        replace_file(part, target)
        remove_part(part)


class _ByteCount:
    """Adds up the bytes of all files that have arrived."""

    def __init__(self, files: Sequence[LockedFile], tell: Callable[[Progress], None]) -> None:
        self._total = sum(file.size for file in files)
        self._done = 0
        self._tell = tell

    def record(self, file: LockedFile, step: TransferStep) -> None:
        match step:
            case Receiving(done) | Checking(done):
                self.report(file, done)
            case Retrying(error, seconds):
                trouble = N_(
                    "{what} Trying again in {seconds} s.", what=error.what, seconds=f"{seconds:.0f}"
                )
                self._tell(Progress(self._done, self._total, file.name, trouble))

    def report(self, file: LockedFile, done: int) -> None:
        now = self._done + done
        self._tell(Progress(now, max(self._total, now), file.name))

    def finish(self, file: LockedFile, size: int) -> None:
        self._done += size
        if not file.size:
            self._total += size  # its size was unknown until now
        self._tell(Progress(self._done, max(self._total, self._done), file.name))


def _is_complete(target: Path, file: LockedFile, cancel: CancelToken) -> bool:
    """Return whether the file is complete and unchanged. Raises Cancelled."""
    if not target.exists():
        return False
    read = hasher(file.sha256, 0)
    with open_regular(target) as opened:
        while piece := opened.read(_READ_BYTES):
            if cancel.cancelled:
                raise Cancelled
            read.update(piece)
    return read.hexdigest() == file.sha256


def _copy(path: Path, part: Path, file: LockedFile, count: _ByteCount, cancel: CancelToken) -> None:
    """Copy a file from a local folder. Raises Cancelled, WrongBytes and OSError."""
    remove_part(part)
    with (
        PartFile(part, path.stat().st_size, file.sha256) as copied,
        open_regular(path) as source,
    ):
        while piece := source.read(_READ_BYTES):
            if cancel.cancelled:
                raise Cancelled
            copied.write(piece)
            count.report(file, copied.size)
        if not copied.is_correct:
            raise WrongBytes(
                N_(
                    "{name} in {parent} is not the file that Hearth was made for.",
                    name=path.name,
                    parent=path.parent,
                ),
                N_("Its checksum is not the one that Hearth expects."),
                N_("Remove it, or replace it with the file that its makers have published."),
            )
        copied.sync()
