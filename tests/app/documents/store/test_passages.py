"""Finding passages by the words of a question, in German, English and other scripts."""

from __future__ import annotations

import time

import pytest

from app.documents.store.passages import find_passages
from app.documents.values.documents import passages
from tests.support.attached import attached

PAGES = (
    "The lease begins on 1 March and may be terminated with three months' notice.",
    "Die Miete beträgt 840 Euro im Monat, zahlbar bis zum dritten Werktag.",
    "Haustiere dürfen nur mit Zustimmung der Vermieterin gehalten werden.",
    "The deposit of 2,520 euros is returned within six months.",
    "Schönheitsreparaturen übernimmt die Mieterin nach der Straßenordnung nicht.",
)
FILLERS = tuple(f"This page, number {number}, is left empty." for number in range(12))


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("How long is the notice for termination?", 0),
        ("Wie hoch ist die monatliche Miete?", 1),
        ("Darf ich ein Haustier halten?", 2),
        ("When do I get my deposits back?", 3),
        ("Wer macht die Schoenheitsreparatur und die schönheitsreparatur?", 4),
        ("2,520", 3),
    ],
)
def test_the_passage_that_answers_comes_first(question: str, page: int) -> None:
    everything = list(passages(attached("lease.pdf", *PAGES).document, 1000))
    assert find_passages(everything, question, 5)[0][0] == page


def test_a_question_without_telling_words_finds_by_what_it_has() -> None:
    everything = list(passages(attached("a.pdf", "who are you", "nothing").document, 1000))
    assert find_passages(everything, "Who are you?", 5)[0][0] == 0
    assert find_passages(everything, '?! "*', 5) == []
    assert find_passages(everything, "zebra NEAR(x) OR -", 5) == []


def test_a_passage_weighs_as_much_as_it_has_of_the_question() -> None:
    everything = list(passages(attached("lease.pdf", *PAGES, *FILLERS).document, 1000))
    ((_, whole), *_) = find_passages(everything, "deposit returned within six months", 5)
    ((_, stray), *_) = find_passages(everything, "deposit of zinc on tubular bells", 5)
    ((_, common), *_) = find_passages(everything, "page zinc tubular", 5)
    assert whole > 0.8
    assert 0.01 < stray < 0.2
    assert common < 0.01


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("Part QX-77 is made of brass.", ("QX77", "qx77", "QX 77", "qx-77", "QX_77", "QX/77")),
        ("Part QX77 is made of brass.", ("QX-77", "QX 77", "qx 77", "What is qx-77 made of?")),
        ("Part QX 77 is made of brass.", ("QX77", "QX-77", "qx77")),
        ("The seal QX-77-B leaks.", ("QX77B", "QX77-B", "QX 77 B", "QX-77B")),
        ("The seal QX77B leaks.", ("QX-77-B", "QX 77 B", "QX77-B")),
        ("Folded to A 4, then again.", ("A4", "A-4", "a4")),
        ("Certified as DO-178.", ("DO178", "DO 178")),
        ("A bolt of 10 mm.", ("10mm",)),
        ("A bolt of 10mm.", ("10 mm", "10-mm")),
        ("\uff31\uff38\uff17\uff17 is wide.", ("QX-77",)),
    ],
)
def test_a_code_is_found_however_it_is_written(text: str, questions: tuple[str, ...]) -> None:
    others = ("QX-78 and XQ 77.", "QX is no code.", "77 of them.", "Chapter 4.", "178 days, 10 km.")
    everything = list(passages(attached("a.pdf", *others, text, *FILLERS).document, 1000))
    for question in questions:
        ((first, weight), *_) = find_passages(everything, question, 5)
        assert (first, weight) == (len(others), 1.0), question


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("Est-ce que je peux utiliser le balcon pour la cuisine ?", "Le balcon reste fermé."),
        ("¿Cuándo se puede usar el balcón y por qué?", "El balcón está cerrado."),
        ("Quando si può usare il balcone e perché?", "Il balcone resta chiuso."),
        ("Quando é que se pode usar a varanda?", "A varanda fica fechada."),
        ("Wanneer mag ik het balkon van het huis gebruiken?", "Het balkon blijft dicht."),
    ],
)
def test_words_that_say_nothing_decide_in_no_language(question: str, right: str) -> None:
    stray = "Que est-ce que je le la pour quando si può é que se pode mag ik het van por qué el."
    pages = (stray, "The lease.", right, *FILLERS)
    everything = list(passages(attached("a.pdf", *pages).document, 1000))
    assert find_passages(everything, question, 5)[0][0] == 2


CHINESE = "押金是八千元。合同终止后六个月之内退还押金。"
JAPANESE = "契約の終了日は三月三十一日です。敷金は二か月分です。"
THAI = "ผู้เช่าต้องชำระค่าเช่าก่อนวันที่สามของเดือน"


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("押金", CHINESE),
        ("我的押金是什么时候可以退还的吗", CHINESE),
        ("契約の終了はいつですか", JAPANESE),
        ("敷金は何か月分ですか", JAPANESE),
        ("ค่าเช่าต้องชำระเมื่อไร", THAI),
        ("使用Python编程", "我们使用Python编程。"),
        ("Python", "我们使用Python编程。"),
        ("iPhone", "最新のiPhone価格は十万円です。"),
        ("価格", "最新のiPhone価格は十万円です。"),
        ("ＩＰＨＯＮＥの価格", "最新のiPhone価格は十万円です。"),
        ("税は何パーセントですか", "消費税の率は十パーセントです。"),
        ("ﾊﾟﾝの値段", "パンの値段は百円です。"),
        ("ガス代", "カ\u3099ス代は毎月払います。"),
        ("퇴직금", "\u1110\u116c\u110c\u1175\u11a8\u1100\u1173\u11b7은 두 주 안에 지급한다."),
        ("계약을 해지", "계약은 한 달 전에 해지할 수 있다."),
        ("押金在哪里", "租客支付押\n金八千元。"),
    ],
)
def test_words_are_found_in_scripts_without_spaces(question: str, right: str) -> None:
    others = (
        "我的房子是在哪里的你可以什么时候来的吗", "これは何ですか。いつですか。どこですか。",
        "เมื่อไร ที่ไหน อย่างไร", "이것은 무엇입니까? 언제입니까?", "これはペンです。", "我们是朋友。",
    )  # fmt: skip
    everything = list(passages(attached("a.pdf", *others, right, *FILLERS).document, 1000))
    assert find_passages(everything, question, 5)[0][0] == len(others)


@pytest.mark.parametrize("question", ["Wat is de huurprijs?", "量子计算机的历史是什么"])
def test_words_that_are_nowhere_find_nothing(question: str) -> None:
    everything = list(passages(attached("a.pdf", *PAGES, CHINESE, *FILLERS).document, 1000))
    assert all(weight < 0.1 for _, weight in find_passages(everything, question, 5))


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("Which force does my wrench need when I mount AX-4711 again?", 0),
        ("Mein Programm sagt heute früh DISK_FULL, was kann ich da machen?", 1),
        ("Wie viel MwSt muss im Jahr 2031 auf dieser Quittung stehen?", 2),
    ],
)
def test_a_passage_that_has_what_the_question_names_weighs_most(question: str, page: int) -> None:
    pages = ("AX-4711 takes 40 Nm.", "DISK_FULL: leeren.", "Die MwSt ist 19.", "AX-4712 takes 50.")
    everything = list(passages(attached("a.pdf", *pages, *PAGES, *FILLERS).document, 1000))
    ((first, weight), *others) = find_passages(everything, question, 5)
    assert (first, weight) == (page, 1.0)
    assert all(weight < 0.5 for _, weight in others)


def test_what_many_passages_name_says_little() -> None:
    pages = [f"X200, chapter {number}." for number in range(20)]
    everything = list(passages(attached("a.pdf", *pages, *FILLERS).document, 1000))
    question = "Where does the X200 say how it is cleaned with vinegar?"
    assert all(weight < 0.5 for _, weight in find_passages(everything, question, 5))


@pytest.mark.parametrize(
    "question", ["a1" * 50_000, "_a1" * 50_000, "押金" * 50_000, "QX 77 " * 20_000, "กี่" * 50_000]
)
def test_an_endless_question_is_no_trap(question: str) -> None:
    """Work that grows with the square of the question's length would take hours here."""
    everything = list(passages(attached("a.pdf", *PAGES, CHINESE, question).document, 1000))
    began = time.process_time()
    find_passages(everything, question, 5)
    assert time.process_time() - began < 60


def test_a_passage_ends_where_a_paragraph_does_and_loses_nothing() -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "word " * 60 for number in range(40))
    file = attached("a.txt", text)
    found = list(passages(file.document, 1000))
    assert "".join(it.text for it in found) == text
    assert all(it.text.endswith("\n\n") for it in found[:-1])
    assert all(len(it.text) <= 1000 for it in found)
    assert all(text[it.span.start : it.span.end] == it.text for it in found)


def test_a_text_without_any_space_is_divided_too() -> None:
    found = list(passages(attached("a.txt", "x" * 2500).document, 1000))
    assert [len(it.text) for it in found] == [1000, 1000, 500]


@pytest.mark.parametrize(
    ("sentence", "stop"),
    [
        ("租客必须在每月第三个工作日之前、把租金汇入房东的银行账户。", "。"),
        ("使用後はノズルを濡れた布で拭き、蒸気を出してください。", "。"),
        ("សួនច្បារបើកពីម៉ោងប្រាំមួយព្រឹករហូតដល់ម៉ោងប្រាំពីរ។", "។"),
        ("ကျောင်းကိုနံနက်ရှစ်နာရီခွဲတွင်ဖွင့်ပြီးညနေပိတ်သည်။", "။"),
    ],
)
def test_a_passage_without_spaces_ends_with_a_sentence(sentence: str, stop: str) -> None:
    text = sentence * 60
    found = list(passages(attached("a.txt", text).document, 1000))
    assert "".join(it.text for it in found) == text
    assert all(it.text.endswith(stop) for it in found)
    assert all(250 <= len(it.text) <= 520 for it in found[:-1]), "as many tokens as elsewhere"


def test_lines_that_end_within_words_do_not_end_a_passage() -> None:
    lines = (
        "租客必须在每月第三个工作日之前把租金汇入房东的银\n行账户。逾期付款的、每日收取滞纳\n金、"
    )
    found = list(passages(attached("a.txt", lines * 40).document, 1000))
    assert all(it.text.endswith("。") for it in found[:-1])


def test_no_vowel_is_cut_off_its_letter() -> None:
    found = list(passages(attached("a.txt", "xกี่" * 1500).document, 1000))
    assert all(it.text[0] in "xก" for it in found)
