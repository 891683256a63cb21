"""Fetching locked files by their hashes, complete and correct even from faulty indexes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import (
    AddressInvalid,
    AppError,
    EngineFileMissing,
    HostFailed,
    NoConnection,
    WrongBytes,
)
from app.models.hub.limiter import Limiter
from app.models.hub.retry import Patience
from app.models.hub.transfer import Terms
from app.net import Gate
from app.net.values.connections import LoggedConnection
from app.runtime.packages.config import Indexes
from app.runtime.packages.fetch import PackageFetcher, Progress
from app.runtime.packages.lookup import Lookup
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.vllm.provision.lock import LockedFile
from tests.hub.contents import Bytes
from tests.hub.messages import Reply
from tests.support.package_index import PackageIndex, Wheel, lock_of, made_vllm

WHEELS = made_vllm("1.0")
HELPER = WHEELS[1]
FILES = lock_of(WHEELS, (3, 11)).files
TERMS = Terms(Limiter(), Patience(attempts=3, first_s=0.01, most_s=0.02), stall_s=60)


def bring(
    gate: Gate,
    indexes: Indexes,
    folder: Path,
    files: tuple[LockedFile, ...] = FILES,
    told: list[Progress] | None = None,
    cancel: CancelToken | None = None,
) -> None:
    heard = [] if told is None else told
    PackageFetcher(gate, TERMS).fetch(
        files, Lookup(gate, indexes), folder, heard.append, cancel or CancelToken()
    )


def written(folder: Path) -> dict[str, bytes]:
    return {it.name: it.read_bytes() for it in folder.iterdir()}


WHOLE = {it.name: it.data for it in WHEELS}


@pytest.mark.parametrize("kind", ["json", "html"])
@pytest.mark.parametrize("sized", [True, False])
def test_files_come_from_an_index(
    index: PackageIndex,
    gate: Gate,
    connections: list[LoggedConnection],
    tmp_path: Path,
    kind: str,
    sized: bool,
) -> None:
    index.kind = kind  # type: ignore[assignment]
    index.wheels += WHEELS
    told: list[Progress] = []
    files = lock_of(WHEELS, (3, 11), sized).files
    bring(gate, Indexes((index.url,)), tmp_path, files, told)
    assert written(tmp_path) == WHOLE
    assert told[-1].done == told[-1].total == sum(len(it.data) for it in WHEELS)
    assert {it.purpose for it in connections} == {"get an engine"}


def test_what_is_on_this_computer_is_not_asked_for(
    index: PackageIndex, gate: Gate, tmp_path: Path
) -> None:
    index.wheels += WHEELS
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / HELPER.name).write_bytes(HELPER.data)
    bring(gate, Indexes((index.url,), (str(folder),)), tmp_path / "out")
    assert written(tmp_path / "out") == WHOLE
    assert not index.asked(HELPER.name)


def test_a_folder_of_pages_is_an_index_too(gate: Gate, tmp_path: Path) -> None:
    for it in WHEELS:
        page = tmp_path / "simple" / it.project / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text(f'<a href="../../files/{it.name}#sha256={it.sha256}">x</a>')
        place = tmp_path / "files" / it.name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(it.data)
    bring(gate, Indexes(((tmp_path / "simple").as_uri(),)), tmp_path / "out")
    assert written(tmp_path / "out") == WHOLE


def test_the_second_index_has_what_the_first_has_not(
    index: PackageIndex, gate: Gate, tmp_path: Path
) -> None:
    other = PackageIndex("html", [WHEELS[0]])
    try:
        index.wheels.append(HELPER)
        bring(gate, Indexes((index.url, other.url)), tmp_path)
    finally:
        other.close()
    assert written(tmp_path) == WHOLE


def test_a_file_of_the_same_name_and_another_hash_is_not_taken(
    index: PackageIndex, gate: Gate, tmp_path: Path
) -> None:
    index.wheels += [WHEELS[0], Wheel(HELPER.name, b"something else")]
    with pytest.raises(EngineFileMissing) as caught:
        bring(gate, Indexes((index.url,)), tmp_path)
    assert HELPER.name in caught.value.what
    assert "127.0.0.1" in caught.value.why
    assert not index.asked(f"/files/{HELPER.name}")


def test_a_cut_connection_is_gone_on_with(index: PackageIndex, gate: Gate, tmp_path: Path) -> None:
    index.wheels += WHEELS
    index.wrong[f"/files/{HELPER.name}"] = [lambda reply: replace(reply, drop_after=100_000)]
    told: list[Progress] = []
    bring(gate, Indexes((index.url,)), tmp_path, told=told)
    assert written(tmp_path) == WHOLE
    assert [it.range for it in index.asked(f"/files/{HELPER.name}")] == [None, "bytes=100000-"]
    assert any(it.trouble for it in told)


def test_what_another_run_has_brought_stays(
    index: PackageIndex, gate: Gate, tmp_path: Path
) -> None:
    """A kill leaves a partial file whose length is the number of received bytes."""
    index.wheels += WHEELS
    (tmp_path / f"{HELPER.name}.hearth-part").write_bytes(HELPER.data[:200_000])
    (tmp_path / WHEELS[0].name).write_bytes(WHEELS[0].data)
    bring(gate, Indexes((index.url,)), tmp_path)
    assert written(tmp_path) == WHOLE
    assert [it.range for it in index.asked(f"/files/{HELPER.name}")] == ["bytes=200000-"]
    assert not index.asked(WHEELS[0].name)


def test_a_file_that_was_damaged_since_comes_again(
    index: PackageIndex, gate: Gate, tmp_path: Path
) -> None:
    index.wheels += WHEELS
    (tmp_path / HELPER.name).write_bytes(b"x" + HELPER.data[1:])
    bring(gate, Indexes((index.url,)), tmp_path)
    assert written(tmp_path) == WHOLE


def test_wrong_bytes_are_not_kept(index: PackageIndex, gate: Gate, tmp_path: Path) -> None:
    index.wheels += WHEELS
    wrong = Bytes(b"x" * len(HELPER.data))
    index.wrong[f"/files/{HELPER.name}"] = [lambda reply: replace(reply, body=wrong)] * 9
    with pytest.raises(WrongBytes) as caught:
        bring(gate, Indexes((index.url,)), tmp_path)
    assert "Hub" not in str(caught.value)
    assert HELPER.name not in written(tmp_path)


def test_wrong_bytes_of_a_folder_are_not_kept(gate: Gate, tmp_path: Path) -> None:
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / HELPER.name).write_bytes(b"x" * len(HELPER.data))
    with pytest.raises(WrongBytes, match="tiny_helper"):
        bring(gate, Indexes((), (str(folder),)), tmp_path / "out", FILES[1:])


@pytest.mark.parametrize(
    ("status", "kind", "word"),
    [(403, HostFailed, "password"), (500, HostFailed, "later"), (410, HostFailed, "later")],
)
def test_an_index_that_refuses_is_named(
    index: PackageIndex, gate: Gate, tmp_path: Path, status: int, kind: type[AppError], word: str
) -> None:
    index.wrong["/tiny-helper"] = index.wrong["/tiny-helper/"] = [
        lambda reply: replace(reply, status=status)
    ] * 3
    with pytest.raises(kind) as caught:
        bring(gate, Indexes((index.url,)), tmp_path, FILES[1:])
    assert "127.0.0.1" in caught.value.what
    assert word in caught.value.do


def test_an_index_that_is_tired_is_asked_again(
    index: PackageIndex, gate: Gate, tmp_path: Path
) -> None:
    index.wheels += WHEELS
    index.wrong["/tiny-helper/"] = [lambda reply: replace(reply, status=503)]
    bring(gate, Indexes((index.url,)), tmp_path)
    assert written(tmp_path) == WHOLE


def test_a_file_that_its_index_names_and_does_not_give(
    index: PackageIndex, gate: Gate, tmp_path: Path
) -> None:
    index.wheels += WHEELS
    index.wrong[f"/files/{HELPER.name}"] = [lambda reply: replace(reply, status=404)] * 9
    with pytest.raises(HostFailed, match="404"):
        bring(gate, Indexes((index.url,)), tmp_path)


def test_a_page_that_is_no_index(index: PackageIndex, gate: Gate, tmp_path: Path) -> None:
    index.wheels += WHEELS
    index.wrong["/tiny-helper/"] = [lambda reply: replace(reply, body=Bytes(b"{}"))]
    with pytest.raises(HostFailed, match="package index"):
        bring(gate, Indexes((index.url,)), tmp_path, FILES[1:])


def test_no_index_at_that_address(gate: Gate, tmp_path: Path) -> None:
    with pytest.raises(NoConnection):
        bring(gate, Indexes(("http://127.0.0.1:9/simple",)), tmp_path)
    with pytest.raises((AddressInvalid, NoConnection)):
        bring(gate, Indexes(("http://127.0.0.1:99999/simple",)), tmp_path)


def test_no_index_is_configured(gate: Gate, tmp_path: Path) -> None:
    with pytest.raises(EngineFileMissing, match="no index is configured"):
        bring(gate, Indexes(), tmp_path)


def test_the_password_of_an_index_goes_to_it_and_is_never_told(
    index: PackageIndex, gate: Gate, tmp_path: Path
) -> None:
    address = index.url.replace("http://", "http://me:word@")
    with pytest.raises(EngineFileMissing) as caught:
        bring(gate, Indexes((address,)), tmp_path)
    assert "word" not in str(caught.value)
    assert index.requests[0].authorization == "Basic bWU6d29yZA=="


def test_a_cancel_ends_the_search_for_a_file(
    index: PackageIndex, gate: Gate, tmp_path: Path
) -> None:
    index.wheels += WHEELS
    cancel = CancelToken()

    def stall(reply: Reply) -> Reply:
        cancel.cancel()
        return replace(reply, stall_after=10)

    index.wrong["/tiny-helper/"] = [stall]
    with pytest.raises(Cancelled):
        bring(gate, Indexes((index.url,)), tmp_path, FILES[1:], cancel=cancel)
    assert len(index.requests) == 1, "it is not asked for again"


def test_a_cancel_ends_the_reading_of_what_is_here(
    index: PackageIndex, gate: Gate, tmp_path: Path
) -> None:
    (tmp_path / HELPER.name).write_bytes(HELPER.data)
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        bring(gate, Indexes((index.url,)), tmp_path, FILES[1:], cancel=cancel)


def test_a_cancel_ends_it_and_keeps_what_has_come(
    index: PackageIndex, gate: Gate, tmp_path: Path
) -> None:
    index.wheels += WHEELS
    index.wrong[f"/files/{HELPER.name}"] = [lambda reply: replace(reply, stall_after=150_000)]
    cancel = CancelToken()

    class Watching(list[Progress]):
        def append(self, progress: Progress) -> None:
            if progress.done >= 150_000:
                cancel.cancel()

    with pytest.raises(Cancelled):
        bring(gate, Indexes((index.url,)), tmp_path, told=Watching(), cancel=cancel)
    assert (tmp_path / f"{HELPER.name}.hearth-part").stat().st_size == 150_000
    bring(gate, Indexes((index.url,)), tmp_path)
    assert written(tmp_path) == WHOLE
