"""No text of the window stays in English: a language of brackets shows every gap."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication

from app.base.language import use_catalogue
from app.base.shipped import GUIDES, TRANSLATIONS
from app.help.services.guides import Guides
from app.kit.look.language import Translator
from app.models.discover.values.catalogue import load_catalogue
from resources.translations.make.update import read, translations
from tests.e2e.looks import contents
from tests.e2e.looks.house import opened, settle
from tests.e2e.looks.pages import PAGES
from tests.e2e.looks.ways import SEARCHED
from tests.e2e.looks.words import words_of
from tests.support.scripted_hub import RESOURCES

OPEN, CLOSE = "⟦", "⟧"

NAMES = """
Hearth Hub LM Studio Jan GPT4All Ollama Open WebUI ChatGPT llama.cpp vLLM GGUF MTP KV Vulkan CUDA Qt
huggingface.co English Deutsch f16 q8_0 q4_0 Token Markdown HTML PDF JSON SHA-256 Min-p Top-k Top-p
Ctrl Shift Alt Enter Return Esc Del Backspace Space PgUp PgDown Home End Left Right Up Down Tab
Linux Eight-core processor python llama gpt2 Gemma LFM Qwen gemma apache mit ada bea guide
near team
""".split()
"""Words that are the same in every language, and keys, which Qt spells in its own language."""


ASKED = (
    "What is a fair price for a used bicycle?", "And with new tyres?", "Travel",
    "Compare it with one that is new, in a small table, please.", "Kitchen and garden",
    "Can the mean be had without keeping the numbers?", "Yes, with a running total.", "About “",
    "The model does not fit into memory any more.", "Another program has taken 9 GB",
    "Close that program, or choose a smaller context", "It guesses ahead.",
    "A scripted drafter could guess ahead.", "A scripted engine drafts nothing.",
    "How many litres does a bath take?",
    "The model could not be loaded.", "The file ends before its last tensor",
    "Download it again, or choose another model.", "The disk has 12 GB free.",
    "vLLM takes 24 GB while it is made.", "Free 12 GB, or move Hearth’s data",
)  # fmt: skip
"""Questions and answers on the pages."""

FILES = (
    contents.REPORT, contents.NOTES, contents.PHOTO, contents.LEASE, contents.SCAN, "lease.md",
    contents.COLLECTION, contents.TERM, contents.FOLDER, "a.bin",
)  # fmt: skip
"""Names of the user's files, folders and collections, and a heading."""

_BEGIN = 24
"""The number of characters by which a text is recognised, even if it is cut off."""


class Bracketed:
    """A catalogue that puts each translated text into brackets."""

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known

    def gettext(self, message: str, /) -> str:
        return f"{OPEN}{message}{CLOSE}" if message in self._known else message


@pytest.fixture
def bracketed(qapp: QApplication) -> Iterator[None]:
    translator = Translator()
    use_catalogue(Bracketed(frozenset(translations(read(TRANSLATIONS / "hearth_de.po")))))
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.German))
    qapp.installTranslator(translator)
    yield
    qapp.removeTranslator(translator)
    use_catalogue(None)
    QLocale.setDefault(before)


def outside(text: str) -> str:
    """Return the text outside all brackets."""
    depth, found = 0, []
    for character in text:
        depth += (character == OPEN) - (character == CLOSE)
        found.append(character if depth == 0 and character != CLOSE else " ")
    return "".join(found)


def theirs() -> list[str]:
    """Return patterns of the user's own words, which are not translated, the longest first."""
    texts: list[str] = [contents.RICH, contents.REASONING, *contents.TITLES, *ASKED]
    texts += [contents.FILES_ASKED, contents.PASTED, contents.OTHER_COLLECTION, contents.LEASE_TEXT]
    texts += re.findall("“[^”]+”", contents.CITED)
    for assistant in contents.ASSISTANTS:
        texts += [assistant.name, assistant.system_prompt, assistant.greeting]
    for prompt in contents.PROMPTS:
        texts += [prompt.name, prompt.text]
    begins = (" ".join(text.split())[:_BEGIN] for text in texts if text)
    patterns = [rf"{re.escape(words)}[^{OPEN}{CLOSE}]*" for words in begins]
    names = [*FILES, *listed_names()]
    return sorted([*patterns, *map(re.escape, names)], key=len, reverse=True)


def listed_names() -> Iterator[str]:
    """Yield the names of the models in Hearth's list, which are the same in every language."""
    catalogue = load_catalogue((RESOURCES / "catalogue.json").read_text(encoding="utf-8"))
    yield from (size.name for size in catalogue.sizes.values())


class OfGuides:
    """The words of the guides that pages show, which are English in every language."""

    def __init__(self, guides: Guides) -> None:
        self._titles = {guide.title for guide in guides.all}
        self._lines = {guide.summary for guide in guides.all}
        self._lines |= {found.snippet for found in guides.search(SEARCHED)}

    def taken_from(self, text: str) -> str:
        """Remove whole titles and whole lines; the page's own words stay."""
        for line in self._lines:
            text = text.replace(line, " ")
        return "" if text.strip(" :") in self._titles else text


@pytest.mark.exhaustive
@pytest.mark.timeout(600)
def test_every_page_is_translated(qapp: QApplication, bracketed: None, tmp_path: Path) -> None:
    left: dict[str, str] = {}
    known, guides = theirs(), OfGuides(Guides(GUIDES))
    for full in (False, True):
        with opened(qapp, tmp_path / f"hearth-{full}", full=full) as house:
            for page in (page for page in PAGES if page.full is full):
                shown = page.show(house)
                settle()
                for text, place in words_of(shown):
                    rest = " ".join(guides.taken_from(text).split())
                    for words in known:
                        rest = re.sub(words, " ", rest)
                    rest = outside(rest)
                    rest = re.sub(r"\S*[\d_/\\@]\S*", " ", rest)
                    for word in re.findall(r"[^\W\d_][\w’'.-]*", rest):
                        if len(word) > 2 and word.strip(".") not in NAMES:
                            left.setdefault(f"{place}: {text[:150]}", f"{page.name}: {word}")
                house.tidy()
                page.leave(house)
                settle()
    assert not left, "\n".join(f"{why} in {where}" for where, why in left.items())
