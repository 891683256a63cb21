"""The quantisation of a model, read from its file name and described in plain words: pure.

quantisation = quantisation_of("gemma-4-E2B-it-qat-UD-Q4_K_XL.gguf")
print(quantisation.label, quantisation.bits, quantisation.words)  # QAT-UD-Q4_K_XL 5.0 Good balance

The bits per weight are those of llama.cpp's own table for an 8B model (tools/quantize/README.md),
because a file mixes types, which the package `gguf` does not know. For types that are not in the
table, they are the bits of the type's blocks. tests/engines/models/gguf compares names and bits
with the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engines.sentences import N_

if TYPE_CHECKING:
    from app.models.hub.values.hub import Variant
    from engines.memory.fit import Verdict

    _Judged = tuple[Variant, "Quantisation", Verdict]

_BITS: Final[dict[str, float]] = {
    "F32": 32.0, "BF16": 16.0, "F16": 16.0,
    "Q8_0": 8.5, "Q8_K": 9.0, "Q8_K_L": 9.0, "Q8_K_XL": 10.0, "Q8_1": 9.0,
    "Q6_K": 6.56, "Q6_K_S": 6.56, "Q6_K_M": 6.56, "Q6_K_L": 6.7, "Q6_K_XL": 7.5, "Q6_0": 6.5,
    "Q5_K": 5.7, "Q5_K_S": 5.57, "Q5_K_M": 5.7, "Q5_K_L": 5.85, "Q5_K_XL": 5.9,
    "Q5_0": 5.5, "Q5_1": 6.0,
    "Q4_K": 4.9, "Q4_K_S": 4.67, "Q4_K_M": 4.9, "Q4_K_L": 5.1, "Q4_K_XL": 5.0,
    "Q4_0": 4.5, "Q4_1": 5.0, "IQ4_NL": 4.68, "IQ4_XS": 4.46, "MXFP4": 4.25, "NVFP4": 4.5,
    "Q3_K": 4.0, "Q3_K_S": 3.64, "Q3_K_M": 4.0, "Q3_K_L": 4.3, "Q3_K_XL": 4.4,
    "IQ3_M": 3.76, "IQ3_S": 3.66, "IQ3_XS": 3.5, "IQ3_XXS": 3.25,
    "Q2_K": 3.16, "Q2_K_S": 2.97, "Q2_K_L": 3.3, "Q2_K_M": 3.16, "Q2_K_XL": 3.3, "Q2_0": 2.25,
    "IQ2_M": 2.93, "IQ2_S": 2.74, "IQ2_XS": 2.59, "IQ2_XXS": 2.38,
    "IQ1_M": 2.15, "IQ1_S": 2.0, "TQ2_0": 2.06, "TQ1_0": 1.69, "Q1_0": 1.13,
}  # fmt: skip
_ALIASES: Final = {"FP32": "F32", "FP16": "F16", "MXFP4_MOE": "MXFP4"}
_TYPES: Final = "|".join(sorted([*_BITS, *_ALIASES], key=len, reverse=True))
# In old files for ARM processors, the type is followed by the rows and columns of its blocks.
_TYPE: Final = re.compile(
    rf"(?<![a-z0-9])(?:(?P<ud>ud)[-_])?(?P<type>{_TYPES})(?P<arm>_[48]_[48])?(?![a-z0-9])",
    re.IGNORECASE,
)
_QAT: Final = re.compile(r"(?<![a-z0-9])qat(?![a-z0-9])", re.IGNORECASE)
_PREFIX: Final = re.compile(r"^(?:QAT-)?(?:UD-)?")
_OLD: Final = {"Q4_0", "Q4_1", "Q5_0", "Q5_1"}

_TRAINED_BONUS: Final = 0.6
"""The worth of training for a quantisation, in bits: QAT Q4_0 lies between Q4_K_M and Q5_K_S."""
_DYNAMIC_BONUS: Final = 0.1
_OLD_PENALTY: Final = 0.3
_FULL_BITS: Final = 16.0
"""The bits at which nothing is lost any more, and nothing is gained over 8 bits either."""


@dataclass(frozen=True)
class Quantisation:
    """A way to store weights in fewer bits.

    Attributes:
        label: The usual name, in capitals; "QAT-" in front if the model was trained for it, and
            "UD-" if its maker chose the type of each tensor.
        bits: Approximate bits per weight; 0 if unknown.
        depth: The digit in its name.
        order: Its rank: higher is closer to the original.
    """

    label: str
    bits: float = 0.0
    depth: int = 0
    order: float = 0.0

    @property
    def trained(self) -> bool:
        """True if the model was trained for this quantisation (QAT)."""
        return self.label.startswith("QAT-")

    @property
    def words(self) -> str:
        """The quality in a few words for the user; empty if unknown."""
        if self.trained and self.depth == 4:
            return N_("Good balance, trained for this size")
        for least, words in _WORDS:
            if self.depth >= least:
                return words
        return ""


_WORDS: Final = (
    (16, N_("The original, very large")),
    (8, N_("Nearly the original")),
    (6, N_("Very close to the original")),
    (5, N_("Close to the original")),
    (4, N_("Good balance")),
    (3, N_("Small and quick, some loss")),
    (1, N_("Very small, clear loss")),
)


def quantisation_of(name: str, repo: str = "") -> Quantisation:
    """Read the quantisation from a file's name or a label.

    Args:
        repo: The file's repository, whose name can say "qat" where the file's does not.

    Returns:
        A quantisation without label and bits if the name states none.
    """
    match = None
    for match in _TYPE.finditer(name):  # noqa: B007 - the last one counts: “f16.Q4_K_M”
        pass
    if match is None:
        return Quantisation("")
    type_ = match["type"].upper()
    type_ = _ALIASES.get(type_, type_)
    bits = _BITS[type_]
    trained = bits < _FULL_BITS and bool(_QAT.search(name) or _QAT.search(repo))
    label = type_ + (match["arm"] or "")
    if match["ud"]:
        label = f"UD-{label}"
    if trained:
        label = f"QAT-{label}"
    worse = _OLD_PENALTY if type_ in _OLD and not trained else 0.0
    order = bits - worse + _DYNAMIC_BONUS * bool(match["ud"]) + _TRAINED_BONUS * trained
    return Quantisation(label, bits, _depth(type_), order)


def without_quantisation(stem: str) -> str:
    """Return a file's name without its quantisation: the model's name."""
    bare = _QAT.sub("", _TYPE.sub("", stem))
    return re.sub(r"[-_.]{2,}", "-", bare).strip("-_.")


def same_label(label: str, requested: str) -> bool:
    """Return whether a label matches a request: “q4_k_m” matches Q4_K_M, and also UD-Q4_K_M."""
    requested = requested.upper()
    return requested in (label.upper(), _PREFIX.sub("", label.upper()))


def best_variant(variants: Iterable[Variant], fits: Callable[[Variant], Verdict]) -> Variant | None:
    """Return the best variant for a computer; None if none of them runs there.

    It is the best one that fits comfortably. A variant trained for 4 bits is as good as a larger
    one, and 16 bits are not worth twice the memory and half the speed. If memory is tight, it is
    one of 4 bits. Variants below 3 bits lose so much that they come last.

    Args:
        fits: Judges whether a variant fits the memory.
    """
    judged = [(variant, quantisation_of(variant.label), fits(variant)) for variant in variants]
    usual = [row for row in judged if row[1].depth >= 3 and row[1].bits < _FULL_BITS]
    full = [row for row in judged if row[1].bits >= _FULL_BITS]
    unknown = [row for row in judged if not row[1].bits]
    tiny = [row for row in judged if 0 < row[1].depth < 3]

    def of(judged_variants: list[_Judged], *verdicts: Verdict) -> list[_Judged]:
        return [row for row in judged_variants if row[2] in verdicts]

    choices = (
        (_best, [row for row in of(usual, "fits") if row[1].trained and row[1].depth == 4]),
        (_best, of(usual, "fits")),
        (_largest, of(unknown, "fits")),
        (_smallest, of(full, "fits")),
        (_near_four, of(usual, "tight")),
        (_smallest, of(unknown + full, "tight")),
        (_near_four, of(usual, "partial")),
        (_smallest, of(unknown + full, "partial")),
        (_best, of(tiny, "fits", "tight")),
        (_smallest, of(tiny, "partial")),
    )
    for choose, among in choices:
        if among:
            return choose(among)[0]
    return None


def _best(among: list[_Judged]) -> _Judged:
    return max(among, key=lambda row: (row[1].order, -row[0].size_bytes))


def _largest(among: list[_Judged]) -> _Judged:
    return max(among, key=lambda row: row[0].size_bytes)


def _smallest(among: list[_Judged]) -> _Judged:
    return min(among, key=lambda row: row[0].size_bytes)


def _near_four(among: list[_Judged]) -> _Judged:
    """Return the best variant of up to 4 bits, or the smallest one above."""
    small = [row for row in among if row[1].depth <= 4]
    return _best(small) if small else _smallest(among)


def _depth(type_: str) -> int:
    digits = re.search(r"\d+", type_)
    return int(digits[0]) if digits else 0
