"""Errors of servers, each with what happened, why, and what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from engines.errors import (
    Action,
    ContextFull,
    EngineError,
    ModelNotFound,
    ServerBusy,
    ServerFailed,
    ServerRefused,
    ServerUnreachable,
)
from engines.openai.parsing import parse_json
from engines.redaction import redact
from engines.sentences import N_, joined

_LONGEST: Final = 300
_LONGEST_PAGE: Final = 4000
_MOST_DIGITS: Final = 12
"""Longest number of tokens, in digits."""

_DEEPEST: Final = 8
"""Depth of nested objects up to which the message of an error is looked for."""
_STILL_LOADING: Final = N_("It may still be loading its model.")
_NEEDS_TLS: Final = re.compile(r"HTTP\b.{0,30}\b(?:HTTPS|SSL-enabled) (?:port|server)", re.DOTALL)
"""Messages of nginx, Apache and Go servers about an unencrypted request to a TLS port."""

_PLAIN_HTTP: Final = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
"""OpenSSL's reasons if the answer is not TLS."""

_TRY_AGAIN: Final = N_("Try again; if it fails again, ask the person who runs the server.")


class TooLong(ContextFull):
    """The server reports that the prompt does not fit.

    Attributes:
        prompt: Tokens of the prompt, if the server reports them.
    """

    def __init__(self, message: str, prompt: int | None, context: int | None) -> None:
        super().__init__(
            N_("This chat does not fit the context of the server’s model."),
            N_("The server says: {sentence}", sentence=_sentence(message)),
            N_("Shorten the message, or start a new chat."),
            tokens=prompt,
            context=context,
        )
        self.prompt = prompt


class FieldRefused(ServerFailed):
    """The server does not accept a part of the request.

    Attributes:
        message: The server's own message, or "".
    """

    def __init__(self, server_name: str, message: str, status: int = 400) -> None:
        super().__init__(
            N_("{called} does not accept this request.", called=server_name),
            _reason(message, status),
            N_("Change that setting of the chat, or choose another model."),
        )
        self.message = message


def status_error(
    server_name: str,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    model: str = "",
    variable: str = "",
) -> EngineError:
    """Return the error for a status other than success.

    Args:
        model: The requested model, or "".
        variable: Environment variable that can hold the server's key, or "".
    """
    message = message_in(body)
    if 300 <= status < 400:
        return redirected(server_name, headers.get("location", ""))
    if status in (400, 413, 422):
        return _bad_request(server_name, message, body, status)
    if status == 404:
        return _not_found(server_name, message, model)
    if status in (401, 403):
        return _access_denied(server_name, status, message, variable)
    if status in (429, 503):
        return _busy(server_name, status, message, headers.get("retry-after", ""))
    return ServerFailed(
        N_("{called} could not answer.", called=server_name), _reason(message, status), _TRY_AGAIN
    )


def error_in_stream(server_name: str, error: object) -> EngineError:
    """Return the error for an error object that arrived within the stream of an answer."""
    message = _find_message(error)
    if (too_long_error := too_long(message, _as_body(error))) is not None:
        return too_long_error
    if isinstance(error, Mapping) and error.get("code") in (400, 422):
        # vLLM checks some settings only after its stream has begun.
        return FieldRefused(server_name, message)
    return ServerFailed(
        N_("{called} stopped in the middle of the answer.", called=server_name),
        _reason(message),
        N_("Ask again; what was answered is kept."),
    )


def _as_body(error: object) -> bytes:
    try:
        return json.dumps({"error": error}).encode()
    except (RecursionError, ValueError):
        return b""  # nested too deep, or with a number that cannot be written


def broken_off(server_name: str) -> ServerFailed:
    """Return the error for an answer that broke off."""
    return ServerFailed(
        N_("The connection to {called} broke off in the middle of the answer.", called=server_name),
        N_("The server or the network ended it before the answer was complete."),
        N_("Ask again; what was answered is kept."),
    )


def too_large(server_name: str) -> ServerFailed:
    """Return the error for an answer that is too large, or has an endless part."""
    return ServerFailed(
        N_("{called} sends too much data.", called=server_name),
        N_(
            "A part of the answer has no end, or is larger than any answer, so Hearth closed "
            "the connection."
        ),
        N_("Ask again; what was answered is kept. If it happens again, check the server."),
    )


def too_slow(server_name: str) -> ServerBusy:
    """Return the error for a server that took too long."""
    return ServerBusy(
        N_("{called} took too long.", called=server_name),
        N_("It is busy or has stopped responding."),
        N_("Try again in a while."),
    )


def wrong_server(server_name: str) -> ServerFailed:
    """Return the error for another kind of server at the address, such as a sign-in page."""
    return ServerFailed(
        N_("Something else answers at the address of {called}.", called=server_name),
        N_(
            "It sent a web page, or something that no server of this kind sends. The "
            "address belongs to another program, or this network wants you to sign in "
            "first."
        ),
        N_("Check the address; sign in to the network in a browser if it asks for that."),
    )


def redirected(server_name: str, target: str) -> ServerFailed:
    """Return the error for a redirect; Hearth contacts only the address in the server's profile."""
    return ServerFailed(
        N_("{called} is at another address.", called=server_name),
        N_(
            "It redirects to {where}, and Hearth does not follow redirects of servers.",
            where=target or N_("another place"),
        ),
        N_("Put the right address into the server’s profile."),
    )


def connection_failed(
    server_name: str, error: Exception, *, has_begun: bool, encrypted: bool = False
) -> EngineError:
    """Return the Hearth error for an error of httpx2.

    Args:
        has_begun: The answer had begun.
        encrypted: The address begins with https://.
    """
    import httpx2

    if _has_cause(error, "SSLError"):
        return _tls(server_name, error)
    if isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout):
        return too_slow(server_name)
    if isinstance(error, httpx2.DecodingError):
        return wrong_server(server_name)
    if isinstance(error, httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError):
        return broken_off(server_name) if has_begun else _no_answer(server_name, encrypted)
    return ServerUnreachable(
        N_("{called} cannot be reached.", called=server_name),
        _connection_reason(error),
        N_("Check its address, the network, and that it is running."),
    )


def _tls(server_name: str, error: Exception) -> ServerUnreachable:
    if _has_cause(error, "SSLCertVerificationError"):
        return ServerUnreachable(
            N_("The certificate of {called} cannot be trusted.", called=server_name),
            N_(
                "It was not signed by anyone that this computer trusts, it is for "
                "another name, it has expired, or the clock is wrong."
            ),
            N_(
                "If the server has a certificate of your own authority, put that authority’s "
                "file into "
                "the server’s profile."
            ),
        )
    if any(reason in str(error).upper() for reason in _PLAIN_HTTP):
        return ServerUnreachable(
            N_("{called} does not encrypt connections on this port.", called=server_name),
            N_("The address begins with https://, but the server there speaks plain HTTP."),
            N_(
                "Write http:// if you trust the network to it, or use the port that has "
                "a certificate."
            ),
        )
    return ServerUnreachable(
        N_("{called} does not accept the encrypted connection.", called=server_name),
        N_("It may require a client certificate, or not use TLS on this port."),
        N_("Put the certificate into the server’s profile, or check the address."),
    )


def _no_answer(server_name: str, encrypted: bool) -> ServerFailed:
    headline = N_("{called} ended the connection without an answer.", called=server_name)
    if encrypted:
        return ServerFailed(
            headline,
            N_("It has just stopped, or it speaks another protocol."),
            N_("Check its address, and that it is running."),
        )
    return ServerFailed(
        headline,
        N_(
            "It requires an encrypted connection, and the address begins with http://; or it "
            "has just stopped."
        ),
        N_("Write https:// in the address if the server has a certificate, or check that it runs."),
    )


def _tls_required(server_name: str) -> ServerUnreachable:
    return ServerUnreachable(
        N_("{called} requires an encrypted connection.", called=server_name),
        N_("The address begins with http://, but its port is for HTTPS."),
        N_("Write https:// in the address."),
    )


def message_in(body: bytes) -> str:
    """Return the message in the body of an error, whatever its form; "" for a page or no body."""
    text = body.decode("utf-8", "replace").strip()
    try:
        return _find_message(parse_json(text))
    except ValueError:
        return "" if text.startswith("<") else text


def too_long(message: str, body: bytes = b"") -> TooLong | None:
    """Return an error with its numbers if a message says that a prompt does not fit, else None."""
    if not any(hint in message.lower() for hint in _TOO_LONG) and not _EXCEEDS.search(
        body.decode("utf-8", "replace")
    ):
        return None
    prompt, context = _number(message, _PROMPTS), _number(message, _CONTEXTS)
    text = body.decode("utf-8", "replace")
    return TooLong(
        message, prompt or _number(text, _PROMPT_FIELDS), context or _number(text, _CONTEXT_FIELDS)
    )


_EXCEEDS: Final = re.compile(r"exceed_context_size_error|context_length_exceeded")
_TOO_LONG: Final = (
    "maximum context length",
    "exceeds the available context size",
    "longer than the model's context length",
    "context length of only",
    "context window",
    "cannot be greater than max_model_len",
    "exceed context",
)
# vLLM, OpenAI, SGLang and llama-server each have their own wording.
_PROMPTS: Final = (
    r"prompt contains (?:at least )?([\d,]+) input tokens",
    r"request has ([\d,]+) input tokens",
    r"\(([\d,]+) in the messages",
    r"messages resulted in ([\d,]+) tokens",
    r"([\d,]+) tokens from the input messages",
    r"[Ii]nput \(([\d,]+) tokens\)",
    r"request \(([\d,]+) tokens\)",
)
_CONTEXTS: Final = (
    r"maximum context length (?:is|of) ([\d,]+)",
    r"max_model_len=(\d+)",
    r"context length \(([\d,]+)",
    r"context size \(([\d,]+)",
    r"context length of only ([\d,]+)",
)
_PROMPT_FIELDS: Final = (r'"n_prompt_tokens":\s*(\d+)',)
_CONTEXT_FIELDS: Final = (r'"n_ctx":\s*(\d+)',)


def _number(text: str, patterns: tuple[str, ...]) -> int | None:
    for pattern in patterns:
        match = re.search(pattern, text)
        digits = match[1].replace(",", "") if match else ""
        if 0 < len(digits) <= _MOST_DIGITS:
            return int(digits)
    return None


def _find_message(value: Any, depth: int = 0) -> str:
    """Find the message in an error: the text itself, or a value under a name that servers use."""
    if isinstance(value, str):
        return value.strip()
    if depth == _DEEPEST:
        return ""
    if isinstance(value, Mapping):
        for name in ("error", "message", "detail"):
            if message := _find_message(value.get(name), depth + 1):
                return message
    if isinstance(value, list) and value:
        return _find_message(value[0], depth + 1)
    return ""


def _reason(message: str, status: int = 0) -> str:
    if message:
        return N_("It says: {sentence}", sentence=_sentence(message))
    return (
        N_("It gives no reason; its status is {status}.", status=status)
        if status
        else N_("It gives no reason.")
    )


def _sentence(text: str) -> str:
    """Turn a text into a sentence; redact secrets before cutting, as half a secret is too much."""
    text = redact(text)
    line = "".join(character for character in " ".join(text.split()) if character.isprintable())
    if len(line) > _LONGEST:
        line = f"{line[:_LONGEST].rstrip()}…"
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."


def _bad_request(server_name: str, message: str, body: bytes, status: int) -> EngineError:
    if _NEEDS_TLS.search(body[:_LONGEST_PAGE].decode("utf-8", "replace")):
        return _tls_required(server_name)
    return too_long(message, body) or FieldRefused(server_name, message, status)


def _not_found(server_name: str, message: str, model: str) -> EngineError:
    if model and (not message or "model" in message.lower()):
        return ModelNotFound(
            N_("{called} has no model “{model}”.", called=server_name, model=model),
            _reason(message),
            N_("Choose one of the models that it offers now."),
        )
    return ServerFailed(
        N_("{called} does not understand the request.", called=server_name),
        N_("The server at this address does not speak this protocol."),
        N_("Check the address: it is the part before “/v1”."),
    )


def _access_denied(server_name: str, status: int, message: str, variable: str) -> ServerRefused:
    if status == 401:
        return ServerRefused(
            N_("{called} requires a key.", called=server_name),
            N_("The key is missing, wrong or has expired."),
            N_("Enter the server’s key."),
            Action("enter_key", server_name),
            terminal=N_(
                "Put the server’s key into its profile: `hearth servers add NAME ADDRESS "
                "--key-stdin` reads it; or set {variable} in the environment.",
                variable=variable,
            )
            if variable
            else "",
        )
    return ServerRefused(
        N_("{called} refuses access.", called=server_name),
        _reason(message),
        N_(
            "Ask the person who runs the server whether your key may use this model, "
            "or enter another key."
        ),
        Action("enter_key", server_name),
    )


def _busy(server_name: str, status: int, message: str, retry_after: str) -> ServerBusy:
    wait = (
        N_("Try again in {after} seconds.", after=retry_after)
        if retry_after.isdigit()
        else N_("Try again in a while.")
    )
    if status == 429:
        why = N_("It accepts no more requests right now.")
        return ServerBusy(
            N_("{called} is busy.", called=server_name), joined(" ", (why, _reason(message))), wait
        )
    return ServerBusy(
        N_("{called} is not ready.", called=server_name),
        joined(" ", (_reason(message), _STILL_LOADING)),
        wait,
    )


def _connection_reason(error: Exception) -> str:
    import httpx2

    if isinstance(error, httpx2.TimeoutException):
        return N_("It did not answer in time.")
    if isinstance(error, httpx2.ProxyError):
        return N_(
            "The proxy of this network did not connect: {sentence}", sentence=_sentence(str(error))
        )
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        return N_("The address cannot be used: {sentence}", sentence=_sentence(str(error)))
    if _has_cause(error, "gaierror"):
        return N_("Its name cannot be found: it is wrong, or known in another network only.")
    if any(isinstance(cause, ConnectionRefusedError) for cause in _causes(error)):
        return N_(
            "Nothing answers there: the server is down or still starting, or the port is wrong."
        )
    return N_("This network has no route to it, or it closed the connection at once.")


def _has_cause(error: Exception, name: str) -> bool:
    """Check for a kind of error by its name, because only app/net can import sockets and TLS."""
    return any(name in (kind.__name__ for kind in type(cause).__mro__) for cause in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
