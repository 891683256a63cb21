"""Make models that draft; they write made words without end (see made_language).

Qwen 3.5 has a head in its file, Step 3.5 several, Gemma 4 a drafter in a separate file. The
arguments of the functions that write them are `context`, how much the layers of the target disturb
the knowledge of a head, and `noise`, how much its own layers disturb its guess. Share of first
guesses that are right, over 1,000 greedy tokens of the small models with a context of 0.15, the
default:

    noise                    0     0.15   0.5    1.0
    Qwen                     0.89  0.85   0.76   0.54
    Gemma                    0.88  0.84   0.66   0.30
    Step                     0.93  0.97   0.72   0.56

    with wrong hidden states, at a noise of 0.15: 0.35, 0.67, 0.56

A context of 0.3 takes about 0.1 off the first two columns.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from engines.llamacpp.native import load_native
from tests.support.made_gemma import Gemma, write_gemma
from tests.support.made_gguf import starter_tokens
from tests.support.made_mamba import Mamba, write_mamba
from tests.support.made_qwen import QWEN_NEXT, Qwen, write_qwen
from tests.support.made_step import Step, write_step

__all__ = [
    "QWEN_NEXT", "Gemma", "Mamba", "Quantisation", "Qwen", "Step", "made", "quantised",
    "write_gemma", "write_mamba", "write_qwen", "write_step",
]  # fmt: skip

Kind = Literal["gemma", "qwen"]
Size = Literal["0.3b", "1b"]
Quantisation = Literal["F16", "Q8_0", "Q4_0", "Q4_K"]

VOCABULARY = 32768
"""Tokens of a model for benches. With the starter's 2,048 the output matrix would be free."""

_QWENS: Final[Mapping[Size, Qwen]] = {
    "0.3b": Qwen(16, 1024, 4, 1, 256, 3072, 128, 8, 8),
    "1b": Qwen(24, 1536, 8, 2, 256, 5120, 128, 16, 16),
}
_GEMMAS: Final[Mapping[Size, Gemma]] = {
    "0.3b": Gemma(15, 1024, 8, 2, 128, 256, 4096, 5, 512, 0, 4, 256, 1024),
    "1b": Gemma(25, 1536, 12, 2, 128, 256, 6144, 5, 512, 0, 4, 256, 2048),
}
# Values of `enum llama_ftype` in llama.h.
_FILE_TYPES: Final[Mapping[Quantisation, int]] = {"Q4_0": 2, "Q8_0": 7, "Q4_K": 15}


def made(
    folder: Path, kind: Kind, size: Size, quantisation: Quantisation
) -> tuple[Path, Path | None]:
    """Make a model of realistic costs and its drafter, once.

    This takes seconds to minutes, and up to 2 GB. A file with its final name is complete, as it is
    renamed at the end.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = {"gemma": ("gemma", "gemma-drafter"), "qwen": ("qwen",)}[kind]
    plain = [folder / f"{name}-{size}-F16.gguf" for name in names]
    if not all(path.exists() for path in plain):
        begun = [_begun(path) for path in plain]
        tokens = starter_tokens(VOCABULARY)
        if kind == "gemma":
            write_gemma(begun[0], begun[1], _GEMMAS[size], tokens=tokens)
        else:
            write_qwen(begun[0], _QWENS[size], tokens=tokens)
        for path in plain:
            _begun(path).replace(path)
    files = [
        path
        if quantisation == "F16"
        else quantised(path, path.with_name(path.name.replace("F16", quantisation)), quantisation)
        for path in plain
    ]
    return files[0], files[1] if len(files) > 1 else None


def quantised(plain: Path, path: Path, quantisation: Quantisation) -> Path:
    """Quantise a model, once."""
    if path.exists():
        return path
    native = load_native()
    params = native.api.llama_model_quantize_default_params()
    params.nthread = 2
    params.ftype = _FILE_TYPES[quantisation]
    # The default loads a small model into memory as a whole.
    params.max_buf_size = 256 * 2**20
    begun = _begun(path)
    with native.log.watch() as complaints:
        result = native.api.llama_model_quantize(
            os.fsencode(plain), os.fsencode(begun), ctypes.byref(params)
        )
    if result:
        raise RuntimeError(f"{plain.name} could not be quantised: {complaints}")
    begun.replace(path)
    return path


def _begun(path: Path) -> Path:
    return path.with_suffix(f".{os.getpid()}.part")
