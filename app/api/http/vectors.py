"""Vectors, rankings and tokens: embeddings, rerank, tokenize and detokenize.

Sources: OpenAI's API reference, "Embeddings"; Cohere's and Jina's "Rerank", which llama-server and
vLLM support; llama-server's and vLLM's `/tokenize` and `/detokenize`.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import Field

from app.api.http.fields import Fields
from app.api.http.request import BadRequest
from engines.types import Ranking, Vectors

MOST_CHARACTERS: Final = 4 * 1024 * 1024
"""Maximum characters of a text to tokenise; that takes some seconds."""


class EmbeddingFields(Fields):
    """The fields of a request for embeddings."""

    model: str = Field(min_length=1, max_length=512)
    input: str | list[str] | list[int] | list[list[int]]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = Field(None, ge=1)

    def texts(self) -> list[str | list[int]]:
        """Return the texts to embed, or their tokens. Raises BadRequest."""
        texts = self.input
        if isinstance(texts, str) or (texts and isinstance(texts[0], int)):
            return [texts]  # tokens of one text
        if not texts:
            raise BadRequest(
                "There is nothing to embed.", "“input” is empty.", "Send texts.", "input"
            )
        return list(texts)  # type: ignore[arg-type]  # texts, or tokens of each


class RerankFields(Fields):
    """The fields of a request for a ranking."""

    model: str = Field(min_length=1, max_length=512)
    query: str
    documents: list[str | dict[str, Any]] = Field(min_length=1, max_length=10_000)
    top_n: int | None = Field(None, ge=1)
    return_documents: bool = False

    def texts(self) -> list[str]:
        """Return the texts of the documents."""
        return [
            document if isinstance(document, str) else str(document.get("text", ""))
            for document in self.documents
        ]


class TokenizeFields(Fields):
    """The fields of a request for tokens; llama-server calls the text `content`, vLLM `prompt`."""

    model: str = ""
    content: str | None = None
    prompt: str | None = None
    add_special: bool | None = None
    add_special_tokens: bool | None = None

    def text(self) -> str:
        """Return the text. Raises BadRequest."""
        text = self.prompt if self.content is None else self.content
        if text is None:
            raise BadRequest("There is no text.", "“content” is missing.", "Send it.", "content")
        if len(text) > MOST_CHARACTERS:
            raise BadRequest(
                "The text is too long to be tokenised at once.",
                f"It has {len(text):,} characters; at most {MOST_CHARACTERS:,} are allowed.",
                "Send it in parts.",
                "content",
            )
        return text

    @property
    def adds_special(self) -> bool:
        """True to add the tokens that a prompt begins with."""
        choice = self.add_special_tokens if self.add_special is None else self.add_special
        # vLLM's clients expect the tokens that begin a prompt, llama-server's only the text's.
        return self.content is None if choice is None else choice


class DetokenizeFields(Fields):
    """The fields of a request for the text of tokens."""

    model: str = ""
    tokens: list[int] = Field(max_length=1_000_000)


def write_vectors(fields: EmbeddingFields, model: str, result: Vectors) -> dict[str, Any]:
    """Write vectors in OpenAI's format. Raises BadRequest."""
    rows = [_row(fields, vector, number) for number, vector in enumerate(result.vectors)]
    usage = {"prompt_tokens": result.tokens, "total_tokens": result.tokens}
    return {"object": "list", "data": rows, "model": model, "usage": usage}


def _row(fields: EmbeddingFields, vector: Sequence[float], number: int) -> dict[str, Any]:
    if fields.dimensions is not None:
        if fields.dimensions > len(vector):
            raise BadRequest(
                f"There are no {fields.dimensions} dimensions.",
                f"This model’s vectors have {len(vector)}.",
                "Ask for fewer, or for none in particular.",
                "dimensions",
            )
        vector = vector[: fields.dimensions]
        length = math.hypot(*vector) or 1.0
        vector = [value / length for value in vector]
    embedding: str | list[float] = list(vector)
    if fields.encoding_format == "base64":
        embedding = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
    return {"object": "embedding", "index": number, "embedding": embedding}


def write_ranking(fields: RerankFields, model: str, result: Ranking) -> dict[str, Any]:
    """Write the scores of the documents, the best first."""
    texts = fields.texts()
    order = sorted(range(len(texts)), key=lambda index: result.scores[index], reverse=True)
    results = [
        {
            "index": index,
            "relevance_score": result.scores[index],
            **({"document": {"text": texts[index]}} if fields.return_documents else {}),
        }
        for index in order[: fields.top_n]
    ]
    usage = {"prompt_tokens": result.tokens, "total_tokens": result.tokens}
    return {"object": "list", "model": model, "results": results, "usage": usage}
