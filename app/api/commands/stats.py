"""`hearth stats`: the figures of each model in a running Hearth."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app.api.services.server_control import options_of
from app.base.errors import AppError
from app.base.secret import Secret
from app.base.secrets import API_TOKEN
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output, number, size, table
from app.kit.terminal.streams import read_line
from app.net.hosts import is_loopback
from app.net.monitoring import read_metrics
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from prometheus_client.samples import Sample

    from app.wiring.app import App

_HEAD = (
    N_("Model"), N_("Engine"), N_("At work"), N_("Waiting"), N_("Answered"), N_("Written"),
    N_("Read"), N_("Known"), N_("First token"), N_("Speed"), N_("Accepted"), N_("KV cache"),
)  # fmt: skip
_NO_REQUESTS = N_("It has not answered any request yet.")


class MetricsUnreadable(AppError):
    """A server answered with something other than metrics."""

    code = "metrics_unreadable"


@dataclass(frozen=True)
class ModelStats:
    """The figures of one model in one engine since that Hearth was started.

    Attributes:
        finished: The number of answers by finish reason.
        cached_tokens: Prompt tokens that were found in the cache.
        drafted: Draft tokens.
        accepted: Draft tokens that were accepted.
        queue_s: Average time in the queue, in seconds; None if nothing was measured.
        ttft_s: Average time to the first token, in seconds; None if nothing was measured.
        token_s: Average time per output token, in seconds; None if nothing was measured.
        kv_cache_used: The share of the KV cache in use, 0 to 1.
    """

    model: str
    engine: str
    running: int
    waiting: int
    finished: dict[str, int]
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    drafted: int
    accepted: int
    queue_s: float | None
    ttft_s: float | None
    token_s: float | None
    kv_cache_used: float | None


def show_stats(app: App, args: argparse.Namespace, out: Output) -> int:
    """Show the metrics of a running server."""
    address = args.url or options_of(app.settings.read()).address.url()
    address = address.rstrip("/").removesuffix("/v1")
    samples = parse_samples(read_metrics(app.gate, address, _token(app, args, address)), address)
    models = stats_of(samples)
    memory = [sample.value for sample in samples if sample.name == "process_resident_memory_bytes"]
    memory += [sample.value for sample in samples if sample.name == "hearth:worker_memory_bytes"]
    out.value(
        {
            "url": address,
            "memory_bytes": round(sum(memory)),
            "models": [asdict(model) for model in models],
        },
        lambda: joined(
            "\n",
            (
                table([*map(_row, models)], _HEAD) or _NO_REQUESTS,
                N_("Memory used: {size}", size=size(sum(memory))),
            ),
        ),
    )
    return 0


def _token(app: App, args: argparse.Namespace, address: str) -> Secret | None:
    """Return the token from standard input, or the stored one for a server on this computer."""
    if args.token_stdin:
        return Secret(read_line())
    host = urlsplit(address).hostname
    return app.secrets.get(API_TOKEN) if host and is_loopback(host) else None


def parse_samples(text: str, address: str) -> list[Sample]:
    """Return all samples in the text of a scrape.

    Args:
        text: In Prometheus' text format 0.0.4.
        address: The server's address, for the error.

    Raises:
        MetricsUnreadable: The text is no such text.
    """
    from prometheus_client.parser import text_string_to_metric_families

    try:
        return [
            sample for family in text_string_to_metric_families(text) for sample in family.samples
        ]
    except ValueError as error:
        raise MetricsUnreadable(
            N_("The metrics of {address} could not be read.", address=address),
            N_("The server there did not answer with metrics, so it is not Hearth."),
            N_("Check the address that --url names."),
        ) from error


def stats_of(samples: Iterable[Sample]) -> list[ModelStats]:
    """Group the samples by model and engine."""
    values: dict[tuple[str, str], dict[str, float]] = {}
    finished: dict[tuple[str, str], Counter[str]] = {}
    for sample in samples:
        if "model" not in sample.labels or "le" in sample.labels:
            continue
        key = sample.labels["model"], sample.labels.get("engine", "")
        if sample.name == "vllm:request_success_total":
            finished.setdefault(key, Counter())[sample.labels["finished_reason"]] += round(
                sample.value
            )
        else:
            values.setdefault(key, {})[sample.name] = sample.value
    return [
        _stats(key, figures, finished.get(key, Counter()))
        for key, figures in sorted(values.items())
    ]


def _stats(key: tuple[str, str], values: dict[str, float], finished: Counter[str]) -> ModelStats:
    def count(name: str) -> int:
        return round(values.get(name, 0.0))

    def mean(name: str) -> float | None:
        number = values.get(f"{name}_count", 0.0)
        return values[f"{name}_sum"] / number if number else None

    return ModelStats(
        *key,
        running=count("vllm:num_requests_running"),
        waiting=count("vllm:num_requests_waiting"),
        finished={reason: number for reason, number in finished.items() if number},
        prompt_tokens=count("vllm:prompt_tokens_total"),
        cached_tokens=count("vllm:prefix_cache_hits_total"),
        completion_tokens=count("vllm:generation_tokens_total"),
        reasoning_tokens=count("hearth:reasoning_tokens_total"),
        drafted=count("llamacpp:spec_decode_num_draft_tokens_total"),
        accepted=count("llamacpp:spec_decode_num_accepted_tokens_total"),
        queue_s=mean("vllm:request_queue_time_seconds"),
        ttft_s=mean("vllm:time_to_first_token_seconds"),
        token_s=mean("vllm:request_time_per_output_token_seconds"),
        kv_cache_used=values.get("vllm:kv_cache_usage_perc"),
    )


def _row(stats: ModelStats) -> tuple[str, ...]:
    return (
        stats.model,
        stats.engine,
        f"{stats.running}",
        f"{stats.waiting}",
        number(f"{sum(stats.finished.values()):,}"),
        number(f"{stats.completion_tokens:,}"),
        number(f"{stats.prompt_tokens - stats.cached_tokens:,}"),
        _share(stats.cached_tokens, stats.prompt_tokens),
        "-" if stats.ttft_s is None else number(f"{stats.ttft_s:.2f} s"),
        N_("{speed}/s", speed=f"{1 / stats.token_s:.1f}") if stats.token_s else "-",
        _share(stats.accepted, stats.drafted),
        "-" if stats.kv_cache_used is None else f"{stats.kv_cache_used:.0%}",
    )


def _share(part: int, total: int) -> str:
    return f"{part / total:.0%}" if total else "-"


COMMAND = Command(
    "stats",
    "show requests, tokens, times and caches of a running server",
    show_stats,
    (
        Argument(
            "--url",
            "the server's address; by default this computer's, from the settings",
            metavar="URL",
        ),
        Argument(
            "--token-stdin",
            "read the server's token from standard input; by default the stored token is used for "
            "a server on this computer",
            action="store_true",
        ),
    ),
)
