"""All models in one list: their ids, duplicates, and scanning again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import ModelAmbiguous, ModelUnknown
from app.models.library.services.places import files, found_models
from app.models.library.services.places.found_models import FoundModels
from app.models.library.services.places.scan import Scan
from engines.models.gguf.glance import Glance
from tests.app.models.library.services.places.conftest import Here
from tests.app.models.library.services.places.layouts import (
    COMMIT,
    OTHER_COMMIT,
    put_in_jan,
    put_in_ollama,
    put_on_hub,
    some_model,
)
from tests.engines.gguf_files import write_assistant, write_gemma4
from tests.support.paths import ROOT


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """Write three models with the same name and different content."""
    return [
        some_model(tmp_path / "sources" / str(number) / "m.gguf", context_length=number * 1024)
        for number in (1, 2, 3)
    ]


def test_all_places_are_one_list(here: Here, tmp_path: Path) -> None:
    def model(number: int) -> Path:
        return some_model(tmp_path / f"{number}.gguf", context_length=1024 + number)

    shutil.copy(model(1), here.own / "own.gguf")
    (tmp_path / "more").mkdir()
    shutil.copy(model(2), tmp_path / "more" / "further.gguf")
    here.further.append(tmp_path / "more")
    put_on_hub(here.hub, "anna/hub", "hub.gguf", model(3))
    put_in_ollama(here.ollama, "registry.ollama.ai/library/llama/latest", model(4))
    (here.lm_studio / "models" / "anna" / "lm").mkdir(parents=True)
    shutil.copy(model(5), here.lm_studio / "models" / "anna" / "lm" / "lm.gguf")
    put_in_jan(here.jan / "data", "jan", model(6))
    here.gpt4all.mkdir()
    shutil.copy(model(7), here.gpt4all / "four.gguf")
    added = here.library.add(model(8))
    entries = {entry.id: entry for entry in here.library.entries()}
    assert {name: entry.source for name, entry in entries.items()} == {
        "starter": "builtin", added.id: "added", "own": "folder", "further": "folder",
        "hub": "hub", "llama-latest": "ollama", "lm": "lmstudio", "jan": "jan",
        "four": "gpt4all",
    }  # fmt: skip
    assert all(entry.size_bytes > 0 for entry in entries.values() if not entry.builtin)
    for name, entry in entries.items():
        assert here.library.find(name).path == entry.path


def test_two_files_of_one_name_never_mix(here: Here, sources: list[Path]) -> None:
    for number, source in enumerate(sources, start=1):
        put_on_hub(here.hub, f"owner{number}/m-GGUF", "m.gguf", source)
    assert here.ids() == ["m", "m-2", "m-3"]
    assert {here.library.find(called).repo for called in here.ids()} == {
        "owner1/m-GGUF", "owner2/m-GGUF", "owner3/m-GGUF",
    }  # fmt: skip
    for number, source in enumerate(sources, start=1):
        found = here.library.find(f"owner{number}/m-GGUF")
        assert found.path.read_bytes() == source.read_bytes()


def test_an_id_stays_with_its_file(here: Here, sources: list[Path]) -> None:
    for number, source in enumerate(sources[:2], start=1):
        put_on_hub(here.hub, f"owner{number}/m", "m.gguf", source)
    second = here.library.find("owner2/m")
    shutil.rmtree(here.hub / "models--owner1--m")
    here.library.refresh()
    assert here.ids() == [second.id]
    assert here.again().ids() == [second.id]
    put_on_hub(here.hub, "owner3/m", "m.gguf", sources[2])
    assert here.again().library.find("owner3/m").id not in ("m", second.id), "m was owner1's"
    put_on_hub(here.hub, "owner1/m", "m.gguf", sources[0])
    assert here.again().library.find("owner1/m").id == "m"


def test_the_bytes_of_one_repository_change(here: Here, sources: list[Path]) -> None:
    put_on_hub(here.hub, "anna/m", "m.gguf", sources[0], COMMIT)
    before = here.library.find("anna/m")
    shutil.rmtree(here.hub / "models--anna--m")
    put_on_hub(here.hub, "anna/m", "m.gguf", sources[1], OTHER_COMMIT)
    assert here.again().library.find("anna/m").id != before.id


def test_one_file_on_several_ways_is_one_model(here: Here, sources: list[Path]) -> None:
    link = put_on_hub(here.hub, "anna/m", "m.gguf", sources[0])
    os.link(link.resolve(), here.own / "hard.gguf")
    folder = here.lm_studio / "models" / "anna" / "m"
    folder.mkdir(parents=True)
    (folder / "m.gguf").symlink_to(link)
    (entry,) = here.library.entries()[1:]
    assert (entry.source, entry.repo) == ("hub", "anna/m")


def test_the_same_bytes_from_two_repositories_can_be_asked_for_by_both(
    here: Here, sources: list[Path]
) -> None:
    one = put_on_hub(here.hub, "anna/m", "m.gguf", sources[0])
    two = put_on_hub(here.hub, "berta/m", "m.gguf", sources[0])
    two.resolve().unlink()
    os.link(one.resolve(), two.parent / two.readlink())
    assert len(here.ids()) == 2
    assert here.library.find("berta/m").repo == "berta/m"
    use = here.care.disk_use()
    assert [use.models[name] for name in here.ids()] == [sources[0].stat().st_size] * 2
    assert use.total == use.models["starter"] + sources[0].stat().st_size


def test_what_was_added_keeps_its_id_and_gains_what_is_known_of_it(
    here: Here, sources: list[Path], tmp_path: Path
) -> None:
    file = Path(shutil.copy(sources[0], tmp_path / "mine.gguf"))
    added = here.library.add(file)
    link = put_on_hub(here.hub, "anna/m", "m.gguf", sources[0])
    link.resolve().unlink()
    os.link(file, link.parent / link.readlink())
    (entry,) = here.library.entries()[1:]
    assert (entry.id, entry.path, entry.source) == (added.id, file, "added")
    assert (entry.repo, entry.sha256) == ("anna/m", link.readlink().name)


@pytest.mark.parametrize(
    "called",
    ["anna/M-GGUF", "Anna/m-gguf", "anna/M-GGUF:Q4_K_M", "anna/M-GGUF:q4_k_m",
     "anna/M-GGUF/M-Q4_K_M.gguf", "m-q4-k-m", "M-Q4_K_M"],
)  # fmt: skip
def test_a_model_is_found_by_what_people_call_it(
    here: Here, sources: list[Path], called: str
) -> None:
    put_on_hub(here.hub, "anna/M-GGUF", "M-Q4_K_M.gguf", sources[0])
    assert here.library.find(called).repo == "anna/M-GGUF"


def test_of_several_quantisations_one_has_to_be_named(here: Here, sources: list[Path]) -> None:
    put_on_hub(here.hub, "anna/M", "M-Q4_K_M.gguf", sources[0])
    put_on_hub(here.hub, "anna/M", "M-Q8_0.gguf", sources[1])
    with pytest.raises(ModelAmbiguous) as caught:
        here.library.find("anna/M")
    assert "m-q4-k-m, m-q8-0" in caught.value.why
    assert here.library.find("anna/M:Q8_0").id == "m-q8-0"
    with pytest.raises(ModelUnknown):
        here.library.find("anna/M:Q2_K")


def test_a_new_file_is_seen_and_one_that_has_gone_leaves(here: Here, sources: list[Path]) -> None:
    assert here.ids() == []
    shutil.copy(sources[0], here.own / "new.gguf")
    assert here.ids() == ["new"]
    (here.own / "new.gguf").unlink()
    assert here.ids() == []
    put_on_hub(here.hub, "anna/m", "deep/down/m.gguf", sources[0])
    assert here.ids() == ["m"]


def test_nothing_is_opened_as_long_as_no_folder_changes(
    here: Here, sources: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    link = put_on_hub(here.hub, "anna/m", "m.gguf", sources[0])
    long_ago = time.time() - 3600
    for folder in [*here.root.rglob("*"), here.root]:
        os.utime(folder, (long_ago, long_ago))
    assert here.ids() == ["m"]

    def refuse(path: Path, _scan: Scan) -> Glance | None:
        raise AssertionError(f"{path} was looked at again")

    monkeypatch.setattr(files, "glance_at", refuse)
    assert here.ids() == ["m"]
    os.utime(link.parent)
    with pytest.raises(AssertionError, match="looked at again"):
        here.ids()


def test_for_the_guide_nothing_is_looked_for(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    here.care.rename("starter", "My guide")

    def fail(_: object) -> None:
        raise AssertionError("it looked for models")

    monkeypatch.setattr(FoundModels, "models", fail)
    assert here.library.find("starter").name == "My guide"


def test_a_place_that_cannot_be_read_is_noted(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> Scan:
        raise PermissionError(13, "Permission denied", "/secret")

    monkeypatch.setattr(found_models, "scan_ollama", forbidden)
    assert here.ids() == []
    assert here.library.notes() == ["/secret was skipped: it cannot be read (Permission denied)."]


def test_a_file_whose_name_is_no_text_is_noted(here: Here, sources: list[Path]) -> None:
    here.lm_studio.joinpath("models", "anna").mkdir(parents=True)
    for name in ("m.gguf", "q\udce8.gguf"):
        shutil.copy(sources[0], here.lm_studio / "models" / "anna" / name)
    assert here.ids() == ["m"]
    assert ["invalid characters" in note for note in here.library.notes()] == [True]


def test_one_path_in_two_homes_of_a_program_is_two_models(
    here: Here, sources: list[Path], tmp_path: Path
) -> None:
    homes = [tmp_path / name for name in ("new", "old")]
    for home, source in zip(homes, sources, strict=False):
        (home / "models" / "anna").mkdir(parents=True)
        shutil.copy(source, home / "models" / "anna" / "m.gguf")
    places = replace(here.places, lm_studio=tuple(homes))
    found = FoundModels(places, here.own, list).models()
    assert len({model.identity for model in found}) == 2


def test_a_file_that_was_still_coming_is_seen_when_it_is_whole(
    here: Here, sources: list[Path]
) -> None:
    file, link = here.own / "m.gguf", here.own / "linked.gguf"
    elsewhere = here.root / "disk" / "linked.gguf"
    file.write_bytes(sources[0].read_bytes()[:20])
    link.symlink_to(elsewhere)
    for path in (file, here.own):
        os.utime(path, (1, 1))
    assert here.ids() == []
    file.write_bytes(sources[0].read_bytes())
    elsewhere.parent.mkdir()
    shutil.copy(sources[1], elsewhere)
    os.utime(here.own, (1, 1))
    assert here.ids() == ["linked", "m"]


def test_a_place_that_changed_while_it_was_looked_at_is_looked_at_again(
    here: Here, sources: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(sources[0], here.own / "m.gguf")

    def fail(folder: Path) -> Scan:
        raise FileNotFoundError(2, "gone", str(folder / "gone.gguf"))

    with monkeypatch.context() as patch:
        patch.setattr(found_models, "scan_folder", fail)
        assert here.ids() == []
    assert here.ids() == ["m"]


def test_processes_that_add_files_of_one_name_at_once(
    here: Here, sources: list[Path], tmp_path: Path
) -> None:
    paths = [tmp_path / str(number) / "m.gguf" for number in range(8)]
    for path in paths:
        path.parent.mkdir()
        shutil.copy(sources[0], path)
    with ThreadPoolExecutor(8) as threads:
        added = list(threads.map(here.again().library.add, paths * 2))
    assert len({entry.id for entry in added}) == 8
    assert all(here.library.find(entry.id).path == entry.path for entry in added)


def test_a_drafter_from_another_repository_is_found(here: Here, tmp_path: Path) -> None:
    put_on_hub(here.hub, "google/gemma", "gemma.gguf", write_gemma4(tmp_path / "g.gguf"))
    drafter = put_on_hub(
        here.hub, "unsloth/gemma", "mtp-gemma.gguf", write_assistant(tmp_path / "d.gguf")
    )
    assert here.ids() == ["gemma"]
    assert here.library.find("gemma").drafter == drafter


def test_two_processes_give_the_same_ids(here: Here, sources: list[Path], tmp_path: Path) -> None:
    for number in range(1, 13):
        put_on_hub(here.hub, f"owner{number}/m", "m.gguf", sources[number % 3])
    program = (
        "import sys; from pathlib import Path\n"
        "from tests.app.models.library.services.places.conftest import Here\n"
        "from app.base.db import Database\n"
        f"here = Here(Path({str(here.root)!r}), Database(Path({str(tmp_path / 'chats.db')!r})), [])"
        "\nprint([(entry.id, entry.repo) for entry in here.library.entries()])"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert said[0] == said[1]
    assert said[0].count("'m") >= 12
