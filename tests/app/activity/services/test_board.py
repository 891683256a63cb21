"""The Grafana dashboard: it can be imported, and queries only metrics that Hearth exports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from app.activity.services.exposition import Exposition
from app.models.library.values.entry import STARTER
from engines.cancel import CancelToken
from engines.memory.load_options import LoadOptions
from engines.types import ChatRequest, Message
from tests.support.services import Services

BOARD = Path(__file__).parents[4] / "resources" / "grafana" / "hearth.json"
NAME = re.compile(r"\b(?:vllm|llamacpp|hearth):\w+|\bprocess_\w+")
AWAY = {"hearth:worker_memory_bytes", "hearth:model_memory_bytes"}
"""Metrics that a scripted engine lacks: it has no worker, and no library that holds memory."""


def board() -> dict[str, Any]:
    found = json.loads(BOARD.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def expressions() -> Iterator[str]:
    for panel in board()["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


def exported(services: Services) -> dict[str, set[str]]:
    """Return the names of all samples, with their labels."""
    entry = services.library.find(STARTER)
    with services.runtime.lease(entry, LoadOptions(), lambda _: None, CancelToken()) as model:
        list(model.chat(ChatRequest((Message("user", "Hi"),)), CancelToken()))
        text = Exposition(services.runtime).text()
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def test_every_expression_asks_for_what_is_exported(services: Services) -> None:
    found = exported(services)
    assert len(list(expressions())) > 20
    for expression in expressions():
        names = set(NAME.findall(expression)) - AWAY
        assert names or set(NAME.findall(expression)) & AWAY, expression
        assert names <= found.keys(), expression


def test_it_sums_and_filters_by_labels_that_are_there(services: Services) -> None:
    found = exported(services)
    of_memory = {"device", "model", "engine"}
    for expression in expressions():
        labels = set().union(*(found.get(it, of_memory) for it in NAME.findall(expression)))
        for by in re.findall(r"by\(([^)]*)\)", expression):
            assert set(by.split(", ")) <= labels, expression
        for name in re.findall(r"(\w+)=~", expression):
            assert name in labels, expression


def test_all_that_the_page_shows_is_on_the_board() -> None:
    asked = " ".join(expressions())
    for name in (
        "vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:generation_tokens_total",
        "vllm:time_to_first_token_seconds", "vllm:prefix_cache_hits_total",
        "llamacpp:spec_decode_num_accepted_tokens_total", "process_resident_memory_bytes",
        "vllm:kv_cache_usage_perc",
    ):  # fmt: skip
        assert name in asked


def test_vllm_s_own_board_finds_all_that_it_asks_for(services: Services) -> None:
    """The names are from vLLM's examples/online_serving/prometheus_grafana/grafana.json."""
    of_vllm = {
        "e2e_request_latency_seconds_bucket", "prompt_tokens_total", "generation_tokens_total",
        "time_per_output_token_seconds_bucket", "inter_token_latency_seconds_bucket",
        "num_requests_running", "num_requests_waiting", "time_to_first_token_seconds_bucket",
        "kv_cache_usage_perc", "request_prompt_tokens_bucket", "request_generation_tokens_bucket",
        "request_success_total", "request_queue_time_seconds_sum",
        "request_prefill_time_seconds_sum", "request_decode_time_seconds_sum",
        "request_max_num_generation_tokens_sum",
    }  # fmt: skip
    found = exported(services)
    assert {f"vllm:{it}" for it in of_vllm} <= found.keys()
    assert {"model_name", "finished_reason"} <= found["vllm:request_success_total"]


def test_it_has_what_grafana_wants_of_a_board() -> None:
    """Grafana documents the format of dashboards.

    https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/
    """
    found = board()
    assert found["title"] == "Hearth"
    assert found["schemaVersion"] >= 36
    assert "id" not in found, "Grafana gives it one"
    variables = {it["name"] for it in found["templating"]["list"]}
    assert variables == {"datasource", "model", "engine"}
    panels = found["panels"]
    assert len({it["id"] for it in panels}) == len({it["title"] for it in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert all(x < 24 for x, _ in cells)
        assert not cells & taken, panel["title"]
        taken |= cells
        assert panel["type"] == "timeseries"
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert len({it["refId"] for it in panel["targets"]}) == len(panel["targets"])
        used = {it for target in panel["targets"] for it in re.findall(r"\$(\w+)", target["expr"])}
        assert used <= {*variables, "__rate_interval"}
