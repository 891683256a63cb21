"""Reading the quantisation from a file's name, and choosing one."""

from __future__ import annotations

import pytest

from app.models.hub.values.hub import RepoFile, Variant
from app.models.library.values.quantisations import (
    best_variant,
    quantisation_of,
    same_label,
    without_quantisation,
)
from engines.memory.fit import Verdict, judge

NAMES = {
    "gemma-4-E2B_q4_0-it.gguf": "Q4_0",
    "gemma-4-12b-it-qat-q4_0.gguf": "QAT-Q4_0",
    "gemma-4-E2B-it-qat-UD-Q4_K_XL.gguf": "QAT-UD-Q4_K_XL",
    "gemma-4-E2B-it-Q8_0.gguf": "Q8_0",
    "Qwen3.6-27B-UD-Q4_K_XL.gguf": "UD-Q4_K_XL",
    "Qwen3.6-27B-IQ3_XXS-MTP.gguf": "IQ3_XXS",
    "gpt-oss-20b-mxfp4.gguf": "MXFP4",
    "gpt-oss-120b-mxfp4-00001-of-00003.gguf": "MXFP4",
    "gpt-oss-20b-F16.gguf": "F16",
    "NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4.gguf": "NVFP4",
    "Ministral-3-3B-Instruct-2512-BF16.gguf": "BF16",
    "mmproj-F32.gguf": "F32",
    "BitNet-b1.58-2B-4T-TQ1_0.gguf": "TQ1_0",
    "model.f16.Q4_K_M.gguf": "Q4_K_M",
    "phi-fp16.gguf": "F16",
    "Qwen3-30B-A3B-MXFP4_MOE.gguf": "MXFP4",
    "old-Q4_0_4_8.gguf": "Q4_0_4_8",
    "granite.i1-IQ1_S.gguf": "IQ1_S",
    "UD_Q2_K_XL": "UD-Q2_K_XL",
    "embeddinggemma-300m-qat-Q8_0.gguf": "QAT-Q8_0",
    "gemma-qat-bf16.gguf": "BF16",
    "muse-glimmer-30B-kquant-17gb.gguf": "",
    "XQ4_K_MX.gguf": "",
}


@pytest.mark.parametrize(("name", "label"), NAMES.items())
def test_a_name_tells_its_label(name: str, label: str) -> None:
    found = quantisation_of(name)
    assert found.label == label
    assert bool(found.bits) == bool(label) == bool(found.words)


def test_the_repository_says_what_a_file_was_trained_for() -> None:
    found = quantisation_of("gemma-4-E2B_q4_0-it.gguf", "google/gemma-4-E2B-it-qat-q4_0-gguf")
    assert found.label == "QAT-Q4_0"
    assert "trained" in found.words


def test_more_bits_are_better_and_training_is_worth_some() -> None:
    rising = "IQ1_S IQ2_XXS Q2_K IQ3_XXS Q3_K_M Q4_0 Q4_K_M QAT-Q4_0 Q5_K_S Q6_K Q8_0 BF16".split()
    orders = [quantisation_of(label).order for label in rising]
    assert orders == sorted(orders)
    assert len(set(orders)) == len(orders)
    assert quantisation_of("UD-Q4_K_M").order > quantisation_of("Q4_K_M").order


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("Q3_K_M", "Small and quick, some loss"),
        ("Q4_K_M", "Good balance"),
        ("Q8_0", "Nearly the original"),
        ("IQ2_M", "Very small, clear loss"),
    ],
)
def test_words_for_people(label: str, words: str) -> None:
    assert quantisation_of(label).words == words


def test_a_label_is_asked_for_in_any_letters_and_without_its_maker() -> None:
    assert same_label("QAT-UD-Q4_K_XL", "q4_k_xl")
    assert same_label("UD-Q4_K_XL", "ud-Q4_K_XL")
    assert not same_label("Q4_K_M", "Q4_K")


def test_what_is_left_is_the_models_name() -> None:
    assert without_quantisation("gemma-4-E2B_q4_0-it") == "gemma-4-E2B-it"
    assert without_quantisation("gemma-4-12b-it-qat-UD-Q4_K_XL") == "gemma-4-12b-it"
    assert without_quantisation("Q4_K_M") == ""


def variants(*labels: str) -> list[Variant]:
    """Return variants of a model with a billion parameters."""
    return [
        Variant(it, (RepoFile(it, int(quantisation_of(it).bits * 125_000_000)),)) for it in labels
    ]


ALL = variants("IQ1_S", "Q2_K", "IQ3_XXS", "Q3_K_M", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "BF16")


@pytest.mark.parametrize(
    ("free", "label"),
    [
        (10_000_000_000, "Q8_0"),
        (1_000_000_000, "Q6_K"),
        (850_000_000, "Q5_K_M"),
        (700_000_000, "Q4_K_M"),
        (600_000_000, "Q3_K_M"),
        (460_000_000, "IQ3_XXS"),
        (430_000_000, "IQ3_XXS"),
        (400_000_000, "Q2_K"),
        (260_000_000, "IQ1_S"),
        (100_000_000, None),
    ],
)
def test_the_best_that_fits_comfortably(free: int, label: str | None) -> None:
    best = best_variant(ALL, lambda it: judge(it.size_bytes, free))
    assert (best.label if best else None) == label


@pytest.mark.parametrize(
    ("among", "verdict", "label"),
    [
        ("Q3_K_M Q4_K_M Q5_K_M Q8_0", "tight", "Q4_K_M"),
        ("Q5_K_M Q8_0", "tight", "Q5_K_M"),
        ("Q4_K_M QAT-Q4_0 Q8_0", "fits", "QAT-Q4_0"),
        ("Q4_K_M QAT-Q4_0 Q8_0", "tight", "QAT-Q4_0"),
        ("Q2_K Q4_K_M", "partial", "Q4_K_M"),
        ("IQ1_S IQ2_M", "fits", "IQ2_M"),
        ("Q2_K BF16", "fits", "BF16"),
        ("BF16 F32", "fits", "BF16"),
        ("kquant-17gb", "fits", "kquant-17gb"),
        ("Q4_K_M", "no", None),
        ("", "fits", None),
    ],
)
def test_the_rule_in_single_cases(among: str, verdict: Verdict, label: str | None) -> None:
    best = best_variant(variants(*among.split()), lambda _: verdict)
    assert (best.label if best else None) == label
