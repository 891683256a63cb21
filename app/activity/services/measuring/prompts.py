"""The prompts of the measurements, two for each kind of text."""

from __future__ import annotations

from typing import Final

from app.activity.values.bench_results import TextKind
from app.models.library.values.entry import ModelEntry

KINDS: Final[tuple[TextKind, ...]] = ("code", "prose", "copying", "chat")

_LETTER: Final = """Copy this letter exactly as it stands, and write nothing else:

Dear neighbours,

On Saturday the 14th the water in our street will be turned off from nine in the morning until
four in the afternoon. Two men from the waterworks will replace the old pipe in front of number
twelve, and the pavement will be closed there. Please fill a bucket or two on Friday evening. If
your tap runs brown on Saturday night, let it run for five minutes; that is rust, and harmless.

With kind regards,
Anna Lindqvist, number nine"""

_FUNCTION: Final = """Write this function again, with every name in it unchanged, and rename only
the argument `rows` to `orders`:

def total_by_customer(rows):
    totals = {}
    for row in rows:
        customer = row["customer"]
        amount = row["price"] * row["count"]
        totals[customer] = totals.get(customer, 0) + amount
    for customer, total in sorted(totals.items()):
        print(f"{customer}: {total:.2f}")
    return totals"""

_PROMPTS: Final[dict[TextKind, tuple[str, ...]]] = {
    "code": (
        "Write a Python class for a bank account, with type hints and a test for each method.",
        "Write a JavaScript function that groups a list of books by author, with an example.",
    ),
    "prose": (
        "Tell the story of a lighthouse keeper who finds a letter in a bottle.",
        "Describe a market in an old town on a rainy morning: the people, the smells, the sounds.",
    ),
    "copying": (_LETTER, _FUNCTION),
    "chat": (
        "I have eggs, rice and spinach at home. What can I cook in half an hour?",
        "I sit at a desk all day and my back hurts. What would you try first?",
    ),
}

# The guide only knows Hearth, so it gets questions that it can answer at some length.
_GUIDE: Final[dict[TextKind, tuple[str, ...]]] = {
    "code": ("How do I add a GGUF file?", "What is a drafter?"),
    "prose": ("What is MTP?", "What is quantisation?"),
    "copying": ("How do I get a bigger model?", "How do I make it faster?"),
    "chat": ("What can you do?", "Why are the answers slow?"),
}


def prompts_for(entry: ModelEntry) -> dict[TextKind, tuple[str, ...]]:
    """Return prompts of each kind that this model can answer."""
    return _GUIDE if entry.builtin else _PROMPTS
