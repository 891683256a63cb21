"""A model, a context and a KV cache without an engine, and a greedy loop over them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engines.cancel import CancelToken
from engines.llamacpp.cache import DraftingState, open_caches
from engines.llamacpp.context import EVALUATED, Context
from engines.llamacpp.model import open_model
from engines.llamacpp.native import load_native
from engines.llamacpp.resume.state_key import state_key
from engines.llamacpp.resume.states import StateFolder
from engines.types import LlamaPlan

MEMORY = 1 << 28


class Opened:
    """The state of a process that has just started; only the files are shared."""

    def __init__(
        self,
        path: Path,
        *,
        states: Path | None = None,
        memory: int = MEMORY,
        disk: int = MEMORY,
        drafting: DraftingState | None = None,
        **plan: object,
    ) -> None:
        values = {"context": 1024, "threads": 1, "batch_threads": 1, "batch": 64} | plan
        self.plan = LlamaPlan(path, **values)  # type: ignore[arg-type]
        native = load_native()
        self.api = native.api
        self.model = open_model(native, self.plan, lambda _: None, CancelToken())
        self.context = Context(native, self.model, self.plan)
        self.folder = StateFolder(states, disk) if states else None
        self.key = state_key(native, self.model, self.context, self.plan)
        self.caches = open_caches(
            self.api,
            self.context,
            self.model,
            memory_bytes=memory,
            folder=self.folder,
            key=self.key,
            drafting=(drafting,) if drafting is not None else (),
        )
        self.cache = self.caches[0]
        self.evaluated = 0
        """The tokens of the last prompt that had to be evaluated."""
        self.rows: list[npt.NDArray[np.float32]] = []
        """The logits of each token of the last answer."""

    def evaluate(self, tokens: Sequence[int], outputs: int = 0) -> None:
        held = self.cache.tokens
        assert self.context.evaluate(tokens, len(held), outputs=outputs) == EVALUATED
        held.extend(tokens)

    def answer(self, prompt: Sequence[int], chat: str | None = None, count: int = 16) -> list[int]:
        """Return the likeliest `count` tokens. The last one is drawn, but not evaluated."""
        kept = self.cache.reuse(prompt, chat)
        self.evaluated = len(prompt) - kept
        size = self.context.batch_size
        for start in range(kept, len(prompt) - 1, size):
            self.cache.save_snapshot()
            self.evaluate(prompt[start : min(start + size, len(prompt) - 1)])
        self.cache.save_snapshot()
        self.evaluate(prompt[-1:], outputs=1)
        self.rows = [self.row().copy()]
        drawn = [int(np.argmax(self.rows[0]))]
        while len(drawn) < count:
            self.evaluate(drawn[-1:], outputs=1)
            self.rows.append(self.row().copy())
            drawn.append(int(np.argmax(self.rows[-1])))
        return drawn

    def row(self) -> npt.NDArray[np.float32]:
        logits = self.api.llama_get_logits_ith(self.context.pointer, -1)
        return np.ctypeslib.as_array(logits, (self.model.vocabulary.size,))

    def words(self, count: int, seed: int) -> list[int]:
        """Return made tokens, the same ones for the same seed."""
        vocabulary, drawn = self.model.vocabulary, random.Random(seed)
        found: list[int] = []
        while len(found) < count:
            token = drawn.randrange(vocabulary.size)
            if vocabulary.piece(token) and not vocabulary.ends_generation(token):
                found.append(token)
        return found

    def close(self) -> None:
        self.context.close()
        self.model.close()
