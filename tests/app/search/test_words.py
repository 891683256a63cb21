"""Splitting texts into words, parsing queries, and finding places in a text."""

from __future__ import annotations

import time

import pytest

from app.chats.search.values.snippets import marks_in, snippet
from app.search.folding import fold, fold_each
from app.search.words import Term, match_of, parse, words_of


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Größe ÉTÉ", "grosse ete"),
        ("e\u0301te\u0301", "ete"),
        ("Łódź Ørsted Æther", "lodz orsted aether"),
        ("\uff48\uff41\uff4c\uff46 \uff76\uff85", "half カナ"),
        ("がぎ 한국", "がぎ 한국"),
        ("“so” — it’s", " so    it s"),
        ("ΜΆΪΟΣ Ёлка", "μαιοσ елка"),
        ("a\0b\tc\ud800d", "a\0b\tc d"),
    ],
)
def test_folding_leaves_what_people_type(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_each_folded_character_knows_where_it_comes_from() -> None:
    assert fold_each("aßé\u0301b") == ("asseb", [0, 1, 1, 2, 4])


@pytest.mark.parametrize(
    ("typed", "match"),
    [
        ("hello wor", '"hello" * AND "wor" *'),
        ("wor hello hello", '"wor" * AND "hello" *'),
        ('"the quick" bro', '"the quick" AND "bro" *'),
        ('"the quick bro', '"the quick bro" *'),
        ("„der schnelle“ fu", '"der schnelle" AND "fu" *'),
        ("a", '"a"'),
        ("c++", '"c"'),
        ("get_user_na", '"get user na" *'),
        ("getUserName", '"getusername" *'),
        ("std::vector<int>", '"std vector int"'),
        ("東京タワー", '"東京 京タ タワ ワー"'),
        ("東", '"東" *'),
        ("iPhone15買う", '"iphone15" AND "買う"'),
        ("", ""),
        (' "" \0 ""', ""),
    ],
)
def test_what_is_typed_is_words_and_never_syntax(typed: str, match: str) -> None:
    assert match_of(parse(typed)) == match


def test_a_query_has_an_end() -> None:
    terms = parse(" ".join(f"{number}x" * 100 for number in range(100)))
    assert len(terms) == 12
    assert all(len(word) <= 64 for term in terms for word in term.words)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("plain words only", ""),
        ("the getUserName call", "get user name username"),
        ("the get_user_name call", "get user name getusername username"),
        ("parseHTTPResponse", "parse http response httpresponse"),
        ("MAX_SIZE", "max size maxsize"),
        ("McDonald", "mc donald"),
        ("a" * 200 + "B" * 200, ""),
    ],
)
def test_names_have_parts(text: str, parts: str) -> None:
    assert words_of(text)[1] == parts


def test_scripts_without_spaces_are_cut_into_pairs() -> None:
    assert words_of("見る東京 ok")[0].split() == ["見る", "る東", "東京", "京", "ok"]
    assert words_of("สวัสดี")[0].split()[0] == "สว"


@pytest.mark.parametrize("text", ["aB" * 100_000, "_a" * 100_000, "東" * 100_000, "é" * 100_000])
def test_a_text_of_one_endless_word_is_no_trap(text: str) -> None:
    """Work that grows with the square of the text's length would take hours here."""
    began = time.process_time()
    words_of(text)
    snippet(text, parse("zz 京"))
    assert time.process_time() - began < 60


@pytest.mark.parametrize(
    ("text", "typed", "marked"),
    [
        ("The quick brown fox", "qui FOX", ["qui", "fox"]),
        ("barfoo foobar", "foo", ["foo"]),
        ("call getUserName now", "username", ["UserName"]),
        ("call getUserName now", "get_user", ["getUser"]),
        ("call get_user_name", "user", ["user"]),
        ("eine Straße", "strasse", ["Straße"]),
        ("cafe\u0301s here", "cafe", ["cafe\u0301"]),
        ("近くの東京タワーです", "東京タワー", ["東京タワー"]),
        ("say the, quick thing", '"the quick"', ["the, quick"]),
        ("nothing of it", "other", []),
        ("aa aaa", "aa aaa", ["aa", "aaa"]),
    ],
)
def test_marks_are_where_the_words_stand(text: str, typed: str, marked: list[str]) -> None:
    marks = marks_in(text, parse(typed))
    assert [text[start:end].casefold() for start, end in marks] == [it.casefold() for it in marked]


def test_a_snippet_is_one_short_line_around_the_first_word() -> None:
    text = "before " * 100 + "\n\nthe\tneedle  stands\nhere" + " after" * 100
    shown, marks = snippet(text, parse("needle"))
    assert "\n" not in shown
    assert len(shown) < 165
    assert shown.startswith("…before")
    assert shown.endswith("…")
    assert [shown[start:end] for start, end in marks] == ["needle"]
    assert snippet("short", (Term(("none",), False),)) == ("short", ())
