"""Greedy tokens and accepted drafts beside llama-server's, for each kind of drafter.

python tests/bench/parity.py --server PATH [--depth N] [--tokens N] [--real]

PATH is a llama-server of the same llama.cpp; tests/bench/build_server.py builds one. Both get the
same files and the same prompts, each in a new chat, and guess the same number of tokens ahead. The
models are the starter and made ones (`tests/support/mtp_models.py`), whose drafters guess well by
construction: the comparison is about running them, not about the quality of their guesses. With
--real the model is SmolLM2-135M-Instruct, a trained one, and its drafter is the same without three
of its layers.

It exits with 1 if a text differs, or if the shares of accepted drafts are more than 0.02 apart.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from engines.cancel import CancelToken  # noqa: E402
from engines.llamacpp.engine import LlamaCppEngine  # noqa: E402
from engines.llamacpp.native import load_native  # noqa: E402
from engines.types import ChatRequest, Done, LlamaPlan, Message, Sampling  # noqa: E402
from tests.bench.llama_server import LlamaServer  # noqa: E402
from tests.support.made_apart import cut_off, without_layers  # noqa: E402
from tests.support.made_fed import write_dflash, write_eagle  # noqa: E402
from tests.support.made_gguf import STARTER  # noqa: E402
from tests.support.mtp_models import quantised, write_qwen, write_step  # noqa: E402
from tests.support.smollm2 import LEFT_OUT, fetched  # noqa: E402
from tests.support.smollm2 import QUESTIONS as REAL_QUESTIONS  # noqa: E402
from tests.support.trusting import TrustingProbe  # noqa: E402

QUESTIONS = (
    "Where does Hearth keep my chats?",
    "What is a token?",
    "How do I get a bigger model?",
    "Can I use it offline?",
    "What does MTP do?",
    "Who made you?",
    "How do I export a chat as PDF?",
    "What is vLLM?",
    "Where are the settings?",
    "How do folders work?",
)
GREEDY = Sampling(temperature=0.0)
APART = 0.02
LIBRARIES = Path(load_native().api._base_path)
"""The libraries for the server: Hearth's, as others may have been compiled to round differently."""


def pairs(folder: Path) -> dict[str, tuple[Path, Path | None]]:
    trunk = write_qwen(folder / "trunk.gguf", drafts=False)
    head, heads = write_qwen(folder / "head.gguf"), write_step(folder / "heads.gguf")
    return {
        "a head in the model's file": (head, None),
        "a head in a file of its own": cut_off(head, folder / "t.gguf", folder / "mtp-t.gguf"),
        "heads in the model's file": (heads, None),
        "heads in a file of their own": cut_off(heads, folder / "s.gguf", folder / "mtp-s.gguf"),
        "a drafter": (STARTER, STARTER.with_name("starter-mtp.gguf")),
        "an Eagle-3 drafter": (trunk, write_eagle(folder / "eagle.gguf")),
        "a DFlash drafter": (trunk, write_dflash(folder / "dflash.gguf")),
        "a DFlash 2 drafter": (trunk, write_dflash(folder / "dflash2.gguf", second=True)),
        "a DSpark drafter": (trunk, write_dflash(folder / "dspark.gguf", markov=True)),
        "a smaller model": (STARTER, quantised(STARTER, folder / "q8.gguf", "Q8_0")),
    }


def real_pairs(folder: Path) -> dict[str, tuple[Path, Path | None]]:
    model = fetched()
    short = without_layers(model, folder / "short.gguf", LEFT_OUT)
    return {"SmolLM2, by itself without three layers": (model, short)}


def compare(
    name: str, server: Path, plan: LlamaPlan, tokens: int, questions: Collection[str]
) -> bool:
    """Let both answer all questions; return whether they agree."""
    same, ours, theirs = 0, [0, 0], [0, 0]
    engine = LlamaCppEngine(probe=TrustingProbe())
    engine.load(plan, lambda _: None, CancelToken())
    with closing(engine), closing(LlamaServer(server, plan, plan.draft_max, LIBRARIES)) as other:
        loaded = engine.chat_model
        for question in questions:
            loaded.slots[0].cache.clear()
            asked = ChatRequest(
                (Message("user", question),), GREEDY, tokens, mtp="on", depth=plan.draft_max
            )
            *_, done = engine.chat(asked, CancelToken())
            assert isinstance(done, Done)
            held = list(loaded.slots[0].cache.tokens)
            prompt = held[: done.usage.prompt_tokens]
            # Parts that were evaluated with another prompt would have been rounded differently.
            answer = other.complete(prompt, GREEDY, tokens, reuse=False)
            both = zip(held[len(prompt) :], answer.tokens, strict=False)
            same += all(one == another for one, another in both)
            ours = [ours[0] + done.mtp.drafted, ours[1] + done.mtp.accepted]
            theirs = [theirs[0] + answer.drafted, theirs[1] + answer.accepted]
    shares = [right / max(1, made) for made, right in (ours, theirs)]
    print(
        f"{name}: {same} of {len(questions)} texts the same; accepted {shares[0]:.3f} of"
        f" {ours[0]}, by the server {shares[1]:.3f} of {theirs[0]}",
        flush=True,
    )
    return same == len(questions) and abs(shares[0] - shares[1]) <= APART


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--real", action="store_true")
    options = parser.parse_args()
    made, questions = (real_pairs, REAL_QUESTIONS.values()) if options.real else (pairs, QUESTIONS)
    with tempfile.TemporaryDirectory() as folder:
        agree = [
            compare(
                name,
                options.server,
                LlamaPlan(model, 1024, 1, 1, drafter=drafter, draft_max=options.depth),
                options.tokens,
                questions,
            )
            for name, (model, drafter) in made(Path(folder)).items()
        ]
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
