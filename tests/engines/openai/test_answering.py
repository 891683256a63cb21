"""Answers of a scripted server: their events, their counts, their errors."""

from __future__ import annotations

import threading

import pytest

from engines.cancel import CancelToken
from engines.errors import (
    EngineError,
    ModelNotFound,
    ServerBusy,
    ServerFailed,
    ServerRefused,
    ServerUnreachable,
)
from engines.openai.answering import answer
from engines.openai.values import ServerKind
from engines.types import (
    Event,
    PromptProgress,
    PromptReady,
    ReasoningDelta,
    TextDelta,
    Tool,
    ToolCall,
    WasReasoning,
)
from tests.engines.asking import ask, done_of, text_of
from tests.engines.openai.conftest import CHAT, Reach, Serve, run
from tests.support.openai_server import (
    DONE,
    OpenAiServer,
    Reply,
    chunk,
    event,
    refusal,
    stream,
)
from tests.support.waiting import until


def thoughts_of(events: list[Event]) -> str:
    return "".join(it.text for it in events if isinstance(it, ReasoningDelta))


def test_what_a_server_does_not_count_is_a_guess_without_a_speed(
    serve: Serve, reach: Reach
) -> None:
    """Otherwise a whole answer in one piece would count as tens of thousands of tokens a second."""
    server = serve("openai")
    server.script(CHAT, stream(chunk({"content": "One two three. " * 40}), chunk({}, "stop"), DONE))
    done = done_of(run(ask("Hello", max_tokens=None), reach(server)))
    assert done.usage.guessed
    assert done.usage.completion_tokens > 10
    assert done.timing.decode_tok_s == 0
    assert not done_of(run(ask("Hello"), reach(server))).usage.guessed


def test_progress_is_reported_while_more_of_the_prompt_is_left(serve: Serve, reach: Reach) -> None:
    def progress(read: int, time_ms: int, cached: int = 100) -> bytes:
        figures = {"total": 900, "cache": cached, "processed": read, "time_ms": time_ms}
        return chunk({"role": "assistant", "content": None}, prompt_progress=figures)

    server = serve("llama-server")
    read = (100, 0), (300, 0), (500, 2000), (500, 2500), (600, 1, 600), (900, 9)
    parts = (progress(*part) for part in read)
    word = chunk({"content": "Hi"})
    server.script(CHAT, stream(*parts, word, progress(700, 9000), chunk({}, "stop"), DONE))
    events = run(ask("Hello"), reach(server))
    assert events[:4] == [
        PromptReady(900, 100),
        PromptProgress(300, 900),
        PromptProgress(500, 900, 2.0),
        TextDelta("Hi"),
    ]
    assert sum(isinstance(event, PromptProgress) for event in events) == 2
    assert server.chats()[0]["return_progress"]


def test_only_llama_server_is_asked_for_its_progress(serve: Serve, reach: Reach) -> None:
    """Strict servers refuse a request with a field that they do not know."""
    kinds: list[ServerKind] = ["vllm", "lmstudio", "ollama", "sglang", "openai"]
    for kind in kinds:
        server = serve(kind)
        run(ask("Hello"), reach(server))
        assert "return_progress" not in server.chats()[0]


def test_an_answer_is_counted_by_usage_and_not_by_pieces(serve: Serve, reach: Reach) -> None:
    server = serve()
    server.script(
        CHAT,
        stream(
            chunk({"role": "assistant"}, usage={"prompt_tokens": 7, "completion_tokens": 0}),
            chunk({"content": "One two "}, usage={"prompt_tokens": 7, "completion_tokens": 3}),
            chunk({"content": "three"}, usage={"prompt_tokens": 7, "completion_tokens": 9}),
            chunk({}, "stop"),
            event(
                {
                    "choices": [],
                    "usage": {
                        "prompt_tokens": 7,
                        "completion_tokens": 9,
                        "prompt_tokens_details": {"cached_tokens": 4},
                    },
                    "metrics": {
                        "speculative_decoding": {
                            "num_draft_tokens": 12,
                            "num_accepted_draft_tokens": 6,
                        }
                    },
                }
            ),
            DONE,
        ),
    )
    events = run(ask("Hello", max_tokens=None), reach(server))
    done = done_of(events)
    assert events[0] == PromptReady(7, 0)
    assert text_of(events) == "One two three"
    assert (done.usage.completion_tokens, done.usage.cached_tokens) == (9, 4)
    assert (done.mtp.drafted, done.mtp.accepted, done.mtp.active) == (12, 6, True)
    assert done.timing.decode_tok_s > 0


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_characters_may_be_cut_anywhere(serve: Serve, reach: Reach, size: int) -> None:
    server = serve()
    whole = chunk({"content": "é😀日本"}) + chunk({}, "stop") + DONE
    server.script(CHAT, stream(*(whole[at : at + size] for at in range(0, len(whole), size))))
    assert text_of(run(ask("Hello"), reach(server))) == "é😀日本"


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_reasoning_comes_in_a_field(serve: Serve, reach: Reach, name: str) -> None:
    server = serve()
    server.script(
        CHAT,
        stream(chunk({name: "Let me see. "}), chunk({"content": "Yes."}), chunk({}, "stop"), DONE),
    )
    events = run(ask("Well?"), reach(server))
    assert (thoughts_of(events), text_of(events)) == ("Let me see. ", "Yes.")
    assert done_of(events).usage.reasoning_tokens > 0


def test_reasoning_comes_between_markers(serve: Serve, reach: Reach) -> None:
    server = serve()
    pieces = ("<thi", "nk>\nHm", "m.</th", "ink>\n\nYes.")
    server.script(CHAT, stream(*(chunk({"content": it}) for it in pieces), chunk({}, "stop"), DONE))
    events = run(ask("Well?"), reach(server))
    assert (thoughts_of(events), text_of(events)) == ("Hmm.", "Yes.")


def test_reasoning_whose_beginning_the_template_wrote(serve: Serve, reach: Reach) -> None:
    server = serve()
    pieces = ("Hmm.\n", "</think>\n\nYes.")
    server.script(CHAT, stream(*(chunk({"content": it}) for it in pieces), chunk({}, "stop"), DONE))
    events = run(ask("Well?", thinking=True), reach(server))
    assert WasReasoning() in events
    assert text_of(events).endswith("Yes.")
    assert server.chats()[0]["chat_template_kwargs"]["enable_thinking"] is True


def test_a_tool_call_comes_in_pieces(serve: Serve, reach: Reach) -> None:
    server = serve()

    def call(index: int, **function: str) -> dict[str, object]:
        return {"index": index, "function": function}

    first = {**call(0, name="weather", arguments=""), "id": "a1", "type": "function"}
    second = {**call(1, name="clock", arguments="{}"), "id": "b2"}
    server.script(
        CHAT,
        stream(
            chunk({"tool_calls": [first]}),
            chunk({"tool_calls": [call(0, arguments='{"to')]}),
            chunk({"tool_calls": [call(0, arguments='wn": "Köln"}'), second]}),
            chunk({}, "tool_calls"),
            DONE,
        ),
    )
    tool = Tool("weather", "The weather of a town", {"type": "object"})
    events = run(ask("Rain?", tools=(tool,)), reach(server))
    calls = [it for it in events if isinstance(it, ToolCall)]
    assert calls == [ToolCall("weather", '{"town": "Köln"}', "a1"), ToolCall("clock", "{}", "b2")]
    assert done_of(events).finish_reason == "tool"
    assert server.chats()[0]["tools"][0]["function"]["name"] == "weather"


def test_a_call_that_was_cut_off_is_not_to_be_carried_out(serve: Serve, reach: Reach) -> None:
    server = serve()
    call = {"index": 0, "id": "a", "function": {"name": "clock", "arguments": '{"zo'}}
    server.script(CHAT, stream(chunk({"tool_calls": [call]}), chunk({}, "length"), DONE))
    events = run(ask("How late is it?", tools=(Tool("clock", "The time", {}),)), reach(server))
    assert done_of(events).finish_reason == "length"


def test_calls_of_no_known_shape_are_passed_over(serve: Serve, reach: Reach) -> None:
    server = serve()
    odd = (chunk({"tool_calls": 3}), chunk({"tool_calls": [7]}), chunk({"content": "Yes."}))
    server.script(CHAT, stream(*odd, chunk({}, "stop"), DONE))
    assert text_of(run(ask("Well?"), reach(server))) == "Yes."


def test_stop_strings_are_checked_here_too(serve: Serve, reach: Reach) -> None:
    server = serve("ollama")
    server.script(
        CHAT, stream(*(chunk({"content": it}) for it in ("a EN", "D b", " c")), pace_s=0.05)
    )
    events = run(ask("Hello", stop=("END",)), reach(server))
    assert (text_of(events), done_of(events).finish_reason) == ("a ", "stop")
    assert done_of(events).stop == "END"


@pytest.mark.parametrize(("told", "stop"), [("END", "END"), (2, ""), (None, "")])
def test_a_server_may_tell_the_stop_string(
    serve: Serve, reach: Reach, told: object, stop: str
) -> None:
    """vLLM reports it; a number is that of a token."""
    server = serve("vllm")
    choice = {"index": 0, "delta": {}, "finish_reason": "stop", "stop_reason": told}
    server.script(CHAT, stream(chunk({"content": "a "}), event({"choices": [choice]}), DONE))
    assert done_of(run(ask("Hello", stop=("END",)), reach(server))).stop == stop


def test_a_whole_answer_instead_of_a_stream(serve: Serve, reach: Reach) -> None:
    server = serve("openai")
    body = (
        b'{"choices": [{"message": {"role": "assistant", "content": "Yes."}, "finish_reason": '
        b'"stop"}], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}'
    )
    server.script(CHAT, Reply(body))
    events = run(ask("Well?"), reach(server))
    assert text_of(events) == "Yes."
    assert done_of(events).usage.completion_tokens == 2


FAULTS: list[tuple[Reply, type[EngineError], str]] = [
    (Reply(b'{"error":"Unauthorized"}', 401), ServerRefused, "key"),
    (refusal(403, "not for you"), ServerRefused, "not for you"),
    (refusal(404, "The model `tiny` does not exist."), ModelNotFound, "tiny"),
    (Reply(b"<html>nothing</html>", 404, "text/html"), ServerFailed, "web page"),
    (refusal(429, "slow down"), ServerBusy, "slow down"),
    (refusal(503, "Loading model"), ServerBusy, "Loading model"),
    (refusal(500, "boom"), ServerFailed, "boom"),
    (refusal(400, "temperature must be kind"), EngineError, "temperature must be kind"),
    (Reply(b"<!doctype html><html>Sign in</html>", 200, "text/html"), ServerFailed, "web page"),
    (Reply(b"<html>Sign in</html>", 200, "text/plain"), ServerFailed, "web page"),
    (Reply(b"", 302, headers={"Location": "http://elsewhere.invalid"}), ServerFailed, "elsewhere"),
    (stream(b"data: nonsense\n\n"), ServerFailed, "broke off"),
    (stream(chunk({}, "abort"), DONE), ServerFailed, "shut down"),
]


@pytest.mark.parametrize(("reply", "kind", "word"), FAULTS, ids=lambda it: str(it)[:30])
def test_a_refusal_is_an_error_in_three_parts(
    serve: Serve, reach: Reach, reply: Reply, kind: type[EngineError], word: str
) -> None:
    server = serve()
    server.script(CHAT, reply)
    with pytest.raises(kind) as caught:
        run(ask("Hello"), reach(server))
    assert word in str(caught.value)
    assert caught.value.what
    assert caught.value.why
    assert caught.value.do


@pytest.mark.parametrize(
    "end",
    [
        stream(
            chunk({"content": "Half "}), event({"error": {"message": "dead", "code": 500}}), DONE
        ),
        stream(chunk({"content": "Half "}), event({"object": "error", "message": "dead"})),
        stream(chunk({"content": "Half "})),
        stream(chunk({"content": "Half "}), cut=True),
    ],
    ids=["error", "old-error", "end", "cut"],
)
def test_what_came_before_a_fault_is_kept(serve: Serve, reach: Reach, end: Reply) -> None:
    server = serve()
    server.script(CHAT, end)
    seen: list[Event] = []
    with pytest.raises(ServerFailed):
        seen.extend(answer(ask("Hello"), reach(server), CancelToken()))
    assert text_of(seen) == "Half "


def test_a_server_that_is_down_is_said(reach: Reach) -> None:
    with OpenAiServer() as server:
        via = reach(server)
    with pytest.raises(ServerUnreachable, match="Nothing answers there"):
        run(ask("Hello"), via)


@pytest.mark.parametrize("when", ["before", "silent", "first", "later"])
def test_a_cancel_hangs_up(serve: Serve, reach: Reach, when: str) -> None:
    server = serve()
    over = threading.Event()

    def say_nothing(_: object) -> Reply:
        over.wait(120)
        return Reply(b"{}")

    pieces = {"first": (chunk({}),), "later": (chunk({"content": "Well "}), chunk({}))}
    server.script(CHAT, stream(*pieces[when], pace_s=120) if when in pieces else say_nothing)
    cancel = CancelToken()
    events: list[Event] = []
    asking = threading.Thread(target=lambda: events.extend(run(ask("Hello"), way, cancel)))
    way = reach(server)
    if when == "before":
        cancel.cancel()
    asking.start()
    until(lambda: when == "before" or server.chats())
    cancel.cancel()
    asking.join(60)
    left = asking.is_alive()
    told = when not in pieces or server.asked[-1].gone.wait(60)
    over.set()
    asking.join()
    assert not left, "it waits for the server"
    assert told, "the server does not know"
    assert done_of(events).finish_reason == "cancelled"
    assert bool(server.chats()) == (when != "before")


def test_leaving_hangs_up(serve: Serve, reach: Reach) -> None:
    server = serve()
    server.script(CHAT, stream(chunk({"content": "Well "}), chunk({}), pace_s=100))
    events = answer(ask("Hello", max_tokens=None), reach(server), CancelToken())
    next(it for it in events if isinstance(it, TextDelta))
    events.close()  # type: ignore[attr-defined]
    assert server.asked[-1].gone.wait(50)
