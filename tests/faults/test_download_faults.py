"""All faults on the way from the Hub, for a download into the cache.

Each fault ends with the right bytes, or with an error in three parts and nothing that any tool
takes for a file; and the next attempt, without faults, continues to the right bytes.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest
from huggingface_hub import hf_hub_download, scan_cache_dir

from app.base.errors import (
    AppError,
    ConnectionTimedOut,
    FileChanged,
    FileNotOnHub,
    GatedRepository,
    HostFailed,
    NoConnection,
    TokenRefused,
    WrongBytes,
)
from app.models.hub.fetch import Fetcher
from app.models.hub.limiter import Limiter
from app.models.hub.retry import Patience
from app.models.hub.transfer import Receiving, Retrying, Step, Terms
from app.models.hub.values.hub import FileRequest, RepoFile
from app.models.library.services.places.hub_cache import scan_hub
from app.net import Gate
from app.net.values.connections import LoggedConnection
from engines.cancel import CancelToken
from engines.errors import Cancelled
from tests.hub.contents import GGUF_START, Made
from tests.hub.faults import (
    CaptivePortal,
    CdnStatus,
    Changed,
    Drop,
    Fault,
    Gzipped,
    LongFile,
    Multipart,
    NoRange,
    OtherEtag,
    RangeRefused,
    Redirect,
    ShortFile,
    Stall,
    Status,
    Trickle,
    Unsized,
    WrongContentRange,
)
from tests.hub.faults import WrongBytes as FlippedBytes
from tests.hub.messages import Request
from tests.hub.testhub import Cdn, TestHub

REPO = "ada/Small-GGUF"
BLOBS = "models--ada--Small-GGUF/blobs"
MODEL = "small-Q4_K_M.gguf"
TOKEN = "hf_test"
CONTENT = Made(400_000, seed=3, head=GGUF_START)
DATA = CONTENT.read(0, CONTENT.size)
SCHEDULES = 40
"""The number for each way in which files come, different ones for each."""
SEED = 20_261_121


@dataclass
class Trial:
    """A hub, and a cache to download into; the log has every connection between them."""

    hub: TestHub
    gate: Gate
    root: Path
    item: FileRequest
    connections: list[LoggedConnection]

    def fetch(
        self,
        tell: Callable[[Step], None] = lambda _: None,
        cancel: CancelToken | None = None,
        stall_s: float = 60.0,
    ) -> Path:
        patience = Patience(attempts=4, first_s=0.001, most_s=0.01)
        terms = Terms(Limiter(), patience, connect_s=60.0, stall_s=stall_s)
        fetcher = Fetcher(self.gate, self.root, lambda: TOKEN, terms)
        return fetcher.fetch(self.item, tell, cancel or CancelToken())

    @property
    def sent(self) -> list[Request]:
        """The requests for the file's bytes themselves."""
        return self.hub.cdn_requests or self.hub.requests

    def require_right(self, path: Path) -> None:
        """Check that the bytes are right, that all tools find them, and nothing else."""
        assert path.read_bytes() == DATA
        found = hf_hub_download(REPO, MODEL, cache_dir=self.root, local_files_only=True)
        assert Path(found).read_bytes() == DATA
        assert [model.size_bytes for model in scan_hub(self.root).models] == [len(DATA)]
        (repo,) = scan_cache_dir(self.root).repos
        assert (repo.nb_files, repo.size_on_disk) == (1, len(DATA))
        assert [path.name for path in (self.root / BLOBS).iterdir()] == [self.item.file.sha256]

    def require_nothing_listed(self) -> None:
        """Check that neither Hearth nor another tool takes the received part for a file."""
        assert scan_hub(self.root).models == []
        assert sum(repo.nb_files for repo in scan_cache_dir(self.root).repos) == 0
        assert not list(self.root.rglob("*.gguf"))
        assert not list(self.root.rglob(str(self.item.file.sha256)))

    def require_honest_connections(self) -> None:
        """Check that only the Hub got the token, and that each request is in the log."""
        assert all(request.authorization is None for request in self.hub.cdn_requests)
        answered = [it for it in self.connections if it.result.isdigit()]
        assert len(answered) <= len(self.hub.requests) + len(self.hub.cdn_requests)
        assert len(self.hub.requests) + len(self.hub.cdn_requests) <= len(self.connections)
        assert {it.purpose for it in self.connections} == {"download a model"}


@pytest.fixture(params=[None, Cdn()], ids=["hub", "cdn"])
def trial(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Trial]:
    """Yield a trial with files from the Hub itself, or from a second server behind a redirect."""
    connections: list[LoggedConnection] = []
    gate = Gate(connections.append, lambda: False)
    with TestHub(cdn=request.param) as hub:
        hub.token(TOKEN)
        commit = hub.add(REPO, {MODEL: CONTENT})
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        file = RepoFile(MODEL, CONTENT.size, hashlib.sha256(DATA).hexdigest())
        yield Trial(hub, gate, tmp_path / "cache", FileRequest(REPO, commit, file), connections)
        gate.close()


def time_for(faults: list[Fault]) -> float:
    """Return the time limit for the next byte: short for a stall, shortest for a lasting one."""
    stalls = [fault for fault in faults if isinstance(fault, Stall)]
    if not stalls:
        return 60.0
    return 0.1 if all(fault.times is None for fault in stalls) else 0.5


SURVIVED: dict[str, list[Fault]] = {
    "nothing wrong": [],
    "one drop": [Drop(after=100_000)],
    "three drops without a new byte": [Drop(after=0, times=3)],
    "a drop before any answer": [Drop(after=-1)],
    "a reset": [Drop(after=100_000, reset=True)],
    "drops that each bring something": [Drop(after=30_000, times=12)],
    "a drop of the last byte": [Drop(after=399_999)],
    "a stall": [Stall(after=100_000)],
    "a stall before the first byte": [Stall(after=0)],
    "a trickle": [Trickle(bytes_per_s=4_000_000)],
    "wrong bytes once": [FlippedBytes(at=50_000)],
    "a wrong byte in the first part": [FlippedBytes(at=10), Drop(after=100_000, skip=1)],
    "a wrong byte after a drop": [Drop(after=100_000), FlippedBytes(at=0)],
    "no answer at all for a while": [Stall(after=-1)],
    "a length that is not told": [Unsized()],
    "an early end that looks like the end": [Unsized(after=100_000), Unsized(after=50_000)],
    "a short file once": [ShortFile(missing=1)],
    "a short rest": [Drop(after=100_000), ShortFile(missing=1)],
    "a long file once": [LongFile(extra=1)],
    "a long rest": [Drop(after=100_000), LongFile(extra=1)],
    "no ranges": [Drop(after=100_000), NoRange()],
    "ranges refused once": [Drop(after=100_000), RangeRefused()],
    "ranges refused always": [Drop(after=100_000), RangeRefused(times=None)],
    "another range": [Drop(after=100_000), WrongContentRange(off=-50_000)],
    "another range always": [Drop(after=100_000), WrongContentRange(off=-50_000, times=None)],
    "another range that is not told": [
        Drop(after=100_000),
        WrongContentRange(off=-50_000, honest=False),
    ],
    "a range in parts": [Drop(after=100_000), Multipart()],
    "ranges in parts always": [Drop(after=100_000), Multipart(times=None)],
    "compressed once": [Gzipped()],
    "a new commit meanwhile": [Changed(after=100_000, files={MODEL: b"all new"})],
    "408": [Status(status=408)],
    "429 with seconds": [Status(status=429, retry_after=0)],
    "429 with a date": [Status(status=429, retry_after=0, now=0.0)],
    "500 and 503": [Status(status=500), Status(status=503)],
    "502 and 504": [Status(status=502), Status(status=504)],
    "a log-in page for a while": [CaptivePortal(times=2)],
    "a log-in page after a drop": [Drop(after=100_000), CaptivePortal(skip=1, times=1)],
    "a circle that opens": [Redirect(times=8)],
}


@pytest.mark.parametrize("faults", SURVIVED.values(), ids=SURVIVED.keys())
def test_what_passes_ends_with_the_right_bytes(trial: Trial, faults: list[Fault]) -> None:
    trial.hub.fault(*faults)
    trial.require_right(trial.fetch(stall_s=time_for(faults)))
    trial.require_honest_connections()


FATAL: dict[str, tuple[list[Fault], type[AppError]]] = {
    "drops for ever": ([Drop(after=0, times=None)], HostFailed),
    "no answer for ever": ([Drop(after=-1, times=None)], HostFailed),
    "stalls for ever": ([Stall(after=0, times=None)], ConnectionTimedOut),
    "wrong bytes for ever": ([FlippedBytes(times=None)], WrongBytes),
    "short for ever": ([ShortFile(missing=1, times=None)], FileChanged),
    "long for ever": ([LongFile(extra=1, times=None)], FileChanged),
    "compressed for ever": ([Gzipped(times=None)], HostFailed),
    "a log-in page for ever": ([CaptivePortal(times=None)], HostFailed),
    "a circle": ([Redirect()], HostFailed),
    "500 for ever": ([Status(status=500, times=None)], HostFailed),
    "429 for ever": ([Status(status=429, retry_after=0, times=None)], HostFailed),
    "gone": ([Status(status=404, code="EntryNotFound", times=None)], FileNotOnHub),
    "gated": ([Status(status=403, code="GatedRepo", times=None)], GatedRepository),
    "the token refused": ([Status(status=401, times=None)], TokenRefused),
    "a redirect to nowhere": ([Redirect(to="http://127.0.0.1:9/x")], NoConnection),
}


@pytest.mark.parametrize(("faults", "kind"), FATAL.values(), ids=FATAL.keys())
def test_what_lasts_is_told_and_leaves_nothing_to_list(
    trial: Trial, faults: list[Fault], kind: type[AppError]
) -> None:
    trial.hub.fault(*faults)
    with pytest.raises(kind) as told:
        trial.fetch(stall_s=time_for(faults))
    require_three_parts(told.value)
    trial.require_nothing_listed()
    trial.hub.clear_faults()
    trial.require_right(trial.fetch())
    trial.require_honest_connections()


def require_three_parts(error: AppError) -> None:
    parts = (error.what, error.why, error.do)
    assert all(part.endswith(".") for part in parts), parts
    assert len(set(parts)) == 3


def test_only_what_is_missing_comes_again(trial: Trial) -> None:
    trial.hub.fault(Drop(after=100_000), Drop(after=50_000))
    trial.require_right(trial.fetch())
    assert [request.range for request in trial.sent] == [None, "bytes=100000-", "bytes=150000-"]


@pytest.mark.parametrize(
    "fault",
    [WrongContentRange(off=-50_000), Multipart(), Gzipped(), Drop(after=-1), CaptivePortal(skip=1)],
    ids=lambda fault: type(fault).__name__,
)
def test_a_wrong_answer_costs_nothing_of_what_came(trial: Trial, fault: Fault) -> None:
    trial.hub.fault(Drop(after=100_000), replace(fault, times=1))
    trial.require_right(trial.fetch())
    ranges = [request.range for request in trial.sent]
    assert ranges[0] is None
    assert set(ranges[1:]) == {"bytes=100000-"}


def test_another_etag_of_the_same_bytes_changes_nothing(trial: Trial) -> None:
    """A mirror may name the same bytes differently from one request to the next."""
    trial.hub.fault(Drop(after=100_000), OtherEtag(etag='"mirror"', times=None))
    trial.require_right(trial.fetch())


def test_a_hub_that_is_down_for_a_while(trial: Trial) -> None:
    trial.hub.fault(Drop(after=100_000))
    came = threading.Event()

    def tell(step: Step) -> None:
        if isinstance(step, Retrying):
            came.set()

    with trial.hub.down(), pytest.raises(NoConnection):
        trial.fetch(tell)
    assert came.is_set()
    trial.require_nothing_listed()
    trial.require_right(trial.fetch())


def test_signed_addresses_are_asked_for_again(trial: Trial) -> None:
    """Every attempt starts at the Hub, so an address that has expired meanwhile does no harm."""
    trial.hub.fault(Drop(after=100_000), CdnStatus(status=403))

    def tell(step: Step) -> None:
        if isinstance(step, Retrying):
            trial.hub.expire()

    trial.require_right(trial.fetch(tell))
    trial.require_honest_connections()


@pytest.mark.parametrize("now", [None, 4_000_000_000.0], ids=["seconds", "date"])
def test_a_server_is_left_alone_as_long_as_it_asks(trial: Trial, now: float | None) -> None:
    trial.hub.fault(Status(status=429, retry_after=1800, now=now))
    cancel, waits = CancelToken(), list[float]()

    def tell(step: Step) -> None:
        if isinstance(step, Retrying):
            waits.append(step.seconds)
            cancel.cancel()

    with pytest.raises(Cancelled):
        trial.fetch(tell, cancel)
    assert waits[0] >= 1800
    assert len(trial.hub.requests) == 1
    trial.require_nothing_listed()


def test_a_cancel_ends_a_stall_and_keeps_what_came(trial: Trial) -> None:
    trial.hub.fault(Stall(after=100_000))
    cancel = CancelToken()

    def tell(step: Step) -> None:
        if step == Receiving(100_000):
            cancel.cancel()

    with pytest.raises(Cancelled):
        trial.fetch(tell, cancel)
    trial.require_nothing_listed()
    trial.require_right(trial.fetch())
    assert trial.sent[-1].range == "bytes=100000-"


def any_fault(random: Random) -> Fault:
    """Return a passing fault; its place, and how often it is met, are random."""
    after, times = random.randrange(-1, len(DATA)), random.randint(1, 3)
    off = random.choice([-5_000, -1, 1, 5_000])
    kinds: list[Callable[[], Fault]] = [
        lambda: Drop(after=after, times=times, reset=random.random() < 0.3),
        lambda: FlippedBytes(at=max(after, 0)),
        lambda: ShortFile(missing=1 + abs(after) // 2, times=times),
        lambda: LongFile(extra=1 + abs(after), times=times),
        lambda: NoRange(times=times),
        lambda: RangeRefused(times=times),
        lambda: WrongContentRange(off=off, honest=random.random() < 0.5, times=times),
        lambda: Multipart(times=times),
        lambda: OtherEtag(etag=f'"{after}"', times=times),
        lambda: Gzipped(times=times),
        lambda: Unsized(after=max(after, 0), times=times),
        lambda: Changed(after=max(after, 0), files={MODEL: b"new"}),
        lambda: Status(status=random.choice([408, 429, 500, 502, 503, 504]), times=times),
        lambda: CdnStatus(status=random.choice([403, 404, 503]), times=times),
        lambda: CaptivePortal(times=times),
    ]
    return random.choice(kinds)()


def test_any_sequence_of_faults_ends_well_or_clearly(
    trial: Trial, request: pytest.FixtureRequest
) -> None:
    random = Random(f"{SEED} {request.node.name}")
    told: list[AppError] = []
    for number in range(SCHEDULES):
        schedule = [any_fault(random) for _ in range(random.randint(1, 5))]
        one = replace(trial, root=trial.root / str(number))
        one.hub.fault(*schedule)
        try:
            path = one.fetch()
        except AppError as error:
            told.append(error)
            one.require_nothing_listed()
            one.hub.clear_faults()
            path = one.fetch()
        one.hub.clear_faults()
        one.require_right(path)
    for each in told:
        require_three_parts(each)
    trial.require_honest_connections()
    # otherwise the schedules would be too mild, or too hard, to prove anything
    assert SCHEDULES / 10 < len(told) < SCHEDULES * 9 / 10
