"""The texts from which the vocabulary is learned."""

from collections.abc import Iterator

from guide.dialogues import DialogueSource
from guide.intents import Knowledge

QUESTIONS = 30_000
ANSWER_WEIGHT = 20
ROLE_WEIGHT = 500


def tokenizer_texts(knowledge: Knowledge, source: DialogueSource) -> Iterator[str]:
    """Yield questions as in training, and each answer and role name several times."""
    for _ in range(QUESTIONS):
        yield source.exchange().question
    for intent in knowledge.intents:
        yield from [intent.answer] * ANSWER_WEIGHT
    for role in ("system", "user", "model"):
        yield from [role] * ROLE_WEIGHT
