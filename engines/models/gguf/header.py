"""The header of a GGUF model file, read without loading the model.

Example::

    header = read_header(Path("model.gguf"))
    print(header.name, header.quantisation, header.context_max)

The key names for whole headers come from the package `gguf`, which is imported only where a header
is read: this module is loaded with the window, and the package would delay that.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal

from engines.errors import (
    EngineError,
    ModelDamaged,
    ModelNotFound,
    ModelUnreadable,
    NotAChatModel,
    NotAModel,
    UnknownArchitecture,
)
from engines.models.gguf import heads
from engines.models.gguf.causes import START_BYTES, explain
from engines.models.gguf.features import (
    DFLASH,
    EAGLE3,
    DrafterInputs,
    read_drafter_inputs,
    why_unusable,
)
from engines.models.gguf.layers import Layers
from engines.models.gguf.pieces import listed, refused_piece
from engines.models.gguf.reader import (
    ARCHITECTURE,
    CHAT_TEMPLATE,
    MAGIC,
    BadGguf,
    Gguf,
    LongArray,
    Tensor,
    Truncated,
    Value,
    read_gguf,
    read_value,
)
from engines.models.gguf.types import file_types
from engines.regular import open_regular
from engines.sentences import N_

if TYPE_CHECKING:
    from engines.models.gguf.hyperparameters import Hyperparameters
    from engines.types import Ability

Kind = Literal["chat", "drafter", "projector", "embedding", "other"]
Mtp = Literal["embedded", "drafter", "none"]

PROJECTOR: Final = "clip"
GEMMA4_ASSISTANT: Final = "gemma4-assistant"
DRAFTERS: Final = {GEMMA4_ASSISTANT, EAGLE3, DFLASH}
EMBEDDINGS: Final = {
    "bert", "modern-bert", "nomic-bert", "nomic-bert-moe", "neo-bert", "jina-bert-v2",
    "jina-bert-v3", "eurobert", "gemma-embedding", "llama-embed", "t5encoder",
}  # fmt: skip
# Speech, diffusion and encoder-decoder models: llama.cpp loads them, but they cannot chat.
OTHERS: Final = {
    "wavtokenizer-dec", "qwen3tts", "pockettts", "t5", "dream", "llada", "llada-moe", "rnd1",
}  # fmt: skip
_NOT_CHAT: Final[dict[Kind, str]] = {
    "drafter": N_("It is a drafter: it helps another model to answer faster."),
    "projector": N_("It is a projector: it lets another model see pictures."),
    "embedding": N_("It is an embedding model: it turns text into numbers, and writes none."),
    "other": N_("It is made for something other than written answers."),
}
_PART: Final = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$")
_AGAIN: Final = N_("Download the model again.")


@dataclass(frozen=True)
class GgufHeader:
    """The header of a model, combined from all its files.

    Attributes:
        mtp: "embedded" if the file can predict several tokens by itself, "drafter" if it does so
            for another model, else "none".
        parameters: Number of values in all tensors.
        size_bytes: Size of the files.
        weight_bytes: Size of the tensors.
        chat_template: Jinja source; None if the file has none.
        can: What the chat template lets the model do.
        why_no_head: A sentence on why the prediction heads, or the drafter itself, cannot be run;
            "" if they can or there are none.
        embedding_length_out: Values of the hidden state that goes out to another model.
        vocabulary: Digest of all tokens in order; "" if the file has none.
        own_output: Whether it has an output matrix of its own, or uses its token table.
        features: What it reads of the model that it drafts for; None if nothing.
    """

    architecture: str
    name: str
    kind: Kind
    mtp: Mtp
    parameters: int
    size_bytes: int
    weight_bytes: int
    quantisation: str
    context_max: int
    embedding_length: int
    embedding_per_layer: int
    vocab_size: int
    chat_template: str | None
    can: tuple[Ability, ...]
    nextn_predict_layers: int
    layers: Layers | None
    parts: int = 1
    tensors: tuple[Tensor, ...] = field(default=(), repr=False)
    why_no_head: str = ""
    embedding_length_out: int = 0
    vocabulary: str = ""
    own_output: bool = False
    features: DrafterInputs | None = None

    @property
    def block_count(self) -> int:
        """Number of layers, including the prediction layers; 0 if the file has none."""
        return self.layers.count if self.layers else 0

    @property
    def head_layers(self) -> range:
        """The prediction layers in this file, which the library loads only on request."""
        count = self.block_count
        return range(count - (self.nextn_predict_layers if self.mtp == "embedded" else 0), count)

    @property
    def heads_alone(self) -> bool:
        """True if the file contains only the prediction layers of a model."""
        return self.kind == "drafter" and self.architecture not in DRAFTERS

    @property
    def trunk(self) -> int:
        """Number of layers without the prediction layers."""
        return self.block_count - self.nextn_predict_layers

    @property
    def chained(self) -> bool:
        """True if its heads are chained, each predicting one token further than the one before."""
        has_heads = self.mtp == "embedded" or self.heads_alone
        return has_heads and heads.chained(self.architecture, self.nextn_predict_layers)

    @property
    def recurrent(self) -> bool:
        """True if some of its layers keep a state that every token changes."""
        return heads.recurrent(self.architecture)

    @property
    def keeps_states(self) -> bool:
        """True if its states after each of the last few tokens can be kept."""
        return heads.keeps_states(self.architecture)


def read_header(path: Path) -> GgufHeader:
    """Read the header of a model file, and of all its parts if `path` is the first of several.

    Raises:
        ModelNotFound: There is no such file.
        ModelUnreadable: The system does not allow reading it.
        NotAModel: It is not a GGUF file, or not the first part of a model.
        ModelDamaged: It is invalid or incomplete.
        UnknownArchitecture: It does not describe the layers of its architecture.
    """
    gguf, size = read_file(path)
    number, count = _split(path.name, gguf)
    if number:
        raise _later_part(path, number + 1, count)
    tensors = list(gguf.tensors)
    missing = _missing_parts(path, count)
    if missing:
        raise ModelDamaged(
            N_("“{name}” is not complete.", name=path.name),
            N_(
                "It is the first of {count} files. Not beside it: {listed}.",
                count=count,
                listed=listed(missing),
            ),
            N_("Download {listed} into the same folder.", listed=listed(missing)),
        )
    for part in range(2, count + 1):
        more, more_size = read_file(_part(path, part, count))
        tensors += more.tensors
        size += more_size
    return _header(path.name, gguf, tuple(tensors), size, count)


def _later_part(path: Path, number: int, count: int) -> NotAModel:
    headline, why = (
        N_("“{name}” is only a part of a model.", name=path.name),
        N_("It is part {number} of {count}.", number=number, count=count),
    )
    missing = _missing_parts(path, count)
    if not missing:
        return NotAModel(
            headline, why, N_("Choose the first part; the others are found beside it.")
        )
    return NotAModel(
        headline,
        N_("{why} Not beside it: {listed}.", why=why, listed=listed(missing)),
        N_(
            "Download {listed} into the same folder, then choose the first part.",
            listed=listed(missing),
        ),
    )


def _missing_parts(path: Path, count: int) -> tuple[str, ...]:
    """Return the names of a model's parts that are missing beside one of them."""
    parts = (_part(path, number, count) for number in range(1, count + 1))
    return tuple(part.name for part in parts if not part.exists())


def _part(path: Path, number: int, count: int) -> Path:
    return path.with_name(_PART.sub(f"-{number:05}-of-{count:05}.gguf", path.name))


def require_loadable(path: Path, header: GgufHeader) -> None:
    """Refuse files that produce neither answers nor vectors or rankings. Raises NotAChatModel."""
    if header.kind != "embedding":
        require_chat(path, header)


def require_chat(path: Path, header: GgufHeader) -> None:
    """Refuse files that serve only other models or other purposes. Raises NotAChatModel."""
    if header.kind != "chat":
        raise NotAChatModel(
            N_("“{name}” is not a chat model.", name=path.name),
            _NOT_CHAT[header.kind],
            N_("Choose a chat model instead."),
        )


def read_architecture(path: Path) -> str:
    """Read a model's architecture from its first bytes; "" if that fails.

    This is much faster than reading the whole header, whose token list can take a quarter of a
    second.
    """
    return _one_text(path, ARCHITECTURE)


def read_template(path: Path) -> str:
    """Read a model's chat template without checking the header; "" if none can be read."""
    return _one_text(path, CHAT_TEMPLATE)


def _one_text(path: Path, key: str) -> str:
    try:
        with open_regular(path) as file:
            value = read_value(file, path.stat().st_size, key)
    except (OSError, ValueError, BadGguf):
        return ""
    return value if isinstance(value, str) else ""


def read_file(path: Path) -> tuple[Gguf, int]:
    """Read one file's header and its size in bytes. Raises as `read_header` does."""
    try:
        facts = path.stat()
        if stat.S_ISDIR(facts.st_mode):
            raise _folder(path)
        if not stat.S_ISREG(facts.st_mode):
            raise NotAModel(
                N_("“{name}” is not a model.", name=path.name),
                N_("It is a device or a pipe, not an ordinary file."),
                N_("Choose a file whose name ends in .gguf."),
            )
        with open_regular(path) as file:
            gguf = _read(file, path, facts.st_size)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise ModelNotFound(
            N_("“{name}” was not found.", name=path.name),
            N_("There is no file {path}.", path=path),
            N_("Check the name, or choose the model again."),
        ) from None
    except OSError as error:
        raise ModelUnreadable(
            N_("“{name}” cannot be read.", name=path.name),
            N_("The system says: {strerror}.", strerror=error.strerror or error),
            N_("Check that you may read the file and that its disk is connected."),
        ) from error
    if gguf.end > facts.st_size:
        raise refused_piece(path) or _truncated(path.name, gguf.end, facts.st_size)
    return gguf, facts.st_size


def _folder(path: Path) -> EngineError:
    models = sorted(file.name for file in path.glob("*.gguf"))
    return NotAModel(
        N_("“{name}” is not a model.", name=path.name),
        N_("It is a folder."),
        N_("Choose a model inside it, such as {inside}.", inside=models[0])
        if models
        else N_("Choose a file whose name ends in .gguf."),
    )


def _truncated(name: str, expected: int, size: int) -> ModelDamaged:
    return ModelDamaged(
        N_("“{name}” is not complete.", name=name),
        N_(
            "It should be at least {expected} bytes long and has {size}: most likely its "
            "download was interrupted.",
            expected=f"{expected:,}",
            size=f"{size:,}",
        ),
        _AGAIN,
    )


def _read(file: BinaryIO, path: Path, size: int) -> Gguf:
    name, start = path.name, file.read(START_BYTES)
    if not start.startswith(MAGIC):
        raise refused_piece(path) or explain(name, size, start)
    file.seek(0)
    try:
        return read_gguf(file, size)
    except Truncated:
        raise refused_piece(path) or ModelDamaged(
            N_("“{name}” is not complete.", name=name),
            N_(
                "Its {size} bytes end in the middle of its header: most likely its download was "
                "interrupted.",
                size=f"{size:,}",
            ),
            _AGAIN,
        ) from None
    except BadGguf as error:
        raise _damaged(name, error) from None


def _damaged(name: str, error: BadGguf) -> ModelDamaged:
    return ModelDamaged(
        N_("“{name}” is damaged.", name=name),
        N_("Its header is invalid: {error}.", error=error),
        _AGAIN,
    )


def _split(name: str, gguf: Gguf) -> tuple[int, int]:
    """Return the number of this part, from 0, and the number of parts."""
    from gguf import Keys as Names

    number = gguf.values.get(Names.Split.LLM_KV_SPLIT_NO, 0)
    count = gguf.values.get(Names.Split.LLM_KV_SPLIT_COUNT, 1)
    match = _PART.search(name)
    if not isinstance(number, int) or not isinstance(count, int) or count <= 1:
        return 0, 1
    if not 0 <= number < count or not match or int(match[2]) != count:
        raise ModelDamaged(
            N_("“{name}” is part of a model, but was renamed.", name=name),
            N_(
                "It is part {number} of {count}, but its name does not say so.",
                number=number + 1,
                count=count,
            ),
            N_(
                "Give all parts the same name, which ends in -{number}-of-{count}.gguf.",
                number=f"{number + 1:05}",
                count=f"{count:05}",
            ),
        )
    return number, count


def _header(
    name: str, gguf: Gguf, tensors: tuple[Tensor, ...], size: int, parts: int
) -> GgufHeader:
    from gguf import Keys as Names

    from engines.dialect import abilities
    from engines.models.gguf.hyperparameters import Hyperparameters

    values = gguf.values
    try:
        architecture = _text(values, ARCHITECTURE) or ""
        if not architecture:
            raise BadGguf(N_("it does not name its architecture"))
        hparams = Hyperparameters(architecture, values)
        pooled = bool(hparams.number(Names.LLM.POOLING_TYPE))
        kind = kind_of(architecture, _text(values, Names.General.TYPE) or "model", pooled=pooled)
        layers = _layers(name, hparams, kind, tensors)
        nextn = hparams.number(Names.LLM.NEXTN_PREDICT_LAYERS)
        names = {tensor.name for tensor in tensors} if nextn else set()
        tokens = values.get(Names.Tokenizer.LIST)
        why_no_head = ""
        if kind == "chat" and nextn and layers is not None:
            if heads.is_heads_only(nextn, layers.count, names):
                kind = "drafter"
                why_no_head = heads.why_heads_unusable(architecture, nextn, layers.count, names)
            else:
                why_no_head = heads.why_no_head(architecture, nextn, layers.count, names)
        by_name = {tensor.name: tensor for tensor in tensors} if kind == "drafter" else {}
        mask = values.get(Names.Tokenizer.MASK_ID)
        features = read_drafter_inputs(hparams, mask if isinstance(mask, int) else -1, by_name)
        if features is not None and layers is not None:
            why_no_head = why_unusable(features, layers, by_name)
        return GgufHeader(
            architecture=architecture,
            name=_text(values, Names.General.NAME) or name.removesuffix(".gguf"),
            kind=kind,
            mtp=_mtp(kind, nextn, why_no_head),
            parameters=sum(tensor.elements for tensor in tensors),
            size_bytes=size,
            weight_bytes=sum(tensor.size_bytes for tensor in tensors),
            quantisation=_quantisation(values, tensors),
            context_max=hparams.number(Names.LLM.CONTEXT_LENGTH),
            embedding_length=hparams.number(Names.LLM.EMBEDDING_LENGTH),
            embedding_length_out=hparams.number(Names.LLM.EMBEDDING_LENGTH_OUT),
            embedding_per_layer=hparams.number(Names.LLM.EMBD_LENGTH_PER_LAYER_INP),
            vocab_size=_count(tokens) or hparams.number(Names.LLM.VOCAB_SIZE),
            vocabulary=tokens.digest if isinstance(tokens, LongArray) else "",
            own_output=any(heads.is_output(tensor.name) for tensor in tensors),
            why_no_head=why_no_head,
            features=features,
            chat_template=_text(values, CHAT_TEMPLATE),
            can=("embeds",) if kind == "embedding" else abilities(_text(values, CHAT_TEMPLATE)),
            nextn_predict_layers=nextn,
            layers=layers,
            parts=parts,
            tensors=tensors,
        )
    except BadGguf as error:
        raise _damaged(name, error) from None


def _text(values: Mapping[str, Value], key: str) -> str | None:
    value = values.get(key)
    if value is not None and not isinstance(value, str):
        raise BadGguf(N_("its value {key} is not a text", key=key))
    return value


def kind_of(architecture: str, general_type: str, *, pooled: bool) -> Kind:
    """Return what a file is for, according to its values; its tensors can say more.

    Args:
        general_type: The value of "general.type".
        pooled: Whether the file names a way to pool all tokens into one vector.
    """
    if architecture == PROJECTOR or general_type == "mmproj":
        return "projector"
    if architecture in DRAFTERS:
        return "drafter"
    if architecture in OTHERS or general_type != "model":
        return "other"
    # A chat model whose file names a pooling was converted to embed or rank; 0 means "none".
    if architecture in EMBEDDINGS or pooled:
        return "embedding"
    return "chat"


def _layers(
    name: str, hparams: Hyperparameters, kind: Kind, tensors: tuple[Tensor, ...]
) -> Layers | None:
    """Read the layers; None for files that are not language models and may have none."""
    from gguf import Keys as Names

    from engines.models.gguf import guards
    from engines.models.gguf.hyperparameters import read_layers

    if kind in {"projector", "other"} and Names.LLM.BLOCK_COUNT not in hparams:
        return None
    if not hparams.has_values:
        raise UnknownArchitecture(
            N_("“{name}” is a kind of model that Hearth does not know.", name=name),
            N_(
                "It calls itself {architecture} and does not describe its layers.",
                architecture=f"{hparams.architecture!r}",
            ),
            N_("Choose another model, or look whether a newer version of Hearth knows this one."),
        )
    for key in (Names.LLM.BLOCK_COUNT, Names.LLM.CONTEXT_LENGTH, Names.LLM.EMBEDDING_LENGTH):
        if not hparams.number(key):
            raise BadGguf(N_("its value {key} is missing or zero", key=hparams.full_key(key)))
    layers = read_layers(hparams)
    if kind in {"chat", "drafter"}:
        guards.check(hparams, layers, tensors)
    return layers


def _mtp(kind: Kind, nextn: int, why_no_head: str) -> Mtp:
    if kind == "drafter":
        return "drafter"
    return "embedded" if kind == "chat" and nextn and not why_no_head else "none"


def _quantisation(values: Mapping[str, Value], tensors: tuple[Tensor, ...]) -> str:
    """Return the file's own label, or the type of most bytes of its tensors."""
    from gguf import Keys as Names

    file_type = values.get(Names.General.FILE_TYPE)
    if isinstance(file_type, int) and file_type in file_types():
        return file_types()[file_type]
    sizes: dict[str, int] = {}
    for tensor in tensors:
        sizes[tensor.type] = sizes.get(tensor.type, 0) + tensor.size_bytes
    return max(sizes, key=sizes.__getitem__, default="")


def _count(tokens: Value | None) -> int:
    if isinstance(tokens, LongArray):
        return tokens.count
    return len(tokens) if isinstance(tokens, tuple) else 0
