"""Sorting a repository's files into choices and files that come along."""

from __future__ import annotations

import pytest

from app.models.hub.repository import RepositoryModels, choose, kind_of
from app.models.hub.values.hub import RepoFile


def files(*paths: str) -> list[RepoFile]:
    return [RepoFile(path, 1000 + number) for number, path in enumerate(paths)]


def labels(choice: RepositoryModels) -> set[str]:
    return {variant.label for variant in choice.variants}


def path(file: RepoFile | None) -> str | None:
    return file.path if file else None


# each: repository, its files, labels, then the drafter of the first variant, and a projector
CATALOGUE = [
    (
        "google/gemma-4-E2B-it-qat-q4_0-gguf",
        ["gemma-4-E2B_q4_0-it.gguf", "gemma-4-E2B-it-mmproj.gguf"],
        {"QAT-Q4_0"}, None, "gemma-4-E2B-it-mmproj.gguf",
    ),
    (
        "unsloth/gemma-4-E2B-it-qat-GGUF",
        ["gemma-4-E2B-it-qat-UD-Q4_K_XL.gguf", "mmproj-BF16.gguf", "mmproj-F16.gguf",
         "mmproj-F32.gguf", "mtp-gemma-4-E2B-it.gguf"],
        {"QAT-UD-Q4_K_XL"}, "mtp-gemma-4-E2B-it.gguf", "mmproj-F16.gguf",
    ),
    (
        "ggml-org/gemma-4-E2B-it-GGUF",
        ["gemma-4-E2B-it-Q8_0.gguf", "gemma-4-E2B-it-bf16.gguf", "mmproj-gemma-4-E2B-it-bf16.gguf"],
        {"Q8_0", "BF16"}, None, "mmproj-gemma-4-E2B-it-bf16.gguf",
    ),
    (
        "google/gemma-4-E4B-it-qat-q4_0-gguf",
        ["gemma-4-E4B_q4_0-it.gguf", "gemma-4-E4B-it-mmproj.gguf"],
        {"QAT-Q4_0"}, None, "gemma-4-E4B-it-mmproj.gguf",
    ),
    (
        "unsloth/gemma-4-E4B-it-qat-GGUF",
        ["gemma-4-E4B-it-qat-UD-Q4_K_XL.gguf", "mtp-gemma-4-E4B-it.gguf", "mmproj-BF16.gguf"],
        {"QAT-UD-Q4_K_XL"}, "mtp-gemma-4-E4B-it.gguf", "mmproj-BF16.gguf",
    ),
    (
        "ggml-org/gemma-4-E4B-it-GGUF",
        ["gemma-4-E4B-it-Q4_K_M.gguf", "gemma-4-E4B-it-Q8_0.gguf",
         "mmproj-gemma-4-E4B-it-bf16.gguf"],
        {"Q4_K_M", "Q8_0"}, None, "mmproj-gemma-4-E4B-it-bf16.gguf",
    ),
    (
        "google/gemma-4-12B-it-qat-q4_0-gguf",
        ["gemma-4-12b-it-qat-q4_0.gguf", "mmproj-gemma-4-12b-it-qat-q4_0.gguf"],
        {"QAT-Q4_0"}, None, "mmproj-gemma-4-12b-it-qat-q4_0.gguf",
    ),
    (
        "unsloth/gemma-4-12B-it-qat-GGUF",
        ["gemma-4-12B-it-qat-UD-Q4_K_XL.gguf", "mtp-gemma-4-12B-it.gguf", "mmproj-BF16.gguf"],
        {"QAT-UD-Q4_K_XL"}, "mtp-gemma-4-12B-it.gguf", "mmproj-BF16.gguf",
    ),
    (
        "google/gemma-4-26B-A4B-it-qat-q4_0-gguf",
        ["gemma-4-26B_q4_0-it.gguf", "gemma-4-26B-it-mmproj.gguf"],
        {"QAT-Q4_0"}, None, "gemma-4-26B-it-mmproj.gguf",
    ),
    (
        "unsloth/gemma-4-26B-A4B-it-qat-GGUF",
        ["gemma-4-26B-A4B-it-qat-UD-Q4_K_XL.gguf", "mtp-gemma-4-26B-A4B-it.gguf",
         "mmproj-F32.gguf"],
        {"QAT-UD-Q4_K_XL"}, "mtp-gemma-4-26B-A4B-it.gguf", "mmproj-F32.gguf",
    ),
    (
        "ggml-org/gemma-4-26B-A4B-it-GGUF",
        ["gemma-4-26B-A4B-it-Q4_K_M.gguf", "gemma-4-26B-A4B-it-Q8_0.gguf",
         "mmproj-gemma-4-26B-A4B-it-bf16.gguf"],
        {"Q4_K_M", "Q8_0"}, None, "mmproj-gemma-4-26B-A4B-it-bf16.gguf",
    ),
    (
        "google/gemma-4-31B-it-qat-q4_0-gguf",
        ["gemma-4-31B_q4_0-it.gguf", "gemma-4-31B-it-mmproj.gguf"],
        {"QAT-Q4_0"}, None, "gemma-4-31B-it-mmproj.gguf",
    ),
    (
        "unsloth/gemma-4-31B-it-qat-GGUF",
        ["gemma-4-31B-it-qat-UD-Q4_K_XL.gguf", "mmproj-BF16.gguf", "mtp-gemma-4-31B-it.gguf"],
        {"QAT-UD-Q4_K_XL"}, "mtp-gemma-4-31B-it.gguf", "mmproj-BF16.gguf",
    ),
    (
        "ggml-org/gemma-4-31B-it-GGUF",
        ["gemma-4-31B-it-Q4_K_M.gguf", "gemma-4-31B-it-Q8_0.gguf"],
        {"Q4_K_M", "Q8_0"}, None, None,
    ),
    (
        "unsloth/Qwen3.5-4B-MTP-GGUF",
        ["Qwen3.5-4B-UD-Q4_K_XL.gguf", "Qwen3.5-4B-Q4_K_M.gguf", "imatrix_unsloth.gguf_file",
         "imatrix_unsloth.gguf", "mmproj-F16.gguf", "._Qwen3.5-4B-Q4_K_M.gguf"],
        {"UD-Q4_K_XL", "Q4_K_M"}, None, "mmproj-F16.gguf",
    ),
    ("unsloth/Qwen3.5-27B-GGUF", ["Qwen3.5-27B-Q4_K_M.gguf"], {"Q4_K_M"}, None, None),
    ("unsloth/Qwen3.5-35B-A3B-GGUF", ["Qwen3.5-35B-A3B-Q8_0.gguf"], {"Q8_0"}, None, None),
    (
        "unsloth/Qwen3.6-27B-MTP-GGUF",
        ["Qwen3.6-27B-UD-Q4_K_XL.gguf", "Qwen3.6-27B-Q4_K_M.gguf", "Qwen3.6-27B-Q8_0.gguf"],
        {"UD-Q4_K_XL", "Q4_K_M", "Q8_0"}, None, None,
    ),
    (
        "unsloth/Qwen3.6-35B-A3B-MTP-GGUF",
        ["Qwen3.6-35B-A3B-UD-Q4_K_XL.gguf", "Qwen3.6-35B-A3B-UD-Q4_K_M.gguf",
         "Qwen3.6-35B-A3B-Q8_0.gguf"],
        {"UD-Q4_K_XL", "UD-Q4_K_M", "Q8_0"}, None, None,
    ),
    (
        "ggml-org/Qwen3.8-27B-GGUF",
        ["Qwen3.8-27B-Q4_K_M.gguf", "Qwen3.8-27B-Q8_0.gguf", "mmproj-Qwen3.8-27B-Q8_0.gguf",
         "mtp-Qwen3.8-27B-Q4_0.gguf"],
        {"Q4_K_M", "Q8_0"}, "mtp-Qwen3.8-27B-Q4_0.gguf", "mmproj-Qwen3.8-27B-Q8_0.gguf",
    ),
    ("ggml-org/gpt-oss-20b-GGUF", ["gpt-oss-20b-mxfp4.gguf"], {"MXFP4"}, None, None),
    (
        "ggml-org/gpt-oss-120b-GGUF",
        [f"gpt-oss-120b-mxfp4-0000{part}-of-00003.gguf" for part in (2, 3, 1)],
        {"MXFP4"}, None, None,
    ),
    (
        "mistralai/Ministral-3-3B-Instruct-2512-GGUF",
        ["Ministral-3-3B-Instruct-2512-Q4_K_M.gguf", "Ministral-3-3B-Instruct-2512-BF16.gguf",
         "Ministral-3-3B-Instruct-2512-BF16-mmproj.gguf"],
        {"Q4_K_M", "BF16"}, None, "Ministral-3-3B-Instruct-2512-BF16-mmproj.gguf",
    ),
    (
        "unsloth/Ministral-3-14B-Instruct-2512-GGUF",
        ["Ministral-3-14B-Instruct-2512-Q4_K_M.gguf", "mmproj-F32.gguf"],
        {"Q4_K_M"}, None, "mmproj-F32.gguf",
    ),
    (
        "unsloth/Devstral-Small-2-24B-Instruct-2512-GGUF",
        ["Devstral-Small-2-24B-Instruct-2512-Q4_K_M.gguf"], {"Q4_K_M"}, None, None,
    ),
    (
        "unsloth/Phi-4-mini-instruct-GGUF", ["Phi-4-mini-instruct-Q4_K_M.gguf"],
        {"Q4_K_M"}, None, None,
    ),
    (
        "LiquidAI/LFM2.5-1.2B-Instruct-GGUF", ["LFM2.5-1.2B-Instruct-Q4_K_M.gguf"],
        {"Q4_K_M"}, None, None,
    ),
    (
        "LiquidAI/LFM2.5-8B-A1B-GGUF",
        ["LFM2.5-8B-A1B-Q4_K_M.gguf", "LFM2.5-8B-A1B-Q8_0.gguf"], {"Q4_K_M", "Q8_0"}, None, None,
    ),
    (
        "unsloth/SmolLM3-3B-128K-GGUF", ["SmolLM3-3B-128K-UD-Q4_K_XL.gguf"],
        {"UD-Q4_K_XL"}, None, None,
    ),
    (
        "bartowski/ibm-granite_granite-4.0-h-tiny-GGUF",
        ["ibm-granite_granite-4.0-h-tiny-Q4_K_M.gguf",
         "ibm-granite_granite-4.0-h-tiny-imatrix.gguf"],
        {"Q4_K_M"}, None, None,
    ),
    (
        "unsloth/GLM-4.7-Flash-GGUF",
        ["GLM-4.7-Flash-UD-Q4_K_XL.gguf", "GLM-4.7-Flash-Q4_K_M.gguf", "GLM-4.7-Flash-Q8_0.gguf"],
        {"UD-Q4_K_XL", "Q4_K_M", "Q8_0"}, None, None,
    ),
    (
        "ggml-org/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-GGUF",
        [f"NVIDIA-Nemotron-3.5-Lightning-30B-A3B-{it}.gguf" for it in ("NVFP4", "Q4_K_M", "Q8_0")],
        {"NVFP4", "Q4_K_M", "Q8_0"}, None, None,
    ),
    (
        "meta-models/Muse-Glimmer-30B-GGUF",
        ["muse-glimmer-30B-kquant-17gb.gguf", "muse-glimmer-30B-kquant-dynamic.gguf",
         "dflash-kquant.gguf", "mmproj-kquant.gguf"],
        {"muse-glimmer-30B-kquant-17gb", "muse-glimmer-30B-kquant-dynamic"},
        "dflash-kquant.gguf", "mmproj-kquant.gguf",
    ),
    ("Qwen/Qwen3-Embedding-0.6B-GGUF", ["Qwen3-Embedding-0.6B-Q8_0.gguf"], {"Q8_0"}, None, None),
    (
        "ggml-org/embeddinggemma-300m-qat-q8_0-GGUF", ["embeddinggemma-300m-qat-Q8_0.gguf"],
        {"QAT-Q8_0"}, None, None,
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("repo", "paths", "said", "drafter", "projector"), CATALOGUE, ids=[it[0] for it in CATALOGUE]
)
def test_repositories_that_people_use(
    repo: str, paths: list[str], said: set[str], drafter: str | None, projector: str | None
) -> None:
    choice = choose(files("README.md", ".gitattributes", "config.json", *paths), repo)
    assert labels(choice) == said
    assert path(choice.drafter_for(choice.variants[0])) == drafter
    assert path(choice.projector_for(choice.variants[0])) == projector
    assert projector not in {file.path for it in choice.variants for file in it.files}
    assert not choice.left_out


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("mtp-a.gguf", "drafter"),
        ("dflash-a.gguf", "drafter"),
        ("eagle3-a.gguf", "drafter"),
        ("dspark-a.gguf", "drafter"),
        ("draft-a.gguf", "drafter"),
        ("Q4/MTP-a.gguf", "drafter"),
        ("gemma-4-E2B-it-assistant-Q8_0.gguf", "drafter"),
        ("my-assistant-7B-Q8_0.gguf", "model"),
        ("mmproj.gguf", "projector"),
        ("mmproj-model-f16.gguf", "projector"),
        ("mmproj_a.gguf", "projector"),
        ("imatrix.gguf", "other"),
        ("imatrix.dat", "other"),
        ("._a.gguf", "other"),
        ("a.gguf.part1of2", "other"),
        ("Qwen3.6-27B-MTP-Q4_K_M.gguf", "model"),
        ("A-Q4_K_M.GGUF", "model"),
    ],
)
def test_sidecars_are_told_by_their_names(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_what_was_cut_off_from_a_model_goes_before_what_was_trained_for_it() -> None:
    trained = ["eagle3-a-Q4_0.gguf", "dspark-a-Q8_0.gguf"]
    choice = choose(files("a-Q4_0.gguf", *trained, "draft-a-Q4_0.gguf"))
    assert path(choice.drafter_for(choice.variants[0])) == "eagle3-a-Q4_0.gguf"
    choice = choose(files("a-Q4_0.gguf", *trained, "mtp-a-Q8_0.gguf"))
    assert path(choice.drafter_for(choice.variants[0])) == "mtp-a-Q8_0.gguf"


def test_a_repository_of_drafters_has_no_model_to_choose() -> None:
    choice = choose(files("model-Q8_0.gguf", "model-F16.gguf"), "google/gemma-4-E2B-it-assistant")
    assert choice.variants == ()
    assert len(choice.drafters) == 2


def test_parts_in_folders_are_one_variant_each() -> None:
    paths = [
        f"{label}/big-{label}-{part:05}-of-00002.gguf"
        for label in ("BF16", "UD-IQ1_S")
        for part in (1, 2)
    ]
    choice = choose(files(*paths, "big-Q4_K_M.gguf"))
    assert labels(choice) == {"BF16", "UD-IQ1_S", "Q4_K_M"}
    whole = next(it for it in choice.variants if it.label == "BF16")
    assert [file.path for file in whole.files] == paths[:2]
    assert whole.size_bytes == 2001


def test_a_folder_tells_the_quantisation_where_the_file_does_not() -> None:
    paths = ["Q8_0/model.gguf", "Q4_K_M/model-00001-of-00001.gguf"]
    assert labels(choose(files(*paths))) == {"Q8_0", "Q4_K_M"}


@pytest.mark.parametrize("missing", [1, 2, 3])
def test_an_incomplete_model_is_left_out_and_said(missing: int) -> None:
    parts = [f"a-Q4_0-{part:05}-of-00003.gguf" for part in (1, 2, 3) if part != missing]
    choice = choose(files(*parts, "a-Q8_0.gguf"))
    assert labels(choice) == {"Q8_0"}
    assert [it.name for it in choice.left_out] == ["a-Q4_0, 2 of 3 parts"]
    assert str(missing) in choice.left_out[0].why


def test_several_models_in_one_repository_are_told_apart() -> None:
    choice = choose(
        files(
            "Tiny-1B-Q4_K_M.gguf", "Tiny-1B-Q8_0.gguf", "Tiny-3B-Q4_K_M.gguf",
            "mmproj-Tiny-1B-f16.gguf", "mtp-Tiny-3B.gguf",
        )
    )  # fmt: skip
    assert labels(choice) == {"Tiny-1B Q4_K_M", "Tiny-3B Q4_K_M", "Q8_0"}
    by_label = {it.label: choice.drafter_for(it) for it in choice.variants}
    assert path(by_label["Tiny-1B Q4_K_M"]) is None
    assert path(by_label["Tiny-3B Q4_K_M"]) == "mtp-Tiny-3B.gguf"


def test_one_name_in_two_folders_is_two_choices() -> None:
    choice = choose(files("a/model-Q4_0.gguf", "b/model-Q4_0.gguf"))
    assert labels(choice) == {"a/model-Q4_0", "b/model-Q4_0"}


def test_the_nearest_drafter() -> None:
    choice = choose(
        files(
            "A-Q4_K_M.gguf", "Q8_0/A-Q8_0.gguf", "other/A-Q6_K.gguf", "mtp-A-Q4_K_M.gguf",
            "mtp-A-Q8_0.gguf", "Q8_0/mtp-A-BF16.gguf", "Q8_0/deeper/mtp-A-Q8_0.gguf",
        )
    )  # fmt: skip
    along = {it.label: choice.drafter_for(it) for it in choice.variants}
    assert path(along["Q4_K_M"]) == "mtp-A-Q4_K_M.gguf", "the same quantisation"
    assert path(along["Q8_0"]) == "Q8_0/mtp-A-BF16.gguf", "the same folder comes first"
    assert path(along["Q6_K"]) == "mtp-A-Q4_K_M.gguf", "the nearest in bits"


def test_nothing_is_a_choice_of_nothing() -> None:
    assert choose([]) == RepositoryModels()
    assert choose(files("README.md", "mmproj-F16.gguf")).variants == ()
