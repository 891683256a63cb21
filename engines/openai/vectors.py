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
from engines.openai.access import ServedModelAccess
from engines.openai.fitting import tokenize_body
from engines.sentences import N_
from engines.types import Ranking, Vectors

_NO_TEXT: Final = N_("The server cannot turn tokens into text.")


def tokenize(
    access: ServedModelAccess, text: str, cancel: CancelToken, *, special: bool
) -> tuple[int, ...]:
    """Return a text's tokens. Raises EngineError, Unsupported, Cancelled."""
    body = tokenize_body(access, text, special=special)
    with _connect(access, cancel) as (client, connection):
        tokens = client.tokenize(body, connection)
    if tokens is None:
        raise unsupported(N_("The server cannot count tokens."))
    return tuple(tokens)


def detokenize(access: ServedModelAccess, tokens: Sequence[int], cancel: CancelToken) -> str:
    """Return the text of tokens. Raises EngineError, Unsupported, Cancelled."""
    answer = _post(
        access, "/detokenize", {"model": access.model, "tokens": list(tokens)}, cancel, _NO_TEXT
    )
    text = answer.get("content", answer.get("prompt"))
    if not isinstance(text, str):
        raise unsupported(_NO_TEXT)
    return text


def embed(
    access: ServedModelAccess, texts: Sequence[str | Sequence[int]], cancel: CancelToken
) -> Vectors:
    """Return the embeddings of texts, normalised. Raises EngineError, Unsupported, Cancelled."""
    inputs = [text if isinstance(text, str) else list(text) for text in texts]
    body = {"model": access.model, "input": inputs, "encoding_format": "float"}
    answer = _post(
        access, "/v1/embeddings", body, cancel, N_("The server cannot turn texts into vectors.")
    )
    try:
        rows = sorted(answer["data"], key=lambda row: row["index"])
        vectors = tuple(_normalise(row["embedding"]) for row in rows)
    except (KeyError, TypeError, ValueError):
        raise _unusable_answer() from None
    if len(vectors) != len(texts):
        raise _unusable_answer()
    return Vectors(vectors, _tokens(answer))


def rerank(
    access: ServedModelAccess, query: str, documents: Sequence[str], cancel: CancelToken
) -> Ranking:
    """Score how well documents answer a query. Raises EngineError, Unsupported, Cancelled."""
    body = {"model": access.model, "query": query, "documents": list(documents)}
    answer = _post(access, "/v1/rerank", body, cancel, N_("The server cannot rank documents."))
    try:
        scores = {int(row["index"]): float(row["relevance_score"]) for row in answer["results"]}
        return Ranking(tuple(scores[index] for index in range(len(documents))), _tokens(answer))
    except (KeyError, TypeError, ValueError):
        raise _unusable_answer() from None


@contextmanager
def _connect(access: ServedModelAccess, cancel: CancelToken) -> Iterator[tuple[Any, Connection]]:
    try:
        with Connection.ended_by(cancel) as connection:
            yield access.client, connection
    except EngineError:
        if cancel.cancelled:
            raise Cancelled from None
        raise


def _post(
    access: ServedModelAccess, path: str, body: dict[str, Any], cancel: CancelToken, sentence: str
) -> dict[str, Any]:
    """Post a body; raise Unsupported with the sentence `sentence` if the server cannot do this."""
    with _connect(access, cancel) as (client, connection):
        answer = client.post(path, body, required=False, connection=connection)
    if not isinstance(answer, dict):
        raise unsupported(sentence)
    return answer


def _tokens(answer: dict[str, Any]) -> int:
    usage = answer.get("usage")
    count = usage.get("total_tokens", 0) if isinstance(usage, dict) else 0
    return count if isinstance(count, int) else 0


def _normalise(values: Sequence[float]) -> tuple[float, ...]:
    numbers = [float(value) for value in values]
    length = math.hypot(*numbers) or 1.0
    return tuple(number / length for number in numbers)


def unsupported(sentence: str) -> Unsupported:
    """Return the error for a server that does not support a request."""
    return Unsupported(
        sentence,
        N_("It does not offer this for the model, or was started without it."),
        N_("Choose a model that is made for this."),
    )


def _unusable_answer() -> ServerFailed:
    return ServerFailed(
        N_("The server’s answer cannot be used."),
        N_("It does not contain the requested values."),
        N_("Try another server or model."),
    )
