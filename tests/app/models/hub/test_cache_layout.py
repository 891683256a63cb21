"""Hearth's files in the Hub's cache, as huggingface_hub finds them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from filelock import Timeout
from huggingface_hub import (
    constants,
    hf_hub_download,
    scan_cache_dir,
    snapshot_download,
    try_to_load_from_cache,
)
from huggingface_hub.utils._fixes import WeakFileLock

from app.models.hub.cache_layout import Slot
from engines.cancel import CancelToken
from engines.errors import Cancelled

REPO = "ada/Small-GGUF"
COMMIT = "7b7a68ff0fa709a294e12fa1d0b5f6e125c1f222"
BYTES = b"GGUF" * 1000
SHA256 = hashlib.sha256(BYTES).hexdigest()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "hub"


def slot(root: Path, repo: str = REPO, path: str = "small.gguf") -> Slot:
    made = Slot(root, repo, COMMIT, path, SHA256)
    made.prepare()
    return made


def placed(root: Path, **where: str) -> Path:
    made = slot(root, **where)
    made.part.write_bytes(BYTES)
    return made.place("main")


def test_other_tools_find_a_file(root: Path) -> None:
    path = placed(root, path="folder/small.gguf")
    assert path.read_bytes() == BYTES
    name = "folder/small.gguf"
    assert hf_hub_download(REPO, name, cache_dir=root, local_files_only=True) == str(path)
    assert try_to_load_from_cache(REPO, name, cache_dir=root) == str(path)
    snapshot = snapshot_download(REPO, cache_dir=root, local_files_only=True)
    assert Path(snapshot) == path.parent.parent
    scan = scan_cache_dir(root)
    assert not scan.warnings
    (repo,) = scan.repos
    (revision,) = repo.revisions
    assert (repo.repo_id, revision.commit_hash) == (REPO, COMMIT)
    assert set(revision.refs) == {"main"}
    assert scan.size_on_disk == len(BYTES)


def test_a_part_is_nothing_that_other_tools_see(root: Path) -> None:
    slot(root).part.write_bytes(BYTES[:100])
    scan = scan_cache_dir(root)
    assert not scan.warnings
    assert not scan.incomplete_files
    assert scan.size_on_disk == 0
    assert try_to_load_from_cache(REPO, "small.gguf", cache_dir=root) is None
    assert not list(root.rglob("*.gguf"))


def test_other_tools_can_delete_what_hearth_has_downloaded(root: Path) -> None:
    placed(root)
    scan_cache_dir(root).delete_revisions(COMMIT).execute()
    assert not list(root.rglob("small.gguf"))
    assert not list(root.rglob(SHA256))


def test_a_branch_leads_to_the_newest_commit_that_was_fetched(root: Path) -> None:
    placed(root)
    slot(root).refer("refs/pr/1")
    slot(root).refer(COMMIT)
    refs = root / "models--ada--Small-GGUF" / "refs"
    found = {path.relative_to(refs).as_posix() for path in refs.rglob("*") if path.is_file()}
    assert found == {"main", "refs/pr/1"}


def test_without_links_the_file_itself_lies_in_the_snapshot(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_SYMLINKS", True)
    path = placed(root)
    assert path.is_file()
    assert not path.is_symlink()
    assert not slot(root).blob.exists()
    assert slot(root).find(len(BYTES)) == path
    assert hf_hub_download(REPO, "small.gguf", cache_dir=root, local_files_only=True) == str(path)


def test_the_same_file_of_another_repository_is_shared(root: Path) -> None:
    placed(root, repo="bob/Copy-GGUF")
    here = slot(root)
    found = here.find(len(BYTES))
    assert found is not None
    here.take(found)
    assert here.pointer.read_bytes() == BYTES
    assert here.blob.stat().st_nlink == 2, "no byte was copied"
    scan_cache_dir(root).delete_revisions(COMMIT).execute()


def test_a_blob_of_another_size_is_not_taken(root: Path) -> None:
    placed(root)
    assert slot(root).find(len(BYTES) + 1) is None


def test_a_link_that_leads_nowhere_is_replaced(root: Path) -> None:
    path = placed(root)
    slot(root).blob.unlink()
    assert slot(root).find(len(BYTES)) is None
    assert placed(root) == path
    assert path.read_bytes() == BYTES


@pytest.mark.parametrize("path", ["../x.gguf", "a/../../x", "/x", "a//b", "a\\..\\b", "C:x", ""])
def test_a_path_that_leads_out_is_refused(root: Path, path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        slot(root, path=path)
    with pytest.raises(ValueError, match="path"):
        slot(root).refer(path)


def test_one_at_a_time_writes_a_blob(root: Path) -> None:
    here, cancel = slot(root), CancelToken()
    cancel.cancel()
    with here.locked(CancelToken()), pytest.raises(Cancelled), slot(root).locked(cancel):
        pytest.fail("two hold it")
    with slot(root).locked(cancel):
        pass  # the lock is free again


def test_the_library_waits_for_the_same_lock(root: Path) -> None:
    lock = root / ".locks" / "models--ada--Small-GGUF" / f"{SHA256}.lock"
    with slot(root).locked(CancelToken()), pytest.raises(Timeout), WeakFileLock(lock, timeout=0.1):
        pytest.fail("two hold it")
