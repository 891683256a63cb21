"""Importing, checking, renaming, configuring and deleting models."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.base.errors import (
    DiskFull,
    ModelAmbiguous,
    ModelDiffers,
    ModelUnknown,
    NoSuchSetting,
    SettingsInvalid,
)
from app.models.downloads.values.downloads import Download, DownloadRequest
from app.models.hub.values.hub import RepoFile
from app.models.library.services.places import copying
from app.models.library.values.details import CheckedModel
from engines.cancel import CancelToken
from engines.errors import Cancelled, DrafterMismatch, NotAModel
from tests.app.models.library.services.places.conftest import Here
from tests.app.models.library.services.places.layouts import (
    COMMIT,
    put_in_ollama,
    put_on_hub,
    sha256,
    some_model,
    some_parts,
    write_projector,
)
from tests.engines.gguf_files import write_assistant, write_gemma4


def silent(_: float) -> None:
    """Ignore the progress."""


def check(here: Here, called: str) -> CheckedModel:
    return here.care.verify(called, silent, CancelToken())


def copy(here: Here, path: Path) -> str:
    entry = here.care.import_model(path, copy=True, progress=silent, cancel=CancelToken())
    return entry.id


class TestTakingIn:
    def test_a_file_where_it_lies(self, here: Here, source: Path) -> None:
        entry = here.care.import_model(source, copy=False, progress=silent, cancel=CancelToken())
        assert (entry.path, entry.source) == (source, "added")
        assert list(here.own.iterdir()) == []

    def test_a_copy_is_whole_checked_and_remembered(self, here: Here, source: Path) -> None:
        shares: list[float] = []
        entry = here.care.import_model(
            source, copy=True, progress=shares.append, cancel=CancelToken()
        )
        assert entry.path.read_bytes() == source.read_bytes()
        assert here.own in entry.path.parents
        assert (entry.sha256, entry.verified is not None) == (sha256(source), True)
        assert shares == sorted(shares)
        assert shares[-1] == 1.0
        assert [path.name for path in entry.path.parent.iterdir()] == ["m.gguf"]

    def test_copies_of_one_name_stay_two(self, here: Here, source: Path, tmp_path: Path) -> None:
        other = some_model(tmp_path / "b" / "m.gguf", context_length=4096)
        ids = [copy(here, source), copy(here, other)]
        assert len(set(ids)) == 2
        for called, file in zip(ids, (source, other), strict=True):
            assert here.library.find(called).path.read_bytes() == file.read_bytes()

    def test_all_parts_are_copied(self, here: Here, tmp_path: Path) -> None:
        entry = here.library.find(copy(here, some_parts(tmp_path / "sources")[0]))
        assert [path.name for path in entry.files] == [
            "big-00001-of-00002.gguf", "big-00002-of-00002.gguf",
        ]  # fmt: skip
        assert entry.verified is not None

    def test_a_model_of_several_files_that_was_added_is_all_of_them(
        self, here: Here, tmp_path: Path, trash: Path
    ) -> None:
        first, second = some_parts(tmp_path / "sources")
        entry = here.library.add(first)
        assert entry.files == (first, second)
        assert entry.size_bytes == first.stat().st_size + second.stat().st_size
        check(here, entry.id)
        with second.open("ab") as file:
            file.write(b"!")
        with pytest.raises(ModelDiffers, match=second.name):
            check(here, entry.id)
        here.care.delete(entry.id, with_file=True)
        assert not first.exists()
        assert not second.exists()

    def test_a_name_that_is_no_text_is_refused(self, here: Here, source: Path) -> None:
        nameless = source.rename(source.with_name("q\udce8.gguf"))
        with pytest.raises(NotAModel, match="invalid characters"):
            here.library.add(nameless)
        with pytest.raises(NotAModel, match="invalid characters"):
            copy(here, nameless)
        with pytest.raises(NotAModel, match="invalid characters"):
            here.library.find(str(nameless))

    def test_a_cancelled_copy_leaves_nothing(self, here: Here, source: Path) -> None:
        cancel = CancelToken()
        with pytest.raises(Cancelled):
            here.care.import_model(
                source, copy=True, progress=lambda _: cancel.cancel(), cancel=cancel
            )
        assert list(here.own.iterdir()) == []
        assert here.ids() == []

    def test_what_a_killed_copy_left_is_no_model_and_goes_in_time(
        self, here: Here, source: Path
    ) -> None:
        for name, age in (("old", 7200.0), ("new", 10.0)):
            part = here.own / name / "m.gguf.part"
            part.parent.mkdir()
            part.write_bytes(source.read_bytes())
            os.utime(part, (time.time() - age, time.time() - age))
        assert here.ids() == []
        copy(here, source)
        assert sorted(path.name for path in here.own.iterdir()) == ["m", "new"]
        assert here.ids() == ["m"]

    def test_a_full_disk_is_told_before(
        self, here: Here, source: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(copying, "SPARE", 1 << 60)
        with pytest.raises(DiskFull, match="not enough room"):
            copy(here, source)
        assert list(here.own.iterdir()) == []

    def test_a_disk_that_writes_something_else_is_found_out(
        self, here: Here, source: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(copying, "sha256_of", lambda *_: "0" * 64)
        with pytest.raises(ModelDiffers, match="not copied"):
            copy(here, source)
        assert list(here.own.iterdir()) == []

    def test_what_is_no_model_is_not_copied(self, here: Here, tmp_path: Path) -> None:
        text = tmp_path / "text.gguf"
        text.write_text("Not a model.\n")
        with pytest.raises(NotAModel):
            copy(here, text)
        with pytest.raises(DrafterMismatch):
            copy(here, write_assistant(tmp_path / "d.gguf"))
        assert list(here.own.iterdir()) == []

    def test_a_drafter_can_be_copied(self, here: Here, tmp_path: Path) -> None:
        here.library.add(write_gemma4(tmp_path / "gemma.gguf"))
        drafter = here.library.find(copy(here, write_assistant(tmp_path / "d.gguf")))
        assert drafter.drafts
        assert here.library.find("gemma").drafter == drafter.path


class TestVerify:
    def test_against_the_hub(self, here: Here, source: Path) -> None:
        link = put_on_hub(here.hub, "anna/m", "m.gguf", source)
        assert here.library.find("m").verified is None
        found = check(here, "m")
        assert (found.compared, found.sha256) == (True, sha256(source))
        assert here.again().library.find("m").verified is not None
        os.utime(link.resolve(), (1, 1))
        assert here.library.find("m").verified is None, "the file has changed since"

    @pytest.mark.parametrize("store", ["hub", "ollama", "copy"])
    def test_a_damaged_file_is_found(self, here: Here, source: Path, store: str) -> None:
        if store == "hub":
            put_on_hub(here.hub, "anna/m", "m.gguf", source)
        elif store == "ollama":
            put_in_ollama(here.ollama, "registry.ollama.ai/library/m/latest", source)
        else:
            copy(here, source)
        (called,) = here.ids()
        check(here, called)
        path = here.library.find(called).path
        facts = path.stat()
        with path.open("r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"!")
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        assert here.library.find(called).verified is not None, "it cannot be seen from outside"
        with pytest.raises(ModelDiffers):
            check(here, called)
        assert here.library.find(called).verified is None
        with pytest.raises(ModelDiffers):
            check(here.again(), called)

    def test_without_anything_to_compare_with_it_is_remembered(
        self, here: Here, source: Path
    ) -> None:
        here.library.add(source)
        assert not check(here, "m").compared
        assert check(here, "m").compared
        with source.open("ab") as file:
            file.write(b"more")
        with pytest.raises(ModelDiffers):
            check(here, "m")
        here.care.delete("m")
        here.library.add(source)
        assert not check(here, "m").compared, "it was added anew"

    def test_can_be_cancelled(self, here: Here, source: Path) -> None:
        here.library.add(source)
        cancel = CancelToken()
        cancel.cancel()
        with pytest.raises(Cancelled):
            here.care.verify("m", silent, cancel)
        assert here.library.find("m").verified is None

    def test_a_download_arrives_verified(self, here: Here, source: Path) -> None:
        link = put_on_hub(here.hub, "anna/m", "m.gguf", source)
        file = RepoFile("m.gguf", source.stat().st_size, sha256(source))
        wanted = DownloadRequest("anna/m", COMMIT, (file,), "m")
        here.care.downloaded(Download("1", wanted, "done"), [link])
        assert here.library.find("anna/m").verified is not None


class TestNames:
    def test_the_id_stays(self, here: Here, source: Path) -> None:
        put_on_hub(here.hub, "anna/m", "m.gguf", source)
        assert here.care.rename("m", "  My \n favourite ").name == "My favourite"
        entry = here.again().library.find("My favourite")
        assert (entry.id, entry.repo) == ("m", "anna/m")

    def test_no_two_models_are_called_the_same(self, here: Here, source: Path) -> None:
        here.library.add(source)
        for name in ("starter", "Starter guide"):
            with pytest.raises(ModelAmbiguous):
                here.care.rename("m", name)
        for name in ("  ", "m" * 201, "a\x1b[31mb", "a\udce8"):
            with pytest.raises(SettingsInvalid):
                here.care.rename("m", name)
        assert here.library.find("m").name == "m"

    def test_only_what_is_on_the_list_has_a_name_and_settings(
        self, here: Here, source: Path, trash: Path
    ) -> None:
        for path in (source, source.with_name("gone.gguf")):
            called = str(path)
            for change in (
                lambda called=called: here.care.rename(called, "Mine"),
                lambda called=called: here.care.set(called, "context", 512),
                lambda called=called: here.care.delete(called, with_file=True),
            ):
                with pytest.raises(ModelUnknown, match="not on the list"):
                    change()
        assert source.exists()


class TestSettings:
    def test_they_stay_with_the_model(self, here: Here, source: Path) -> None:
        put_on_hub(here.hub, "anna/m", "m.gguf", source)
        here.care.set("m", "temperature", "0.2")
        here.care.set("m", "context", 4096)
        assert here.again().care.settings("anna/m") == {"context": 4096, "temperature": 0.2}
        assert here.care.settings("starter") == {}
        assert here.care.set("m", "context", None) == {"temperature": 0.2}

    @pytest.mark.parametrize(
        ("name", "value"),
        [("temperature", "hot"), ("context", -1), ("kv_type", "q1"), ("mtp", "x")],
    )
    def test_impossible_values_are_refused(
        self, here: Here, source: Path, name: str, value: object
    ) -> None:
        here.library.add(source)
        with pytest.raises(SettingsInvalid):
            here.care.set("m", name, value)
        assert here.care.settings("m") == {}

    def test_not_everything_can_be_set_for_a_model(self, here: Here) -> None:
        with pytest.raises(NoSuchSetting, match="theme"):
            here.care.set("starter", "theme", "dark")

    def test_another_model_of_the_same_id_does_not_inherit(
        self, here: Here, source: Path, tmp_path: Path
    ) -> None:
        here.library.add(source)
        here.care.set("m", "temperature", 0.2)
        here.care.rename("m", "Old")
        here.library.remove("m")
        entry = here.library.add(some_model(tmp_path / "b" / "m.gguf", context_length=4096))
        assert (entry.id, entry.name) == ("m", "m")
        assert here.care.settings("m") == {}


def test_disk_use_counts_shared_bytes_once(
    here: Here, source: Path, tmp_path: Path, trash: Callable[[], None]
) -> None:
    put_on_hub(here.hub, "anna/m", "m.gguf", source)
    projector = write_projector(tmp_path / "p.gguf")
    put_on_hub(here.hub, "anna/m", "mmproj.gguf", projector)
    use = here.care.disk_use()
    assert use.models["m"] == source.stat().st_size + projector.stat().st_size
    assert use.total == sum(use.models.values())
