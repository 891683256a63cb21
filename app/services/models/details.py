"""What a model's file says of itself, for a page of details."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.core.models.entry import ModelEntry, Source
from app.services.models.about import about
from app.services.models.library import Library
from engines.dialect import Dialect
from engines.errors import TemplateFailed
from engines.models.gguf.header import GgufHeader
from engines.models.gguf.reader import Value, read_start


@dataclass(frozen=True)
class TensorShare:
    """How much of a model is of one quantisation. share: 0.0 to 1.0 of all tensors."""

    type: str
    size_bytes: int
    share: float


@dataclass(frozen=True)
class Template:
    """present: the file brings a chat template; otherwise ChatML stands in.

    system_prompt: whether a system prompt has a place of its own; else it goes into the first
    question. thinking: whether the model writes its reasoning apart. trouble: why the template
    cannot be used, empty if it can.
    """

    present: bool
    system_prompt: bool = False
    thinking: bool = False
    trouble: str = ""


@dataclass(frozen=True)
class ModelDetails:
    """Lengths in tokens, sizes in bytes; None or empty where the file does not say.

    layers: without those that only predict tokens ahead. heads, kv_heads: the most of any layer.
    mtp: one word, as in `GgufHeader`, or "drafter" if a drafter's file belongs to the model.
    """

    id: str
    name: str
    source: Source
    title: str
    architecture: str
    parameters: int
    quantisation: str
    tensors: tuple[TensorShare, ...]
    context_max: int
    embedding_length: int
    layers: int
    heads: int
    kv_heads: int
    vocab_size: int
    tokenizer: str
    template: Template
    mtp: str
    vision: bool
    size_bytes: int
    weight_bytes: int
    licence: str
    made_by: str
    files: tuple[Path, ...]
    drafter: Path | None
    projector: Path | None
    repo: str | None
    revision: str | None
    sha256: str | None
    verified: float | None
    last_used: float | None


def details(library: Library, called: str) -> ModelDetails:
    """Reads the model's header. Raises ModelUnknown, ModelAmbiguous or EngineError."""
    entry = library.find(called)
    if entry.engine != "llamacpp":
        return _without_header(library, entry)
    header = library.header(entry)
    values = _values(entry.path)
    layers = header.layers
    drafter = library.drafter_for(entry)
    return ModelDetails(
        id=entry.id,
        name=entry.name,
        source=entry.source,
        title=header.name,
        architecture=header.architecture,
        parameters=header.parameters,
        quantisation=header.quantisation,
        tensors=_mix(header),
        context_max=header.context_max,
        embedding_length=header.embedding_length,
        layers=header.block_count - len(header.head_layers),
        heads=max(layers.heads, default=0) if layers else 0,
        kv_heads=max(layers.kv_heads, default=0) if layers else 0,
        vocab_size=header.vocab_size,
        tokenizer=_joined(values, "tokenizer.ggml.model", "tokenizer.ggml.pre"),
        template=template_of(header.chat_template),
        mtp=mtp_of(header, drafter),
        vision=entry.projector is not None,
        size_bytes=header.size_bytes,
        weight_bytes=header.weight_bytes,
        licence=_text(values, "general.license"),
        made_by=_text(values, "general.organization") or _text(values, "general.author"),
        files=entry.files,
        drafter=drafter,
        projector=entry.projector,
        repo=entry.repo,
        revision=entry.revision,
        sha256=entry.sha256,
        verified=entry.verified,
        last_used=entry.last_used,
    )


def _without_header(library: Library, entry: ModelEntry) -> ModelDetails:
    """Of a checkpoint, or of a server's model, which tells hardly anything."""
    found = about(library, entry)
    its = library.checkpoints.read(entry.path) if entry.engine == "vllm" else None
    return ModelDetails(
        id=entry.id,
        name=entry.name,
        source=entry.source,
        title=its.name if its else entry.served,
        architecture=found.architecture,
        parameters=found.parameters,
        quantisation=found.quantisation,
        tensors=(),
        context_max=found.context_max,
        embedding_length=its.width if its else 0,
        layers=its.layers if its else 0,
        heads=its.heads if its else 0,
        kv_heads=its.kv_heads if its else 0,
        vocab_size=its.vocabulary if its else 0,
        tokenizer="",
        template=template_of(its.chat_template) if its else Template(present=False),
        mtp=found.mtp,
        vision=its.vision if its else False,
        size_bytes=found.size_bytes,
        weight_bytes=found.size_bytes,
        licence="",
        made_by="",
        files=entry.files,
        drafter=found.drafter,
        projector=None,
        repo=entry.repo,
        revision=entry.revision,
        sha256=entry.sha256,
        verified=entry.verified,
        last_used=entry.last_used,
    )


def mtp_of(header: GgufHeader, drafter: Path | None) -> str:
    """What can guess tokens ahead for a model: "drafter", "embedded" or "none"."""
    if drafter is not None:
        return "drafter"
    return "none" if header.mtp == "drafter" else header.mtp


def template_of(source: str | None) -> Template:
    """What a chat template can do, found out by running it."""
    try:
        dialect = Dialect(source)
    except TemplateFailed as error:
        return Template(source is not None, trouble=f"{error.what} {error.why}")
    dialect.close()
    return Template(source is not None, dialect.system_role, dialect.format is not None)


def _mix(header: GgufHeader) -> tuple[TensorShare, ...]:
    """The most bytes first."""
    sizes: dict[str, int] = {}
    for tensor in header.tensors:
        sizes[tensor.type] = sizes.get(tensor.type, 0) + tensor.size_bytes
    total = sum(sizes.values()) or 1
    found = [TensorShare(type_, size, size / total) for type_, size in sizes.items()]
    return tuple(sorted(found, key=lambda it: -it.size_bytes))


def _values(path: Path) -> Mapping[str, Value]:
    """Those before the token list, where all of these stand; the header itself was read before."""
    with path.open("rb") as file:
        return read_start(file, path.stat().st_size)[1]


def _text(values: Mapping[str, Value], key: str) -> str:
    value = values.get(key)
    return value.strip() if isinstance(value, str) else ""


def _joined(values: Mapping[str, Value], *keys: str) -> str:
    return ", ".join(text for key in keys if (text := _text(values, key)))
