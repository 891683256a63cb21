"""Searching chats: matches, their order, and keeping the index up to date."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.db import Database
from app.base.errors import SearchBroken
from app.chats.history.store.branches import BranchStore
from app.chats.history.store.chat_lists import ChatLists
from app.chats.history.store.chats import ChatStore
from app.chats.search.store.search import Search
from app.chats.search.store.search_index import LAYOUT, SearchBacklog, SearchIndex


class Found:
    """A search that updates its index before each query."""

    def __init__(self, path: Path, database: Database) -> None:
        self.path = path
        self.index = SearchIndex(path, database)
        self.search = Search(self.index, database)

    def __call__(self, words: str, limit: int = 50) -> list[str]:
        """Return the text of each hit, with the matches in brackets and a # after titles."""
        while self.index.step():
            pass
        return [
            _bracketed(hit.snippet, hit.marks) + ("" if hit.message_id else "#")
            for hit in self.search.find(words, limit)
        ]


def _bracketed(text: str, marks: tuple[tuple[int, int], ...]) -> str:
    for start, end in reversed(marks):
        text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
    return text


@pytest.fixture
def found(tmp_path: Path, database: Database) -> Iterator[Found]:
    found = Found(tmp_path / "search.db", database)
    yield found
    found.index.close()


def answered(chats: ChatStore, question: str, text: str, chat: str | None = None) -> str:
    _, answer = chats.ask(chat, question)
    chats.save_answer(replace(answer, text=text, state="complete"))
    return answer.chat_id


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The quick brown fox", "bro"),
        ("Die Autobahn ist voll", "bahn voll"),
        ("Die Autobahn ist voll", "tobah"),
        ("Schlüsselübergabe um acht", "ubergabe"),
        ("The quick brown fox", "fox quick"),
        ("The quick brown fox", '"quick brown"'),
        ("Ein Café in Köln", "cafe koln"),
        ("Ein Cafe in Koln", "CAFÉ KÖLN"),
        ("今日は東京タワーに行きました。", "東京"),
        ("今日は東京タワーに行きました。", "タワーに行き"),
        ("今日は東京タワーに行きました。", "行"),
        ("我们在学习人工智能", "人工智能 学习"),
        ("한국어를 배우다", "한국"),
        ("ผมชอบกินข้าว", "กินข้าว"),
        ("call getUserName(id)", "getUserName"),
        ("call getUserName(id)", "getusern"),
        ("call getUserName(id)", "username"),
        ("call get_user_name(id)", "get_user_name"),
        ("call get_user_name(id)", "getUserName"),
        ("call get_user_name(id)", "user_name"),
        ("std::vector<int> v;", "std::vector"),
        ("path/to/file.txt", "file.txt"),
        ("version 3.11.4 is out", "3.11"),
        ("100% of it", "100%"),
        ("one\0two", "two"),
        ("mail bob@example.com", "bob@example.com"),
        ("Привет, мир", "прив"),
    ],
)
def test_it_is_found(chats: ChatStore, found: Found, text: str, words: str) -> None:
    answered(chats, "Q", text)
    answered(chats, "Q", "something else")
    hits = found(words)
    assert len(hits) == 1
    assert "[" in hits[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The quick brown fox", "fox wolf"),
        ("The quick brown fox", '"brown quick"'),
        ("The quick brown fox", "0_"),
        ("東京と京都", "都京"),
        ("get_user", "get_users"),
    ],
)
def test_it_is_not_found(chats: ChatStore, found: Found, text: str, words: str) -> None:
    answered(chats, "Q", text)
    assert found(words) == []


def test_titles_come_first_then_the_newest_messages(chats: ChatStore, found: Found) -> None:
    answered(chats, "About apples", "They are old")
    answered(chats, "Fruit", "apples and pears")
    answered(chats, "More fruit", "more apples")
    assert found("apple") == [
        "About [apple]s#",
        "more [apple]s",
        "[apple]s and pears",
    ]
    assert found("apple", 2) == ["About [apple]s#", "more [apple]s"]


def test_a_title_does_not_hide_a_first_message_that_was_edited(
    chats: ChatStore, found: Found, database: Database
) -> None:
    chat = answered(chats, "About apples", "They are old")
    branches = BranchStore(database)
    _, answer = branches.ask_instead(chats.path(chat)[0], "About pears")
    chats.save_answer(replace(answer, text="They, too", state="complete"))
    assert found("apples") == ["About [apples]#", "About [apples]"]
    assert found("pears") == ["About [pears]"]


def test_one_chat_does_not_fill_the_list(chats: ChatStore, found: Found) -> None:
    answered(chats, "Fruit", "one apple")
    chat = answered(chats, "Many", "apple 0")
    for number in range(1, 20):
        answered(chats, "Q", f"apple {number}", chat)
    assert found("apple") == ["[apple] 19", "[apple] 18", "[apple] 17", "one [apple]"]


def test_a_hit_names_its_chat_and_message(chats: ChatStore, found: Found) -> None:
    chat = answered(chats, "Question", "the needle")
    found("")
    (hit,) = found.search.find("needle", 9)
    assert (hit.chat.id, hit.message_id) == (chat, chats.path(chat)[-1].id)


def test_the_archive_is_searched_and_the_trash_is_not(
    chats: ChatStore, found: Found, database: Database
) -> None:
    archived = answered(chats, "Q", "needle one")
    deleted = answered(chats, "Q", "needle two")
    lists = ChatLists(database)
    lists.set_archived((archived,), True)
    chats.delete(deleted)
    assert found("needle") == ["[needle] one"]
    chats.undelete(deleted)
    assert found("needle") == ["[needle] two", "[needle] one"]


def test_the_index_follows_the_chats(chats: ChatStore, found: Found, database: Database) -> None:
    _, answer = chats.ask(None, "begin")
    chats.save_answer(replace(answer, text="half of a needle"))
    assert found("needle") == [], "not while it is written"
    chats.save_answer(replace(answer, text="a needle, whole", state="complete"))
    assert found("needle") == ["a [needle], whole"]
    chats.save_answer(replace(answer, text="a pin", state="complete"))
    assert found("needle") == []
    assert found("pin") == ["a [pin]"]
    chats.rename(answer.chat_id, "Sewing")
    assert found("sewing") == ["[Sewing]#"]
    with database.write() as db:
        db.execute("UPDATE messages SET deleted = 1.0 WHERE id = ?", (answer.id,))
    assert found("pin") == []
    chats.delete(answer.chat_id)
    chats.purge(answer.chat_id)
    assert found("sewing") == []
    assert found.index.backlog() == SearchBacklog(0, 1.0)
    with database.read() as db:
        assert db.execute("SELECT count(*) FROM changes").fetchone()[0] == 0, "the log is used up"


def test_what_was_purged_is_not_in_the_file_of_the_index(chats: ChatStore, found: Found) -> None:
    chat = answered(chats, "Q", "xylophonesecret kept")
    answered(chats, "Q", "this is kept")
    assert found("phonesecret")
    chats.delete(chat)
    chats.purge(chat)
    found("")
    found.index.close()
    with closing(sqlite3.connect(found.path)) as db:
        rows = db.execute("SELECT * FROM messages_content").fetchall()
        rows += db.execute("SELECT * FROM terms").fetchall()
    assert "xylophonesecret" not in str(rows)
    assert "kept" in str(rows)
    assert b"xylophonesecret" not in found.path.read_bytes(), "nor in what the file has left over"


@pytest.mark.parametrize("in_the_way", ["folder", "full folder", "pipe", "link"])
def test_what_lies_in_the_place_of_the_index_keeps_nobody_from_searching(
    chats: ChatStore, database: Database, tmp_path: Path, in_the_way: str
) -> None:
    path = tmp_path / "search.db"
    if in_the_way == "pipe":
        if not hasattr(os, "mkfifo"):
            pytest.skip("there are no such pipes here")
        os.mkfifo(path)
    elif in_the_way == "link":
        path.symlink_to(tmp_path / "nowhere" / "search.db")
    else:
        path.mkdir()
    if in_the_way == "full folder":
        (path / "mine").write_text("of the user's")
    answered(chats, "Q", "needle")
    found = Found(path, database)
    assert found("needle") == ["[needle]"]
    found.index.close()
    assert path.is_file() or (path / "mine").read_text() == "of the user's"


def test_whole_words_come_before_parts_of_words(chats: ChatStore, found: Found) -> None:
    answered(chats, "Q", "die Bahn")
    answered(chats, "Q", "die Autobahn")
    assert found("bahn") == ["die [Bahn]", "die Auto[bahn]"]
    assert found("bahn", 1) == ["die [Bahn]"]


def test_an_older_history_is_read_from_its_newest_end(
    chats: ChatStore, database: Database, tmp_path: Path
) -> None:
    for number in range(700):
        chats.ask(None, f"needle n{number}")
    found = Found(tmp_path / "search.db", database)
    assert found.index.backlog() == SearchBacklog(0, 0.0)
    while "n699" not in str(found.search.find("needle", 1)):
        assert found.index.step()
    assert found.search.find("n0", 9) == []
    assert 0.0 < found.index.backlog().share < 1.0
    assert found("n5", 1) == ["needle [n5]99#"]
    assert found("n0") == ["needle [n0]#"], "the oldest, too"
    assert found.index.backlog() == SearchBacklog(0, 1.0)
    assert not found.index.step()
    found.index.close()


def test_it_goes_on_where_it_was_left(chats: ChatStore, database: Database, tmp_path: Path) -> None:
    for number in range(600):
        chats.ask(None, f"n{number}")
    found = Found(tmp_path / "search.db", database)
    found.index.step()
    share = found.index.backlog().share
    found.index.close()
    chats.ask(None, "between")
    found = Found(tmp_path / "search.db", database)
    assert found.index.backlog().share == share > 0.0
    assert found.index.backlog().changes > 0
    assert found("between") == ["[between]#"]
    assert found("n0") == ["[n0]#"]
    found.index.close()


@pytest.mark.parametrize("harm", ["text", "torn", "layout"])
def test_a_file_of_no_use_is_made_again(
    chats: ChatStore, database: Database, tmp_path: Path, harm: str
) -> None:
    path = tmp_path / "search.db"
    answered(chats, "Q", "needle")
    found = Found(path, database)
    assert found("needle") == ["[needle]"]
    found.index.close()
    if harm == "text":
        path.write_text("no database " * 1000)
    elif harm == "torn":
        path.write_bytes(path.read_bytes()[:5000])
    else:
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA user_version={LAYOUT + 1}")
    found = Found(path, database)
    try:
        hits = found("needle")
    except SearchBroken:
        hits = found("needle")
    assert hits == ["[needle]"]
    found.index.close()


def test_another_database_in_its_place_is_noticed(
    chats: ChatStore, found: Found, tmp_path: Path
) -> None:
    answered(chats, "Q", "needle")
    assert found("needle")
    other = Database(tmp_path / "other.db")
    strange = Found(found.path, other)
    assert strange("needle") == []
    strange.index.close()
    other.close()


def test_no_query_is_an_error(chats: ChatStore, found: Found) -> None:
    answered(chats, "Title (of) it", 'AND OR NOT NEAR("x") words:it * ^ + - {a b}: c \\')
    found("")
    hostile = [
        '"', '""', '"""', "'", "a'; DROP TABLE chats; --", "NEAR(a b)", "words:it", "a AND", "OR",
        "NOT", "*", "a*b", "^a", "{a b}:c", "(((", "\\", "%", "_", "\0", "a\0b", "\ud800",
        "\U0010ffff", "é\u0301" * 500, "x" * 100_000, "x " * 10_000, '"' * 999, "-rowid:1",
        "\u202e\u200d\ufeff", "東" * 5_000, "a\n\r\tb", "\uff11\uff12", "🍕", "[", "NULL",
    ]  # fmt: skip
    for words in hostile:
        found.search.find(words, 5)
    signs = "\"'*()^:+-{}\\\0 aAND東é_\ud800%\n,;"
    draw = random.Random(5)
    for _ in range(500):
        found.search.find("".join(draw.choices(signs, k=draw.randint(1, 30))), 5)
    assert found("near words") == ['AND OR NOT [NEAR]("x") [words]:it * ^ + - {a b}: c \\']
