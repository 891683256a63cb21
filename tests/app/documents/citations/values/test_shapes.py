"""Recognising quotes in every kind of quotation mark and script, however their words are set."""

from __future__ import annotations

import pytest

from app.documents.citations.values import CitationCheck
from app.documents.values.documents import AttachedFile, DocumentKind, LocationKind
from tests.support.told_documents import told

SOURCE = told(
    "The tenants' deposit is due on the third day. It doesn't bear interest at 2 % or 20 °C, "
    "and costs 950 € each. The clerk said “never again” to them."
)


def verdicts(file: AttachedFile, answer: str) -> list[str]:
    return [it.verdict for it in CitationCheck([file]).check(answer)]


@pytest.mark.parametrize(
    "answer",
    [
        "「due on the third day」",
        "『due on the third day』",
        "《due on the third day》",
        "〈due on the third day〉",
        "\u2039due on the third day\u203a",
        "\u203adue on the third day\u2039",
        "\u2018due on the third day\u2019",
        "\u201adue on the third day\u2018",
        "It says 'due on the third day'.",
        "\u2018tenants\u2019 deposit is due\u2019",
        "\u2018It doesn\u2019t bear interest\u2019",
        "> due on the\n> third day",
        "It says:\n\n> due on the\nthird day\n\nThat is all.",
        "> “due on the third day”",
        "> due on the third day\n>\n> — a.pdf, page 1",
        "> due on the third day (a.pdf, page 1)",
    ],
)
def test_a_quote_in_any_shape_is_checked(answer: str) -> None:
    assert verdicts(SOURCE, answer) == ["found"]
    assert verdicts(SOURCE, answer.replace("d", "t", 1)) == ["not_found"]


@pytest.mark.parametrize(
    "answer",
    [
        "The tenants\u2019 deposit isn\u2019t the landlords\u2019 money, so don\u2019t spend it.",
        "Don't use the tenants' money for the landlords' house.",
        "In the \u201890s the tenants\u2019 deposit was low.",
        "It is rock 'n' roll, and the boys' club.",
        "> Note: nothing of this is quoted.",
        "「Name」 and 《租约》",
    ],
)
def test_apostrophes_and_names_are_no_quotes(answer: str) -> None:
    assert verdicts(SOURCE, answer) == []


def test_a_possessive_does_not_end_a_quote() -> None:
    answer = "It says \u2018tenants\u2019 deposit is 5000 euros\u2019 there."
    assert "found" not in verdicts(SOURCE, answer)


CHINESE = told(
    "承租人不得转租房屋\uff0c应在三十日内支付押金1950元\uff0c\n租金自第十二个月起上涨5%。"
)


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("支付押金1950元", "found"),
        ("支付押金 1950 元", "found"),
        ("应在三十日内支付", "found"),
        ("押金1950元\uff0c租金", "found"),
        ("不得转租房屋", "found"),
        ("得转租房屋", "not_found"),
        ("支付押金195", "not_found"),
        ("950元\uff0c租金", "not_found"),
        ("十日内支付押金", "not_found"),
        ("租金自第十", "not_found"),
        ("二个月起上涨5%", "not_found"),
        ("月起上涨5", "not_found"),
        ("支付押金1960元", "not_found"),
    ],
)
def test_chinese_quotes_begin_and_end_anywhere_but_in_a_number(quote: str, expected: str) -> None:
    assert verdicts(CHINESE, f"合同规定「{quote}」。") == [expected]


JAPANESE = told("借主は敷金を支払わなければならない。\nマンションのオーナーは物件を転貸できない。")


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("敷金を支払わなければならない", "found"),
        ("オーナーは物件を転貸できない", "found"),
        ("ならない。マンションの", "found"),
        ("オーナーは物件を転貸でき", "not_found"),
        ("ションのオーナー", "not_found"),
        ("借主は敷金を支払わ", "not_found"),
    ],
)
def test_japanese_quotes_keep_their_endings(quote: str, expected: str) -> None:
    assert verdicts(JAPANESE, f"契約は「{quote}」と定める。") == [expected]


THAI = told("ผู้เช่าไม่สามารถให้เช่าช่วงห้องได้ ต้องชำระเงิน950บาท")


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("ไม่สามารถให้เช่าช่วง", "found"),
        ("สามารถให้เช่าช่วง", "not_found"),
        ("ต้องชำระเงิน 950 บาท", "found"),
        ("ต้องชำระเงิน 50 บาท", "not_found"),
    ],
)
def test_thai_quotes_keep_their_negation(quote: str, expected: str) -> None:
    assert verdicts(THAI, f"“{quote}”") == [expected]


def test_latin_words_glued_to_chinese_are_found() -> None:
    file = told("使用Hearth软件时不收费。")
    assert verdicts(file, "规定「用Hearth软件」") == ["found"]
    assert verdicts(file, "规定「arth软件时」") == ["not_found"]


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("bear interest at 2%", "found"),
        ("bear interest at 2\u202f%", "found"),
        ("bear interest at 2", "not_found"),
        ("2% or 20°C", "found"),
        ("costs 950€ each", "found"),
        ("costs 9 50 €", "not_found"),
    ],
)
def test_white_space_before_a_unit_says_nothing(quote: str, expected: str) -> None:
    assert verdicts(SOURCE, f"“{quote}”") == [expected]


@pytest.mark.parametrize("source", ["10² m by 4³, CO₂", "10^2 m by 4^3, CO_2"])
@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("area is 10² m", "found"),
        ("area is 10^2 m", "found"),
        ("area is 10^{2} m", "found"),
        ("by 4³, CO₂", "found"),
        ("by 4^3, CO_2", "found"),
        ("area is 102 m", "not_found"),
        ("area is 10 2 m", "not_found"),
        ("area is 10", "not_found"),
        ("2 m by", "not_found"),
        ("by 43, CO₂", "not_found"),
        ("m by 4", "not_found"),
    ],
)
def test_a_power_is_no_digit(source: str, quote: str, expected: str) -> None:
    assert verdicts(told(f"The area is {source} there."), f"“{quote}”") == [expected]


ROWS = (("Berg", "Ulm", "12", "1,250.50", "7%"), ("Dubois", "Lyon", "48", "3,100.00", "12 %"))
TABLES = {
    "xlsx": told(
        "\n".join(map("\t".join, ROWS)),
        kind=DocumentKind.XLSX,
        place=LocationKind.SHEET,
        titles=("Costs",),
    ),
    "tsv": told("\n".join(map("\t".join, ROWS)), kind=DocumentKind.CSV, place=LocationKind.WHOLE),
    "docx": told(
        "Costs\n\n" + "\n".join(" | ".join(f"{it} " for it in row) for row in ROWS) + "\n\nEnd.",
        kind=DocumentKind.DOCX,
        place=LocationKind.HEADING,
    ),
    "pptx": told(
        "".join("".join(f"{it} | " for it in row) + "\n" for row in ROWS),
        kind=DocumentKind.PPTX,
        place=LocationKind.SLIDE,
    ),
    "markdown": told(
        "\n".join(f"|{'|'.join(row)}|" for row in ROWS),
        kind=DocumentKind.MARKDOWN,
        place=LocationKind.HEADING,
    ),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("between", [" ", "\t", " | ", "|", "  "])
def test_a_row_is_found_however_its_cells_are_set_apart(table: str, between: str) -> None:
    file = TABLES[table]
    row, other = ROWS
    assert verdicts(file, f"“{between.join(row)}”") == ["found"]
    assert verdicts(file, f"“{between.join(row[1:4])}”") == ["found"]
    assert verdicts(file, "> " + between.join(other).replace("12 %", "12%")) == ["found"]
    assert verdicts(file, f"“{between.join((*row[3:], *other[:2]))}”") == ["not_found"]
    assert verdicts(file, f"“{between.join((row[0], other[1], row[2]))}”") == ["not_found"]
    assert verdicts(file, f"“{between.join((*row[1:3], '1250.50'))}”") == ["not_found"]
    assert verdicts(file, f"“{between.join((*row[2:4], '7'))}”") == ["not_found"]


def test_a_unit_may_have_a_cell_of_its_own() -> None:
    file = told(
        "Rent\t950\tEUR\t5\t%\nHeat\t12\tkWh",
        kind=DocumentKind.XLSX,
        place=LocationKind.SHEET,
        titles=("Costs",),
    )
    assert verdicts(file, "“Rent 950 EUR 5 %”") == ["found"]
    assert verdicts(file, "“Rent | 950 | EUR”") == ["found"]
    assert verdicts(file, "“Heat 12 kWh”") == ["found"]
    assert verdicts(file, "“EUR 5 % Heat”") == ["not_found"]


MAIL = told(
    "From: a\nSubject: Re: it\n\nI agree with it.\n\nAnn wrote:\n> The rent is due on the\n"
    "> third day of each\n> month.\n>> It was never\n>> due before.\n\nSee you.",
    kind=DocumentKind.EMAIL,
    place=LocationKind.MESSAGE,
    name="a.eml",
)


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("due on the third day of each month", "found"),
        ("It was never due before", "found"),
        ("each month. It was never", "not_found"),
        ("due before. See you", "not_found"),
    ],
)
def test_a_message_is_quoted_over_its_lines_but_not_over_its_speakers(
    quote: str, expected: str
) -> None:
    assert verdicts(MAIL, f"“{quote}”") == [expected]


@pytest.mark.parametrize(
    "answer",
    [
        "> due on the third day (and not before)",
        "> due on the fourth day\n> third day",
        "> It is paid:\n> due on the third day",
        "> due on the third day, says nobody",
    ],
)
def test_no_part_of_a_block_quote_is_left_out_of_the_check(answer: str) -> None:
    assert verdicts(SOURCE, answer) == ["not_found"]


def test_the_marks_of_a_block_quote_are_read_in_an_answer() -> None:
    (citation,) = CitationCheck([SOURCE]).check("So:\n\n> due on the\n> third day\n\nAnd more.")
    assert citation.quote == "due on the\nthird day"
    assert (citation.start, citation.end) == (7, 29)
