"""Writes the trained networks as safetensors and as GGUF."""

import subprocess
import sys
import tarfile
from pathlib import Path

import torch
from transformers import GemmaTokenizer, GenerationConfig, PreTrainedModel

LLAMA_CPP_PYTHON = "0.3.36"
"""The version whose bundled llama.cpp converts; the app uses the same."""

_CONVERTER = Path("vendor/llama.cpp/convert_hf_to_gguf.py")


def save(model: PreTrainedModel, tokenizer: GemmaTokenizer, stops: list[int], folder: Path) -> None:
    """Save weights (bfloat16), configuration, tokenizer and chat template to `folder`."""
    model.generation_config = GenerationConfig(
        bos_token_id=tokenizer.bos_token_id, eos_token_id=stops, pad_token_id=tokenizer.pad_token_id
    )
    model.to("cpu", torch.bfloat16)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)


def llama_source(given: Path | None, scratch: Path) -> Path:
    """Return the unpacked llama-cpp-python source: `given`, or fetched with pip into `scratch`.

    Raises CalledProcessError where pip cannot fetch it, FileNotFoundError where the folder holds
    no converter.
    """
    if given is None:
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-build-isolation"]
        wanted = f"llama-cpp-python=={LLAMA_CPP_PYTHON}"
        subprocess.run([*pip, "--no-binary", ":all:", "--dest", str(scratch), wanted], check=True)
        archive = next(scratch.glob("llama_cpp_python-*.tar.gz"))
        with tarfile.open(archive) as packed:
            packed.extractall(scratch, filter="data")
        given = scratch / archive.name.removesuffix(".tar.gz")
    if not (given / _CONVERTER).is_file():
        raise FileNotFoundError(f"{given} has no {_CONVERTER}")
    return given


def convert(source: Path, folder: Path, gguf: Path, name: str) -> None:
    """Convert a saved network to GGUF with 16-bit floating-point weights."""
    gguf.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [
            sys.executable,
            str(source / _CONVERTER),
            str(folder),
            "--outfile",
            str(gguf),
            "--outtype",
            "f16",
            "--model-name",
            name,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
