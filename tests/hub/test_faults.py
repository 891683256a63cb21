"""Each fault of the loopback Hub, as a plain client sees it."""

from __future__ import annotations

import gzip
import json
import threading
from email.utils import parsedate_to_datetime

import httpx2
import pytest

from tests.hub.contents import Made
from tests.hub.faults import (
    CaptivePortal,
    CdnStatus,
    Changed,
    Drop,
    Fault,
    Gzipped,
    HalfJson,
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
    WrongBytes,
    WrongContentRange,
)
from tests.hub.testhub import Cdn, TestHub
from tests.support.waiting import until

REPO = "ada/Small-GGUF"
MODEL = "small-Q4_K_M.gguf"
CONTENT = Made(200_000, seed=1)
DATA = CONTENT.read(0, CONTENT.size)


@pytest.fixture
def url(hub: TestHub) -> str:
    """Return the address of a model's file."""
    hub.add(REPO, {MODEL: CONTENT})
    return f"{hub.url}/{REPO}/resolve/main/{MODEL}"


def take(client: httpx2.Client, url: str, **headers: str) -> tuple[bytes, Exception | None]:
    """Return the received bytes of a body, and the error that ended it."""
    came = b""
    try:
        with client.stream("GET", url, headers=headers) as reply:
            for piece in reply.iter_raw():
                came += piece
    except httpx2.TransportError as error:
        return came, error
    return came, None


def test_a_connection_drops_and_the_next_does_not(
    hub: TestHub, plain: httpx2.Client, url: str
) -> None:
    hub.fault(Drop(after=70_000, path="*.gguf"))
    came, error = take(plain, url)
    assert came == DATA[:70_000]
    assert isinstance(error, httpx2.RemoteProtocolError)
    rest, error = take(plain, url, Range="bytes=70000-")
    assert (came + rest, error) == (DATA, None)


def test_a_connection_is_reset(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(Drop(after=100_000, reset=True))
    came, error = take(plain, url)
    assert isinstance(error, httpx2.ReadError)
    assert DATA.startswith(came)


def test_a_connection_ends_before_any_answer(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(Drop(after=-1), Drop(after=0))
    came, error = take(plain, url)
    assert (came, type(error)) == (b"", httpx2.RemoteProtocolError)
    assert "without sending" in str(error)
    came, error = take(plain, url)
    assert (came, type(error)) == (b"", httpx2.RemoteProtocolError)


def test_a_stall_lasts_until_it_is_released(hub: TestHub, url: str) -> None:
    hub.fault(Stall(after=1000, times=2))
    with httpx2.Client(trust_env=False, timeout=1) as hurried:
        came, error = take(hurried, url)
    assert (came, type(error)) == (DATA[:1000], httpx2.ReadTimeout)
    ended: list[bytes] = []
    with httpx2.Client(trust_env=False, timeout=60) as patient:
        thread = threading.Thread(target=lambda: ended.append(take(patient, url)[0]))
        thread.start()
        while len(hub.requests) < 2:
            thread.join(0.01)
        assert ended == []
        hub.release()
        thread.join()
    assert ended == [DATA]


def test_no_answer_comes_until_it_is_released(hub: TestHub, url: str) -> None:
    hub.fault(Stall(after=-1, times=2))
    with httpx2.Client(trust_env=False, timeout=1) as hurried:
        came, error = take(hurried, url)
        assert (came, type(error)) == (b"", httpx2.ReadTimeout)
        hub.release()
        assert hurried.get(url, timeout=60).content == DATA


def test_a_body_whose_length_is_not_told(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(Unsized(), Unsized(after=70_000))
    whole = plain.get(url)
    assert whole.content == DATA
    assert "Content-Length" not in whole.headers
    assert take(plain, url) == (DATA[:70_000], None)
    assert plain.get(url).headers["Content-Length"] == str(len(DATA))


def test_a_hub_can_close_while_it_stalls(plain: httpx2.Client) -> None:
    with TestHub() as hub:
        hub.add(REPO, {MODEL: CONTENT})
        hub.fault(Stall(after=10))
        stream = plain.stream("GET", f"{hub.url}/{REPO}/resolve/main/{MODEL}")
        reply = stream.__enter__()
        assert reply.status_code == 200
    with pytest.raises(httpx2.TransportError):
        reply.read()
    stream.__exit__(None, None, None)


def test_a_slow_body_comes_in_small_pieces(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(Trickle(bytes_per_s=20), Trickle(bytes_per_s=100_000_000))
    with plain.stream("GET", url) as reply:
        came = next(reply.iter_raw())
    assert DATA.startswith(came)
    assert 0 < len(came) < 1000  # which would take most of a minute
    assert plain.get(url).content == DATA


def test_wrong_bytes_are_as_many(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(WrongBytes(at=70_000))
    came, error = take(plain, url)
    assert error is None
    assert [at for at in range(len(DATA)) if came[at] != DATA[at]] == [70_000]
    assert len(came) == len(DATA)


def test_a_file_too_short_and_one_too_long(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(ShortFile(missing=5), LongFile(extra=5))
    short = plain.get(url)
    assert short.content == DATA[:-5]
    assert short.headers["Content-Length"] == str(len(DATA) - 5)
    long = plain.get(url)
    assert long.content[:-5] == DATA
    assert long.headers["Content-Length"] == str(len(DATA) + 5)
    assert plain.get(url).content == DATA


def test_a_server_without_ranges(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(NoRange())
    reply = plain.get(url, headers={"Range": "bytes=100-"})
    assert (reply.status_code, reply.content) == (200, DATA)
    assert "Accept-Ranges" not in reply.headers


def test_a_range_is_refused(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(RangeRefused())
    assert plain.get(url).status_code == 200
    reply = plain.get(url, headers={"Range": "bytes=100-"})
    assert reply.status_code == 416
    assert reply.headers["Content-Range"] == f"bytes */{len(DATA)}"
    assert plain.get(url, headers={"Range": "bytes=100-"}).status_code == 206


def test_another_range_than_was_asked_for(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(WrongContentRange(off=-100), WrongContentRange(off=100, honest=False))
    honest = plain.get(url, headers={"Range": "bytes=100-199"})
    assert honest.headers["Content-Range"] == f"bytes 0-99/{len(DATA)}"
    assert honest.content == DATA[:100]
    lying = plain.get(url, headers={"Range": "bytes=100-199"})
    assert lying.headers["Content-Range"] == f"bytes 100-199/{len(DATA)}"
    assert lying.content == DATA[200:300]


def test_a_range_in_parts(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(Multipart())
    reply = plain.get(url, headers={"Range": "bytes=100-199"})
    assert reply.status_code == 206
    assert reply.headers["Content-Type"].startswith("multipart/byteranges")
    assert "Content-Range" not in reply.headers
    assert DATA[100:200] in reply.content
    assert len(reply.content) > 100


def test_another_etag(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    etag = plain.head(url).headers["ETag"]
    hub.fault(OtherEtag(etag='"new"', times=2))
    again = plain.get(url, headers={"Range": "bytes=5-", "If-Range": etag})
    assert (again.status_code, again.headers["ETag"], again.content) == (200, '"new"', DATA)
    same = plain.get(url, headers={"Range": "bytes=5-", "If-Range": '"new"'})
    assert same.headers["X-Linked-Etag"] == '"new"'


def test_a_repository_changes_while_a_file_comes(
    hub: TestHub, plain: httpx2.Client, url: str
) -> None:
    old = hub.commit(REPO)
    hub.fault(Changed(after=500, files={MODEL: b"all new"}))
    came, error = take(plain, url)
    assert (came, type(error)) == (DATA[:500], httpx2.RemoteProtocolError)
    now = plain.get(url)
    assert (now.content, now.headers["X-Repo-Commit"]) == (b"all new", hub.commit(REPO))
    assert plain.get(url.replace("main", old)).content == DATA


def test_a_body_is_compressed_unasked(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(Gzipped())
    came, _ = take(plain, url, **{"Accept-Encoding": "identity"})
    assert came != DATA
    assert gzip.decompress(came) == DATA


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
def test_an_error_some_times_and_then_none(
    hub: TestHub, plain: httpx2.Client, url: str, status: int
) -> None:
    hub.fault(Status(status=status, path="*.gguf", times=2, skip=1))
    seen = [plain.get(url).status_code for _ in range(4)]
    assert seen == [200, status, status, 200]


def test_too_many_requests(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(
        Status(status=429, retry_after=7, path="/api/*"),
        Status(status=429, retry_after=7, now=0.0, path="/api/*"),
        Status(status=429, ratelimit=55, path="/api/*"),
    )
    assert plain.get(url).status_code == 200
    seconds, date, limit = (plain.get(f"{hub.url}/api/models") for _ in range(3))
    assert {reply.status_code for reply in (seconds, date, limit)} == {429}
    assert seconds.headers["Retry-After"] == "7"
    assert parsedate_to_datetime(date.headers["Retry-After"]).timestamp() == 7.0
    assert limit.headers["RateLimit"] == '"api";r=0;t=55'


def test_an_error_says_its_code(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(Status(status=403, code="GatedRepo", message="Ask first", method="HEAD"))
    reply = plain.head(url)
    assert reply.headers["X-Error-Code"] == "GatedRepo"
    assert reply.headers["X-Error-Message"] == "Ask first"
    assert reply.headers["Content-Length"] != "0"


def test_redirects_without_end(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(Redirect())
    with pytest.raises(httpx2.TooManyRedirects):
        plain.get(url, follow_redirects=True)
    hub.clear_faults()
    hub.fault(Redirect(to="http://127.0.0.1:1/elsewhere", times=1))
    assert plain.get(url).headers["Location"] == "http://127.0.0.1:1/elsewhere"
    assert plain.get(url).status_code == 200


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_a_captive_portal(hub: TestHub, plain: httpx2.Client, url: str, method: str) -> None:
    hub.fault(CaptivePortal(times=2))
    for address in (url, f"{hub.url}/api/models"):
        reply = plain.request(method, address)
        assert (reply.status_code, reply.headers["Content-Type"]) == (200, "text/html")
        assert "X-Repo-Commit" not in reply.headers
    assert plain.get(url).content == DATA


def test_half_an_answer(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(HalfJson(path="/api/*"))
    reply = plain.get(f"{hub.url}/api/models")
    assert reply.status_code == 200
    with pytest.raises(json.JSONDecodeError):
        reply.json()
    assert len(plain.get(f"{hub.url}/api/models").json()) == 1


def test_a_hub_that_is_down_and_comes_back(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    assert plain.get(url).content == DATA
    with hub.down():
        with pytest.raises(httpx2.TransportError):  # the kept connection is gone
            plain.get(url)
        with pytest.raises(httpx2.ConnectError):
            plain.get(url)
    assert plain.get(url).content == DATA


def test_faults_come_in_their_order(hub: TestHub, plain: httpx2.Client, url: str) -> None:
    hub.fault(Status(status=500), Status(status=503), Fault(), Status(status=502))
    assert [plain.get(url).status_code for _ in range(5)] == [500, 503, 200, 502, 200]


def test_signed_addresses_expire(plain: httpx2.Client) -> None:
    with TestHub(cdn=Cdn("*.gguf", requests=1)) as hub:
        hub.add(REPO, {MODEL: CONTENT})
        url = f"{hub.url}/{REPO}/resolve/main/{MODEL}"
        first = plain.head(url)
        assert first.status_code == 302
        assert first.headers["X-Linked-Size"] == str(CONTENT.size)
        location = first.headers["Location"]
        assert location.startswith(hub.cdn_url)
        assert [plain.get(location).status_code for _ in range(2)] == [200, 403]
        renewed = plain.head(url).headers["Location"]
        assert renewed != location
        hub.expire()
        assert plain.get(renewed).status_code == 403
        assert plain.get(url, follow_redirects=True).content == DATA
        assert plain.get(location.split("?")[0]).status_code == 403


def test_an_address_may_be_good_for_a_time(plain: httpx2.Client) -> None:
    with TestHub(cdn=Cdn("*.gguf", seconds=0.0001)) as hub:
        hub.add(REPO, {MODEL: CONTENT})
        location = plain.head(f"{hub.url}/{REPO}/resolve/main/{MODEL}").headers["Location"]
        until(lambda: plain.get(location).status_code == 403)


def test_faults_of_the_second_server(plain: httpx2.Client) -> None:
    with TestHub(cdn=Cdn()) as hub:
        hub.add(REPO, {MODEL: CONTENT})
        url = f"{hub.url}/{REPO}/resolve/main/{MODEL}"
        hub.fault(CdnStatus(status=503), Drop(after=10))
        location = plain.get(url).headers["Location"]
        assert plain.get(location, headers={"Authorization": "Bearer x"}).status_code == 503
        assert hub.cdn_requests[0].authorization == "Bearer x"
        came, error = take(plain, location)
        assert (came, type(error)) == (DATA[:10], httpx2.RemoteProtocolError)
        part = plain.get(location, headers={"Range": "bytes=10-"})
        assert (part.status_code, part.content) == (206, DATA[10:])
