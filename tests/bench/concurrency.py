"""Many answers at once: Hearth's engine beside llama-server of the same sources.

python tests/bench/concurrency.py --server PATH [--dir DIR] [--model FILE]... [--clients N]...
                                  [--rounds N] [--tokens N] [--threads N] [--temperature T]
                                  [--newcomer N] [--own-libraries] [--gpu-layers N]

PATH is a llama-server of the same llama.cpp; tests/bench/build_server.py builds one. Both get the
same file, slots, threads, batch, prompts and sampler, and take turns with a rest between, so that
they never compute at the same time. Without --model they answer with a model of 0.3 billion random
weights, made once in DIR, in Q8_0 and in Q4_K. A round is one answer for each of N clients that all
ask at once; the server computes with Hearth's own libllama and libggml, unless --own-libraries is
given.

Figures are medians of the ratios of neighbouring rounds; above 1 Hearth is better.

    total   tokens a second of all answers together, from the first question to the last token
    first   time to the first token, at the 95th percentile of a round's clients
    cpu     processor time for a round, of Hearth with its clients and of the server without;
            steady on a busy machine, where the others are not
    gap     the longest time that an answer which is being written waits for its next token while
            a newcomer's prompt of 4,000 tokens is read

A client of Hearth's is a thread that reads the events of `Engine.chat`, with template, tokeniser
and text. A client of the server's gets the tokens by HTTP, and does not parse them. All are in this
process. It exits with 1 if a total or a first is below 1.0.
"""

from __future__ import annotations

import argparse
import gc
import signal
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from threading import Barrier
from time import perf_counter, process_time, sleep

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from engines.cancel import CancelToken  # noqa: E402
from engines.llamacpp.engine import LlamaCppEngine  # noqa: E402
from engines.llamacpp.native import load_native  # noqa: E402
from engines.types import (  # noqa: E402
    ChatRequest,
    LlamaPlan,
    Message,
    PromptReady,
    Sampling,
)
from tests.bench.llama_server import LlamaServer  # noqa: E402
from tests.engines.llamacpp.random_models import Size, write_random_llama  # noqa: E402
from tests.support.made_gguf import starter_tokens  # noqa: E402
from tests.support.mtp_models import VOCABULARY, quantised  # noqa: E402

BAR = 1.0
REST_S = 0.2
CLIENTS = (1, 4, 8, 16)
CONTEXT = 512
WORDS = "Tell me all about Hearth, and where it keeps its chats. " * 3
LONG = "The quick brown fox jumps over the lazy dog, and so on. "
RUNNING = 3
"""The answers that are being written when a newcomer comes."""

Ask = Callable[[ChatRequest], list[float]]
"""Asks, reads the answer, and returns the time of each token."""


@dataclass(frozen=True)
class Round:
    """The figures of a round.

    Attributes:
        total: Tokens a second.
        first: Seconds to the first token, at the 95th percentile.
        cpu: Seconds of the processor.
    """

    total: float
    first: float
    cpu: float


def made(folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    plain = folder / "many-F16.gguf"
    if not plain.exists():
        begun = write_random_llama(
            plain.with_suffix(".part"), Size(), tokenizer=starter_tokens(VOCABULARY).values
        )
        begun.replace(plain)
    return [quantised(plain, folder / f"many-{kind}.gguf", kind) for kind in ("Q8_0", "Q4_K")]


def ask_engine(engine: LlamaCppEngine, request: ChatRequest) -> list[float]:
    """Return the time of each event. Tokens may have no text; the last time is the answer's end."""
    events = engine.chat(request, CancelToken())
    return [perf_counter() for event in events if not isinstance(event, PromptReady)]


def ask_server(engine: LlamaCppEngine, server: LlamaServer, request: ChatRequest) -> list[float]:
    """Return the same of the server, from the tokens that Hearth makes of the prompt beforehand."""
    assert request.max_tokens is not None
    loaded = engine.chat_model
    prompt = loaded.prompter.write(request).tokens
    return server.moments(prompt, request.sampling, request.max_tokens)


def one_round(ask: Ask, requests: Sequence[ChatRequest], spent: Callable[[], float]) -> Round:
    """Let all clients ask at once.

    Args:
        ask: Asks and reads an answer.
        requests: One request per client.
        spent: Returns the processor time of the answering side so far.
    """
    sleep(REST_S)
    gc.collect()
    begin = Barrier(len(requests) + 1)

    def client(request: ChatRequest) -> list[float]:
        begin.wait()
        return ask(request)

    with ThreadPoolExecutor(len(requests)) as pool:
        answers = [pool.submit(client, request) for request in requests]
        begin.wait()
        began, cpu_began = perf_counter(), spent()
        moments = [answer.result() for answer in answers]
        cpu = spent() - cpu_began
    firsts = sorted(each[0] - began for each in moments)
    seconds = max(each[-1] for each in moments) - began
    tokens = sum(request.max_tokens or 0 for request in requests)
    first = quantiles(firsts, n=20, method="inclusive")[-1] if len(firsts) > 1 else firsts[0]
    return Round(tokens / seconds, first, cpu)


def longest_gap(ask: Ask, running: Sequence[ChatRequest], newcomer: ChatRequest) -> float:
    """Return the longest gap in a running answer between a newcomer's question and first token."""
    sleep(REST_S)
    with ThreadPoolExecutor(len(running)) as pool:
        answers = [pool.submit(ask, request) for request in running]
        sleep(1.0)
        began = perf_counter()
        ended = ask(newcomer)[0]
        moments = [answer.result() for answer in answers]
    gaps = [
        later - earlier
        for each in moments
        for earlier, later in pairwise(each)
        if later > began and earlier < ended
    ]
    if not gaps or any(each[-1] < ended for each in moments):
        raise RuntimeError("the running answers ended before the newcomer's first token")
    return max(gaps)


def measure(options: argparse.Namespace, model: Path, clients: int) -> bool:
    plan = LlamaPlan(
        model,
        CONTEXT,
        options.threads,
        options.threads,
        gpu_layers=options.gpu_layers,
        draft_max=0,
        parallel=clients,
        kept_bytes=0,
    )
    with ExitStack() as stack:
        ours, theirs, _, server = _both(stack, options, plan)
        spent = {ours: process_time, theirs: server.cpu_s}
        rounds: list[tuple[Round, Round]] = []
        for number in range(options.rounds + 1):
            requests = [
                _request(f"Round {number}, client {client}. {WORDS}", options)
                for client in range(clients)
            ]
            order = (ours, theirs) if number % 2 else (theirs, ours)
            found = {ask: one_round(ask, requests, spent[ask]) for ask in order}
            rounds.append((found[ours], found[theirs]))
    del rounds[0]  # the first reads the weights
    totals = [one.total / other.total for one, other in rounds]
    firsts = [other.first / one.first for one, other in rounds]
    cpus = [other.cpu / one.cpu for one, other in rounds]
    passed = median(totals) >= BAR and median(firsts) >= BAR
    print(
        f"{model.stem}, {clients} at once: total {median(totals):.3f}"
        f" ({min(totals):.3f} to {max(totals):.3f};"
        f" {median(one.total for one, _ in rounds):.1f} and"
        f" {median(other.total for _, other in rounds):.1f} tok/s),"
        f" first {median(firsts):.3f} ({min(firsts):.3f} to {max(firsts):.3f};"
        f" {median(one.first for one, _ in rounds):.2f} and"
        f" {median(other.first for _, other in rounds):.2f} s),"
        f" cpu {median(cpus):.3f} ({min(cpus):.3f} to {max(cpus):.3f})"
        f"{'' if passed else '  below the bar'}",
        flush=True,
    )
    return passed


def measure_gap(options: argparse.Namespace, model: Path) -> None:
    plan = LlamaPlan(
        model, options.newcomer + CONTEXT, options.threads, options.threads,
        gpu_layers=options.gpu_layers, draft_max=0, parallel=RUNNING + 1, kept_bytes=0,
    )  # fmt: skip
    with ExitStack() as stack:
        ours, theirs, engine, _ = _both(stack, options, plan)
        loaded = engine.chat_model
        length = len(loaded.model.vocabulary.tokenise(LONG))
        # The likeliest words of random weights soon repeat themselves, which ends an answer.
        running = [
            _request(f"Running {number}. {WORDS}", options, options.newcomer // 16, 1.0)
            for number in range(RUNNING)
        ]
        newcomer = _request(LONG * (options.newcomer // length), options, count=2)
        gaps = {ask: longest_gap(ask, running, newcomer) for ask in (ours, theirs)}
    print(
        f"{model.stem}, a newcomer of {options.newcomer} tokens beside {RUNNING}: gap"
        f" {gaps[theirs] / gaps[ours]:.3f} ({gaps[ours]:.2f} and {gaps[theirs]:.2f} s)",
        flush=True,
    )


def _both(
    stack: ExitStack, options: argparse.Namespace, plan: LlamaPlan
) -> tuple[Ask, Ask, LlamaCppEngine, LlamaServer]:
    engine = stack.enter_context(closing(LlamaCppEngine()))
    engine.load(plan, lambda _: None, CancelToken())
    libraries = None if options.own_libraries else Path(load_native().api._base_path)
    server = stack.enter_context(closing(LlamaServer(options.server, plan, 0, libraries)))
    return partial(ask_engine, engine), partial(ask_server, engine, server), engine, server


def _request(
    text: str,
    options: argparse.Namespace,
    count: int | None = None,
    temperature: float | None = None,
) -> ChatRequest:
    heat = options.temperature if temperature is None else temperature
    sampling = Sampling(temperature=heat, seed=1)
    return ChatRequest((Message("user", text),), sampling, count or options.tokens, mtp="off")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--dir", type=Path, default=ROOT / ".cache" / "bench")
    parser.add_argument("--model", type=Path, action="append")
    parser.add_argument("--clients", type=int, action="append")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--newcomer", type=int, default=4000)
    parser.add_argument("--own-libraries", action="store_true")
    parser.add_argument("--gpu-layers", type=int, default=0, help="-1 is all of them")
    options = parser.parse_args()
    # The servers then end with this process when it is told to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    passed = True
    for model in options.model or made(options.dir):
        for clients in options.clients or CLIENTS:
            passed = measure(options, model, clients) and passed
        if options.newcomer:
            measure_gap(options, model)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
