"""States on disk: which ones are kept, for which chat, and that a bad file only costs time."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import stat
from array import array
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import pytest

from engines.llamacpp import native
from engines.llamacpp.file_identity import file_identity
from engines.llamacpp.native import Native, load_native
from engines.llamacpp.resume import states
from engines.llamacpp.resume.records import StateKey, StateRecord
from engines.llamacpp.resume.snapshots import (
    MOST,
    StateSnapshot,
    StateSnapshots,
    most_crowded,
)
from engines.llamacpp.resume.states import StateFolder
from engines.types import KvType
from tests.engines.llamacpp.opened import Opened
from tests.engines.llamacpp.random_models import Size, write_random_llama

KEY = StateKey("place", "build", "digest")
TINY = Size(layers=1, width=64, heads=2, kv_heads=1, inner=64)


def record(chat: str = "chat", *, count: int = 100, size: int = 1000, used: int = 1) -> StateRecord:
    return StateRecord(
        array("i", range(count)),
        bytearray(os.urandom(size)),
        (StateSnapshot(40, bytearray(b"forty")), StateSnapshot(90, bytearray(b"ninety"))),
        chat,
        bytearray(b"a drafter's"),
        used,
        (7, 8),
    )


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def test_what_was_stored_comes_back(tmp_path: Path) -> None:
    stored = record()
    assert StateFolder(tmp_path, 10_000).store(KEY, stored)
    folder = StateFolder(tmp_path, 10_000)
    (entry,) = folder.entries(KEY)
    assert entry.head.tokens == stored.tokens
    assert entry.head.snapshots == [40, 90]
    assert folder.load(entry) == replace(stored, chat=None, used=0)
    assert folder.known(KEY, "chat") == [[*stored.tokens, 7, 8]]
    assert folder.known(KEY, "another chat") == []
    assert folder.entries(StateKey("elsewhere", "build", "digest")) == []
    assert len(files(tmp_path)) == 1, "what is of another model stays"


def test_a_state_is_for_its_owner_alone_and_its_name_tells_nothing(tmp_path: Path) -> None:
    StateFolder(tmp_path / "states", 10_000).store(KEY, record("My secret plan"))
    (file,) = files(tmp_path / "states")
    assert "secret" not in file.name
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("place", [0, 9, 14, 40, 300, -2200, -2000, -500, -20, -8, -1])
def test_a_changed_byte_is_found_and_the_file_removed(tmp_path: Path, place: int) -> None:
    folder = StateFolder(tmp_path, 10_000)
    folder.store(KEY, record(size=2000))
    (file,) = files(tmp_path)
    data = bytearray(file.read_bytes())
    data[place] ^= 4
    file.write_bytes(data)
    again = StateFolder(tmp_path, 10_000)
    assert [again.load(entry) for entry in again.entries(KEY)] in ([], [None])
    assert not files(tmp_path)


@pytest.mark.parametrize("length", [0, 1, 23, 24, 100, 600, 1600, -1])
def test_a_file_that_is_cut_off_is_removed(tmp_path: Path, length: int) -> None:
    StateFolder(tmp_path, 10_000).store(KEY, record())
    (file,) = files(tmp_path)
    file.write_bytes(file.read_bytes()[:length])
    assert StateFolder(tmp_path, 10_000).entries(KEY) == []
    assert not files(tmp_path)


def test_a_file_that_shrinks_after_its_head_was_read_is_no_error(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path, 10_000)
    folder.store(KEY, record())
    (entry,) = folder.entries(KEY)
    os.truncate(entry.path, entry.size // 2)
    assert folder.load(entry) is None
    folder.store(KEY, record())
    (entry,) = folder.entries(KEY)
    entry.path.unlink()
    assert folder.load(entry) is None


def test_what_a_model_left_under_other_settings_is_removed(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path, 10_000)
    folder.store(KEY, record())
    assert folder.entries(StateKey("place", "build", "another digest")) == []
    assert not files(tmp_path)


def test_over_the_budget_the_oldest_leave_and_never_the_newer(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path, 6500)
    for used, chat in enumerate(["b", "c", "d"], start=2):
        assert folder.store(KEY, record(chat, used=used))
    assert len(files(tmp_path)) == 3
    assert not folder.store(KEY, record("a", used=1))
    assert folder.store(KEY, record("e", used=5))
    assert {entry.used for entry in folder.entries(KEY)} == {3, 4, 5}
    assert not folder.store(KEY, record("f", size=9000, used=6)), "larger than the whole budget"
    assert len(files(tmp_path)) == 3
    assert len(StateFolder(tmp_path, 4500).entries(KEY)) == 2
    assert StateFolder(tmp_path, 0).entries(KEY) == []


def test_a_longer_state_of_a_chat_replaces_the_shorter(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path, 10_000)
    folder.store(KEY, record(count=50))
    folder.store(KEY, record(count=60))
    folder.store(KEY, record("another chat", count=70))
    branch = record()
    folder.store(KEY, replace(branch, tokens=array("i", [*range(55), *range(9)])))
    lengths = sorted(len(entry.head.tokens) for entry in folder.entries(KEY))
    assert lengths == [60, 64, 70]
    assert folder.holds(KEY, "chat", array("i", range(60)))
    assert not folder.holds(KEY, "chat", array("i", range(61)))


def test_a_deleted_chat_leaves_nothing_and_comes_never_back(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path, 10_000)
    folder.store(KEY, record("kept"))
    folder.store(KEY, record("deleted"))
    folder.forget("deleted")
    assert len(files(tmp_path)) == 1
    assert not folder.store(KEY, record("deleted"))
    assert len(files(tmp_path)) == 1
    folder.clear()
    assert not files(tmp_path)


def test_only_a_named_chat_goes_to_disk(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="without a name"):
        StateFolder(tmp_path, 10_000).store(KEY, replace(record(), chat=None))


class FullDisk(BytesIO):
    """A file that takes 700 bytes, then no more."""

    def write(self, data: object) -> int:
        if self.tell() + len(bytes(data)) > 700:  # type: ignore[call-overload]
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(data)  # type: ignore[arg-type]


def test_a_full_disk_is_a_line_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = StateFolder(tmp_path, 10_000)
    folder.store(KEY, record("before"))

    really = Path.open

    def full(path: Path, mode: str) -> IO[Any]:
        return FullDisk() if "w" in mode else really(path, mode)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", full)
        assert not folder.store(KEY, record())
    assert "No space left on device" in caplog.text
    assert len(files(tmp_path)) == 1, "nothing half written stays, and the other one does"
    assert folder.store(KEY, record())


def test_a_folder_that_cannot_be_made_is_a_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    folder = StateFolder(tmp_path / "file" / "states", 10_000)
    assert not folder.store(KEY, record())
    assert folder.entries(KEY) == []
    assert any(entry.levelno == logging.WARNING for entry in caplog.records)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_a_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tmp_path.chmod(0o500)
    assert not StateFolder(tmp_path, 10_000).store(KEY, record())
    tmp_path.chmod(0o700)
    assert "cannot be written" in caplog.text


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(
    tmp_path: Path,
) -> None:
    for name in (f"x-1.{os.getpid()}.part", f"x-2.{2**22 + 1}.part", f"x-3.{os.getppid()}.part"):
        (tmp_path / name).write_bytes(b"half")
    StateFolder(tmp_path, 10_000)
    assert [path.name for path in files(tmp_path)] == [f"x-3.{os.getppid()}.part"]


def test_a_file_is_known_by_its_size_its_time_and_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    data = bytearray(os.urandom(5_000_000))
    file.write_bytes(data)
    known = file_identity(file)
    assert file_identity(file) == known
    os.utime(file, ns=(1, 1))
    at_one = file_identity(file)
    assert at_one != known
    file.write_bytes(os.urandom(5_000_000))
    os.utime(file, ns=(1, 1))
    assert file_identity(file) != at_one
    (tmp_path / "empty").touch()
    assert file_identity(tmp_path / "empty")


def resumed(model: Path, folder: Path, **plan: object) -> int:
    """Return how many of a chat's 300 tokens a new process must evaluate; keep its state."""
    opened = Opened(model, states=folder, **plan)  # type: ignore[arg-type]
    opened.answer(opened.words(300, seed=1), "chat", count=2)
    opened.cache.save_to_disk()
    opened.close()
    return opened.evaluated


def test_only_the_same_model_with_the_same_settings_goes_on(tmp_path: Path) -> None:
    model, folder = write_random_llama(tmp_path / "model.gguf", TINY), tmp_path / "states"
    assert resumed(model, folder) == 300
    assert resumed(model, folder) == 1
    assert resumed(model, folder, context=512, batch=128, threads=2) == 1
    assert resumed(model, folder, kv_type="q8_0") == 300
    assert resumed(model, folder, kv_type="q8_0") == 1
    assert len(files(folder)) == 1, "the one of the other KV type is removed"
    write_random_llama(model, TINY)
    assert resumed(model, folder, kv_type="q8_0") == 300, "another file with the same bytes"


def key_of(model: Path, **plan: object) -> StateKey:
    opened = Opened(model, **plan)  # type: ignore[arg-type]
    opened.close()
    return opened.key


def test_the_key_names_the_type_of_the_cache_and_no_state_of_another_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """llama.cpp would refuse it too, but must not even see bytes made for another type."""
    model, folder = write_random_llama(tmp_path / "model.gguf", TINY), tmp_path / "states"
    kinds: tuple[KvType, ...] = ("f16", "q8_0", "q4_0")
    assert len({key_of(model, kv_type=kind).digest for kind in kinds}) == len(kinds)
    resumed(model, folder)
    monkeypatch.setattr(states, "read_record", pytest.fail)
    assert resumed(model, folder, kv_type="q8_0") == 300


def build_of(library: Path) -> str:
    bare = Native.__new__(Native)
    bare.library = library
    return bare.build


def test_a_build_is_named_by_its_versions_and_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = load_native().library
    again, patched = tmp_path / "again", tmp_path / "patched"
    shutil.copyfile(ours, again)
    patched.write_bytes(ours.read_bytes() + b"other code of the same version")
    names = {build_of(ours), build_of(patched)}
    assert build_of(again) in names, "a library that was installed again is no other build"
    assert build_of(ours) == load_native().build
    for name, other in (("BINDINGS_VERSION", "0.3.37"), ("LIBRARY_VERSION", b"0.6.0")):
        with monkeypatch.context() as changed:
            changed.setattr(native, name, other)
            names.add(build_of(ours))
    assert len(names) == 4


def test_states_of_another_build_are_removed_unread_with_a_line_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """So are those of other models: no chat needs them any more, and they take space."""
    one = write_random_llama(tmp_path / "one.gguf", TINY)
    other = write_random_llama(tmp_path / "other.gguf", replace(TINY, inner=96))
    folder = tmp_path / "states"
    assert [resumed(model, folder) for model in (one, other)] == [300, 300]
    before = load_native().build
    assert key_of(one).build == before
    monkeypatch.setattr(load_native(), "build", "1.0.0 0.4.0 abcd")
    with monkeypatch.context() as patched, caplog.at_level(logging.INFO, states.__name__):
        patched.setattr(states, "read_record", pytest.fail)
        old = files(folder)
        assert resumed(one, folder) == 300
    line = f"a saved state is removed: another build has written it: {before}"
    assert [it.getMessage() for it in caplog.records if it.name == states.__name__] == [line] * 2
    assert len(files(folder)) == 1
    assert not set(files(folder)) & set(old)
    assert resumed(one, folder) == 1


def test_two_models_keep_their_states_side_by_side(tmp_path: Path) -> None:
    one = write_random_llama(tmp_path / "one.gguf", TINY)
    other = write_random_llama(tmp_path / "other.gguf", replace(TINY, inner=96))
    folder = tmp_path / "states"
    assert [resumed(model, folder) for model in (one, other, one, other)] == [300, 300, 1, 1]


def test_a_context_too_small_for_a_state_ignores_it(tmp_path: Path) -> None:
    model, folder = write_random_llama(tmp_path / "model.gguf", TINY), tmp_path / "states"
    resumed(model, folder)
    opened = Opened(model, states=folder, context=256)
    prompt = opened.words(100, seed=1)
    opened.answer(prompt, "chat", count=2)
    assert opened.evaluated == 100
    assert len(files(folder)) == 1, "it is of use again in a larger one"
    opened.close()


def test_a_damaged_state_is_evaluated_again_with_the_same_answer(tmp_path: Path) -> None:
    model, folder = write_random_llama(tmp_path / "model.gguf", TINY), tmp_path / "states"
    opened = Opened(model, states=folder)
    prompt = opened.words(300, seed=1)
    expected = opened.answer(prompt, "chat")
    opened.cache.save_to_disk()
    opened.close()
    (file,) = files(folder)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    opened = Opened(model, states=folder)
    assert opened.answer(prompt, "chat") == expected
    assert opened.evaluated == 300
    assert not files(folder)
    opened.close()


def test_bytes_that_llama_does_not_take_are_removed(tmp_path: Path) -> None:
    """The checksum is right, but the content is no state of this model."""
    model, folder = write_random_llama(tmp_path / "model.gguf", TINY), tmp_path / "states"
    opened = Opened(model, states=folder)
    prompt = opened.words(300, seed=1)
    assert opened.folder is not None
    wrong = StateRecord(array("i", prompt[:200]), bytearray(b"no state at all"), chat="chat")
    opened.folder.store(opened.key, wrong)
    expected = opened.answer(prompt, "chat")
    assert opened.evaluated == 300
    assert not files(folder)
    assert opened.answer(prompt, "chat") == expected
    opened.close()


def test_a_scratch_chat_leaves_no_trace_on_disk(tmp_path: Path) -> None:
    model, folder = write_random_llama(tmp_path / "model.gguf", TINY), tmp_path / "states"
    opened = Opened(model, states=folder)
    scratch, named = opened.words(200, seed=1), opened.words(200, seed=2)
    opened.answer(scratch, None)
    opened.answer(named, "chat")
    opened.answer(scratch, None)
    assert opened.evaluated == 1, "memory may remember it"
    opened.cache.save_to_disk()
    (entry,) = opened.folder.entries(opened.key) if opened.folder else []
    assert entry.head.tokens[:200].tolist() == named
    opened.close()


def test_a_named_chat_survives_a_scratch_request_about_it(tmp_path: Path) -> None:
    """The request for a chat's title is like this: the same messages, and a question after them."""
    model, folder = write_random_llama(tmp_path / "model.gguf", TINY), tmp_path / "states"
    opened = Opened(model, states=folder)
    prompt = opened.words(300, seed=1)
    opened.answer(prompt, "chat", count=2)
    opened.answer([*opened.cache.tokens, *opened.words(20, seed=2)], None, count=2)
    assert opened.evaluated == 20
    opened.cache.save_to_disk()
    opened.close()
    assert resumed(model, folder) == 1


def test_a_chat_deleted_while_it_is_live_is_not_put_away(tmp_path: Path) -> None:
    model, folder = write_random_llama(tmp_path / "model.gguf", TINY), tmp_path / "states"
    opened = Opened(model, states=folder)
    opened.answer(opened.words(200, seed=1), "first")
    opened.answer(opened.words(200, seed=2), "second")
    assert opened.folder is not None
    opened.folder.forget("first")
    opened.folder.forget("second")
    opened.cache.save_to_disk()
    assert not files(folder)
    assert not opened.cache.states.in_memory
    opened.close()


def test_what_has_not_changed_is_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, folder = write_random_llama(tmp_path / "model.gguf", TINY), tmp_path / "states"
    resumed(model, folder)
    (before,) = files(folder)
    opened = Opened(model, states=folder)
    opened.answer(opened.words(300, seed=1), "chat", count=1)
    monkeypatch.setattr(states, "replacing", pytest.fail)
    opened.cache.save_to_disk()
    assert files(folder) == [before]
    opened.close()


class KeptRows:
    """A drafter that keeps a part of the live sequence."""

    def __init__(self) -> None:
        self.got: list[bytearray | None] = []

    def save(self) -> bytearray:
        return bytearray(b"hidden rows")

    def restore(self, saved: bytearray | None) -> None:
        self.got.append(saved)


def test_a_drafter_gets_back_what_it_kept(tmp_path: Path) -> None:
    model, folder = write_random_llama(tmp_path / "model.gguf", TINY), tmp_path / "states"
    for expected in ([], [bytearray(b"hidden rows")]):
        drafting = KeptRows()
        opened = Opened(model, states=folder, drafting=drafting)
        opened.answer(opened.words(300, seed=1), "chat")
        assert drafting.got == expected
        opened.cache.save_to_disk()
        opened.close()


def test_checkpoints_thin_out_but_for_the_last_two() -> None:
    assert most_crowded([100, 200, 210, 300, 400]) == 2
    assert most_crowded([100, 400, 401, 402]) == 1
    assert most_crowded([5]) == 0
    checkpoints = StateSnapshots(10_000)
    for length in range(100, 5000, 100):
        checkpoints.add(StateSnapshot(length, bytearray(10)))
    lengths = checkpoints.lengths
    assert len(lengths) == MOST
    assert lengths[-2:] == [4800, 4900]
    gaps = [after - before for before, after in zip([0, *lengths], lengths, strict=False)]
    assert max(gaps) <= 1600
    small = StateSnapshots(25)
    for length in (100, 200, 300):
        small.add(StateSnapshot(length, bytearray(10)))
    assert small.lengths == [200, 300]
    assert not small.fits(26)
