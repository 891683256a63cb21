"""Which drafts there are for a checkpoint, and how it is said where there are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.errors import DrafterMismatch, MtpUnavailable
from engines.models.checkpoint import Checkpoint, read_checkpoint
from engines.vllm.speculation import speculation
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


def test_nothing_is_nothing(tmp_path: Path) -> None:
    assert speculation(checkpoint(tmp_path, GEMMA), None, 0) is None


@pytest.mark.parametrize(
    ("config", "word"),
    [
        (GEMMA, "assistant"),
        (QWEN, "left them out"),
        ({**GEMMA, "model_type": "llama"}, "no MTP of its own"),
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
        ({}, {"model_type": "llama"}, "no assistant"),
    ],
)
def test_a_wrong_assistant_is_refused(
    tmp_path: Path, target: dict[str, object], assistant: dict[str, object], word: str
) -> None:
    one = checkpoint(tmp_path / "t", GEMMA | target)
    with pytest.raises(DrafterMismatch) as caught:
        speculation(one, checkpoint(tmp_path / "a", ASSISTANT | assistant), 2)
    assert word in caught.value.why
