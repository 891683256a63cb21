"""Requests to one server, through an HTTP client that the caller provides."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from engines.connection import Connection
from engines.errors import EngineError, ServerUnreachable
from engines.openai import faults
from engines.openai.parsing import parsed
from engines.openai.values import ServedModel
from engines.redaction import redact, redact_value, remember
from engines.sentences import N_

if TYPE_CHECKING:
    import httpx2


MOST_EVENT = 8 << 20
"""Longest event in bytes, over all its lines; an answer that is not streamed is one event."""


class Events:
    """Cuts a stream of bytes into server-sent events.

    The format is that of the HTML standard, section “Server-sent events”: lines end in CR, LF or
    both, a blank line ends an event, and a line that begins with a colon is a comment. Events that
    are too long are refused.
    """

    def __init__(self) -> None:
        self._line = bytearray()
        self._size = 0
        self._data: list[str] = []
        self._after_cr = False
        self._first = True

    def feed(self, data: bytes) -> Iterator[str]:
        """Take bytes and yield the data of complete events. Raises ValueError if one never ends."""
        if self._after_cr:
            data = data.removeprefix(b"\n")
        self._after_cr = data.endswith(b"\r") or (self._after_cr and not data)
        *lines, rest = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            yield from self._ended(bytes(self._line) + line)
            self._line.clear()
        self._line += rest
        self._require_end(len(self._line))

    def finish(self) -> Iterator[str]:
        """Yield the last event, after which many servers omit the blank line."""
        if self._line:
            yield from self._ended(bytes(self._line))
            self._line.clear()
        yield from self._event()

    def _ended(self, line: bytes) -> Iterator[str]:
        if self._first:
            line = line.removeprefix(b"\xef\xbb\xbf")
            self._first = False
        if not line:
            yield from self._event()
            return
        self._require_end(len(line) + 1)
        name, _, value = line.partition(b":")
        if name == b"data":
            self._size += len(line) + 1
            # A complete line contains complete characters, wherever the bytes were cut.
            self._data.append(value.removeprefix(b" ").decode("utf-8", "replace"))

    def _event(self) -> Iterator[str]:
        if self._data:
            yield "\n".join(self._data)
            self._data.clear()
            self._size = 0

    def _require_end(self, more: int) -> None:
        if self._size + more > MOST_EVENT:
            raise ValueError("an event without an end")


CONNECT_S = 10.0
_LOOK_S = 20.0
LOOK_WHOLE_S = 60.0
"""Longest time in seconds for a whole look-up, even if bytes keep arriving."""
_ANSWER_S = 900.0
"""Longest silence in seconds; a server sends nothing while it evaluates a long prompt."""
COMMENTS_S = 3600.0
"""The same if it sends comments meanwhile, as some servers do during evaluation."""
_MOST_BODY = 16 << 20
_MOST_STREAM = 2 << 30
"""Longest streamed answer in bytes; each token comes with some hundred bytes around it."""
_MOST_MODELS = 10_000
_LONGEST_NAME = 1000
"""Longest name of a model, in characters."""
MOST_TOKENS = 1 << 40
"""Larger numbers are not plausible as a context, a parameter count or a size."""
_SAY_MORE = (401, 403, 413, 429)
"""Statuses whose meaning stays the same if a gateway sends a web page with them."""

Json = dict[str, Any]


class OpenAiClient:
    """A server.

    Each method raises EngineError, and the errors of the HTTP client that is passed in, such as
    Offline.

    Args:
        base: Address without "/v1", such as "http://127.0.0.1:8000".
        headers: Headers of each request, such as Authorization.
        called: Name of the server in error messages.
        connection: Can be closed to end requests that have no connection of their own.
        variable: Environment variable that can hold the server's key, for error messages.
    """

    def __init__(
        self,
        client: httpx2.Client,
        base: str,
        headers: Mapping[str, str] | None = None,
        called: str = N_("The server"),
        connection: Connection | None = None,
        variable: str = "",
    ) -> None:
        self.called = called
        self._variable = variable
        self._client = client
        self._base = base.rstrip("/")
        # With compression, pieces of an answer would be held back until a block is full.
        self._headers = {"Accept-Encoding": "identity", **(headers or {})}
        self._connection = connection
        for sent in (client.headers, self._headers):
            remember(sent.get("Authorization", "").removeprefix("Bearer "))

    def models(self) -> tuple[ServedModel, ...]:
        """List the models that the server offers."""
        return served_in(self.listed())

    def listed(self) -> list[Json]:
        """Return the rows of the server's list of models. Raises ServerFailed without a list."""
        listed = self.get("/v1/models")
        rows = listed.get("data") if isinstance(listed, dict) else None
        if not isinstance(rows, list):
            raise faults.another(self.called)
        return [row for row in rows if _is_model(row)][:_MOST_MODELS]

    def version(self) -> str | None:
        """Return the version from GET /version, or None if the server has no such path."""
        found = self.get("/version", wanted=False)
        version = found.get("version") if isinstance(found, dict) else None
        return version if isinstance(version, str) else None

    def get(self, path: str, *, wanted: bool = True, guarded: bool = False) -> Any:
        """Return the JSON at a path.

        Args:
            wanted: Raise if the request fails; otherwise return None then.
            guarded: Raise for a missing or wrong key in any case.
        """
        return self._whole("GET", path, None, wanted, None, guarded)

    def post(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        wanted: bool = True,
        connection: Connection | None = None,
    ) -> Any:
        """Post a body, and return JSON as `get` does."""
        return self._whole("POST", path, body, wanted, connection)

    def told(self, path: str, body: Mapping[str, Any]) -> bool:
        """Post a command, and return whether it succeeded. Waits as long as for an answer."""
        with self._asked("POST", path, body, None, _ANSWER_S) as response:
            return response.status_code == 200

    def text(self, path: str, silence_s: float = _LOOK_S) -> str | None:
        """Return the text at a path, such as /metrics, or None if the server does not have it.

        Args:
            silence_s: Seconds without data after which the request fails.
        """
        with self._asked("GET", path, None, None, silence_s, LOOK_WHOLE_S) as response:
            if response.status_code != 200:
                return None
            return redact(self._read(response).decode("utf-8", "replace"))

    def tokenize(
        self, body: Mapping[str, Any], connection: Connection | None = None
    ) -> list[int] | None:
        """Tokenise a prompt by POST /tokenize; return None if the server has no such path."""
        found = self.post("/tokenize", body, wanted=False, connection=connection)
        tokens = found.get("tokens") if isinstance(found, dict) else None
        return tokens if isinstance(tokens, list) else None

    def chat(
        self, body: Mapping[str, Any], connection: Connection | None = None
    ) -> Generator[Json, None, None]:
        """Stream POST /v1/chat/completions, and yield its objects. See `completion`."""
        return self._stream("/v1/chat/completions", body, connection)

    def completion(
        self, body: Mapping[str, Any], connection: Connection | None = None
    ) -> Generator[Json, None, None]:
        """Stream POST /v1/completions, and yield its objects.

        A server that does not stream sends a single object. Closing the iterator, or closing the
        connection from another thread, ends the answer on the server.
        """
        return self._stream("/v1/completions", body, connection)

    def _stream(
        self, path: str, body: Mapping[str, Any], connection: Connection | None
    ) -> Generator[Json, None, None]:
        connection = connection or self._connection or Connection()
        with self._asked("POST", path, body, connection, _ANSWER_S) as response:
            if response.status_code != 200:
                model = str(body.get("model", ""))
                raise self._refused(response, model)
            kind = response.headers.get("content-type", "")
            if "html" in kind:
                raise faults.another(self.called)
            if "json" in kind:
                read = self._read(response, connection, answers=True)
                yield self._object(read.decode("utf-8", "replace"))
                return
            yield from self._streamed(response, connection)

    def _streamed(self, response: httpx2.Response, connection: Connection) -> Iterator[Json]:
        """Yield objects until [DONE], or until the stream ends after a finish_reason."""
        import httpx2

        finished = False
        arriving = _Arriving(response, connection, self.called)
        try:
            for data in _events(iter(arriving)):
                if data.strip() == "[DONE]":
                    connection.is_complete = True
                    return
                piece = self._object(data)
                finished = finished or _finishes(piece)
                yield piece
                arriving.heard = monotonic()
        except httpx2.HTTPError:
            if not finished:
                raise
        except ValueError as error:
            raise faults.endless(self.called) from error
        if not finished:
            raise faults.broken_off(self.called)

    def _object(self, text: str) -> Json:
        try:
            value = _value(text)
        except ValueError as error:
            if text.lstrip().startswith("<"):
                raise faults.another(self.called) from error
            raise faults.broken_off(self.called) from error
        if not isinstance(value, dict):
            raise faults.broken_off(self.called)
        if fault := value.get("error") or (value if value.get("object") == "error" else None):
            raise faults.in_stream(self.called, fault)
        return value

    def _whole(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        wanted: bool,
        connection: Connection | None,
        guarded: bool = False,
    ) -> Any:
        with self._asked(method, path, body, connection, _LOOK_S, LOOK_WHOLE_S) as response:
            if response.status_code != 200:
                if wanted or (guarded and response.status_code == 401):
                    raise self._refused(response)
                return None
            read = self._read(response)
        try:
            return _value(read)
        except ValueError as error:
            if wanted:
                raise faults.another(self.called) from error
            return None

    @contextmanager
    def _asked(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        connection: Connection | None,
        silence: float,
        within_s: float | None = None,
    ) -> Iterator[httpx2.Response]:
        """Send a request, yield the response, and turn httpx2's errors into Hearth's.

        Args:
            silence: Longest time in seconds between two pieces of data.
            within_s: Longest time in seconds for the whole response; None for no limit.
        """
        import httpx2

        connection = connection or self._connection or Connection()
        connection.begin()
        begun = False
        timeout = httpx2.Timeout(silence, connect=CONNECT_S)
        try:
            url = httpx2.URL(self._base + path)
            request = self._client.build_request(
                method,
                url,
                json=body,
                headers=self._headers,
                timeout=timeout,
                extensions={**connection.extensions, "within_s": within_s},
            )
            response = self._client.send(request, stream=True, follow_redirects=False)
            begun = True
            try:
                if (stream := response.extensions.get("network_stream")) is not None:
                    connection.attach(stream)
                yield response
            finally:
                response.close()
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            encrypted = self._base.startswith("https:")
            raise faults.lost(self.called, error, begun=begun, encrypted=encrypted) from error
        finally:
            connection.release()

    def _read(
        self,
        response: httpx2.Response,
        connection: Connection | None = None,
        *,
        answers: bool = False,
    ) -> bytes:
        """Read a whole body.

        Args:
            answers: The body is an answer, for which there is no time limit.

        Raises:
            ServerFailed: The body is too large, or the connection was closed.
            ServerBusy: The body of a look-up takes too long.
        """
        began = monotonic()
        read = bytearray()
        for piece in response.iter_bytes():
            read += piece
            if len(read) > _MOST_BODY:
                raise faults.endless(self.called)
            if not answers and monotonic() - began > LOOK_WHOLE_S:
                raise faults.late(self.called)
            if connection is not None and connection.hung_up:
                raise faults.broken_off(self.called)
        return bytes(read)

    def _refused(self, response: httpx2.Response, model: str = "") -> EngineError:
        try:
            body = self._read(response)
        except EngineError:
            body = b""  # the status still says what happened; only the reason is too long
        status = response.status_code
        said = redact(body.decode("utf-8", "replace")).encode()
        headers = {name: redact(value) for name, value in response.headers.items()}
        found = faults.refused(self.called, status, headers, said, model, self._variable)
        page = b"<html" in body[:1000].lower()
        told = status in _SAY_MORE or isinstance(found, ServerUnreachable)
        if page and 400 <= status < 500 and not told:
            return faults.another(self.called)
        return found


class _Arriving:
    """The pieces of a stream, until the connection is closed or a limit is exceeded.

    Attributes:
        heard: Time of the last complete event, on the monotonic clock.
    """

    def __init__(self, response: httpx2.Response, connection: Connection, called: str) -> None:
        self._response = response
        self._connection = connection
        self._called = called
        self.heard = monotonic()

    def __iter__(self) -> Iterator[bytes]:
        received = 0
        for piece in self._response.iter_bytes():
            received += len(piece)
            if self._connection.hung_up:
                raise faults.broken_off(self._called)
            if received > _MOST_STREAM:
                raise faults.endless(self._called)
            if monotonic() - self.heard > COMMENTS_S:
                raise faults.late(self._called)
            yield piece


def served_in(rows: Iterable[Json]) -> tuple[ServedModel, ...]:
    """Return the models in a server's list."""
    return tuple(
        ServedModel(row["id"], _context(row), _meta(row, "n_params"), _meta(row, "size"))
        for row in rows
    )


def _events(pieces: Iterator[bytes]) -> Iterator[str]:
    events = Events()
    begun = False
    for piece in pieces:
        if not begun and piece.lstrip():
            begun = True
            # Not a stream, whatever its content type says, but a single page or object.
            if piece.lstrip()[:1] == b"<":
                yield piece.decode("utf-8", "replace")
                return
            if piece.lstrip()[:1] == b"{":
                yield _joined(piece, pieces).decode("utf-8", "replace")
                return
        yield from events.feed(piece)
    yield from events.finish()


def _value(text: str | bytes) -> Any:
    """Parse JSON and redact secrets. Raises ValueError."""
    try:
        return redact_value(parsed(text))
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def _joined(first: bytes, pieces: Iterator[bytes]) -> bytes:
    """Join pieces. Raises ValueError if they are larger than one event can be."""
    whole = bytearray(first)
    for piece in pieces:
        whole += piece
        if len(whole) > MOST_EVENT:
            raise ValueError("an object without an end")
    return bytes(whole)


def _is_model(row: object) -> bool:
    name = row.get("id") if isinstance(row, dict) else None
    return isinstance(name, str) and len(name) <= _LONGEST_NAME


def _finishes(piece: Json) -> bool:
    choices = piece.get("choices")
    if not isinstance(choices, list):
        return False
    return any(isinstance(it, dict) and it.get("finish_reason") for it in choices)


def _context(row: Json) -> int | None:
    """Read the context under its names in vLLM and SGLang, in gateways, and in llama-server."""
    told = (row.get(name) for name in ("max_model_len", "context_length", "context_window"))
    found = next((value for value in told if isinstance(value, int) and _can_be(value)), 0)
    return found or _meta(row, "n_ctx") or None


def _meta(row: Json, name: str) -> int:
    meta = row.get("meta")
    value = meta.get(name) if isinstance(meta, dict) else None
    return value if isinstance(value, int) and _can_be(value) else 0


def _can_be(count: int) -> bool:
    return 0 < count < MOST_TOKENS
