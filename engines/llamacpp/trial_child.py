"""The process that tries a device: a small model writes on it and on the processor. See `trial`.

It reports the processor's text before it uses the device. Its result are both texts and, if they
differ, the distance between the two tokens on the processor, in standard deviations of all logits
there.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engines.cancel import CancelToken
from engines.helper.child import WriteLine, report
from engines.llamacpp.loaded import prepare_loaded
from engines.llamacpp.logits import Logits
from engines.llamacpp.model import open_model
from engines.llamacpp.native import Native, load_native
from engines.llamacpp.speculative.cost_book import CostBook
from engines.models.gguf.header import read_header
from engines.types import ChatRequest, LlamaPlan, Message, Sampling

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Rows = list[npt.NDArray[np.float32]]

TOKENS: Final = 48
_QUESTION: Final = "What is a token, and what is a context?"


def try_out(device: str, path: Path, write: WriteLine) -> dict[str, object]:
    """Try a device, and return the result. Raises EngineError, or does not return."""
    native = load_native()
    plan = LlamaPlan(path, context=512, threads=2, batch_threads=2, draft_max=0, kept_bytes=0)
    words, expected, rows = _write(native, plan)
    write({"expected": words})
    text, drawn, _ = _write(native, replace(plan, gpu_layers=-1, devices=(device,)))
    gap = None
    pairs = enumerate(zip_longest(expected, drawn, fillvalue=-1))
    at = next((at for at, (one, other) in pairs if one != other), None)
    if at is not None and at < min(len(expected), len(drawn)):
        row = rows[at]
        gap = float((row[expected[at]] - row[drawn[at]]) / row.std())
    return {"expected": words, "text": text, "gap": gap}


def _write(native: Native, plan: LlamaPlan) -> tuple[str, list[int], Rows]:
    """Write a greedy text; return it, its tokens, and the logits that each was chosen from."""
    model = open_model(native, plan, lambda _: None, CancelToken())
    try:
        loaded = prepare_loaded(
            native, model, read_header(plan.model), plan, CostBook(None), None, lambda _: None,
            CancelToken(), time.perf_counter(), trusted=True,
        )  # fmt: skip
    except BaseException:
        model.close()
        raise
    try:
        request = ChatRequest((Message("user", _QUESTION),), Sampling(temperature=0.0))
        evaluated = loaded.prompter.write(request).tokens
        logits = Logits(native.api, model.vocabulary.size)
        tokens: list[int] = []
        rows: Rows = []
        at = 0
        while len(tokens) < TOKENS:
            if loaded.context.evaluate(evaluated, at, outputs=1):
                break
            rows.append(logits.row(loaded.context.pointer).copy())
            at += len(evaluated)
            tokens.append(int(rows[-1].argmax()))
            if model.vocabulary.ends_generation(tokens[-1]):
                break
            evaluated = tokens[-1:]
        written = b"".join(map(model.vocabulary.piece, tokens))
        return written.decode(errors="replace"), tokens, rows
    finally:
        loaded.close()


def main(arguments: list[str]) -> None:
    """Try a device.

    Args:
        arguments: JSON with the device's name and the model's path.
    """
    request = json.loads(arguments[0])
    report(lambda write: try_out(request["device"], Path(request["model"]), write))


if __name__ == "__main__":
    main(sys.argv[1:])
