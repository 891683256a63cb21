"""Requests to one server, through an HTTP client that the caller provides."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from engines.connection import Connection
from engines.errors import EngineError, ServerUnreachable
from engines.openai import faults
from engines.openai.parsing import parse_json
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
            yield from self._end_line(bytes(self._line) + line)
            self._line.clear()
        self._line += rest
        self._require_end(len(self._line))

    def finish(self) -> Iterator[str]:
        """Yield the last event, after which many servers omit the blank line."""
        if self._line:
            yield from self._end_line(bytes(self._line))
            self._line.clear()
        yield from self._event()

    def _end_line(self, line: bytes) -> Iterator[str]:
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

    def _require_end(self, size: int) -> None:
        if self._size + size > MOST_EVENT:
            raise ValueError("an event without an end")


CONNECT_S = 10.0
_LOOKUP_S = 20.0
LOOKUP_TOTAL_S = 60.0
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
_CLEAR_STATUSES = (401, 403, 413, 429)
"""Statuses whose meaning stays the same if a gateway sends a web page with them."""

Json = dict[str, Any]


class OpenAiClient:
    """A server.

    Each method raises EngineError, and the errors of the HTTP client that is passed in, such as
    Offline.

    Args:
        base: Address without "/v1", such as "http://127.0.0.1:8000".
        headers: Headers of each request, such as Authorization.
        server_name: Name of the server in error messages.
        connection: Can be closed to end requests that have no connection of their own.
        variable: Environment variable that can hold the server's key, for error messages.
    """

    def __init__(
        self,
        client: httpx2.Client,
        base: str,
        headers: Mapping[str, str] | None = None,
        server_name: str = N_("The server"),
        connection: Connection | None = None,
        variable: str = "",
    ) -> None:
        self.server_name = server_name
        self._variable = variable
        self._client = client
        self._base = base.rstrip("/")
        # With compression, pieces of an answer would be held back until a block is full.
        self._headers = {"Accept-Encoding": "identity", **(headers or {})}
        self._connection = connection
        for sent_headers in (client.headers, self._headers):
            remember(sent_headers.get("Authorization", "").removeprefix("Bearer "))

    def models(self) -> tuple[ServedModel, ...]:
        """List the models that the server offers."""
        return models_in(self.model_rows())

    def model_rows(self) -> list[Json]:
        """Return the rows of the server's list of models. Raises ServerFailed without a list."""
        model_rows = self.get("/v1/models")
        rows = model_rows.get("data") if isinstance(model_rows, dict) else None
        if not isinstance(rows, list):
            raise faults.wrong_server(self.server_name)
        return [row for row in rows if _is_model(row)][:_MOST_MODELS]

    def version(self) -> str | None:
        """Return the version from GET /version, or None if the server has no such path."""
        answer = self.get("/version", required=False)
        version = answer.get("version") if isinstance(answer, dict) else None
        return version if isinstance(version, str) else None

    def get(self, path: str, *, required: bool = True, check_key: bool = False) -> Any:
        """Return the JSON at a path.

        Args:
            required: Raise if the request fails; otherwise return None then.
            check_key: Raise for a missing or wrong key in any case.
        """
        return self._request_json("GET", path, None, required, None, check_key)

    def post(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        required: bool = True,
        connection: Connection | None = None,
    ) -> Any:
        """Post a body, and return JSON as `get` does."""
        return self._request_json("POST", path, body, required, connection)

    def run_command(self, path: str, body: Mapping[str, Any]) -> bool:
        """Post a command, and return whether it succeeded. Waits as long as for an answer."""
        with self._send("POST", path, body, None, _ANSWER_S) as response:
            return response.status_code == 200

    def text(self, path: str, silence_s: float = _LOOKUP_S) -> str | None:
        """Return the text at a path, such as /metrics, or None if the server does not have it.

        Args:
            silence_s: Seconds without data after which the request fails.
        """
        with self._send("GET", path, None, None, silence_s, LOOKUP_TOTAL_S) as response:
            if response.status_code != 200:
                return None
            return redact(self._read(response).decode("utf-8", "replace"))

    def tokenize(
        self, body: Mapping[str, Any], connection: Connection | None = None
    ) -> list[int] | None:
        """Tokenise a prompt by POST /tokenize; return None if the server has no such path."""
        answer = self.post("/tokenize", body, required=False, connection=connection)
        tokens = answer.get("tokens") if isinstance(answer, dict) else None
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
        with self._send("POST", path, body, connection, _ANSWER_S) as response:
            if response.status_code != 200:
                model = str(body.get("model", ""))
                raise self._status_error(response, model)
            kind = response.headers.get("content-type", "")
            if "html" in kind:
                raise faults.wrong_server(self.server_name)
            if "json" in kind:
                data = self._read(response, connection, answers=True)
                yield self._object(data.decode("utf-8", "replace"))
                return
            yield from self._streamed(response, connection)

    def _streamed(self, response: httpx2.Response, connection: Connection) -> Iterator[Json]:
        """Yield objects until [DONE], or until the stream ends after a finish_reason."""
        import httpx2

        finished = False
        pieces = _LimitedStream(response, connection, self.server_name)
        try:
            for data in _events(iter(pieces)):
                if data.strip() == "[DONE]":
                    connection.is_complete = True
                    return
                piece = self._object(data)
                finished = finished or _finishes(piece)
                yield piece
                pieces.last_event_at = monotonic()
        except httpx2.HTTPError:
            if not finished:
                raise
        except ValueError as error:
            raise faults.too_large(self.server_name) from error
        if not finished:
            raise faults.broken_off(self.server_name)

    def _object(self, text: str) -> Json:
        try:
            value = _value(text)
        except ValueError as error:
            if text.lstrip().startswith("<"):
                raise faults.wrong_server(self.server_name) from error
            raise faults.broken_off(self.server_name) from error
        if not isinstance(value, dict):
            raise faults.broken_off(self.server_name)
        if fault := value.get("error") or (value if value.get("object") == "error" else None):
            raise faults.error_in_stream(self.server_name, fault)
        return value

    def _request_json(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        required: bool,
        connection: Connection | None,
        check_key: bool = False,
    ) -> Any:
        with self._send(method, path, body, connection, _LOOKUP_S, LOOKUP_TOTAL_S) as response:
            if response.status_code != 200:
                if required or (check_key and response.status_code == 401):
                    raise self._status_error(response)
                return None
            data = self._read(response)
        try:
            return _value(data)
        except ValueError as error:
            if required:
                raise faults.wrong_server(self.server_name) from error
            return None

    @contextmanager
    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        connection: Connection | None,
        silence_s: float,
        within_s: float | None = None,
    ) -> Iterator[httpx2.Response]:
        """Send a request, yield the response, and turn httpx2's errors into Hearth's.

        Args:
            silence_s: Longest time in seconds between two pieces of data.
            within_s: Longest time in seconds for the whole response; None for no limit.
        """
        import httpx2

        connection = connection or self._connection or Connection()
        connection.begin()
        has_begun = False
        timeout = httpx2.Timeout(silence_s, connect=CONNECT_S)
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
            has_begun = True
            try:
                if (stream := response.extensions.get("network_stream")) is not None:
                    connection.attach(stream)
                yield response
            finally:
                response.close()
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            encrypted = self._base.startswith("https:")
            raise faults.connection_failed(
                self.server_name, error, has_begun=has_begun, encrypted=encrypted
            ) from error
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
        started = monotonic()
        data = bytearray()
        for piece in response.iter_bytes():
            data += piece
            if len(data) > _MOST_BODY:
                raise faults.too_large(self.server_name)
            if not answers and monotonic() - started > LOOKUP_TOTAL_S:
                raise faults.too_slow(self.server_name)
            if connection is not None and connection.hung_up:
                raise faults.broken_off(self.server_name)
        return bytes(data)

    def _status_error(self, response: httpx2.Response, model: str = "") -> EngineError:
        try:
            body = self._read(response)
        except EngineError:
            body = b""  # the status still says what happened; only the reason is too long
        status = response.status_code
        text = redact(body.decode("utf-8", "replace")).encode()
        headers = {name: redact(value) for name, value in response.headers.items()}
        error = faults.status_error(self.server_name, status, headers, text, model, self._variable)
        is_page = b"<html" in body[:1000].lower()
        is_clear = status in _CLEAR_STATUSES or isinstance(error, ServerUnreachable)
        if is_page and 400 <= status < 500 and not is_clear:
            return faults.wrong_server(self.server_name)
        return error


class _LimitedStream:
    """The pieces of a stream, until the connection is closed or a limit is exceeded.

    Attributes:
        last_event_at: Time of the last complete event, on the monotonic clock.
    """

    def __init__(self, response: httpx2.Response, connection: Connection, server_name: str) -> None:
        self._response = response
        self._connection = connection
        self._server_name = server_name
        self.last_event_at = monotonic()

    def __iter__(self) -> Iterator[bytes]:
        received = 0
        for piece in self._response.iter_bytes():
            received += len(piece)
            if self._connection.hung_up:
                raise faults.broken_off(self._server_name)
            if received > _MOST_STREAM:
                raise faults.too_large(self._server_name)
            if monotonic() - self.last_event_at > COMMENTS_S:
                raise faults.too_slow(self._server_name)
            yield piece


def models_in(rows: Iterable[Json]) -> tuple[ServedModel, ...]:
    """Return the models in a server's list."""
    return tuple(
        ServedModel(row["id"], _context(row), _meta(row, "n_params"), _meta(row, "size"))
        for row in rows
    )


def _events(pieces: Iterator[bytes]) -> Iterator[str]:
    events = Events()
    has_begun = False
    for piece in pieces:
        if not has_begun and piece.lstrip():
            has_begun = True
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
        return redact_value(parse_json(text))
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def _joined(first: bytes, pieces: Iterator[bytes]) -> bytes:
    """Join pieces. Raises ValueError if they are larger than one event can be."""
    joined_bytes = bytearray(first)
    for piece in pieces:
        joined_bytes += piece
        if len(joined_bytes) > MOST_EVENT:
            raise ValueError("an object without an end")
    return bytes(joined_bytes)


def _is_model(row: object) -> bool:
    name = row.get("id") if isinstance(row, dict) else None
    return isinstance(name, str) and len(name) <= _LONGEST_NAME


def _finishes(piece: Json) -> bool:
    choices = piece.get("choices")
    if not isinstance(choices, list):
        return False
    return any(isinstance(choice, dict) and choice.get("finish_reason") for choice in choices)


def _context(row: Json) -> int | None:
    """Read the context under its names in vLLM and SGLang, in gateways, and in llama-server."""
    values = (row.get(name) for name in ("max_model_len", "context_length", "context_window"))
    context = next(
        (value for value in values if isinstance(value, int) and _is_plausible(value)), 0
    )
    return context or _meta(row, "n_ctx") or None


def _meta(row: Json, name: str) -> int:
    meta = row.get("meta")
    value = meta.get(name) if isinstance(meta, dict) else None
    return value if isinstance(value, int) and _is_plausible(value) else 0


def _is_plausible(count: int) -> bool:
    return 0 < count < MOST_TOKENS
