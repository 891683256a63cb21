"""Spans of requests in the format of OTLP."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from app.activity.values.traces import as_otlp
from app.runtime.values.request_records import RequestRecord, SampledAs, TokenCounts

RECORD = RequestRecord(
    "guide", "llamacpp", 1_790_000_000.25, 10.0, 10.5, "chat", SampledAs(0.7, 0.95, 40, 7, 256),
    10.75, 12.0, 12.25, "tool", TokenCounts(100, 60, 41, 10, 30, 20),
)  # fmt: skip


def spans(*records: RequestRecord) -> list[dict[str, Any]]:
    numbers = count(1)
    body = as_otlp(records, lambda size: f"{next(numbers):0{2 * size}x}")
    [resource] = json.loads(body)["resourceSpans"]
    assert {"key": "service.name", "value": {"stringValue": "hearth"}} in resource["resource"][
        "attributes"
    ]
    [scope] = resource["scopeSpans"]
    found: list[dict[str, Any]] = scope["spans"]
    return found


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {it["key"]: next(iter(it["value"].values())) for it in span["attributes"]}


def test_a_request_is_a_span_by_the_conventions() -> None:
    [span] = spans(RECORD)
    assert (len(span["traceId"]), len(span["spanId"])) == (32, 16)
    assert (span["name"], span["kind"], span["status"]) == ("chat guide", 1, {})
    assert span["startTimeUnixNano"] == "1790000000250000000"
    assert span["endTimeUnixNano"] == "1790000002500000000"
    assert attributes(span) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "llamacpp",
        "gen_ai.request.model": "guide",
        "gen_ai.response.model": "guide",
        "gen_ai.request.stream": True,
        "gen_ai.request.temperature": 0.7,
        "gen_ai.request.top_p": 0.95,
        "gen_ai.request.top_k": "40",
        "gen_ai.request.seed": "7",
        "gen_ai.request.max_tokens": "256",
        "gen_ai.response.finish_reasons": {"values": [{"stringValue": "tool_call"}]},
        "gen_ai.response.time_to_first_chunk": 0.75,
        "gen_ai.usage.input_tokens": "100",
        "gen_ai.usage.output_tokens": "41",
        "gen_ai.usage.cache_read.input_tokens": "60",
        "gen_ai.usage.reasoning.output_tokens": "10",
        "hearth.queue_time": 0.5,
        "hearth.drafted_tokens": "30",
        "hearth.accepted_tokens": "20",
    }


def test_one_that_failed_says_so_and_what_it_never_had_is_left_out() -> None:
    [span] = spans(replace(RECORD, engine="vllm", end="error", error="crashed", first=None))
    assert (span["kind"], span["status"]) == (3, {"code": 2})
    assert attributes(span)["error.type"] == "crashed"
    assert "gen_ai.response.time_to_first_chunk" not in attributes(span)


def test_vectors_are_a_span_without_what_an_answer_has() -> None:
    tokens = TokenCounts(prompt=12)
    vectors = replace(RECORD, operation="embeddings", sampled=None, first=None, tokens=tokens)
    [span] = spans(vectors)
    assert span["name"] == "embeddings guide"
    assert attributes(span) == {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": "llamacpp",
        "gen_ai.request.model": "guide",
        "gen_ai.response.model": "guide",
        "gen_ai.usage.input_tokens": "12",
        "hearth.queue_time": 0.5,
    }


def test_each_span_has_an_id_of_its_own() -> None:
    first, second = spans(RECORD, RECORD)
    assert first["traceId"] != second["traceId"]
    assert first["spanId"] != second["spanId"]


def test_one_that_runs_is_no_span() -> None:
    with pytest.raises(ValueError, match="not ended"):
        spans(replace(RECORD, ended=None, end=None))
