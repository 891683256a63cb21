"""Records of requests and their totals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.models.library.values.entry import ModelEntry
from app.runtime.values.request_records import (
    FIRST_TOKENS,
    LENGTHS,
    RequestRecord,
    SampledAs,
    TokenCounts,
    Totals,
    public_name,
)
from engines.types import EngineName

RECORD = RequestRecord(
    "guide", "llamacpp", 0.0, 10.0, 12.0, "chat", SampledAs(0.7, 0.95, 40, None, None), 12.5, 14.5,
    15.0, "stop",
    TokenCounts(prompt=100, cached=60, generated=41, reasoning=10, drafted=30, accepted=20),
)  # fmt: skip


def test_a_request_is_counted_with_its_times() -> None:
    totals = Totals()
    totals.add(RECORD)
    totals.add(replace(RECORD, end="length"))
    assert totals.tokens == TokenCounts(200, 120, 82, 20, 60, 40)
    assert totals.ends == {"stop": 1, "length": 1}
    sums = {
        "queued": 4.0, "to_first": 5.0, "reading": 1.0, "writing": 4.0, "per_token": 0.1,
        "running": 6.0, "whole": 10.0, "prompts": 200.0, "computed": 80.0, "answers": 82.0,
    }  # fmt: skip
    assert {name: getattr(totals, name).sum for name in sums} == pytest.approx(sums)


def test_one_that_wrote_nothing_has_no_time_to_its_first_token() -> None:
    totals = Totals()
    totals.add(replace(RECORD, first=None, last=None, end="error", tokens=TokenCounts(100)))
    assert sum(totals.to_first.counts) == sum(totals.per_token.counts) == 0
    assert sum(totals.whole.counts) == 1


def test_one_of_which_nothing_was_to_be_written_is_no_short_answer() -> None:
    totals = Totals()
    totals.add(replace(RECORD, operation="embeddings", sampled=None, first=None, last=None))
    assert sum(totals.answers.counts) == 0
    assert sum(totals.prompts.counts) == sum(totals.whole.counts) == 1


def test_one_that_runs_cannot_be_added() -> None:
    with pytest.raises(ValueError, match="not ended"):
        Totals().add(replace(RECORD, ended=None, end=None))


def test_the_buckets_rise() -> None:
    for bounds in (FIRST_TOKENS, LENGTHS):
        assert list(bounds) == sorted(set(bounds))
    assert LENGTHS[:4] == (1.0, 2.0, 5.0, 10.0)
    assert LENGTHS[-1] == 200_000.0


@pytest.mark.parametrize(
    ("model_id", "served", "expected"),
    [
        ("starter", "", "starter"),
        ("owner/name:Q4_K_M", "", "owner/name:Q4_K_M"),
        ("/home/ada/models/tiny.gguf", "", "tiny"),
        (r"C:\\Users\\ada\\tiny.gguf", "", "tiny"),
        ("team:/srv/models/tiny.gguf", "/srv/models/tiny.gguf", "team:tiny"),
        ("team:owner/name", "owner/name", "team:owner/name"),
    ],
)
def test_the_name_of_a_model_is_never_a_path(model_id: str, served: str, expected: str) -> None:
    engine: EngineName = "remote" if served else "llamacpp"
    entry = ModelEntry(model_id, "any", Path("x"), engine=engine, served=served)
    assert public_name(entry) == expected
