"""The description of a checkpoint: a folder with config.json and safetensors files.

Example::

    checkpoint = read_checkpoint(folder)
    checkpoint.kv_bytes(8192)

Only config.json and the names, types and shapes in the tensors' headers are read. Source of the
layout: the README of the safetensors library (8 bytes of length, little endian, then JSON).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal

from engines.errors import (
    DrafterMismatch,
    EngineError,
    ModelDamaged,
    ModelNotFound,
    ModelUnreadable,
    NotAChatModel,
    NotAModel,
)
from engines.models.draft_config import (
    ASSISTANTS,
    CHATS,
    DraftConfig,
    draft_config,
    family_of,
    language_part,
)
from engines.models.format import (
    Advise,
    AnyModel,
    FileDetails,
    ListedModel,
    ModelFacts,
    ModelFormat,
)
from engines.regular import open_regular, read_regular_text
from engines.sentences import N_
from engines.types import EngineName, MtpKind

_BODY: Final = r"^(?:model\.|language_model\.|model\.language_model\.|language_model\.model\.)?"
_EMBEDDING: Final = re.compile(_BODY + r"embed_tokens\.weight$")
_LAYER: Final = re.compile(_BODY + r"layers\.(\d+)\.(.+)$")
_INPUTS: Final = {f"self_attn.{name}_proj.weight" for name in "qkv"}
_PLAIN: Final = {"F32", "F16", "BF16"}
_NETWORK: Final = re.compile(r"^(.+\.)(gate|up|down)_proj\.[^.]+$")
"""A projection of a layer's feed-forward network, packed or not, also of a single expert."""

_REST: Final = {"gate": ("up", "down"), "up": ("down",)}
"""The projections that must accompany another: with a gate all three; some networks have no gate.

vLLM does not report a missing one, and writes nonsense.
"""


def contradiction(
    text: Mapping[str, Any], tensors: Mapping[str, Any], drafting: DraftConfig | None = None
) -> str:
    """Return a sentence on where the tensors contradict config.json; "" if they are consistent.

    Only properties that every model of this layout shares are compared: the embedding, the number
    of layers, the width of their inputs, and the projections of an assistant. Tensors that a
    quantisation has packed have other shapes and are skipped.

    Args:
        text: The part of config.json about the language model.
        tensors: Dtype and shape of each tensor, by name.
        drafting: The configuration of a drafter.
    """
    contradictions: Iterator[str] = iter(())
    # The first layer of an Eagle-3 drafter takes the token's embedding beside the hidden state.
    if drafting is None or drafting.method != "eagle3":
        contradictions = _contradictions(text, tensors)
    if drafting is not None:
        contradictions = chain(contradictions, _drafter_contradictions(text, tensors, drafting))
    return next(contradictions, "")


def _contradictions(text: Mapping[str, Any], tensors: Mapping[str, Any]) -> Iterator[str]:
    width, layers = int(text.get("hidden_size") or 0), int(text.get("num_hidden_layers") or 0)
    for name, shape in _unpacked_shapes(tensors).items():
        if _EMBEDDING.match(name):
            yield from _shape_mismatch(name, shape, [int(text.get("vocab_size") or 0), width])
        elif (match := _LAYER.match(name)) and match[2] in _INPUTS:
            yield from _shape_mismatch(name, shape, [shape[0], width])
    layer_numbers = {int(match[1]) for name in tensors if (match := _LAYER.match(name))}
    # A wrong config.json can name any number of layers, so build no set of that size.
    missing_layer = (
        next((layer for layer in range(layers) if layer not in layer_numbers), None)
        if layer_numbers
        else None
    )
    if missing_layer is not None:
        yield (
            N_(
                "Its config.json names {layers} layers, but the tensors of layer "
                "{layer} are not in its files.",
                layers=layers,
                layer=missing_layer,
            )
        )
    parts = {(match[1], match[2]) for name in tensors if (match := _NETWORK.match(name))}
    for network, part in sorted(parts):
        for companion in _REST.get(part, ()):
            if (network, companion) not in parts:
                yield N_(
                    "The tensor {network}{other}_proj of its network is not in its files.",
                    network=network,
                    other=companion,
                )


def _drafter_contradictions(
    text: Mapping[str, Any], tensors: Mapping[str, Any], drafting: DraftConfig
) -> Iterator[str]:
    """Yield contradictions in the projections that read the model's states and return one."""
    width, layers = int(text.get("hidden_size") or 0), int(text.get("num_hidden_layers") or 0)
    shapes, backbone = _unpacked_shapes(tensors), drafting.width
    if drafting.method != "mtp":
        for name, shape in shapes.items():
            if name == "fc.weight" or name.endswith(".fc.weight"):
                expected_width = shape[-1] if backbone and shape[-1] % backbone == 0 else backbone
                yield from _shape_mismatch(name, shape, [width, expected_width])
        return
    layer_numbers = {int(match[1]) for name in tensors if (match := _LAYER.match(name))}
    if extra_layers := sorted(layer for layer in layer_numbers if layer >= layers):
        yield (
            N_(
                "Its config.json names {layers} layers, but its files contain tensors "
                "of layer {layer}.",
                layers=layers,
                layer=extra_layers[0],
            )
        )
    for name, expected in (
        ("pre_projection.weight", [width, 2 * backbone]),
        ("post_projection.weight", [backbone, width]),
    ):
        if name in shapes:
            yield from _shape_mismatch(name, shapes[name], expected)


def _unpacked_shapes(tensors: Mapping[str, Any]) -> dict[str, list[int]]:
    return {
        name: tensor["shape"] for name, tensor in tensors.items() if tensor.get("dtype") in _PLAIN
    }


def _shape_mismatch(name: str, shape: list[int], expected: list[int]) -> Iterator[str]:
    """Yield how a tensor's shape differs from config.json; an expected length of 0 is unknown."""
    if len(shape) != len(expected) or any(
        expected_length and expected_length != length
        for length, expected_length in zip(shape, expected, strict=True)
    ):
        yield (
            N_(
                "In its config.json the tensor {name} is {expected}, but in its files it is "
                "{actual}.",
                name=name,
                expected=_shape(expected),
                actual=_shape(shape),
            )
        )


def _shape(lengths: list[int]) -> str:
    return " × ".join(f"{length:,}" if length else "?" for length in lengths)


Precision = Literal["fp32", "bf16", "fp16", "fp8", "int8", "int4", "nvfp4", "mxfp4"]

HEADS: Final = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers")
"""The config.json keys for the number of a model's own layers that predict tokens ahead."""

NOTHING_DRAFTS: Final = N_(
    "This model cannot guess ahead; with MTP on, text that it copies comes faster."
)

INDEX: Final = "model.safetensors.index.json"
IN_FLIGHT: Final = 2 * 2048
"""The tokens that vLLM processes at a time, in two steps.

This holds for cards with less than 70 GB and for a processor. Source: vLLM 0.33,
`get_batch_defaults` and `max_in_flight_tokens`.
"""

_DTYPES: Final[Mapping[str, Precision]] = {
    "bfloat16": "bf16", "float16": "fp16", "float32": "fp32", "half": "fp16",
}  # fmt: skip
_MOST_HEADER: Final = 100 << 20

_DEFAULT_SIZES: Final[Mapping[str, Mapping[str, int]]] = {
    "qwen2": {
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
    }
}
"""The default sizes of a language model whose part of config.json omits them, by model_type.

Qwen2 Audio omits them. Source: transformers, `Qwen2Config`.
"""


@dataclass(frozen=True)
class KvLayer:
    """The keys and values that one layer keeps for each token.

    Attributes:
        heads: Number of key and value heads.
        width: Values per head, in the keys and again in the values.
        window: Number of tokens that the layer looks back on; None for all.
    """

    heads: int
    width: int
    window: int | None = None


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint's description. Sizes are in bytes, lengths in tokens.

    Attributes:
        files: The safetensors files.
        kv: The layers that keep keys and values of their own.
        mtp: "drafter" if this is one, "embedded" if it has a prediction head of its own, else
            "none".
        drafting: For a drafter, how it drafts and for which models.
        chat_template: None if there is none.
    """

    path: Path
    name: str
    model_type: str
    architecture: str
    files: tuple[Path, ...]
    weight_bytes: int
    parameters: int
    precision: Precision
    context_max: int
    layers: int
    width: int
    heads: int
    kv_heads: int
    vocabulary: int
    kv: tuple[KvLayer, ...]
    mtp: MtpKind = "none"
    drafting: DraftConfig | None = None
    vision: bool = False
    hearing: bool = False
    chat_template: str | None = None

    @property
    def chats(self) -> bool:
        """True if it writes text."""
        return self.architecture.endswith(CHATS)

    def kv_bytes(
        self, context: int, kv_type: str = "f16", in_flight: int = IN_FLIGHT, cards: int = 1
    ) -> int:
        """Return the KV cache's size for one conversation, in bytes on all cards together.

        A layer with a window keeps the window and the tokens in flight. Each card keeps at least
        one head, even one that another card also keeps. Checked against vLLM's own figure for Gemma
        4 31B: 27.04 GiB for 262,144 tokens, of which 8,192 are in flight.

        Args:
            context: Tokens of the conversation.
            kv_type: "f16", or a type with one byte per value.
            in_flight: Tokens that are processed at a time.
            cards: Number of cards that share each layer.
        """
        each = 2 if kv_type == "f16" else 1
        return sum(
            2 * max(layer.heads, cards) * layer.width * each
            * min(context, context if layer.window is None else layer.window + in_flight)
            for layer in self.kv
        )  # fmt: skip


def is_checkpoint(names: list[str]) -> bool:
    """Return whether the files of a folder, given by name, are a checkpoint."""
    return "config.json" in names and any(name.endswith(".safetensors") for name in names)


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read a checkpoint. Raises ModelNotFound, ModelUnreadable, NotAModel or ModelDamaged."""
    try:
        files = tuple(sorted(file for file in folder.iterdir() if file.suffix == ".safetensors"))
        config = json.loads(read_regular_text(folder / "config.json"))
        if not isinstance(config, dict):
            raise _damaged(folder, N_("Its config.json contains no settings."))
        tensors = {name: tensor for file in files for name, tensor in tensors_in(file).items()}
        weight_bytes = sum(file.stat().st_size for file in files)
    except FileNotFoundError as error:
        if folder.exists():
            raise NotAModel(
                N_("“{name}” is not a model.", name=folder.name),
                N_("There is no {name} in this folder.", name=Path(str(error.filename)).name),
                N_("Choose a folder with a config.json and safetensors files."),
            ) from error
        raise ModelNotFound(
            N_("“{name}” was not found.", name=folder.name),
            N_("There is no folder {folder}.", folder=folder),
            N_("Find out where it was moved, or remove it from the list."),
        ) from error
    except NotADirectoryError as error:
        raise NotAModel(
            N_("“{name}” is not a checkpoint.", name=folder.name),
            N_("It is a file, and vLLM reads a folder."),
            N_("Choose the folder that contains its config.json."),
        ) from error
    except OSError as error:
        raise ModelUnreadable(
            N_("“{name}” cannot be read.", name=folder.name),
            N_("The system says: {strerror}.", strerror=error.strerror or error),
            N_("Check the folder's permissions."),
        ) from error
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise _damaged(
            folder, N_("Its files contradict themselves: {error}.", error=error)
        ) from error
    if missing := missing_in(_index(folder), files):
        raise _damaged(folder, N_("{missing} is not in the folder.", missing=missing))
    if not files:
        raise NotAModel(
            N_("“{name}” is not a model.", name=folder.name),
            N_("There are no safetensors files in this folder."),
            N_("Choose a folder with a config.json and safetensors files."),
        )
    return _describe(folder, files, weight_bytes, config, tensors)


def pairs(target: Checkpoint, drafter: Checkpoint) -> bool:
    """Return whether a checkpoint was made to draft for a model; being able to is not enough."""
    return drafter.drafting is not None and not mismatch(target, drafter)


def mismatch(target: Checkpoint, drafter: Checkpoint) -> str:
    """Return a sentence on why a checkpoint cannot draft for a model; "" if it can.

    Any smaller model with the same vocabulary can draft.
    """
    return next(_mismatches(target, drafter), "")


def drafter_mismatch(target: Checkpoint, drafter: Checkpoint, reason: str) -> DrafterMismatch:
    """Make the error for a drafter that cannot draft for a model."""
    return DrafterMismatch(
        N_(
            "“{name}” cannot guess ahead for “{target_name}”.",
            name=drafter.name,
            target_name=target.name,
        ),
        reason,
        N_("Use the drafter that was made for this model, or none."),
    )


def _mismatches(target: Checkpoint, drafter: Checkpoint) -> Iterator[str]:
    """Yield the reasons why a checkpoint cannot draft for a model, the most telling one first."""
    drafting = drafter.drafting
    if drafting is None and not drafter.chats:
        yield N_("It is not a drafter.")
    elif target.drafting is not None:
        yield N_("“{name}” is a drafter itself.", name=target.name)
    elif drafting is not None:
        yield from _target_mismatches(target, drafter, drafting)
    if drafter.vocabulary != target.vocabulary:
        yield (
            N_(
                "It knows {vocabulary} tokens, and the model {target_vocabulary}: they have "
                "different vocabularies.",
                vocabulary=f"{drafter.vocabulary:,}",
                target_vocabulary=f"{target.vocabulary:,}",
            )
        )
    if drafting is not None:
        return
    if drafter.weight_bytes >= target.weight_bytes:
        yield N_("It is no smaller than the model itself.")
    vocabularies = [_vocabulary_of(checkpoint.path) for checkpoint in (target, drafter)]
    if None not in vocabularies and vocabularies[0] != vocabularies[1]:
        yield N_("Its tokens differ from the model’s: they have different vocabularies.")


def _target_mismatches(
    target: Checkpoint, drafter: Checkpoint, drafting: DraftConfig
) -> Iterator[str]:
    target_types = ASSISTANTS.get(drafter.model_type, ())
    if target_types and target.model_type not in target_types:
        yield N_(
            "It is for models of the kind {family}, and this one is {architecture}.",
            family=target_types[0],
            architecture=target.model_type,
        )
    if drafting.family and drafting.family != family_of(target.architecture):
        yield (
            N_(
                "It is for models of the kind {family}, and this one is {architecture}.",
                family=drafting.family,
                architecture=family_of(target.architecture),
            )
        )
    if drafting.width != target.width:
        yield (
            N_(
                "It was made for a model of width {width}, and this one has {target_width}.",
                width=f"{drafting.width:,}",
                target_width=f"{target.width:,}",
            )
        )
    if (drafting.layers or target.layers) != target.layers or drafting.reads > target.layers:
        yield (
            N_(
                "It was made for a model of {layers} layers, and this one has {target_layers}.",
                layers=max(drafting.layers, drafting.reads),
                target_layers=target.layers,
            )
        )
    shapes = {(layer.window is None, layer.width, layer.heads) for layer in target.kv}
    drafter_shapes = {(layer.window is None, layer.width, layer.heads) for layer in drafter.kv}
    if drafting.method == "mtp" and not drafter_shapes <= shapes:
        yield N_("The keys and values that it reads have another shape than the model's.")


def _vocabulary_of(folder: Path) -> int | None:
    """Return a hash of a checkpoint's tokens, for comparing; None if they cannot be read."""
    file = folder / "tokenizer.json"
    try:
        return _hash_tokens(file, file.stat().st_mtime_ns)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None


@lru_cache(maxsize=16)
def _hash_tokens(file: Path, _changed: int) -> int:
    """Read and hash the tokens; cached, since there are some 100,000."""
    tokens = json.loads(read_regular_text(file))["model"]["vocab"]
    if isinstance(tokens, list):
        return hash(tuple(token[0] for token in tokens))
    return hash(frozenset(tokens.items()))


def missing_in(index: Any, files: tuple[Path, ...]) -> str:
    """Return the first file that an index names and that is missing; "" if none is."""
    weight_map = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(weight_map, dict):
        return ""
    existing = {file.name for file in files}
    return next(
        (str(name) for name in sorted(set(weight_map.values())) if name not in existing), ""
    )


def _index(folder: Path) -> Any:
    try:
        return json.loads(read_regular_text(folder / INDEX))
    except (OSError, ValueError, RecursionError):
        return None  # a single file needs no index


def _damaged(folder: Path, why: str) -> ModelDamaged:
    return ModelDamaged(
        N_("“{name}” is damaged.", name=folder.name), why, N_("Download or copy it again.")
    )


def tensors_in(file: Path) -> dict[str, Any]:
    """Read the names, types and shapes of a file's tensors.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not a whole safetensors file.
    """
    with open_regular(file) as stream:
        length = int.from_bytes(stream.read(8), "little")
        if not 1 < length <= min(_MOST_HEADER, file.stat().st_size):
            raise ValueError(f"{file.name} is cut off")
        header = json.loads(stream.read(length))
    ends = [tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"]
    if 8 + length + max(ends, default=0) > file.stat().st_size:
        raise ValueError(f"{file.name} is cut off")
    return {name: tensor for name, tensor in header.items() if name != "__metadata__"}


def _describe(
    folder: Path,
    files: tuple[Path, ...],
    weight_bytes: int,
    config: Mapping[str, Any],
    tensors: Mapping[str, Any],
) -> Checkpoint:
    """Describe a checkpoint. Raises ModelDamaged if its configuration is wrong."""
    try:
        checkpoint = _checkpoint(folder, files, weight_bytes, config, tensors)
        reason = contradiction(language_part(config), tensors, checkpoint.drafting)
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise _damaged(folder, N_("Its config.json is invalid: {error}.", error=error)) from error
    if reason:
        raise _damaged(folder, reason)
    return checkpoint


def _checkpoint(
    folder: Path,
    files: tuple[Path, ...],
    weight_bytes: int,
    config: Mapping[str, Any],
    tensors: Mapping[str, Any],
) -> Checkpoint:
    text = language_part(config)
    if "hidden_size" not in text:
        text = {**_DEFAULT_SIZES.get(str(text.get("model_type")), {}), **text}
    model_type = str(config.get("model_type") or text.get("model_type") or "")
    heads = int(text.get("num_attention_heads") or 0)
    drafting = draft_config(config)
    own_mtp: MtpKind = "embedded" if _has_head(text, tensors) else "none"
    return Checkpoint(
        path=folder,
        name=_name(folder),
        model_type=model_type,
        architecture=str((config.get("architectures") or [model_type])[0]),
        files=files,
        weight_bytes=weight_bytes,
        parameters=sum(
            math.prod(tensor["shape"]) for tensor in tensors.values() if _is_countable(tensor)
        ),
        precision=_precision(config, text),
        context_max=int(text.get("max_position_embeddings") or 0),
        layers=int(text.get("num_hidden_layers") or 0),
        width=int(text.get("hidden_size") or 0),
        heads=heads,
        kv_heads=int(text.get("num_key_value_heads") or heads),
        vocabulary=int(text.get("vocab_size") or 0),
        kv=tuple(_kv(text, drafts=drafting is not None)),
        mtp="drafter" if drafting else own_mtp,
        drafting=drafting,
        vision="vision_config" in config,
        # Only some Gemma 4 models hear; the others have null here.
        hearing=bool(config.get("audio_config")),
        chat_template=read_chat_template(folder),
    )


def _name(folder: Path) -> str:
    """Return the folder's name; in the Hub's cache, where it is a commit, the repository's name."""
    if folder.parent.name == "snapshots" and "--" in folder.parent.parent.name:
        return folder.parent.parent.name.rpartition("--")[2]
    return folder.name


def read_chat_template(folder: Path) -> str | None:
    """Read the chat template; None if there is none that can be read."""
    try:
        return read_regular_text(folder / "chat_template.jinja")
    except (OSError, ValueError):
        pass  # older checkpoints have it in the tokeniser's configuration
    try:
        config = json.loads(read_regular_text(folder / "tokenizer_config.json"))
    except (OSError, ValueError, RecursionError):
        return None
    template = config.get("chat_template") if isinstance(config, dict) else None
    if isinstance(template, list):
        defaults = (
            entry
            for entry in template
            if isinstance(entry, dict) and entry.get("name") == "default"
        )
        template = next((entry.get("template") for entry in defaults), None)
    return template if isinstance(template, str) else None


def _kv(text: Mapping[str, Any], *, drafts: bool) -> Iterator[KvLayer]:
    """Yield the layers with keys and values of their own; for an assistant, those that it reads."""
    count = int(text.get("num_hidden_layers") or 0)
    types = text.get("layer_types") or ["full_attention"] * count
    own_count = count if drafts else count - int(text.get("num_kv_shared_layers") or 0)
    heads = int(text.get("num_key_value_heads") or text.get("num_attention_heads") or 0)
    default_width = int(
        text.get("head_dim")
        or int(text.get("hidden_size") or 0) // max(1, int(text.get("num_attention_heads") or 1))
    )
    layer_configs = text.get("per_layer_config") or {}
    if latent := int(text.get("kv_lora_rank") or 0):
        # Keys and values are computed from one vector, and only that is kept (MLA).
        latent_width = latent + int(text.get("qk_rope_head_dim") or 0)
        yield from [KvLayer(1, -(-latent_width // 2))] * own_count
        return
    for number, kind in list(enumerate(types))[:own_count]:
        if kind == "linear_attention":
            continue
        is_full = kind == "full_attention"
        layer_config = layer_configs.get(str(number)) or {}
        width = (text.get("global_head_dim") if is_full else None) or default_width
        kv_heads = (text.get("num_global_key_value_heads") if is_full else None) or heads
        yield KvLayer(
            int(layer_config.get("num_key_value_heads") or kv_heads),
            int(layer_config.get("head_dim") or width),
            None if is_full else int(text.get("sliding_window") or 0) or None,
        )


def _has_head(text: Mapping[str, Any], tensors: Mapping[str, Any]) -> bool:
    """Return whether the config names a prediction head and its tensors are present."""
    if not any(int(text.get(name) or 0) for name in HEADS):
        return False
    extra = f".layers.{int(text.get('num_hidden_layers') or 0)}."
    return any(name.startswith("mtp.") or ".mtp" in name or extra in name for name in tensors)


def _is_countable(tensor: Mapping[str, Any]) -> bool:
    return str(tensor.get("dtype")) in {"F32", "F16", "BF16", "F8_E4M3", "F8_E5M2"}


def _precision(config: Mapping[str, Any], text: Mapping[str, Any]) -> Precision:
    quantised = config.get("quantization_config") or text.get("quantization_config")
    if not quantised:
        dtype = config.get("dtype") or config.get("torch_dtype") or text.get("dtype")
        return _DTYPES.get(str(dtype), "bf16")
    method = str(quantised.get("quant_method", "")).lower()
    algorithm = str(quantised.get("quant_algo", "")).lower()
    if "mxfp4" in (method, algorithm):
        return "mxfp4"
    if "nvfp4" in algorithm:
        return "nvfp4"
    if "fp8" in method or "fp8" in algorithm:
        return "fp8"
    groups = quantised.get("config_groups") or {}
    weights = next((group.get("weights") for group in groups.values()), None) or {}
    bits = int(weights.get("num_bits") or quantised.get("bits") or 4)
    if str(weights.get("type", "int")).startswith("float"):
        return "nvfp4" if bits == 4 else "fp8"
    return "int8" if bits == 8 else "int4"


_SUFFIXES: Final = (".safetensors", ".json", ".jinja", ".model", ".txt")


def weights_in(folder: Path) -> tuple[Path, ...]:
    """List a folder's safetensors files by name. Raises OSError."""
    return tuple(sorted(file for file in folder.iterdir() if file.suffix == ".safetensors"))


class CheckpointFormat(ModelFormat):
    """The checkpoint format; it reads each checkpoint once while its files are unchanged."""

    engine: EngineName = "vllm"
    kind = N_("a checkpoint for vLLM")

    def __init__(self) -> None:
        self._read: dict[tuple[Path, int, int], Checkpoint] = {}

    def read(self, folder: Path) -> Checkpoint:
        """Read a checkpoint. Raises EngineError."""
        try:
            stamp = (folder, folder.stat().st_mtime_ns, (folder / "config.json").stat().st_mtime_ns)
        except (OSError, ValueError):
            return read_checkpoint(folder)
        if stamp not in self._read:
            self._read[stamp] = read_checkpoint(folder)
        return self._read[stamp]

    def recognises(self, path: Path) -> bool:
        """Return whether the path is a folder."""
        return path.is_dir()

    def name(self, path: Path) -> str:
        """Return the folder's name."""
        return path.name

    def parts(self, path: Path) -> tuple[Path, ...]:
        """List the safetensors files; none if the folder cannot be read."""
        try:
            return weights_in(path)
        except OSError:
            return ()  # the error appears when it is loaded

    def files(self, path: Path) -> tuple[Path, ...]:
        """List the safetensors files first, then the files that describe them."""
        other_files = (
            file for file in sorted(path.iterdir()) if file.is_file() and file.suffix in _SUFFIXES
        )
        weights = weights_in(path)
        return (*weights, *(file for file in other_files if file not in weights))

    def facts(self, model: ListedModel) -> ModelFacts:
        """Read the facts for a list, from config.json and the tensors' headers."""
        from engines.dialect import abilities

        checkpoint = self.read(model.path)
        return ModelFacts(
            checkpoint.architecture,
            checkpoint.parameters,
            checkpoint.precision.upper(),
            checkpoint.context_max,
            checkpoint.weight_bytes,
            checkpoint.mtp,
            can=(
                *abilities(checkpoint.chat_template),
                *(("sees",) if checkpoint.vision else ()),
                *(("hears",) if checkpoint.hearing else ()),
            ),
        )

    def details(self, model: ListedModel) -> FileDetails:
        """Read everything that the checkpoint says about itself."""
        checkpoint = self.read(model.path)
        return FileDetails(
            **vars(self.facts(model)),
            title=checkpoint.name,
            weight_bytes=checkpoint.weight_bytes,
            embedding_length=checkpoint.width,
            layers=checkpoint.layers,
            heads=checkpoint.heads,
            kv_heads=checkpoint.kv_heads,
            vocab_size=checkpoint.vocabulary,
            chat_template=checkpoint.chat_template,
            vision=checkpoint.vision,
        )

    def template(self, model: ListedModel) -> str:
        """Read the chat template; "" if there is none."""
        return self.read(model.path).chat_template or ""

    def require_addable(self, path: Path, models: Iterable[ListedModel]) -> bool:
        """Refuse a drafter without its model, and any checkpoint that writes no text."""
        checkpoint = self.read(path)
        if checkpoint.mtp == "drafter":
            listed = list(models)
            if not self.targets(path, listed):
                added_models = list(
                    self._readable(model.path for model in listed if not model.builtin)
                )
                if len(added_models) == 1:
                    # Say why it does not fit the only model there is.
                    raise drafter_mismatch(
                        added_models[0], checkpoint, mismatch(added_models[0], checkpoint)
                    )
                raise DrafterMismatch(
                    N_("“{name}” was not added.", name=checkpoint.name),
                    N_("It is a drafter, and its model is not on this computer."),
                    N_("Add its model first, then the drafter."),
                )
            return True
        if not checkpoint.chats:
            raise NotAChatModel(
                N_("“{name}” is not a model to chat with.", name=checkpoint.name),
                N_(
                    "It is a {architecture}, which writes no text.",
                    architecture=checkpoint.architecture,
                )
                if checkpoint.architecture
                else N_("Its config.json does not say what it is."),
                N_("Choose a checkpoint of a chat model."),
            )
        return False

    def drafter_for(
        self, model: ListedModel, added: Iterable[Path], found: Iterable[Path]
    ) -> Path | None:
        """Find the first drafter that fits; None if the model's own folder cannot be read."""
        if model.drafter is not None:
            return model.drafter
        try:
            target = self.read(model.path)
        except EngineError:
            return None
        folders = filter(self.recognises, (*added, *found))
        return next(
            (candidate.path for candidate in self._readable(folders) if pairs(target, candidate)),
            None,
        )

    def lost_drafter(self, _model: ListedModel, _added: Iterable[Path]) -> Path | None:
        """Return None: an unreadable drafter is refused when it is added."""
        return None  # an unreadable drafter is refused when it is added

    def targets(self, drafter: Path, models: Iterable[AnyModel]) -> list[AnyModel]:
        """Return the models that a drafter checkpoint was made for."""
        draft_checkpoint = self.read(drafter)
        return [
            model
            for model in models
            for target in self._readable([model.path])
            if pairs(target, draft_checkpoint)
        ]

    def draft_models(self, model: AnyModel, others: Sequence[AnyModel]) -> list[AnyModel]:
        """Return the smaller checkpoints with the same vocabulary as the model."""
        try:
            target = self.read(model.path)
        except EngineError:
            return []
        return [
            candidate
            for candidate in others
            for checkpoint in self._readable([candidate.path])
            if checkpoint.drafting is None and not mismatch(target, checkpoint)
        ]

    def mtp_sentence(self, model: ListedModel, drafter: Path | None, _advise: Advise) -> str:
        """Return a sentence on what drafts for it: a drafter, its own head, or nothing."""
        if drafter is not None:
            return N_("This model can answer faster: its drafter guesses ahead.")
        if self.read(model.path).mtp == "embedded":
            return N_("Multi-token prediction is in this checkpoint.")
        return NOTHING_DRAFTS

    def keep(self) -> None:
        """Do nothing: the description is short, and each run reads it again."""

    def _readable(self, folders: Iterable[Path]) -> Iterator[Checkpoint]:
        """Yield the readable checkpoints; errors of the others appear where they are used."""
        for folder in folders:
            try:
                yield self.read(folder)
            except EngineError:
                continue
