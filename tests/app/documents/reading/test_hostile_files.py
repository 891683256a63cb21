"""Hostile and unreadable files: each ends with a sentence that gives the reason."""

from __future__ import annotations

import os
import signal
import sys
import threading
import zipfile
import zlib
from pathlib import Path
from random import Random

import pytest
from openpyxl import Workbook
from PIL import Image

from app.base.errors import DocumentNotRead
from app.documents.reading.faults import Fault
from app.documents.reading.limits import Limits
from app.documents.reading.reader import DocumentReader, refused
from engines.cancel import CancelToken
from engines.errors import Cancelled
from tests.support import made_documents as made
from tests.support import made_media as media
from tests.support.suite import sampled


def fault_of(path: Path, limits: Limits | None = None) -> Fault:
    with pytest.raises(DocumentNotRead) as raised:
        DocumentReader(limits).read(path, CancelToken())
    assert raised.value.what == f"{path.name} cannot be read."
    return next(it for it in Fault if refused(path.name, it).why == raised.value.why)


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_a_pdf_with_a_password_is_named_as_locked(tmp_path: Path) -> None:
    assert fault_of(made.locked_pdf(tmp_path / "a.pdf", [["Secret"]])) is Fault.LOCKED


def test_an_office_file_with_a_password_is_named_as_locked(tmp_path: Path) -> None:
    content = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(2000)
    content += "EncryptedPackage".encode("utf-16-le") + bytes(1000)
    assert fault_of(written(tmp_path / "a.docx", content)) is Fault.LOCKED


def test_an_old_office_file_is_named_as_one(tmp_path: Path) -> None:
    content = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(2000)
    assert fault_of(written(tmp_path / "a.doc", content)) is Fault.OLD_OFFICE


def test_an_archive_with_a_password_is_named_as_locked(tmp_path: Path) -> None:
    path = made.docx(tmp_path / "a.docx", made.paragraph("Text"))
    data = bytearray(path.read_bytes())
    start = data.index(b"PK\x01\x02")
    while start >= 0:  # sets the encryption flag in each entry of the directory
        data[start + 8] |= 1
        start = data.find(b"PK\x01\x02", start + 1)
    assert fault_of(written(path, bytes(data))) is Fault.LOCKED


def test_a_book_with_copy_protection_is_named_as_locked(tmp_path: Path) -> None:
    path = made.epub(tmp_path / "a.epub", {"a": "<p>x</p>"}, encrypted="OEBPS/text/a.xhtml")
    assert fault_of(path) is Fault.LOCKED


def test_a_book_with_encrypted_fonts_can_be_read(tmp_path: Path) -> None:
    path = made.epub(tmp_path / "a.epub", {"a": "<p>x</p>"}, encrypted="OEBPS/font.otf")
    assert DocumentReader().read(path, CancelToken()).text == "x"


@pytest.mark.parametrize(
    "beginning", [b"\0\0\0\x18ftypheic", b"\0\0\0\x0cJXL \r\n", b"8BPS\0\1", b"\0\0\1\0\1\0"]
)
def test_a_picture_of_another_kind_is_named_as_one(tmp_path: Path, beginning: bytes) -> None:
    assert fault_of(written(tmp_path / "a.txt", beginning + bytes(99))) is Fault.PICTURE


PICTURES = {
    form: media.written(media.noise(120, 90), form)
    for form in ("JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF", "AVIF")
}


@pytest.mark.parametrize("form", PICTURES)
@pytest.mark.parametrize("kept", sampled([20, 0.1, 0.6], [0.6]))
def test_a_picture_that_breaks_off_is_damaged(tmp_path: Path, form: str, kept: float) -> None:
    data = PICTURES[form]
    path = written(tmp_path / "a", data[: int(kept if kept > 1 else len(data) * kept)])
    assert fault_of(path) is Fault.DAMAGED


@pytest.mark.parametrize("form", PICTURES)
def test_a_picture_with_bytes_that_are_wrong_ends_with_a_sentence(
    tmp_path: Path, form: str, exhaustive: bool
) -> None:
    random = Random(form)
    told = {refused("", it).why for it in (Fault.DAMAGED, Fault.PIXELS)}
    for number in range(6 if exhaustive else 2):
        data = bytearray(PICTURES[form])
        for _ in range(40):
            data[random.randrange(12, len(data))] = random.randrange(256)
        path = written(tmp_path / f"{number}", bytes(data))
        try:
            assert DocumentReader().read(path, CancelToken()).media
        except DocumentNotRead as error:
            assert error.why in told  # noqa: PT017


@pytest.mark.parametrize("form", ["PNG", "GIF", "BMP", "TIFF"])
def test_a_picture_with_more_pixels_than_are_read_is_refused_unread(
    tmp_path: Path, form: str
) -> None:
    if form in {"GIF", "BMP"}:  # their sizes stand in the header
        data = bytearray(PICTURES[form])
        place, length = (6, 2) if form == "GIF" else (18, 4)
        for at in (place, place + length):
            data[at : at + length] = (60_000).to_bytes(length, "little")
    else:
        picture = Image.new("1", (30_000, 30_000))
        data = bytearray(media.written(picture, form, compression="packbits"))
    path = written(tmp_path / "a", bytes(data))
    assert path.stat().st_size < 120_000_000
    assert fault_of(path) is Fault.PIXELS


def test_a_picture_that_fills_the_memory_is_refused(tmp_path: Path) -> None:
    picture = media.written(Image.new("L", (13_000, 13_000)).convert("RGB"), "PNG")
    assert len(picture) < 3 << 20
    limits = Limits(memory_bytes=256 << 20)
    assert fault_of(written(tmp_path / "a", picture), limits) is Fault.NO_MEMORY


def test_a_profile_that_unpacks_without_end_is_not_unpacked(tmp_path: Path) -> None:
    bomb = zlib.compress(bytes(400 << 20), 9)
    content = b"a\0\0" + bomb
    crc = zlib.crc32(b"iCCP" + content).to_bytes(4, "big")
    chunk = len(content).to_bytes(4, "big") + b"iCCP" + content + crc
    data = PICTURES["PNG"]
    path = written(tmp_path / "a", data[:33] + chunk + data[33:])
    assert fault_of(path) is Fault.DAMAGED


def test_a_program_is_not_taken_for_text(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", Path(sys.executable).read_bytes()[:100_000])
    assert fault_of(path) is Fault.UNKNOWN


def test_an_archive_of_anything_is_no_document(tmp_path: Path) -> None:
    assert fault_of(made.archive(tmp_path / "a.zip", {"a.txt": "x"})) is Fault.UNKNOWN


@pytest.mark.parametrize("start", [b"GGUF\3\0\0\0", b"\x02\0\0\0\0\0\0\0{}"])
def test_a_file_of_a_model_is_known_by_its_start(tmp_path: Path, start: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(start + b"\0" * 100)
    assert fault_of(path) is Fault.MODEL
    path.write_text("GGUF is a format of files.")
    DocumentReader().read(path, CancelToken())


@pytest.mark.parametrize("kept", [30, 400, 0.6])
def test_a_pdf_that_breaks_off_is_named_as_damaged_or_read(tmp_path: Path, kept: float) -> None:
    data = made.pdf(tmp_path / "a.pdf", [["Text"]]).read_bytes()
    path = written(tmp_path / "a.pdf", data[: int(kept if kept > 1 else len(data) * kept)])
    assert fault_of(path) is Fault.DAMAGED


@pytest.mark.parametrize("name", ["word/document.xml", "word/styles.xml"])
def test_entities_that_grow_without_end_are_refused(tmp_path: Path, name: str) -> None:
    parts = {"word/document.xml": "<a/>", "word/styles.xml": "<a/>", name: made.BOMB}
    assert fault_of(made.archive(tmp_path / "a.docx", parts)) is Fault.DAMAGED


def workbook(path: Path, part: str, content: str) -> Path:
    """Write a workbook with one part replaced."""
    book = Workbook()
    book.active.append(["text"])
    book.save(path)
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    return made.archive(path, {**parts, part: content})


@pytest.mark.parametrize("part", ["xl/sharedStrings.xml", "xl/workbook.xml", "xl/styles.xml"])
def test_entities_in_a_workbook_are_refused(tmp_path: Path, part: str) -> None:
    path = workbook(tmp_path / "a.xlsx", part, made.BOMB)
    assert fault_of(path) is Fault.DAMAGED


def add_large(path: Path, name: str, piece: bytes) -> None:
    """Add an entry of 600 MB to an archive; compressed, it takes less than one."""
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file,
        file.open(name, "w", force_zip64=True) as part,
    ):
        for _ in range(600):
            part.write(piece)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    add_large(path, "word/document.xml", bytes(1 << 20))
    assert path.stat().st_size < 1 << 20
    assert fault_of(path) is Fault.UNPACKS


def test_a_zip_that_declares_less_than_it_holds_unpacks_no_more(tmp_path: Path) -> None:
    path = made.docx(tmp_path / "a.docx", made.paragraph("x" * 100_000))
    data = path.read_bytes()
    with zipfile.ZipFile(path) as file:
        size = file.getinfo("word/document.xml").file_size
    lie = data.replace(size.to_bytes(4, "little"), (200).to_bytes(4, "little"))
    assert lie != data
    assert fault_of(written(path, lie)) is Fault.DAMAGED


def test_a_large_sheet_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    workbook(path, "xl/unused.xml", "<a/>")
    add_large(path, "xl/worksheets/sheet2.xml", b" " * (1 << 20))
    assert fault_of(path) is Fault.UNPACKS


def test_a_file_that_is_too_large_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with path.open("wb") as file:
        file.truncate(2 << 30)  # takes no room on the disk
    assert fault_of(path) is Fault.TOO_LARGE


def test_a_text_that_is_too_long_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", b"word " * 1000)
    assert fault_of(path, Limits(characters=4000)) is Fault.TOO_LONG
    assert DocumentReader(Limits(characters=5000)).read(path, CancelToken()).size == 5000


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    assert fault_of(tmp_path / "gone.txt") is Fault.MISSING
    assert fault_of(tmp_path) is Fault.NO_FILE


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files in folders")
def test_a_pipe_and_a_device_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "zero.txt").symlink_to("/dev/zero")
    assert fault_of(tmp_path / "pipe.txt") is Fault.NO_FILE
    assert fault_of(tmp_path / "zero.txt") is Fault.NO_FILE


def test_a_file_that_is_written_while_it_is_read_is_told(tmp_path: Path) -> None:
    """Its hash would belong to another text than the one that was read."""
    path, done = written(tmp_path / "a.txt", b"words\n" * 100_000), threading.Event()

    def write() -> None:
        with path.open("ab", buffering=0) as file:
            while not done.wait(0.001):
                file.write(b"more\n")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert fault_of(path) is Fault.CHANGED
    finally:
        done.set()
        writer.join()


@pytest.mark.skipif(sys.platform == "win32", reason="modes do nothing there")
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", b"x")
    path.chmod(0)
    assert fault_of(path) is Fault.MISSING


def test_deeply_nested_tags_end_with_a_sentence_or_a_text(tmp_path: Path) -> None:
    nested = "<w:tbl><w:tr><w:tc>" * 20_000 + "</w:tc></w:tr></w:tbl>" * 20_000
    path = made.docx(tmp_path / "a.docx", made.paragraph("Text") + nested)
    assert DocumentReader().read(path, CancelToken()).text == "Text"


def child(*lines: str) -> tuple[str, ...]:
    return sys.executable, "-c", "\n".join(("import json, os, sys, time", *lines))


def refusal(*lines: str, limits: Limits | None = None, path: Path) -> str:
    reader = DocumentReader(limits, child(*lines))
    with pytest.raises(DocumentNotRead) as raised:
        reader.read(path, CancelToken())
    return raised.value.why


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "a.txt", b"text")


def test_a_reader_that_hangs_is_stopped(file: Path) -> None:
    why = refusal("while True: pass", limits=Limits(seconds=0.5), path=file)
    assert why == refused("", Fault.NO_TIME).why


def test_a_reader_that_crashes_takes_nothing_with_it(file: Path) -> None:
    why = refusal(f"os.kill(os.getpid(), {int(signal.SIGTERM)})", path=file)
    assert why == refused("", Fault.CRASHED).why


def test_a_reader_that_takes_too_much_memory_is_stopped(file: Path) -> None:
    limits = Limits(memory_bytes=64 << 20)
    why = refusal("held = bytes([1]) * (200 << 20)", "time.sleep(60)", limits=limits, path=file)
    assert why == refused("", Fault.NO_MEMORY).why


def test_a_reader_that_writes_without_end_is_stopped(file: Path) -> None:
    limits = Limits(characters=1000)
    why = refusal("while True: os.write(1, b'x' * 65536)", limits=limits, path=file)
    assert why == refused("", Fault.NO_MEMORY).why


@pytest.mark.parametrize(
    "said",
    ["[]", "{}", '{"sections": 0}', '{"fault": "x"}', '{"kind": "text", "sections": 0}', "x", ""],
)
def test_a_reader_that_talks_nonsense_is_taken_for_a_crash(file: Path, said: str) -> None:
    assert refusal(f"print({said!r})", path=file) == refused("", Fault.CRASHED).why


def test_reading_can_be_cancelled(file: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        DocumentReader(command=child("time.sleep(60)")).read(file, cancel)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the app looks at the memory")
def test_memory_beyond_the_limit_is_refused_by_the_system(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", b"word " * 8_000_000)
    limits = Limits(memory_bytes=48 << 20)
    assert fault_of(path, limits) is Fault.NO_MEMORY
