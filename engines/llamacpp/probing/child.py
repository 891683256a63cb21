"""The process that opens a model file first: it loads the plan and answers one message.

Anything that ends it would have ended the app. It runs the same engine as the app, so that both run
the same code. Each stage has a limit of processor time that holds even while Python is stuck, and
however busy the computer is.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from typing import Final

from engines.cancel import CancelToken
from engines.dialect import Dialect
from engines.errors import MessageTooLong, TemplateRefused
from engines.helper.child import WriteLine, report
from engines.helper.clock import limit_work
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.load_params import loading_with
from engines.llamacpp.native import load_native
from engines.llamacpp.probing.protocol import (
    ANSWER,
    LOAD,
    STAGE,
    TEMPLATE,
    TEMPLATE_S,
    read_plan,
    shaders_limit,
    stage_limit,
)
from engines.llamacpp.speculative.cost_book import CostBook
from engines.llamacpp.speculative.costs import Costs
from engines.models.gguf.header import read_header
from engines.types import ChatRequest, LlamaPlan, MediaKind, Medium, Message, Sampling

CHECKED_BYTES: Final = 2 << 30
"""In files up to this size, every tensor value is checked, not only the structure.

The check reads the whole file, as the first token does anyway, and costs about 0.1 s for each GB.
It is left out for larger files, which might not stay in memory until the app reads them.
"""

_CONTEXT, _BATCH, _TOKENS, _DEPTH = 2048, 64, 4, 2

Begin = Callable[[str, float], None]
"""Called when a stage begins, with its name and its limit of processor time in seconds."""


def examine(plan: LlamaPlan, begin: Begin) -> None:
    """Use the plan's files as the app does. Raises EngineError, or does not return."""
    begin(TEMPLATE, TEMPLATE_S)
    header = read_header(plan.model)
    if header.kind == "chat":
        _try_template(header.chat_template)
    companion_bytes = sum(path.stat().st_size for path in (plan.drafter, plan.projector) if path)
    limit = stage_limit(header.size_bytes + companion_bytes) + shaders_limit(plan)
    begin(LOAD, limit)
    small = replace(
        plan,
        # If memory is not enough, it must run out here rather than in the app.
        context=plan.context if plan.anyway else min(plan.context, _CONTEXT),
        batch=min(plan.batch, _BATCH),
        draft_max=min(plan.draft_max, _DEPTH),
        kept_bytes=0,
    )
    request = ChatRequest(
        (Message("user", "Hello"),),
        Sampling(seed=1),
        max_tokens=_TOKENS,
        mtp="on" if small.draft_max else "off",
        depth=small.draft_max or None,
    )
    engine = LlamaCppEngine(_NothingMeasured(small.draft_max))
    checked = header.size_bytes <= CHECKED_BYTES
    with closing(engine), loading_with(load_native(), check_tensors=checked):
        loaded = engine.load(small, lambda _: None, CancelToken())
        begin(ANSWER, limit)
        if loaded.kind == "embedding":
            engine.embed(["Hello"], CancelToken())
            return
        if loaded.kind == "rerank":
            engine.rerank("Hello", ["Hello"], CancelToken())
            return
        # A template can write more than the small context holds, which is harmless.
        with suppress(MessageTooLong):
            for adapter in (None, *engine.adapters):
                for _ in engine.chat(replace(request, adapter=adapter), CancelToken()):
                    pass
            media = (*([_picture()] if loaded.sees else []), *([_sound()] if loaded.hears else []))
            for medium in media:
                message = Message("user", "Hello", media=(medium,))
                for _ in engine.chat(replace(request, messages=(message,)), CancelToken()):
                    pass


def _picture() -> Medium:
    """Return a small grey picture, a BMP."""
    side = 64
    pixels = bytes([128]) * (3 * side * side)
    head = struct.pack("<2sIHHI", b"BM", 54 + len(pixels), 0, 0, 54)
    shape = struct.pack("<IiiHHIIiiII", 40, side, side, 1, 24, 0, len(pixels), 0, 0, 0, 0)
    return _medium("image", head + shape + pixels)


def _sound() -> Medium:
    """Return a second of silence, a WAV."""
    rate = 16_000
    samples = bytes(2 * rate)
    shape = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16)
    data = struct.pack("<4sI", b"data", len(samples)) + samples
    head = struct.pack("<4sI4s", b"RIFF", 4 + len(shape) + len(data), b"WAVE")
    return _medium("audio", head + shape + data)


def _medium(kind: MediaKind, data: bytes) -> Medium:
    from hashlib import sha256

    return Medium(kind, data, sha256(data).hexdigest())


class _NothingMeasured(CostBook):
    """A cost book with a curve for every model, so that no time is spent on measuring one."""

    def __init__(self, depth: int) -> None:
        super().__init__(None)
        self._depth = depth

    def get(self, _key: str) -> Costs:
        return Costs({0: 1.0}, limit=self._depth)


def _try_template(template: str | None) -> None:
    """Render one message, which must work, and a longer conversation, which can be refused.

    Raises:
        TemplateFailed: The chat template fails.
    """
    question = Message("user", "Hello")
    with closing(Dialect(template)) as dialect:
        dialect.render((question,))
        with suppress(TemplateRefused):
            turns = (question, Message("assistant", "Hi")) * 4
            dialect.render((Message("system", "Be kind."), *turns, question))


def main(arguments: list[str]) -> None:
    """Try a plan.

    Args:
        arguments: The plan, as `write_plan` writes it.
    """

    def work(write: WriteLine) -> None:
        def begin(stage: str, limit: float) -> None:
            # The limit comes first, so that the previous limit cannot end a stage already reported.
            limit_work(limit)
            write({STAGE: stage})

        examine(read_plan(arguments[0]), begin)

    report(work)


if __name__ == "__main__":
    main(sys.argv[1:])
