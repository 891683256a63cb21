"""Models on the disk in the layout of each program."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from tests.engines.gguf_files import LLAMA, llama_tensors, write_gguf, write_llama

COMMIT = "a" * 40
OTHER_COMMIT = "b" * 40


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_projector(path: Path, width: int = 256) -> Path:
    return write_gguf(path, "clip", {"vision.projection_dim": width}, {"v.weight": [4]})


def put_on_hub(cache: Path, repo: str, name: str, source: Path, commit: str = COMMIT) -> Path:
    """Store a file as huggingface_hub does.

    Returns:
        Its path in the snapshot.
    """
    folder = cache / f"models--{repo.replace('/', '--')}"
    blob = folder / "blobs" / sha256(source)
    link = folder / "snapshots" / commit / name
    for parent in (blob.parent, link.parent, folder / "refs"):
        parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(source.read_bytes())
    up = "/".join([".."] * (2 + len(Path(name).parts) - 1))
    link.unlink(missing_ok=True)
    link.symlink_to(f"{up}/blobs/{blob.name}")
    (folder / "refs" / "main").write_text(commit)
    return link


def put_in_ollama(models: Path, place: str, source: Path, projector: Path | None = None) -> Path:
    """Store a model as Ollama does.

    Args:
        models: The folder of Ollama's models.
        place: HOST/NAMESPACE/MODEL/TAG.
        source: The model's file.
        projector: The projector's file.

    Returns:
        The model's blob.
    """
    layers = []
    blobs = models / "blobs"
    blobs.mkdir(parents=True, exist_ok=True)
    for kind, file in (("model", source), ("projector", projector)):
        if file is None:
            continue
        digest = sha256(file)
        (blobs / f"sha256-{digest}").write_bytes(file.read_bytes())
        layers.append(
            {
                "mediaType": f"application/vnd.ollama.image.{kind}",
                "digest": f"sha256:{digest}",
                "size": file.stat().st_size,
            }
        )
    layers.append({"mediaType": "application/vnd.ollama.image.params", "digest": "sha256:00"})
    manifest = models / "manifests" / place
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_text(json.dumps({"schemaVersion": 2, "layers": layers}))
    return blobs / f"sha256-{sha256(source)}"


def put_in_jan(data: Path, model_id: str, source: Path, **values: object) -> Path:
    folder = data / "llamacpp" / "models" / model_id
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.gguf").write_bytes(source.read_bytes())
    card = {"model_path": f"llamacpp/models/{model_id}/model.gguf", "name": model_id, **values}
    text = "".join(f"{name}: {value}\n" for name, value in card.items())
    (folder / "model.yml").write_text(text)
    return folder / "model.gguf"


def some_parts(folder: Path) -> tuple[Path, Path]:
    """Write a model of two files and return both."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = list(llama_tensors(LLAMA).items())

    def write(number: int, some: list[tuple[str, list[int]]]) -> Path:
        general = {"split.no": number, "split.count": 2, "split.tensors.count": len(tensors)}
        path = folder / f"big-0000{number + 1}-of-00002.gguf"
        return write_gguf(path, "llama", LLAMA, dict(some), general)

    return write(0, tensors[:9]), write(1, tensors[9:])


def some_model(path: Path, **changes: Any) -> Path:
    """Write a model whose bytes differ from those of models with other values."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_llama(path, **changes)
