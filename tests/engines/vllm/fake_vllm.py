"""A small server that behaves like vLLM, for tests of its supervision: standard library only.

It is started like vLLM, and its folder's behaviour.json sets its behaviour:

- it prints the lines of a start, binds late, and has an engine as its child, and that a worker;
- "seconds": how long each phase takes; "hold": the phase ("starting", "loading") at which it waits;
- "hushed": it accepts a question about its health, and answers nothing;
- "busy": its worker computes all the time; "token_s": how long it takes for each further token;
- "chatters": it writes four kilobytes of its log for each token;
- "pauses": after the first word an answer waits until there is a file "go";
- at SIGTERM it ends its engine and itself; "obstinate": it ignores that;
- "orphan": its worker leaves a process in another session;
- "deserts": each of its processes leaves others that only share its variables, one many of them;
- adapters that are loaded and unloaded are written to adapters.log; "refuses": one that is not;
- "card": its log is that of a start on a card; "line_s": how long each line of it takes;
- "compiles": then it compiles a kernel until there is a file "compiled", and is silent meanwhile;
- "fails": lines that it prints instead of loading, before it exits with 1;
- when its engine dies it ends with the exit code 0, and a stream with an error in it.
"""

from __future__ import annotations

import http.server  # noqa: TID251  it is a server, and alone
import json
import os
import signal
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.engines.vllm import card_log

HERE = Path(os.environ["FAKE_VLLM"])
BEHAVIOUR: dict[str, Any] = json.loads((HERE / "behaviour.json").read_text())
ANSWER = [f" word{number}" for number in range(400)]
dead = threading.Event()
running: list[int] = []


def say(line: str, who: str = "APIServer") -> None:
    print(f"({who} pid={os.getpid()}) INFO 11-21 15:31:16 [fake.py:1] {line}", flush=True)


def phase(name: str) -> None:
    (HERE / f"{name}.{os.getppid()}").touch()
    while BEHAVIOUR.get("hold") == name:
        time.sleep(0.05)
    time.sleep(BEHAVIOUR.get("seconds", 0.0))


def print_slowly(lines: Iterable[str]) -> None:
    for line in lines:
        print(line, flush=True)
        time.sleep(BEHAVIOUR.get("line_s", 0.0))


def compile_kernel() -> None:
    """Run a program that looks like a compiler and computes, again and again."""
    compiler = HERE / "cicc"
    compiler.symlink_to(sys.executable)
    work = "import time\nwhile time.process_time() < 0.3: pass"
    while not (HERE / "compiled").exists():
        subprocess.run([compiler, "-S", "-c", work], check=True)


def child(be: Callable[[], None]) -> int:
    """Start a child that runs `be`; return its process id."""
    number = os.fork()
    if number == 0:
        if not BEHAVIOUR.get("obstinate"):
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        be()
        os._exit(1)
    return number


def desert() -> None:
    """Leave an orphan in another session, without open files, that ignores SIGTERM."""
    if not BEHAVIOUR.get("deserts") or os.fork():
        return
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.setsid()
    os.closerange(0, 256)
    if not os.fork():
        time.sleep(600)
    os._exit(0)


def be_engine() -> None:
    desert()
    os.waitpid(child(be_worker), 0)
    say("Worker proc died unexpectedly", "EngineCore")


def be_worker() -> None:
    if BEHAVIOUR.get("orphan"):
        child(be_orphan)
    for _ in range(20 if BEHAVIOUR.get("deserts") else 0):
        desert()
        time.sleep(0.025)
    while BEHAVIOUR.get("busy"):
        pass
    time.sleep(600)


def be_orphan() -> None:
    os.setsid()
    time.sleep(600)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Write nothing, as its log is that of vLLM."""

    def address_string(self) -> str:
        return "socket"

    def do_GET(self) -> None:
        if self.path == "/health":
            if BEHAVIOUR.get("hushed"):
                (HERE / "hushed").touch()
                time.sleep(600)
            self.send(503 if dead.is_set() else 200, "")
        elif self.path == "/v1/models":
            self.send(200, json.dumps({"data": [{"id": "model", "max_model_len": 512}]}))
        elif self.path == "/metrics":
            figures = {"num_requests_running": len(running), "kv_cache_usage_perc": 0.125}
            lines = (f'vllm:{name}{{engine="0"}} {it:.3f}\n' for name, it in figures.items())
            self.send(200, "".join(lines))
        else:
            self.send(404, "{}")

    def do_POST(self) -> None:
        key = os.environ.get("VLLM_API_KEY")
        if key and self.headers["authorization"] != f"Bearer {key}":
            self.send(401, '{"error":"Unauthorized"}')
            return
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("_lora_adapter"):
            self.adapt(body)
            return
        if self.path == "/tokenize":
            text = json.dumps(body.get("messages") or body.get("prompt"))
            self.send(200, json.dumps({"tokens": list(range(len(text) // 4))}))
            return
        (HERE / "asked.json").write_text(json.dumps(body))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        running.append(1)
        try:
            self.stream(int(body.get("max_tokens") or 20))
        except OSError:
            pass  # the client hung up
        finally:
            running.pop()

    def adapt(self, body: dict[str, str]) -> None:
        """Load or unload an adapter if the variable allows it; "refuses" names one that fails."""
        if os.environ.get("VLLM_ALLOW_RUNTIME_LORA_UPDATING") != "1":
            self.send(404, '{"detail":"Not Found"}')
        elif body["lora_name"] == BEHAVIOUR.get("refuses"):
            self.send(500, '{"error":{"message":"it does not fit","code":500}}')
        else:
            with (HERE / "adapters.log").open("a") as log:
                log.write(f"{self.path.split('/')[-1][:4]} {body['lora_name']}\n")
            self.send(200, "Success")

    def stream(self, most: int) -> None:
        self.event({"choices": [{"index": 0, "delta": {"role": "assistant"}}]}, 0)
        for number, word in enumerate(ANSWER[:most], 1):
            if dead.is_set():
                self.write('data: {"error": {"message": "EngineCore died", "code": 500}}\n\n')
                self.write("data: [DONE]\n\n")
                return
            end = "length" if number == most else None
            delta = {"index": 0, "delta": {"content": word}, "finish_reason": end}
            self.event({"choices": [delta]}, number)
            if BEHAVIOUR.get("chatters"):
                say("x" * 4096)
            time.sleep(BEHAVIOUR.get("token_s", 0.0) if end is None else 0.0)
            while BEHAVIOUR.get("pauses") and not ((HERE / "go").exists() or dead.is_set()):
                time.sleep(0.02)
        self.event({"choices": []}, most)
        self.write("data: [DONE]\n\n")

    def event(self, value: dict[str, Any], tokens: int) -> None:
        value["usage"] = {"prompt_tokens": 7, "completion_tokens": tokens}
        self.write(f"data: {json.dumps(value)}\n\n")

    def write(self, text: str) -> None:
        self.wfile.write(text.encode())
        self.wfile.flush()

    def send(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class OnSocket(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class OnPort(http.server.ThreadingHTTPServer):
    daemon_threads = True


def watch(engine: int) -> None:
    os.waitpid(engine, 0)
    print(
        f"(APIServer pid={os.getpid()}) ERROR 11-21 15:31:16 [fake.py:1]"
        " EngineDeadError: EngineCore encountered an issue. See stack trace",
        flush=True,
    )
    dead.set()
    ends = time.monotonic() + 10
    while running and time.monotonic() < ends:  # their streams end with the error
        time.sleep(0.01)
    os._exit(0)


def end(*_: object) -> None:
    # Everything except the process that has left its session.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    os._exit(0)


def main() -> None:
    if BEHAVIOUR.get("obstinate"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, end)
    words = sys.argv[1:]
    desert()
    say("non-default args: {}")
    phase("starting")
    say("Resolved architecture: Gemma4ForCausalLM")
    say("WARNING OSError: [Errno 24] is harmless here")
    engine = child(be_engine)
    if BEHAVIOUR.get("card"):
        print_slowly((*card_log.BEFORE_COMPILING, card_log.KERNEL))
    else:
        say("Initializing a V1 LLM engine (v0.32.0) with config: model='x'")
        say("Starting to load model x...")
        print("Loading safetensors checkpoint shards:  50% Completed | 1/2\r", end="", flush=True)
    if BEHAVIOUR.get("compiles"):
        compile_kernel()
    for line in BEHAVIOUR.get("fails", []):
        print(line, flush=True)
    if BEHAVIOUR.get("fails"):
        os.kill(engine, signal.SIGKILL)
        sys.exit(1)
    threading.Thread(target=watch, args=(engine,), daemon=True).start()
    phase("loading")
    if BEHAVIOUR.get("card"):
        print_slowly(card_log.AFTER_COMPILING)
    else:
        say("Loading weights took 0.03 seconds")
        say("CPU KV cache size: 645,277 tokens, Maximum concurrency for 512 tokens")
    server: socketserver.BaseServer
    if "--uds" in words:
        server = OnSocket(words[words.index("--uds") + 1], Handler)
    else:
        server = OnPort(("127.0.0.1", int(words[words.index("--port") + 1])), Handler)
    say("Starting vLLM server on unix:/somewhere")
    (HERE / "words.json").write_text(json.dumps([words, dict(os.environ)]))
    server.serve_forever()


if __name__ == "__main__":
    main()
