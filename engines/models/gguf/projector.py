"""The facts in a projector's header: which media it takes, and how much memory for that.

Example::

    facts = read_projector(Path("mmproj-model.gguf"))
    print(facts.sees, facts.memory_bytes)

Source: clip.cpp and mtmd-image.cpp of llama.cpp. A loaded model counts exactly, for every kind;
this is for the time before it is loaded, and for the kinds that most models have.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.errors import NotAModel
from engines.models.gguf.header import read_file
from engines.models.gguf.reader import (
    ARCHITECTURE,
    MAGIC,
    BadGguf,
    Gguf,
    Value,
    read_start,
    whole_number,
)
from engines.regular import open_regular
from engines.sentences import N_
from engines.types import Ability

_ARCHITECTURE: Final = "clip"
_HAS_PICTURES: Final = "clip.has_vision_encoder"
_HAS_SOUNDS: Final = "clip.has_audio_encoder"
_START_BYTES: Final = 128 << 10
"""The number of bytes of a file that contain its first values."""

_UP_TO: Final[Mapping[str, tuple[int, int, int]]] = {
    "qwen2vl_merger": (2, 8, 4096),
    "qwen2.5vl_merger": (2, 8, 4096),
    "qwen2.5o": (2, 8, 4096),
    "qwen3vl_merger": (2, 8, 4096),
    "glm4v": (2, 8, 4096),
    "gemma4v": (3, 70, 1120),
    "gemma4uv": (3, 70, 1120),
    "kimivl": (1, 8, 1024),
}
"""Kinds that keep a picture's shape.

For each: patches per token along each side, if the file does not say otherwise, and the fewest and
the most tokens of a picture.
"""

_FIXED: Final[Mapping[str, int]] = {"gemma3": 4, "mlp": 1, "mlp_norm": 1}
"""Kinds that scale every picture to a square of one size: patches per token along each side."""

_MERGES: Final = ("clip.vision.spatial_merge_size", "clip.vision.projector.scale_factor")
_WITH_POSITIONS: Final = frozenset({"gemma4v", "gemma4uv"})
"""Kinds with a table of the positions along each side; others scale theirs to the picture."""

_READ_AT_ONCE: Final = frozenset({"gemma3", "gemma4uv", "gemma4v", "deepseek4v"})
"""Kinds whose pictures are read in one call, since each of their tokens attends to all others."""
_TOKEN_BY_TOKEN: Final = (1536, 2560)
"""Widths of the Gemma 4 models that read pictures one token after the other: E2B and E4B."""

_USUAL_MOST: Final = {"gemma4v": 256, "gemma4uv": 256, "kimivl": 256}
_USUALLY: Final = 46 * 46
"""Tokens of a picture that llama.cpp reserves room for when it loads, if nothing else is known."""

_LOOK_AHEAD_FRAMES: Final = 3000
"""Frames of a sound, each a hundredth of a second, that llama.cpp reserves room for."""


@dataclass(frozen=True)
class PictureEncoder:
    """The part of a projector that encodes pictures.

    Attributes:
        patch: Pixels along one side of a patch.
        merge: Patches along one side that become one token.
        least: Fewest tokens of a picture; 0 if unknown for this kind.
        most: Most tokens of a picture; 0 if unknown for this kind.
        side: Pixels along the square that a picture is scaled to; 0 if it keeps its shape.
        width: Values of its hidden states.
        inner: Values of its feed-forward layers.
        max_patches: Most patches along one side that it has positions for; 0 for no limit.
    """

    kind: str
    patch: int
    merge: int
    least: int
    most: int
    side: int
    width: int
    inner: int
    gated: bool
    max_patches: int = 0

    def token_grid(self, width: int, height: int) -> tuple[int, int]:
        """Return the size in tokens, across and down, that a picture of this many pixels gets."""
        unit = self.patch * self.merge
        if self.side:
            return self.side // unit, self.side // unit
        area = unit * unit
        across, down = (max(1, _rounded(side / unit)) for side in (width, height))
        if across * down > self.most:
            scale = math.sqrt(height * width / (self.most * area))
            across, down = (max(1, int(side / scale // unit)) for side in (width, height))
        elif across * down < self.least:
            scale = math.sqrt(self.least * area / (height * width))
            across, down = (math.ceil(side * scale / unit) for side in (width, height))
        return across, down


@dataclass(frozen=True)
class SoundEncoder:
    """The part of a projector that encodes sounds.

    Attributes:
        mel: Number of mel bands.
        width: Values of its hidden states.
        inner: Values of its feed-forward layers.
        channels: Channels of its first convolutions; 0 if it has none.
    """

    kind: str
    mel: int
    width: int
    inner: int
    channels: int


@dataclass(frozen=True)
class ProjectorFacts:
    """The facts of a projector.

    Attributes:
        width: Values of each vector that it produces.
        weight_bytes: Size of its tensors.
    """

    width: int
    weight_bytes: int
    pictures: PictureEncoder | None
    sounds: SoundEncoder | None

    @property
    def sees(self) -> bool:
        """True if it encodes pictures."""
        return self.pictures is not None

    @property
    def hears(self) -> bool:
        """True if it encodes sounds."""
        return self.sounds is not None

    @property
    def kinds(self) -> tuple[str, ...]:
        """llama.cpp's names for its parts."""
        return tuple(part.kind for part in (self.pictures, self.sounds) if part is not None)

    def is_too_narrow(self, width: int, height: int) -> bool:
        """Return whether a picture is so long and narrow that it would crash llama.cpp."""
        pictures = self.pictures
        if pictures is None or not pictures.max_patches:
            return False
        return max(pictures.token_grid(width, height)) * pictures.merge > pictures.max_patches

    @property
    def most_picture_tokens(self) -> int:
        """The most tokens of one picture; 0 if unknown."""
        pictures = self.pictures
        if pictures is None:
            return 0
        return (
            (pictures.side // (pictures.patch * pictures.merge)) ** 2
            if pictures.side
            else pictures.most
        )

    @property
    def picture_rows(self) -> int:
        """The tokens of the largest picture, if all of them are read in one call; otherwise 0."""
        pictures = self.pictures
        if pictures is None or pictures.kind not in _READ_AT_ONCE:
            return 0
        if pictures.kind == "gemma4v" and self.width in _TOKEN_BY_TOKEN:
            return 0
        return self.most_picture_tokens

    @property
    def usual_picture_tokens(self) -> int:
        """The tokens of a picture that llama.cpp reserves room for when it loads."""
        pictures = self.pictures
        if pictures is None:
            return 0
        if pictures.side:
            return self.most_picture_tokens
        return _USUAL_MOST.get(pictures.kind, _USUALLY)

    def compute_bytes(self) -> int:
        """Return an upper estimate of the buffers for intermediate values, in bytes.

        The buffers for sounds and those for pictures exist side by side.
        """
        pictures, sounds, total = self.pictures, self.sounds, 0
        if pictures is not None:
            tokens = self.usual_picture_tokens
            # The inputs and outputs of the widest layer, or the parts of an attention.
            inner = (
                3 * pictures.inner + 4 * pictures.width
                if pictures.gated
                else 2 * pictures.inner + pictures.width
            )
            total += 4 * tokens * pictures.merge**2 * max(inner, 8 * pictures.width)
        if sounds is not None:
            frames = _LOOK_AHEAD_FRAMES
            # The first convolution halves each dimension and copies nine values for each output.
            total += 4 * (frames // 2) * (sounds.mel // 2) * (2 * sounds.channels + 9)
            total += 4 * (frames // 2) * (2 * sounds.inner + 2 * sounds.width)
        return total

    @property
    def memory_bytes(self) -> int:
        """An estimate of its memory once it is loaded."""
        return self.weight_bytes + self.compute_bytes()


def senses(projector: Path | None) -> tuple[Ability, ...]:
    """Return what a projector lets its model take, from the first values of its file.

    Returns:
        "sees", "hears" or both; () if it is not a projector or cannot be read.
    """
    if projector is None:
        return ()
    try:
        with open_regular(projector) as file:
            start = file.read(_START_BYTES)
    except OSError:
        return ()
    if not start.startswith(MAGIC):
        return ()
    try:
        _, values = read_start(io.BytesIO(start), len(start))
    except BadGguf:
        return ()
    if ARCHITECTURE not in values:
        return ()
    abilities: list[Ability] = []
    # The first projectors there were said nothing, and were for pictures.
    if values.get(_HAS_PICTURES, _HAS_SOUNDS not in values):
        abilities.append("sees")
    if values.get(_HAS_SOUNDS):
        abilities.append("hears")
    return tuple(abilities)


def read_projector(path: Path) -> ProjectorFacts:
    """Read a projector's header; the rest of the file may not exist yet.

    Raises:
        ModelNotFound: There is no such file.
        ModelUnreadable: The system does not allow reading it.
        ModelDamaged: Its header is invalid.
        NotAModel: It is not a projector.
    """
    gguf, _ = read_file(path)
    if gguf.values.get(ARCHITECTURE) != _ARCHITECTURE:
        raise NotAModel(
            N_("“{name}” is not a projector.", name=path.name),
            N_("It is another kind of model."),
            N_("Choose the projector of this model; its name mostly begins with “mmproj”."),
        )
    return projector_facts(gguf)


def projector_facts(gguf: Gguf) -> ProjectorFacts:
    """Extract the facts from a header."""
    values = gguf.values
    hears = bool(values.get(_HAS_SOUNDS))
    # The first projectors there were said nothing, and were for pictures.
    sees = bool(values.get(_HAS_PICTURES, not hears))
    width = 0
    for part in ("vision", "audio"):
        width = width or whole_number(values, f"clip.{part}.projection_dim")
    return ProjectorFacts(
        width,
        sum(tensor.size_bytes for tensor in gguf.tensors),
        _picture_encoder(gguf) if sees else None,
        _sound_encoder(gguf) if hears else None,
    )


def _picture_encoder(gguf: Gguf) -> PictureEncoder:
    values, kind = gguf.values, _kind(gguf.values, "vision")
    merge, least, most = _UP_TO.get(kind, (_FIXED.get(kind, 1), 0, 0))
    for key in _MERGES:
        merge = whole_number(values, key) or merge
    side = 0
    if kind in _FIXED:
        side = whole_number(values, "clip.vision.image_size")
        most = 1
    return PictureEncoder(
        kind,
        whole_number(values, "clip.vision.patch_size") or 1,
        merge,
        least,
        most,
        side,
        whole_number(values, "clip.vision.embedding_length"),
        whole_number(values, "clip.vision.feed_forward_length"),
        gated=any(tensor.name == "v.blk.0.ffn_gate.weight" for tensor in gguf.tensors),
        max_patches=_position_count(gguf) if kind in _WITH_POSITIONS else 0,
    )


def _position_count(gguf: Gguf) -> int:
    """Return the number of positions along one side in the table of positions."""
    table = next(
        (tensor for tensor in gguf.tensors if tensor.name == "v.position_embd.weight"), None
    )
    return table.shape[1] if table is not None and len(table.shape) > 1 else 0


def _sound_encoder(gguf: Gguf) -> SoundEncoder:
    values = gguf.values
    first = next((tensor for tensor in gguf.tensors if tensor.name in _FIRST_CONVOLUTIONS), None)
    return SoundEncoder(
        _kind(values, "audio"),
        whole_number(values, "clip.audio.num_mel_bins"),
        whole_number(values, "clip.audio.embedding_length"),
        whole_number(values, "clip.audio.feed_forward_length"),
        max(first.shape) if first is not None else 0,
    )


_FIRST_CONVOLUTIONS: Final = ("a.conv1d.0.weight", "a.conv2d.1.weight")


def _kind(values: Mapping[str, Value], part: str) -> str:
    return str(values.get("clip.projector_type") or values.get(f"clip.{part}.projector_type", ""))


def _rounded(value: float) -> int:
    return math.floor(value + 0.5)
