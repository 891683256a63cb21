"""The loopback Hub for tests: model repositories, accounts, a CDN, and faults on command.

    with TestHub() as hub:
        hub.add("ada/Small-GGUF", {"small-Q4_K_M.gguf": Made(3_000_000)}, licence="mit")
        hub.fault(Drop(after=1_000_000, path="*.gguf"))
        HfApi(endpoint=hub.url).model_info("ada/Small-GGUF")

It answers as huggingface_hub 2.4 asks. Nothing leaves this computer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from tests.hub.answers import Account, Answers
from tests.hub.contents import Content, as_content
from tests.hub.faults import Changed, Fault
from tests.hub.messages import Reply, Request, error_reply, ranged
from tests.hub.repositories import FIRST_DATE, Gated, HostedRepo
from tests.hub.server import Loopback

Given = bytes | str | Path | Content


@dataclass(frozen=True)
class Cdn:
    """The files that a hub sends by redirecting to its second server.

    Attributes:
        path: Their addresses.
        requests: The number of requests for which a signed address is valid; None is no limit.
        seconds: The time for which it is valid; None is no limit.
    """

    path: str = "*.gguf"
    requests: int | None = None
    seconds: float | None = None


@dataclass
class _Signed:
    """An address of the CDN that was given out."""

    path: str
    since: float
    used: int = 0


class TestHub:
    """A Hub on this computer; see the module.

    Attributes:
        requests: The requests to the Hub, in order.
        cdn_requests: The requests to the CDN, in order.

    Args:
        page: The most entries in one page of an answer.
        cdn: The files that come from the CDN.
    """

    __test__ = False  # a tool, not a test

    def __init__(self, page: int = 1000, cdn: Cdn | None = None) -> None:
        self.requests: list[Request] = []
        self.cdn_requests: list[Request] = []
        self._answers = Answers(page)
        self._cdn = cdn
        self._signed: list[_Signed] = []
        self._faults: list[tuple[Fault, list[int]]] = []
        self._lock = threading.RLock()
        self._servers = (Loopback("hub", self._respond), Loopback("cdn", self._respond_cdn))

    def __enter__(self) -> Self:
        for server in self._servers:
            server.start()
        self._answers.base = self.url
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for server in self._servers:
            server.stop()
        mistakes = [mistake for server in self._servers for mistake in server.errors]
        if mistakes and error is None:
            raise ExceptionGroup("the loopback Hub itself failed", mistakes)

    @property
    def url(self) -> str:
        """The endpoint, such as "http://127.0.0.1:40001"."""
        return self._servers[0].url

    @property
    def cdn_url(self) -> str:
        return self._servers[1].url

    def add(
        self,
        repo: str,
        files: Mapping[str, Given],
        *,
        licence: str | None = None,
        gated: Gated = False,
        private: bool = False,
        card: str | None = None,
        card_data: Mapping[str, Any] | None = None,
        tags: Sequence[str] = (),
        downloads: int = 0,
        likes: int = 0,
        gguf: Mapping[str, Any] | None = None,
        safetensors: Mapping[str, Any] | None = None,
        pipeline_tag: str | None = "text-generation",
        created: float = FIRST_DATE,
        xet: bool = False,
    ) -> str:
        """Make a repository "owner/name" and return its first commit.

        Args:
            card: The text of README.md.
            card_data: More of its front matter than licence and tags.
            gguf: The value of this expansion, with "total" for the number of weights.
            safetensors: The value of this expansion, likewise.
            created: Seconds since 1970.
            xet: True if its large files are described as being in Xet storage.
        """
        hosted = HostedRepo(
            repo, gated, private, licence, tuple(tags), downloads, likes, gguf, safetensors,
            pipeline_tag, card_data or {}, xet, created,
        )  # fmt: skip
        with_card = {**files, "README.md": card} if card is not None else files
        self._answers.repos[repo] = hosted
        return hosted.put({path: as_content(given) for path, given in with_card.items()}).id

    def change(self, repo: str, files: Mapping[str, Given | None]) -> str:
        """Add a commit that changes these files (None removes one) and return its name."""
        contents = {
            path: as_content(new) if new is not None else None for path, new in files.items()
        }
        with self._lock:
            return self._answers.repos[repo].put(contents).id

    def commit(self, repo: str) -> str:
        """Return the commit for "main"."""
        return self._answers.repos[repo].head.id

    def sha256(self, repo: str, path: str) -> str | None:
        """Return the SHA-256 of a large file at "main"; None for a small one."""
        return self._answers.repos[repo].head.files[path].sha256

    def rename(self, repo: str, new: str) -> None:
        """Rename a repository; its old addresses redirect to the new ones."""
        hosted = self._answers.repos.pop(repo)
        hosted.id = new
        self._answers.repos[new] = hosted
        self._answers.moved[repo] = new

    def token(self, token: str, name: str = "ada", access: set[str] | None = None) -> None:
        """Make an account with this token, which opens the repositories in `access`."""
        self._answers.accounts[token] = Account(name, access or set())

    def revoke(self, token: str) -> None:
        del self._answers.accounts[token]

    def fault(self, *faults: Fault) -> None:
        """Add faults, which apply from now on and after the earlier ones."""
        with self._lock:
            self._faults += [(fault, [0]) for fault in faults]

    def clear_faults(self) -> None:
        with self._lock:
            self._faults.clear()

    def release(self) -> None:
        """Let stalled replies continue, now and later."""
        for server in self._servers:
            server.released.set()

    def expire(self) -> None:
        """Invalidate every address of the CDN that was given out so far."""
        with self._lock:
            self._signed = [replace(signed, path="") for signed in self._signed]

    @contextmanager
    def down(self) -> Iterator[None]:
        """Refuse every connection for a while, then listen on the same ports again."""
        for server in self._servers:
            server.stop()
        try:
            yield
        finally:
            for server in self._servers:
                server.start()

    def _respond(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            away = self._is_away(request)
            fault = self._next_fault(request, {"hub"} if away else {"hub", "file"})
            reply = self._answers.answer(fault.asked(request) if fault else request)
            if away and reply.status in {200, 206}:
                reply = self._redirected(request, reply)
            return self._spoilt(request, reply, fault)

    def _respond_cdn(self, request: Request) -> Reply:
        with self._lock:
            self.cdn_requests.append(request)
            fault = self._next_fault(request, {"cdn", "file"})
            reply = self._from_cdn(fault.asked(request) if fault else request)
            return self._spoilt(request, reply, fault)

    def _spoilt(self, request: Request, reply: Reply, fault: Fault | None) -> Reply:
        if fault is None:
            return reply
        if isinstance(fault, Changed):
            self.change("/".join(request.path.split("/")[1:3]), fault.files)
        return fault.reply(request, reply)

    def _next_fault(self, request: Request, where: set[str]) -> Fault | None:
        for fault, met in self._faults:
            if fault.where not in where or not fault.meets(request):
                continue
            if fault.times is not None and met[0] >= fault.skip + fault.times:
                continue
            met[0] += 1
            if met[0] > fault.skip:
                return fault
        return None

    def _is_away(self, request: Request) -> bool:
        return (
            self._cdn is not None
            and "/resolve/" in request.path
            and fnmatchcase(request.path, self._cdn.path)
        )

    def _redirected(self, request: Request, reply: Reply) -> Reply:
        """Redirect to a signed address of the CDN, with the known facts about the file."""
        repo, _, path = _parts(request.path)
        commit = reply.headers["X-Repo-Commit"]
        signed = f"/{repo}/resolve/{commit}/{path}"
        self._signed.append(_Signed(signed, time.monotonic()))
        location = f"{self.cdn_url}{quote(signed)}?signature={len(self._signed) - 1}"
        kept = {"Accept-Ranges", "Link"}
        headers = {
            name: value
            for name, value in reply.headers.items()
            if name.startswith("X-") or name in kept
        }
        return Reply(302, {**headers, "Location": location})

    def _from_cdn(self, request: Request) -> Reply:
        repo, revision, path = _parts(request.path)
        if not self._is_good(request):
            body = as_content("<Error><Code>AccessDenied</Code>Request has expired</Error>")
            return Reply(403, {"Content-Type": "application/xml"}, body)
        hosted = self._answers.repos[repo]
        commit = hosted.at(revision)
        file = commit.files.get(path) if commit else None
        if commit is None or file is None:
            return error_reply(404, None, "NoSuchKey")
        headers = self._answers.file_headers(hosted, commit, file)
        plain = {name: value for name, value in headers.items() if not name.startswith("X-")}
        plain.pop("Link", None)
        return ranged(request, Reply(200, plain, file.content))

    def _is_good(self, request: Request) -> bool:
        number = int(request.query.get("signature", ["-1"])[-1])
        if self._cdn is None or not 0 <= number < len(self._signed):
            return False
        signed = self._signed[number]
        signed.used += 1
        few = self._cdn.requests is None or signed.used <= self._cdn.requests
        age = time.monotonic() - signed.since
        return signed.path == request.path and few and age < (self._cdn.seconds or float("inf"))


def _parts(path: str) -> tuple[str, str, str]:
    """Return the repository, revision and file of an address with "/resolve/" in it."""
    repo, _, rest = path.lstrip("/").partition("/resolve/")
    revision, _, file = rest.partition("/")
    return repo, revision, file
