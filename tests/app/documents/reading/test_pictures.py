"""Reading pictures: turned upright, scaled for the engines, and stripped of metadata."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image, ImageCms, PngImagePlugin

from app.documents.reading.limits import Limits
from app.documents.reading.reader import DocumentReader
from app.documents.values.documents import Document, DocumentKind
from engines.cancel import CancelToken
from tests.support.made_media import BLUE, RED, noise, two_colours, with_metadata, written


def read(folder: Path, content: bytes, name: str = "photo", **limits: int) -> Document:
    path = folder / name
    path.write_bytes(content)
    document = DocumentReader(Limits(**limits)).read(path, CancelToken())
    assert document.kind is DocumentKind.IMAGE
    assert document.sections == ()
    return document


def shown(document: Document) -> Image.Image:
    return Image.open(io.BytesIO(document.media), formats=["JPEG", "PNG"])


def close(one: object, other: tuple[int, int, int], by: int = 30) -> bool:
    assert isinstance(one, tuple)
    return all(abs(a - b) <= by for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("form", ["JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF", "AVIF"])
def test_a_picture_is_known_by_its_content(tmp_path: Path, form: str) -> None:
    document = read(tmp_path, written(two_colours(), form), "a.txt")
    assert (document.width, document.height) == (60, 40)
    picture = shown(document)
    assert picture.format in {"JPEG", "PNG"}, "engines read no others"
    assert close(picture.convert("RGB").getpixel((5, 20)), RED)
    assert close(picture.convert("RGB").getpixel((55, 20)), BLUE)


@pytest.mark.parametrize("form", ["JPEG", "PNG"])
def test_a_plain_picture_stays_as_it_is(tmp_path: Path, form: str) -> None:
    content = written(two_colours(), form)
    assert read(tmp_path, content).media == content


@pytest.mark.parametrize(("form", "options"), [("JPEG", {"progressive": True}), ("PNG", {})])
def test_where_a_photo_was_taken_is_in_nothing_that_is_kept(
    tmp_path: Path, form: str, options: dict[str, object]
) -> None:
    told = PngImagePlugin.PngInfo()
    told.add_text("Author", "SecretMaker")
    content = written(
        two_colours(), form, exif=with_metadata(), comment=b"SecretMaker", pnginfo=told, **options
    )
    content += b"SecretMaker: a film behind the picture"
    assert b"SecretMaker" in content
    document = read(tmp_path, content)
    assert b"SecretMaker" not in document.media
    assert not shown(document).getexif()
    plain = Image.open(io.BytesIO(content))
    assert shown(document).tobytes() == plain.tobytes(), "its pixels are the file's own"


def test_nothing_is_told_by_a_picture_that_is_made_anew(tmp_path: Path) -> None:
    content = written(
        noise(80, 80), "JPEG", exif=with_metadata(6), comment=b"SecretMaker", xmp=b"SecretMaker"
    )
    document = read(tmp_path, content)
    assert b"SecretMaker" not in document.media
    assert not shown(document).getexif()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_is_turned_as_it_was_held(tmp_path: Path, orientation: int) -> None:
    content = written(two_colours(), "JPEG", exif=with_metadata(orientation))
    document = read(tmp_path, content)
    expected = Image.open(io.BytesIO(content))
    from PIL import ImageOps

    turned = ImageOps.exif_transpose(expected)
    assert (document.width, document.height) == turned.size == shown(document).size
    for place in ((5, 5), (turned.width - 5, turned.height - 5)):
        pixel = turned.getpixel(place)
        assert isinstance(pixel, tuple)
        assert close(shown(document).getpixel(place), (pixel[0], pixel[1], pixel[2]))


def test_a_large_picture_is_scaled_and_keeps_its_shape(tmp_path: Path) -> None:
    content = written(two_colours(3000, 2000), "JPEG")
    document = read(tmp_path, content, picture_pixels=60_000)
    assert (document.width, document.height) == (3000, 2000), "as its file has it"
    assert shown(document).size == (300, 200)


def test_a_large_file_is_made_smaller(tmp_path: Path) -> None:
    content = written(noise(400, 400), "PNG")
    document = read(tmp_path, content, picture_bytes=150_000)
    assert len(content) > 150_000 >= len(document.media)
    assert shown(document).format == "JPEG"


def test_what_is_transparent_lies_on_white(tmp_path: Path) -> None:
    picture = two_colours().convert("RGBA")
    picture.putalpha(0)
    for form in ("PNG", "WEBP"):
        document = read(tmp_path, written(picture, form, exact=True))
        assert close(shown(document).convert("RGB").getpixel((5, 5)), (255, 255, 255), 2)


def test_a_palette_with_a_transparent_colour_lies_on_white(tmp_path: Path) -> None:
    picture = two_colours().convert("P", palette=Image.Palette.ADAPTIVE, colors=2)
    clear = picture.getpixel((5, 5))
    document = read(tmp_path, written(picture, "PNG", transparency=clear))
    assert close(shown(document).convert("RGB").getpixel((5, 5)), (255, 255, 255), 2)
    assert close(shown(document).convert("RGB").getpixel((55, 5)), BLUE)


@pytest.mark.parametrize("mode", ["1", "L", "P", "CMYK", "I;16"])
def test_all_kinds_of_colours_can_be_read(tmp_path: Path, mode: str) -> None:
    if mode == "I;16":
        picture = Image.new("I;16", (60, 40), 200 * 256)
    else:
        picture = two_colours().convert(mode)
    media = shown(read(tmp_path, written(picture, "TIFF")))
    assert media.mode in {"L", "RGB", "P"}
    if mode == "I;16":
        assert media.getpixel((5, 5)) == 200


def test_the_meaning_of_colours_is_kept(tmp_path: Path) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    content = written(two_colours(300, 200), "JPEG", icc_profile=profile)
    for pixels in (1_000_000, 10_000):
        media = shown(read(tmp_path, content, picture_pixels=pixels))
        assert media.info["icc_profile"] == profile


def test_of_a_film_the_first_frame_is_shown(tmp_path: Path) -> None:
    frames = [two_colours(), Image.new("RGB", (60, 40), "green")]
    for form in ("GIF", "WEBP", "PNG", "TIFF", "MPO"):
        content = written(frames[0], form, save_all=True, append_images=frames[1:])
        document = read(tmp_path, content)
        assert close(shown(document).convert("RGB").getpixel((5, 20)), RED)
        assert b"acTL" not in document.media
