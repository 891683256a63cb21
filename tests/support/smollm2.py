"""Questions for SmolLM2-135M-Instruct in tests and benches.

`python3 run.py test --real` fetches the model; it is small, copies a text nearly word for word, and
repeats itself without end about things that it does not know.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import run

_PARAGRAPHS: Final = """\
The harbour lies at the mouth of the river, and in the morning the fishing boats come back past \
the old lighthouse. Their nets are full of herring, and gulls follow them to the quay. On the \
market square the women wait with baskets, and by noon the last fish is sold.

In the afternoon the town is quiet. The nets hang between the poles to dry, and the children \
play on the stones beside the water until the bell of the church calls them home. Then the lamps \
are lit one after the other, and the men talk of the weather, of the price of salt, and of the \
great storm that took the pier away forty years ago.
"""
_CODE: Final = """\
class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.balance += amount
        return self.balance

    def withdraw(self, amount):
        if amount > self.balance:
            raise ValueError("insufficient funds")
        self.balance -= amount
        return self.balance

    def transfer(self, other, amount):
        self.withdraw(amount)
        other.deposit(amount)
"""
QUESTIONS: Final = {
    "copying": f"Repeat the following text word for word:\n\n{_PARAGRAPHS}",
    "code": f"```python\n{_CODE}```\n\nWrite this class again, with a docstring for each method.",
    "new code": "Write a Python class for a queue with the methods push, pop, peek and size.",
    "chat": "What should I think of when I buy a used bicycle?",
    "circle": "What is the capital of France?",
}

LEFT_OUT: Final = (20, 22, 24)
"""Layers, out of 30, without which it still guesses a third of its full answers."""


def fetched() -> Path:
    """Return the file for a bench; exit with a sentence if it is missing."""
    model = run.real_model_path()
    if not model.exists():
        sys.exit("SmolLM2 is not here; `python3 run.py test --real` fetches it.")
    return model
