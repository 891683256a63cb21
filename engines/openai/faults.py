"""What goes wrong between here and a server, as an error in three parts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from engines.errors import (
    ContextFull,
    EngineError,
    ModelNotFound,
    ServerBusy,
    ServerFailed,
    ServerRefused,
    ServerUnreachable,
)

_LONGEST: Final = 300
_AGAIN: Final = "Try again; if it stays so, ask whoever looks after the server."


class TooLong(ContextFull):
    """The server says that the prompt does not fit. prompt, context: tokens, as far as it tells."""

    def __init__(self, said: str, prompt: int | None, context: int | None) -> None:
        super().__init__(
            "This chat does not fit the context of the server’s model.",
            f"The server says: {_sentence(said)}",
            "Shorten the message, or start a new chat.",
        )
        self.prompt = prompt
        self.context = context


class Unwanted(ServerFailed):
    """The server does not take something of the request. said: in its words."""

    def __init__(self, called: str, said: str) -> None:
        super().__init__(
            f"{called} does not take this request.",
            f"It says: {_sentence(said)}",
            "Change that setting of the chat, or choose another model.",
        )
        self.said = said


def refused(
    called: str, status: int, headers: Mapping[str, str], body: bytes, model: str = ""
) -> EngineError:
    """An answer whose status is no success. model: that was asked for, "" for none."""
    said = told(body)
    if 300 <= status < 400:
        return elsewhere(called, headers.get("location", ""))
    if status in (400, 413, 422):
        return too_long(said, body) or Unwanted(called, said or f"status {status}")
    if status == 404:
        return _not_found(called, said, model)
    if status in (401, 403):
        return _closed(called, status, said)
    if status in (429, 503):
        return _busy(called, status, said, headers.get("retry-after", ""))
    return ServerFailed(
        f"{called} failed.", f"It says: {_sentence(said or f'status {status}')}", _AGAIN
    )


def in_stream(called: str, error: object) -> EngineError:
    """An error that came instead of the next piece of an answer."""
    said = _words(error)
    if (long := too_long(said, json.dumps({"error": error}).encode())) is not None:
        return long
    if isinstance(error, Mapping) and error.get("code") in (400, 422):
        # vLLM looks at some settings only when its stream has begun.
        return Unwanted(called, said)
    return ServerFailed(
        f"{called} gave up in the middle of the answer.",
        f"It says: {_sentence(said or 'nothing more')}",
        "Ask again; what was answered is kept.",
    )


def broken_off(called: str) -> ServerFailed:
    return ServerFailed(
        f"The connection to {called} broke off in the middle of the answer.",
        "The server or the network ended it before the answer was whole.",
        "Ask again; what was answered is kept.",
    )


def another(called: str) -> ServerFailed:
    """Something answered that speaks another language, such as a page for signing in."""
    return ServerFailed(
        f"Something else answers at the address of {called}.",
        "It sent a web page, or what no server of this kind sends: the address is that of another "
        "program, or this network wants you to sign in first.",
        "Check the address; sign in to the network in a browser if it asks for that.",
    )


def elsewhere(called: str, where: str) -> ServerFailed:
    """A redirect, which is not followed: what is asked goes to the address in the profile only."""
    return ServerFailed(
        f"{called} is at another address.",
        f"It sends whoever asks to {where or 'another place'}, and Hearth follows no such hint.",
        "Put the right address into the server’s profile.",
    )


def lost(called: str, error: Exception, *, begun: bool) -> EngineError:
    """An error of httpx2. begun: the answer had begun to come."""
    import httpx2

    if _named(error, "SSLCertVerificationError"):
        return ServerUnreachable(
            f"The certificate of {called} cannot be trusted.",
            "Nobody that this computer trusts has signed it, it is for another name, it has "
            "expired, or the clock is wrong.",
            "If the server has a certificate of your own authority, put that authority’s file into "
            "the server’s profile.",
        )
    if _named(error, "SSLError"):
        return ServerUnreachable(
            f"{called} does not accept the encrypted connection.",
            "It may want a certificate of yours, or not speak TLS at this port.",
            "Put the certificate into the server’s profile, or check the address.",
        )
    if isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout):
        return ServerBusy(
            f"{called} took too long.", "It is busy, or it hangs.", "Try again in a while."
        )
    if isinstance(error, httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError):
        return broken_off(called) if begun else _unanswered(called)
    return ServerUnreachable(
        f"{called} cannot be reached.",
        _why_unreached(error),
        "Check that it runs, its address, and the network between.",
    )


def _unanswered(called: str) -> ServerFailed:
    return ServerFailed(
        f"{called} ended the connection without an answer.",
        "It stopped just then, or what listens there speaks another protocol; a server with a "
        "certificate wants https://.",
        "Check that it runs, and its address.",
    )


def told(body: bytes) -> str:
    """What the body of an error says, whatever its shape; "" for a page or nothing."""
    text = body.decode("utf-8", "replace").strip()
    try:
        return _words(json.loads(text))
    except ValueError:
        return "" if text.startswith("<") else text


def too_long(said: str, body: bytes = b"") -> TooLong | None:
    """Whether an error says that a prompt does not fit, and with which numbers."""
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
# vLLM, OpenAI, SGLang, llama-server: each in words of its own.
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
        if found := re.search(pattern, text):
            return int(found[1].replace(",", ""))
    return None


def _words(value: Any) -> str:
    """The message in an error: as text, or within objects under the names that servers use."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Mapping):
        for name in ("error", "message", "detail"):
            if words := _words(value.get(name)):
                return words
    if isinstance(value, list) and value:
        return _words(value[0])
    return ""


def _sentence(text: str) -> str:
    line = "".join(it for it in " ".join(text.split()) if it.isprintable())
    if len(line) > _LONGEST:
        line = f"{line[:_LONGEST].rstrip()}…"
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."


def _not_found(called: str, said: str, model: str) -> EngineError:
    if model and (not said or "model" in said.lower()):
        return ModelNotFound(
            f"{called} has no model “{model}”.",
            f"It says: {_sentence(said or 'not found')}",
            "Choose one of the models that it offers now.",
        )
    return ServerFailed(
        f"{called} does not know what was asked.",
        "The address leads to a server that does not speak this protocol there.",
        "Check the address: it is the part before “/v1”.",
    )


def _closed(called: str, status: int, said: str) -> ServerRefused:
    if status == 401:
        return ServerRefused(
            f"{called} wants a key.",
            "The key is missing, wrong or has expired.",
            "Put the server’s key into its profile.",
        )
    return ServerRefused(
        f"{called} does not let you in.",
        f"It says: {_sentence(said or 'no reason')}",
        "Ask whoever looks after the server whether your key may use this model.",
    )


def _busy(called: str, status: int, said: str, after: str) -> ServerBusy:
    wait = f"Try again in {after} seconds." if after.isdigit() else "Try again in a while."
    if status == 429:
        why = f"It takes no more requests now: {_sentence(said or 'no reason is given')}"
        return ServerBusy(f"{called} has too much to do.", why, wait)
    said = _sentence(said or "nothing more")
    return ServerBusy(
        f"{called} is not ready.", f"It says: {said} It may still be loading its model.", wait
    )


def _why_unreached(error: Exception) -> str:
    import httpx2

    if isinstance(error, httpx2.TimeoutException):
        return "Nothing came back from there in time."
    if isinstance(error, httpx2.ProxyError):
        return f"The proxy of this network did not connect: {_sentence(str(error))}"
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        return f"The address cannot be used: {_sentence(str(error))}"
    if _named(error, "gaierror"):
        return "Its name cannot be found: it is wrong, or known in another network only."
    if any(isinstance(cause, ConnectionRefusedError) for cause in _causes(error)):
        return "Nothing listens there: the server is down or still starts, or the port is wrong."
    return "There is no way to it from this network, or it ended the connection at once."


def _named(error: Exception, name: str) -> bool:
    """By name: the modules of sockets and TLS belong to app/net."""
    return any(name in (kind.__name__ for kind in type(cause).__mro__) for cause in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
