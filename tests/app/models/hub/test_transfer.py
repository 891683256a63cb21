"""Transfers from a Hub that misbehaves: they end with the right bytes or a clear error."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import (
    AppError,
    FileChanged,
    FileNotOnHub,
    GatedRepository,
    HostFailed,
    NoConnection,
    RepositoryUnknown,
    TokenRefused,
)
from app.base.errors import WrongBytes as WrongBytesError
from app.models.hub.limiter import Limiter
from app.models.hub.part import NOTES
from app.models.hub.retry import Patience
from app.models.hub.transfer import Checking, Receiving, Retrying, Step
from engines.cancel import CancelToken
from engines.errors import Cancelled
from tests.app.models.hub.transfers import BYTES, CONTENT, NAME, REPO, bring, source
from tests.hub import faults
from tests.hub.contents import Made
from tests.hub.faults import Fault
from tests.hub.testhub import Cdn, TestHub
from tests.support.waiting import until

HALF = CONTENT.size // 2


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / "file.hearth-part"


@pytest.fixture(params=[False, True], ids=["direct", "cdn"])
def serving(request: pytest.FixtureRequest) -> Iterator[TestHub]:
    with TestHub(cdn=Cdn() if request.param else None) as hub:
        hub.add(REPO, {NAME: CONTENT})
        yield hub


def half(part: Path) -> None:
    part.write_bytes(BYTES[:HALF])


def test_a_file_comes_whole(serving: TestHub, part: Path) -> None:
    told = bring(source(serving), part)
    assert part.read_bytes() == BYTES
    assert told.steps == [Receiving(CONTENT.size)]


RECOVERED: list[Fault] = [
    faults.Drop(after=-1),
    faults.Drop(after=0),
    faults.Drop(after=1_000_000, times=3),
    faults.Drop(after=700_000, reset=True),
    faults.Stall(after=0),
    faults.Stall(after=1_200_000),
    faults.WrongBytes(at=5),
    faults.WrongContentRange(off=1000),
    faults.WrongContentRange(off=1000, honest=False),
    faults.Header(name="Content-Range", text=f"bytes {'9' * 5000}-{'9' * 5000}/3000000"),
    faults.Header(name="ETag", text='"\xe9"', after=0),
    faults.Multipart(),
    faults.RangeRefused(),
    faults.NoRange(),
    faults.ShortFile(missing=10),
    faults.LongFile(extra=10),
    faults.Gzipped(),
    faults.OtherEtag(),
    faults.CaptivePortal(times=2, method="GET"),
    faults.Status(status=500, times=2),
    faults.Status(status=503, retry_after=0),
    faults.Status(status=429, retry_after=0),
    faults.Status(status=408),
    faults.Status(status=425),
]


@pytest.mark.parametrize("fault", RECOVERED, ids=repr)
@pytest.mark.parametrize("begun", [False, True], ids=["new", "resumed"])
def test_what_passes_ends_with_the_right_bytes(
    serving: TestHub, part: Path, fault: Fault, begun: bool
) -> None:
    if begun:
        half(part)
    serving.fault(fault)
    # Only real stalls get a short limit: other answers may be late on a busy computer.
    bring(source(serving), part, stall_s=0.25 if isinstance(fault, faults.Stall) else 60.0)
    assert part.read_bytes() == BYTES


LASTING: list[tuple[Fault, type[AppError]]] = [
    (faults.Drop(after=-1, times=None), HostFailed),
    (faults.Status(status=500, times=None), HostFailed),
    (faults.Status(status=429, retry_after=0, times=None), HostFailed),
    (faults.Status(status=404, times=None), FileNotOnHub),
    (faults.Redirect(), HostFailed),
    (faults.Redirect(to="http:///nowhere"), AppError),
    (faults.Redirect(to="http://127.0.0.1:99999/file"), NoConnection),
    (faults.CaptivePortal(times=None), HostFailed),
    (faults.WrongBytes(at=5, times=None), WrongBytesError),
    (faults.ShortFile(missing=10, times=None), FileChanged),
    (faults.LongFile(extra=10, times=None), FileChanged),
    (faults.Gzipped(times=None), HostFailed),
]


@pytest.mark.parametrize(("fault", "error"), LASTING, ids=repr)
def test_what_lasts_ends_with_a_clear_error(
    serving: TestHub, part: Path, fault: Fault, error: type[AppError]
) -> None:
    serving.fault(fault)
    with pytest.raises(error) as raised:
        bring(source(serving), part)
    assert all((raised.value.what, raised.value.why, raised.value.do))
    serving.clear_faults()
    bring(source(serving), part)
    assert part.read_bytes() == BYTES


def test_a_resumed_transfer_asks_for_the_rest_only(serving: TestHub, part: Path) -> None:
    half(part)
    told = bring(source(serving), part)
    assert part.read_bytes() == BYTES
    asked = (serving.cdn_requests or serving.requests)[-1]
    assert asked.headers["range"] == f"bytes={HALF}-"
    assert asked.headers["accept-encoding"] == "identity"
    assert not told.restarts
    assert [step for step in told.steps if isinstance(step, Checking)][-1] == Checking(HALF)


def test_a_validator_of_the_server_goes_with_the_range(serving: TestHub, part: Path) -> None:
    serving.fault(faults.Drop(after=HALF))
    bring(source(serving), part)
    asked = (serving.cdn_requests or serving.requests)[-1]
    assert asked.headers["if-range"].startswith('"')
    assert part.read_bytes() == BYTES


def test_a_server_that_knows_no_ranges_starts_anew_and_says_so(
    serving: TestHub, part: Path
) -> None:
    half(part)
    serving.fault(faults.NoRange(times=None))
    told = bring(source(serving), part)
    assert part.read_bytes() == BYTES
    assert "first byte" in told.restarts[0].why


def test_a_server_that_ranges_never_work_with_starts_anew(serving: TestHub, part: Path) -> None:
    half(part)
    serving.fault(faults.Multipart(times=None))
    assert bring(source(serving), part).restarts
    assert part.read_bytes() == BYTES


def test_a_part_that_was_damaged_on_the_disk_is_not_used(serving: TestHub, part: Path) -> None:
    part.write_bytes(b"\0" + BYTES[1:HALF])
    told = bring(source(serving), part)
    assert part.read_bytes() == BYTES
    assert "damaged" in told.restarts[0].why


def test_a_part_longer_than_the_file_is_not_used(serving: TestHub, part: Path) -> None:
    part.write_bytes(BYTES + b"more")
    bring(source(serving), part)
    assert part.read_bytes() == BYTES


def test_broken_notes_beside_a_part_do_no_harm(serving: TestHub, part: Path) -> None:
    half(part)
    part.with_name(part.name + NOTES).write_text("{", encoding="utf-8")
    bring(source(serving), part)
    assert part.read_bytes() == BYTES


def test_notes_of_other_bytes_empty_the_part(serving: TestHub, part: Path) -> None:
    half(part)
    notes = {"size": 7, "checksum": "0" * 64, "host": "", "etag": None}
    part.with_name(part.name + NOTES).write_text(json.dumps(notes), encoding="utf-8")
    bring(source(serving), part)
    assert part.read_bytes() == BYTES
    asked = (serving.cdn_requests or serving.requests)[-1]
    assert "range" not in asked.headers


def test_other_content_under_the_same_address_is_an_error(serving: TestHub, part: Path) -> None:
    half(part)
    commit = serving.change(REPO, {NAME: Made(CONTENT.size, seed=2)})
    url = f"{serving.url}/{REPO}/resolve/{commit}/{NAME}"
    with pytest.raises(FileChanged):
        bring(replace(source(serving), url=url), part)
    assert part.read_bytes() == BYTES[:HALF]


def test_a_new_commit_in_the_middle_changes_nothing_of_the_one_chosen(
    serving: TestHub, part: Path
) -> None:
    serving.fault(faults.Changed(after=HALF, files={NAME: Made(CONTENT.size, seed=2)}))
    bring(source(serving), part)
    assert part.read_bytes() == BYTES


def test_an_address_that_has_expired_is_asked_for_again(part: Path) -> None:
    with TestHub(cdn=Cdn(requests=1)) as hub:
        hub.add(REPO, {NAME: CONTENT})
        hub.fault(faults.Drop(after=1_000_000, times=2), faults.CdnStatus(status=403))
        bring(source(hub), part)
    assert part.read_bytes() == BYTES


def test_a_cdn_that_refuses_fresh_addresses_is_an_error(part: Path) -> None:
    with TestHub(cdn=Cdn()) as hub:
        hub.add(REPO, {NAME: CONTENT})
        hub.fault(faults.CdnStatus(status=403, times=None))
        with pytest.raises(HostFailed, match="fresh address"):
            bring(source(hub), part)


def test_the_token_goes_to_the_hub_and_nowhere_else(part: Path) -> None:
    with TestHub(cdn=Cdn()) as hub:
        hub.token("hf_secret", access={REPO})
        hub.add(REPO, {NAME: CONTENT}, gated="auto")
        hub.fault(faults.Drop(after=1_000_000))
        bring(source(hub, "hf_secret"), part)
        assert all("authorization" in asked.headers for asked in hub.requests)
        assert hub.cdn_requests
        assert not any("authorization" in asked.headers for asked in hub.cdn_requests)
    assert part.read_bytes() == BYTES


def test_a_gated_file_says_where_its_licence_is(hub: TestHub, part: Path) -> None:
    hub.add(REPO, {NAME: CONTENT}, gated="manual")
    with pytest.raises(GatedRepository) as raised:
        bring(source(hub), part)
    assert raised.value.licence_page == f"{hub.url}/{REPO}"


def test_a_token_that_is_none_is_said_to_be(hub: TestHub, part: Path) -> None:
    hub.add(REPO, {NAME: CONTENT}, gated="auto")
    with pytest.raises(TokenRefused):
        bring(source(hub, "hf_wrong"), part)


def test_nobody_there_is_an_error_of_the_connection(hub: TestHub, part: Path) -> None:
    hub.add(REPO, {NAME: CONTENT})
    wanted = source(hub)
    with hub.down(), pytest.raises(NoConnection):
        bring(wanted, part)


def test_a_wait_that_the_server_asks_for_is_told(serving: TestHub, part: Path) -> None:
    cancel = CancelToken()
    waits: list[float] = []

    def stop_at_the_wait(step: Step) -> None:
        if isinstance(step, Retrying):
            waits.append(step.seconds)
            cancel.cancel()

    serving.fault(faults.Status(status=429, retry_after=40))
    with pytest.raises(Cancelled):
        bring(source(serving), part, told=stop_at_the_wait, cancel=cancel)
    assert waits == [40]


def test_a_cancel_ends_a_stall_at_once_and_keeps_what_came(serving: TestHub, part: Path) -> None:
    cancel = CancelToken()
    stalled = threading.Event()

    def tell(step: Step) -> None:
        if isinstance(step, Receiving) and step.done >= 1_000_000:
            stalled.set()

    def stop() -> None:
        stalled.wait()
        cancel.cancel()

    serving.fault(faults.Stall(after=1_000_000))
    other = threading.Thread(target=stop)
    other.start()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        bring(source(serving), part, told=tell, cancel=cancel, stall_s=60)
    other.join()
    assert time.monotonic() - began < 30, "it waited for the read to time out"
    assert part.read_bytes() == BYTES[:1_000_000]


@pytest.mark.parametrize("redirects", [0, 1], ids=["at once", "on a connection used before"])
def test_a_cancel_ends_the_wait_for_an_answer(serving: TestHub, part: Path, redirects: int) -> None:
    cancel = CancelToken()

    def stop() -> None:
        until(lambda: len(serving.requests) > redirects)
        cancel.cancel()

    serving.fault(*[faults.Redirect(times=1)] * redirects, faults.Stall(after=-1))
    other = threading.Thread(target=stop)
    other.start()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        bring(source(serving), part, cancel=cancel, stall_s=60)
    other.join()
    assert time.monotonic() - began < 30, "it waited for the read to time out"


@pytest.mark.parametrize("odd", [faults.CdnStatus(status=403), faults.CdnStatus(status=418)])
def test_a_long_outage_may_end_with_an_answer_that_seldom_gets_better(
    part: Path, odd: Fault
) -> None:
    with TestHub(cdn=Cdn()) as hub:
        hub.add(REPO, {NAME: CONTENT})
        hub.fault(faults.CdnStatus(status=503, times=4), odd)
        patience = Patience(first_s=0.01, most_s=0.05)
        bring(source(hub), part, patience=patience)
    assert part.read_bytes() == BYTES


def test_what_seldom_gets_better_ends_an_endless_patience(part: Path) -> None:
    with TestHub(cdn=Cdn()) as hub:
        hub.add(REPO, {NAME: CONTENT})
        hub.fault(faults.CdnStatus(status=503, times=4), faults.CdnStatus(status=403, times=None))
        with pytest.raises(HostFailed, match="refuses to send"):
            bring(source(hub), part, patience=Patience(first_s=0.01, most_s=0.05))
        assert len(hub.cdn_requests) == 7


def test_a_repository_that_was_taken_away_asks_for_no_licence(hub: TestHub, part: Path) -> None:
    hub.add(REPO, {NAME: CONTENT}, private=True)
    with pytest.raises(RepositoryUnknown):
        bring(source(hub), part)


def test_an_account_without_the_licence_is_not_asked_for_a_token(hub: TestHub, part: Path) -> None:
    hub.add(REPO, {NAME: CONTENT}, gated="manual")
    hub.token("hf_other")
    with pytest.raises(GatedRepository) as raised:
        bring(source(hub, "hf_other"), part)
    assert "hearth token set" not in raised.value.do
    assert raised.value.licence_page == f"{hub.url}/{REPO}"


def test_a_limit_holds(serving: TestHub, part: Path) -> None:
    began = time.monotonic()
    bring(source(serving), part, limiter=Limiter(6_000_000))
    assert time.monotonic() - began >= 0.25
    assert part.read_bytes() == BYTES


def test_an_empty_file_is_a_file(hub: TestHub, part: Path) -> None:
    hub.add(REPO, {NAME: CONTENT})
    sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    bring(replace(source(hub), size=0, checksum=sha256), part)
    assert part.read_bytes() == b""
    assert hub.requests == []
