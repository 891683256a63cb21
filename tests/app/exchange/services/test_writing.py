"""Writing chats as files: all of them or none, under names that every system allows."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import pypdf
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.base.errors import DiskFull, ExportFailed
from app.exchange.pages.pdf import print_chats
from app.exchange.presenters.exporting import Exporting
from app.exchange.services.writing import load_chats, text_of, write_file, write_files
from app.exchange.values.export import ExportedChat, ExportOptions
from app.exchange.values.found import ReadyChat
from app.exchange.values.recognise import chats_in
from app.kit.look.fonts import text_font
from app.kit.look.theme import DARK, LIGHT, Theme, palette_of
from app.kit.tasks.tasks import Tasks
from tests.support.attached import attached
from tests.support.outcomes import outcome

from .conftest import Stores

RICH = """# Loaf & <b>more</b>

- one
  1. two

> quoted

```python
def bake() -> str:  # hot
    return "<loaf>"
```

| a | b |
|---|--:|
| 1 | 2 |

Then $x^2$ and [a link](https://example.org/?a=1&b=2), [bad](javascript:alert(1)),
![far](https://example.org/cat.png) <script>alert(1)</script> "quotes"

$$\\frac{1}{2}$$
"""


def no_pdf(_chats: Sequence[ExportedChat], _options: ExportOptions, _path: Path) -> None:
    raise AssertionError


def told_of(stores: Stores, ids: Sequence[str]) -> list[ExportedChat]:
    return load_chats(stores.chats, stores.folders, ids, stores.citing.check)


class Seen(HTMLParser):
    """The tags and addresses of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "br", "hr", "path", "rect"):
            self.open.append(tag)
        self.addresses += [str(value) for name, value in attrs if name in ("href", "src")]

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("path", "rect"):
            assert self.open.pop() == tag


def test_a_page_loads_and_runs_nothing(stores: Stores) -> None:
    chat_id = stores.chat('Is <img src=x onerror="a()"> safe?', RICH, reasoning="Let me *think*.")
    told = told_of(stores, [chat_id])
    page = text_of(told, ExportOptions("html"))
    seen = Seen(page)
    assert seen.open == []
    assert seen.addresses == ["https://example.org/?a=1&b=2", "https://example.org/cat.png"]
    assert not {"script", "img", "link", "iframe", "object"} & set(seen.tags)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;img src=x onerror=" in page
    assert '<span class="keyword">def</span>' in page
    assert seen.tags.count("svg") == 2
    assert 'aria-label="x^2"' in page
    assert "think" not in page
    assert "<details>" in text_of(told, ExportOptions("html", reasoning=True))


def test_a_pdf_has_words_and_numbers_on_its_pages(
    stores: Stores, tmp_path: Path, qtbot: QtBot
) -> None:
    ids = [stores.chat("How is it baked?", RICH * 8), stores.chat("And wine?", "Of grapes.")]
    exporting = Exporting(
        stores.chats, stores.folders, stores.citing.check, print_chats, tasks := Tasks()
    )
    path = tmp_path / "x.pdf"
    assert path == outcome(
        qtbot, lambda done, failed: exporting.to_file(ids, path, ExportOptions("pdf"), done, failed)
    )
    tasks.close()
    read = pypdf.PdfReader(tmp_path / "x.pdf").pages
    pages = [" ".join(page.extract_text().split()) for page in read]
    assert len(pages) > 3
    assert [page.rstrip().endswith(str(number)) for number, page in enumerate(pages, 1)] == [
        True
    ] * len(pages)
    assert "How is it baked?" in pages[0]
    assert "def bake" in "".join(pages)
    assert "Of grapes." in pages[-1]
    assert "Of grapes." not in pages[-2]
    assert sorted(path.name for path in tmp_path.glob("*.p*")) == ["x.pdf"]


@pytest.fixture
def palette(qapp: QApplication) -> Iterator[Callable[[Theme], None]]:
    """Yield a function that changes the theme until the test ends."""
    usual = qapp.palette()
    yield lambda theme: qapp.setPalette(palette_of(theme))
    qapp.setPalette(usual)


def test_paper_has_colours_of_its_own_whatever_the_theme(
    stores: Stores, tmp_path: Path, palette: Callable[[Theme], None]
) -> None:
    told = told_of(stores, [stores.chat("How is it baked?", RICH)])
    printed = []
    for theme in (LIGHT, DARK):
        palette(theme)
        print_chats(told, ExportOptions("pdf"), tmp_path / "x.pdf")
        contents = pypdf.PdfReader(tmp_path / "x.pdf").pages[0].get_contents()
        assert contents is not None
        printed.append(contents.get_data())
    assert printed[0] == printed[1]
    assert b"0.121568" in printed[1], "the ink"


def test_words_can_be_copied_out_of_paper_whatever_the_windows_font(
    stores: Stores, tmp_path: Path, qapp: QApplication
) -> None:
    before = qapp.font()
    qapp.setFont(text_font(13))
    told = told_of(stores, [stores.chat("On 2026-11-23, how?", "Well: so.")])
    print_chats(told, ExportOptions("pdf"), tmp_path / "x.pdf")
    qapp.setFont(before)
    said = " ".join(pypdf.PdfReader(tmp_path / "x.pdf").pages[0].extract_text().split())
    assert "On 2026-11-23, how?" in said
    assert "Well: so." in said


def test_branches_and_reasoning_are_told_where_they_are_wanted(stores: Stores) -> None:
    chat_id = stores.chat("Tea?", "Yes.", reasoning="It is five.\nSo:")
    first = stores.chats.path(chat_id)[1]
    stores.chats.save_answer(stores.chats.answer_again(chat_id, first.id))
    told = told_of(stores, [chat_id])
    plain = text_of(told, ExportOptions("md"))
    assert "Yes." not in plain
    everything = text_of(told, ExportOptions("md", reasoning=True, branches=True))
    assert everything.endswith(
        "---\n\n# Branch 1, after “Tea?”\n\n## Assistant\n\n"
        "> **Reasoning**\n>\n> It is five.\n> So:\n\nYes.\n"
    )
    assert "Branch 1, after “Tea?”" in text_of(told, ExportOptions("html", branches=True))


def test_several_chats_become_one_file_or_many(stores: Stores, tmp_path: Path) -> None:
    titles = ["con", "Con", "a/b: c?", "…", "nul.txt", "火" * 300]
    ids = [stores.chat(title, "Yes.") for title in titles]
    for chat_id, title in zip(ids, titles, strict=True):
        stores.chats.rename(chat_id, title)
    told = told_of(stores, ids)
    into = tmp_path / "new"
    names = [path.name for path in write_files(into, told, ExportOptions("md"), no_pdf)]
    assert names == [
        "con_.md", "Con_ 2.md", "a b c.md", "Chat.md", "nul_.txt.md", "火" * 66 + ".md",
    ]  # fmt: skip
    again = write_files(into, told[:1], ExportOptions("md"), no_pdf)
    assert again[0].name == "con_ 3.md"
    write_file(tmp_path / "all.json", told, ExportOptions("json"), no_pdf)
    _, found = chats_in((tmp_path / "all.json").read_text("utf-8"))
    read = [it for it in found if isinstance(it, ReadyChat)]
    assert [it.chat.id for it in read] == ids
    assert json.loads((tmp_path / "all.json").read_text("utf-8"))["format"] == "hearth-chats"


@pytest.mark.parametrize(
    ("number", "kind"), [(errno.ENOSPC, DiskFull), (errno.EROFS, ExportFailed)]
)
def test_nothing_is_left_of_what_could_not_be_written(
    stores: Stores,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    kind: type[Exception],
) -> None:
    told = told_of(stores, [stores.chat(it, "Yes.") for it in ("a", "b")])
    there = tmp_path / "there.md"
    there.write_text("of the user's")
    calls = 0
    fsync = os.fsync

    def fails_the_second_time(file: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise OSError(number, os.strerror(number))
        fsync(file)

    monkeypatch.setattr(os, "fsync", fails_the_second_time)
    with pytest.raises(kind) as raised:
        write_files(tmp_path / "new", told, ExportOptions("md"), no_pdf)
    assert str(tmp_path / "new") in str(raised.value)
    assert not (tmp_path / "new").exists()
    calls = 1
    with pytest.raises(kind):
        write_file(there, told, ExportOptions("md"), no_pdf)
    assert there.read_text() == "of the user's"
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []


def test_a_file_that_cannot_be_written_is_said(
    stores: Stores, tmp_path: Path, qtbot: QtBot
) -> None:
    chat_id = stores.chat("Hello", "Yes.")
    exporting = Exporting(
        stores.chats, stores.folders, stores.citing.check, print_chats, tasks := Tasks()
    )
    for kind in ("md", "pdf"):
        write = partial(
            exporting.to_file,
            [chat_id],
            tmp_path / "no such folder" / f"x.{kind}",
            ExportOptions(kind),
        )
        assert isinstance(outcome(qtbot, write), ExportFailed)
    tasks.close()


QUOTING = "It is “1,250 **euros**” (lease.pdf, page 1), “due in May” and “due in June”."


def quoting_chat(stores: Stores) -> str:
    lease = attached("lease.pdf", "The rent is due in May.", "It is 1,250 euros.")
    _, answer = stores.chats.ask(None, "How much?", files=[lease])
    stores.chats.save_answer(replace(answer, text=QUOTING, state="complete"))
    return answer.chat_id


def test_a_markdown_export_marks_quotes_in_their_place_and_lists_them(stores: Stores) -> None:
    text = text_of(told_of(stores, [quoting_chat(stores)]), ExportOptions("md"))
    assert (
        "It is “1,250 **euros**”↪¹ (lease.pdf, page 1), “due in May”✓² and “due in June”✗³." in text
    )
    assert text.rstrip().endswith(
        "Quotes, held against the files:\n\n"
        "- ↪¹ “1,250 euros”: not there, but in lease.pdf, page 2\n"
        "- ✓² “due in May”: found in lease.pdf, page 1\n"
        "- ✗³ “due in June”: not found in the files"
    )


def test_an_export_says_which_place_was_not_checked(stores: Stores) -> None:
    lease = attached("lease.pdf", "The rent is due in May.", "It is 1,250 euros.")
    _, answer = stores.chats.ask(None, "When?", files=[lease])
    text = "Clause 4.2 says:\n\n> The rent is due\n> in May."
    stores.chats.save_answer(replace(answer, text=text, state="complete"))
    said = told_of(stores, [answer.chat_id])
    export = text_of(said, ExportOptions("md"))
    assert "> The rent is due\n> in May.○¹" in export
    words = "words found in lease.pdf, page 1, but the named place could not be checked"
    assert f"- ○¹ “The rent is due in May.”: {words}" in export
    page = text_of(said, ExportOptions("html"))
    assert '<sup class="place_unchecked">○</sup>' in page
    assert words in page


def test_a_web_page_marks_quotes_in_their_place_and_lists_them(stores: Stores) -> None:
    page = text_of(told_of(stores, [quoting_chat(stores)]), ExportOptions("html"))
    assert '<span class="found">“due in May”</span><sup class="found">✓</sup>' in page
    assert '<span class="not_found">“due in June”</span><sup class="not_found">✗</sup>' in page
    assert (
        '<strong>euros</strong></span><span class="elsewhere">”</span><sup class="elsewhere">↪'
        in page
    )
    assert "“1,250 euros”: not there, but in lease.pdf, page 2</li>" in page


def test_a_pdf_has_the_signs_of_the_verdicts(
    stores: Stores, tmp_path: Path, qapp: QApplication
) -> None:
    path = tmp_path / "quotes.pdf"
    told = told_of(stores, [quoting_chat(stores)])
    write_file(path, told, ExportOptions("pdf"), print_chats)
    text = "".join(page.extract_text() for page in pypdf.PdfReader(path).pages)
    assert "✗ “due in June”: not found in the" in " ".join(text.split())


def test_a_chat_without_files_lists_no_quotes(stores: Stores) -> None:
    chat_id = stores.chat("What does he say?", "He says “nothing of the kind”.")
    for kind in ("md", "html"):
        text = text_of(told_of(stores, [chat_id]), ExportOptions(kind))
        assert "held against" not in text
        assert "quotes" not in text.partition("</style>")[2]
