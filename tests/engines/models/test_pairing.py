"""Which drafters belong to which models."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gguf import GGMLQuantizationType as Type

from engines.errors import DrafterMismatch, ModelDamaged
from engines.models.gguf.features import Block, DrafterInputs
from engines.models.gguf.header import GgufHeader, read_header
from engines.models.pairing import best, mtp_advice, pairs, require_pair, require_runnable
from tests.engines.gguf_files import (
    LLAMA,
    QWEN35,
    llama_tensors,
    qwen35_tensors,
    write_assistant,
    write_gemma4,
    write_gguf,
    write_llama,
    write_qwen35,
)
from tests.support.made_apart import cut_off
from tests.support.made_fed import write_dflash, write_eagle
from tests.support.made_gguf import STARTER
from tests.support.mtp_models import write_qwen

STARTER_DRAFTER = STARTER.with_name("starter-mtp.gguf")


@pytest.fixture(scope="module")
def target() -> GgufHeader:
    return read_header(STARTER)


@pytest.fixture(scope="module")
def drafter() -> GgufHeader:
    return read_header(STARTER_DRAFTER)


def layered(header: GgufHeader, **changes: Any) -> GgufHeader:
    assert header.layers is not None
    return replace(header, layers=replace(header.layers, **changes))


def test_the_starter_pair_belongs_together(target: GgufHeader, drafter: GgufHeader) -> None:
    require_pair(target, drafter)
    assert pairs(target, drafter)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kind": "projector"}, "It is not a drafter"),
        ({"nextn_predict_layers": 1}, "contradicts itself"),
        ({"vocab_size": 2047}, "knows 2,047 tokens, and the model 2,048"),
        ({"vocabulary": "0"}, "different vocabularies of the same size"),
        ({"embedding_length_out": 256}, "model of width 256, and this one has 192"),
        ({"embedding_length_out": 0}, "model of width 0"),
        ({"layers": None}, "does not describe its layers|contradicts itself"),
    ],
)
def test_a_changed_drafter_is_refused(
    target: GgufHeader, drafter: GgufHeader, change: dict[str, Any], reason: str
) -> None:
    with pytest.raises(DrafterMismatch, match=reason):
        require_pair(target, replace(drafter, **change))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"window": 64}, "looks back 64 tokens, and the model 128"),
        ({"key_length": 64}, "keys that it reads are 64 values long, and the model’s are 128"),
        ({"value_length": 64}, "values that it reads are 64"),
        ({"key_length_swa": 32}, "sliding keys that it reads are 32"),
        ({"value_length_swa": 32}, "sliding values that it reads are 32"),
        ({"kv_heads": (2, 1)}, "keys of 2 heads, and the model has 1"),
        ({"kv_heads": (1, 2)}, "keys of 2 heads, and the model has 1"),
    ],
)
def test_a_drafter_of_other_attention_is_refused(
    target: GgufHeader, drafter: GgufHeader, change: dict[str, Any], reason: str
) -> None:
    with pytest.raises(DrafterMismatch, match=re.escape(reason)):
        require_pair(target, layered(drafter, **change))


@pytest.mark.parametrize("last", [(False, True), (True, True), (False, False)])
def test_the_layers_that_are_read_must_be_of_two_kinds(
    target: GgufHeader, drafter: GgufHeader, last: tuple[bool, bool]
) -> None:
    with pytest.raises(DrafterMismatch, match="last two layers"):
        require_pair(layered(target, sliding=(True, False, *last)), drafter)


def test_other_families_are_refused(drafter: GgufHeader, tmp_path: Path) -> None:
    llama = read_header(write_llama(tmp_path / "m.gguf"))
    with pytest.raises(DrafterMismatch, match="kind gemma4, and this one is llama"):
        require_pair(llama, drafter)


def test_key_value_heads_may_differ_from_layer_to_layer(tmp_path: Path) -> None:
    heads = [2, 2, 2, 1, 2, 1]
    target = read_header(write_gemma4(tmp_path / "t.gguf", attention__head_count_kv=heads))
    matching = write_assistant(tmp_path / "a.gguf", attention__head_count_kv=[2, 2, 2, 1])
    require_pair(target, read_header(matching))
    with pytest.raises(DrafterMismatch, match="keys of 1 heads"):
        require_pair(target, read_header(write_assistant(tmp_path / "b.gguf")))


@pytest.mark.parametrize(
    ("changes", "fits"),
    [
        ({}, True),
        ({"embedding_length_out": 320}, False),
        ({"attention.sliding_window": 256}, False),
        ({"attention.key_length_swa": 32, "rope.dimension_count_swa": 32}, False),
        ({"vocab_size": 999}, False),
    ],
)
def test_what_is_refused_comes_from_the_files(
    tmp_path: Path, changes: dict[str, Any], fits: bool
) -> None:
    named = {key.replace(".", "__"): value for key, value in changes.items()}
    target = read_header(write_gemma4(tmp_path / "t.gguf"))
    assert pairs(target, read_header(write_assistant(tmp_path / "a.gguf", **named))) is fits


def test_token_lists_are_compared_and_not_only_counted(tmp_path: Path) -> None:
    def tokens(*texts: str) -> GgufHeader:
        path = tmp_path / "m.gguf"
        general = {"tokenizer.ggml.tokens": list(texts)}
        return read_header(write_gguf(path, "llama", LLAMA, llama_tensors(LLAMA), general))

    first = tokens("a", "b", "c").vocabulary
    assert tokens("a", "b", "c").vocabulary == first != ""
    assert tokens("a", "c", "b").vocabulary != first
    assert tokens("ab", "", "c").vocabulary != first


def test_a_drafter_without_a_window_never_reaches_the_library(tmp_path: Path) -> None:
    path = write_assistant(
        tmp_path / "a.gguf", attention__sliding_window_pattern=[False, False, False, False]
    )
    with pytest.raises(ModelDamaged, match="sliding window"):
        read_header(path)


EAGLE: dict[str, Any] = {
    **LLAMA, "block_count": 1, "target_layers": [1, 2, 3], "target_hidden_size": 256,
}  # fmt: skip
DFLASH: dict[str, Any] = {**LLAMA, "block_size": 9, "target_layers": [1, 2, 3]}
MASK = {"tokenizer.ggml.mask_token_id": 4}


def fed(
    path: Path,
    architecture: str,
    changes: dict[str, Any] | None = None,
    tensors: Sequence[str] = (),
    general: dict[str, object] | None = None,
) -> GgufHeader:
    """Return the header of a drafter that reads the inputs of layers of its model."""
    values = (EAGLE if architecture == "eagle3" else DFLASH) | (changes or {})
    shapes = {name: [256] for name in tensors}
    return read_header(
        write_gguf(path, architecture, values, shapes, MASK if general is None else general)
    )


def test_a_drafter_says_what_it_is_fed(tmp_path: Path) -> None:
    eagle = fed(tmp_path / "e.gguf", "eagle3", tensors=["output.weight"])
    assert eagle.features == DrafterInputs((1, 2, 3), 256, None, own_table=False, own_output=True)
    plain = fed(tmp_path / "d.gguf", "dflash").features
    assert plain == DrafterInputs((1, 2, 3), 256, Block(9, 4), own_table=False, own_output=False)
    assert (Block(9, 4).first, Block(9, 4).most) == (1, 8)
    marked = fed(tmp_path / "s.gguf", "dflash", tensors=["markov_w1.weight"]).features
    assert marked is not None
    assert marked.block == Block(9, 4, first=0)
    second = fed(tmp_path / "2.gguf", "dflash", {"selector_top_k": 8}, ["selector_hidden.weight"])
    assert second.features is not None
    assert second.features.block == Block(9, 4, choices=8)
    changes = {"sample_from_anchor": False, "attention.causal": True}
    other = fed(tmp_path / "t.gguf", "dflash", changes, ["markov_w1.weight"]).features
    assert other is not None
    assert other.block == Block(9, 4, causal=True, first=1)


@pytest.mark.parametrize(
    ("architecture", "changes", "tensors", "reason"),
    [
        ("eagle3", {"target_layers": []}, [], "which layers of its model"),
        ("eagle3", {"target_hidden_size": 0}, [], "which layers of its model"),
        ("eagle3", {"target_layers": [1, 2]}, [], "not one layer that reads 3"),
        ("eagle3", {"block_count": 2}, [], "not one layer that reads 3"),
        ("eagle3", {"attention.value_length": 64}, [], "differ in length"),
        ("eagle3", {}, ["d2t"], "only some of the tokens"),
        ("dflash", {}, ["blk.0.hc_attn_fn.weight"], "DeepSeek 4"),
        ("dflash", {"block_size": 1}, [], "how many tokens"),
        ("dflash", {}, ["markov_w1.weight"], ""),
    ],
)
def test_one_that_cannot_be_run_says_why(
    tmp_path: Path, architecture: str, changes: dict[str, Any], tensors: list[str], reason: str
) -> None:
    header = fed(tmp_path / "m.gguf", architecture, changes, tensors)
    if not reason:
        require_runnable(header)
        return
    with pytest.raises(DrafterMismatch, match=reason):
        require_runnable(header)


def test_a_window_that_no_layer_has_never_reaches_the_library(tmp_path: Path) -> None:
    window = {"attention.sliding_window": 64}
    with pytest.raises(ModelDamaged, match="none of its layers has one"):
        fed(tmp_path / "m.gguf", "dflash", window)
    slides = window | {"attention.sliding_window_pattern": [True, False, True, False]}
    require_runnable(fed(tmp_path / "n.gguf", "dflash", slides))


def test_what_is_added_to_and_not_multiplied_is_never_halved(tmp_path: Path) -> None:
    base = {"blk.0.attn_conv_base": [256, 3, 2]}
    for kind, whole in ((Type.F32, True), (Type.F16, False)):
        path = write_gguf(tmp_path / "m.gguf", "dflash", DFLASH, base, MASK, matrix=kind)
        if whole:
            require_runnable(read_header(path))
        else:
            with pytest.raises(ModelDamaged, match="which cannot be used in a computation"):
                read_header(path)


def test_one_that_guesses_blocks_needs_a_token_for_the_unknown(tmp_path: Path) -> None:
    header = fed(tmp_path / "m.gguf", "dflash", general={})
    with pytest.raises(DrafterMismatch, match="which token stands for unknown tokens"):
        require_runnable(header)


@pytest.mark.parametrize("write", [write_eagle, write_dflash])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"architecture": "cohere2"}, "does not provide for models of the kind cohere2"),
        ({"vocabulary": "0"}, "different vocabularies of the same size"),
        ({"vocab_size": 9}, "knows 2,048 tokens, and the model 9"),
        ({"embedding_length": 64}, "model of width 128, and this one has 64"),
        ({"nextn_predict_layers": 2}, "reads layer 3 of its model, and this one has 3"),
    ],
)
def test_one_that_is_fed_is_for_models_of_its_shape(
    tmp_path: Path, write: Callable[[Path], Path], change: dict[str, Any], reason: str
) -> None:
    target, drafter = (
        read_header(write_qwen(tmp_path / "q.gguf")),
        read_header(write(tmp_path / "d")),
    )
    require_pair(target, drafter)
    with pytest.raises(DrafterMismatch, match=reason):
        require_pair(replace(target, **change), drafter)


def test_what_a_drafter_has_of_its_own_may_be_of_another_width(tmp_path: Path) -> None:
    target = read_header(write_qwen(tmp_path / "q.gguf"))
    drafter = replace(read_header(write_eagle(tmp_path / "e.gguf")), embedding_length=64)
    with pytest.raises(DrafterMismatch, match="model of width 64"):
        require_pair(target, drafter)
    assert drafter.features is not None
    own = replace(drafter.features, own_table=True, own_output=True)
    require_pair(target, replace(drafter, features=own))


def test_the_output_of_the_last_layer_is_told_by_some_models_only(tmp_path: Path) -> None:
    drafter = read_header(write_dflash(tmp_path / "d.gguf"))
    target = replace(read_header(write_qwen(tmp_path / "q.gguf")), nextn_predict_layers=2)
    assert not pairs(target, drafter)
    assert pairs(replace(target, architecture="nemotron_h"), drafter)


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> tuple[GgufHeader, GgufHeader]:
    """Return a model without its prediction layers, and these layers."""
    folder = tmp_path_factory.mktemp("apart")
    target, head = cut_off(
        write_qwen35(folder / "w.gguf"), folder / "t.gguf", folder / "mtp-t.gguf"
    )
    return read_header(target), read_header(head)


def test_prediction_layers_in_a_file_of_their_own_draft_for_their_model(
    apart: tuple[GgufHeader, GgufHeader], tmp_path: Path
) -> None:
    target, head = apart
    assert (target.kind, target.mtp, target.trunk) == ("chat", "none", 8)
    assert (head.kind, head.mtp, head.trunk) == ("drafter", "drafter", 8)
    assert head.heads_alone
    require_runnable(head)
    require_pair(target, head)
    require_pair(read_header(write_qwen35(tmp_path / "with.gguf")), head)
    assert "mtp-" in mtp_advice(target)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"architecture": "qwen35moe"}, "for models of the kind qwen35moe, and this one is qwen35"),
        ({"vocabulary": "0"}, "different vocabularies of the same size"),
        ({"embedding_length": 512}, "model of width 512, and this one has 256"),
        ({"nextn_predict_layers": 2}, "model of 7 layers, and this one has 8"),
        ({"own_output": False}, "an output layer of its own, which is missing here"),
    ],
)
def test_prediction_layers_of_another_model_are_refused(
    apart: tuple[GgufHeader, GgufHeader], change: dict[str, Any], reason: str
) -> None:
    target, head = apart
    with pytest.raises(DrafterMismatch, match=reason):
        require_pair(
            replace(target, own_output=True), replace(head, **{"own_output": True, **change})
        )


def test_a_smaller_model_of_the_same_vocabulary_drafts_for_any_larger_one(
    apart: tuple[GgufHeader, GgufHeader], target: GgufHeader, tmp_path: Path
) -> None:
    small = replace(read_header(write_llama(tmp_path / "s.gguf")), vocabulary=target.vocabulary)
    small = replace(small, vocab_size=target.vocab_size, weight_bytes=1000)
    require_pair(target, small)
    qwen = replace(apart[0], vocabulary=target.vocabulary, vocab_size=target.vocab_size)
    require_pair(qwen, small)
    for change, reason in (
        ({"vocabulary": "0"}, "different vocabularies"),
        ({"weight_bytes": target.weight_bytes}, "no smaller than the model itself"),
        ({"architecture": "mamba2"}, "Models of the kind mamba2 cannot remove tokens"),
    ):
        with pytest.raises(DrafterMismatch, match=reason):
            require_pair(target, replace(small, **change))


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        ("token_embd.weight", "has no tensor “token_embd”"),
        ("output_norm.weight", "has no tensor “output_norm”"),
    ],
)
def test_prediction_layers_without_what_the_engine_needs_are_refused(
    tmp_path: Path, missing: str, reason: str
) -> None:
    tensors = qwen35_tensors(QWEN35)
    cut = {name: shape for name, shape in tensors.items() if not re.match(r"blk\.[0-7]\.", name)}
    del cut[missing]
    header = read_header(write_gguf(tmp_path / "m.gguf", "qwen35", QWEN35, cut, matrix=Type.F32))
    assert header.kind == "drafter"
    with pytest.raises(DrafterMismatch, match=reason):
        require_runnable(header)


class TestBest:
    def test_of_those_that_pair_the_one_quantised_like_the_model(
        self, target: GgufHeader, drafter: GgufHeader
    ) -> None:
        like = replace(drafter, weight_bytes=1)
        exact = replace(drafter, quantisation="F32", weight_bytes=9)
        small = replace(drafter, quantisation="Q4_0", weight_bytes=2)
        wrong = replace(drafter, vocabulary="0", weight_bytes=99)
        found = [(Path("small"), small), (Path("exact"), exact), (Path("wrong"), wrong)]
        assert best(target, found) == Path("exact")
        assert best(target, [*found, (Path("like"), like)]) == Path("like")
        assert best(target, [(Path("wrong"), wrong)]) is None

    def test_what_was_cut_off_from_the_model_goes_before_what_is_fed_by_it(
        self, tmp_path: Path
    ) -> None:
        whole = write_qwen(tmp_path / "w.gguf")
        target, head = map(read_header, cut_off(whole, tmp_path / "t.gguf", tmp_path / "h.gguf"))
        eagle = read_header(write_eagle(tmp_path / "e.gguf"))
        eagle = replace(eagle, quantisation=target.quantisation, weight_bytes=head.weight_bytes + 1)
        found = [(Path("eagle"), eagle), (Path("head"), replace(head, quantisation="Q8_0"))]
        assert best(target, found) == Path("head")
        assert best(target, found[:1]) == Path("eagle")


class TestAdvice:
    def test_for_gemma_4(self, target: GgufHeader) -> None:
        assert mtp_advice(target).endswith("can be added as a model.")

    def test_for_others(self, tmp_path: Path) -> None:
        assert "copies" in mtp_advice(read_header(write_llama(tmp_path / "m.gguf")))

    def test_with_a_head(self, tmp_path: Path) -> None:
        header = read_header(write_qwen35(tmp_path / "m.gguf"))
        assert header.mtp == "embedded"
        assert "several tokens at once" in mtp_advice(header)

    def test_saved_without_the_head(self, tmp_path: Path) -> None:
        tensors = qwen35_tensors(QWEN35)
        del tensors["blk.8.nextn.eh_proj.weight"]
        header = read_header(
            write_gguf(tmp_path / "m.gguf", "qwen35", QWEN35, tensors, matrix=Type.F32)
        )
        assert "saved without it" in mtp_advice(header)

    def test_with_more_heads_than_can_be_run(self, tmp_path: Path) -> None:
        values = {**QWEN35, "block_count": 10, "nextn_predict_layers": 2}
        tensors = qwen35_tensors(values)
        tensors["blk.8.nextn.eh_proj.weight"] = [256, 512]
        header = read_header(
            write_gguf(tmp_path / "m.gguf", "qwen35", values, tensors, matrix=Type.F32)
        )
        assert header.mtp == "none"
        assert "2 MTP heads" in mtp_advice(header)

    def test_with_heads_that_nothing_runs(self, tmp_path: Path) -> None:
        header = read_header(write_gguf(tmp_path / "m.gguf", "glm4", *with_heads(1)))
        assert header.mtp == "none"
        assert "cannot run one of the kind glm4" in mtp_advice(header)

    def test_a_recurrent_model_copies_text_like_any_other(self, tmp_path: Path) -> None:
        header = read_header(write_qwen35(tmp_path / "m.gguf"))
        assert "only text that it copies comes faster" in mtp_advice(
            replace(header, architecture="mamba2", mtp="none", nextn_predict_layers=0)
        )


def with_heads(count: int, *missing: str) -> tuple[dict[str, object], dict[str, list[int]]]:
    """Return the values and tensors of a model whose last layers are heads."""
    tensors = llama_tensors(LLAMA)
    for layer in range(4 - count, 4):
        tensors |= {f"blk.{layer}.nextn.eh_proj.weight": [256, 512]}
    left = {name: shape for name, shape in tensors.items() if name not in missing}
    return {**LLAMA, "nextn_predict_layers": count}, left


@pytest.mark.parametrize(("count", "chained"), [(1, False), (2, True)])
def test_heads_that_take_turns(tmp_path: Path, count: int, chained: bool) -> None:
    header = read_header(write_gguf(tmp_path / "m.gguf", "hy_v3", *with_heads(count)))
    assert (header.mtp, header.chained) == ("embedded", chained)


def test_all_heads_of_a_chain_are_needed(tmp_path: Path) -> None:
    values, tensors = with_heads(2, "blk.3.nextn.eh_proj.weight")
    header = read_header(write_gguf(tmp_path / "m.gguf", "hy_v3", values, tensors))
    assert header.mtp == "none"


@pytest.mark.parametrize(
    ("architecture", "recurrent", "keeps_states"),
    [
        ("gemma4", False, False),
        ("qwen35", True, True),
        ("qwen3next", True, False),
        ("mamba", True, False),
    ],
)
def test_whose_states_can_be_kept_token_by_token(
    target: GgufHeader, architecture: str, recurrent: bool, keeps_states: bool
) -> None:
    header = replace(target, architecture=architecture)
    assert (header.recurrent, header.keeps_states) == (recurrent, keeps_states)
