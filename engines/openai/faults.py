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
from engines.openai.parsing import parsed
from engines.redaction import redact
from engines.sentences import N_, joined

_LONGEST: Final = 300
_LONGEST_PAGE: Final = 4000
_MOST_DIGITS: Final = 12
"""Longest number of tokens, in digits."""

_DEEPEST: Final = 8
"""Depth of nested objects up to which the message of an error is looked for."""
_LOADS: Final = N_("It may still be loading its model.")
_WANTS_TLS: Final = re.compile(r"HTTP\b.{0,30}\b(?:HTTPS|SSL-enabled) (?:port|server)", re.DOTALL)
"""Messages of nginx, Apache and Go servers about an unencrypted request to a TLS port."""

_PLAIN: Final = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
"""OpenSSL's reasons if the answer is not TLS."""

_AGAIN: Final = N_("Try again; if it fails again, ask whoever looks after the server.")


class TooLong(ContextFull):
    """The server reports that the prompt does not fit.

    Attributes:
        prompt: Tokens of the prompt, if the server reports them.
    """

    def __init__(self, said: str, prompt: int | None, context: int | None) -> None:
        super().__init__(
            N_("This chat does not fit the context of the server’s model."),
            N_("The server says: {sentence}", sentence=_sentence(said)),
            N_("Shorten the message, or start a new chat."),
            tokens=prompt,
            context=context,
        )
        self.prompt = prompt


class Unwanted(ServerFailed):
    """The server does not accept a part of the request.

    Attributes:
        said: The server's own message, or "".
    """

    def __init__(self, called: str, said: str, status: int = 400) -> None:
        super().__init__(
            N_("{called} does not accept this request.", called=called),
            _says(said, status),
            N_("Change that setting of the chat, or choose another model."),
        )
        self.said = said


def refused(
    called: str,
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
    said = told(body)
    if 300 <= status < 400:
        return elsewhere(called, headers.get("location", ""))
    if status in (400, 413, 422):
        return _not_taken(called, said, body, status)
    if status == 404:
        return _not_found(called, said, model)
    if status in (401, 403):
        return _closed(called, status, said, variable)
    if status in (429, 503):
        return _busy(called, status, said, headers.get("retry-after", ""))
    return ServerFailed(
        N_("{called} could not answer.", called=called), _says(said, status), _AGAIN
    )


def in_stream(called: str, error: object) -> EngineError:
    """Return the error for an error object that arrived within the stream of an answer."""
    said = _words(error)
    if (long := too_long(said, _as_body(error))) is not None:
        return long
    if isinstance(error, Mapping) and error.get("code") in (400, 422):
        # vLLM checks some settings only after its stream has begun.
        return Unwanted(called, said)
    return ServerFailed(
        N_("{called} stopped in the middle of the answer.", called=called),
        _says(said),
        N_("Ask again; what was answered is kept."),
    )


def _as_body(error: object) -> bytes:
    try:
        return json.dumps({"error": error}).encode()
    except (RecursionError, ValueError):
        return b""  # nested too deep, or with a number that cannot be written


def broken_off(called: str) -> ServerFailed:
    """Return the error for an answer that broke off."""
    return ServerFailed(
        N_("The connection to {called} broke off in the middle of the answer.", called=called),
        N_("The server or the network ended it before the answer was complete."),
        N_("Ask again; what was answered is kept."),
    )


def endless(called: str) -> ServerFailed:
    """Return the error for an answer that is too large, or has an endless part."""
    return ServerFailed(
        N_("{called} sends too much.", called=called),
        N_(
            "A part of the answer has no end, or is larger than any answer, so Hearth closed "
            "the connection."
        ),
        N_("Ask again; what was answered is kept. If it happens again, check the server."),
    )


def late(called: str) -> ServerBusy:
    """Return the error for a server that took too long."""
    return ServerBusy(
        N_("{called} took too long.", called=called),
        N_("It is busy or has stopped responding."),
        N_("Try again in a while."),
    )


def another(called: str) -> ServerFailed:
    """Return the error for another kind of server at the address, such as a sign-in page."""
    return ServerFailed(
        N_("Something else answers at the address of {called}.", called=called),
        N_(
            "It sent a web page, or what no server of this kind sends: the address is that of "
            "another "
            "program, or this network wants you to sign in first."
        ),
        N_("Check the address; sign in to the network in a browser if it asks for that."),
    )


def elsewhere(called: str, where: str) -> ServerFailed:
    """Return the error for a redirect; Hearth contacts only the address in the server's profile."""
    return ServerFailed(
        N_("{called} is at another address.", called=called),
        N_(
            "It redirects to {where}, and Hearth does not follow redirects of servers.",
            where=where or N_("another place"),
        ),
        N_("Put the right address into the server’s profile."),
    )


def lost(called: str, error: Exception, *, begun: bool, encrypted: bool = False) -> EngineError:
    """Return the Hearth error for an error of httpx2.

    Args:
        begun: The answer had begun.
        encrypted: The address begins with https://.
    """
    import httpx2

    if _named(error, "SSLError"):
        return _tls(called, error)
    if isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout):
        return late(called)
    if isinstance(error, httpx2.DecodingError):
        return another(called)
    if isinstance(error, httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError):
        return broken_off(called) if begun else _unanswered(called, encrypted)
    return ServerUnreachable(
        N_("{called} cannot be reached.", called=called),
        _why_unreached(error),
        N_("Check its address, the network, and that it is running."),
    )


def _tls(called: str, error: Exception) -> ServerUnreachable:
    if _named(error, "SSLCertVerificationError"):
        return ServerUnreachable(
            N_("The certificate of {called} cannot be trusted.", called=called),
            N_(
                "Nobody that this computer trusts has signed it, it is for another name, it has "
                "expired, or the clock is wrong."
            ),
            N_(
                "If the server has a certificate of your own authority, put that authority’s "
                "file into "
                "the server’s profile."
            ),
        )
    if any(it in str(error).upper() for it in _PLAIN):
        return ServerUnreachable(
            N_("{called} does not encrypt at this port.", called=called),
            N_("The address begins with https://, and what answers there speaks plain HTTP."),
            N_("Write http:// if you trust the network between, or the port with the certificate."),
        )
    return ServerUnreachable(
        N_("{called} does not accept the encrypted connection.", called=called),
        N_("It may require a client certificate, or not use TLS on this port."),
        N_("Put the certificate into the server’s profile, or check the address."),
    )


def _unanswered(called: str, encrypted: bool) -> ServerFailed:
    what = N_("{called} ended the connection without an answer.", called=called)
    if encrypted:
        return ServerFailed(
            what,
            N_("It has just stopped, or something there speaks another protocol."),
            N_("Check its address, and that it is running."),
        )
    return ServerFailed(
        what,
        N_(
            "It requires an encrypted connection, and the address begins with http://; or it "
            "has just stopped."
        ),
        N_("Write https:// in the address if the server has a certificate, or check that it runs."),
    )


def _wants_tls(called: str) -> ServerUnreachable:
    return ServerUnreachable(
        N_("{called} requires an encrypted connection.", called=called),
        N_("The address begins with http://, and its port is one for HTTPS."),
        N_("Write https:// in the address."),
    )


def told(body: bytes) -> str:
    """Return the message in the body of an error, whatever its form; "" for a page or no body."""
    text = body.decode("utf-8", "replace").strip()
    try:
        return _words(parsed(text))
    except ValueError:
        return "" if text.startswith("<") else text


def too_long(said: str, body: bytes = b"") -> TooLong | None:
    """Return an error with its numbers if a message says that a prompt does not fit, else None."""
    if not any(hint in said.lower() for hint in _TOO_LONG) and not _EXCEEDS.search(
        body.decode("utf-8", "replace")
    ):
        return None
    prompt, context = _number(said, _PROMPTS), _number(said, _CONTEXTS)
    more = body.decode("utf-8", "replace")
    return TooLong(
        said, prompt or _number(more, _PROMPT_FIELDS), context or _number(more, _CONTEXT_FIELDS)
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
        found = re.search(pattern, text)
        digits = found[1].replace(",", "") if found else ""
        if 0 < len(digits) <= _MOST_DIGITS:
            return int(digits)
    return None


def _words(value: Any, deep: int = 0) -> str:
    """Find the message in an error: the text itself, or a value under a name that servers use."""
    if isinstance(value, str):
        return value.strip()
    if deep == _DEEPEST:
        return ""
    if isinstance(value, Mapping):
        for name in ("error", "message", "detail"):
            if words := _words(value.get(name), deep + 1):
                return words
    if isinstance(value, list) and value:
        return _words(value[0], deep + 1)
    return ""


def _says(said: str, status: int = 0) -> str:
    if said:
        return N_("It says: {sentence}", sentence=_sentence(said))
    return (
        N_("It gives no reason; its status is {status}.", status=status)
        if status
        else N_("It gives no reason.")
    )


def _sentence(text: str) -> str:
    """Turn a text into a sentence; redact secrets before cutting, as half a secret is too much."""
    text = redact(text)
    line = "".join(it for it in " ".join(text.split()) if it.isprintable())
    if len(line) > _LONGEST:
        line = f"{line[:_LONGEST].rstrip()}…"
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."


def _not_taken(called: str, said: str, body: bytes, status: int) -> EngineError:
    if _WANTS_TLS.search(body[:_LONGEST_PAGE].decode("utf-8", "replace")):
        return _wants_tls(called)
    return too_long(said, body) or Unwanted(called, said, status)


def _not_found(called: str, said: str, model: str) -> EngineError:
    if model and (not said or "model" in said.lower()):
        return ModelNotFound(
            N_("{called} has no model “{model}”.", called=called, model=model),
            _says(said),
            N_("Choose one of the models that it offers now."),
        )
    return ServerFailed(
        N_("{called} does not understand the request.", called=called),
        N_("The address leads to a server that does not speak this protocol there."),
        N_("Check the address: it is the part before “/v1”."),
    )


def _closed(called: str, status: int, said: str, variable: str) -> ServerRefused:
    if status == 401:
        return ServerRefused(
            N_("{called} requires a key.", called=called),
            N_("The key is missing, wrong or has expired."),
            N_("Enter the server’s key."),
            Action("enter_key", called),
            terminal=N_(
                "Put the server’s key into its profile: `hearth servers add NAME ADDRESS "
                "--key-stdin` reads it; or set {variable} in the environment.",
                variable=variable,
            )
            if variable
            else "",
        )
    return ServerRefused(
        N_("{called} refuses access.", called=called),
        _says(said),
        N_(
            "Ask whoever looks after the server whether your key may use this model, or enter "
            "another."
        ),
        Action("enter_key", called),
    )


def _busy(called: str, status: int, said: str, after: str) -> ServerBusy:
    wait = (
        N_("Try again in {after} seconds.", after=after)
        if after.isdigit()
        else N_("Try again in a while.")
    )
    if status == 429:
        why = N_("It accepts no more requests right now.")
        return ServerBusy(
            N_("{called} is busy.", called=called), joined(" ", (why, _says(said))), wait
        )
    return ServerBusy(
        N_("{called} is not ready.", called=called), joined(" ", (_says(said), _LOADS)), wait
    )


def _why_unreached(error: Exception) -> str:
    import httpx2

    if isinstance(error, httpx2.TimeoutException):
        return N_("Nothing came back from there in time.")
    if isinstance(error, httpx2.ProxyError):
        return N_(
            "The proxy of this network did not connect: {sentence}", sentence=_sentence(str(error))
        )
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        return N_("The address cannot be used: {sentence}", sentence=_sentence(str(error)))
    if _named(error, "gaierror"):
        return N_("Its name cannot be found: it is wrong, or known in another network only.")
    if any(isinstance(cause, ConnectionRefusedError) for cause in _causes(error)):
        return N_(
            "Nothing answers there: the server is down or still starting, or the port is wrong."
        )
    return N_("This network does not lead to it, or it closed the connection at once.")


def _named(error: Exception, name: str) -> bool:
    """Check for a kind of error by its name, because only app/net can import sockets and TLS."""
    return any(name in (kind.__name__ for kind in type(cause).__mro__) for cause in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
