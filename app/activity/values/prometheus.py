"""Metrics in Prometheus' text format 0.0.4, written and read: pure.

The format: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from app.runtime.values.request_records import Histogram

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, str]

_SAMPLE: Final = re.compile(
    r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?[ \t]+([^ \t]+)(?:[ \t]+-?\d+)?$"
)
_LABEL: Final = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)",?')
_ESCAPES: Final = {"\\\\": "\\", "\\n": "\n", '\\"': '"'}


@dataclass(frozen=True)
class Metric:
    """A metric with its values by labels.

    Attributes:
        name: With the ending `_total` for a counter.
    """

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    values: tuple[tuple[Labels, float | Histogram], ...]


@dataclass(frozen=True)
class MetricSample:
    """A value that was read from the text."""

    name: str
    labels: Labels
    value: float


def written(metrics: Iterable[Metric]) -> str:
    """Return metrics as the text of a scrape; leave out those without values."""
    lines: list[str] = []
    for metric in metrics:
        if metric.values:
            lines.append(f"# HELP {metric.name} {metric.help}")
            lines.append(f"# TYPE {metric.name} {metric.kind}")
            for labels, value in metric.values:
                lines += _lines(metric.name, labels, value)
    return "".join(f"{line}\n" for line in lines)


def read(text: str) -> Iterator[MetricSample]:
    """Yield the samples in a text; skip lines that are not samples."""
    for line in text.split("\n"):
        if found := _SAMPLE.match(line):
            name, labels, value = found.groups()
            try:
                number = float(value)
            except ValueError:
                continue
            told = {key: _plain(it) for key, it in _LABEL.findall(labels or "")}
            yield MetricSample(name, told, number)


def _lines(name: str, labels: Labels, value: float | Histogram) -> Iterator[str]:
    if not isinstance(value, Histogram):
        yield f"{name}{_in_braces(labels)} {_number(value)}"
        return
    count = 0
    for bound, count in value.cumulated():
        yield f"{name}_bucket{_in_braces({**labels, 'le': _number(bound)})} {count}"
    yield f"{name}_count{_in_braces(labels)} {count}"
    yield f"{name}_sum{_in_braces(labels)} {_number(value.sum)}"


def _in_braces(labels: Labels) -> str:
    told = ",".join(f'{key}="{_escaped(it)}"' for key, it in labels.items())
    return f"{{{told}}}" if told else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _plain(value: str) -> str:
    return re.sub(r"\\.", lambda it: _ESCAPES.get(it[0], it[0]), value)


def _number(value: float) -> str:
    return "+Inf" if math.isinf(value) else repr(float(value))
