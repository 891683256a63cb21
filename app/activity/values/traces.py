"""Requests as spans of OpenTelemetry, in the JSON of OTLP, never with any text of a chat: pure.

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
_ENDS: Final[Mapping[RequestEnd, str]] = {"tool": "tool_call"}


def as_otlp(requests: Sequence[RequestRecord], new_id: Callable[[int], str]) -> bytes:
    """Return ended requests as an ExportTraceServiceRequest.

    Args:
        new_id: Returns a random number of this many bytes, in hexadecimal.
    """
    resource = {"service.name": "hearth", "service.version": __version__}
    spans = [_span(it, new_id) for it in requests]
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


def _span(it: RequestRecord, new_id: Callable[[int], str]) -> dict[str, Any]:
    if it.ended is None or it.end is None:
        raise ValueError("it has not ended")
    status = {"code": _ERROR} if it.end == "error" else {}
    return {
        "traceId": new_id(16),
        "spanId": new_id(8),
        "name": f"{it.operation} {it.model}",
        "kind": _INTERNAL if it.engine == "llamacpp" else _CLIENT,
        "startTimeUnixNano": _nanoseconds(it.asked_at),
        "endTimeUnixNano": _nanoseconds(it.asked_at + it.ended - it.asked),
        "attributes": _attributes(_said(it, it.end)),
        "status": status,
    }


def _said(it: RequestRecord, end: RequestEnd) -> dict[str, Value | None]:
    tokens = it.tokens
    return {
        "gen_ai.operation.name": it.operation,
        "gen_ai.provider.name": it.engine,
        "gen_ai.request.model": it.model,
        "gen_ai.response.model": it.model,
        "gen_ai.usage.input_tokens": tokens.prompt,
        "hearth.queue_time": it.begun - it.asked,
        "error.type": it.error or None,
        **(_written(it, it.sampled, end) if it.sampled is not None else {}),
    }


def _written(it: RequestRecord, sampled: SampledAs, end: RequestEnd) -> dict[str, Value | None]:
    """Return the attributes that only a request for text has."""
    tokens = it.tokens
    return {
        "gen_ai.request.stream": True,
        "gen_ai.request.temperature": sampled.temperature,
        "gen_ai.request.top_p": sampled.top_p,
        "gen_ai.request.top_k": sampled.top_k,
        "gen_ai.request.seed": sampled.seed,
        "gen_ai.request.max_tokens": sampled.max_tokens,
        "gen_ai.response.finish_reasons": (_ENDS.get(end, end),),
        "gen_ai.response.time_to_first_chunk": None if it.first is None else it.first - it.asked,
        "gen_ai.usage.output_tokens": tokens.generated,
        "gen_ai.usage.cache_read.input_tokens": tokens.cached,
        "gen_ai.usage.reasoning.output_tokens": tokens.reasoning,
        "hearth.drafted_tokens": tokens.drafted,
        "hearth.accepted_tokens": tokens.accepted,
    }


def _attributes(values: Mapping[str, Value | None]) -> list[dict[str, Any]]:
    """Return attributes in OTLP's form, without those that have no value."""
    return [{"key": key, "value": _value(it)} for key, it in values.items() if it is not None]


def _value(value: Value) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}  # a JSON number cannot hold all 64 bits
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    return {"arrayValue": {"values": [_value(it) for it in value]}}


def _nanoseconds(seconds: float) -> str:
    return str(round(seconds * 1e6) * 1_000)  # a float of today's time has no more digits
