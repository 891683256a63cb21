"""No file harms the app: what cannot be read ends with a sentence that says why."""

from __future__ import annotations

import os
import signal
import sys
import zipfile
from pathlib import Path

import pytest
from openpyxl import Workbook

from app.core.errors import DocumentNotRead
from app.documents.faults import Fault
from app.documents.limits import Limits
from app.documents.reader import DocumentReader, refused
from engines.cancel import CancelToken
from engines.errors import Cancelled
from tests.app.documents import made_documents as made


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
    while start >= 0:  # the flag that says so, in each entry of the directory
        data[start + 8] |= 1
        start = data.find(b"PK\x01\x02", start + 1)
    assert fault_of(written(path, bytes(data))) is Fault.LOCKED


def test_a_book_with_copy_protection_is_named_as_locked(tmp_path: Path) -> None:
    path = made.epub(tmp_path / "a.epub", {"a": "<p>x</p>"}, encrypted="OEBPS/text/a.xhtml")
    assert fault_of(path) is Fault.LOCKED


def test_a_book_with_encrypted_fonts_can_be_read(tmp_path: Path) -> None:
    path = made.epub(tmp_path / "a.epub", {"a": "<p>x</p>"}, encrypted="OEBPS/font.otf")
    assert DocumentReader().read(path, CancelToken()).text == "x"


def test_a_picture_is_named_as_one(tmp_path: Path) -> None:
    assert fault_of(written(tmp_path / "a.txt", b"\x89PNG\r\n\x1a\n" + bytes(9))) is Fault.PICTURE


def test_a_program_is_not_taken_for_text(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", Path(sys.executable).read_bytes()[:100_000])
    assert fault_of(path) is Fault.UNKNOWN


def test_an_archive_of_anything_is_no_document(tmp_path: Path) -> None:
    assert fault_of(made.archive(tmp_path / "a.zip", {"a.txt": "x"})) is Fault.UNKNOWN


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
    """A workbook with one part replaced."""
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
    """Add an entry of 600 MB to an archive, which takes less than one."""
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
    assert fault_of(tmp_path) is Fault.MISSING


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
    why = refusal("time.sleep(60)", limits=Limits(seconds=0.5), path=file)
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
