"""The first questions suggested for a model."""

from __future__ import annotations

import pytest

from app.chats.history.values.first_questions import QuestionKind, kind_for


@pytest.mark.parametrize(
    ("name", "builtin", "thinks", "kind"),
    [
        ("Starter guide", True, False, "guide"),
        ("Qwen3-Coder-30B-A3B", False, True, "code"),
        ("codestral:22b", False, False, "code"),
        ("gemma-4-E4B-it", False, True, "thinking"),
        ("Llama-3.2-3B", False, False, "general"),
    ],
)
def test_the_questions_suit_the_model(
    name: str, builtin: bool, thinks: bool, kind: QuestionKind
) -> None:
    assert kind_for(name, builtin=builtin, thinks=thinks) == kind


def test_documents_are_asked_about_unless_the_guide_answers() -> None:
    assert kind_for("Qwen3-Coder", builtin=False, thinks=True, documents=True) == "documents"
    assert kind_for("Guide", builtin=True, thinks=False, documents=True) == "guide"
