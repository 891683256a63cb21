"""The limits on reading one document."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits for one file.

    A file that exceeds a limit is refused with a sentence that says which one. The limits from
    `picture_pixels` on refuse nothing: larger content is scaled down or left out.

    Attributes:
        file_bytes: The size of the file.
        unpacked_bytes: Bytes unpacked from a DOCX, XLSX, PPTX or EPUB, which are ZIP archives.
        characters: The extracted text; ten million characters are about 4,000 printed pages.
        seconds: The time for reading all of it.
        memory_bytes: The memory of the reading process.
        pixels: The pixels of a picture in its file; the largest phone photos have 200 million.
        sound_bytes: The size of a sound, which is stored as it is.
        sound_seconds: The length of a sound.
        picture_pixels: The pixels of a picture for the engines. llama.cpp makes at most 4,096
            tokens of a picture, each of up to 32 by 32 pixels.
        picture_bytes: The size of a picture for the engines; it is stored in the database and in
            every copy of that.
        page_pixels: The pixels of a page without text; A4 at 150 dots per inch.
        pages: The number of such pages that are kept as pictures.
        view_pixels: The pixels of a page in the viewer; zooming in further only enlarges the same
            picture.
    """

    file_bytes: int = 1 << 30
    unpacked_bytes: int = 512 << 20
    characters: int = 10_000_000
    seconds: float = 120.0
    memory_bytes: int = 1 << 30
    pixels: int = 200_000_000
    sound_bytes: int = 64 << 20
    sound_seconds: float = 3600.0
    picture_pixels: int = 4096 * 32 * 32
    picture_bytes: int = 3 << 20
    page_pixels: int = 1240 * 1754
    pages: int = 20
    view_pixels: int = 8_000_000

    @property
    def out_bytes(self) -> int:
        """Maximum bytes that the process can write.

        A character takes at most 12 bytes of JSON; Base64 turns three bytes of a picture or sound
        into four.
        """
        media = max(self.sound_bytes, self.picture_bytes * (self.pages + 1)) * 4 // 3
        return self.characters * 12 + media + (1 << 20)


def limit_memory(most: int) -> None:
    """Cap this process's memory, in bytes; larger allocations fail. Linux only."""
    if sys.platform == "linux":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
