"""Deleting models: which files go to the trash, the space this frees, and the files that stay."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from app.base.errors import ModelNotOurs, ModelUnknown, TrashFailed
from engines.cancel import CancelToken
from tests.app.models.library.services.places.conftest import Here
from tests.app.models.library.services.places.layouts import (
    COMMIT,
    OTHER_COMMIT,
    put_in_ollama,
    put_on_hub,
    sha256,
    some_model,
    write_projector,
)


def copy(here: Here, path: Path) -> str:
    return here.care.import_model(path, copy=True, progress=lambda _: None, cancel=CancelToken()).id


def test_a_copy_goes_to_the_trash(here: Here, source: Path, trash: Path) -> None:
    called = copy(here, source)
    gone = here.care.delete(called)
    assert gone.frees == source.stat().st_size
    assert [path.name for path in trash.iterdir()] == ["m.gguf"]
    assert (here.ids(), list(here.own.iterdir())) == ([], [])


def test_it_never_hits_another_model_of_its_name(
    here: Here, source: Path, tmp_path: Path, trash: Path
) -> None:
    copy(here, source)
    copy(here, some_model(tmp_path / "b" / "m.gguf", context_length=4096))
    assert here.ids() == ["m", "m-2"]
    here.care.delete("m")
    with pytest.raises(ModelUnknown, match="m-2 has that name"):
        here.care.delete("m")
    assert here.ids() == ["m-2"]


def test_a_folder_that_has_gone_is_no_trouble(here: Here, source: Path) -> None:
    folder = here.own / "hand-made"
    folder.mkdir()
    entry = here.library.add(Path(shutil.copy(source, folder / ".hidden.gguf")))
    shutil.rmtree(folder)
    assert here.care.delete(entry.id).files == ()
    assert here.ids() == []


def test_what_was_added_in_place_only_leaves_the_list(
    here: Here, source: Path, trash: Path
) -> None:
    here.library.add(source)
    gone = here.care.delete("m")
    assert (gone.files, gone.frees, source.exists()) == ((), 0, True)
    here.library.add(source)
    assert here.care.delete("m", with_file=True).frees > 0
    assert (source.exists(), len(list(trash.iterdir()))) == (False, 1)


def test_the_hub_loses_link_and_blob(here: Here, source: Path, trash: Path) -> None:
    for commit in (COMMIT, OTHER_COMMIT):
        put_on_hub(here.hub, "anna/m", "m.gguf", source, commit)
    gone = here.care.delete("m")
    assert gone.frees == source.stat().st_size
    assert [path.name for path in trash.iterdir()] == [sha256(source)]
    assert (here.ids(), list(here.hub.iterdir())) == ([], [])


def test_a_blob_that_another_file_uses_stays(here: Here, source: Path, trash: Path) -> None:
    link = put_on_hub(here.hub, "anna/m", "m.gguf", source, COMMIT)
    put_on_hub(here.hub, "anna/m", "renamed.gguf", source, OTHER_COMMIT)
    assert here.library.find("anna/m").revision == OTHER_COMMIT
    gone = here.care.delete("anna/m")
    assert (gone.frees, trash.exists(), link.exists()) == (0, False, True)
    assert here.library.find("anna/m").file == "m.gguf"


def test_the_cache_stays_whole_for_other_tools(
    here: Here, source: Path, tmp_path: Path, trash: Path
) -> None:
    from huggingface_hub import scan_cache_dir

    put_on_hub(here.hub, "anna/m", "m-Q4_0.gguf", source)
    other = some_model(tmp_path / "o.gguf", context_length=4096)
    put_on_hub(here.hub, "anna/m", "m-Q8_0.gguf", other)
    part = here.hub / "models--anna--m" / "blobs" / "123.incomplete"
    part.touch()
    here.care.delete("anna/m:Q4_0")
    info = scan_cache_dir(here.hub)
    assert [repo.nb_files for repo in info.repos] == [1]
    here.care.delete("anna/m:Q8_0")
    assert part.exists(), "a download that is on its way is left alone"
    assert len(list(trash.iterdir())) == 2


def test_sidecars_go_with_the_last_model_of_a_repository(
    here: Here, source: Path, tmp_path: Path, trash: Path
) -> None:
    put_on_hub(here.hub, "anna/m", "m-Q4_0.gguf", source)
    put_on_hub(here.hub, "anna/m", "m-Q8_0.gguf", some_model(tmp_path / "o.gguf", context_length=1))
    put_on_hub(here.hub, "anna/m", "mmproj.gguf", write_projector(tmp_path / "p.gguf"))
    here.care.delete("anna/m:Q4_0")
    assert len(list(trash.iterdir())) == 1
    here.care.delete("anna/m:Q8_0")
    assert (len(list(trash.iterdir())), list(here.hub.iterdir())) == (3, [])


def test_bytes_that_another_name_holds_are_not_freed(
    here: Here, source: Path, trash: Path, tmp_path: Path
) -> None:
    link = put_on_hub(here.hub, "anna/m", "m.gguf", source)
    os.link(link.resolve(), tmp_path / "kept")
    assert here.care.removal("m").frees == 0


def test_other_programs_and_the_guide_are_left_alone(
    here: Here, source: Path, tmp_path: Path
) -> None:
    blob = put_in_ollama(here.ollama, "registry.ollama.ai/library/m/latest", source)
    for called in ("m-latest", "starter"):
        for with_file in (False, True):
            with pytest.raises(ModelNotOurs):
                here.care.delete(called, with_file=with_file)
    assert blob.exists()
    here.further.append(tmp_path / "sources")
    shutil.copy(some_model(tmp_path / "x.gguf", context_length=4096), tmp_path / "sources")
    with pytest.raises(ModelNotOurs, match="only reads"):
        here.care.delete("x")
    with pytest.raises(ModelUnknown):
        here.library.remove("x")


def test_they_are_left_alone_also_where_a_file_of_theirs_was_added(
    here: Here, source: Path, trash: Path
) -> None:
    theirs = here.lm_studio / "models" / "anna" / "m" / "m.gguf"
    theirs.parent.mkdir(parents=True)
    shutil.copy(source, theirs)
    link = put_on_hub(
        here.hub, "anna/hub", "h.gguf", some_model(source.with_name("h.gguf"), context_length=1)
    )
    for path in (theirs, link):  # an older version, which did not find models by itself, added them
        here.store.add(path.stem, path, drafts=False, reserved=[])
    with pytest.raises(ModelNotOurs, match="LM Studio"):
        here.care.delete("m", with_file=True)
    assert theirs.exists()
    blob = link.resolve()
    assert here.care.delete("h", with_file=True).files == (blob,)
    assert not blob.exists()
    here.care.delete("m")
    assert here.library.find("m").source == "lmstudio"


def test_the_litter_of_file_managers_is_no_snapshot(here: Here, source: Path, trash: Path) -> None:
    link = put_on_hub(here.hub, "anna/m", "m.gguf", source)
    (link.parent.parent / ".DS_Store").touch()
    here.care.delete("m")
    assert list(here.hub.iterdir()) == []


def test_where_there_is_no_trash_nothing_is_lost(
    here: Here, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import send2trash

    def fail(_: str) -> None:
        raise OSError(1, "no trash here")

    monkeypatch.setattr(send2trash, "send2trash", fail)
    link = put_on_hub(here.hub, "anna/m", "m.gguf", source)
    with pytest.raises(TrashFailed, match="no trash here"):
        here.care.delete("m")
    assert link.exists()
    assert here.ids() == ["m"]
