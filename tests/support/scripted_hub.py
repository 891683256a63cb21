"""A scripted Hub, and a download queue whose progress a test controls."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.models.discover.services.recommending import Recommending
from app.models.discover.values.catalogue import Catalogue, load_catalogue
from app.models.discover.values.recommend import Recommendation, recommend
from app.models.downloads.services.queue import DownloadQueue
from app.models.downloads.values.downloads import Download, DownloadRequest
from app.models.hub.client import Hub
from app.models.hub.repository import choose
from app.models.hub.values.hub import Query, RepoFile, Repository, SearchResult, Variant
from app.models.library.services.fitting import FitReport, Fitting
from app.net.values.connections import Purpose
from engines.cancel import CancelToken
from engines.hardware import Hardware
from engines.hardware.bandwidth import Bandwidth
from engines.memory.fit import Fit, Parts, Split, Verdict, judge
from engines.memory.load_options import LoadOptions
from engines.memory.planner import ProjectorFile
from engines.models.gguf.header import GgufHeader
from engines.types import LlamaPlan
from tests.support.paths import ROOT

RESOURCES = ROOT / "resources"
STARTER = RESOURCES / "starter" / "starter.gguf"

GB = 1_000_000_000

SMALL = SearchResult(
    "ada/Small-7B-GGUF", licence="apache-2.0", downloads=1234, parameters=7 * 10**9
)
GATED = SearchResult("bea/Closed-12B-GGUF", gate="auto", downloads=98, parameters=12 * 10**9)


def repository(
    repo: str = SMALL.id, gate: str = "open", files: Sequence[tuple[str, float]] = ()
) -> Repository:
    """Return a repository with its usual files or with these; sizes are in GB."""
    listed = files or (
        ("small-7b-Q2_K.gguf", 2.9),
        ("small-7b-Q4_K_M.gguf", 4.4),
        ("small-7b-Q6_K.gguf", 6.1),
        ("small-7b-Q8_0-00001-of-00002.gguf", 4.0),
        ("small-7b-Q8_0-00002-of-00002.gguf", 3.9),
        ("small-7b-F16.gguf", 14.6),
        ("mmproj-small-7b-F16.gguf", 0.9),
        ("mtp-small-7b-Q8_0.gguf", 0.3),
    )
    its_files = tuple(
        RepoFile(name, round(size * GB), f"{number:064x}")
        for number, (name, size) in enumerate(listed)
    )
    return Repository(
        repo,
        revision="c" * 40,
        gate=gate,  # type: ignore[arg-type]
        licence="apache-2.0",
        downloads=1234,
        likes=56,
        updated=1_760_000_000.0,
        context_max=131072,
        parameters=7 * 10**9,
        files=its_files,
        variants=choose(its_files, repo).variants,
    )


class ScriptedHub(Hub):
    """A Hub that answers from `found`, `repositories` and `cards`.

    Attributes:
        error: An error to raise instead.
        hold: An event for which every request waits.
        queries: The searches so far.
        asked: The requested repositories so far.
    """

    def __init__(self) -> None:
        self.found: list[SearchResult] = [SMALL, GATED]
        self.repositories = {
            SMALL.id: repository(),
            GATED.id: repository(GATED.id, "auto"),
        }
        self.cards = {SMALL.id: "# Small 7B\n\nA model for [tests](https://example.com/)."}
        self.error: Exception | None = None
        self.hold = threading.Event()
        self.hold.set()
        self.queries: list[Query] = []
        self.asked: list[str] = []

    def search(self, query: Query) -> list[SearchResult]:
        self.queries.append(query)
        self._answer()
        return [it for it in self.found if query.words.lower() in it.id.lower()]

    def repository(
        self, repo: str, revision: str = "main", purpose: Purpose = "look at a model"
    ) -> Repository:
        self.asked.append(repo)
        self._answer()
        return self.repositories[repo]

    def card(self, repository: Repository) -> str:
        self._answer()
        return self.cards.get(repository.id, "")

    def headers(self, repository: Repository, variant: Variant, folder: Path) -> Path:
        self._answer()
        place = folder / variant.files[0].path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(STARTER.read_bytes())
        return place

    def _answer(self) -> None:
        self.hold.wait(60)
        if self.error is not None:
            raise self.error


class ScriptedQueue(DownloadQueue):
    """A download queue whose progress a test sets."""

    def __init__(self) -> None:
        self.items: list[Download] = []
        self.error: Exception | None = None

    def add(self, wanted: DownloadRequest) -> Download:
        if self.error is not None:
            raise self.error
        download = Download(f"d{len(self.items) + 1}", wanted, "waiting")
        self.items.append(download)
        return download

    def downloads(self) -> list[Download]:
        return list(self.items)

    def advance(self, share: float, state: str = "running") -> list[Download]:
        """Set the progress of the last download."""
        last = self.items[-1]
        self.items[-1] = replace(
            last,
            state=state,  # type: ignore[arg-type]
            bytes_done=round(share * last.wanted.bytes_total),
            bytes_per_s=12.5e6,
            seconds_left=190.0,
        )
        return self.downloads()


class ScriptedRecommending(Recommending):
    """A recommendation by the real rule and the real catalogue, for a made computer."""

    def __init__(self, hardware: Hardware) -> None:
        self._computer = hardware
        self.error: Exception | None = None

    def recommend(self) -> Recommendation:
        if self.error is not None:
            raise self.error
        return recommend(self._computer, self.catalogue(), Bandwidth(30e9))

    def catalogue(self) -> Catalogue:
        return load_catalogue((RESOURCES / "catalogue.json").read_text(encoding="utf-8"))


class ScriptedFitting(Fitting):
    """A check of memory that only knows the size of a file.

    Args:
        free: The bytes that a model may take.
    """

    def __init__(self, free: int) -> None:
        self.free = free
        self.error: Exception | None = None
        self.reported: list[Path] = []

    def quick(self, size_bytes: int, sibling: GgufHeader | None = None) -> Verdict:
        return judge(round(1.1 * size_bytes), self.free)

    def report(
        self,
        path: Path,
        header: GgufHeader,
        load_options: LoadOptions,
        drafter: Path | None = None,
        cancel: CancelToken | None = None,
        projector: ProjectorFile | None = None,
    ) -> FitReport:
        self.reported.append(path)
        if self.error is not None:
            raise self.error
        parts = Parts(
            round(4.4 * GB),
            round(0.9 * GB),
            round(0.3 * GB),
            round(0.3 * GB) if drafter else 0,
        )
        verdict = judge(parts.total, self.free)
        reason = f"{path.name} needs {parts.total / GB:.1f} GB."
        fit = Fit(verdict, parts.total, self.free, Split(ram=parts), 8192, "processor", reason)
        return FitReport(fit, 0.0, LlamaPlan(path, 8192, 4, 4), True, None, (reason,))
