"""The catalogue: the model families that Hearth knows, each fact with its source: pure.

catalogue = load_catalogue(shipped_text, extension_text)
print(catalogue.sizes["gemma-4-e4b"].good_at)

A file in the data folder can extend the catalogue that Hearth ships: a family or size with a new id
is added, one with a known id replaces the shipped one, `hide` leaves some out, and `only` leaves
out everything that Hearth ships. The sizes of files serve for estimates only: a download takes the
files that the Hub has at that moment.
"""

from __future__ import annotations

import re
from datetime import date
from functools import cached_property
from typing import Annotated, Final, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from app.base.errors import CatalogueInvalid
from app.models.discover.values.offers import ModelPurpose
from engines.sentences import N_

T = TypeVar("T")

Words = Annotated[str, AfterValidator(N_)]
"""A sentence for the user, which is marked for translation."""

Certainty = Literal["checked", "stated", "estimated"]
"""How certain a fact is: seen in a file or its log, stated by someone, or estimated."""

Tier = Literal["tiny", "small", "medium", "large", "huge"]
"""The computer that a model is made for: any, 8 GB, 16 GB, 32 GB or a large card, a workstation."""

Role = Literal["chat", "code", "embedding"]
MtpHelp = Literal["auto", "on", "off"]

_LONG: Final = 100_000
"""Tokens of a long text."""
_CHEAP: Final = 4_000_000_000
"""The most bytes that the context of a long text may take in a model that suits long texts."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Fact(_Value, Generic[T]):
    """A value, its certainty, and its source: a name in the catalogue's `sources`."""

    value: T
    certainty: Certainty
    source: str


class Licence(_Value):
    """A model's licence.

    Attributes:
        name: Its name on the Hub.
        account: Whether the Hub requires an account for the download.
        note: One sentence on what it forbids; empty if it forbids nothing.
    """

    name: str
    account: bool = False
    note: Words = ""
    certainty: Certainty = "stated"


class File(_Value):
    """A file to download.

    Attributes:
        repo: "owner/name".
        pattern: Matches its name; * stands for any characters.
        gb: Its approximate size, in decimal gigabytes.
    """

    repo: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    pattern: str
    gb: Fact[float]


class CatalogueVariant(_Value):
    """A quantisation of a model.

    Attributes:
        quantisation: Its label, as in owner/name:LABEL.
        gb: The approximate size of all its parts, in decimal gigabytes.
        head: Whether this file contains the model's own MTP head, if the model has one. If not, the
            head can be in a separate file, which is then the size's `drafter`.
    """

    repo: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    quantisation: str
    gb: Fact[float]
    head: bool = True

    @property
    def name(self) -> str:
        """The name by which it is downloaded: owner/name:LABEL."""
        return f"{self.repo}:{self.quantisation}"


class Mtp(_Value):
    """Multi-token prediction.

    Attributes:
        kind: What drafts: "embedded" is the model's own prediction layers, in its file or in a
            separate one; "drafter" is a small separate model that reads the model's KV cache.
        help: The recommended position of the MTP switch.
        why: One sentence for the user.
    """

    kind: Literal["embedded", "drafter", "none"] = "none"
    help: MtpHelp = "off"
    why: Words = ""


class VllmCheckpoint(_Value):
    """A checkpoint for vLLM.

    Attributes:
        gb: The approximate size in decimal gigabytes.
        vram_gb: The smallest memory of a card, as its makers state it, in decimal gigabytes, for a
            short context.
        speculative: Its `speculative_config`; None if it has none.
    """

    repo: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    precision: str
    gb: Fact[float] | None = None
    vram_gb: Fact[float] | None = None
    speculative: dict[str, str | int] | None = None
    note: Words = ""


class Shape(_Value):
    """The figures from which a model's memory is computed; bytes are for f16.

    Attributes:
        width: Width of a token inside the model (the embedding length).
        kv: Bytes for each token of the context.
        window: How many tokens the sliding-window layers look back.
        window_kv: Bytes of the sliding-window layers for each of these tokens.
        state: Bytes of the recurrent layers, whatever the context.
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
    """A model of a family.

    Attributes:
        good_at: A sentence on its strengths.
        quality: How good it is, from 0 to 100; only serves to order models.
        everyday: Whether it can be the first recommendation; others are alternatives to it.
        code: Whether it is good at code, though it was not made for code alone.
        variants: The available variants, in order of preference.
        drafter: A separate file that drafts for the variants that cannot draft by themselves.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    name: str
    tier: Tier
    role: Role = "chat"
    parameters: Fact[float] = Field(description="billions")
    active: Fact[float] = Field(description="billions that are read for each token")
    good_at: Words
    quality: Fact[int]
    everyday: bool = False
    code: bool = False
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
        repos = [variant.repo for variant in self.variants] + (
            [self.drafter.repo] if self.drafter else []
        )
        return tuple(dict.fromkeys(repos))

    @property
    def purposes(self) -> tuple[ModelPurpose, ...]:
        """The purposes that it suits, among which people choose."""
        shape = self.shape
        suits: dict[ModelPurpose, bool] = {
            "everyday": self.everyday,
            "code": self.code or self.role == "code",
            "sees": self.vision,
            "small": self.tier in {"tiny", "small"},
            "long": shape.context_max.value >= _LONG and _LONG * shape.kv.value <= _CHEAP,
        }
        return tuple(purpose for purpose, is_suited in suits.items() if is_suited)

    def drafter_of(self, variant: CatalogueVariant) -> File | None:
        """Return the separate file that drafts for a variant.

        Returns:
            None if the variant's own file drafts, or if nothing does.
        """
        own_file_drafts = self.mtp.kind == "embedded" and variant.head
        return None if own_file_drafts or self.mtp.kind == "none" else self.drafter


class Family(_Value):
    """A family of models from one maker."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    name: str
    maker: str
    licence: Licence
    sizes: tuple[Size, ...]

    def licence_of(self, size: Size) -> Licence:
        """Return a size's own licence, or else the family's."""
        return size.licence or self.licence


class Catalogue(_Value):
    """The list of model families.

    Attributes:
        checked: The day when all of it was last compared with the Hub; None if never.
        sources: Explains the names that a fact's `source` uses.
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
            if double := next((id_ for id_ in ids if ids.count(id_) > 1), None):
                raise ValueError(f"the id “{double}” is there twice")
        return self


class Extension(_Value):
    """The user's file that changes the catalogue.

    Attributes:
        only: Whether to list nothing but the families of this file.
        hide: Ids of families or sizes to leave out.
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

    Args:
        place: Where the user's file is, for errors.

    Raises:
        CatalogueInvalid: The user's file cannot be used.
    """
    own = Catalogue.model_validate_json(shipped)
    if extension is None:
        return own
    try:
        change = Extension.model_validate_json(extension)
        merged = _merged(own, change)
    except ValidationError as error:
        raise CatalogueInvalid(
            N_("Your catalogue file cannot be used."),
            N_("{place}: {reason}", place=place, reason=_reason(error, extension)),
            N_("Correct it, or move the file away to use Hearth’s own list."),
        ) from error
    known_ids = own.sizes.keys() | {family.id for family in (*own.families, *merged.families)}
    for hidden in change.hide:
        if hidden not in known_ids:
            raise CatalogueInvalid(
                N_("Your catalogue file cannot be used."),
                N_(
                    "{place}: it hides “{hidden}”, but nothing has that id.",
                    place=place,
                    hidden=hidden,
                ),
                N_("Take it out of “hide”, or write the id of a family or of one of its sizes."),
            )
    return merged


def _merged(own: Catalogue, change: Extension) -> Catalogue:
    families = {} if change.only else {family.id: family for family in own.families}
    for family in change.families:
        before = families.get(family.id)
        families[family.id] = family if before is None else _with_sizes(before, family)
    hidden = set(change.hide)
    visible = (
        family.model_copy(
            update={"sizes": tuple(size for size in family.sizes if size.id not in hidden)}
        )
        for family in families.values()
        if family.id not in hidden
    )
    return Catalogue(
        version=1,
        sources=own.sources | change.sources,
        families=tuple(family for family in visible if family.sizes),
    )


def _with_sizes(before: Family, family: Family) -> Family:
    """Return the new family, with the old family's sizes that it does not replace."""
    sizes = {size.id: size for size in (*before.sizes, *family.sizes)}
    return family.model_copy(update={"sizes": tuple(sizes.values())})


def _reason(error: ValidationError, text: str) -> str:
    """Return the first thing that is wrong, with its place in the file."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return N_("{first}.", first=first["msg"].removeprefix("Invalid JSON: "))
    place = ""
    for part in first["loc"]:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
    if first["type"] == "extra_forbidden":
        return N_(
            "{place}: there is no such field{line}.",
            place=place,
            line=_line(text, first["loc"][-1]),
        )
    return N_("{place}: {first}.", place=place or N_("the whole"), first=first["msg"])


def _line(text: str, name: str | int) -> str:
    """Return the line in which a name occurs, if it occurs in only one."""
    lines = [at for at, line in enumerate(text.splitlines(), 1) if f'"{name}"' in line]
    return N_(", in line {lines}", lines=lines[0]) if len(lines) == 1 else ""
