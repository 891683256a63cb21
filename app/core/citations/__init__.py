"""The quotes of answers, held against the documents that a model was given: pure."""

from app.core.citations.check import (
    CheckedAnswer,
    Citation,
    CitationCheck,
    CopyState,
    Verdict,
)
from app.core.citations.normal import normalised

__all__ = ["CheckedAnswer", "Citation", "CitationCheck", "CopyState", "Verdict", "normalised"]
