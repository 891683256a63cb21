"""The share of 200 questions about made documents whose passage is among the first five hits.

    python -m tests.bench.retrieval [MODEL.gguf] [--first] [--missed]
                                    [--asked | --names | --scripts]

With an embedding model (`tests/bench/real_embedder.py` makes one), the search of collections is
measured as well, by words and vectors together. --first asks the questions in their first wording.
--missed lists those without a hit.

--asked asks 200 questions about other documents, in `retrieval/asked/`. They were written as people
ask from memory, with or without a document's own words, names and numbers, and by a person who did
not know how the search works; none was changed since. --names asks 120 more questions: each
contains the code of one of 500 paragraphs that only differ in their code, and no other word of the
paragraph.

--scripts asks questions in Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese, Hindi and French;
each paragraph of `retrieval/scripts/` is a separate file there. They were written together with the
search, to check that it finds words without spaces at all, and measure nothing finer.

The documents lie in `retrieval/`, eight in English and eight in German, each with its questions
after the paragraph that answers them. The questions were written by hand in other words than the
paragraph's. Two more files are traps: they mention the same things and answer nothing. The guides
of Hearth are the rest of the haystack.

At first, 44 questions did not name their subject: it was a pronoun, a word for anything, or left
out ("How was somebody injured by it?"), so that no reader could have known the document. Now they
name it, in words that are not in the paragraph, and nothing else was changed; the first wording is
below each, after `?=`. They were chosen by reading alone, before any of them was searched for.

The documents have two halves: one to tune the search, and one to judge it.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from app.base.db import Database
from app.base.shipped import STARTER, STARTER_DRAFTER
from app.documents.collections.services.embedding import Embedding
from app.documents.collections.services.knowledge import Knowledge
from app.documents.collections.store.collections import CollectionStore
from app.documents.reading.reader import DocumentReader
from app.documents.store.passages import find_passages
from app.documents.values.documents import (
    PASSAGE,
    AttachedFile,
    Document,
    DocumentKind,
    Location,
    LocationKind,
    Passage,
    Section,
    passages,
)
from app.models.library.services.fitting import Fitting
from app.models.library.services.library import Library
from app.models.library.store.load_records import LoadStore
from app.models.library.store.models import ModelStore
from app.runtime.services.loaders import LlamaLoader
from app.runtime.services.runtime import Runtime
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.hardware import detect
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.sizing.sizer import Sizer
from tests.support.trusting import TrustingProbe

FIRST: Final = 5
FOLDER: Final = Path(__file__).parent / "retrieval"
ASKED: Final = FOLDER / "asked"
SCRIPTS: Final = FOLDER / "scripts"
GUIDES: Final = Path(__file__).parents[2] / "resources" / "docs"
_BETWEEN: Final = "\n\n"
_PART: Final = (
    "en",
    "Part {} is made of brass. It is tightened with {} Nm and replaced after {} hours.",
    "Which force do I need on my wrench when I mount {} again after cleaning everything?",
)
_CONTRACT: Final = (
    "de",
    "Die Vertragsnummer {} gehört zum Haus {}. Die Selbstbeteiligung beträgt {} Euro im Jahr.",
    "Was muss ich bei einem Schaden selbst tragen, wenn mein Papier die Kennung {} hat?",
)


@dataclass(frozen=True)
class Question:
    """A question, and the place of its answer: characters of the text of a file.

    Attributes:
        first: Its first wording.
        decides: True if it is in the half by which the search is tuned.
    """

    text: str
    first: str
    language: str
    decides: bool
    file: str
    start: int
    end: int

    def is_answered_by(self, file: str, passage: Passage) -> bool:
        """Return whether a passage has most of the paragraph with the answer."""
        common = min(self.end, passage.span.end) - max(self.start, passage.span.start)
        return file == self.file and 2 * common > self.end - self.start


@dataclass(frozen=True)
class Figures:
    """The number of questions whose passage was among the first hits, and the others.

    Attributes:
        missed: The others.
    """

    right: int
    asked: int
    missed: tuple[Question, ...]

    @property
    def share(self) -> float:
        return self.right / self.asked


Search = Callable[[str], Sequence[tuple[str, Passage]]]
"""Returns the first passages for a question, the best first, each with its file's name."""


def haystack(
    folder: Path = FOLDER, *, guides: bool = True
) -> tuple[list[AttachedFile], list[Question]]:
    """Read all files, and the questions about them.

    Args:
        folder: The folder of the files.
        guides: True to add Hearth's own guides, which change.
    """
    files, questions = [], []
    for number, path in enumerate(sorted(folder.glob("*.txt"))):
        text, asked = _read(path, decides=number % 2 == 0)
        files.append(_attached(path.name, text))
        questions += asked
    others = sorted(GUIDES.glob("*.md")) if guides else ()
    files += [_attached(path.name, path.read_text("utf-8")) for path in others]
    return files, questions


def _read(path: Path, *, decides: bool) -> tuple[str, list[Question]]:
    text, questions = "", []
    for block in path.read_text("utf-8").strip().split(_BETWEEN):
        lines = block.split("\n")
        paragraph = "\n".join(it for it in lines if not it.startswith(("? ", "?= ")))
        text += _BETWEEN if text else ""
        start, end = len(text), len(text) + len(paragraph)
        text += paragraph
        for line, below in pairwise([*lines, ""]):
            if line.startswith("? "):
                first = below.removeprefix("?= ") if below.startswith("?= ") else line[2:]
                language = path.name[:2]
                questions.append(
                    Question(line[2:], first, language, decides, path.name, start, end)
                )
    return text, questions


def in_scripts() -> tuple[list[AttachedFile], list[Question]]:
    """Read the paragraphs of many languages, each as a file, and the questions about them."""
    files, questions = [], []
    for path in sorted(SCRIPTS.glob("*.txt")):
        text, asked = _read(path, decides=True)
        for number, paragraph in enumerate(text.split(_BETWEEN)):
            name = f"{path.stem}-{number}.txt"
            start = text.index(paragraph)
            files.append(_attached(name, paragraph))
            questions += [
                replace(it, file=name, start=0, end=len(paragraph))
                for it in asked
                if it.start == start
            ]
    return files, questions


def named() -> tuple[list[AttachedFile], list[Question]]:
    """Make files of parts and contracts with codes, 25 in each, and questions about some."""
    random = Random(5)
    files, questions = [], []
    for number in range(20):
        language, paragraph, asked = (_PART, _CONTRACT)[number % 2]
        text, name = "", f"{language}-{number}.txt"
        for _ in range(25):
            code = (
                f"{random.choice('ABCDEFGHK')}{random.choice('XYZT')}-{random.randint(1000, 9999)}"
            )
            text += _BETWEEN if text else ""
            start = len(text)
            text += paragraph.format(code, random.randint(5, 90), random.randint(100, 9000))
            question = asked.format(code)
            decides = number % 4 < 2
            questions.append(
                Question(question, question, language, decides, name, start, len(text))
            )
        files.append(_attached(name, text))
    return files, random.sample(questions, 120)


def _attached(name: str, text: str) -> AttachedFile:
    section = Section(Location(LocationKind.WHOLE, 1), text)
    data = text.encode()
    sha256 = hashlib.sha256(data).hexdigest()
    return AttachedFile(name, Document(DocumentKind.TEXT, sha256, len(data), (section,)))


def full_text(files: Sequence[AttachedFile]) -> Search:
    """Return a search as for attached files: by words alone, in all passages."""
    everything = [(file.name, it) for file in files for it in passages(file.document, PASSAGE)]

    def search(question: str) -> list[tuple[str, Passage]]:
        found = find_passages((it for _, it in everything), question, FIRST)
        return [everything[number] for number, _ in found]

    return search


@contextmanager
def collection(files: Sequence[AttachedFile], model: Path) -> Iterator[Search]:
    """Open a search as in a collection, by words and by the vectors of a model."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "docs").mkdir()
        for file in files:
            (folder / "docs" / f"{file.name}.txt").write_text(file.document.text, "utf-8")
        with closing(Database(folder / "chats.db")) as database:
            models, loads = ModelStore(database), LoadStore(database)
            library = Library(models, STARTER, STARTER_DRAFTER)
            models.add("embedder", model, drafts=False, reserved=())
            loader = LlamaLoader(
                lambda: LlamaCppEngine(probe=TrustingProbe()),
                lambda: Fitting(detect, loads, Sizer()),
            )
            embedding = Embedding(library, Runtime({"llamacpp": loader}), Settings)
            store = CollectionStore(database)
            knowledge = Knowledge(store, folder / "index", DocumentReader().many, embedding)
            with closing(knowledge):
                found = knowledge.add(knowledge.create("bench").id, [folder / "docs"])
                for _ in knowledge.work(CancelToken(), None, found.id):
                    pass
                state = knowledge.state(found.id)
                print(f"{state.with_vectors} of {state.passages} passages have vectors")

                def search(question: str) -> list[tuple[str, Passage]]:
                    hits = knowledge.search([found.id], question, FIRST, CancelToken())
                    return [(it.file.removesuffix(".txt"), it.passage) for it in hits]

                yield search


def measure(search: Search, questions: Sequence[Question]) -> Figures:
    missed = [
        it
        for it in questions
        if not any(it.is_answered_by(file, passage) for file, passage in search(it.text)[:FIRST])
    ]
    return Figures(len(questions) - len(missed), len(questions), tuple(missed))


def report(name: str, search: Search, questions: Sequence[Question]) -> None:
    languages = dict.fromkeys(it.language for it in questions)
    parts = {
        **{it: [one for one in questions if one.language == it] for it in languages},
        "all": questions,
        "the half that decides": [it for it in questions if it.decides],
        "the other half": [it for it in questions if not it.decides],
    }
    for called, asked in parts.items():
        if not asked:
            continue
        figures = measure(search, asked)
        print(f"{name}, {called}: {figures.right} of {figures.asked} ({figures.share:.1%})")
    if "--missed" in sys.argv:
        for it in measure(search, questions).missed:
            print(f"  {it.file}: {it.text}")


def main() -> None:
    if "--names" in sys.argv:
        files, questions = named()
    elif "--scripts" in sys.argv:
        files, questions = in_scripts()
    else:
        files, questions = haystack(ASKED if "--asked" in sys.argv else FOLDER)
    if "--first" in sys.argv:
        questions = [replace(it, text=it.first) for it in questions]
    count = sum(1 for file in files for _ in passages(file.document, PASSAGE))
    print(f"{len(questions)} questions, {len(files)} files, {count} passages")
    report("full text", full_text(files), questions)
    for model in (Path(it) for it in sys.argv[1:] if not it.startswith("--")):
        with collection(files, model) as search:
            report(f"with {model.stem}", search, questions)


if __name__ == "__main__":
    main()
