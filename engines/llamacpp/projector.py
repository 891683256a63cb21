"""A projector for a loaded model: turns pictures and sounds into embeddings for the model.

libmtmd, llama.cpp's own library for this, puts the model family's markers around a picture, scales
it as the family requires, and computes its embeddings. The embeddings are evaluated like tokens, by
the one loop that evaluates everything (`engines.llamacpp.scheduler`).
"""

from __future__ import annotations

import ctypes
import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from engines.cancel import CancelToken
from engines.errors import (
    Cancelled,
    EngineFailed,
    MediaUnsupported,
    MediumUnreadable,
    ProjectorRefused,
)
from engines.llamacpp.cells import make_cells
from engines.llamacpp.failures import projector_failure
from engines.llamacpp.file_identity import file_identity
from engines.llamacpp.model import Model
from engines.llamacpp.native import Native
from engines.media import (
    LEAST_SECONDS,
    MOST_PIXELS,
    MOST_SECONDS,
    kind_of,
    picture_size,
    sound_seconds,
)
from engines.models.gguf.projector import ProjectorFacts, read_projector
from engines.sentences import N_
from engines.types import LlamaPlan, MediaKind, Medium

_TEXT: Final = 0
"""MTMD_INPUT_CHUNK_TYPE_TEXT of mtmd.h."""

_LAYOUTS: Final = 256
"""Number of media whose layout is remembered, the most recent ones."""

_SOUNDS: Final = 4
"""Number of sounds, the most recent ones, that are kept split until they are encoded."""

_LAYOUT_BY_PLACE: Final = frozenset({"deepseek4v", "hunyuanvl"})
"""Kinds for which the layout of a picture depends on its place in the prompt."""

_SECTIONS: Final = 4
"""Number of parts of a position in a model with separate rows, columns and time (M-RoPE)."""


@dataclass(frozen=True)
class MediaPart:
    """A part of a medium that is encoded separately.

    Attributes:
        number: The number of the part within the medium.
        count: Number of cells.
        positions: Number of positions that the cells take.
    """

    number: int
    count: int
    positions: int


@dataclass(frozen=True)
class Encoded:
    """The embeddings of a part of a medium.

    Attributes:
        start: The index of its first cell in the sequence.
        count: Number of rows, one for each cell.
        width: Number of floats in a row.
        values: The rows, `count` × `width` floats.
        sections: For each part of a position, the value of each row.
        whole: Whether all rows attend to each other, so that they must be evaluated in one call.
    """

    start: int
    count: int
    width: int
    values: Any
    sections: tuple[list[int], ...]
    whole: bool


class Projector:
    """Lays out and encodes the media of messages for one model.

    Any thread can use it. Close it before the model.

    Attributes:
        sees: Whether it takes pictures.
        hears: Whether it takes sounds.
        most_rows: The most rows of a picture that must be evaluated in one call because they attend
            to each other; 0 if they need not be.
        width: Number of values that the model reads for each cell.
    """

    def __init__(
        self, native: Native, pointer: Any, model: Model, facts: ProjectorFacts, file: str
    ) -> None:
        """Take over a loaded projector.

        Args:
            native: The llama.cpp library.
            pointer: The native projector.
            model: The model that it belongs to.
            facts: Facts from the projector's file.
            file: Identifies the projector's file.
        """
        self._file = file
        self._facts = facts
        self._api = native.media
        self._native = native
        self._pointer = pointer
        # Media are encoded one at a time in a separate thread, so that a cancel need not wait for
        # it.
        self._encoder = ThreadPoolExecutor(1, "projector")
        self._layouts: OrderedDict[str, tuple[tuple[int, ...] | MediaPart, ...]] = OrderedDict()
        self._split_sounds: OrderedDict[str, Any] = OrderedDict()
        self.sees = bool(self._api.mtmd_support_vision(pointer))
        self.hears = bool(self._api.mtmd_support_audio(pointer))
        whole = self.sees and bool(self._api.mtmd_decode_use_non_causal(pointer, None))
        self.most_rows = facts.most_picture_tokens if whole else 0
        self._by_sections = bool(self._api.mtmd_decode_use_mrope(pointer))
        self.width = int(native.api.llama_model_n_embd_inp(model.pointer))

    def tokens(self, medium: Medium) -> list[int]:
        """Return the tokens for a medium in a prompt: markers, and cells for its content.

        Raises:
            MediaUnsupported: The projector does not take this kind of medium.
            MediumUnreadable: The medium cannot be read.
        """
        found: list[int] = []
        for part in self._layout(medium):
            if isinstance(part, MediaPart):
                found += make_cells(
                    f"{medium.sha256} {self._file}", part.number, part.count, part.positions
                )
            else:
                found += part
        return found

    def parts(self, medium: Medium) -> Iterator[tuple[int, MediaPart]]:
        """Yield the parts of a medium, each after the index of its first cell in the tokens."""
        offset = 0
        for part in self._layout(medium):
            if isinstance(part, MediaPart):
                yield offset, part
                offset += part.count
            else:
                offset += len(part)

    def encode(
        self, medium: Medium, places: Mapping[int, tuple[int, int]]
    ) -> Future[list[Encoded]]:
        """Start to compute the embeddings of parts of a medium, after those started before.

        This takes as long as some hundred prompt tokens, or more.

        Args:
            medium: The picture or sound.
            places: The index and position of the first cell, by the number of the part.

        Returns:
            The embeddings; the future raises MediumUnreadable or EngineFailed if encoding fails.
        """
        return self._encoder.submit(self._encode_parts, medium, places)

    def _encode_parts(self, medium: Medium, places: Mapping[int, tuple[int, int]]) -> list[Encoded]:
        chunks = self._split_sounds.pop(medium.sha256, None) or self._split(medium, whole=True)
        try:
            media_chunks = [chunk for chunk in self._each(chunks) if not self._is_text(chunk)]
            return [self._encode(media_chunks[number], *places[number]) for number in places]
        finally:
            self._api.mtmd_input_chunks_free(chunks)

    def close(self) -> None:
        """End the encoder's thread, and free the projector and the kept sounds."""
        self._encoder.shutdown(cancel_futures=True)
        while self._split_sounds:
            self._api.mtmd_input_chunks_free(self._split_sounds.popitem()[1])
        if self._pointer:
            self._api.mtmd_free(self._pointer)
            self._pointer = None

    def _encode(self, chunk: Any, start: int, position: int) -> Encoded:
        api = self._api
        with self._native.log.watch() as complaints:
            failed = api.mtmd_encode_chunk(self._pointer, chunk)
        if failed:
            raise EngineFailed(
                N_("The model could not read a picture or a sound."),
                N_(
                    "llama.cpp says: {message}.",
                    message=complaints[-1] if complaints else N_("nothing about the reason"),
                ),
                N_("Try it again; if that does not help, leave it out of the message."),
            )
        count = int(api.mtmd_input_chunk_get_n_tokens(chunk))
        values = (ctypes.c_float * (count * self.width))()
        ctypes.memmove(values, api.mtmd_get_output_embd(self._pointer), ctypes.sizeof(values))
        return Encoded(
            start,
            count,
            self.width,
            values,
            self._positions(chunk, position, count),
            bool(api.mtmd_decode_use_non_causal(self._pointer, chunk)),
        )

    def _positions(self, chunk: Any, position: int, count: int) -> tuple[list[int], ...]:
        """Return the positions of a chunk's rows; the first row is at `position`."""
        along = list(range(position, position + count))
        if not self._by_sections:
            return (along,)
        image = self._api.mtmd_input_chunk_get_tokens_image(chunk)
        if not image:
            return (along,) * _SECTIONS
        native_positions = (self._api.mtmd_decoder_pos * count)()
        self._api.mtmd_helper_image_get_decoder_pos(image, position, native_positions)
        numbers = memoryview(native_positions).cast("B").cast("I").tolist()
        time, across, down, more = (numbers[at::_SECTIONS] for at in range(_SECTIONS))
        return time, down, across, more

    def _layout(self, medium: Medium) -> tuple[tuple[int, ...] | MediaPart, ...]:
        """Return the parts of a medium in a prompt, determined once."""
        known = self._layouts.get(medium.sha256)
        if known is None:
            chunks = self._split(medium, whole=medium.kind == "audio")
            known = self._layouts[medium.sha256] = tuple(self._read(chunks))
            if medium.kind == "audio":
                # Counting the cells of a sound computes everything except its embeddings.
                self._split_sounds[medium.sha256] = chunks
            else:
                self._api.mtmd_input_chunks_free(chunks)
            while len(self._split_sounds) > _SOUNDS:
                self._api.mtmd_input_chunks_free(self._split_sounds.popitem(last=False)[1])
            while len(self._layouts) > _LAYOUTS:
                self._layouts.popitem(last=False)
        return known

    def _read(self, chunks: Any) -> Iterator[tuple[int, ...] | MediaPart]:
        api, number = self._api, 0
        for chunk in self._each(chunks):
            if self._is_text(chunk):
                length = ctypes.c_size_t()
                tokens = api.mtmd_input_chunk_get_tokens_text(chunk, ctypes.byref(length))
                yield tuple(tokens[: length.value])
            else:
                count = int(api.mtmd_input_chunk_get_n_tokens(chunk))
                yield MediaPart(number, count, int(api.mtmd_input_chunk_get_n_pos(chunk)))
                number += 1

    def _each(self, chunks: Any) -> list[Any]:
        count = int(self._api.mtmd_input_chunks_size(chunks))
        return [self._api.mtmd_input_chunks_get(chunks, number) for number in range(count)]

    def _is_text(self, chunk: Any) -> bool:
        return bool(self._api.mtmd_input_chunk_get_type(chunk) == _TEXT)

    def _split(self, medium: Medium, *, whole: bool) -> Any:
        """Let libmtmd split a medium into chunks and markers, which the caller must free.

        Args:
            medium: The picture or sound.
            whole: Whether to include the content; otherwise pictures are empty, which suffices for
                counting.
        """
        api = self._api
        self._require(medium)
        bitmap = self._bitmap(medium, whole=whole)
        if not bitmap:
            raise unreadable(medium)
        chunks = api.mtmd_input_chunks_init()
        try:
            part = api.mtmd_input_part(None, bitmap)
            parts = (ctypes.POINTER(api.mtmd_input_part) * 1)(ctypes.pointer(part))
            if api.mtmd_tokenize_from_parts(self._pointer, chunks, parts, 1, False):
                api.mtmd_input_chunks_free(chunks)
                raise unreadable(medium)
        finally:
            api.mtmd_bitmap_free(bitmap)
        return chunks

    def _bitmap(self, medium: Medium, *, whole: bool) -> Any:
        """Decode a medium; a picture that is only counted keeps nothing but its size."""
        api = self._api
        size = picture_size(medium.data) if medium.kind == "image" else None
        if size is not None and not whole:
            return api.mtmd_bitmap_init(*size, None)
        options = api.mtmd_helper_init_opt_default()
        # Otherwise it would pass data that it cannot decode to any ffmpeg that it finds.
        options.video_params.ffmpeg_bin_dir = os.fsencode(os.devnull)
        data = ctypes.cast(ctypes.c_char_p(medium.data), ctypes.POINTER(ctypes.c_uint8))
        return api.mtmd_helper_bitmap_init_from_buf(
            self._pointer,
            data,
            len(medium.data),
            False,
            options,
        )

    def _require(self, medium: Medium) -> None:
        """Raise an error if the projector does not take this medium, or if it cannot be read."""
        if not (self.sees if medium.kind == "image" else self.hears):
            raise media_unsupported(medium.kind)
        if kind_of(medium.data) != medium.kind:
            raise unreadable(medium)
        if medium.kind == "image":
            size = picture_size(medium.data)
            if size is None:
                raise unreadable(medium)
            if size[0] * size[1] > MOST_PIXELS:
                raise MediumUnreadable(
                    N_("A picture is too large."),
                    N_(
                        "It has {width} × {height} pixels; at most {most_pixels} are read.",
                        width=f"{size[0]:,}",
                        height=f"{size[1]:,}",
                        most_pixels=f"{MOST_PIXELS:,}",
                    ),
                    N_("Make it smaller, or take a part of it."),
                )
            if self._facts.is_too_narrow(*size):
                raise MediumUnreadable(
                    N_("A picture is too long and narrow."),
                    N_(
                        "It has {width} × {height} pixels, which is too narrow a shape for the "
                        "model.",
                        width=f"{size[0]:,}",
                        height=f"{size[1]:,}",
                    ),
                    N_("Take a part of it."),
                )
            return
        seconds = sound_seconds(medium.data)
        if not seconds:
            raise unreadable(medium)
        if seconds < LEAST_SECONDS:
            raise MediumUnreadable(
                N_("A sound is too short."),
                N_(
                    "It lasts {milliseconds} milliseconds, which is too short to hear anything.",
                    milliseconds=f"{1000 * seconds:.1f}",
                ),
                N_("Leave it out."),
            )
        if seconds > MOST_SECONDS:
            raise MediumUnreadable(
                N_("A sound is too long."),
                N_(
                    "It lasts {minutes} minutes; the model hears at most {most_minutes}.",
                    minutes=f"{seconds / 60:,.0f}",
                    most_minutes=MOST_SECONDS // 60,
                ),
                N_("Cut it into shorter ones."),
            )


def open_projector(native: Native, model: Model, plan: LlamaPlan, cancel: CancelToken) -> Projector:
    """Load the plan's projector for a loaded model.

    Raises:
        EngineError: The projector cannot be loaded; nothing is left behind.
        Cancelled: `cancel` was set; nothing is left behind.
    """
    if plan.projector is None:
        raise ValueError("the plan has no projector")
    path, api = plan.projector, native.media
    facts = read_projector(path)
    if _LAYOUT_BY_PLACE.intersection(facts.kinds):
        raise ProjectorRefused(
            N_("The projector “{name}” cannot be used.", name=path.name),
            N_("Hearth cannot lay out pictures of its kind, {kinds}, yet.", kinds=facts.kinds[0]),
            N_("Update Hearth, or choose another model."),
        )
    params = api.mtmd_context_params_default()
    params.use_gpu = plan.gpu_layers != 0
    if params.use_gpu and plan.devices:
        params.device = native.device(plan.devices[0])
    params.print_timings = False
    params.n_threads = plan.batch_threads
    params.progress_callback = goes_on = api.mtmd_progress_callback(
        lambda _part, _data: not cancel.cancelled
    )
    try:
        file = file_identity(path)
    except OSError as error:
        raise ProjectorRefused(
            N_("The projector “{name}” cannot be used.", name=path.name),
            N_("The system says: {strerror}.", strerror=error.strerror or error),
            N_("Get it again, or choose another model."),
        ) from error
    with native.log.watch() as complaints:
        pointer = api.mtmd_init_from_file(os.fsencode(path), model.pointer, params)
    del goes_on  # the callback had to stay alive until here
    if not pointer:
        if cancel.cancelled:
            raise Cancelled
        raise projector_failure(path, complaints)
    return Projector(native, pointer, model, facts, file)


def media_unsupported(kind: MediaKind) -> MediaUnsupported:
    """Return the error for a picture or sound sent to a model that cannot take it."""
    if kind == "image":
        return MediaUnsupported(
            N_("The model cannot see pictures."),
            N_("It has no projector for pictures, or the projector was not loaded."),
            N_(
                "Choose a model that sees, or get this model's projector; or leave the picture out."
            ),
        )
    return MediaUnsupported(
        N_("The model cannot hear sounds."),
        N_("It has no projector for sounds, or the projector was not loaded."),
        N_("Choose a model that hears, or get this model's projector; or leave the sound out."),
    )


def unreadable(medium: Medium) -> MediumUnreadable:
    """Return the error for data that is not a picture or sound, or only the beginning of one."""
    if medium.kind == "image":
        return MediumUnreadable(
            N_("A picture cannot be read."),
            N_("It is damaged or cut off, or it is not a PNG, JPEG, BMP or GIF file."),
            N_("Save it again as PNG or JPEG, or leave it out."),
        )
    return MediumUnreadable(
        N_("A sound cannot be read."),
        N_("It is damaged or cut off, or it is not a WAV, MP3 or FLAC file."),
        N_("Save it again as WAV or MP3, or leave it out."),
    )
