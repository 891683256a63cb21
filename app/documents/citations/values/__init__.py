"""The quotes in answers, compared with the documents that the model was given: pure."""

from app.documents.citations.values.check import (
    CheckedAnswer,
    Citation,
    CitationCheck,
    CopyState,
    GivenPassage,
    Verdict,
)
from app.documents.citations.values.normal import normalised

__all__ = [
    "CheckedAnswer",
    "Citation",
    "CitationCheck",
    "CopyState",
    "GivenPassage",
    "Verdict",
    "normalised",
]
