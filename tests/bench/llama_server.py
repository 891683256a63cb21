"""A llama-server that computes for a bench, and its figures for each answer."""

from __future__ import annotations

import json
import os
import socket  # noqa: TID251 - loopback, to a process of this bench
import subprocess
import tempfile
from dataclasses import dataclass
from http.client import HTTPConnection  # noqa: TID251 - as above
from pathlib import Path
from time import monotonic, perf_counter, sleep

import psutil

from engines.models.gguf.header import read_header
from engines.types import LlamaPlan, Sampling

LOOPBACK = "127.0.0.1"
PATIENCE_S = 120
"""The time limit for a start or an answer."""


@dataclass(frozen=True)
class Served:
    """One answer.

    Attributes:
        tokens: The drawn tokens, without an end marker.
        steps: The tokens after the first, including the end marker.
        prefill_s: The time to evaluate the prompt, by the server's clock.
        decode_s: The time to decode, by the server's clock.
        wall_s: The whole time, by the client's clock.
        cpu_s: The server's processor time.
    """

    tokens: list[int]
    steps: int
    prefill_s: float
    decode_s: float
    wall_s: float
    cpu_s: float
    evaluated: int
    cached: int
    drafted: int
    accepted: int


class LlamaServer:
    """A llama-server with the settings that Hearth's engine gives llama.cpp. Always close it.

    Args:
        program: The program.
        plan: The plan of the load.
        depth: The tokens that it guesses ahead with the plan's drafter or heads; 0 for no drafting.
        libraries: The folder with the libllama and libggml to use; None for those of its build.

    Raises:
        RuntimeError: It does not start; the message has its output.
    """

    def __init__(self, program: Path, plan: LlamaPlan, depth: int, libraries: Path | None) -> None:
        with socket.socket() as free:
            free.bind((LOOPBACK, 0))
            self._port = free.getsockname()[1]
        # The server chooses for itself how its threads wait for each other, without the settings
        # that `native.py` has made for this process.
        ours = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}
        environment = {name: text for name, text in os.environ.items() if name not in ours}
        if libraries:
            environment |= {"LD_LIBRARY_PATH": str(libraries), "DYLD_LIBRARY_PATH": str(libraries)}
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - it is open as long as the server
        self._process = subprocess.Popen(
            [str(program), *_words(plan, depth), "--host", LOOPBACK, "--port", str(self._port)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        try:
            self._wait_until_ready()
        except BaseException:
            self.close()
            raise

    def complete(
        self, prompt: list[int], sampling: Sampling, count: int, *, reuse: bool = True
    ) -> Served:
        """Write an answer of at most `count` tokens.

        Its text comes token by token, as in a chat, and is joined after the clock has stopped.

        Args:
            prompt: The tokens of the prompt.
            sampling: The settings of the sampler.
            count: The most tokens.
            reuse: True to use the part of the prompt in its cache.
        """
        load_options = {
            "prompt": prompt,
            "n_predict": count,
            "cache_prompt": reuse,
            "stream": True,
            **_samplers(sampling),
        }
        began, cpu_began = perf_counter(), self.cpu_s()
        raw = self._ask("POST", "/completion", load_options)
        wall_s, cpu_s = perf_counter() - began, self.cpu_s() - cpu_began
        pieces = [json.loads(line[6:]) for line in raw.splitlines() if line.startswith(b"data: ")]
        if not pieces or "timings" not in pieces[-1]:
            raise RuntimeError(f"llama-server refused: {raw.decode(errors='replace')}")
        tokens = [token for piece in pieces for token in piece["tokens"]]
        timings, ended = pieces[-1]["timings"], pieces[-1]["stop_type"] == "eos"
        return Served(
            tokens=tokens[: -1 if ended else None],
            steps=timings["predicted_n"] - 1,
            prefill_s=timings["prompt_ms"] / 1000,
            decode_s=timings["predicted_ms"] / 1000,
            wall_s=wall_s,
            cpu_s=cpu_s,
            evaluated=timings["prompt_n"],
            cached=timings["cache_n"],
            drafted=timings.get("draft_n", 0),
            accepted=timings.get("draft_n_accepted", 0),
        )

    def moments(self, prompt: list[int], sampling: Sampling, count: int) -> list[float]:
        """Return the `time.perf_counter` of each of `count` tokens, without parsing them."""
        options = {
            "prompt": prompt,
            "n_predict": count,
            "cache_prompt": True,
            "stream": True,
            "ignore_eos": True,
            **_samplers(sampling),
        }
        connection = HTTPConnection(LOOPBACK, self._port, timeout=PATIENCE_S)
        try:
            connection.request("POST", "/completion", json.dumps(options))
            response = connection.getresponse()
            return [perf_counter() for line in response if line.startswith(b"data: ")][:count]
        finally:
            connection.close()

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def cpu_s(self) -> float:
        """Return the processor time of the server since it began."""
        times = psutil.Process(self._process.pid).cpu_times()
        return times.user + times.system

    def _wait_until_ready(self) -> None:
        end = monotonic() + PATIENCE_S
        while monotonic() < end and self._process.poll() is None:
            try:
                if json.loads(self._ask("GET", "/health")).get("status") == "ok":
                    return
            except ConnectionRefusedError:
                pass
            sleep(0.05)
        self._log.seek(0)
        said = self._log.read().decode(errors="replace")
        raise RuntimeError(f"llama-server did not start. It said:\n{said[-4000:]}")

    def _ask(self, method: str, path: str, body: dict[str, object] | None = None) -> bytes:
        connection = HTTPConnection(LOOPBACK, self._port, timeout=PATIENCE_S)
        try:
            connection.request(method, path, json.dumps(body) if body else None)
            return connection.getresponse().read()
        finally:
            connection.close()


def _words(plan: LlamaPlan, depth: int) -> list[str]:
    """Return the arguments that open the model as `Context` does, without parts for chats."""
    words = f"""
        --ctx-size {plan.context * plan.parallel} --parallel {plan.parallel}
        --batch-size {plan.batch} --ubatch-size {plan.batch}
        --threads {plan.threads} --threads-batch {plan.batch_threads}
        --cache-type-k {plan.kv_type} --cache-type-v {plan.kv_type} --flash-attn auto --fit off
        --gpu-layers {"all" if plan.gpu_layers < 0 else plan.gpu_layers} --no-perf --offline
        --no-ui --cache-ram 0 --log-verbosity 2
    """.split()
    if not plan.mmap:
        words.append("--no-mmap")
    if depth:
        words += f"""
            --spec-type {_spec_type(plan)} --spec-draft-n-max {depth}
            --cache-type-k-draft {plan.kv_type} --cache-type-v-draft {plan.kv_type}
        """.split()
        if plan.drafter:
            words += ["--model-draft", str(plan.drafter)]
    return ["--model", str(plan.model), *words]


def _spec_type(plan: LlamaPlan) -> str:
    """Return the server's name for a kind of drafter."""
    header = read_header(plan.drafter) if plan.drafter else None
    if header is None or header.features is None:
        return "draft-simple" if header and header.kind == "chat" else "draft-mtp"
    marked = any(tensor.name == "markov_w1.weight" for tensor in header.tensors)
    return "draft-dspark" if marked else f"draft-{header.architecture}"


def _samplers(sampling: Sampling) -> dict[str, object]:
    """Return Hearth's samplers. Greedy uses the server's cheapest: the best of one candidate."""
    if sampling.temperature <= 0:
        return {"samplers": ["top_k"], "top_k": 1}
    return {
        "samplers": ["top_k", "top_p", "min_p", "temperature"],
        "top_k": sampling.top_k,
        "top_p": sampling.top_p,
        "min_p": sampling.min_p,
        "temperature": sampling.temperature,
        "seed": sampling.seed,
        "min_keep": 1,
    }
