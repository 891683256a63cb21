"""Values kept in a small file come back; a bad file or disk only loses them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engines.json_cache import JsonCache, ValueCache

PAGES = {"one": {"a": 1.5}, "two": None}


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Limit the size of files, like a disk that is nearly full."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_pages_come_back_and_the_folder_is_made(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "book.json"
    assert JsonCache(file).read() == {}
    JsonCache(file).write(PAGES)
    assert JsonCache(file).read() == PAGES
    assert json.loads(file.read_text(encoding="utf-8")) == PAGES
    assert list(file.parent.iterdir()) == [file]


def test_without_a_path_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    JsonCache(None).write(PAGES)
    assert JsonCache(None).read() == {}
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b"null", b"\xff\xfe\x00", b'{"a": "\xed"}', b"[" * 100_000]
)
def test_a_damaged_file_counts_as_empty_and_is_written_anew(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "book.json"
    file.write_bytes(content)
    assert JsonCache(file).read() == {}
    assert "book.json" in caplog.text
    JsonCache(file).write(PAGES)
    assert JsonCache(file).read() == PAGES


def test_what_is_no_file_is_neither_read_nor_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "book.json"
    place.mkdir()
    assert JsonCache(place).read() == {}
    JsonCache(place).write(PAGES)
    assert "book.json was not written" in caplog.text
    assert list(tmp_path.iterdir()) == [place]


def test_a_folder_that_cannot_be_made_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    JsonCache(tmp_path / "file" / "book.json").write(PAGES)
    assert "book.json was not written" in caplog.text


@pytest.mark.skipif(sys.platform == "win32", reason="a file's size has no limit there")
def test_on_a_full_disk_the_old_file_stays_whole(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "book.json"
    JsonCache(file).write(PAGES)
    with room_for(100):
        JsonCache(file).write({"long": "x" * 1000})
    assert "book.json was not written" in caplog.text
    assert JsonCache(file).read() == PAGES
    assert list(tmp_path.iterdir()) == [file]


def number(page: object) -> int | None:
    return page if isinstance(page, int) else None


def test_the_newest_value_is_the_last_and_the_oldest_leave(tmp_path: Path) -> None:
    file = tmp_path / "book.json"
    book = ValueCache(file, number, int, most=3)
    for key, value in (("a", 1), ("b", 2), ("c", 3), ("a", 4)):
        book.keep(key, value)
    assert list(JsonCache(file).read().items()) == [("b", 2), ("c", 3), ("a", 4)]
    book.keep("d", 5)
    assert list(JsonCache(file).read()) == ["c", "a", "d"]
    assert (book.get("b"), book.get("a")) == (None, 4)
    book.remove("a")
    assert ValueCache(file, number, int, most=3).get("a") is None


def test_two_books_on_one_file_lose_nothing_of_each_other(tmp_path: Path) -> None:
    first, second = (ValueCache(tmp_path / "book.json", number, int, most=9) for _ in range(2))
    first.keep("a", 1)
    second.keep("b", 2)
    later = ValueCache(tmp_path / "book.json", number, int, most=9)
    assert (later.get("a"), later.get("b")) == (1, 2)


def test_a_page_that_is_no_value_counts_as_none(tmp_path: Path) -> None:
    JsonCache(tmp_path / "book.json").write({"a": "one", "b": 2})
    book = ValueCache(tmp_path / "book.json", number, int, most=9)
    assert (book.get("a"), book.get("b")) == (None, 2)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other pipes")
def test_a_pipe_in_its_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "book.json")
    assert JsonCache(tmp_path / "book.json").read() == {}
