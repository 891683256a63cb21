"""Requests as spans of OpenTelemetry, in the JSON of OTLP, never with any text of a chat.

Attributes follow the conventions for generative AI:
https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/client-inference.md
Attributes that these do not name begin with `hearth.`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from app import __version__
from app.runtime.values.request_records import RequestEnd, RequestRecord, SampledAs

Value = str | int | float | bool | Sequence[str]

_INTERNAL, _CLIENT = 1, 3
"""Kinds of spans: within this process, and a call to another (`opentelemetry.proto.trace.v1`)."""

_ERROR: Final = 2
_FINISH_REASONS: Final[Mapping[RequestEnd, str]] = {"tool": "tool_call"}


def as_otlp(requests: Sequence[RequestRecord], new_id: Callable[[int], str]) -> bytes:
    """Return ended requests as an ExportTraceServiceRequest.

    Args:
        new_id: Returns a random number of this many bytes, in hexadecimal.
    """
    resource = {"service.name": "hearth", "service.version": __version__}
    spans = [_span(request, new_id) for request in requests]
    scope = {"name": "hearth.engines", "version": __version__}
    body = {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeSpans": [{"scope": scope, "spans": spans}],
            }
        ]
    }
    return json.dumps(body, separators=(",", ":")).encode()


def _span(request: RequestRecord, new_id: Callable[[int], str]) -> dict[str, Any]:
    if request.ended is None or request.end is None:
        raise ValueError("it has not ended")
    status = {"code": _ERROR} if request.end == "error" else {}
    return {
        "traceId": new_id(16),
        "spanId": new_id(8),
        "name": f"{request.operation} {request.model}",
        "kind": _INTERNAL if request.engine == "llamacpp" else _CLIENT,
        "startTimeUnixNano": _nanoseconds(request.asked_at),
        "endTimeUnixNano": _nanoseconds(request.asked_at + request.ended - request.asked),
        "attributes": _attributes(_request_attributes(request, request.end)),
        "status": status,
    }


def _request_attributes(request: RequestRecord, end: RequestEnd) -> dict[str, Value | None]:
    tokens = request.tokens
    return {
        "gen_ai.operation.name": request.operation,
        "gen_ai.provider.name": request.engine,
        "gen_ai.request.model": request.model,
        "gen_ai.response.model": request.model,
        "gen_ai.usage.input_tokens": tokens.prompt,
        "hearth.queue_time": request.begun - request.asked,
        "error.type": request.error or None,
        **(_text_attributes(request, request.sampled, end) if request.sampled is not None else {}),
    }


def _text_attributes(
    request: RequestRecord, sampled: SampledAs, end: RequestEnd
) -> dict[str, Value | None]:
    """Return the attributes that only a request for text has."""
    tokens = request.tokens
    return {
        "gen_ai.request.stream": True,
        "gen_ai.request.temperature": sampled.temperature,
        "gen_ai.request.top_p": sampled.top_p,
        "gen_ai.request.top_k": sampled.top_k,
        "gen_ai.request.seed": sampled.seed,
        "gen_ai.request.max_tokens": sampled.max_tokens,
        "gen_ai.response.finish_reasons": (_FINISH_REASONS.get(end, end),),
        "gen_ai.response.time_to_first_chunk": None
        if request.first is None
        else request.first - request.asked,
        "gen_ai.usage.output_tokens": tokens.generated,
        "gen_ai.usage.cache_read.input_tokens": tokens.cached,
        "gen_ai.usage.reasoning.output_tokens": tokens.reasoning,
        "hearth.drafted_tokens": tokens.drafted,
        "hearth.accepted_tokens": tokens.accepted,
    }


def _attributes(values: Mapping[str, Value | None]) -> list[dict[str, Any]]:
    """Return attributes in OTLP's form, without those that have no value."""
    return [
        {"key": key, "value": _value(request)}
        for key, request in values.items()
        if request is not None
    ]


def _value(value: Value) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}  # a JSON number cannot hold all 64 bits
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    return {"arrayValue": {"values": [_value(request) for request in value]}}


def _nanoseconds(seconds: float) -> str:
    return str(round(seconds * 1e6) * 1_000)  # a float of today's time has no more digits
