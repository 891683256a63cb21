"""Hearth's engine beside llama-server, plain and with the server's own draft-mtp.

python tests/bench/server.py --server PATH [--model FILE [--drafter FILE]]... [--depth N]
                             [--rounds N] [--tokens N] [--threads N] [--context N]
                             [--temperature T]... [--own-libraries]

PATH is a llama-server of the same llama.cpp; tests/bench/build_server.py builds one. By hand:

    pip download --no-deps --no-binary=:all: llama-cpp-python==0.3.36   (then unpack it)
    cmake -G Ninja -S llama_cpp_python-0.3.36/vendor/llama.cpp -B build -DCMAKE_BUILD_TYPE=Release
          -DGGML_NATIVE=OFF -DLLAMA_OPENSSL=OFF -DCMAKE_PLATFORM_NO_VERSIONED_SONAME=ON
          -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF
    cmake --build build --target llama-server

The server computes with Hearth's own libllama and libggml, unless --own-libraries is given. Both
get the same model files, settings, samplers, seeds and token numbers, and take turns with a rest
between, so that they never compute at the same time. Each round is a new chat: a long first message
that neither has in its cache (cold), and a second one (warm). Without --model it measures the
starter and its drafter.

Figures are medians of the ratios of neighbouring answers; above 1 Hearth is faster.

    decode  tokens a second after the first token, each by its own clock
    first   time to the first token, each by its own clock. A head in the model's file takes the
            prompt in before it with the server, and after it, as a part of decode, with Hearth
    answer  tokens a second of the whole answer: Hearth by the wall clock around its call, with
            template and tokeniser; the server by its own clock, without HTTP and JSON
    wall    the same with the server by the wall clock of its client too, which is what an app that
            asks either of them waits for. Both give their text as it comes; the server is spared
            template and tokeniser, and its client all reading of what it sends. The bar.
    cpu     processor time for a token of the whole answer; also steady on a busy machine

It exits with 1 if an answer with MTP, cold or warm, is below 1.0 of llama-server's with MTP.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, sleep

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from engines.cancel import CancelToken  # noqa: E402
from engines.llamacpp.engine import LlamaCppEngine  # noqa: E402
from engines.llamacpp.native import load_native  # noqa: E402
from engines.types import (  # noqa: E402
    MAX_DEPTH,
    ChatRequest,
    Done,
    LlamaPlan,
    Message,
    MtpMode,
    Sampling,
    TextDelta,
)
from tests.bench.llama_server import LlamaServer, Served  # noqa: E402

BAR = 1.0
REST_S = 0.1
"""The rest before each answer, in seconds.

The server's threads stay awake for a while after an answer, on cores that the other side then
needs. Without a rest an answer of 57 ms takes 66 after one of the server's.
"""
STARTER = ROOT / "resources" / "starter"
FIRST = "Tell me all about Hearth and where it keeps its chats. " * 24
SECOND = "And what can I do about it?"
TEMPERATURES = (0.0, 0.7)


@dataclass(frozen=True)
class Turn:
    """An answer of Hearth's beside one of the server's: ratios of speeds, and the drawn tokens.

    Attributes:
        rates: Tokens a second.
        cpu_s: Processor time per token.
        evaluated: Evaluated tokens of the prompt.
        same: Tokens before the first difference.
        tokens: Tokens that both have.
    """

    decode: float
    first: float
    answer: float
    wall: float
    rates: tuple[float, float]
    cpu_s: tuple[float, float]
    evaluated: tuple[int, int]
    drafted: tuple[int, int]
    accepted: tuple[int, int]
    same: int
    tokens: int


@dataclass(frozen=True)
class Answer:
    """An answer of Hearth's.

    Attributes:
        wall_s: The time of the whole call, from the messages to the last event.
        cpu_s: The processor time of the whole call.
    """

    text: str
    done: Done
    wall_s: float
    cpu_s: float


class Chat:
    """A chat that Hearth and the server have side by side."""

    def __init__(self, engine: LlamaCppEngine, server: LlamaServer, title: str) -> None:
        self._loaded = engine.chat_model
        self._engine, self._server = engine, server
        self._title = title
        self._messages: tuple[Message, ...] = (Message("user", f"{title} {FIRST}"),)
        self._ours, self._theirs = list[int](), list[int]()

    def turn(self, request: ChatRequest, count: int, *, engine_first: bool) -> Turn:
        """Answer the last message in `count` tokens, and write the next one."""
        request = replace(request, messages=self._messages, max_tokens=count, chat=self._title)
        prompt = self._loaded.prompter.write(request).tokens
        # After different answers each continues from its own, which is in its cache. If the
        # template changes an earlier answer, both get its version of Hearth's.
        theirs = prompt
        if prompt[: len(self._ours)] == self._ours:
            theirs = [*self._theirs, *prompt[len(self._ours) :]]
        if engine_first:
            answer = self._ask_engine(request)
            served = self._ask_server(theirs, request)
        else:
            served = self._ask_server(theirs, request)
            answer = self._ask_engine(request)
        self._messages += (Message("assistant", answer.text), Message("user", SECOND))
        drawn = answer.done.usage.completion_tokens
        # The cache lacks a last token that was drawn and never evaluated.
        held = self._loaded.slots[0].cache.tokens[len(prompt) : len(prompt) + drawn]
        self._ours = [*prompt, *held, *served.tokens[len(held) : drawn]]
        self._theirs = [*theirs, *served.tokens]
        return _compare(answer, held, served)

    def _ask_engine(self, request: ChatRequest) -> Answer:
        sleep(REST_S)
        text, began, cpu_began = "", perf_counter(), process_time()
        for event in self._engine.chat(request, CancelToken()):
            if isinstance(event, TextDelta):
                text += event.text
            elif isinstance(event, Done):
                done = event
        return Answer(text, done, perf_counter() - began, process_time() - cpu_began)

    def _ask_server(self, prompt: list[int], request: ChatRequest) -> Served:
        assert request.max_tokens is not None
        sleep(REST_S)
        return self._server.complete(prompt, request.sampling, request.max_tokens)


def _compare(answer: Answer, drawn: Sequence[int], served: Served) -> Turn:
    """Compare two answers.

    Raises:
        RuntimeError: An answer is too short to have a speed.
    """
    done = answer.done
    steps = done.usage.completion_tokens - (done.finish_reason == "length")
    if min(steps, served.steps) < 1:
        raise RuntimeError("an answer of one token has no decoding speed")
    rates = done.timing.decode_tok_s, served.steps / served.decode_s
    token_s = answer.wall_s / (steps + 1)
    both = list(zip(drawn, served.tokens, strict=False))
    return Turn(
        decode=rates[0] / rates[1],
        first=served.prefill_s / done.timing.ttft_s,
        answer=(served.prefill_s + served.decode_s) / (served.steps + 1) / token_s,
        wall=served.wall_s / (served.steps + 1) / token_s,
        rates=rates,
        cpu_s=(answer.cpu_s / (steps + 1), served.cpu_s / (served.steps + 1)),
        evaluated=(done.usage.prompt_tokens - done.usage.cached_tokens, served.evaluated),
        drafted=(done.mtp.drafted, served.drafted),
        accepted=(done.mtp.accepted, served.accepted),
        same=next((at for at, (one, other) in enumerate(both) if one != other), len(both)),
        tokens=len(both),
    )


@dataclass(frozen=True)
class Case:
    """A comparison: Hearth's switch, and the number of tokens that the server drafts."""

    mtp: MtpMode
    depth: int | None
    server_depth: int
    temperature: float

    @property
    def name(self) -> str:
        hearth = f"{self.mtp} {self.depth}" if self.depth else self.mtp
        server = f"draft-mtp {self.server_depth}" if self.server_depth else "plain"
        return f"{hearth} / {server}, temperature {self.temperature:g}"


def measure(options: argparse.Namespace, plan: LlamaPlan) -> bool:
    """Print the figures of one model; return False if it misses the bar."""
    with ExitStack() as stack:
        engine = stack.enter_context(closing(LlamaCppEngine()))
        report = engine.load(plan, lambda _: None, CancelToken())
        drafts = report.mtp in {"drafter", "embedded"}
        libraries = None if options.own_libraries else Path(load_native().api._base_path)
        servers = {
            depth: stack.enter_context(closing(LlamaServer(options.server, plan, depth, libraries)))
            for depth in ((0, options.depth) if drafts else (0,))
        }
        print(
            f"{report.name} ({plan.model.name}): {report.parameters / 1e6:.0f} M parameters,"
            f" {plan.threads} threads. {report.mtp_line}"
        )
        passed = True
        for temperature in options.temperature or TEMPERATURES:
            cases = [Case("off", None, 0, temperature)]
            if drafts:
                cases.append(Case("on", options.depth, options.depth, temperature))
                cases.append(Case("auto", None, options.depth, temperature))
            turns = _rounds(engine, servers, cases, options.rounds, options.tokens)
            reports = [_report(case, rounds) for case, rounds in turns.items()]
            passed = passed and all(reports)
    return passed


def _rounds(
    engine: LlamaCppEngine,
    servers: Mapping[int, LlamaServer],
    cases: Sequence[Case],
    count: int,
    tokens: int,
) -> dict[Case, list[tuple[Turn, Turn]]]:
    """Return the cold and the warm turn of `count` chats of each case, after one to warm up."""
    turns: dict[Case, list[tuple[Turn, Turn]]] = {case: [] for case in cases}
    for number in range(count + 1):
        for case in cases:
            title = f"Round {number} {case.mtp} {case.temperature:g}."
            chat = Chat(engine, servers[case.server_depth], title)
            sampling = Sampling(temperature=case.temperature, seed=number + 1)
            request = ChatRequest((), sampling, mtp=case.mtp, depth=case.depth)
            engine_first = number % 2 == 0
            cold = chat.turn(request, tokens, engine_first=engine_first)
            warm = chat.turn(request, tokens, engine_first=not engine_first)
            if number:
                turns[case].append((cold, warm))
    return turns


def _report(case: Case, rounds: Sequence[tuple[Turn, Turn]]) -> bool:
    passed = True
    for name, turns in zip(("cold", "warm"), zip(*rounds, strict=True), strict=True):
        answers = [turn.answer for turn in turns]
        walls = [turn.wall for turn in turns]
        cpu = [sum(turn.cpu_s[at] for turn in turns) for at in range(2)]
        missed = case.server_depth > 0 and median(walls) < BAR
        passed = passed and not missed
        print(
            f"  {case.name}, {name}:\n"
            f"    decode {median(turn.decode for turn in turns):.3f}"
            f" ({median(turn.rates[0] for turn in turns):.1f} and"
            f" {median(turn.rates[1] for turn in turns):.1f} tok/s),"
            f" first {median(turn.first for turn in turns):.3f}"
            f" ({median(turn.evaluated[0] for turn in turns):.0f} and"
            f" {median(turn.evaluated[1] for turn in turns):.0f} tokens evaluated),"
            f" answer {median(answers):.3f} ({min(answers):.3f} to {max(answers):.3f}),"
            f" wall {median(walls):.3f} ({min(walls):.3f} to {max(walls):.3f}),"
            f" cpu {cpu[1] / cpu[0]:.3f}"
            f"{'  below the bar' if missed else ''}"
        )
        print(f"    {_tokens(turns)}{_drafts(turns)}")
    return passed


def _tokens(turns: Sequence[Turn]) -> str:
    same = sum(turn.same == turn.tokens for turn in turns)
    first = [f"after {turn.same} of {turn.tokens}" for turn in turns if turn.same < turn.tokens]
    return f"same tokens in {same} of {len(turns)} answers" + (
        f", else {', '.join(first)}" if first else ""
    )


def _drafts(turns: Sequence[Turn]) -> str:
    words = []
    for at, name in enumerate(("Hearth", "server")):
        drafted = sum(turn.drafted[at] for turn in turns)
        accepted = sum(turn.accepted[at] for turn in turns)
        if drafted:
            words.append(f"{name} {accepted} of {drafted}")
    return f"; drafts accepted: {', '.join(words)}" if words else ""


class _Pair(argparse.Action):
    """Begins a pair at --model, and completes it at --drafter."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        options: argparse.Namespace,
        value: object,
        word: str | None = None,
    ) -> None:
        if self.dest == "model":
            options.pairs.append((value, None))
        elif options.pairs:
            options.pairs[-1] = (options.pairs[-1][0], value)
        else:
            parser.error("--drafter belongs behind a --model")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--model", type=Path, action=_Pair)
    parser.add_argument("--drafter", type=Path, action=_Pair)
    parser.add_argument("--depth", type=int, default=3, choices=range(1, MAX_DEPTH + 1))
    parser.add_argument("--temperature", type=float, action="append")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--own-libraries", action="store_true")
    parser.set_defaults(pairs=[])
    options = parser.parse_args()
    # The servers then end with this process when it is told to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    pairs = options.pairs or [(STARTER / "starter.gguf", STARTER / "starter-mtp.gguf")]
    plan = LlamaPlan(STARTER, options.context, options.threads, options.threads)
    passed = [
        measure(options, replace(plan, model=model, drafter=drafter)) for model, drafter in pairs
    ]
    if not all(passed):
        print(f"With MTP an answer comes slower than {BAR} of llama-server's.")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
