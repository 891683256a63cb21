"""Sorts a repository's files into variants, drafters, projectors and others: pure.

choice = choose(files, "unsloth/gemma-4-12B-it-qat-GGUF")
for variant in choice.variants: print(variant.label, quantisation_of(variant.label).words)
drafter = choice.drafter_for(variant)

The choice of the nearest drafter follows llama.cpp's common/download.cpp: the same folder or one
above it, then the same quantisation, then the nearest number of bits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final, Literal

from app.models.hub.values.hub import RepoFile, Variant
from app.models.library.values.quantisations import (
    Quantisation,
    quantisation_of,
    same_label,
    without_quantisation,
)
from engines.sentences import N_

FileKind = Literal["model", "drafter", "projector", "other"]

_MTP: Final = "mtp-"
_FED_DRAFTERS: Final = ("eagle3-", "dflash-", "dspark-")
_DRAFTERS: Final = (_MTP, *_FED_DRAFTERS, "draft")
_ASSISTANT: Final = {"gemma", "assistant"}
"""Words that mark a drafter for Gemma 4, in its maker's file names or repository names."""
_PART: Final = re.compile(r"-(\d{5})-of-(\d{5})$")
_WORDS: Final = re.compile(r"[^a-z0-9]+")
_NOT_MODEL_WORDS: Final = {
    "",
    "mmproj",
    "mtp",
    "dflash",
    "eagle3",
    "dspark",
    "draft",
    "gguf",
    "i1",
    "model",
}


@dataclass(frozen=True)
class IncompleteModel:
    """Files that look like a model but cannot be chosen.

    Attributes:
        why: One sentence.
    """

    name: str
    why: str


@dataclass(frozen=True)
class RepositoryModels:
    """The variants and drafters that a repository offers.

    Attributes:
        variants: The smallest first.
        drafters: Drafters made for one model that Hearth may be able to run. Small models that can
            draft for any model are not listed, neither here nor in `variants`.
        projectors: Files with which the models see or hear.
        left_out: Models that are incomplete.
    """

    variants: tuple[Variant, ...] = ()
    drafters: tuple[RepoFile, ...] = ()
    projectors: tuple[RepoFile, ...] = ()
    left_out: tuple[IncompleteModel, ...] = ()

    def drafter_for(self, variant: Variant) -> RepoFile | None:
        """Return the nearest drafter of a variant, which is downloaded with it.

        Returns:
            None if there is none.
        """
        several = len({_model(variant.files[0]) for variant in self.variants}) > 1
        return _nearest(variant, self.drafters, several)

    def projector_for(self, variant: Variant) -> RepoFile | None:
        """Return the projector of a variant, from its folder or one above it, preferably in F16.

        With fewer bits the model sees worse, and more bits gain nothing; F16 runs everywhere, BF16
        does not.

        Returns:
            None if there is none.
        """
        several = len({_model(variant.files[0]) for variant in self.variants}) > 1
        folder, model = PurePosixPath(variant.files[0].path).parent, _model(variant.files[0])
        near = [
            (-len(own.parts), -_rank_of_projector(file), file.path, file)
            for file in self.projectors
            if (own := PurePosixPath(file.path).parent) == folder or own in folder.parents
            if not several or _model(file) <= model
        ]
        return min(near)[3] if near else None


def choose(files: Iterable[RepoFile], repo: str = "") -> RepositoryModels:
    """Sort a repository's files.

    Args:
        repo: The repository's name, which can say "qat" where the file names do not.
    """
    kinds: dict[FileKind, list[RepoFile]] = {
        "model": [], "drafter": [], "projector": [], "other": [],
    }  # fmt: skip
    for file in files:
        kinds[kind_of(file.path, repo)].append(file)
    variants, left_out = _group_parts(kinds["model"], repo)
    return RepositoryModels(
        tuple(
            sorted(
                _with_distinct_labels(variants),
                key=lambda variant: (variant.size_bytes, variant.label),
            )
        ),
        tuple(
            file
            for file in kinds["drafter"]
            if _has_prefix(file, _MTP, *_FED_DRAFTERS) or _is_assistant(file.path, repo)
        ),
        tuple(kinds["projector"]),
        tuple(left_out),
    )


def kind_of(path: str, repo: str = "") -> FileKind:
    """Return the kind of a file, from its name and its repository's name.

    The kind "other" stands for files that no model needs.
    """
    name = PurePosixPath(path).name.lower()
    if not name.endswith(".gguf") or name.startswith("._"):
        return "other"
    words = _WORDS.split(name)
    if any(word.startswith("imatrix") for word in words):
        return "other"
    if any(word.startswith("mmproj") for word in words):
        return "projector"
    drafts = name.startswith(_DRAFTERS) or _is_assistant(path, repo)
    return "drafter" if drafts else "model"


def _is_assistant(path: str, repo: str) -> bool:
    return set(_WORDS.split(f"{repo}/{path}".lower())) >= _ASSISTANT


def _group_parts(
    files: Sequence[RepoFile], repo: str
) -> tuple[list[Variant], list[IncompleteModel]]:
    """Make one variant of each model file, or of all the parts of a split model."""
    variants: list[Variant] = []
    parts: dict[tuple[str, int], dict[int, RepoFile]] = {}
    for file in files:
        split = _PART.search(PurePosixPath(file.path).stem)
        if split is None:
            variants.append(_variant((file,), repo))
        else:
            model_path = f"{PurePosixPath(file.path).parent}/{_stem(file)}"
            parts.setdefault((model_path, int(split[2])), {})[int(split[1])] = file
    left_out: list[IncompleteModel] = []
    for (model_path, count), numbered in parts.items():
        missing = [number for number in range(1, count + 1) if number not in numbered]
        if missing or len(numbered) != count:
            name = N_(
                "{name}, {count} of {total} parts",
                name=PurePosixPath(model_path).name,
                count=len(numbered),
                total=count,
            )
            numbers = ", ".join(map(str, missing[:5])) + ("…" if len(missing) > 5 else "")
            left_out.append(
                IncompleteModel(
                    name,
                    N_(
                        "Of its {count} parts these are missing: {numbers}.",
                        count=count,
                        numbers=numbers,
                    ),
                )
            )
        else:
            variants.append(_variant(tuple(numbered[n] for n in range(1, count + 1)), repo))
    return variants, left_out


def _variant(files: tuple[RepoFile, ...], repo: str) -> Variant:
    quantisation = _quantisation(files[0], repo)
    return Variant(quantisation.label or _stem(files[0]), files, quantisation.bits)


def _quantisation(file: RepoFile, repo: str) -> Quantisation:
    """Read the quantisation from the file's name, else its folders', else the repository's."""
    folders = PurePosixPath(file.path).parent.parts
    for text in (_stem(file), *reversed(folders), repo):
        quantisation = quantisation_of(text, f"{repo}/{file.path}")
        if quantisation.label:
            break
    return quantisation


def _with_distinct_labels(variants: Sequence[Variant]) -> list[Variant]:
    """Give each variant a label of its own.

    If two labels are equal, the model's name is put in front; if they are still equal, the whole
    path is used.
    """
    uses = Counter(variant.label for variant in variants)
    named = [
        replace(
            variant,
            label=f"{without_quantisation(_stem(variant.files[0]))} {variant.label}".strip(),
        )
        if uses[variant.label] > 1
        else variant
        for variant in variants
    ]
    uses = Counter(variant.label for variant in named)
    return [
        replace(variant, label=_PART.sub("", variant.files[0].path.removesuffix(".gguf")))
        if uses[variant.label] > 1
        else variant
        for variant in named
    ]


def _nearest(variant: Variant, files: Iterable[RepoFile], several: bool) -> RepoFile | None:
    """Return the best drafter in the variant's folder or in one above it.

    A drafter that the model's maker split off from it ranks before drafters that others trained.

    Args:
        several: Whether the repository holds several models; a drafter that names another model is
            then not for this one.
    """
    folder = PurePosixPath(variant.files[0].path).parent
    model = _model(variant.files[0])
    near: list[tuple[tuple[float, ...], str, RepoFile]] = []
    for file in files:
        own = PurePosixPath(file.path).parent
        named = _model(file)
        if (own != folder and own not in folder.parents) or (several and not named <= model):
            continue
        levels_up = len(folder.parts) - len(own.parts)
        near.append(
            (
                (
                    levels_up,
                    not named <= model,
                    -len(named),
                    _has_prefix(file, *_FED_DRAFTERS),
                    *_rank(variant, file),
                ),
                file.path,
                file,
            )
        )
    return min(near)[2] if near else None


def _rank_of_projector(file: RepoFile) -> int:
    words = {word.upper() for word in _WORDS.split(PurePosixPath(file.path).name.lower())}
    order: tuple[set[str], ...] = ({"F32"}, {"BF16"}, set(), {"F16"})
    return max(at for at, required in enumerate(order) if required <= words)


def _rank(variant: Variant, file: RepoFile) -> tuple[float, ...]:
    quantisation = quantisation_of(_stem(file), file.path)
    return not same_label(variant.label, quantisation.label), abs(quantisation.bits - variant.bits)


def _has_prefix(file: RepoFile, *prefixes: str) -> bool:
    return PurePosixPath(file.path).name.lower().startswith(prefixes)


def _stem(file: RepoFile) -> str:
    """Return a file's name without its extension and its part number."""
    return _PART.sub("", PurePosixPath(file.path).name.removesuffix(".gguf"))


def _model(file: RepoFile) -> frozenset[str]:
    """Return the words of the model's name in a file's name; empty for “mmproj-F16.gguf”."""
    return frozenset(_WORDS.split(without_quantisation(_stem(file)).lower())) - _NOT_MODEL_WORDS
