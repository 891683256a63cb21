"""Requests to a scripted server: their messages, their fields, and their repetitions."""

from __future__ import annotations

import pytest

from engines.cancel import CancelToken
from engines.errors import (
    ContextFull,
    EngineError,
    GrammarInvalid,
    MessageTooLong,
)
from engines.openai.answering import measure
from engines.types import (
    ChatRequest,
    Message,
    PromptReady,
    Sampling,
)
from tests.engines.asking import ask, done_of, text_of
from tests.engines.openai.conftest import CHAT, Reach, Serve, run
from tests.support.openai_server import (
    DONE,
    event,
    refusal,
    stream,
)

LONG = ["What is this? " * 8, "It is Hearth. " * 8] * 20


@pytest.mark.parametrize("kind", ["vllm", "llama-server", "lmstudio", "openai"])
def test_the_oldest_turns_leave(serve: Serve, reach: Reach, kind: str) -> None:
    server = serve(kind, context=300)
    known = 0 if kind == "openai" else 300
    events = run(ask(*LONG, "And now?", system="Be brief."), reach(server, context=known))
    ready = events[0]
    assert isinstance(ready, PromptReady)
    assert ready.left == tuple(range(1, 1 + ready.left_out))
    assert ready.left_out % 2 == 0
    assert ready.left_out > 0
    sent = server.chats()[-1]["messages"]
    assert len(sent) == len(LONG) + 2 - ready.left_out
    assert done_of(events).usage.left_out == ready.left_out


OPENAI_IS_FULL = (
    "This model's maximum context length is 300 tokens. However, you requested 4000 tokens (3900 "
    "in the messages, 100 in the completion)."
)


@pytest.mark.parametrize(
    ("error", "more"),
    [
        (OPENAI_IS_FULL, {"code": "context_length_exceeded"}),
        (
            "the request exceeds the available context size, try increasing it",
            {"type": "exceed_context_size_error", "n_prompt_tokens": 900, "n_ctx": 300},
        ),
        ("The input (900 tokens) is longer than the model's context length (300 tokens).", {}),
    ],
)
def test_a_server_says_that_it_is_too_long(
    serve: Serve, reach: Reach, error: str, more: dict[str, object]
) -> None:
    server = serve("openai", context=100_000)
    server.script(CHAT, refusal(400, error, **more))
    events = run(ask(*LONG, "And now?"), reach(server, context=0))
    assert done_of(events).usage.left_out > 0
    assert len(server.chats()) == 2


def test_nothing_may_leave(serve: Serve, reach: Reach) -> None:
    server = serve(context=300)
    with pytest.raises(ContextFull, match="300"):
        run(ask(*LONG, "And now?", overflow="stop"), reach(server))
    with pytest.raises(MessageTooLong):
        run(ask("many words " * 300), reach(server))
    assert not server.chats()


@pytest.mark.parametrize("overflow", ["roll", "stop"])
def test_a_guess_forbids_nothing(serve: Serve, reach: Reach, overflow: str) -> None:
    """Few tokens may have many bytes: without a count, the server decides."""
    server = serve("lmstudio", context=100)
    request = ask("internationalisation " * 30, overflow=overflow)
    assert done_of(run(request, reach(server, tokenizes=False))).finish_reason != "cancelled"
    assert "max_tokens" not in server.chats()[0] or server.chats()[0]["max_tokens"] > 1
    with pytest.raises(ContextFull):
        run(ask("many words " * 100, overflow="stop"), reach(server, tokenizes=False))
    with pytest.raises((ContextFull, MessageTooLong)):
        run(request, reach(serve("ollama"), context=100))


def test_no_more_is_asked_for_than_there_is_room(serve: Serve, reach: Reach) -> None:
    server = serve(context=300)
    run(ask("Hello", max_tokens=4000), reach(server))
    assert server.chats()[0]["max_tokens"] < 300


def test_a_begun_answer_goes_on_where_the_server_can(serve: Serve, reach: Reach) -> None:
    server = serve()
    whole = text_of(run(ask("What is Hearth?", max_tokens=12), reach(server)))
    begun = text_of(run(ask("What is Hearth?", max_tokens=4), reach(server)))
    rest = text_of(run(ask("What is Hearth?", begun, max_tokens=8), reach(server)))
    assert begun + rest == whole
    body = server.chats()[-1]
    assert (body["continue_final_message"], body["add_generation_prompt"]) == (True, False)
    with pytest.raises(EngineError, match="cannot continue"):
        run(ask("What is Hearth?", begun), reach(serve("openai")))


def test_each_kind_gets_the_fields_that_it_knows(serve: Serve, reach: Reach) -> None:
    sampling = Sampling(top_k=0, min_p=0.1, repeat_penalty=1.1)
    bodies = {}
    for kind in ("vllm", "llama-server", "lmstudio", "ollama", "sglang", "openai"):
        server = serve(kind)
        run(ask("Hello", sampling=sampling), reach(server))
        bodies[kind] = server.chats()[0]
    assert bodies["vllm"]["top_k"] == -1
    assert bodies["vllm"]["repetition_penalty"] == 1.1
    assert bodies["vllm"]["stream_options"]["continuous_usage_stats"] is True
    assert bodies["llama-server"]["repeat_penalty"] == 1.1
    assert bodies["llama-server"]["top_k"] == 0
    assert not {"top_k", "min_p", "repeat_penalty"} & set(bodies["openai"])
    assert all("seed" in body and body["stream"] for body in bodies.values())


def test_vllm_with_drafts_is_told_to_leave_min_p(serve: Serve, reach: Reach) -> None:
    server = serve()
    run(ask("Hello"), reach(server, drafts=True))
    assert server.chats()[0]["min_p"] == 0, "the server may have a number of its own for it"
    server.script(
        CHAT, refusal(400, "The min_p and logit_bias sampling parameters are not yet supported.")
    )
    run(ask("Hello"), reach(server))
    assert ["min_p" in body for body in server.chats()] == [True, True, False]


def test_vllm_keeps_the_tokens_around_reasoning_where_there_may_be_some(
    serve: Serve, reach: Reach
) -> None:
    server = serve()
    run(ask("Hello"), reach(server, keep_special_tokens=True))
    run(ask("Hello"), reach(server))
    assert [body.get("skip_special_tokens") for body in server.chats()] == [False, None]


def test_vllm_is_told_how_long_to_think_and_may_refuse(serve: Serve, reach: Reach) -> None:
    server = serve()
    server.script(
        CHAT, refusal(400, "thinking_token_budget is set but reasoning_config is not configured.")
    )
    done = done_of(run(ask("Hello", thinking_budget=9), reach(server)))
    assert [body.get("thinking_token_budget") for body in server.chats()] == [9, None]
    assert done.notes[-1] == "This server cannot limit how long a model thinks."


def test_a_grammar_holds_from_the_first_word_unless_the_model_thinks(
    serve: Serve, reach: Reach
) -> None:
    server = serve()
    bound = Sampling(grammar='root ::= "yes"')
    for thinking in (None, False, True):
        run(ask("Hello", sampling=bound, thinking=thinking), reach(server, thinking="switch"))
    told = [body.get("include_reasoning") for body in server.chats()]
    assert told == [False, False, None]


def test_vllm_may_refuse_when_its_stream_has_begun(serve: Serve, reach: Reach) -> None:
    server = serve()
    error = {"message": "The min_p parameter is not yet supported.", "code": 400}
    server.script(CHAT, stream(event({"error": error}), DONE))
    assert text_of(run(ask("Hello"), reach(server)))
    assert ["min_p" in body for body in server.chats()] == [True, False]


def test_a_server_says_that_too_many_tokens_were_asked_for(serve: Serve, reach: Reach) -> None:
    server = serve()
    server.script(CHAT, refusal(400, "max_tokens=4000 cannot be greater than max_model_len=512."))
    assert text_of(run(ask("Hello", max_tokens=4000), reach(server, context=0)))
    assert server.chats()[1]["max_tokens"] < 512


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("seed", "Unrecognized request argument supplied: seed"),
        ("temperature", "Unsupported value: 'temperature' does not support 0.7 with this model."),
        ("top_p", "Unsupported parameter: 'top_p' is not supported with this model."),
    ],
)
def test_what_a_gateway_refuses_of_the_protocol_is_left_out_with_a_note(
    serve: Serve, reach: Reach, field: str, said: str
) -> None:
    server = serve("openai")
    server.script(CHAT, refusal(400, said))
    plain = Sampling(temperature=0.7, top_p=0.9, top_k=0, min_p=0.0, seed=7)
    events = run(ask("Hello", sampling=plain), reach(server))
    assert text_of(events)
    assert [field in body for body in server.chats()] == [True, False]
    assert len(done_of(events).notes) == 1
    assert field.replace("_", "-") in done_of(events).notes[0]


def test_a_server_that_knows_no_options_of_streams(serve: Serve, reach: Reach) -> None:
    server = serve("openai")
    server.script(CHAT, refusal(422, "body.stream_options: extra inputs are not permitted"))
    assert text_of(run(ask("Hello"), reach(server)))
    assert ["stream_options" in body for body in server.chats()] == [True, False]


def test_openai_has_a_new_name_for_the_most_tokens(serve: Serve, reach: Reach) -> None:
    server = serve("openai")
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    server.script(CHAT, refusal(400, said))
    assert text_of(run(ask("Hello", max_tokens=9), reach(server)))
    assert [body.get("max_completion_tokens") for body in server.chats()] == [None, 9]
    assert "max_tokens" not in server.chats()[1]


def test_a_temperature_is_one_that_the_server_takes(serve: Serve, reach: Reach) -> None:
    for kind, highest in (("vllm", 2.0), ("llama-server", 3.0)):
        server = serve(kind)
        run(ask("Hello", sampling=Sampling(temperature=3.0)), reach(server))
        assert server.chats()[0]["temperature"] == highest


def test_a_grammar_goes_to_who_knows_it(serve: Serve, reach: Reach) -> None:
    server = serve()
    sampling = Sampling(grammar='root ::= "yes"')
    run(ask("Hello", sampling=sampling), reach(server))
    assert server.chats()[0]["structured_outputs"] == {"grammar": 'root ::= "yes"'}
    with pytest.raises(GrammarInvalid):
        run(ask("Hello", sampling=sampling), reach(serve("openai")))


def test_a_draft_stays_here_where_it_may_not_be_sent(serve: Serve, reach: Reach) -> None:
    server = serve()
    request = ChatRequest((Message("user", "A secret that is not sent yet"),))
    guessed = measure(request, reach(server, measures=False), CancelToken())
    assert not server.asked
    assert guessed.total > 0
    exact = measure(request, reach(server), CancelToken())
    assert server.asked[0].path == "/tokenize"
    assert sum(exact.lengths) == exact.total


def test_a_guess_becomes_better_with_each_answer(serve: Serve, reach: Reach) -> None:
    via = reach(serve("openai"), measures=False)
    request = ask("What is Hearth? " * 10)
    told = done_of(run(request, via)).usage.prompt_tokens
    assert measure(request, via, CancelToken()).total == told
