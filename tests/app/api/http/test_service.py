"""How other programs share the models that the window uses."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.api.http.service import Access, ApiService
from app.base.errors import ModelUnknown
from app.models.library.values.entry import ModelEntry
from app.runtime.services.runtime import Runtime
from engines.cancel import CancelToken
from engines.memory.load_options import LoadOptions
from tests.engines.llamacpp.random_models import write_random_llama
from tests.support.serving import Served
from tests.support.waiting import until

HI = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 5}


@pytest.fixture
def other(served: Served, tmp_path: Path) -> ModelEntry:
    return served.services.library.add(write_random_llama(tmp_path / "other.gguf"))


def use(served: Served, entry: ModelEntry, options: LoadOptions = LoadOptions()) -> None:  # noqa: B008
    """Load the model as the window does."""
    runtime = served.services.runtime
    runtime.lease(entry, options, lambda _: None, CancelToken()).close()


def test_the_window_s_model_is_not_thrown_out(served: Served, other: ModelEntry) -> None:
    use(served, served.services.library.starter)
    answer = served.post("/v1/chat/completions", {"model": other.id, **HI})
    assert answer.status_code == 503
    assert answer.headers["retry-after"]
    error = answer.json()["error"]
    assert error["code"] == "model_busy"
    assert "starter" in error["message"]
    assert served.services.runtime.loaded_model("llamacpp") == served.services.library.starter


def test_a_model_that_the_window_has_not_used_for_long_leaves(
    served: Served, other: ModelEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(served, served.services.library.starter)
    monkeypatch.setattr(Runtime, "idle_s", lambda _self, _engine: 31 * 60.0)
    assert served.post("/v1/chat/completions", {"model": other.id, **HI}).status_code == 200


def test_models_of_programs_take_turns(served: Served, other: ModelEntry) -> None:
    for model in ("starter", other.id, "starter"):
        assert served.post("/v1/chat/completions", {"model": model, **HI}).status_code == 200
    assert len(served.engine.plans) == 3


def test_what_the_window_has_loaded_is_used_as_it_is(served: Served) -> None:
    use(served, served.services.library.starter, LoadOptions(context=1024))
    assert served.post("/v1/chat/completions", {"model": "starter", **HI}).status_code == 200
    assert [plan.context for plan in served.engine.plans] == [1024]


def test_tokens_are_counted_while_somebody_s_answer_is_written(served: Served) -> None:
    served.engine.hold = threading.Event()
    body = {"model": "starter", **HI}
    answer = threading.Thread(target=served.post, args=("/v1/chat/completions", body))
    answer.start()
    until(lambda: served.engine.requests)
    try:
        assert served.post("/tokenize", {"content": "a bc"}).json()["tokens"] == [1, 2]
        counted = served.post("/v1/messages/count_tokens", body)
        assert counted.json() == {"input_tokens": 5}
        assert answer.is_alive()
    finally:
        served.engine.hold.set()
        answer.join()


def test_a_bad_request_ends_nobody_else_s_answer(served: Served) -> None:
    served.engine.hold = threading.Event()
    heard: list[str] = []

    def ask() -> None:
        heard.append(served.post("/v1/chat/completions", {"model": "starter", **HI}).text)

    answer = threading.Thread(target=ask)
    answer.start()
    for body in ({"model": "nobody", **HI}, {"model": "starter"}, {"model": "starter", "n": "x"}):
        assert served.post("/v1/chat/completions", body).status_code in {400, 404}
    served.engine.hold.set()
    answer.join()
    assert "Hello there" in heard[0]


def test_models_of_programs_are_unloaded_once_nobody_uses_them(served: Served) -> None:
    services = served.services
    service = ApiService(
        services.answers, services.library, services.runtime, lambda: served.settings
    )
    served.post("/v1/chat/completions", {"model": "starter", **HI})
    service.unload_idle()
    assert services.runtime.loaded_model("llamacpp"), "it was used just now"
    services.seconds[0] += 31 * 60
    use(served, services.library.starter)
    service.unload_idle()
    assert services.runtime.loaded_model("llamacpp"), "a person has used it"
    services.runtime.stop("llamacpp")
    served.post("/v1/chat/completions", {"model": "starter", **HI})
    services.seconds[0] += 31 * 60
    served.settings = served.settings.changed("server_idle", 0)
    service.unload_idle()
    assert services.runtime.loaded_model("llamacpp"), "the setting says never"
    served.settings = served.settings.changed("server_idle", 30)
    service.unload_idle()
    assert services.runtime.loaded_model("llamacpp") is None


def test_a_key_for_some_models_shows_and_loads_no_others(served: Served, other: ModelEntry) -> None:
    services = served.services
    aliases = {"gpt-9": "starter", "gpt-8": other.id}
    service = ApiService(
        services.answers,
        services.library,
        services.runtime,
        lambda: served.settings,
        lambda: aliases,
    )
    access = Access("x", frozenset({"starter"}))
    assert [it.name for it in service.models(access)] == ["starter", "gpt-9"]
    assert service.find("gpt-9", access).entry.id == "starter"
    for called in (other.id, other.name, "gpt-8"):
        with pytest.raises(ModelUnknown):
            service.find(called, access)


def test_a_key_for_some_models_hears_nothing_of_others(served: Served, tmp_path: Path) -> None:
    """No endpoint, metric or error names one of them."""
    other = served.services.library.add(write_random_llama(tmp_path / "confidential.gguf"))
    _, secret = served.keys.add("editor", ("starter",))
    key = secret.reveal()
    served.aliases = {"gpt-9": "starter", "gpt-8": other.id}
    served.settings = served.settings.changed("model", other.id)
    secrets = {other.id, other.name, "confidential", "gpt-8"}
    for model in ("starter", other.id):
        assert served.post("/v1/chat/completions", {"model": model, **HI}).status_code == 200
    stored = served.post("/v1/responses", {"model": other.id, "input": "Hi"}).json()["id"]
    use(served, other)
    assert "confidential" in served.get("/metrics").text
    replies = [
        served.get("/metrics", key),
        served.get("/v1/models", key),
        served.get(f"/v1/models/{other.id}", key),
        served.get(f"/v1/responses/{stored}", key),
        served.get(f"/v1/responses/{stored}/input_items", key),
        served.get("/health", key),
        served.get("/", key),
        served.get("/slots", key),
        served.post("/v1/chat/completions", {"model": "starter", **HI}, key),
        served.post("/v1/chat/completions", {"model": "gpt-8", **HI}, key),
        served.post("/v1/responses", {"model": "starter", "input": [{"id": stored}]}, key),
        served.post("/tokenize", {"content": "a bc"}, key),
        served.post("/detokenize", {"tokens": [1, 2]}, key),
        served.post("/v1/embeddings", {"model": other.id, "input": "a"}, key),
    ]
    user_variables = {2: other.id, 9: "gpt-8", 13: other.id}
    for number, reply in enumerate(replies):
        told = reply.text.replace(user_variables.get(number, "\0"), "")
        assert not [it for it in secrets if it in told], (number, reply.text)
    metrics = replies[0].text
    assert 'model="starter"' in metrics
    assert "process_resident_memory_bytes" not in metrics
    assert replies[8].status_code == 503  # the window's model is in the way, and is not named here
    assert replies[8].json()["error"]["code"] == "model_busy"


def test_a_key_without_the_usual_model_counts_with_its_own(
    served: Served, other: ModelEntry
) -> None:
    key = served.keys.add("editor", ("starter",))[1].reveal()
    served.settings = served.settings.changed("model", other.id)
    assert served.post("/tokenize", {"content": "a bc"}, key).json()["tokens"] == [1, 2]
    assert served.services.runtime.loaded_model("llamacpp") == served.services.library.starter


ADAPTERS = "loud = /adapters/loud.gguf\nodd = /adapters/odd.gguf\nfolder = /adapters/folder"


def test_adapters_are_asked_as_if_they_were_models(served: Served, other: ModelEntry) -> None:
    served.settings = served.settings.changed("vllm_adapters", ADAPTERS)
    rows = {it["id"]: it for it in served.get("/v1/models").json()["data"]}
    assert set(rows) == {"starter", other.id, "loud", "odd"}, "vLLM's are folders"
    assert rows["loud"]["parent"] == rows["loud"]["root"] == "starter"
    assert "adapters" not in str(rows), "no path is told"
    assert served.get("/v1/models/loud").json() == rows["loud"]
    for model, adapter in (("loud", "loud"), ("odd", "odd"), ("starter", None)):
        answer = served.post("/v1/chat/completions", {"model": model, **HI})
        assert answer.json()["model"] == model
        assert served.engine.requests[-1].adapter == adapter
    assert len(served.engine.plans) == 1, "the model stays, whichever adapter answers"
    assert {it.name for it in served.engine.plans[0].adapters} == {"loud", "odd"}


def test_an_adapter_takes_no_model_s_name_and_may_have_an_alias(served: Served) -> None:
    text = f"starter = /adapters/a.gguf\n{ADAPTERS}"
    served.settings = served.settings.changed("vllm_adapters", text)
    served.aliases = {"gpt-9": "loud"}
    named = [it["id"] for it in served.get("/v1/models").json()["data"]]
    assert len(set(named)) == len(named)
    served.post("/v1/chat/completions", {"model": "starter", **HI})
    assert served.engine.requests[-1].adapter is None
    served.post("/v1/chat/completions", {"model": "gpt-9", **HI})
    assert served.engine.requests[-1].adapter == "loud"


def test_a_key_for_some_models_has_no_adapter_of_others(served: Served, other: ModelEntry) -> None:
    services = served.services
    settings = served.settings.changed("vllm_adapters", ADAPTERS)
    service = ApiService(services.answers, services.library, services.runtime, lambda: settings)
    for models in ({other.id}, {"odd"}):
        with pytest.raises(ModelUnknown):
            service.find("loud", Access("x", frozenset(models)))
    for models in ({"starter"}, {"loud"}):
        assert service.find("loud", Access("x", frozenset(models))).entry.id == "starter"


def test_a_scrape_has_hearth_s_own_metrics_alone(served: Served) -> None:
    served.post("/v1/chat/completions", {"model": "starter", **HI})
    answer = served.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = {it.name: it for it in text_string_to_metric_families(answer.text)}
    [generated] = families["vllm:generation_tokens"].samples
    assert generated.value > 0
    beside = {it for it in families if not it.startswith(("vllm:", "llamacpp:", "hearth:"))}
    assert beside == {"process_resident_memory_bytes"}
