"""The sizes of the catalogue's files, as the Hub reports them."""

from __future__ import annotations

from app.models.discover.values.catalogue import load_catalogue
from app.models.discover.values.catalogue_sizes import (
    KnownRepositories,
    known_sizes,
    repositories,
)
from app.models.hub.values.hub import RepoFile, Repository, Variant
from tests.support.paths import ROOT

SHIPPED = ROOT / "resources" / "catalogue.json"
CATALOGUE = load_catalogue(SHIPPED.read_text(encoding="utf-8"))
E2B = "google/gemma-4-E2B-it-qat-q4_0-gguf"


def told(repo: str, variants: dict[str, list[int]], *others: RepoFile) -> dict[str, Repository]:
    made = tuple(
        Variant(label, tuple(RepoFile(f"{label}-{at}.gguf", size) for at, size in enumerate(sizes)))
        for label, sizes in variants.items()
    )
    files = (*(file for it in made for file in it.files), *others, RepoFile("README.md", 9))
    repository = Repository(repo, revision="c" * 40, files=files, variants=made)
    return {repo: repository}


def test_a_variant_is_the_sum_of_its_parts() -> None:
    known = told("ggml-org/gpt-oss-120b-GGUF", {"MXFP4": [30, 20, 10]})
    assert known_sizes(CATALOGUE, known) == {"ggml-org/gpt-oss-120b-GGUF:MXFP4": 60}


def test_a_label_that_says_more_is_found() -> None:
    assert known_sizes(CATALOGUE, told(E2B, {"QAT-Q4_0": [7]})) == {f"{E2B}:Q4_0": 7}


def test_an_exact_label_goes_first() -> None:
    repo = "unsloth/granite-4.0-h-tiny-GGUF"
    known = told(repo, {"UD-Q4_K_M": [9], "Q4_K_M": [8]})
    assert known_sizes(CATALOGUE, known) == {f"{repo}:Q4_K_M": 8}


def test_a_drafter_is_found_by_its_pattern() -> None:
    repo, name = "unsloth/gemma-4-E2B-it-qat-GGUF", "mtp-gemma-4-E2B-it.gguf"
    known = told(repo, {}, RepoFile(f"deep/{name}", 5), RepoFile("mmproj-F32.gguf", 50))
    assert known_sizes(CATALOGUE, known) == {f"{repo}/{name}": 5}


def test_it_is_the_same_after_it_was_kept() -> None:
    told_before = told(E2B, {"Q4_0": [7]}, RepoFile("mmproj-F32.gguf", 50, "a" * 64))
    known = KnownRepositories(repositories=told_before)
    assert KnownRepositories.model_validate_json(known.model_dump_json()) == known


def test_every_repository_is_asked_once() -> None:
    repos = repositories(CATALOGUE)
    assert len(repos) == len(set(repos))
    assert E2B in repos
    assert "unsloth/gemma-4-E2B-it-qat-GGUF" in repos
