"""The routes of the API and their handlers.

An error before an answer has begun gets an HTTP status. A later one is sent as the last event of
the stream, in the protocol's own form.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final, Protocol, TypeVar

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.http import chat, messages, responses, vectors
from app.api.http.answer_fields import AnswerFields
from app.api.http.fields import Fields, check, read_json
from app.api.http.guard import UseInProgress
from app.api.http.overflow import CODE, anthropic_message, openai_message, responses_message
from app.api.http.recent import (
    ClientResponses,
    ListFields,
    PreviousResponseNotFound,
    RecentResponses,
    ResponseNotFound,
)
from app.api.http.request import ApiRequest, BadRequest
from app.api.http.running import RequestWork, RunningRequests, while_connected
from app.api.http.service import Access, ApiModel, ApiService
from app.api.http.uploads import Intake, Uploads
from app.api.values import ApiClient
from app.chats.answers.values.answers import Grounded, Ready
from engines.cancel import CancelToken
from engines.errors import Cancelled, TooManyTokens, UserError
from engines.types import Done, Event, Usage

logger = logging.getLogger(__name__)
T = TypeVar("T")
F = TypeVar("F", bound=Fields)

FIRST_ITEM_S: Final = 10.0
"""How long to wait, in seconds, for an early error (sent with its own status) before streaming."""
PING_S: Final = 15.0
"""Silence in seconds before a stream sends a ping: a model can be loading or reading a prompt."""
IDLE_CHECK_S: Final = 30.0
"""Interval in seconds between checks for models that have been idle for a while."""
STATUS: Final[Mapping[str, int]] = {
    "model_not_found": 404,
    ResponseNotFound.code: 404,
    "model_busy": 503,
    "server_full": 503,
    "memory": 503,
    "server_busy": 503,
    "engine_unavailable": 503,
    **dict.fromkeys(
        [
            "bad_request", "context", "grammar", "adapter",
            "template", "unsupported", "model_not_chat", "settings", "settings_invalid",
            "document_not_read", "media", "medium", messages.ThreadUnsupported.code,
            PreviousResponseNotFound.code,
        ],
        400,
    ),
}  # fmt: skip
"""HTTP status by error code; any other error is Hearth's or the engine's fault: 500."""


class AnswerWriter(Protocol):
    """Turns the events of an answer into a protocol's stream objects."""

    def start(self) -> Iterator[dict[str, Any]]:
        """Yield the objects before the first event."""
        ...

    def write(self, event: Event) -> Iterator[dict[str, Any]]:
        """Process one event; yield the objects that it adds to a stream."""
        ...


@dataclass(frozen=True)
class WireFormat:
    """How a protocol frames a stream and reports errors.

    Attributes:
        names_events: Whether each event is preceded by the name of its type.
        end: The bytes that end a stream.
        ping: The bytes that keep a silent stream alive.
        error: Builds an error body from a status, a code, a message and a field.
        too_long: Builds the message for a prompt that does not fit.
    """

    names_events: bool
    end: bytes
    ping: bytes
    error: Callable[[int, str, str, str], dict[str, Any]]
    too_long: Callable[[TooManyTokens], str]

    def frame(self, item: Mapping[str, Any]) -> bytes:
        """Return the bytes of one object in a stream."""
        data = b"data: " + json.dumps(item, ensure_ascii=False).encode() + b"\n\n"
        return b"event: " + item["type"].encode() + b"\n" + data if self.names_events else data


OPENAI: Final = WireFormat(
    False, b"data: [DONE]\n\n", b": ping\n\n", chat.error_body, openai_message
)
RESPONSES: Final = WireFormat(True, b"", b": ping\n\n", chat.error_body, responses_message)
ANTHROPIC: Final = WireFormat(
    True,
    b"",
    b'event: ping\ndata: {"type": "ping"}\n\n',
    lambda status, code, text, _field: messages.error_body(status, code, text),
    anthropic_message,
)
TOO_LONG_FIELDS: Final[Mapping[str, str]] = {
    "/v1/chat/completions": "messages",
    "/v1/completions": "prompt",
    "/v1/responses": "input",
    "/v1/embeddings": "input",
}
"""By path: the field that holds the prompt, named in the error when the prompt does not fit."""


def wire_format_of(path: str) -> WireFormat:
    """Return the wire format of the protocol that a path belongs to, also for errors."""
    if path.startswith("/v1/responses"):
        return RESPONSES
    return ANTHROPIC if path.startswith("/v1/messages") else OPENAI


def error_response(path: str, status: int, code: str, text: str, field: str = "") -> Response:
    """Return an error response in the protocol that the path belongs to."""
    headers = {"Retry-After": "5"} if status in {429, 503} else {}
    return JSONResponse(wire_format_of(path).error(status, code, text, field), status, headers)


class Api:
    """The request handlers, and the Starlette app that routes to them.

    Attributes:
        app: The ASGI app for the server; when its lifespan ends, all answers end.
    """

    def __init__(
        self,
        service: ApiService,
        uploads: Uploads,
        metrics: Callable[[frozenset[str] | None], str] = lambda _: "",
    ) -> None:
        """Create the app.

        Args:
            uploads: Reads the files that come with requests.
            metrics: Returns the metrics text for these models, or for all if None.
        """
        self._service = service
        self._uploads = uploads
        self._metrics = metrics
        self._running = RunningRequests()
        self._recent_responses = RecentResponses()
        post, get = ["POST"], ["GET"]
        response = "/v1/responses/{response}"
        self.app = Starlette(
            routes=[
                Route("/", self._health, methods=get),
                Route("/health", self._health, methods=get),
                Route("/metrics", self._show_metrics, methods=get),
                Route("/v1/models", self._list_models, methods=get),
                Route("/v1/models/{model:path}", self._show_model, methods=get),
                Route("/v1/chat/completions", self._chat, methods=post),
                Route("/v1/completions", self._complete, methods=post),
                Route("/v1/responses", self._respond, methods=post),
                Route(response, self._show_response, methods=get),
                Route(response, self._forget_response, methods=["DELETE"]),
                Route(f"{response}/input_items", self._list_input, methods=get),
                Route("/v1/messages", self._message, methods=post),
                Route("/v1/messages/count_tokens", self._count, methods=post),
                Route("/v1/embeddings", self._embed, methods=post),
                *(Route(at, self._rerank, methods=post) for at in ("/rerank", "/v1/rerank")),
                Route("/tokenize", self._tokenize, methods=post),
                Route("/detokenize", self._detokenize, methods=post),
            ],
            middleware=[Middleware(WithoutSlash)],
            lifespan=self._lifespan,
            exception_handlers={
                UserError: _refuse,
                HTTPException: _refuse_http,
                Exception: _report_bug,
            },
        )

    @staticmethod
    def error_body(path: str, status: int, kind: str, message: str) -> Mapping[str, Any]:
        """Return an error body in a path's protocol, for layers in front of this app."""
        return wire_format_of(path).error(status, kind, message, "")

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tidying:
            tidying.start_soon(self._unload_idle_models)
            yield
            tidying.cancel_scope.cancel()
        await anyio.to_thread.run_sync(self._running.close)

    async def _unload_idle_models(self) -> None:
        while True:
            await anyio.sleep(IDLE_CHECK_S)
            try:
                await anyio.to_thread.run_sync(self._service.unload_idle)
            except UserError as error:
                logger.warning("an unused model was not unloaded: %s", error)

    async def _health(self, _request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _show_metrics(self, request: Request) -> Response:
        """Answer a scrape of the metrics."""
        access = access_of(request)
        text = await self._run_on_thread(
            request, lambda _cancel: self._metrics(self._service.public_names(access))
        )
        # The text's own library is large; only a scrape needs it.
        from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

        return PlainTextResponse(text, headers={"content-type": CONTENT_TYPE_PLAIN_0_0_4})

    async def _list_models(self, request: Request) -> Response:
        access = access_of(request)
        models = await self._run_on_thread(request, lambda _cancel: self._service.models(access))
        rows = [_model(model) for model in models or ()]
        first_id, last_id = (rows[0]["id"], rows[-1]["id"]) if rows else (None, None)
        # The fields in `pages` are Anthropic's, whose clients use the same address.
        pages = {"has_more": False, "first_id": first_id, "last_id": last_id}
        return JSONResponse({"object": "list", "data": rows, **pages})

    async def _show_model(self, request: Request) -> Response:
        name, access = request.path_params["model"], access_of(request)
        model = await self._run_on_thread(request, lambda _cancel: self._service.find(name, access))
        return _client_gone() if model is None else JSONResponse(_model(model))

    async def _chat(self, request: Request) -> Response:
        fields = check(chat.ChatFields, read_json(await request.body()))
        chat_request = await self._read_request(
            request, lambda intake: chat.read_chat(fields, intake)
        )
        if chat_request is None:
            return _client_gone()
        return await self._complete_with(
            request, fields, [chat_request], "chatcmpl-", chat.ChatWriter
        )

    async def _complete(self, request: Request) -> Response:
        fields = check(chat.CompletionFields, read_json(await request.body()))
        requests = chat.read_completions(fields)

        return await self._complete_with(request, fields, requests, "cmpl-", chat.TextWriter)

    async def _complete_with(
        self,
        request: Request,
        fields: AnswerFields,
        requests: Sequence[ApiRequest],
        prefix: str,
        writer: type[chat.ChatWriter],
    ) -> Response:
        head = chat.head(prefix, fields.model)
        if notes := requests[0].notes:
            head["notes"] = list(notes)
        count = requests[0].count
        stop = fields.include_stop_str_in_output
        writers = [writer(head, at, with_stop=stop) for at in range(len(requests) * count)]

        def usage() -> Iterator[dict[str, Any]]:
            done_events = [writer.done for writer in writers if writer.done is not None]
            if fields.wants_usage:
                yield {**head, "object": f"{chat.ChatWriter.kind}.chunk", "choices": [],
                       "usage": chat.usage(done_events, count)}  # fmt: skip

        running = self._start_answers(request, *requests)
        if fields.stream:
            return await self._stream(request, running, OPENAI, writers, usage)
        if await self._collect(request, running, writers) is None:
            return _client_gone()
        done_events = [writer.done for writer in writers if writer.done is not None]
        choices = [writer.choice() for writer in writers]
        kind = writers[0].kind
        body = {**head, "object": kind, "choices": choices, "usage": chat.usage(done_events, count)}
        return JSONResponse(
            chat.with_notes(body, (note for event in done_events for note in event.notes))
        )

    async def _respond(self, request: Request) -> Response:
        fields = check(responses.ResponsesFields, read_json(await request.body()))
        names = responses.ToolNames(fields.tools or ())
        recent = self._recent_of(request)
        parsed = await self._read_request(
            request, lambda intake: responses.read_responses(fields, names, intake, recent)
        )
        if parsed is None:
            return _client_gone()
        api_request, input_text = parsed

        def store(item: Mapping[str, Any]) -> None:
            if not fields.store:
                return
            if item.get("object") == "response":
                recent.store_response(item, input_text)
            else:
                recent.store_item(item)

        writer = responses.ResponseWriter(
            fields, names, api_request.model, api_request.notes, store
        )
        running = self._start_answers(request, api_request)
        if fields.stream:
            return await self._stream(request, running, RESPONSES, [writer], on_failure=writer.fail)
        if await self._collect(request, running, [writer]) is None:
            return _client_gone()
        return JSONResponse(writer.result())

    async def _show_response(self, request: Request) -> Response:
        if request.query_params.get("stream", "false") != "false":
            raise BadRequest(
                "A response that has ended cannot be streamed.",
                "Its stream has ended, too.",
                "Request it without “stream”.",
                "stream",
            )
        return await self._answer_from_memory(request, ClientResponses.response)

    async def _forget_response(self, request: Request) -> Response:
        def forgotten(recent: ClientResponses, id_: str) -> dict[str, Any]:
            recent.forget(id_)
            return {"id": id_, "object": "response", "deleted": True}

        return await self._answer_from_memory(request, forgotten)

    async def _list_input(self, request: Request) -> Response:
        fields = check(ListFields, dict(request.query_params))
        return await self._answer_from_memory(request, lambda recent, id_: recent.page(id_, fields))

    async def _answer_from_memory(
        self, request: Request, recall: Callable[[ClientResponses, str], dict[str, Any]]
    ) -> Response:
        """Answer with a stored response; runs on a thread because its input can be large."""
        recent, id_ = self._recent_of(request), request.path_params["response"]
        item = await self._run_on_thread(request, lambda _cancel: recall(recent, id_))
        return _client_gone() if item is None else JSONResponse(item)

    def _recent_of(self, request: Request) -> ClientResponses:
        return self._recent_responses.of(access_of(request).client)

    async def _message(self, request: Request) -> Response:
        fields = check(messages.MessagesFields, read_json(await request.body()))
        message_request = await self._read_request(
            request, lambda intake: messages.read_messages(fields, intake)
        )
        if message_request is None:
            return _client_gone()
        writer = messages.MessageWriter(message_request.model, message_request.notes)
        running = self._start_answers(request, message_request)
        if fields.stream:
            return await self._stream(request, running, ANTHROPIC, [writer])
        if await self._collect(request, running, [writer]) is None:
            return _client_gone()
        return JSONResponse(writer.result())

    async def _count(self, request: Request) -> Response:
        fields = check(messages.CountFields, read_json(await request.body()))
        access = access_of(request)

        def count_tokens(cancel: CancelToken) -> int:
            message_request = messages.read_messages(fields, Intake(self._uploads, cancel))
            return self._service.count(message_request, access, cancel)

        count = await self._run_on_thread(request, count_tokens)
        return _client_gone() if count is None else JSONResponse({"input_tokens": count})

    async def _embed(self, request: Request) -> Response:
        fields = check(vectors.EmbeddingFields, read_json(await request.body()))
        texts, access = fields.texts(), access_of(request)
        result = await self._run_on_thread(
            request, lambda cancel: self._service.embed(fields.model, texts, access, cancel)
        )
        if result is None:
            return _client_gone()
        _note_use(request, fields.model, Usage(result.tokens, 0, 0, 0))
        return JSONResponse(vectors.write_vectors(fields, fields.model, result))

    async def _rerank(self, request: Request) -> Response:
        fields = check(vectors.RerankFields, read_json(await request.body()))
        texts, access = fields.texts(), access_of(request)
        result = await self._run_on_thread(
            request,
            lambda cancel: self._service.rerank(fields.model, fields.query, texts, access, cancel),
        )
        if result is None:
            return _client_gone()
        _note_use(request, fields.model, Usage(result.tokens, 0, 0, 0))
        return JSONResponse(vectors.write_ranking(fields, fields.model, result))

    async def _tokenize(self, request: Request) -> Response:
        fields = check(vectors.TokenizeFields, read_json(await request.body()))
        text, access = fields.text(), access_of(request)
        tokens = await self._run_on_thread(
            request,
            lambda cancel: self._service.tokenize(
                fields.model, text, access, cancel, special=fields.adds_special
            ),
        )
        if tokens is None:
            return _client_gone()
        return JSONResponse({"tokens": tokens, "count": len(tokens)})

    async def _detokenize(self, request: Request) -> Response:
        fields = check(vectors.DetokenizeFields, read_json(await request.body()))
        access = access_of(request)
        text = await self._run_on_thread(
            request,
            lambda cancel: self._service.detokenize(fields.model, fields.tokens, access, cancel),
        )
        # llama-server calls it `content`, vLLM `prompt`.
        return JSONResponse({"content": text, "prompt": text})

    async def _read_request(self, request: Request, read: Callable[[Intake], T]) -> T | None:
        """Read a request and its files, which can take a while; None if the client disconnected."""
        return await self._run_on_thread(
            request, lambda cancel: read(Intake(self._uploads, cancel))
        )

    def _start_answers(
        self, request: Request, *requests: ApiRequest
    ) -> RequestWork[tuple[int, Event]]:
        """Start the answers on a thread, one prompt after the other. Raises ServerFull."""
        access = access_of(request)

        def answers(
            api_request: ApiRequest, first_number: int, cancel: CancelToken
        ) -> Iterator[tuple[int, Event]]:
            model = ""
            for number, event in self._service.answer(api_request, access, cancel):
                if isinstance(event, Ready):
                    model = event.entry.id
                    continue
                if isinstance(event, Grounded):
                    continue  # these protocols have no field for how much of a file was used
                if isinstance(event, Done):
                    _note_use(request, model, event.usage, is_counted=number > 0)
                yield first_number + number, event

        def work(cancel: CancelToken) -> Iterator[tuple[int, Event]]:
            for index, api_request in enumerate(requests):
                yield from answers(api_request, index * api_request.count, cancel)
                if cancel.cancelled:
                    return

        return self._running.start(work)

    async def _collect(
        self,
        request: Request,
        running: RequestWork[tuple[int, Event]],
        writers: Sequence[AnswerWriter],
    ) -> bool | None:
        """Run an answer to its end. Return None if the client disconnected."""

        async def collect() -> bool:
            while (item := await running.next()) is not None:
                for _ in writers[item[0]].write(item[1]):
                    pass
            return True

        try:
            return await while_connected(request, collect())
        finally:
            running.close()

    async def _stream(
        self,
        request: Request,
        running: RequestWork[tuple[int, Event]],
        wire: WireFormat,
        writers: Sequence[AnswerWriter],
        trailing: Callable[[], Iterable[dict[str, Any]]] = tuple,
        on_failure: Callable[[str, str], Iterable[dict[str, Any]]] | None = None,
    ) -> Response:
        """Answer with a stream. Errors at the very start are raised, so that they get a status.

        Args:
            request: The request, for its connection.
            running: The answers.
            wire: The framing of the protocol.
            writers: One for each answer.
            trailing: Yields objects to send after the last event.
            on_failure: Yields the last objects of a stream after an error. If given, it also
                reports a prompt that does not fit, as OpenAI's own stream does and Codex expects.
        """
        try:
            if await while_connected(request, running.wait_for_first(FIRST_ITEM_S)) is None:
                running.close()
                return _client_gone()
        except BaseException as error:
            if on_failure is None or not isinstance(error, TooManyTokens):
                running.close()
                raise

        async def pieces() -> AsyncIterator[bytes]:
            try:
                async for item in _items(running, writers):
                    yield wire.ping if item is None else wire.frame(item)
                for item in trailing():
                    yield wire.frame(item)
                yield wire.end
            except Cancelled:
                return
            except Exception as error:  # noqa: BLE001  the client has its headers already
                status, code, text = error_message(error, wire)
                body = {"type": "error", **wire.error(status, code, text, "")}
                for item in on_failure(code, text) if on_failure else (body,):
                    yield wire.frame(item)
            finally:
                running.close()

        request.state.ping = wire.ping  # `PatientProtocol` sends it when the client seems gone
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(pieces(), media_type="text/event-stream", headers=headers)

    async def _run_on_thread(self, request: Request, work: Callable[[CancelToken], T]) -> T | None:
        """Run short work on a thread; None if the client disconnected."""
        running = self._running.start(lambda cancel: iter((work(cancel),)))
        try:
            return await while_connected(request, running.next())
        finally:
            running.close()


async def _items(
    running: RequestWork[tuple[int, Event]], writers: Sequence[AnswerWriter]
) -> AsyncIterator[dict[str, Any] | None]:
    """Yield the objects of all writers, and None after each `PING_S` of silence.

    Many events have no object: while a prompt is read, only the engine reports its progress.
    """
    for writer in writers:
        for item in writer.start():
            yield item
    ping_at = monotonic() + PING_S
    while True:
        try:
            numbered_event = await running.next(ping_at - monotonic())
        except TimeoutError:
            ping_at = monotonic() + PING_S
            yield None
            continue
        if numbered_event is None:
            return
        number, event = numbered_event
        for item in writers[number].write(event):
            ping_at = monotonic() + PING_S
            yield item


class WithoutSlash:
    """ASGI middleware that removes superfluous slashes from paths.

    Many clients do not follow a redirect with a request body, and some join a base address that
    ends with a slash and a path that begins with one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its path corrected."""
        if scope["type"] == "http":
            path = re.sub("/{2,}", "/", scope["path"])
            scope = {**scope, "path": path.rstrip("/") or "/"}
        await self._app(scope, receive, send)


def access_of(request: Request) -> Access:
    """Return the access of a request's client, as the guard determined it."""
    client = getattr(request.state, "client", None)
    return (
        Access(client.id, frozenset(client.models)) if isinstance(client, ApiClient) else Access()
    )


def _note_use(request: Request, model: str, usage: Usage, *, is_counted: bool = False) -> None:
    """Report the tokens of one answer to the guard; several answers add up.

    Args:
        is_counted: Whether the tokens of the prompt were already counted.
    """
    use = getattr(request.state, "use", None)
    if isinstance(use, UseInProgress):
        use.model = model
        use.prompt_tokens += 0 if is_counted else usage.prompt_tokens
        use.completion_tokens += usage.completion_tokens


def error_message(error: BaseException, wire: WireFormat) -> tuple[int, str, str]:
    """Return the status, the code and the message of an error."""
    if isinstance(error, TooManyTokens):
        return 400, CODE, wire.too_long(error)
    if isinstance(error, UserError):
        return STATUS.get(error.code, 500), error.code, str(error)
    logger.error("a request failed", exc_info=error)
    return 500, "bug", "Hearth failed. That is a bug in Hearth. Its log has the details."


async def _refuse(request: Request, error: Exception) -> Response:
    path = request.scope["path"]
    field = getattr(error, "field", "")
    if isinstance(error, TooManyTokens):
        field = TOO_LONG_FIELDS.get(path, "")
    return error_response(path, *error_message(error, wire_format_of(path)), field)


async def _refuse_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  it is registered for these
    text = {
        404: "There is nothing at this address. The API’s addresses begin with a single /v1. Give "
        "OpenAI’s clients the server’s address with /v1 at its end, and Anthropic’s without.",
        405: "This address needs another method. The header Allow lists the methods.",
    }.get(error.status_code, error.detail)
    response = error_response(request.url.path, error.status_code, "not_found", text)
    response.headers.update(error.headers or {})
    return response


async def _report_bug(request: Request, error: Exception) -> Response:
    path = request.scope["path"]
    return error_response(path, *error_message(error, wire_format_of(path)))


def _client_gone() -> Response:
    """Return 499, nginx's status for a client that disconnected; nobody reads it."""
    return Response(status_code=499)


def _model(model: ApiModel) -> dict[str, Any]:
    """Describe a model with OpenAI's and Anthropic's fields, and an adapter as vLLM does.

    In vLLM an adapter's root is its path; no path is revealed here.
    """
    adapter_fields = {"root": model.entry.id, "parent": model.entry.id} if model.adapter else {}
    return {
        "id": model.name,
        "object": "model",
        "created": model.created,
        "created_at": datetime.fromtimestamp(model.created, UTC).isoformat(),
        "owned_by": "hearth",
        "type": "model",
        "display_name": model.name,
        **adapter_fields,
    }
