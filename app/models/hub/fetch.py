"""Brings a repository's file into the Hub's cache: finds it there, or transfers it."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.base.errors import ConnectionTimedOut, HubBusy, HubUnreadable, NoConnection
from app.models.hub.api import hub_api
from app.models.hub.cache_layout import Slot
from app.models.hub.checksum import UNKNOWN, hasher, is_checksum
from app.models.hub.limiter import Limiter
from app.models.hub.part import arrived, remove_part
from app.models.hub.retry import Patience
from app.models.hub.source import Source
from app.models.hub.space import as_download_errors
from app.models.hub.transfer import Checking, Retrying, Step, Terms, transfer
from app.models.hub.values.hub import FileRequest
from app.net import Gate, endpoint
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.regular import open_regular
from engines.sentences import N_


def git_name(gate: Gate, repo: str, commit: str, path: str, token: str | None) -> str:
    """Ask the Hub for the checksum of a small file; see `checksum.hasher`.

    Raises:
        HubUnreadable: The Hub gives no checksum for the file.
        The errors of `hub_api`.
    """
    with hub_api(gate, "download a model", token, repo) as api:
        files = api.model_info(repo, revision=commit, files_metadata=True).siblings or ()
        name = next((file.blob_id for file in files if file.rfilename == path), None)
    if not is_checksum(str(name)):
        raise HubUnreadable(
            N_("{path} cannot be downloaded.", path=path),
            N_("The Hub gives no checksum for it in {repo}.", repo=repo),
            N_("Try again later, or choose a file of another repository."),
        )
    return str(name)


def with_retries(
    send: Callable[[], str], patience: Patience, tell: Callable[[Step], None], cancel: CancelToken
) -> str:
    """Call `send`, and repeat it after errors that can go away.

    Args:
        send: Sends a request to the Hub.
        tell: Receives a `Retrying` before each wait.

    Raises:
        Cancelled, and the errors of `send`.
    """
    failures = 0
    while True:
        if cancel.cancelled:
            raise Cancelled
        try:
            return send()
        except (HubBusy, NoConnection, ConnectionTimedOut) as error:
            failures += 1
            requested_wait_s = error.retry_in_s if isinstance(error, HubBusy) else None
            share = random.random()  # noqa: S311 - it spreads clients, and keeps no secret
            seconds = patience.delay(failures, share, requested_wait_s)
            if seconds is None:
                raise
            tell(Retrying(error, seconds))
        cancel.wait(seconds)


_READ_BYTES = 1 << 20


class Fetcher:
    """Downloads files into the cache; every call blocks, and any thread can make it.

    Attributes:
        root: The folder of the Hub's cache.
        patience: The retry limits of the files that begin from now on.
    """

    def __init__(
        self, gate: Gate, root: Path, token: Callable[[], str | None], terms: Terms
    ) -> None:
        self._gate = gate
        self.root = root
        self._token = token
        self._terms = terms
        self.patience = terms.patience
        self._git_names: dict[FileRequest, str] = {}

    @property
    def limiter(self) -> Limiter:
        """The speed limit of all downloads."""
        return self._terms.limiter

    def fetch(self, item: FileRequest, tell: Callable[[Step], None], cancel: CancelToken) -> Path:
        """Download a file and check every byte of it.

        A file that is already in the cache is read once to check it and is not transferred again; a
        damaged one is replaced.

        Args:
            tell: Receives each step, on the calling thread.

        Returns:
            The file's path in the snapshot of its commit.

        Raises:
            Cancelled, AppError
        """
        if item.file.sha256 is None and item not in self._git_names:
            send = partial(
                git_name, self._gate, item.repo, item.commit, item.file.path, self._token()
            )
            self._git_names[item] = with_retries(send, self.patience, tell, cancel)
        slot = self._slot(item)
        size = item.file.size
        with as_download_errors(self.root, size - self.arrived(item)[0]):
            slot.prepare()
            with slot.locked(cancel):
                existing = slot.find(size)
                if existing is not None and self._is_intact(item, existing, tell, cancel):
                    slot.take(existing)
                    slot.refer(item.ref)
                    remove_part(slot.part)
                    return slot.pointer
                with self._gate.for_purpose("download a model"):
                    source = self._source(item)
                    terms = replace(self._terms, patience=self.patience)
                    transfer(self._gate.client, source, slot.part, terms, tell, cancel)
                placed = slot.place(item.ref)
                remove_part(slot.part)
                return placed

    def arrived(self, item: FileRequest) -> tuple[int, int]:
        """Return how many bytes of a file are here, in whole or in part, and the disk they take."""
        slot = self._slot(item)
        if slot.find(item.file.size) is not None:
            return item.file.size, item.file.size
        return arrived(slot.part)

    def forget(self, item: FileRequest) -> None:
        """Remove the part of a file, unless another process is working on it.

        Raises:
            AppError: The part cannot be removed.
        """
        slot = self._slot(item)
        at_once = CancelToken()
        at_once.cancel()
        with as_download_errors(self.root, 0):
            if slot.part.exists():
                with suppress(Cancelled), slot.locked(at_once):
                    remove_part(slot.part)

    def _slot(self, item: FileRequest) -> Slot:
        try:
            checksum = self._checksum(item)
            return Slot(self.root, item.repo, item.commit, item.file.path, checksum)
        except ValueError as error:
            raise HubUnreadable(
                N_("{repo} has a file that cannot be saved.", repo=item.repo),
                N_(
                    "Its path, “{path}”, would lead out of the folder of downloads.",
                    path=item.file.path,
                ),
                N_("Choose another repository, and report this one to the Hub."),
            ) from error

    def _checksum(self, item: FileRequest) -> str:
        """Return a file's checksum, or `UNKNOWN` until the checksum of a small file is known."""
        return item.file.sha256 or self._git_names.get(item, UNKNOWN)

    def _source(self, item: FileRequest) -> Source:
        from huggingface_hub import hf_hub_url

        url = hf_hub_url(item.repo, item.file.path, revision=item.commit, endpoint=endpoint())
        name = item.file.path.rsplit("/", 1)[-1]
        token = self._token()
        return Source(url, item.repo, name, item.file.size, self._checksum(item), token)

    def _is_intact(
        self, item: FileRequest, existing: Path, tell: Callable[[Step], None], cancel: CancelToken
    ) -> bool:
        done = 0
        checksum = self._checksum(item)
        read = hasher(checksum, item.file.size)
        with open_regular(existing) as file:
            while piece := file.read(_READ_BYTES):
                if cancel.cancelled:
                    raise Cancelled
                read.update(piece)
                done += len(piece)
                tell(Checking(done))
        return read.hexdigest() == checksum
