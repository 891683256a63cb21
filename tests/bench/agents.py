"""Recorded sessions of agents on Hearth and on llama-server, and the tokens that each evaluates.

python tests/bench/agents.py --server PATH [--agent claude|codex|opencode]... [--turns N] [--large]

PATH is a llama-server of the same llama.cpp; tests/bench/build_server.py builds one. The requests
are those of `tests/support/agents/recorded`, of twenty turns each, sent to `hearth serve` and to
llama-server in turn, at the path that the agent uses, with an answer of one token. They lack the
parts that llama-server leaves out or refuses: tools that are no plain functions, and the reasoning
of earlier turns. So the time to the first token is measured, by the client's clock; both have
loaded the model for an earlier question. It is a made model with random weights (with --large 0.32
billion parameters in Q8_0, else a small one in F16), and its template is ChatML's with tools.

llama-server runs with one slot, 8 GB for stored prompts, and reuse of moved parts (--cache-reuse):
the best of its settings for one agent. Its evaluated tokens are the change of its counter
`llamacpp:prompt_tokens_total`; Hearth's are in its answer's usage.

At the end Hearth is restarted, and gets the last request once more.

It exits with 1 if Hearth evaluates more tokens than llama-server, if the median of the ratios of
the first tokens' times is above 1.0, or if more than 0.2 of the prompt is evaluated again after the
restart.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import signal
import socket  # noqa: TID251 - loopback, to processes of this bench
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter, sleep
from typing import Any

import httpx2

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.engines.llamacpp.random_models import Size, write_random_llama  # noqa: E402
from tests.support.agents.record import AGENTS, RECORDED  # noqa: E402
from tests.support.made_gguf import starter_tokens  # noqa: E402

CONTEXT = 65_536
SMALL = Size(layers=4, width=256, heads=4, kv_heads=2, inner=512)
LARGE = Size()
RESTART_BAR = 0.2
REASONED = ("reasoning", "thinking")
TEMPLATE = (
    "{%- if tools %}<|im_start|>system\n"
    "{%- if messages[0].role == 'system' %}{{ messages[0].content }}\n{% endif %}"
    "Tools:\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}<|im_end|>\n"
    "{%- elif messages[0].role == 'system' %}"
    "<|im_start|>system\n{{ messages[0].content }}<|im_end|>\n{%- endif %}"
    "{%- for message in messages %}"
    "{%- if message.role == 'tool' %}"
    "<|im_start|>user\n<tool_response>\n{{ message.content }}\n</tool_response><|im_end|>\n"
    "{%- elif message.role != 'system' or not loop.first %}"
    "<|im_start|>{{ message.role }}\n{{ message.content }}"
    "{%- for call in message.tool_calls or [] %}"
    "{%- set its = call.function %}\n<tool_call>\n{{ its.name }} "
    "{{ its.arguments if its.arguments is string else its.arguments | tojson }}\n</tool_call>"
    "{%- endfor %}<|im_end|>\n"
    "{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""A template of our own: ChatML with tools in the form of Hermes' models."""


@dataclass(frozen=True)
class Turn:
    """One request at one server.

    Attributes:
        evaluated: The evaluated tokens of its prompt.
        cached: The cached tokens of its prompt.
        first_s: The time to the first token in seconds.
    """

    evaluated: int
    cached: int
    first_s: float


class Asked:
    """A server and its client."""

    def __init__(self, base: str) -> None:
        self._client = httpx2.Client(base_url=base, trust_env=False, timeout=600)

    def turn(self, path: str, body: dict[str, Any]) -> Turn:
        began = perf_counter()
        answer = self._client.post(path, json=body)
        seconds = perf_counter() - began
        if answer.status_code != 200:
            raise SystemExit(f"{path}: {answer.status_code} {answer.text[:2000]}")
        return Turn(*self.read(answer.json()), seconds)

    def read(self, answer: dict[str, Any]) -> tuple[int, int]:
        """Return the number of evaluated and of cached tokens."""
        usage = answer["usage"]
        if "cache_read_input_tokens" in usage:
            return usage["input_tokens"], usage["cache_read_input_tokens"]
        read = usage.get("prompt_tokens", usage.get("input_tokens", 0))
        details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
        cached = details.get("cached_tokens", 0)
        return read - cached, cached

    def close(self) -> None:
        self._client.close()


class AskedLlama(Asked):
    """llama-server, which counts its evaluated tokens."""

    def __init__(self, base: str) -> None:
        super().__init__(base)
        self._before = self._counted()

    def read(self, answer: dict[str, Any]) -> tuple[int, int]:
        before, self._before = self._before, self._counted()
        return self._before - before, 0

    def _counted(self) -> int:
        lines = self._client.get("/metrics").text.splitlines()
        (line,) = [it for it in lines if it.startswith("llamacpp:prompt_tokens_total ")]
        return int(float(line.split()[1]))


def one_token(path: str, body: dict[str, Any], model: str) -> dict[str, Any]:
    """Return the request, with an answer of one token that comes whole."""
    limit = "max_output_tokens" if path.endswith("responses") else "max_tokens"
    body = {key: it for key, it in body.items() if key not in {"stream_options", "include"}}
    thinking = {"thinking": {"type": "disabled"}} if "messages" in path else {}
    return {**body, **thinking, "model": model, "stream": False, limit: 1, "temperature": 0}


@contextmanager
def hearth(folder: Path, model: Path) -> Iterator[Asked]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HEARTH_DATA_DIR": str(folder)}
    word = [sys.executable, "-m", "app"]

    def tell(*words: str) -> None:
        subprocess.run([*word, *words], env=environment, check=True, stdout=subprocess.DEVNULL)

    if not folder.exists():
        tell("models", "import", str(model))
        tell("settings", "set", "context", str(CONTEXT))
    serving = subprocess.Popen(
        [*word, "serve", "--no-token", "--port", "0", "--json"],
        env=environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert serving.stdout is not None
    asked = Asked(json.loads(serving.stdout.readline())["url"].removesuffix("/v1"))
    try:
        yield asked
    finally:
        asked.close()
        serving.send_signal(signal.SIGTERM)
        serving.wait(120)
        serving.stdout.close()


@contextmanager
def llama(program: Path, model: Path) -> Iterator[Asked]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = f"""
        --ctx-size {CONTEXT} --batch-size 512 --ubatch-size 512 --parallel 1 --fit off --jinja
        --threads 2 --threads-batch 2 --flash-attn auto --no-ui --offline --metrics
        --cache-ram 8192 --cache-reuse 256 --host 127.0.0.1 --port {port} --log-verbosity 2
    """.split()
    with tempfile.TemporaryFile() as log:
        serving = subprocess.Popen(
            [str(program), "--model", str(model), *words], stdout=log, stderr=log
        )
        base = f"http://127.0.0.1:{port}"
        try:
            until = monotonic() + 120
            while True:
                try:
                    if httpx2.get(f"{base}/health", trust_env=False).status_code == 200:
                        break
                except httpx2.ConnectError:
                    pass
                if monotonic() > until or serving.poll() is not None:
                    log.seek(0)
                    raise SystemExit(log.read().decode(errors="replace")[-3000:])
                sleep(0.1)
            asked = AskedLlama(base)
            try:
                yield asked
            finally:
                asked.close()
        finally:
            serving.terminate()
            serving.wait(60)


def session(agent: str, turns: int) -> list[tuple[str, dict[str, Any]]]:
    """Return the requests of a session, with the parts that both servers know."""
    found = json.loads(lzma.decompress((RECORDED / f"{agent}.json.xz").read_bytes()))
    for _, body in found:
        body["tools"] = [
            it for it in body.get("tools") or () if it.get("type", "function") == "function"
        ]
        for said in ("messages", "input"):
            if said in body:
                body[said] = _without_reasoning(body[said])
    return [(path, body) for path, body in found if body["tools"]][: turns + 1]


def _without_reasoning(said: Any) -> Any:
    """Return the messages or items of a chat without reasoning, in any protocol."""
    if isinstance(said, list):
        kept = (it for it in said if not isinstance(it, dict) or it.get("type") not in REASONED)
        return [_without_reasoning(it) for it in kept]
    if isinstance(said, dict) and "role" in said:
        other = {name: it for name, it in said.items() if name != "reasoning_content"}
        return {**other, "content": _without_reasoning(said.get("content"))}
    return said


def measure(agent: str, turns: int, program: Path, model: Path, folder: Path) -> bool:
    asked = session(agent, turns)
    first = {"model": model.stem, "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]}
    ours: list[Turn] = []
    theirs: list[Turn] = []
    with hearth(folder, model) as here, llama(program, model) as there:
        for server in (here, there):
            server.turn("/v1/chat/completions", first)
        for path, body in asked:
            ours.append(here.turn(path, one_token(path, body, model.stem)))
            theirs.append(there.turn(path, one_token(path, body, model.stem)))
    with hearth(folder, model) as here:
        here.turn("/v1/chat/completions", first)
        path, body = asked[-1]
        again = here.turn(path, one_token(path, body, model.stem))
    read, read_there = sum(it.evaluated for it in ours), sum(it.evaluated for it in theirs)
    times = [one.first_s / other.first_s for one, other in zip(ours, theirs, strict=True)]
    anew = again.evaluated / (again.evaluated + again.cached)
    last = ours[-1]
    print(f"{agent}: {len(asked)} requests, the last of {last.evaluated + last.cached} tokens")
    print(f"  evaluated in all: Hearth {read}, llama-server {read_there}")
    print(f"  in the first: {ours[0].evaluated} and {theirs[0].evaluated}")
    print(f"  in a later one, median: {median(it.evaluated for it in ours[1:])}"
          f" and {median(it.evaluated for it in theirs[1:])}")  # fmt: skip
    low, high = min(times[1:]), max(times[1:])
    print(f"  time to the first token over llama-server's: first {times[0]:.2f},"
          f" then median {median(times[1:]):.2f}, {low:.2f} to {high:.2f}")  # fmt: skip
    print(f"  in seconds, median of the later ones: {median(it.first_s for it in ours[1:]):.2f}"
          f" and {median(it.first_s for it in theirs[1:]):.2f}")  # fmt: skip
    print(f"  after a restart: {anew:.3f} of the prompt is read anew, in {again.first_s:.2f} s"
          f" (at first {ours[0].first_s:.2f} s)")  # fmt: skip
    return read <= read_there and median(times) <= 1.0 and anew <= RESTART_BAR


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--agent", action="append", choices=AGENTS)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--large", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        size = LARGE if args.large else SMALL
        tokenizer = {**starter_tokens().values, "tokenizer.chat_template": TEMPLATE}
        model = write_random_llama(
            Path(place) / "agent.gguf",
            size, quantised=args.large, tokenizer=tokenizer, context=CONTEXT,
        )  # fmt: skip
        well = [
            measure(agent, args.turns, args.server, model, Path(place) / agent)
            for agent in args.agent or AGENTS
        ]
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
