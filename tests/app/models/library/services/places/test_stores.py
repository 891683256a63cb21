"""The Hub's cache and the stores of other programs, in their own layouts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from app.models.library.services.places import files
from app.models.library.services.places.gpt4all import scan_gpt4all
from app.models.library.services.places.hub_cache import hash_from_name, scan_hub
from app.models.library.services.places.jan import scan_jan
from app.models.library.services.places.lm_studio import scan_lm_studio
from app.models.library.services.places.ollama import scan_ollama
from engines.models.gguf.glance import Glance, glance
from tests.app.models.library.services.places.layouts import (
    COMMIT,
    OTHER_COMMIT,
    put_in_jan,
    put_in_ollama,
    put_on_hub,
    sha256,
    some_model,
    some_parts,
    write_projector,
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return some_model(tmp_path / "sources" / "model.gguf")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return some_model(tmp_path / "sources" / "other.gguf", context_length=4096)


class TestHub:
    def test_repository_commit_file_and_hash(self, tmp_path: Path, source: Path) -> None:
        link = put_on_hub(tmp_path, "anna/small-GGUF", "Q4/small-Q4_K_M.gguf", source)
        (found,) = scan_hub(tmp_path).models
        assert (found.repo, found.revision) == ("anna/small-GGUF", COMMIT)
        assert (found.file, found.sha256) == ("Q4/small-Q4_K_M.gguf", sha256(source))
        assert found.files == (link,)

    def test_what_huggingface_hub_finds_is_what_we_find(self, tmp_path: Path, source: Path) -> None:
        from huggingface_hub import scan_cache_dir

        cache = tmp_path / "cache"
        put_on_hub(cache, "anna/small-GGUF", "small.gguf", source)
        info = scan_cache_dir(cache)
        (repo,) = info.repos
        (found,) = scan_hub(cache).models
        assert info.warnings == []
        assert (repo.repo_id, found.size_bytes) == (found.repo, repo.size_on_disk)

    def test_a_file_that_two_commits_share_is_listed_once(
        self, tmp_path: Path, source: Path
    ) -> None:
        for commit in (COMMIT, OTHER_COMMIT):
            put_on_hub(tmp_path, "anna/m", "m.gguf", source, commit)
        (found,) = scan_hub(tmp_path).models
        assert found.revision == OTHER_COMMIT, "the one that main leads to"

    def test_a_file_that_has_changed_is_another_model(
        self, tmp_path: Path, source: Path, other: Path
    ) -> None:
        put_on_hub(tmp_path, "anna/m", "m.gguf", source, COMMIT)
        put_on_hub(tmp_path, "anna/m", "m.gguf", other, OTHER_COMMIT)
        found = scan_hub(tmp_path).models
        assert len({model.identity for model in found}) == 2

    def test_partials_and_links_to_nowhere_are_no_models(
        self, tmp_path: Path, source: Path
    ) -> None:
        link = put_on_hub(tmp_path, "anna/m", "m.gguf", source)
        blob = link.resolve()
        blob.rename(blob.with_name(f"{blob.name}.1234.incomplete"))
        scan = scan_hub(tmp_path)
        assert (scan.models, scan.notes) == ([], [])

    def test_a_system_without_links_has_no_hash(self, tmp_path: Path, source: Path) -> None:
        link = put_on_hub(tmp_path, "anna/m", "m.gguf", source)
        link.resolve().replace(link)
        (found,) = scan_hub(tmp_path).models
        assert (found.sha256, found.repo) == (None, "anna/m")

    def test_what_else_lies_in_a_cache_does_no_harm(self, tmp_path: Path) -> None:
        (tmp_path / "models--a--b").mkdir()
        (tmp_path / "models--file").touch()
        (tmp_path / "datasets--a--b" / "snapshots").mkdir(parents=True)
        (tmp_path / "CACHEDIR.TAG").touch()
        assert scan_hub(tmp_path).models == []
        assert scan_hub(tmp_path / "nothing").models == []


def test_a_hash_is_read_from_names_only_where_it_is_one() -> None:
    assert hash_from_name(Path("sha256-" + "0" * 64)) == "0" * 64
    assert hash_from_name(Path("0" * 64)) == "0" * 64
    for name in ("0" * 40, "m.gguf", "0" * 65, "sha256-xyz"):
        assert hash_from_name(Path(name)) is None


class TestOllama:
    def test_manifests_name_blobs(self, tmp_path: Path, source: Path, other: Path) -> None:
        projector = write_projector(tmp_path / "sources" / "p.gguf")
        blob = put_in_ollama(tmp_path, "registry.ollama.ai/library/gemma3/4b", source, projector)
        put_in_ollama(tmp_path, "hf.co/anna/small/Q4_K_M", other)
        found = {model.name: model for model in scan_ollama(tmp_path).models}
        assert set(found) == {"gemma3:4b", "hf.co/anna/small:Q4_K_M"}
        gemma = found["gemma3:4b"]
        assert (gemma.files, gemma.sha256) == ((blob,), sha256(source))
        assert gemma.projector == tmp_path / "blobs" / f"sha256-{sha256(projector)}"

    @pytest.mark.parametrize(
        "content",
        ["", "{", "[]", '{"layers": 3}', '{"layers": [3]}', '{"layers": [{"digest": 1}]}'],
    )
    def test_a_damaged_manifest_is_noted_and_the_others_are_listed(
        self, tmp_path: Path, source: Path, content: str
    ) -> None:
        put_in_ollama(tmp_path, "registry.ollama.ai/library/good/latest", source)
        bad = tmp_path / "manifests/registry.ollama.ai/library/bad/latest"
        bad.parent.mkdir()
        bad.write_text(content)
        scan = scan_ollama(tmp_path)
        assert [model.name for model in scan.models] == ["good:latest"]
        assert [note for note in scan.notes if str(bad) in note]

    def test_a_blob_that_is_still_coming_or_outside_is_no_model(
        self, tmp_path: Path, source: Path
    ) -> None:
        blob = put_in_ollama(tmp_path, "registry.ollama.ai/library/m/latest", source)
        blob.rename(blob.with_name(f"{blob.name}-partial"))
        assert scan_ollama(tmp_path).models == []
        manifest = tmp_path / "manifests/registry.ollama.ai/library/m/latest"
        layer = {
            "mediaType": "application/vnd.ollama.image.model",
            "digest": "../../sources/model.gguf",
        }
        manifest.write_text(json.dumps({"layers": [layer]}))
        assert scan_ollama(tmp_path).models == []


class TestLmStudio:
    def test_publisher_and_repository_are_folders(self, tmp_path: Path, source: Path) -> None:
        folder = tmp_path / "models" / "anna" / "small-GGUF"
        folder.mkdir(parents=True)
        shutil.copy(source, folder / "small.gguf")
        shutil.copy(source, tmp_path / "models" / "loose.gguf")
        shutil.copy(source, folder / "downloading_x.gguf.part")
        found = {model.name: model for model in scan_lm_studio([tmp_path]).models}
        assert set(found) == {"small", "loose"}
        assert (found["small"].repo, found["small"].file) == ("anna/small-GGUF", "small.gguf")
        assert found["loose"].repo is None

    def test_the_folder_may_have_been_moved(self, tmp_path: Path, source: Path) -> None:
        elsewhere = tmp_path / "disk" / "anna" / "m"
        elsewhere.mkdir(parents=True)
        shutil.copy(source, elsewhere)
        home = tmp_path / "home"
        home.mkdir()
        settings = {"downloadsFolder": str(tmp_path / "disk")}
        (home / "settings.json").write_text(json.dumps(settings))
        (found,) = scan_lm_studio([home]).models
        assert found.repo == "anna/m"

    @pytest.mark.parametrize("content", ["{", "[]", '{"downloadsFolder": 7}', "\x00"])
    def test_damaged_settings_leave_the_usual_folder(
        self, tmp_path: Path, source: Path, content: str
    ) -> None:
        (tmp_path / "models").mkdir()
        shutil.copy(source, tmp_path / "models")
        (tmp_path / "settings.json").write_text(content)
        assert len(scan_lm_studio([tmp_path]).models) == 1


class TestJan:
    def test_cards_name_files(self, tmp_path: Path, source: Path) -> None:
        small = put_in_jan(tmp_path / "data", "anna/small-Q4", source, name="Small")
        projector = write_projector(tmp_path / "data" / "mmproj.gguf")
        put_in_jan(tmp_path / "data", "seeing", source, mmproj_path="mmproj.gguf")
        found = {model.name: model for model in scan_jan([tmp_path]).models}
        assert set(found) == {"Small", "seeing"}
        assert found["Small"].identity == f"jan:{small}"
        assert found["seeing"].projector == projector

    def test_a_file_elsewhere_is_looked_at_alone(
        self, tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        home = tmp_path / "home"
        first, _ = some_parts(home)
        for number in range(3):
            shutil.copy(source, home / f"other{number}.gguf")
        put_in_jan(tmp_path / "data", "m", source, model_path=str(first))
        looked: list[str] = []

        def seen(path: Path) -> Glance | None:
            looked.append(path.name)
            return glance(path)

        monkeypatch.setattr(files, "glance", seen)
        (found,) = (model for model in scan_jan([tmp_path]).models if model.name == "m")
        assert (len(found.files), looked) == (2, [first.name])

    def test_the_data_folder_may_have_been_moved(self, tmp_path: Path, source: Path) -> None:
        put_in_jan(tmp_path / "disk", "m", source)
        (tmp_path / "settings.json").write_text(json.dumps({"data_folder": str(tmp_path / "disk")}))
        assert [model.name for model in scan_jan([tmp_path]).models] == ["m"]

    @pytest.mark.parametrize("card", [": : :\n\t-", "[1, 2]", "name: x", "model_path: [a]", "\x00"])
    def test_a_damaged_card_is_noted_and_the_others_are_listed(
        self, tmp_path: Path, source: Path, card: str
    ) -> None:
        put_in_jan(tmp_path / "data", "good", source)
        bad = put_in_jan(tmp_path / "data", "bad", source).with_name("model.yml")
        bad.write_text(card)
        scan = scan_jan([tmp_path])
        assert [model.name for model in scan.models] == ["good"]
        assert any(str(bad) in note for note in scan.notes)

    def test_a_card_runs_nothing(self, tmp_path: Path, source: Path) -> None:
        card = put_in_jan(tmp_path / "data", "m", source).with_name("model.yml")
        card.write_text(f"model_path: !!python/object/apply:os.mkdir [{tmp_path}/made]\n")
        assert scan_jan([tmp_path]).models == []
        assert not (tmp_path / "made").exists()

    def test_models_of_older_versions(self, tmp_path: Path, source: Path) -> None:
        folder = tmp_path / "data" / "models" / "old"
        folder.mkdir(parents=True)
        shutil.copy(source, folder / "old.gguf")
        assert [model.name for model in scan_jan([tmp_path]).models] == ["old"]


class TestGpt4All:
    def test_its_folder_and_the_one_in_its_settings(self, tmp_path: Path, source: Path) -> None:
        for folder in ("usual", "moved"):
            (tmp_path / folder).mkdir()
            shutil.copy(source, tmp_path / folder / f"{folder}.gguf")
        shutil.copy(source, tmp_path / "usual" / "incomplete-x.gguf")
        settings = tmp_path / "GPT4All.ini"
        settings.write_text(f"[General]\nmodelPath={tmp_path}/moved/\nrate=5%\n[x]\ny=1\n")
        scan = scan_gpt4all([tmp_path / "usual"], settings)
        assert [model.name for model in scan.models] == ["usual", "moved"]

    @pytest.mark.parametrize("content", ["no section", "[General", "\x00\xff", "[General]\na\nb="])
    def test_damaged_settings_leave_its_folder(
        self, tmp_path: Path, source: Path, content: str
    ) -> None:
        (tmp_path / "usual").mkdir()
        shutil.copy(source, tmp_path / "usual")
        settings = tmp_path / "GPT4All.ini"
        settings.write_bytes(content.encode("latin-1"))
        scan = scan_gpt4all([tmp_path / "usual"], settings)
        assert len(scan.models) == 1
        assert len(scan.notes) == 1
