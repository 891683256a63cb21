"""The drafters of a checkpoint, and the words about a checkpoint without any."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.errors import DrafterMismatch, MtpUnavailable
from engines.models.checkpoint import Checkpoint, read_checkpoint
from engines.vllm.speculation import speculation
from tests.engines.checkpoint_files import (
    DFLASH,
    DFLASH_TENSORS,
    EAGLE3,
    EAGLE3_TENSORS,
    QWEN3,
    SPECULATOR,
    SPECULATOR_TENSORS,
    write_checkpoint,
)
from tests.engines.vllm.checkpoints import ASSISTANT, GEMMA, QWEN, made


def checkpoint(folder: Path, config: dict[str, object], *tensors: str) -> Checkpoint:
    return read_checkpoint(made(folder, config, tensors or ("a.weight",)))


def test_an_assistant_drafts(tmp_path: Path) -> None:
    target = checkpoint(tmp_path / "t", GEMMA)
    found = speculation(target, checkpoint(tmp_path / "a", ASSISTANT), 4)
    assert found is not None
    assert found.kind == "drafter"
    assert found.config() == {
        "method": "mtp",
        "num_speculative_tokens": 4,
        "model": str(tmp_path / "a"),
    }


def test_a_head_drafts(tmp_path: Path) -> None:
    found = speculation(checkpoint(tmp_path, QWEN, "mtp.norm.weight"), None, 20)
    assert found is not None
    assert found.kind == "embedded"
    assert found.config() == {"method": "mtp", "num_speculative_tokens": 8}


def test_a_mixture_of_qwen_s_has_its_backend(tmp_path: Path) -> None:
    found = speculation(
        checkpoint(tmp_path, {**QWEN, "num_experts": 8}, "mtp.norm.weight"), None, 3
    )
    assert found is not None
    assert found.config()["moe_backend"] == "triton"


@pytest.mark.parametrize(
    ("config", "tensors", "method"),
    [
        (EAGLE3, EAGLE3_TENSORS, "eagle3"),
        (SPECULATOR, SPECULATOR_TENSORS, "eagle3"),
        (DFLASH, DFLASH_TENSORS, "dflash"),
        ({**QWEN3, "hidden_size": 32}, None, "draft_model"),
    ],
)
def test_another_checkpoint_drafts_in_its_own_way(
    tmp_path: Path, config: dict[str, object], tensors: dict[str, list[int]] | None, method: str
) -> None:
    target = read_checkpoint(write_checkpoint(tmp_path / "t", QWEN3, size=4096))
    drafter = read_checkpoint(write_checkpoint(tmp_path / "d", config, tensors))
    found = speculation(target, drafter, 3, lookup=True)
    assert found is not None
    assert found.kind == "drafter"
    assert found.config(lambda path: f"/inside/{path.name}") == {
        "method": method,
        "num_speculative_tokens": 3,
        "model": "/inside/d",
    }


def test_the_text_drafts_where_it_may_and_nothing_else_can(tmp_path: Path) -> None:
    found = speculation(checkpoint(tmp_path / "t", GEMMA), None, 4, lookup=True)
    assert found is not None
    assert found.kind == "lookup"
    assert found.config() == {
        "method": "ngram",
        "num_speculative_tokens": 4,
        "prompt_lookup_min": 3,
        "prompt_lookup_max": 5,
    }
    head = speculation(checkpoint(tmp_path / "q", QWEN, "mtp.norm.weight"), None, 4, lookup=True)
    assert head is not None
    assert head.kind == "embedded"


def test_several_heads_are_used_in_whole_rounds(tmp_path: Path) -> None:
    target = checkpoint(tmp_path, {**QWEN, "mtp_num_hidden_layers": 3}, "mtp.norm.weight")
    depths = [found.depth for it in (1, 2, 3, 5, 8) if (found := speculation(target, None, it))]
    assert depths == [1, 2, 3, 3, 6]


@pytest.mark.parametrize("name", ["eagle-nest", "my-DFlash-tests"])
def test_a_path_that_vllm_would_misread_is_told(tmp_path: Path, name: str) -> None:
    within = tmp_path / name
    target = checkpoint(within / "t", GEMMA)
    head = checkpoint(within / "q", QWEN, "mtp.norm.weight")
    for model, drafter in ((target, checkpoint(within / "a", ASSISTANT)), (head, None)):
        with pytest.raises(MtpUnavailable) as caught:
            speculation(model, drafter, 2)
        assert "Its path contains" in caught.value.why
        assert "Rename" in caught.value.do
    target = read_checkpoint(write_checkpoint(within / "e", QWEN3))
    drafter = read_checkpoint(write_checkpoint(within / "d", EAGLE3, EAGLE3_TENSORS))
    assert speculation(target, drafter, 2) is not None, "there the method is what its path says"


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"rope_scaling": {"mrope_section": [8, 4, 4]}}, "made for pictures"),
        ({"layer_types": ["linear_attention", "full_attention"] * 3}, "remove tokens"),
    ],
)
def test_not_every_small_model_can_draft(
    tmp_path: Path, more: dict[str, object], word: str
) -> None:
    target = read_checkpoint(write_checkpoint(tmp_path / "t", QWEN3, size=4096))
    with pytest.raises(DrafterMismatch) as caught:
        speculation(target, read_checkpoint(write_checkpoint(tmp_path / "s", QWEN3 | more)), 2)
    assert word in caught.value.why


def test_nothing_is_nothing(tmp_path: Path) -> None:
    assert speculation(checkpoint(tmp_path, GEMMA), None, 0) is None


@pytest.mark.parametrize(
    ("config", "word"),
    [
        (GEMMA, "needs its drafter"),
        (QWEN, "left out"),
        ({**GEMMA, "model_type": "llama"}, "cannot guess ahead"),
    ],
)
def test_where_nothing_can_draft_it_is_said(
    tmp_path: Path, config: dict[str, object], word: str
) -> None:
    with pytest.raises(MtpUnavailable) as caught:
        speculation(checkpoint(tmp_path, config), None, 2)
    assert word in caught.value.why
    assert caught.value.what
    assert caught.value.do


@pytest.mark.parametrize(
    ("target", "assistant", "word"),
    [
        ({"hidden_size": 100}, {}, "width 192"),
        ({"vocab_size": 65}, {}, "vocabularies"),
        ({"model_type": "qwen3_5"}, {}, "of the kind"),
        ({}, {"model_type": "llama"}, "not a drafter"),
    ],
)
def test_a_wrong_assistant_is_refused(
    tmp_path: Path, target: dict[str, object], assistant: dict[str, object], word: str
) -> None:
    one = checkpoint(tmp_path / "t", GEMMA | target)
    with pytest.raises(DrafterMismatch) as caught:
        speculation(one, checkpoint(tmp_path / "a", ASSISTANT | assistant), 2)
    assert word in caught.value.why
