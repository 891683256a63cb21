"""The prompts that families of embedding models expect before a question and before a passage.

A model finds less if it is not prompted as it was trained. The prompts are from the makers' model
cards; a model of no known family gets the texts as they are.

All vectors of a model share a large common part, whatever the text says: those of some models fill
a narrow cone, in which most signs are the same. The common part distinguishes nothing, and passages
near it are found for every question. So it is subtracted, as Mu and Viswanath (2018) did with
vectors of words. The mean of the vectors of `EVERYDAY` stands for it: the mean of a collection
would change with each file, and the mean of its first file would be about that file's subject.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class EmbeddingFamily:
    """The prompts of a family; `{}` stands for the text.

    Attributes:
        dimensions: Number of leading dimensions of a vector that are good enough alone, in families
            trained for this (Matryoshka representation learning), whose makers publish the usable
            lengths; 0 keeps all.
    """

    name: str
    query: str = "{}"
    passage: str = "{}"
    dimensions: int = 0

    def query_text(self, question: str) -> str:
        """Return a question with the family's prompt."""
        return self.query.replace("{}", question)

    def passage_text(self, passage: str) -> str:
        """Return a passage with the family's prompt."""
        return self.passage.replace("{}", passage)

    def kept_dimensions(self, dimensions: int) -> int:
        """Return the number of a vector's dimensions to keep, a multiple of eight."""
        return min(self.dimensions or dimensions, dimensions) // 8 * 8


_TASK: Final = "Given a web search query, retrieve relevant passages that answer the query"

_FAMILIES: Final[tuple[tuple[Callable[[str, str], bool], EmbeddingFamily], ...]] = (
    (
        lambda architecture, name: architecture == "gemma-embedding" or "embeddinggemma" in name,
        EmbeddingFamily(
            "EmbeddingGemma", "task: search result | query: {}", "title: none | text: {}", 256
        ),
    ),
    (
        lambda architecture, _name: architecture == "qwen3",
        EmbeddingFamily("Qwen3 Embedding", f"Instruct: {_TASK}\nQuery:{{}}", dimensions=256),
    ),
    (
        lambda _architecture, name: "e5" in _words(name) and "instruct" in name,
        EmbeddingFamily("E5 instruct", f"Instruct: {_TASK}\nQuery: {{}}"),
    ),
    (
        lambda _architecture, name: "e5" in _words(name),
        EmbeddingFamily("E5", "query: {}", "passage: {}"),
    ),
    (
        lambda architecture, _name: architecture == "nomic-bert-moe",
        EmbeddingFamily("Nomic Embed 2", "search_query: {}", "search_document: {}", 256),
    ),
    (
        lambda architecture, _name: architecture == "nomic-bert",
        EmbeddingFamily("Nomic Embed", "search_query: {}", "search_document: {}"),
    ),
    (
        lambda _architecture, name: "arctic-embed" in name.replace(" ", "-") and "v2" in name,
        EmbeddingFamily("Arctic Embed 2", "query: {}", dimensions=256),
    ),
    (
        lambda _architecture, name: (
            ("bge" in _words(name) and "en" in _words(name)) or "mxbai" in name
        ),
        EmbeddingFamily("BGE", "Represent this sentence for searching relevant passages: {}"),
    ),
)

OTHER: Final = EmbeddingFamily("other")

FAMILIES: Final = (*(family for _, family in _FAMILIES), OTHER)
"""All families, the preferred ones first: small ones that know many languages."""


EVERYDAY: Final = (
    "The meeting of the board is moved to Thursday, as the report of the auditors comes late.",
    "Heat the oil, add the onions, and stir until they are soft. Then pour in the stock.",
    "The accused appealed; the court found that the contract had not been signed by both parties.",
    "Take one tablet in the morning with water. Tell your doctor if you feel dizzy.",
    "def total(rows): return sum(row.price * row.count for row in rows)",
    "Name, Date, Amount\nMiller, 2021-04-03, 17.50\nSmith, 2021-04-09, 204.00",
    "In the second half of the century the town grew, as the railway brought trade and visitors.",
    "The pressure of a gas rises with its temperature as long as the volume stays the same.",
    "Turn the screw to the left, take off the lid, and check whether the cable is damaged.",
    "She closed the door quietly and listened. Nobody in the house seemed to be awake.",
    "Our team won by two goals, although the captain was injured early in the match.",
    "Dear customer, thank you for your order. The parcel leaves our warehouse tomorrow.",
    "Die Sitzung des Vereins beginnt um acht Uhr; Anträge sind schriftlich einzureichen.",
    "Der Mieter haftet für Schäden, die durch unsachgemäßen Gebrauch entstehen.",
    "Mehl, Butter und Zucker verkneten und den Teig eine Stunde kalt stellen.",
    "Das Gerät darf nur von einer Fachkraft geöffnet werden. Vorher den Stecker ziehen.",
    "Im Winter fällt hier viel Schnee, und die Straße über den Pass ist oft gesperrt.",
    "Die Ergebnisse der Messung weichen um weniger als drei Prozent voneinander ab.",
    "Le train part à midi de la gare centrale et arrive le soir à la frontière.",
    "La société a publié ses comptes: le chiffre d’affaires a baissé de quatre pour cent.",
    "El paciente debe descansar unos días y beber mucha agua.",
    "La ley entró en vigor al año siguiente y fue modificada dos veces.",
    "Il museo è aperto tutti i giorni tranne il lunedì; l’ingresso è gratuito.",
    "O agricultor plantou milho e feijão depois das primeiras chuvas.",
    "De gemeente heeft besloten de brug pas volgend jaar te vervangen.",
    "Pogoda ma się poprawić w weekend, ale w górach nadal będzie wiało.",
    "Eleverna läste boken under sommaren och skrev en uppsats om den.",
    "Новая версия программы исправляет ошибки и работает быстрее.",
    "يبدأ العام الدراسي في شهر سبتمبر وينتهي في يونيو.",
    "किसान सुबह जल्दी उठकर खेत में काम करते हैं।",
    "这家公司计划明年在南方建立一座新工厂。",
    "この部屋では電話をかけないでください。",
    "이 약은 식사 후에 물과 함께 드십시오.",
)
"""Texts on various subjects in many languages, like those in people's files."""


def family_of(architecture: str, name: str) -> EmbeddingFamily:
    """Return the family of an embedding model by its architecture and name."""
    return next(
        (family for matches, family in _FAMILIES if matches(architecture, name.lower())), OTHER
    )


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", name))
