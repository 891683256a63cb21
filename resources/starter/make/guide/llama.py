"""Runs the finished GGUF pair in llama.cpp: plain decoding and MTP drafting, greedy only."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from llama_cpp import llama_cpp as lib
from llama_cpp import llama_cpp_ext as ext
from numpy.typing import NDArray

CONTEXT = 4096
BATCH = 512

Rows = NDArray[np.float32]


@dataclass
class Drafts:
    """The numbers of tokens that were guessed and that the target confirmed."""

    drafted: int = 0
    accepted: int = 0

    @property
    def acceptance(self) -> float:
        """Share of the guesses that were confirmed."""
        return self.accepted / self.drafted if self.drafted else 0.0


@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
def _no_log(level: int, text: bytes, data: object) -> None:
    """Discard llama.cpp's log; every failure shows as a missing object or a return code."""


class Pair:
    """Target and drafter, loaded. Use as a context manager.

    Raises RuntimeError where llama.cpp refuses a file or a batch.
    """

    def __init__(self, target: Path, drafter: Path, threads: int) -> None:
        lib.llama_log_set(_no_log, ctypes.c_void_p(0))
        lib.llama_backend_init()
        self._target, self._drafter = _load(target), _load(drafter)
        self._context = _context(self._target, threads, None)
        self._draft = _context(self._drafter, threads, self._context)
        for context in (self._context, self._draft):
            ext.llama_set_embeddings_nextn(context, True, True)
        self._memory = lib.llama_get_memory(self._context)
        self._vocabulary = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(self._target))
        self._hidden = lib.llama_model_n_embd(self._target)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        lib.llama_free(self._draft)
        lib.llama_free(self._context)
        lib.llama_model_free(self._drafter)
        lib.llama_model_free(self._target)

    def tokenize(self, text: str) -> list[int]:
        """Return the token numbers of `text`, including markers, with nothing added."""
        raw = text.encode()
        found = (lib.llama_token * (len(raw) + 8))()
        vocabulary = lib.llama_model_get_vocab(self._target)
        count = lib.llama_tokenize(vocabulary, raw, len(raw), found, len(found), False, True)
        return list(found[:count])

    def read(self, tokens: Sequence[int], start: int = 0) -> tuple[Rows, Rows]:
        """Decode `tokens` from position `start` on, after forgetting all from there.

        Returns logits and last hidden states, one row for each token.
        """
        lib.llama_memory_seq_rm(self._memory, 0, start, -1)
        logits, hidden = [], []
        for first in range(0, len(tokens), BATCH):
            part = tokens[first : first + BATCH]
            _decode(self._context, part, range(start + first, start + first + len(part)), None)
            for row in range(len(part)):
                logits.append(_row(lib.llama_get_logits_ith(self._context, row), self._vocabulary))
                found = ext.llama_get_embeddings_nextn_ith(self._context, row)
                hidden.append(_row(found, self._hidden))
        return np.stack(logits), np.stack(hidden)

    def draft(self, token: int, hidden: Rows, position: int) -> tuple[Rows, Rows]:
        """Make one guess; return the drafter's logits and its projected state."""
        _decode(self._draft, [token], [position], hidden)
        logits = _row(lib.llama_get_logits_ith(self._draft, 0), self._vocabulary)
        return logits, _row(ext.llama_get_embeddings_nextn_ith(self._draft, 0), self._hidden)

    def answer(
        self, prompt: Sequence[int], stops: Sequence[int], depth: int, limit: int = 256
    ) -> tuple[list[int], Drafts]:
        """Return the greedy answer without its stop token, drafting `depth` tokens a round.

        The whole prompt is read each time, which is fast enough for a model of this size.
        """
        logits, states = self.read(prompt)
        length, last, state = len(prompt), int(logits[-1].argmax()), states[-1]
        answer: list[int] = []
        drafts = Drafts()
        while last not in stops and len(answer) < limit and length + depth + 1 < CONTEXT:
            answer.append(last)
            guesses = self._guess(last, state, length, depth)
            logits, states = self.read([last, *guesses], length)
            chosen = logits.argmax(-1).tolist()
            kept = 0
            while kept < len(guesses) and guesses[kept] == chosen[kept]:
                kept += 1
            drafts.drafted += len(guesses)
            drafts.accepted += kept
            stopped = [n for n in range(kept) if guesses[n] in stops]
            if stopped:
                return answer + guesses[: stopped[0]], drafts
            answer += guesses[:kept]
            length, last, state = length + 1 + kept, chosen[kept], states[kept]
            lib.llama_memory_seq_rm(self._memory, 0, length, -1)
        return answer, drafts

    def _guess(self, token: int, state: Rows, position: int, depth: int) -> list[int]:
        guesses: list[int] = []
        for _ in range(depth):
            logits, state = self.draft(token, state, position)
            token = int(logits.argmax())
            guesses.append(token)
        return guesses


def _load(path: Path) -> Any:
    parameters = lib.llama_model_default_params()
    parameters.n_gpu_layers = 0
    parameters.load_mtp = True
    model = lib.llama_model_load_from_file(str(path).encode(), parameters)
    if not model:
        raise RuntimeError(f"llama.cpp cannot load {path}")
    return model


def _context(model: Any, threads: int, target: Any) -> Any:
    parameters = lib.llama_context_default_params()
    parameters.n_ctx = CONTEXT
    parameters.n_batch = parameters.n_ubatch = BATCH
    parameters.n_seq_max = 1
    parameters.n_threads = parameters.n_threads_batch = threads
    if target is not None:
        parameters.ctx_type = lib.LLAMA_CONTEXT_TYPE_MTP
        parameters.ctx_other = target
        parameters.n_outputs_max = 1
    context = lib.llama_init_from_model(model, parameters)
    if not context:
        raise RuntimeError("llama.cpp cannot make a context for the model")
    return context


def _decode(
    context: Any, tokens: Sequence[int], positions: Sequence[int], embeddings: Rows | None
) -> None:
    count = len(tokens)
    sequence = (lib.llama_seq_id * 1)(0)
    batch = lib.llama_batch()
    batch.n_tokens = count
    batch.token = (lib.llama_token * count)(*tokens)
    if embeddings is not None:
        batch.embd = embeddings.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    batch.pos = (lib.llama_pos * count)(*positions)
    batch.n_seq_id = (ctypes.c_int32 * count)(*[1] * count)
    batch.seq_id = (ctypes.POINTER(lib.llama_seq_id) * count)(*[sequence] * count)
    batch.logits = (ctypes.c_int8 * count)(*[1] * count)
    if code := lib.llama_decode(context, batch):
        raise RuntimeError(f"llama.cpp could not decode a batch of {count} tokens (code {code})")


def _row(found: Any, width: int) -> Rows:
    if not found:
        raise RuntimeError("llama.cpp has no output for a token")
    return np.ctypeslib.as_array(found, shape=(width,)).copy()
