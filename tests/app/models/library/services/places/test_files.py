"""Finding the models to choose among the GGUF files of a folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from app.base.shipped import STARTER
from app.models.library.services.places.folders import scan_folder
from app.models.library.services.places.gpt4all import scan_gpt4all
from app.models.library.services.places.hub_cache import scan_hub
from app.models.library.services.places.jan import scan_jan
from app.models.library.services.places.ollama import scan_ollama
from app.models.library.services.places.scan import Scan
from app.settings.values.named import parse_folders
from tests.app.models.library.services.places.layouts import some_model, write_projector
from tests.engines.gguf_files import (
    LLAMA,
    QWEN35,
    qwen35_tensors,
    write_assistant,
    write_gemma4,
    write_gguf,
)


def names(scan: Scan) -> list[str]:
    return [model.name for model in scan.models]


def test_models_are_found_at_any_depth(tmp_path: Path) -> None:
    some_model(tmp_path / "one.gguf")
    some_model(tmp_path / "a" / "b" / "two.gguf")
    scan = scan_folder(tmp_path)
    assert names(scan) == ["one", "two"]
    assert scan.models[1].size_bytes == (tmp_path / "a/b/two.gguf").stat().st_size
    assert scan.notes == []


@pytest.mark.parametrize(
    "name",
    [
        "m.gguf.part", "m.gguf.incomplete", "m.gguf.download", "m.gguf.tmp", "._m.gguf",
        "incomplete-m.gguf", "downloading_m.gguf.part", ".hidden.gguf",
    ],
)  # fmt: skip
def test_what_is_still_coming_is_no_model(tmp_path: Path, name: str) -> None:
    some_model(tmp_path / name)
    scan = scan_folder(tmp_path)
    assert (scan.models, scan.notes) == ([], [])


def test_what_is_no_model_is_noted(tmp_path: Path) -> None:
    (tmp_path / "text.gguf").write_text("version https://git-lfs.github.com/spec/v1\n")
    (tmp_path / "empty.gguf").touch()
    (tmp_path / "cut.gguf").write_bytes(STARTER.read_bytes()[:10])
    (tmp_path / "gone.gguf").symlink_to(tmp_path / "nowhere")
    scan = scan_folder(tmp_path)
    assert scan.models == []
    assert [Path(note.split(" was skipped")[0]).name for note in scan.notes] == [
        "cut.gguf", "empty.gguf", "text.gguf",
    ]  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
def test_nothing_but_a_file_is_opened(tmp_path: Path) -> None:
    """Opening a pipe would block for ever, and reading a device might never end."""
    some_model(tmp_path / "good.gguf")
    os.mkfifo(tmp_path / "pipe.gguf")
    (tmp_path / "device.gguf").symlink_to("/dev/zero")
    (tmp_path / "folder.gguf").mkdir()
    (tmp_path / "circle.gguf").symlink_to(tmp_path / "circle.gguf")
    some_model(tmp_path / "two-00001-of-00002.gguf")
    os.mkfifo(tmp_path / "two-00002-of-00002.gguf")
    checkpoint = tmp_path / "checkpoint"
    checkpoint.mkdir()
    os.mkfifo(checkpoint / "config.json")
    os.mkfifo(checkpoint / "model.safetensors")
    scan = scan_folder(tmp_path)
    assert names(scan) == ["good"]
    noted = {Path(note.split(" was skipped")[0]).name: note for note in scan.notes}
    assert noted.keys() == {
        "pipe.gguf", "device.gguf", "circle.gguf", "two-00001-of-00002.gguf",
        "config.json",
    }  # fmt: skip
    assert "it is a pipe" in noted["pipe.gguf"]
    assert "it is a device" in noted["device.gguf"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
@pytest.mark.parametrize(
    "named",
    [
        "manifests/registry.ollama.ai/library/m/latest",
        "models--a--b/refs/main",
        "llamacpp/models/m/model.yml",
        "nomic.ai/GPT4All.ini",
    ],
)
def test_a_pipe_in_the_place_of_another_programs_file_is_passed_over(
    tmp_path: Path, named: str
) -> None:
    path = tmp_path / named
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    (tmp_path / "models--a--b" / "snapshots").mkdir(parents=True, exist_ok=True)
    found = (
        scan_hub(tmp_path),
        scan_ollama(tmp_path),
        scan_jan([tmp_path]),
        scan_gpt4all([], tmp_path / "nomic.ai" / "GPT4All.ini"),
    )
    assert not any(scan.models for scan in found)


def test_pieces_and_parts_that_lack_others_are_noted(tmp_path: Path) -> None:
    for name in (
        "a.gguf.part1of2", "b.gguf.part1of2", "b.gguf.part2of2", "c.gguf.aa", "c.gguf.ac",
        "d.gguf.002",
    ):  # fmt: skip
        (tmp_path / name).write_bytes(b"x")
    some_model(tmp_path / "e-00002-of-00003.gguf")
    some_model(tmp_path / "f-00001-of-00003.gguf")
    scan = scan_folder(tmp_path)
    assert scan.models == []
    said = {Path(note.split(" was skipped")[0]).name: note for note in scan.notes}
    assert "Not beside it: a.gguf.part2of2." in said["a.gguf.part1of2"]
    join = said["b.gguf.part1of2"]
    assert "Join the pieces, then add b.gguf" in join
    assert join.index("b.gguf.part1of2", 40) < join.index("b.gguf.part2of2")
    assert "Not beside it: c.gguf.ab." in said["c.gguf.aa"]
    assert "Not beside it: d.gguf.001." in said["d.gguf.002"]
    assert "Not beside it: e-00001-of-00003.gguf." in said["e-00002-of-00003.gguf"]
    assert "f-00002-of-00003.gguf, f-00003-of-00003.gguf." in said["f-00001-of-00003.gguf"]
    assert not any("elete" in note for note in scan.notes)


def test_sidecars_are_told_by_what_they_say_and_not_by_name(tmp_path: Path) -> None:
    write_gemma4(tmp_path / "mtp-mmproj-imatrix.gguf")
    drafter = write_assistant(tmp_path / "plain.gguf")
    projector = write_projector(tmp_path / "innocent.gguf")
    write_gguf(tmp_path / "bert.gguf", "bert", LLAMA, {})
    scan = scan_folder(tmp_path)
    assert names(scan) == ["mtp-mmproj-imatrix"]
    assert scan.models[0].projector == projector
    assert scan.drafters == [drafter]


def test_a_head_that_was_cut_off_its_model_is_a_drafter(tmp_path: Path) -> None:
    head = {
        name: shape
        for name, shape in qwen35_tensors(QWEN35).items()
        if name.startswith(("blk.8.", "token_embd"))
    }
    path = write_gguf(tmp_path / "head.gguf", "qwen35", QWEN35, head)
    write_gguf(tmp_path / "whole.gguf", "qwen35", QWEN35, qwen35_tensors(QWEN35))
    scan = scan_folder(tmp_path)
    assert (names(scan), scan.drafters) == (["whole"], [path])


def test_a_projector_of_another_width_is_not_attached(tmp_path: Path) -> None:
    some_model(tmp_path / "model.gguf")
    write_projector(tmp_path / "wide.gguf", width=4096)
    assert scan_folder(tmp_path).models[0].projector is None


def test_a_projector_may_lie_above_the_quantisations(tmp_path: Path) -> None:
    some_model(tmp_path / "repo" / "Q4" / "model.gguf")
    projector = write_projector(tmp_path / "repo" / "mmproj.gguf")
    assert scan_folder(tmp_path).models[0].projector == projector


def test_parts_are_one_model_and_never_listed_while_one_is_missing(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        shutil.copy(STARTER, tmp_path / f"big-0000{number}-of-00003.gguf")
    scan = scan_folder(tmp_path)
    (model,) = scan.models
    assert (model.name, len(model.files)) == ("big", 3)
    assert model.size_bytes == 3 * STARTER.stat().st_size
    (tmp_path / "big-00002-of-00003.gguf").unlink()
    scan = scan_folder(tmp_path)
    assert scan.models == []
    assert "Not beside it: big-00002-of-00003.gguf." in scan.notes[0]


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    some_model(tmp_path / "a" / "m.gguf")
    (tmp_path / "a" / "again").symlink_to(tmp_path, target_is_directory=True)
    assert names(scan_folder(tmp_path)) == ["m"]


def test_a_link_that_leads_nowhere_hides_nothing_else(tmp_path: Path) -> None:
    some_model(tmp_path / "m.gguf")
    for name in ("folder", "file.gguf"):
        (tmp_path / name).symlink_to(name)
    scan = scan_folder(tmp_path)
    assert names(scan) == ["m"]
    assert ["file.gguf" in note for note in scan.notes] == [True]


def test_a_folder_called_like_a_model_is_none(tmp_path: Path) -> None:
    some_model(tmp_path / "m.gguf" / "m.gguf")
    scan = scan_folder(tmp_path)
    assert (names(scan), scan.notes) == (["m"], [])


def test_a_folder_that_is_a_file_is_noted(tmp_path: Path) -> None:
    file = some_model(tmp_path / "m.gguf")
    scan = scan_folder(file)
    assert scan.models == []
    assert "not a folder" in scan.notes[0]


def test_folders_are_named_one_a_line() -> None:
    assert parse_folders("\n /a/b \n\n/c\n/a/b\n") == (Path("/a/b"), Path("/c"))
