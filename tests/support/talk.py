"""Continue a chat in this process, from the state that an earlier one left on the disk.

The last line of the output is the whole chat, and how many tokens of each prompt were kept.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from engines.cancel import CancelToken
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.resume.states import StateFolder
from engines.types import ChatRequest, Done, LlamaPlan, Message, Sampling, TextDelta


def main(model: Path, states: Path, said: list[dict[str, str]], questions: list[str]) -> None:
    engine = LlamaCppEngine(states=StateFolder(states, 1 << 30))
    engine.load(LlamaPlan(model, 1024, 1, 1), lambda _: None, CancelToken())
    messages = tuple(Message(**message) for message in said)  # type: ignore[arg-type]
    kept = []
    for question in questions:
        messages += (Message("user", question),)
        request = ChatRequest(messages, Sampling(temperature=0.0), 48, mtp="off", chat="chat")
        text = ""
        for event in engine.chat(request, CancelToken()):
            if isinstance(event, TextDelta):
                text += event.text
            elif isinstance(event, Done):
                kept.append(event.usage.cached_tokens)
        messages += (Message("assistant", text),)
    engine.close()
    chat = [{key: asdict(message)[key] for key in ("role", "text")} for message in messages]
    print(json.dumps({"chat": chat, "kept": kept}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *json.loads(sys.argv[3]))
