"""GET /metrics: real answers, read by the parser of Prometheus's own client."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from app.activity.services.exposition import Exposition
from app.models.library.values.entry import STARTER, STARTER_CHECKPOINT
from engines.cancel import CancelToken
from engines.memory.load_options import LoadOptions
from engines.types import ChatRequest, Message
from tests.support.houses import SERVED, House, a_house
from tests.support.services import Services


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with a_house(tmp_path) as made:
        yield made


def samples(text: str) -> list[Sample]:
    return [it for family in text_string_to_metric_families(text) for it in family.samples]


def value(text: str, name: str, model: str, **labels: str) -> float:
    """Return the value of the only sample with this name, model and labels."""
    wanted = {"model": model, "model_name": model, **labels}
    [found] = [
        it.value for it in samples(text) if it.name == name and wanted.items() <= it.labels.items()
    ]
    return found


def test_real_answers_are_in_the_metrics(house: House) -> None:
    answers = [house.ask(None, "What is Hearth?", STARTER) for _ in range(2)]
    text = Exposition(house.runtime).text()
    facts = [answer.facts for answer in answers if answer.facts]
    drafts = [it.mtp for it in facts if it.mtp]
    generated = sum(it.completion_tokens for it in facts)
    assert generated > 10
    for name, expected in {
        "vllm:prompt_tokens_total": sum(it.prompt_tokens for it in facts),
        "vllm:prefix_cache_hits_total": sum(it.cached_tokens for it in facts),
        "vllm:generation_tokens_total": generated,
        "vllm:request_generation_tokens_sum": generated,
        "vllm:num_requests_running": 0,
        "vllm:num_requests_waiting": 0,
        "vllm:time_to_first_token_seconds_count": 2,
        "vllm:e2e_request_latency_seconds_count": 2,
        "vllm:request_queue_time_seconds_count": 2,
        "llamacpp:spec_decode_num_draft_tokens_total": sum(it.drafted for it in drafts),
        "llamacpp:spec_decode_num_accepted_tokens_total": sum(it.accepted for it in drafts),
    }.items():
        assert value(text, name, STARTER, engine="llamacpp") == expected, name
    assert value(text, "vllm:request_success_total", STARTER, finished_reason="stop") == 2
    assert value(text, "vllm:request_success_total", STARTER, finished_reason="abort") == 0
    assert 0 < value(text, "vllm:kv_cache_usage_perc", STARTER) < 1
    assert value(text, "hearth:model_memory_bytes", STARTER, device="CPU") > 1e6
    [resident] = [it for it in samples(text) if it.name == "process_resident_memory_bytes"]
    assert resident.value > 1e7


def test_each_engine_has_the_same_metrics(house: House) -> None:
    for model in (STARTER, STARTER_CHECKPOINT, SERVED):
        house.ask(None, "Hi", model)
    found = samples(Exposition(house.runtime).text())
    names = {
        engine: {it.name for it in found if it.labels.get("engine") == engine}
        for engine in ("llamacpp", "vllm", "remote")
    }
    told = {"vllm:kv_cache_usage_perc", "hearth:model_memory_bytes", "hearth:worker_memory_bytes"}
    assert names["llamacpp"] - told == names["vllm"] - told == names["remote"] - told
    assert len(names["remote"]) > 30


def test_names_and_kinds_go_together(house: House) -> None:
    house.ask(None, "Hi", STARTER)
    families = list(text_string_to_metric_families(Exposition(house.runtime).text()))
    assert len({it.name for it in families}) == len(families)
    for family in families:
        names = {it.name for it in family.samples}
        assert family.documentation.endswith(".")
        if family.type == "counter":
            assert names == {f"{family.name}_total"}
        elif family.type == "histogram":
            assert names == {f"{family.name}{end}" for end in ("_bucket", "_count", "_sum")}
        else:
            assert (family.type, names) == ("gauge", {family.name})


def test_the_guide_names_all_metrics_and_no_other(house: House) -> None:
    house.ask(None, "Hi", STARTER)
    families = text_string_to_metric_families(Exposition(house.runtime).text())
    exported = {f"{it.name}_total" if it.type == "counter" else it.name for it in families}
    guide = (Path(__file__).parents[4] / "resources/docs/metrics.md").read_text(encoding="utf-8")
    table = "\n".join(line for line in guide.splitlines() if line.startswith("| `"))
    named = set(re.findall(r"`((?:vllm|llamacpp|hearth):\w+|process_\w+)`", table))
    assert named == exported | {"hearth:worker_memory_bytes"}, "a guide without a worker"


def test_one_that_runs_and_one_that_waits_are_seen(services: Services) -> None:
    services.engine.hold = threading.Event()
    entry = services.library.find(STARTER)
    ask = ChatRequest((Message("user", "Hi"),))
    cancel = CancelToken()

    def answer() -> None:
        with services.runtime.lease(entry, LoadOptions(), lambda _: None, cancel) as model:
            list(model.chat(ask, cancel))

    threads = [threading.Thread(target=answer) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        exposition = Exposition(services.runtime)
        while not (services.runtime.requests.waiting() and services.engine.requests):
            pass
        text = exposition.text()
        while value(text, "vllm:num_requests_running", STARTER) != 1:
            text = exposition.text()
        assert value(text, "vllm:num_requests_waiting", STARTER) == 1
    finally:
        services.engine.hold.set()
        for thread in threads:
            thread.join()
    text = exposition.text()
    assert value(text, "vllm:num_requests_running", STARTER) == 0
    assert value(text, "vllm:num_requests_waiting", STARTER) == 0
    assert value(text, "vllm:request_queue_time_seconds_sum", STARTER) > 0


def test_nothing_of_what_is_said_is_in_the_metrics(house: House) -> None:
    answer = house.ask(None, "Who is Rumpelstiltskin?", STARTER)
    text = Exposition(house.runtime).text()
    assert "Rumpelstiltskin" not in text
    assert answer.chat_id not in text
    assert str(Path(__file__).parents[4]) not in text
