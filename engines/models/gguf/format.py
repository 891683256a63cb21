"""GGUF files as a model format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from engines.errors import DrafterMismatch, EngineError
from engines.models.format import (
    Advise,
    AnyModel,
    FileDetails,
    ListedModel,
    ModelFacts,
    ModelFormat,
    TensorShare,
)
from engines.models.gguf.header import GgufHeader, read_header, read_template, require_loadable
from engines.models.gguf.headers import Headers
from engines.models.gguf.projector import senses
from engines.models.gguf.reader import Value, read_start
from engines.models.pairing import (
    best,
    may_draft,
    may_have_drafter,
    often_has_drafter,
    pairs,
    require_pair,
    require_runnable,
)
from engines.regular import open_regular
from engines.sentences import N_
from engines.types import Ability, EngineName, MtpKind

PART: Final = re.compile(
    r"^(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf$", re.IGNORECASE
)
"""A pattern for the name of one of a model's several files."""


class GgufFormat(ModelFormat):
    """The GGUF format.

    Args:
        headers: The headers of the files, each read once.
    """

    engine: EngineName = "llamacpp"
    kind = N_("a GGUF file")

    def __init__(self, headers: Headers) -> None:
        self._headers = headers

    def header(self, path: Path) -> GgufHeader:
        """Read the whole header of a file. Raises EngineError."""
        return self._headers.read(path)

    def recognises(self, path: Path) -> bool:
        """Return whether the path is not a folder; a wrong file raises its error when read."""
        return not path.is_dir()

    def name(self, path: Path) -> str:
        """Return the file's name without its suffix."""
        return path.stem

    def parts(self, path: Path) -> tuple[Path, ...]:
        """List the files of a model, given its only or its first file."""
        return parts_of(path)

    def files(self, path: Path) -> tuple[Path, ...]:
        """List the files of a model; all of them contain weights."""
        return parts_of(path)

    def facts(self, model: ListedModel) -> ModelFacts:
        """Read the facts for a list, from a header without its tensors."""
        header = self._headers.facts(model.path)
        return ModelFacts(
            header.architecture,
            header.parameters,
            header.quantisation,
            header.context_max,
            header.size_bytes,
            _own_mtp(header),
            can=_abilities(header.can, model),
        )

    def details(self, model: ListedModel) -> FileDetails:
        """Read the whole header, and the texts about the author, licence and tokenizer."""
        from gguf import Keys as Names

        header = self._headers.read(model.path)
        values = _values(model.path)
        general, tokenizer = Names.General, Names.Tokenizer
        layers = header.layers
        return FileDetails(
            architecture=header.architecture,
            parameters=header.parameters,
            quantisation=header.quantisation,
            context_max=header.context_max,
            size_bytes=header.size_bytes,
            mtp=_own_mtp(header),
            can=_abilities(header.can, model),
            title=header.name,
            made_by=_text(values, general.ORGANIZATION) or _text(values, general.AUTHOR),
            licence=_text(values, general.LICENSE),
            weight_bytes=header.weight_bytes,
            tensors=_tensor_shares(header),
            embedding_length=header.embedding_length,
            layers=header.block_count - len(header.head_layers),
            heads=max(layers.heads, default=0) if layers else 0,
            kv_heads=max(layers.kv_heads, default=0) if layers else 0,
            vocab_size=header.vocab_size,
            tokenizer=_join_texts(values, tokenizer.MODEL, tokenizer.PRE),
            chat_template=header.chat_template,
        )

    def template(self, model: ListedModel) -> str:
        """Read the chat template; "" if there is none."""
        return read_template(model.path)

    def require_addable(self, path: Path, models: Iterable[ListedModel]) -> bool:
        """Refuse a drafter without its model, and any file that cannot be loaded."""
        header = self._headers.read(path)
        if header.kind != "drafter":
            require_loadable(path, header)
            return False
        require_runnable(header)
        targets = self._possible_targets(models)
        if not any(pairs(target, header) for _, target in targets):
            added_models = [target for model, target in targets if not model.builtin]
            if len(added_models) == 1:
                require_pair(added_models[0], header)  # says why it does not fit the only model
            raise DrafterMismatch(
                N_("“{name}” was not added.", name=header.name),
                N_("It is a drafter, and its model is not on this computer."),
                N_("Add its model first, then the drafter."),
            )
        return True

    def drafter_for(
        self, model: ListedModel, added: Iterable[Path], found: Iterable[Path]
    ) -> Path | None:
        """Find a drafter, preferably one quantised like the model, else the most exact one."""
        if not self._may_have_drafter(model):
            return None
        try:
            target = self._headers.facts(model.path)
        except EngineError:
            return None
        neighbours = [
            path for path in sorted(model.path.parent.glob("*.gguf")) if self._drafts(path)
        ]
        readable = self._headers.readable
        return (
            best(target, readable(filter(self.recognises, added)))
            or best(target, readable(neighbours))
            or best(target, readable(filter(self.recognises, found)))
        )

    def lost_drafter(self, model: ListedModel, added: Iterable[Path]) -> Path | None:
        """Return an added drafter that cannot be read, if the model usually has one."""
        if not often_has_drafter(self._headers.architecture(model.path)):
            return None
        files = list(filter(self.recognises, added))
        readable = {path for path, _ in self._headers.readable(files)}
        return next((path for path in files if path not in readable), None)

    def targets(self, drafter: Path, models: Iterable[AnyModel]) -> list[AnyModel]:
        """Return the models that a drafter file can draft for."""
        header = self._headers.read(drafter)
        return [
            candidate
            for candidate, target in self._possible_targets(models)
            if pairs(target, header)
        ]

    def draft_models(self, model: AnyModel, others: Sequence[AnyModel]) -> list[AnyModel]:
        """Return the smaller chat models with the same vocabulary as the model."""
        try:
            target = self._headers.facts(model.path)
        except EngineError:
            return []
        readable = dict(self._headers.readable([model.path for model in others]))
        return [
            model
            for model in others
            if model.path in readable
            and readable[model.path].kind == "chat"
            and pairs(target, readable[model.path])
        ]

    def mtp_sentence(self, model: ListedModel, drafter: Path | None, advise: Advise) -> str:
        """Return a sentence on what drafts for it: a drafter, its own layers, or the advice."""
        header = self._headers.facts(model.path)
        require_loadable(model.path, header)
        if drafter is not None:
            return N_("This model can answer faster: its drafter guesses ahead.")
        if model.drafter is not None:
            read_header(model.drafter)  # raises the error of a bad drafter
        if header.mtp == "embedded":
            return N_("Multi-token prediction is in this file.")
        return advise(header)

    def keep(self) -> None:
        """Save the headers that were read since the last call."""
        self._headers.keep()

    def _may_have_drafter(self, model: ListedModel) -> bool:
        return may_have_drafter(self._headers.architecture(model.path))

    def _drafts(self, path: Path) -> bool:
        return may_draft(self._headers.architecture(path)) and any(
            header.kind == "drafter" for _, header in self._headers.readable([path])
        )

    def _possible_targets(self, models: Iterable[AnyModel]) -> list[tuple[AnyModel, GgufHeader]]:
        """List the models that can have a drafter at all, with their headers."""
        return [
            (model, header)
            for model in models
            if self._may_have_drafter(model)
            for _, header in self._headers.readable([model.path])
        ]


def parts_of(path: Path) -> tuple[Path, ...]:
    """List the files of a model, given its only or its first file."""
    part = PART.match(path.name)
    if part is None or int(part["number"]) != 1:
        return (path,)
    return tuple(
        path.with_name(f"{part['stem']}-{number:05}-of-{part['count']}{path.suffix}")
        for number in range(1, int(part["count"]) + 1)
    )


def first_part(path: Path) -> Path:
    """Return the first file of a model, given any of its files."""
    part = PART.match(path.name)
    if part is None:
        return path
    return path.with_name(f"{part['stem']}-00001-of-{part['count']}{path.suffix}")


def _abilities(by_template: tuple[Ability, ...], model: ListedModel) -> tuple[Ability, ...]:
    """Return what a model can do; only a chat model can use its projector."""
    return (*by_template, *senses(model.projector)) if "chat" in by_template else by_template


def _own_mtp(header: GgufHeader) -> MtpKind:
    return "embedded" if header.mtp == "embedded" else "none"


def _tensor_shares(header: GgufHeader) -> tuple[TensorShare, ...]:
    """Return the shares of the quantisations, the one with the most bytes first."""
    sizes: dict[str, int] = {}
    for tensor in header.tensors:
        sizes[tensor.type] = sizes.get(tensor.type, 0) + tensor.size_bytes
    total = sum(sizes.values()) or 1
    shares = [TensorShare(type_, size, size / total) for type_, size in sizes.items()]
    return tuple(sorted(shares, key=lambda model: -model.size_bytes))


def _values(path: Path) -> Mapping[str, Value]:
    """Read the values before the token list; the whole header has been read and checked before."""
    with open_regular(path) as file:
        return read_start(file, path.stat().st_size)[1]


def _text(values: Mapping[str, Value], key: str) -> str:
    value = values.get(key)
    return value.strip() if isinstance(value, str) else ""


def _join_texts(values: Mapping[str, Value], *keys: str) -> str:
    return ", ".join(text for key in keys if (text := _text(values, key)))
