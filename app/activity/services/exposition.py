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

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.activity.values.prometheus import Metric, written
from app.runtime.services.memory import memory_held, own_memory
from app.runtime.values.request_records import public_name

if TYPE_CHECKING:
    from app.activity.values.prometheus import Labels
    from app.runtime.services.runtime import Runtime
    from app.runtime.values.request_records import RequestEnd, Totals
    from engines.types import EngineName

_ENDS: Final[dict[RequestEnd, str]] = {
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
        """Return the metrics in Prometheus' text format.

        Args:
            models: The public names of the models to include; None includes all, and the metrics of
                this process.
        """
        metrics = self.metrics()
        return written(metrics if models is None else (_only(it, models) for it in metrics))

    def metrics(self) -> Iterator[Metric]:
        """Yield all metrics with their current values."""
        totals = self._runtime.requests.totals()
        yield from self._present({*totals})
        yield from _counted(totals)
        yield from self._memory()

    def _present(self, known: set[tuple[str, EngineName]]) -> Iterator[Metric]:
        """Yield the gauges for models that are loaded, are in use, or have answered."""
        log = self._runtime.requests
        running = Counter((it.model, it.engine) for it in log.requests() if it.ended is None)
        waiting = Counter((it.model, it.engine) for it in log.waiting())
        loaded = {(public_name(it.entry), it.entry.engine) for it in self._runtime.models()}
        models = sorted({*known, *running, *waiting, *loaded})
        yield Metric(
            "vllm:num_requests_running",
            "gauge",
            "Requests that are answered now.",
            tuple((labels_of(it), float(running[it])) for it in models),
        )
        yield Metric(
            "vllm:num_requests_waiting",
            "gauge",
            "Requests that wait for their turn or for their model.",
            tuple((labels_of(it), float(waiting[it])) for it in models),
        )
        used = ((it, self._runtime.cache_used(it[1])) for it in sorted(loaded))
        yield Metric(
            "vllm:kv_cache_usage_perc",
            "gauge",
            "The share of the KV cache that is in use, 0 to 1.",
            tuple((labels_of(it), share) for it, share in used if share is not None),
        )

    def _memory(self) -> Iterator[Metric]:
        yield Metric(
            "process_resident_memory_bytes",
            "gauge",
            "Memory of this computer that Hearth's own process holds.",
            (({}, float(own_memory())),),
        )
        held: list[tuple[Labels, float]] = []
        workers: list[tuple[Labels, float]] = []
        for it in self._runtime.models():
            labels = labels_of((public_name(it.entry), it.entry.engine))
            if it.loaded.buffers is not None:
                held += (
                    ({**labels, "device": device.device}, float(device.total))
                    for device in it.loaded.buffers.devices
                )
            if process := self._runtime.status(it.entry.engine).process:
                workers.append((labels, float(memory_held(process)[0])))
        yield Metric(
            "hearth:model_memory_bytes",
            "gauge",
            "Memory that the engine's library holds for the model, by device.",
            tuple(held),
        )
        yield Metric(
            "hearth:worker_memory_bytes",
            "gauge",
            "Memory of this computer that the engine's worker holds.",
            tuple(workers),
        )


def _only(metric: Metric, models: frozenset[str]) -> Metric:
    """Return the metric with only the values of these models."""
    values = tuple(it for it in metric.values if it[0].get("model") in models)
    return replace(metric, values=values)


def labels_of(model: tuple[str, EngineName]) -> Labels:
    """Return the labels of a model and its engine."""
    name, engine = model
    return {"model": name, "model_name": name, "engine": engine}


def _counted(totals: Mapping[tuple[str, EngineName], Totals]) -> Iterator[Metric]:
    """Yield the counters and histograms."""
    for name, field, words in _COUNTERS:
        counts = ((labels_of(it), getattr(of.tokens, field)) for it, of in totals.items())
        yield Metric(name, "counter", words, tuple(counts))
    for name, field, words in _HISTOGRAMS:
        histograms = ((labels_of(it), getattr(of, field)) for it, of in totals.items())
        yield Metric(name, "histogram", words, tuple(histograms))
    ends: Counter[tuple[tuple[str, EngineName], str]] = Counter()
    for it, of in totals.items():
        for end, reason in _ENDS.items():
            ends[it, reason] += of.ends[end]
    yield Metric(
        "vllm:request_success_total",
        "counter",
        "Requests that have ended, by the reason.",
        tuple(
            ({**labels_of(it), "finished_reason": reason}, float(count))
            for (it, reason), count in ends.items()
        ),
    )
