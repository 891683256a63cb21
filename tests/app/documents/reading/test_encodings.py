"""Texts in the world's encodings: each is read correctly or refused."""

# ruff: noqa: RUF001  letters of other scripts are meant as such

from __future__ import annotations

from pathlib import Path

import pytest

from app.base.errors import DocumentNotRead
from app.documents.values.documents import DocumentKind, Unread
from tests.app.documents.reading.conftest import Read

TEXTS = {
    "ja": "賃貸借契約書\n第一条　賃借人は毎月末日までに賃料を支払う。\n敷金は三か月分とする。",
    "zh": "租赁合同\n第一条 承租人应于每月末支付租金。押金为三个月。本合同自签字之日起生效。",
    "tw": "租賃合約\n第一條 承租人應於每月底支付租金。押金為三個月。本合約自簽字之日起生效。",
    "ko": "임대차 계약서\n제1조 임차인은 매월 말일까지 임대료를 지급한다. 보증금은 3개월분이다.",
    "ru": "Договор аренды\nАрендатор платит до конца каждого месяца. Залог составляет три месяца.",
    "ar": "عقد الإيجار\nيدفع المستأجر الإيجار في نهاية كل شهر. التأمين ثلاثة أشهر.",
    "el": "Μισθωτήριο\nΟ ενοικιαστής πληρώνει το ενοίκιο στο τέλος κάθε μήνα.",
    "he": "חוזה שכירות\nהשוכר משלם את דמי השכירות בסוף כל חודש. הפיקדון הוא שלושה חודשים.",
    "pl": "Umowa najmu. Najemca płaci czynsz do końca każdego miesiąca. Łódź, święto, źródło.",
    "tr": "Kira sözleşmesi. Kiracı kirayı her ayın sonunda öder. Depozito üç aydır. Şişli, ğ.",
    "de": "Mietvertrag: 12 m², „fällig“ – Größe, Übergabe; 5 € Gebühr, 25 °C, Maß.",
    "fr": "Le locataire paie à la fin de chaque mois. Dépôt : trois mois, où est-ce prévu ? L’été…",
}
ENCODINGS = [
    ("ja", "shift_jis"), ("ja", "cp932"), ("ja", "euc_jp"), ("ja", "iso2022_jp"), ("zh", "gb18030"),
    ("zh", "gbk"), ("tw", "big5"), ("ko", "euc_kr"), ("ko", "cp949"), ("ru", "cp1251"),
    ("ru", "koi8_r"), ("ru", "iso8859_5"), ("ru", "cp866"), ("ar", "cp1256"), ("el", "cp1253"),
    ("he", "cp1255"), ("pl", "cp1250"), ("tr", "cp1254"), ("de", "cp1252"), ("fr", "cp1252"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "encoding"), ENCODINGS)
def test_a_text_is_read_in_the_encoding_that_it_has(
    read: Read, tmp_path: Path, language: str, encoding: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXTS[language].encode(encoding))
    assert read(path).text == TEXTS[language]


@pytest.mark.parametrize("text", ["Maß", "Müller", "Preis: 5 €", "25 °C", "2 × 3", "naïve café"])
def test_a_few_western_letters_are_those_of_windows(read: Read, tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode("cp1252"))
    assert read(path).text == text


@pytest.mark.parametrize(
    "data",
    ["東京".encode("cp932"), "عقد 12".encode("cp1256"), b"\x81\x8d\x8f"],
)
def test_a_text_whose_letters_cannot_be_told_is_refused(
    read: Read, tmp_path: Path, data: bytes
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    with pytest.raises(DocumentNotRead) as error:
        read(path)
    assert "encoding" in error.value.why
    assert "UTF-8" in error.value.do


@pytest.mark.parametrize(("language", "name"), [("zh", "gb2312"), ("ja", "Shift_JIS")])
def test_a_page_of_html_is_read_as_it_declares(
    read: Read, tmp_path: Path, language: str, name: str
) -> None:
    """Programs write characters of the larger alphabet under the name of the smaller one."""
    text = "镕" if language == "zh" else "①"
    page = f'<html><head><meta charset="{name}"></head><body>{text}</body></html>'
    (tmp_path / "a.html").write_bytes(page.encode({"zh": "gbk", "ja": "cp932"}[language]))
    assert read(tmp_path / "a.html").text == text


RTF = rb"""{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fnil Arial;}{\f1\fcharset204 Arial;}
{\f2\fcharset128 MS;}}{\stylesheet{\s1 heading 1;}}{\*\generator Word;}{\info{\title Secret}}
{\header ACME, confidential\par}
\pard\outlinelevel0 Rent\par
\pard Area 10{\super 2} m, H\sub 2\nosupersub O, Gr\'f6\'dfe, \u1076?\u1086? \emdash{} x\par
{\listtext 2.1\tab}The tenant pays\line at once{\footnote First note}\par
{\v hidden}{\deleted gone}{\pict\wmetafile8 0102ab}\f1\'c4\'ee\'e3\f2\'83\'4a\f0\par
\trowd a\cell b\cell\row
\{braces\}{\field{\*\fldinst HYPERLINK "x"}{\fldrslt a link}}\bin3 }{x\par
{\mmath{\*\moMath{\mr 10}}}}"""


def test_an_rtf_is_read_as_text(read: Read, tmp_path: Path) -> None:
    (tmp_path / "a.rtf").write_bytes(RTF)
    document = read(tmp_path / "a.rtf")
    assert document.kind is DocumentKind.RTF
    assert [it.place.title for it in document.sections] == ["Rent", "Footnotes", "Headers"]
    assert document.sections[0].text.split("\n") == [
        "Rent", "", "Area 10² m, H₂O, Größe, до — x", "2.1\tThe tenant pays", "at once",
        "ДогカJ"[:4],
        "a | b", "{braces}a link", "(formula, not read)",
    ]  # fmt: skip
    assert document.sections[1].text == "(footnotes)\n\nFirst note"
    assert document.sections[2].text == "(headers)\n\nACME, confidential"
    assert document.unread == (Unread.FORMULAS,)


@pytest.mark.parametrize(
    "data",
    [
        b"{\\rtf1 \\u99999999 \\bin999999999 x",
        b"{\\rtf1}}}} a",
        b"{\\rtf",
    ],
)
def test_a_broken_rtf_is_not_read_as_its_source(read: Read, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.rtf").write_bytes(data)
    assert "rtf" not in read(tmp_path / "a.rtf").text


def test_an_rtf_of_groups_without_end_is_refused(read: Read, tmp_path: Path) -> None:
    (tmp_path / "a.rtf").write_bytes(b"{\\rtf1" + b"{" * 100_000)
    with pytest.raises(DocumentNotRead, match="cannot be read") as error:
        read(tmp_path / "a.rtf")
    assert "damaged" in error.value.why


@pytest.mark.parametrize(
    ("name", "part", "why"),
    [
        ("a.msg", "__properties_version1.0", "Outlook"),
        ("b.bin", "__properties_version1.0", "Outlook"),
        ("a.doc", "WordDocument", "before 2007"),
        ("a.xls", "", "before 2007"),
        ("Thumbs.db", "", "not a document"),
    ],
)
def test_a_compound_file_is_named_for_what_it_is(
    read: Read, tmp_path: Path, name: str, part: str, why: str
) -> None:
    data = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504) + part.encode("utf-16-le") + bytes(1024)
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DocumentNotRead) as error:
        read(tmp_path / name)
    assert why in error.value.why
