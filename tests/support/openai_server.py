"""A scripted server on this computer that speaks OpenAI's protocol as real ones do.

The shapes of answers and errors are those that vLLM 0.32, llama-server and OpenAI send.
"""

from __future__ import annotations

import json
import socket  # noqa: TID251 - a server of this computer's own
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer  # noqa: TID251
from typing import Any
from urllib.parse import urlsplit

from engines.openai.values import ServerKind
from tests.support.word_model import answer_to, prompt_of, tokens_of

Body = dict[str, Any]
Endpoints = dict[str, Callable[[Body], Any]]
DONE = b"data: [DONE]\n\n"


@dataclass
class Asked:
    """A request that has arrived.

    Attributes:
        headers: The headers, with lower-case names.
        gone: Set when the client hangs up.
        ended: Set when nothing works on the request any more.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: Body
    gone: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)


@dataclass
class Reply:
    """A reply.

    Attributes:
        body: The bytes, or the pieces of a stream, one write each.
        pace_s: The pause between pieces, in seconds.
        cut: True to end the connection before the end of the body.
    """

    body: bytes | Iterable[bytes]
    status: int = 200
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    pace_s: float = 0.0
    cut: bool = False


def event(value: object) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def chunk(delta: Body, finish: str | None = None, **more: object) -> bytes:
    """Return one object of a streamed answer."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return event({"object": "chat.completion.chunk", "choices": [choice], **more})


def stream(*pieces: bytes, **options: Any) -> Reply:
    return Reply(pieces, kind="text/event-stream; charset=utf-8", **options)


def refusal(status: int, message: str, **more: object) -> Reply:
    """Return an error as OpenAI, vLLM and llama-server write it."""
    error = {"message": message, "type": "invalid_request_error", "code": status, **more}
    return Reply(json.dumps({"error": error}).encode(), status)


class OpenAiServer:
    """A server that answers with a model of words, or with scripted replies.

    Use it as a context manager.

    Attributes:
        asked: The requests so far.
        api_key: The key that a request must carry; None for no key.
        replies: Scripted replies by path, each sent once, in order, instead of an answer.
        dies: Set it to make the next answer fail in the middle.
    """

    def __init__(
        self,
        kind: ServerKind = "vllm",
        *,
        context: int = 512,
        api_key: str | None = None,
        tls: ssl.SSLContext | None = None,
        pace_s: float = 0.0,
    ) -> None:
        self.kind, self.context, self.api_key, self.pace_s = kind, context, api_key, pace_s
        self.model = "tiny"
        self.drafts = False
        self.dies = threading.Event()
        self.asked: list[Asked] = []
        self.replies: dict[str, list[Reply | Callable[[Body], Reply]]] = {}
        self._taking = threading.Lock()
        self._http = _Listener(("127.0.0.1", 0), _Handler)
        self._http.openai = self
        if tls is not None:
            self._http.socket = tls.wrap_socket(
                self._http.socket, server_side=True, do_handshake_on_connect=False
            )
        scheme = "http" if tls is None else "https"
        self.port = self._http.server_address[1]
        self.address = f"{scheme}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.005,))

    def __enter__(self) -> OpenAiServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def script(self, path: str, *replies: Reply | Callable[[Body], Reply]) -> None:
        self.replies.setdefault(path, []).extend(replies)

    def chats(self) -> list[Body]:
        """Return the bodies of the requests for chats."""
        return [it.body for it in self.asked if it.path == "/v1/chat/completions"]

    def reply(self, asked: Asked) -> Reply:
        path = urlsplit(asked.path).path  # a proxy receives whole addresses
        with self._taking:
            scripted = next(iter(self.replies.get(path, ())), None)
            if scripted is not None:
                del self.replies[path][0]
        if scripted is not None:
            return scripted if isinstance(scripted, Reply) else scripted(asked.body)
        guarded = path.startswith("/v1") or self.kind == "llama-server"
        if (
            guarded
            and self.api_key
            and asked.headers.get("authorization") != (f"Bearer {self.api_key}")
        ):
            return Reply(b'{"error":"Unauthorized"}', 401)
        made = self._endpoints().get(f"{asked.method} {path}")
        if made is None:
            return Reply(b'{"detail":"Not Found"}', 404)
        found = made(asked.body)
        return found if isinstance(found, Reply) else Reply(json.dumps(found).encode())

    def _endpoints(self) -> Endpoints:
        common: Endpoints = {
            "GET /v1/models": lambda _: {"object": "list", "data": [self._listed()]},
            "POST /v1/chat/completions": self.chat,
        }
        own: dict[ServerKind, Endpoints] = {
            "vllm": {
                "GET /version": lambda _: {"version": "0.32.0"},
                "POST /tokenize": self._tokenize,
                "GET /metrics": lambda _: Reply(self._metrics(), kind="text/plain"),
            },
            "llama-server": {
                "GET /props": lambda _: {
                    "build_info": "b9999-abc",
                    "total_slots": 1,
                    "default_generation_settings": {"n_ctx": self.context},
                    "chat_template": "{{ messages }}",
                },
                "POST /apply-template": lambda body: {"prompt": prompt_of(body)},
                "POST /tokenize": self._tokenize,
            },
            "lmstudio": {
                "GET /api/v0/models": lambda _: {
                    "data": [
                        {
                            "id": self.model,
                            "type": "llm",
                            "state": "loaded",
                            "loaded_context_length": self.context,
                            "max_context_length": 4 * self.context,
                        }
                    ]
                }
            },
            "ollama": {"GET /api/version": lambda _: {"version": "0.12.3"}},
            "sglang": {
                "GET /get_model_info": lambda _: {"model_path": self.model},
                "GET /get_server_info": lambda _: {"version": "0.5.5"},
            },
            "openai": {},
        }
        return common | own[self.kind]

    def _listed(self) -> Body:
        owner = {"vllm": "vllm", "llama-server": "llamacpp", "sglang": "sglang"}
        row: Body = {"id": self.model, "object": "model", "owned_by": owner.get(self.kind, "them")}
        if self.kind in ("vllm", "sglang"):
            row["max_model_len"] = self.context
        if self.kind == "llama-server":
            row["meta"] = {"n_ctx": self.context, "n_params": 1234, "size": 5678}
        return row

    def _metrics(self) -> bytes:
        drafts = "vllm:spec_decode_num_draft_tokens_total 12.0\n" if self.drafts else ""
        return f"vllm:num_requests_running 0.0\n{drafts}".encode()

    def _tokenize(self, body: Body) -> Body:
        text = (
            prompt_of(body)
            if "messages" in body
            else str(body.get("content") or body.get("prompt"))
        )
        numbers = [len(token) for token in tokens_of(text)]
        return {"count": len(numbers), "max_model_len": self.context, "tokens": numbers}

    def chat(self, body: Body) -> Reply:
        """Answer with the model of words."""
        if body["model"] != self.model:
            return refusal(404, f"The model `{body['model']}` does not exist.")
        length = len(tokens_of(prompt_of(body)))
        if length >= self.context:
            return refusal(
                400,
                f"This model's maximum context length is {self.context} tokens. However, your "
                f"prompt contains {length} input tokens, which exceeds this limit.",
            )
        return Reply(self._pieces(body), kind="text/event-stream", pace_s=self.pace_s)

    def dying(self, body: Body) -> Reply:
        """Return an answer that waits for `dies` after its first word, and then fails."""
        return Reply(self._pieces(body, waits=True), kind="text/event-stream")

    def _progress(self, length: int) -> Iterator[bytes]:
        """Yield llama-server's progress: at the start, after each part, and twice at the end."""
        for read in (*range(0, length, 64), length, length):
            yield chunk(
                {"role": "assistant", "content": None},
                prompt_progress={"total": length, "cache": 0, "processed": read, "time_ms": read},
            )

    def _pieces(self, body: Body, *, waits: bool = False) -> Iterator[bytes]:
        length, said, finish = answer_to(body, self.context)
        often = body.get("stream_options", {}).get("continuous_usage_stats", False)

        def usage(count: int) -> Body:
            return {"prompt_tokens": length, "completion_tokens": count}

        if self.kind == "llama-server" and body.get("return_progress"):
            yield from self._progress(length)
        yield chunk({"role": "assistant", "content": ""}, **_if(often, usage(0)))
        for at, word in enumerate(said, 1):
            if waits and at > 1:
                self.dies.wait(60)
            if self.dies.is_set():
                self.dies.clear()
                yield event({"error": {"message": "EngineCore died", "code": 500}})
                yield DONE
                return
            yield chunk({"content": word}, **_if(often, usage(at)))
        yield chunk({}, finish, **_if(often, usage(len(said))))
        yield event({"choices": [], "usage": usage(len(said))})
        yield DONE


def _if(wanted: bool, usage: Body) -> Body:
    return {"usage": usage} if wanted else {}


class _Listener(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    openai: OpenAiServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that hang up or speak no TLS: some tests are about them."""


class _Handler(BaseHTTPRequestHandler):
    server: _Listener
    protocol_version = "HTTP/1.1"
    timeout = 20

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None: ...

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, self.path, headers, body)
        self.server.openai.asked.append(asked)
        try:
            self._reply(self.server.openai.reply(asked))
        except OSError:
            asked.gone.set()
        finally:
            asked.ended.set()

    def _reply(self, reply: Reply) -> None:
        self.close_connection = True
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Connection", "close")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if isinstance(reply.body, bytes):
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in reply.body:
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()
            self._wait(reply.pace_s)
        if reply.cut:
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _wait(self, seconds: float) -> None:
        """Wait; raise OSError as soon as the client has hung up."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.connection.settimeout(min(left, 0.05))
            try:
                if not self.connection.recv(1):
                    raise ConnectionResetError
            except TimeoutError:
                continue
            finally:
                self.connection.settimeout(self.timeout)
