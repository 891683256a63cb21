"""The first token of an answer about a picture or a sound, beside llama.cpp's own program for them.

python tests/bench/pictures.py [--program PATH] [--threads N] [--rounds N]

PATH is a llama-mtmd-cli of the same llama.cpp; tests/bench/build_server.py builds one. Both get the
same made models and projectors, the same file and question, the same number of threads and the same
batch, and compute with Hearth's library. They take turns, each round in a new process of the
program and with an empty KV cache of Hearth's; the figures are medians.

It measures the time from the question to the first text: with Hearth from `chat` to the first
delta; with the program from its line before it reads the file to its first text, as both come out
of its pipes. So both include decoding the file, the encoder, the evaluation of the whole prompt and
the first token, and neither includes the load. The texts of twelve greedy tokens have to be the
same.

It exits with 1 if a text differs, or if the first token takes more than 1.05 of the program's time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import IO, Final

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import run as setup  # noqa: E402
from engines.cancel import CancelToken  # noqa: E402
from engines.llamacpp.engine import LlamaCppEngine  # noqa: E402
from engines.llamacpp.native import load_native  # noqa: E402
from engines.types import (  # noqa: E402
    ChatRequest,
    LlamaPlan,
    MediaKind,
    Medium,
    Message,
    Sampling,
    TextDelta,
)
from tests.support.made_senses import (  # noqa: E402
    gemma4_projector,
    png,
    qwen3a_projector,
    qwen3vl_projector,
    wav,
    write_gemma4,
    write_qwen3vl,
)
from tests.support.trusting import TrustingProbe  # noqa: E402

PROGRAM: Final = ROOT / ".cache/bench/llama-server/build/bin" / f"llama-mtmd-cli{setup.EXE}"
QUESTION: Final = "What is it?"
TOKENS: Final = 12
CONTEXT: Final = 2048
BATCH: Final = 1024
"""Room for a picture that is read as a whole, which the program would cut in two."""
MOST: Final = 1.05
READY: Final = b"use the standard llama-cli"
"""The last words of the program before it reads the file."""


@dataclass(frozen=True)
class Case:
    model: Path
    projector: Path
    medium: Path


@dataclass(frozen=True)
class Heard:
    """The output of a program, and the time of each piece."""

    pieces: list[tuple[float, bytes]]

    @property
    def text(self) -> str:
        return b"".join(piece for _, piece in self.pieces).decode()

    def since(self, words: bytes) -> float:
        said = b""
        for when, piece in self.pieces:
            said += piece
            if words in said:
                return when
        raise ValueError(f"the program did not say {words!r}")

    @property
    def first_text(self) -> float:
        return next(when for when, piece in self.pieces if piece.strip())


def cases(folder: Path) -> dict[str, Case]:
    """Write models that are larger than in the tests, so that computing takes most of the time."""
    (picture := folder / "picture.png").write_bytes(png(384, 384))
    (tone := folder / "tone.wav").write_bytes(wav(6))
    plain = write_qwen3vl(folder / "plain.gguf", width=512, deepstack=0, layers=8)
    gemma = write_gemma4(folder / "gemma4.gguf", width=512, layers=8)
    eyes = gemma4_projector(folder / "gemma4-eyes.gguf", width=512, ears=True, eye=256, layers=6)
    return {
        "Qwen 3 VL, a picture": Case(
            write_qwen3vl(folder / "qwen3vl.gguf", width=512, layers=8),
            qwen3vl_projector(folder / "qwen3vl-eyes.gguf", width=512, eye=256, layers=6),
            picture,
        ),
        "Gemma 4, a picture": Case(gemma, eyes, picture),
        "Gemma 4, a sound": Case(gemma, eyes, tone),
        "Qwen audio, a sound": Case(plain, qwen3a_projector(folder / "ears.gguf", width=512), tone),
    }


def by_hearth(engine: LlamaCppEngine, case: Case) -> tuple[float, str]:
    """Return the seconds to the first text, and the text."""
    data = case.medium.read_bytes()
    kind: MediaKind = "audio" if case.medium.suffix == ".wav" else "image"
    medium = Medium(kind, data, sha256(data).hexdigest())
    message = Message("user", QUESTION, media=(medium,))
    request = ChatRequest((message,), Sampling(temperature=0.0), TOKENS, mtp="off")
    loaded = engine.chat_model
    assert loaded.projector is not None
    loaded.slots[0].cache.clear()
    loaded.projector._layouts.clear()
    began, first, text = perf_counter(), 0.0, ""
    for event in engine.chat(request, CancelToken()):
        if isinstance(event, TextDelta):
            first = first or perf_counter() - began
            text += event.text
    return first, text


def by_program(program: Path, case: Case, threads: int) -> tuple[float, str]:
    """Return the seconds to the first text, and the text."""
    command = [
        str(program), "-m", str(case.model), "--mmproj", str(case.projector), "--jinja",
        "--image", str(case.medium), "-p", QUESTION, "-n", str(TOKENS), "--temp", "0",
        "-t", str(threads), "-tb", str(threads), "-c", str(CONTEXT),
        "-b", str(BATCH), "-ub", str(BATCH),
    ]  # fmt: skip
    environment = os.environ | {"LD_LIBRARY_PATH": str(load_native().api._base_path)}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        errors = Heard([])
        beside = threading.Thread(target=listen, args=(process.stderr, errors))
        beside.start()
        said = Heard([])
        listen(process.stdout, said)
        beside.join()
    if process.returncode:
        raise RuntimeError(errors.text)
    return said.first_text - errors.since(READY), said.text


def listen(pipe: IO[bytes], heard: Heard) -> None:
    while piece := os.read(pipe.fileno(), 65536):
        heard.pieces.append((perf_counter(), piece))


def compare(name: str, program: Path, case: Case, threads: int, rounds: int) -> bool:
    engine = LlamaCppEngine(probe=TrustingProbe())
    plan = LlamaPlan(case.model, CONTEXT, threads, threads, projector=case.projector, batch=BATCH)
    engine.load(plan, lambda _: None, CancelToken())
    ours, theirs, texts, their_texts = [], [], set(), set()
    with closing(engine):
        by_hearth(engine, case)
        for _ in range(rounds):
            seconds, text = by_program(program, case, threads)
            theirs.append(seconds)
            their_texts.add(text.strip("\n"))
            seconds, text = by_hearth(engine, case)
            ours.append(seconds)
            texts.add(text.strip("\n"))
    (text,) = texts
    # A thread of the program prints, and does not always finish before the program ends.
    same = max(their_texts, key=len) == text and all(map(text.startswith, their_texts))
    share = median(ours) / median(theirs)
    print(
        f"{name}: first text after {1000 * median(ours):.1f} ms, with the program"
        f" {1000 * median(theirs):.1f} ms: {share:.3f} (of the least"
        f" {min(ours) / min(theirs):.3f}); the texts are"
        f" {'the same' if same else 'not the same'}",
        flush=True,
    )
    return same and share <= MOST


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, default=PROGRAM)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fine = [
            compare(name, options.program, case, options.threads, options.rounds)
            for name, case in cases(Path(folder)).items()
        ]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
