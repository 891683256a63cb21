"""Load one model of a test in this process, answer with it, and print its memory use.

It runs as a separate process: memory growth is only clear in a process that did nothing else
before.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from engines.cancel import CancelToken
from engines.hardware.memory import resident_bytes
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.native import load_native
from engines.llamacpp.sizing.sizer import Sizer
from engines.memory.fit import DraftNeed, need_by_library
from engines.models.gguf.header import read_header
from engines.types import ChatRequest, LlamaPlan, Message, Sampling


def main(path: Path, context: int, depth: int, drafter: Path | None, *, mmap: bool) -> None:
    plan = LlamaPlan(path, context, 2, 2, mmap=mmap, drafter=drafter, draft_max=depth, kept_bytes=0)
    header = read_header(path)
    drafting = DraftNeed(depth, read_header(drafter) if drafter else None)
    buffers = Sizer().buffers(plan, CancelToken())
    split = need_by_library(buffers, header, plan.context, plan.kv_type, plan.batch, drafting)
    estimate = split.parts.total
    load_native()
    before = resident_bytes()
    engine = LlamaCppEngine()
    loaded = engine.load(plan, lambda _: None, CancelToken())
    words = " ".join(["word"] * 700)
    request = ChatRequest(
        (Message("user", words),), Sampling(seed=1), max_tokens=4, mtp="on" if depth else "off"
    )
    for _ in engine.chat(request, CancelToken()):
        pass
    grown = resident_bytes() - before
    assert loaded.buffers is not None
    said = {"estimate": estimate, "grown": grown, "buffers": loaded.buffers.total}
    engine.close()
    print(json.dumps(said))


if __name__ == "__main__":
    model, context, way, depth, *drafter = sys.argv[1:]
    beside = Path(drafter[0]) if drafter else None
    main(Path(model), int(context), int(depth), beside, mmap=way == "mmap")
