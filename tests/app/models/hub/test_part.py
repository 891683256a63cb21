"""A partial download on the disk: reserving space, remembering its validator, removing it."""

from __future__ import annotations

import errno
import hashlib
import os
import sys
from pathlib import Path

import pytest

from app.base.errors import AppError, DataFolderReadOnly, DiskFull
from app.models.hub.checksum import hasher, is_checksum, is_sha256, plain
from app.models.hub.part import PartFile, arrived, remove_part
from app.models.hub.space import as_download_errors
from engines.cancel import CancelToken

BYTES = b"GGUF" * 5000
SHA256 = hashlib.sha256(BYTES).hexdigest()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.hearth-part"


def test_the_whole_room_is_taken_and_the_length_stays(path: Path) -> None:
    with PartFile(path, len(BYTES), SHA256) as part:
        part.reserve()
        part.write(BYTES[:100])
    size, taken = arrived(path)
    assert size == 100
    assert taken >= len(BYTES) or not sys.platform.startswith("linux")


def test_no_room_to_reserve_is_an_error_of_the_system(path: Path) -> None:
    with PartFile(path, 1 << 60, SHA256) as part, pytest.raises(OSError, match=r"large|space"):
        part.reserve()
    assert arrived(path)[0] == 0


def test_what_was_written_before_an_error_counts(path: Path) -> None:
    with PartFile(path, len(BYTES), SHA256) as part:
        part.write(BYTES[:777])
        assert not part.complete
    with PartFile(path, len(BYTES), SHA256) as part:
        part.rehash(lambda done: None, CancelToken())
        assert part.size == 777
        part.write(BYTES[777:])
        assert part.is_correct
        part.sync()


def test_a_validator_is_remembered_with_its_server(path: Path) -> None:
    with PartFile(path, len(BYTES), SHA256) as part:
        part.remember("host:443", '"abc"')
    with PartFile(path, len(BYTES), SHA256) as part:
        assert (part.host, part.etag) == ("host:443", '"abc"')
        part.start_anew()
        assert part.etag is None


def test_removing_leaves_nothing(path: Path) -> None:
    with PartFile(path, len(BYTES), SHA256) as part:
        part.remember("host:443", '"abc"')
    remove_part(path)
    assert not list(path.parent.iterdir())
    remove_part(path)


def test_the_name_that_git_has_for_bytes() -> None:
    git = hasher("ce013625030ba8dba906f756967f9e9ca394464a", 6)
    git.update(b"hello\n")
    assert git.hexdigest() == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_what_is_a_checksum() -> None:
    assert is_sha256(SHA256)
    assert not is_sha256(SHA256[:40])
    assert is_checksum(SHA256[:40])
    assert not is_checksum("main")
    assert plain('W/"abc"') == plain('"abc"') == "abc"
    assert plain(None) is None


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.ENOSPC, DiskFull),
        (errno.EROFS, DataFolderReadOnly),
        (errno.EACCES, DataFolderReadOnly),
        (errno.EIO, AppError),
    ],
)
def test_the_system_s_errors_in_words(number: int, expected: type[AppError], path: Path) -> None:
    with pytest.raises(expected) as raised, as_download_errors(path, 3_000_000_000):
        raise OSError(number, os.strerror(number))
    assert all((raised.value.what, raised.value.why, raised.value.do))
    if expected is DiskFull:
        assert "3.0 GB" in raised.value.why
