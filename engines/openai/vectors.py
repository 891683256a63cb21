"""Tokens, embeddings and rankings of texts, by the endpoints of vLLM and llama-server.

Sources: OpenAI's API reference, "Embeddings"; vLLM's "OpenAI-Compatible Server" for /tokenize,
/detokenize and /v1/rerank; llama-server's README for the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from engines.cancel import CancelToken
from engines.connection import Connection
from engines.errors import Cancelled, EngineError, ServerFailed, Unsupported
from engines.openai.fitting import tokenizing
from engines.openai.via import Via
from engines.sentences import N_
from engines.types import Ranking, Vectors

_NO_TEXT: Final = N_("The server cannot turn tokens into text.")


def tokenize(via: Via, text: str, cancel: CancelToken, *, special: bool) -> tuple[int, ...]:
    """Return a text's tokens. Raises EngineError, Unsupported, Cancelled."""
    body = tokenizing(via, text, special=special)
    with _asking(via, cancel) as (client, connection):
        tokens = client.tokenize(body, connection)
    if tokens is None:
        raise unsupported(N_("The server cannot count tokens."))
    return tuple(tokens)


def detokenize(via: Via, tokens: Sequence[int], cancel: CancelToken) -> str:
    """Return the text of tokens. Raises EngineError, Unsupported, Cancelled."""
    found = _post(
        via, "/detokenize", {"model": via.model, "tokens": list(tokens)}, cancel, _NO_TEXT
    )
    text = found.get("content", found.get("prompt"))
    if not isinstance(text, str):
        raise unsupported(_NO_TEXT)
    return text


def embed(via: Via, texts: Sequence[str | Sequence[int]], cancel: CancelToken) -> Vectors:
    """Return the embeddings of texts, normalised. Raises EngineError, Unsupported, Cancelled."""
    given = [it if isinstance(it, str) else list(it) for it in texts]
    body = {"model": via.model, "input": given, "encoding_format": "float"}
    found = _post(via, "/v1/embeddings", body, cancel, N_("The server has no vectors of texts."))
    try:
        rows = sorted(found["data"], key=lambda row: row["index"])
        vectors = tuple(_of_length_one(row["embedding"]) for row in rows)
    except (KeyError, TypeError, ValueError):
        raise _odd() from None
    if len(vectors) != len(texts):
        raise _odd()
    return Vectors(vectors, _tokens(found))


def rerank(via: Via, query: str, documents: Sequence[str], cancel: CancelToken) -> Ranking:
    """Score how well documents answer a query. Raises EngineError, Unsupported, Cancelled."""
    body = {"model": via.model, "query": query, "documents": list(documents)}
    found = _post(via, "/v1/rerank", body, cancel, N_("The server cannot judge documents."))
    try:
        scores = {int(row["index"]): float(row["relevance_score"]) for row in found["results"]}
        return Ranking(tuple(scores[at] for at in range(len(documents))), _tokens(found))
    except (KeyError, TypeError, ValueError):
        raise _odd() from None


@contextmanager
def _asking(via: Via, cancel: CancelToken) -> Iterator[tuple[Any, Connection]]:
    try:
        with Connection.ended_by(cancel) as connection:
            yield via.client, connection
    except EngineError:
        if cancel.cancelled:
            raise Cancelled from None
        raise


def _post(
    via: Via, path: str, body: dict[str, Any], cancel: CancelToken, what: str
) -> dict[str, Any]:
    """Post a body; raise Unsupported with the sentence `what` if the server cannot do this."""
    with _asking(via, cancel) as (client, connection):
        found = client.post(path, body, wanted=False, connection=connection)
    if not isinstance(found, dict):
        raise unsupported(what)
    return found


def _tokens(found: dict[str, Any]) -> int:
    usage = found.get("usage")
    count = usage.get("total_tokens", 0) if isinstance(usage, dict) else 0
    return count if isinstance(count, int) else 0


def _of_length_one(values: Sequence[float]) -> tuple[float, ...]:
    numbers = [float(value) for value in values]
    length = math.hypot(*numbers) or 1.0
    return tuple(number / length for number in numbers)


def unsupported(what: str) -> Unsupported:
    """Return the error for a server that does not support a request."""
    return Unsupported(
        what,
        N_("It has no such thing for this model, or was started without it."),
        N_("Choose a model that is made for this."),
    )


def _odd() -> ServerFailed:
    return ServerFailed(
        N_("The server’s answer cannot be used."),
        N_("It does not have what was asked for."),
        N_("Try another server or model."),
    )
