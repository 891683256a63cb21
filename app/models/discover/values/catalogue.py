"""The catalogue: the model families that Hearth knows, each fact with its source: pure.

catalogue = load_catalogue(shipped_text, extension_text)
print(catalogue.sizes["gemma-4-e4b"].good_at)

The list that Hearth ships can be extended by a file in the data folder: a family or size of a new
id is added, one of a known id takes its place, `hide` leaves some out, and `only` leaves out
everything that Hearth ships. Sizes of files are there to reckon with and no more: what is
downloaded is what the Hub says at that moment.
"""

from __future__ import annotations

import re
from datetime import date
from functools import cached_property
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from app.base.errors import CatalogueInvalid

T = TypeVar("T")

Certainty = Literal["checked", "stated", "estimated"]
"""The certainty of a fact: seen in a file or its log, said by somebody, or estimated."""

Tier = Literal["tiny", "small", "medium", "large", "huge"]
"""The computer that a model is made for: any, 8 GB, 16 GB, 32 GB or a large card, a workstation."""

Role = Literal["chat", "code", "embedding"]
MtpHelp = Literal["auto", "on", "off"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Fact(_Value, Generic[T]):
    """A value, its certainty, and its source: a name in the catalogue's `sources`."""

    value: T
    certainty: Certainty
    source: str


class Licence(_Value):
    """A model's licence.

    name: as the Hub calls it. account: whether the Hub wants an account before a download. note:
    one sentence on what it forbids, where it forbids something.
    """

    name: str
    account: bool = False
    note: str = ""
    certainty: Certainty = "stated"


class File(_Value):
    """A file to download. repo: "owner/name". pattern: matches its name, with * for any letters.

    gb: its size, about, in decimal gigabytes.
    """

    repo: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    pattern: str
    gb: Fact[float]


class CatalogueVariant(_Value):
    """A quantisation: its label as in owner/name:LABEL. gb: all of its parts together, about.

    head: whether the model's own MTP head is in this file, if the model has one. Where it is not,
    it may lie in a file of its own, which the size names as its drafter.
    """

    repo: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    quantisation: str
    gb: Fact[float]
    head: bool = True

    @property
    def name(self) -> str:
        return f"{self.repo}:{self.quantisation}"


class Mtp(_Value):
    """Multi-token prediction. kind: what guesses ahead. help: how its switch should stand.

    embedded: the model's own prediction layers, in its file or in one of their own. drafter: a
    small model beside it, which reads its memory. why: one sentence for people.
    """

    kind: Literal["embedded", "drafter", "none"] = "none"
    help: MtpHelp = "off"
    why: str = ""


class VllmCheckpoint(_Value):
    """A checkpoint for vLLM. speculative: its `speculative_config`, None for none. gb: about.

    vram_gb: the least memory of a card, by its makers, in decimal gigabytes; for a short context.
    """

    repo: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    precision: str
    gb: Fact[float] | None = None
    vram_gb: Fact[float] | None = None
    speculative: dict[str, str | int] | None = None
    note: str = ""


class Shape(_Value):
    """The figures of a model from which its memory is computed. Bytes are at f16.

    kv: bytes for each token of the context. window: tokens that its sliding layers look back on,
    and window_kv: their bytes for each of these. state: bytes of its recurrent layers, whatever the
    context. width: of a token inside the model.
    """

    layers: Fact[int]
    width: Fact[int]
    vocabulary: Fact[int]
    context_max: Fact[int]
    kv: Fact[int]
    window: Fact[int] | None = None
    window_kv: Fact[int] | None = None
    state: Fact[int] | None = None


class Size(_Value):
    """A model of a family. variants: the ones to be had, in the order of preference.

    quality: how good it is, from 0 to 100, which orders models and means nothing else.
    everyday: whether it may be the first one suggested; others are alternatives to it.
    drafter: the file of its own that guesses ahead for the variants which cannot by themselves.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    name: str
    tier: Tier
    role: Role = "chat"
    parameters: Fact[float] = Field(description="billions")
    active: Fact[float] = Field(description="billions that are read for each token")
    good_at: str
    quality: Fact[int]
    everyday: bool = False
    vision: bool = False
    languages: tuple[str, ...] = ()
    variants: tuple[CatalogueVariant, ...] = Field(min_length=1)
    drafter: File | None = None
    projector: File | None = None
    mtp: Mtp = Mtp()
    vllm: tuple[VllmCheckpoint, ...] = ()
    shape: Shape
    licence: Licence | None = Field(None, description="where it differs from the family's")

    @property
    def repositories(self) -> tuple[str, ...]:
        """The repositories that hold it, the preferred one first."""
        repos = [it.repo for it in self.variants] + ([self.drafter.repo] if self.drafter else [])
        return tuple(dict.fromkeys(repos))

    def drafter_of(self, variant: CatalogueVariant) -> File | None:
        """Return the file that guesses ahead for a variant; None if its own does, or nothing."""
        inside = self.mtp.kind == "embedded" and variant.head
        return None if inside or self.mtp.kind == "none" else self.drafter


class Family(_Value):
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    name: str
    maker: str
    licence: Licence
    sizes: tuple[Size, ...]

    def licence_of(self, size: Size) -> Licence:
        return size.licence or self.licence


class Catalogue(_Value):
    """The list of model families; `sources` says what each fact's `source` stands for.

    checked: the day on which all of it was last compared with the Hub; None if it never was.
    """

    version: Literal[1]
    checked: date | None = None
    sources: dict[str, str] = {}
    families: tuple[Family, ...]

    @cached_property
    def sizes(self) -> dict[str, Size]:
        """The models of all families, by id."""
        return {size.id: size for family in self.families for size in family.sizes}

    @model_validator(mode="after")
    def _sources_are_named(self) -> Catalogue:
        named = set(re.findall(r"(?<='source': ')[^']+", str(self.model_dump()["families"])))
        if unknown := sorted(named - self.sources.keys()):
            raise ValueError(f"nothing says what the source “{unknown[0]}” is")
        return self

    @model_validator(mode="after")
    def _ids_are_single(self) -> Catalogue:
        for ids in (
            [family.id for family in self.families],
            [size.id for family in self.families for size in family.sizes],
        ):
            if double := next((it for it in ids if ids.count(it) > 1), None):
                raise ValueError(f"the id “{double}” is there twice")
        return self


class Extension(_Value):
    """The user's file that changes the catalogue.

    hide: ids of families or sizes. only: whether nothing else is listed.
    """

    version: Literal[1]
    only: bool = False
    hide: tuple[str, ...] = ()
    sources: dict[str, str] = {}
    families: tuple[Family, ...] = ()


def load_catalogue(
    shipped: str, extension: str | None = None, place: str = "catalogue.json"
) -> Catalogue:
    """Read the catalogue that Hearth ships, changed by the user's file if there is one.

    place: where that file is, for errors. Raises CatalogueInvalid for it.
    """
    own = Catalogue.model_validate_json(shipped)
    if extension is None:
        return own
    try:
        change = Extension.model_validate_json(extension)
        merged = _merged(own, change)
    except ValidationError as error:
        raise CatalogueInvalid(
            "Your catalogue file cannot be used.",
            f"{place}: {_reason(error, extension)}",
            "Correct it, or move the file away to use Hearth’s own list.",
        ) from error
    known = own.sizes.keys() | {family.id for family in (*own.families, *merged.families)}
    for hidden in change.hide:
        if hidden not in known:
            raise CatalogueInvalid(
                "Your catalogue file cannot be used.",
                f"{place}: it hides “{hidden}”, but nothing has that id.",
                "Take it out of “hide”, or write the id of a family or of one of its sizes.",
            )
    return merged


def _merged(own: Catalogue, change: Extension) -> Catalogue:
    families = {} if change.only else {family.id: family for family in own.families}
    for family in change.families:
        before = families.get(family.id)
        families[family.id] = family if before is None else _with_sizes(before, family)
    hidden = set(change.hide)
    shown = (
        family.model_copy(
            update={"sizes": tuple(size for size in family.sizes if size.id not in hidden)}
        )
        for family in families.values()
        if family.id not in hidden
    )
    return Catalogue(
        version=1,
        sources=own.sources | change.sources,
        families=tuple(family for family in shown if family.sizes),
    )


def _with_sizes(before: Family, family: Family) -> Family:
    """Return the newer family with those of the older one's sizes that it does not name."""
    sizes = {size.id: size for size in (*before.sizes, *family.sizes)}
    return family.model_copy(update={"sizes": tuple(sizes.values())})


def _reason(error: ValidationError, text: str) -> str:
    """Say what is wrong first, with its place in the file."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return f"{first['msg'].removeprefix('Invalid JSON: ')}."
    place = ""
    for part in first["loc"]:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
    if first["type"] == "extra_forbidden":
        return f"{place}: there is no such field{_line(text, first['loc'][-1])}."
    return f"{place or 'the whole'}: {first['msg']}."


def _line(text: str, name: str | int) -> str:
    """Say in which line a name is written, if it is written once."""
    lines = [at for at, line in enumerate(text.splitlines(), 1) if f'"{name}"' in line]
    return f", in line {lines[0]}" if len(lines) == 1 else ""
