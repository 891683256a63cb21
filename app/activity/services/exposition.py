"""The metrics of the engines, for Prometheus and for the window.

Names are those of vLLM (0.33) if the meaning is the same, with its label `model_name`, so that
dashboards made for it work. Metrics of drafts also have llama-server's names, for its panels. Names
that neither has begin with `hearth:`. The label `model` is the name by which clients request a
model. `engine` is Hearth's name of the engine, where vLLM has the number of one.

Everything is counted here, where all requests to the engines pass, in the same way for each engine.
Only the used share of a vLLM worker's KV cache is read from the worker, at each scrape, because
only the worker knows it. The rest of the worker's /metrics would include the requests of other
Hearths that share it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from prometheus_client import generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from app.runtime.services.memory import memory_used, own_memory
from app.runtime.values.request_records import public_name

if TYPE_CHECKING:
    from app.runtime.services.runtime import Runtime
    from app.runtime.values.request_records import Histogram, RequestEnd, Totals
    from engines.types import EngineName

_LABELS: Final = ("model", "model_name", "engine")

_FINISH_REASONS: Final[dict[RequestEnd, str]] = {
    "stop": "stop",
    "tool": "stop",
    "length": "length",
    "cancelled": "abort",
    "error": "error",
    "repetition": "repetition",
}
"""vLLM's names of the reasons (`vllm/v1/engine/__init__.py`, `FinishReason`)."""

_COUNTERS: Final[tuple[tuple[str, str, str], ...]] = (
    ("vllm:prompt_tokens_total", "prompt", "Tokens of prompts."),
    ("vllm:prompt_tokens_cached_total", "cached", "Tokens of prompts that needed no reading."),
    ("vllm:generation_tokens_total", "generated", "Tokens generated."),
    ("hearth:reasoning_tokens_total", "reasoning", "Tokens generated that were reasoning."),
    ("vllm:prefix_cache_queries_total", "prompt", "Tokens looked for in the prefix cache."),
    ("vllm:prefix_cache_hits_total", "cached", "Tokens found in the prefix cache."),
    ("llamacpp:spec_decode_num_draft_tokens_total", "drafted", "Tokens drafted ahead."),
    ("llamacpp:spec_decode_num_accepted_tokens_total", "accepted", "Drafted tokens accepted."),
    ("vllm:spec_decode_num_draft_tokens_total", "drafted", "Tokens drafted ahead."),
    ("vllm:spec_decode_num_accepted_tokens_total", "accepted", "Drafted tokens accepted."),
)
"""Name, field of `TokenCounts`, and help of each counter."""

_HISTOGRAMS: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "vllm:time_to_first_token_seconds",
        "to_first",
        "From asking to the first piece of text, the queue included.",
    ),
    ("vllm:inter_token_latency_seconds", "gaps", "Between one piece of text and the next."),
    (
        "vllm:time_per_output_token_seconds",
        "gaps",
        "The same, by the name that older boards for vLLM ask for.",
    ),
    (
        "vllm:request_time_per_output_token_seconds",
        "per_token",
        "A request's time for a token, after its first.",
    ),
    ("vllm:e2e_request_latency_seconds", "whole", "From asking to the end."),
    (
        "vllm:request_queue_time_seconds",
        "queued",
        "From asking until the model was loaded and free for the request.",
    ),
    ("vllm:request_inference_time_seconds", "running", "From the queue to the end."),
    ("vllm:request_prefill_time_seconds", "reading", "From the queue to the first piece of text."),
    (
        "vllm:request_decode_time_seconds",
        "writing",
        "From the first piece of text to the last.",
    ),
    ("vllm:request_prompt_tokens", "prompts", "Tokens of a request's prompt."),
    (
        "vllm:request_prefill_kv_computed_tokens",
        "computed",
        "Tokens of a request's prompt that had to be read.",
    ),
    ("vllm:request_generation_tokens", "answers", "Tokens generated for a request."),
    (
        "vllm:request_max_num_generation_tokens",
        "answers",
        "Tokens of the longest answer to a request, which here has one.",
    ),
)
"""Name, field of `Totals`, and help of each histogram."""


class Exposition:
    """The metrics of a runtime, collected on any thread. An engine's worker can be queried."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def text(self, models: frozenset[str] | None = None) -> str:
        """Return the metrics in Prometheus' text format 0.0.4.

        Args:
            models: The public names of the models to include; None includes all, and the metrics of
                this process.
        """
        return generate_latest(_SelectedMetrics(self.metrics(), models)).decode()

    def metrics(self) -> Iterator[Metric]:
        """Yield all metrics with their current values."""
        totals = self._runtime.requests.totals()
        yield from self._gauges({*totals})
        yield from _counters_and_histograms(totals)
        yield from self._memory()

    def _gauges(self, answered: set[tuple[str, EngineName]]) -> Iterator[Metric]:
        """Yield the gauges for models that are loaded, are in use, or have answered."""
        log = self._runtime.requests
        running = Counter(
            (request.model, request.engine) for request in log.requests() if request.ended is None
        )
        waiting = Counter((request.model, request.engine) for request in log.waiting())
        loaded_models = {
            (public_name(model.entry), model.entry.engine) for model in self._runtime.models()
        }
        at_work = GaugeMetricFamily(
            "vllm:num_requests_running", "Requests that are answered now.", labels=_LABELS
        )
        in_queue = GaugeMetricFamily(
            "vllm:num_requests_waiting",
            "Requests that wait for their turn or for their model.",
            labels=_LABELS,
        )
        for model in sorted({*answered, *running, *waiting, *loaded_models}):
            at_work.add_metric(_label_values(model), running[model])
            in_queue.add_metric(_label_values(model), waiting[model])
        cache_use = GaugeMetricFamily(
            "vllm:kv_cache_usage_perc",
            "The share of the KV cache that is in use, 0 to 1.",
            labels=_LABELS,
        )
        for model in sorted(loaded_models):
            if (share := self._runtime.cache_used(model[1])) is not None:
                cache_use.add_metric(_label_values(model), share)
        yield from (at_work, in_queue, cache_use)

    def _memory(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(
            "process_resident_memory_bytes",
            "Memory of this computer that Hearth's own process holds.",
            own_memory(),
        )
        models = GaugeMetricFamily(
            "hearth:model_memory_bytes",
            "Memory that the engine's library holds for the model, by device.",
            labels=(*_LABELS, "device"),
        )
        workers = GaugeMetricFamily(
            "hearth:worker_memory_bytes",
            "Memory of this computer that the engine's worker holds.",
            labels=_LABELS,
        )
        for model in self._runtime.models():
            labels = _label_values((public_name(model.entry), model.entry.engine))
            for device in model.loaded.buffers.devices if model.loaded.buffers else ():
                models.add_metric((*labels, device.device), device.total)
            if process := self._runtime.status(model.entry.engine).process:
                workers.add_metric(labels, memory_used(process)[0])
        yield from (models, workers)


@dataclass(frozen=True)
class _SelectedMetrics(Collector):
    """The metrics of some models, or all; without those that have no values."""

    metrics: Iterable[Metric]
    models: frozenset[str] | None

    def collect(self) -> Iterator[Metric]:
        for metric in self.metrics:
            if self.models is not None:
                metric.samples = [
                    sample for sample in metric.samples if sample.labels.get("model") in self.models
                ]
            if metric.samples:
                yield metric


def _label_values(model: tuple[str, EngineName]) -> tuple[str, str, str]:
    """Return the values of `_LABELS` for a model and its engine."""
    name, engine = model
    return name, name, engine


def _counters_and_histograms(totals: Mapping[tuple[str, EngineName], Totals]) -> Iterator[Metric]:
    """Yield the counters and histograms."""
    for name, field, words in _COUNTERS:
        counter = CounterMetricFamily(name, words, labels=_LABELS)
        for model, total in totals.items():
            counter.add_metric(_label_values(model), getattr(total.tokens, field))
        yield counter
    for name, field, words in _HISTOGRAMS:
        histogram = HistogramMetricFamily(name, words, labels=_LABELS)
        for model, total in totals.items():
            counts: Histogram = getattr(total, field)
            buckets = [
                ("+Inf" if math.isinf(bound) else repr(bound), count)
                for bound, count in counts.cumulated()
            ]
            histogram.add_metric(_label_values(model), buckets, counts.sum)
        yield histogram
    ended = CounterMetricFamily(
        "vllm:request_success_total",
        "Requests that have ended, by the reason.",
        labels=(*_LABELS, "finished_reason"),
    )
    for model, total in totals.items():
        counts_by_reason: Counter[str] = Counter()
        for end, reason in _FINISH_REASONS.items():
            counts_by_reason[reason] += total.ends[end]
        for reason, count in counts_by_reason.items():
            ended.add_metric((*_label_values(model), reason), count)
    yield ended
