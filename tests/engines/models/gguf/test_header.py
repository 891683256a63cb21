"""Facts of good files, and the errors of bad ones."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

import pytest
from gguf import GGMLQuantizationType as Type
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.errors import (
    EngineError,
    ModelDamaged,
    ModelNotFound,
    ModelUnreadable,
    NotAModel,
    UnknownArchitecture,
)
from engines.models.gguf.header import GgufHeader, read_header
from tests.engines.gguf_files import (
    LLAMA,
    Values,
    llama_tensors,
    write_gemma4,
    write_gguf,
    write_llama,
)


def with_values(path: Path, values: Values, general: Values | None = None) -> GgufHeader:
    return read_header(write_gguf(path, "llama", values, llama_tensors(values), general))


def test_facts_of_a_llama(tmp_path: Path) -> None:
    path = write_llama(tmp_path / "small.gguf", Type.Q8_0)
    header = read_header(path)
    assert (header.architecture, header.name, header.kind) == ("llama", "Test model", "chat")
    assert (header.context_max, header.block_count, header.vocab_size) == (2048, 4, 1000)
    shapes = llama_tensors(LLAMA)
    sizes = [shape[0] * (shape[1] if len(shape) > 1 else 1) for shape in shapes.values()]
    assert header.parameters == sum(sizes)
    assert header.size_bytes == path.stat().st_size
    assert header.quantisation == "Q8_0"
    assert header.chat_template is None
    assert header.layers is not None
    assert header.layers.key_length == 32
    assert [cache.key_width for cache in header.layers.caches] == [64] * 4


def test_layers_of_a_gemma_4(tmp_path: Path) -> None:
    layers = read_header(write_gemma4(tmp_path / "g.gguf")).layers
    assert layers is not None
    assert layers.window == 512
    kept = [(cache.layer, cache.key_width, cache.sliding) for cache in layers.caches]
    assert kept == [(0, 64, True), (1, 64, True), (2, 64, True), (3, 128, False)]


def test_layers_with_different_numbers_of_heads(tmp_path: Path) -> None:
    values = {**LLAMA, "attention.head_count_kv": [2, 4, 8, 1]}
    layers = with_values(tmp_path / "m.gguf", values).layers
    assert layers is not None
    assert [cache.value_width for cache in layers.caches] == [64, 128, 256, 32]


def test_the_label_of_the_quantisation_is_the_files_own(tmp_path: Path) -> None:
    header = with_values(tmp_path / "m.gguf", LLAMA, {"general.file_type": 15})
    assert header.quantisation == "Q4_K_M"


def test_long_lists_are_counted_and_short_ones_kept(tmp_path: Path) -> None:
    values = {**LLAMA, "vocab_size": 5000}
    tokens = [f"<token {number} ▁é>" for number in range(5000)]
    general = {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [0.0] * 5000,
        "tokenizer.chat_template": "{{ messages }}",
    }
    header = with_values(tmp_path / "m.gguf", values, general)
    assert header.vocab_size == 5000
    assert header.chat_template == "{{ messages }}"


SLIDING: Values = {
    "attention.sliding_window": 512,
    "attention.sliding_window_pattern": [True, True, True, False],
}


@pytest.mark.parametrize(
    ("architecture", "general_type", "extra", "kind"),
    [
        ("llama", None, {}, "chat"),
        ("gemma4-assistant", None, SLIDING, "drafter"),
        ("clip", None, {"block_count": None}, "projector"),
        ("llama", "mmproj", {}, "projector"),
        ("llama", "adapter", {}, "other"),
        ("bert", None, {}, "embedding"),
        ("qwen3", None, {"pooling_type": 3}, "embedding"),
        ("t5", None, {}, "other"),
    ],
)
def test_kinds(
    tmp_path: Path, architecture: str, general_type: str | None, extra: Values, kind: str
) -> None:
    values = {**LLAMA, **extra}
    path = write_gguf(tmp_path / "m.gguf", architecture, values, {}, {"general.type": general_type})
    header = read_header(path)
    assert header.kind == kind
    assert header.mtp == ("drafter" if kind == "drafter" else "none")


def test_embedded_mtp_needs_its_head_and_not_only_the_number(tmp_path: Path) -> None:
    values = {**LLAMA, "nextn_predict_layers": 1}
    tensors = llama_tensors(LLAMA)
    bare = write_gguf(tmp_path / "bare.gguf", "qwen35", values, tensors)
    assert read_header(bare).mtp == "none"
    tensors["blk.3.nextn.eh_proj.weight"] = [256, 512]
    whole = write_gguf(tmp_path / "whole.gguf", "qwen35", values, tensors)
    assert read_header(whole).mtp == "embedded"


class TestSplit:
    def write(self, folder: Path, number: int, tensors: dict[str, list[int]]) -> Path:
        facts = {"split.no": number, "split.count": 2, "split.tensors.count": 38}
        path = folder / f"m-0000{number + 1}-of-00002.gguf"
        return write_gguf(path, "llama", LLAMA, tensors, facts)

    def test_parts_are_taken_together(self, tmp_path: Path) -> None:
        tensors = llama_tensors(LLAMA)
        names = sorted(tensors)
        first = self.write(tmp_path, 0, {name: tensors[name] for name in names[:20]})
        second = self.write(tmp_path, 1, {name: tensors[name] for name in names[20:]})
        whole = read_header(write_llama(tmp_path / "whole.gguf"))
        header = read_header(first)
        assert header.parts == 2
        assert header.weight_bytes == whole.weight_bytes
        assert header.size_bytes == first.stat().st_size + second.stat().st_size

    def test_a_later_part_alone_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(NotAModel, match="part 2 of 2"):
            read_header(self.write(tmp_path, 1, {}))

    def test_a_missing_part_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(ModelDamaged, match="m-00002-of-00002"):
            read_header(self.write(tmp_path, 0, {}))

    def test_all_missing_parts_are_named(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, 0, {})
        path = path.rename(tmp_path / "m-00001-of-00002.gguf")
        with pytest.raises(ModelDamaged, match=r"Download m-00002-of-00002\.gguf") as caught:
            read_header(path)
        assert "elete" not in str(caught.value)

    def test_a_renamed_part_is_refused(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, 0, {}).rename(tmp_path / "nice-name.gguf")
        with pytest.raises(ModelDamaged, match="was renamed"):
            read_header(path)


class TestBadFiles:
    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(ModelNotFound):
            read_header(tmp_path / "none.gguf")

    def test_below_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(ModelNotFound):
            read_header(tmp_path / "file" / "m.gguf")

    def test_impossible_name(self) -> None:
        with pytest.raises(ModelNotFound):
            read_header(Path("a\0b.gguf"))

    def test_too_long_a_name(self, tmp_path: Path) -> None:
        with pytest.raises(ModelUnreadable):
            read_header(tmp_path / ("x" * 300))

    def test_forbidden(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> None:
            raise PermissionError(13, "Permission denied")

        path = write_llama(tmp_path / "m.gguf")
        monkeypatch.setattr(os, "open", refuse)  # a mode of 0 does not stop an administrator
        with pytest.raises(ModelUnreadable, match="Permission denied"):
            read_header(path)

    def test_folder(self, tmp_path: Path) -> None:
        write_llama(tmp_path / "inside.gguf")
        with pytest.raises(NotAModel, match=r"inside\.gguf"):
            read_header(tmp_path)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders here")
    def test_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "m.gguf")
        with pytest.raises(NotAModel, match="pipe"):
            read_header(tmp_path / "m.gguf")

    def test_web_page(self, tmp_path: Path) -> None:
        path = tmp_path / "m.gguf"
        path.write_text("<!doctype html><title>Sign in</title>")
        with pytest.raises(NotAModel, match="web page"):
            read_header(path)

    def test_half_a_download_says_how_much_is_there(self, tmp_path: Path) -> None:
        path = write_llama(tmp_path / "m.gguf")
        size = path.stat().st_size
        os.truncate(path, size - 1)
        with pytest.raises(ModelDamaged) as caught:
            read_header(path)
        assert f"at least {size:,} bytes" in caught.value.why
        assert f"has {size - 1:,}" in caught.value.why

    @pytest.mark.parametrize(
        ("name", "beside", "said"),
        [
            (
                "m.gguf.part1of2",
                (),
                "piece 1 of 2 of a file that was cut. Not beside it: m.gguf.p",
            ),
            ("m.gguf.part1of2", ("m.gguf.part2of2",), "m.gguf.part1of2 m.gguf.part2of2 > m.gguf"),
            ("m.gguf.part2of3", ("m.gguf.part1of3",), "Not beside it: m.gguf.part3of3."),
            ("m.gguf.aa", ("m.gguf.ab", "m.gguf.ac"), "m.gguf.aa m.gguf.ab m.gguf.ac > m.gguf"),
            ("m.gguf.ab", (), "Not beside it: m.gguf.aa."),
            ("m.gguf.001", ("m.gguf.003",), "Not beside it: m.gguf.002."),
            ("m.gguf-split-a", ("m.gguf-split-b",), "m.gguf-split-a m.gguf-split-b > m.gguf"),
            ("m.gguf.part-00001-of-00002", (), "Not beside it: m.gguf.part-00002-of-00002."),
            ("m.part1of2.gguf", ("m.part2of2.gguf",), "m.part1of2.gguf m.part2of2.gguf > m.gguf"),
            ("m.gguf.part10", ("m.gguf.part9",), "m.gguf.part1, m.gguf.part2,"),
        ],
    )
    @pytest.mark.parametrize("start", [b"", b"GGUF"])
    def test_a_piece_of_a_cut_file(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        name: str,
        beside: tuple[str, ...],
        said: str,
        start: bytes,
    ) -> None:
        monkeypatch.setattr(sys, "platform", "linux")
        whole = write_llama(tmp_path / "whole").read_bytes()
        (tmp_path / name).write_bytes(whole[:-100] if start else b"\1\2\3" * 99)
        for other in beside:
            (tmp_path / other).write_bytes(b"x")
        with pytest.raises(NotAModel, match="is one piece of a model") as caught:
            read_header(tmp_path / name)
        told = f"{caught.value.why} {caught.value.do}"
        assert said in told
        assert "interrupted" not in told
        assert "elete" not in told

    @pytest.mark.parametrize("name", ["m.gguf.part", "m.gguf.bak", "m.gguf.bk", "m.gguf.20240501"])
    def test_another_ending_is_no_piece(self, tmp_path: Path, name: str) -> None:
        path = write_llama(tmp_path / name)
        os.truncate(path, path.stat().st_size - 1)
        with pytest.raises(ModelDamaged, match="interrupted"):
            read_header(path)

    @pytest.mark.parametrize("length", [4, 7, 8, 23, 24, 100, 1000, 2000])
    def test_half_a_header(self, tmp_path: Path, length: int) -> None:
        path = write_llama(tmp_path / "m.gguf")
        os.truncate(path, length)
        with pytest.raises(ModelDamaged, match="middle of its header"):
            read_header(path)

    @pytest.mark.parametrize(
        ("start", "expected"),
        [
            (struct.pack(">4sIQQ", b"GGUF", 3, 0, 0), "big-endian"),
            (struct.pack("<4sIQQ", b"GGUF", 1, 0, 0), "version 1"),
            (struct.pack("<4sIQQ", b"GGUF", 9, 0, 0), "version 9"),
            (struct.pack("<4sIQQ", b"GGUF", 3, 1 << 60, 0), "claims"),
            (struct.pack("<4sIQQ", b"GGUF", 3, 0, 1 << 60), "claims"),
            (struct.pack("<4sIQQ", b"GGUF", 3, 0, 0), "architecture"),
            (struct.pack("<4sIQQQ1sI", b"GGUF", 3, 0, 1, 1, b"k", 99), "type 99"),
            (struct.pack("<4sIQQQ1sIQ", b"GGUF", 3, 0, 1, 1, b"k", 8, 1 << 40), "text that claims"),
            (struct.pack("<4sIQQQ1sIIQ", b"GGUF", 3, 0, 1, 1, b"k", 9, 4, 1 << 40), "list that"),
            (struct.pack("<4sIQQQ1s", b"GGUF", 3, 0, 1, 1, b"\xff"), "not readable text"),
        ],
    )
    def test_nonsense(self, tmp_path: Path, start: bytes, expected: str) -> None:
        path = tmp_path / "m.gguf"
        path.write_bytes(start + bytes(64))
        with pytest.raises(ModelDamaged) as caught:
            read_header(path)
        assert expected in caught.value.why

    @pytest.mark.parametrize(
        "tokens",
        [
            ["a", "b", "a"],
            [*(f"<token {number}>" for number in range(3000)), "<token 7>"],
            ["a", "b\0c", "b\0d"],
        ],
    )
    def test_a_token_that_is_there_twice(self, tmp_path: Path, tokens: list[str]) -> None:
        with pytest.raises(ModelDamaged, match=r"the token '.*' occurs twice"):
            with_values(tmp_path / "m.gguf", LLAMA, {"tokenizer.ggml.tokens": tokens})

    def test_tokens_without_a_text_have_no_twin(self, tmp_path: Path) -> None:
        facts = {"tokenizer.ggml.tokens": ["", "a", "", "\0"], "tokenizer.ggml.merges": ["a b"] * 2}
        assert with_values(tmp_path / "m.gguf", LLAMA, facts).vocab_size == 4

    def test_version_2_is_read(self, tmp_path: Path) -> None:
        path = write_llama(tmp_path / "m.gguf")
        content = bytearray(path.read_bytes())
        content[4] = 2
        path.write_bytes(content)
        assert read_header(path).architecture == "llama"

    def test_alignment(self, tmp_path: Path) -> None:
        with pytest.raises(ModelDamaged, match="power of two"):
            with_values(tmp_path / "m.gguf", LLAMA, {"general.alignment": 33})

    def test_a_tensor_in_the_wrong_place(self, tmp_path: Path) -> None:
        path = write_llama(tmp_path / "m.gguf")
        content = bytearray(path.read_bytes())
        # After the name: dimensions (4 bytes), one length (8), type (4), then the offset.
        offset = content.index(b"output_norm.weight") + len("output_norm.weight") + 16
        content[offset] ^= 32
        path.write_bytes(content)
        with pytest.raises(ModelDamaged, match="not where it should be"):
            read_header(path)

    def test_unknown_architecture(self, tmp_path: Path) -> None:
        path = write_llama(tmp_path / "m.gguf")
        content = path.read_bytes().replace(b"\5\0\0\0\0\0\0\0llama", b"\5\0\0\0\0\0\0\0dalai", 1)
        path.write_bytes(content)
        with pytest.raises(UnknownArchitecture, match="'dalai'"):
            read_header(path)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("good") / "m.gguf"
    values = {**LLAMA, "block_count": 1, "embedding_length": 32, "feed_forward_length": 32,
              "rope.dimension_count": 4, "vocab_size": 8}  # fmt: skip
    return write_gguf(path, "llama", values, llama_tensors(values)).read_bytes()


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    changes=st.lists(st.tuples(st.integers(0, 1 << 16), st.binary(min_size=1, max_size=9))),
    end=st.integers(0, 1 << 16),
)
def test_whatever_happens_to_a_file_it_ends_in_a_header_or_an_error(
    good: bytes, tmp_path: Path, changes: list[tuple[int, bytes]], end: int
) -> None:
    content = bytearray(good)
    header_size = good.index(b"blk.0.ffn_down.weight") + 64
    for at, new in changes:
        content[at % header_size : at % header_size + len(new)] = new
    path = tmp_path / "m.gguf"
    path.write_bytes(content[: end % len(content)] if end % 3 == 0 else content)
    try:
        said = [read_header(path).architecture + "."]
    except EngineError as error:
        said = [error.what, error.why, error.do]
    assert all(len(sentence) > 1 and sentence.endswith(".") for sentence in said)
