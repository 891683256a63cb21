"""The models of Ollama, which Hearth only reads: manifests that name blobs by their SHA-256.

Source: Ollama's manifest/paths.go (manifests/HOST/NAMESPACE/MODEL/TAG, blobs/sha256-HEX) and the
media types of its layers in server/create.go.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from app.models.library.services.places.files import glance_at, inode_of
from app.models.library.services.places.hub_cache import hash_from_name
from app.models.library.services.places.scan import FoundModel, Scan, list_folder, read_json
from engines.sentences import N_

_MODEL: Final = "application/vnd.ollama.image.model"
_PROJECTOR: Final = "application/vnd.ollama.image.projector"
_USUAL: Final = ("registry.ollama.ai", "library")


def scan_ollama(models: Path) -> Scan:
    """Find the chat models in one of Ollama's folders."""
    scan = Scan()
    level = [models / "manifests"]
    for _ in range(4):
        level = [
            path for folder in level if scan.watch(folder) for path in list_folder(folder, scan)
        ]
    for manifest in level:
        if manifest.is_file() and not manifest.name.startswith("."):
            _add(manifest, models, scan)
    return scan


def called(manifest: Path) -> str:
    """Return a model's name as `ollama list` shows it, without the default host and namespace."""
    *place, model, tag = manifest.parts[-4:]
    parts = [part for part, usual in zip(place, _USUAL, strict=True) if part != usual]
    return "/".join([*parts, f"{model}:{tag}"])


def _add(manifest: Path, models: Path, scan: Scan) -> None:
    content = read_json(manifest, scan)
    if content is None:
        return
    blobs = _blobs(content, models)
    if blobs is None:
        scan.notes.append(
            N_("{manifest} was skipped: it is not in Ollama’s format.", manifest=manifest)
        )
        return
    model, projector = blobs.get(_MODEL), blobs.get(_PROJECTOR)
    if model is None or not model.exists():
        return  # a model of another kind, in the cloud, or still downloading
    facts = glance_at(model, scan)
    if facts is None or facts.kind != "chat":
        return
    name, sha256 = called(manifest), hash_from_name(model)
    scan.models.append(
        FoundModel(
            identity=f"ollama:{name}:{sha256}",
            name=name,
            source="ollama",
            files=(model,),
            size_bytes=model.stat().st_size,
            inode=inode_of(model),
            sha256=sha256,
            projector=projector if projector and projector.exists() else None,
        )
    )


def _blobs(content: Any, models: Path) -> dict[str, Path] | None:
    """Return the first blob of each media type; None if the content is not a manifest."""
    layers = content.get("layers") if isinstance(content, dict) else None
    if not isinstance(layers, list):
        return None
    blobs: dict[str, Path] = {}
    for layer in layers:
        kind, digest = (
            (layer.get("mediaType"), layer.get("digest"))
            if isinstance(layer, dict)
            else (None, None)
        )
        if not isinstance(kind, str) or not isinstance(digest, str):
            return None
        blob = models / "blobs" / digest.replace(":", "-")
        if hash_from_name(Path(blob.name)) is not None:
            blobs.setdefault(kind, blob)
    return blobs
