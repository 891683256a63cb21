"""Prometheus' text format, held against the parser of Prometheus' own client."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from app.activity.values.prometheus import Metric, MetricSample, read, written
from app.runtime.values.request_records import Histogram


def by_parser(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def by_reader(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {(it.name, frozenset(it.labels.items())): it.value for it in read(text)}


# Prometheus' parser strips what stands at the end of a label, so nothing is hidden there.
names = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=30).map(str.strip)


@given(names, st.floats(allow_nan=False, allow_infinity=False))
def test_any_name_of_a_model_comes_back_as_it_was(name: str, value: float) -> None:
    values = (({"model": name, "engine": "e"}, value),)
    text = written([Metric("vllm:x", "gauge", "Help.", values)])
    expected = {("vllm:x", frozenset({("model", name), ("engine", "e")})): value}
    assert by_reader(text) == expected
    if name.isascii() and name.isprintable():
        assert by_parser(text) == expected


def test_a_histogram_has_its_buckets_its_count_and_its_sum() -> None:
    histogram = Histogram((0.1, 1.0))
    for value in (0.05, 0.1, 0.5, 7.0):
        histogram.observe(value)
    text = written(
        [Metric("vllm:t_seconds", "histogram", "Times.", (({"model": "m"}, histogram),))]
    )
    found = {
        (name, dict(labels).get("le")): value for (name, labels), value in by_parser(text).items()
    }
    assert found == {
        ("vllm:t_seconds_bucket", "0.1"): 2,
        ("vllm:t_seconds_bucket", "1.0"): 3,
        ("vllm:t_seconds_bucket", "+Inf"): 4,
        ("vllm:t_seconds_count", None): 4,
        ("vllm:t_seconds_sum", None): pytest.approx(7.65),
    }
    assert by_reader(text) == by_parser(text)


def test_a_metric_without_values_is_left_out() -> None:
    assert written([Metric("vllm:x", "gauge", "Help.", ())]) == ""


def test_lines_that_are_no_samples_are_passed_over() -> None:
    text = '# HELP a b\nnonsense\nx{y="z"} word\nup 1 1700000000000\nbig +Inf\n{} 3\n'
    assert list(read(text)) == [MetricSample("up", {}, 1.0), MetricSample("big", {}, math.inf)]
