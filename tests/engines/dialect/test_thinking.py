"""Reasoning of each model family: separated from the answer, and switched as in its template."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.dialect import Dialect, RenderedPrompt
from engines.dialect.splitter import Splitter
from engines.text import SEAM
from engines.types import Message, ReasoningDelta, TextDelta, WasReasoning
from tests.engines.dialects import in_process
from tests.engines.samples.answers import SAMPLES, Sample, source

few = settings(max_examples=25, deadline=None)
"""Settings for one sample: there are some sixty, most of them with the same splitters."""

QUESTION = (Message("user", "How much is 2 + 2?"),)


def split(splitter: Splitter, pieces: list[str]) -> tuple[str, str]:
    """Return reasoning and answer of a text that arrives in these pieces."""
    reasoning = answer = ""
    events = [event for piece in pieces for event in splitter.feed(piece)]
    for event in (*events, *splitter.finish()):
        match event:
            case TextDelta(text):
                answer += text.replace(SEAM, "")
            case ReasoningDelta(text):
                reasoning += text
            case WasReasoning():
                reasoning, answer = reasoning + answer, ""
    return reasoning, answer


@cache
def dialect_of(
    template: str, control: tuple[str, ...] = (), added: tuple[str, ...] = ()
) -> Dialect:
    return in_process(source(template), control=control, added=added)


@cache
def prompt_of(dialect: Dialect, thinking: bool | None) -> RenderedPrompt:
    return dialect.render(QUESTION, thinking)


def opened(sample: Sample) -> Splitter:
    dialect = dialect_of(sample.template, sample.control, sample.added)
    return dialect.splitter(prompt_of(dialect, sample.thinking))


def spelt(sample: Sample) -> str:
    """Return the answer as the vocabulary writes it, with its markers as tokens."""
    text = sample.text
    for token in dialect_of(sample.template, sample.control, sample.added).markers:
        text = text.replace(token, SEAM + token)
    return text


def cuts(length: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, length), max_size=length).map(sorted)


def cut(text: str, places: list[int]) -> list[str]:
    ends = [*places, len(text)]
    return [text[begin:end] for begin, end in zip([0, *places], ends, strict=True)]


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_reasoning_is_told_from_the_answer(sample: Sample) -> None:
    text = spelt(sample)
    for pieces in ([text], list(text)):
        assert split(opened(sample), pieces) == (sample.reasoning, sample.answer)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
@few
@given(data=st.data())
def test_however_it_is_cut(sample: Sample, data: st.DataObject) -> None:
    text = spelt(sample)
    pieces = cut(text, data.draw(cuts(len(text))))
    assert split(opened(sample), pieces) == (sample.reasoning, sample.answer)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
@few
@given(data=st.data())
def test_every_beginning_of_an_answer_gives_the_beginning_of_the_same(
    sample: Sample, data: st.DataObject
) -> None:
    """A marker that has only begun is an exception: it is text until it is complete."""
    text = spelt(sample)
    end = data.draw(st.integers(0, len(text)))
    pieces = cut(text[:end], data.draw(cuts(end)))
    whole = split(opened(sample), [text[:end]])
    assert split(opened(sample), pieces) == whole
    splitter = opened(sample)
    shown = [event for piece in pieces for event in splitter.feed(piece)]
    if WasReasoning() not in shown:
        reasoning = "".join(event.text for event in shown if isinstance(event, ReasoningDelta))
        assert sample.reasoning.startswith(reasoning) or sample.answer.startswith(whole[1])


MARKERS = (
    "<think>", "</think>", "<response>", "</response>", "[THINK]", "[/THINK]", "<|channel>",
    "<channel|>", "thought", "<|channel|>", "<|message|>", "<|end|>", "<|start|>", "analysis",
    "final", "<", "|", "\n", " ", "x",
)  # fmt: skip
FAMILIES = sorted({sample.template for sample in SAMPLES})
WORDS = st.lists(st.sampled_from(MARKERS), max_size=12).map("".join)


@pytest.mark.parametrize("template", FAMILIES)
@few
@given(text=WORDS, data=st.data())
def test_any_text_is_split_alike_however_it_is_cut(
    template: str, text: str, data: st.DataObject
) -> None:
    dialect = dialect_of(template)
    prompt = prompt_of(dialect, True)
    pieces = cut(text, data.draw(cuts(len(text))))
    whole = split(dialect.splitter(prompt), [text])
    assert split(dialect.splitter(prompt), pieces) == whole


@pytest.mark.parametrize("template", FAMILIES)
@few
@given(text=WORDS)
def test_once_the_answer_has_begun_all_of_it_is_shown(template: str, text: str) -> None:
    dialect = dialect_of(template, MARKERS, MARKERS)
    prompt = dialect.render((*QUESTION, Message("assistant", "It is")), thinking=False)
    assert split(dialect.splitter(prompt), [text]) == ("", text)


@pytest.mark.parametrize(
    ("template", "kind", "thinks"),
    [
        ("gemma4", "switch", False),
        ("qwen3", "switch", True),
        ("qwen3_thinking", "always", True),
        ("qwen3_instruct", "none", False),
        ("gpt_oss", "always", True),
        ("deepseek_r1", "always", True),
        ("deepseek_r1_first", "always", True),
        ("deepseek_v31", "switch", False),
        ("magistral", "always", True),
        ("ministral", "always", True),
        ("mistral_effort", "switch", False),
        ("granite", "switch", False),
        ("granite32", "switch", False),
        ("glm", "switch", True),
        ("smollm3", "switch", True),
        ("nemotron", "switch", True),
    ],
)
def test_whether_a_model_thinks_is_in_its_template(template: str, kind: str, thinks: bool) -> None:
    switch = in_process(source(template), added=("<think>", "</think>")).switch
    assert (switch.kind, switch.thinks) == (kind, thinks)


def end(template: str, thinking: bool | None, effort: str | None = None) -> str:
    return in_process(source(template)).render(QUESTION, thinking, effort).text


@pytest.mark.parametrize(
    ("template", "on", "off"),
    [
        ("qwen3", "assistant\n", "<think>\n\n</think>\n\n"),
        ("deepseek_v31", "<think>", "</think>"),
        ("glm", "<|assistant|>", "/nothink<|assistant|>\n<think></think>"),
        ("nemotron", "<think>\n", "<think></think>"),
        ("gemma4", "<|turn>model\n", "<|channel>thought\n<channel|>"),
    ],
)
def test_the_switch_is_moved_as_the_template_has_it(template: str, on: str, off: str) -> None:
    assert end(template, True).endswith(on)
    assert end(template, False).endswith(off)


def test_where_no_switch_is_nothing_is_moved() -> None:
    for template in ("qwen3_thinking", "qwen3_instruct", "gpt_oss", "ministral"):
        assert end(template, True) == end(template, False) == end(template, None)


def test_a_word_in_the_system_prompt_is_kept_from_the_model() -> None:
    dialect = in_process(source("nemotron"))
    system = Message("system", "Be kind.")
    text = dialect.render((system, *QUESTION), thinking=False).text
    assert "system\nBe kind.\n" in text
    assert "no_think" not in text


def test_an_instruction_to_reason_that_a_system_prompt_would_displace() -> None:
    dialect = in_process(source("granite"))
    asked = (Message("system", "Be kind."), *QUESTION)
    assert dialect.switch.without_system
    text = dialect.render(asked, thinking=True).text
    assert "Write your thoughts" in text
    assert "Be kind.\n\nHow much" in text
    assert "system<|end_of_role|>Be kind." in dialect.render(asked, thinking=False).text


def test_how_hard_a_model_reasons() -> None:
    switch = in_process(source("gpt_oss")).switch
    assert (switch.efforts, switch.effort) == (("low", "medium", "high"), "medium")
    assert "Reasoning: high" in end("gpt_oss", None, "high")
    assert end("gpt_oss", None, "enormous") == end("gpt_oss", None)
    assert in_process(source("mistral_effort")).switch.efforts == ()
    assert '"high"' in end("mistral_effort", True)
    assert '"none"' in end("mistral_effort", False)
    for template in ("qwen3", "gemma4", "granite", "glm"):
        assert in_process(source(template)).switch.efforts == ()


PAST = (
    Message("user", "How much is 2 + 2?"),
    Message("assistant", "It is 4.", reasoning="A sum, a sum."),
    Message("user", "And 3 + 3?"),
)


@pytest.mark.parametrize("template", FAMILIES)
def test_past_reasoning_is_left_to_the_template(template: str) -> None:
    text = in_process(source(template)).render(PAST).text
    assert "It is 4." in text
    assert ("A sum" in text) == (template == "ministral")
    if template == "ministral":
        assert "[THINK]A sum, a sum.[/THINK]It is 4." in text


@pytest.mark.parametrize(
    ("template", "thinking", "reasoning", "answer"),
    [
        ("qwen3", True, "<think>\nA sum, ", "<think>\nA sum, </think>\n\nIt"),
        ("qwen3_thinking", None, "<think>\nA sum, ", "<think>\nA sum, </think>\n\nIt"),
        ("ministral", None, "[THINK]A sum, ", "[THINK]A sum, [/THINK]It"),
        ("granite", True, "<think>A sum, ", "<think>A sum, </think><response>It"),
        (
            "gpt_oss",
            None,
            "<|start|>assistant<|channel|>analysis<|message|>A sum, ",
            "A sum, <|end|><|start|>assistant<|channel|>final<|message|>It",
        ),
    ],
)
def test_an_answer_that_is_gone_on_with(
    template: str, thinking: bool | None, reasoning: str, answer: str
) -> None:
    dialect = in_process(source(template))
    within = dialect.render((*QUESTION, Message("assistant", "", reasoning="A sum, ")), thinking)
    assert within.begins == "reasoning"
    assert within.text.endswith(reasoning)
    behind = dialect.render((*QUESTION, Message("assistant", "It", reasoning="A sum, ")), thinking)
    assert behind.begins == "answer"
    assert behind.text.endswith(answer)


def test_what_a_switch_turned_off_is_not_gone_on_with() -> None:
    prompt = in_process(source("qwen3")).render(
        (*QUESTION, Message("assistant", "It", reasoning="A sum, ")), thinking=False
    )
    assert prompt.text.endswith("<think>\n\n</think>\n\nIt")


@pytest.mark.parametrize(
    ("template", "thinking", "dropped_later"),
    [
        ("qwen3", True, ""),
        ("qwen3", False, "<think>\n\n</think>\n\n"),
        ("qwen3_thinking", None, "<think>\n"),
        ("deepseek_v31", True, "<think>"),
        ("deepseek_v31", False, ""),
        ("glm", True, ""),
        ("smollm3", False, ""),
        ("gpt_oss", None, ""),
    ],
)
def test_what_the_next_prompt_will_not_begin_with(
    template: str, thinking: bool | None, dropped_later: str
) -> None:
    prompt = in_process(source(template)).render(QUESTION, thinking)
    assert prompt.text[len(prompt.text) - prompt.dropped_later :] == dropped_later


def test_what_people_write_never_ends_the_reasoning() -> None:
    dialect = in_process(source("qwen3"), added=("<think>", "</think>"))
    turns = (*QUESTION, Message("assistant", "As in </think>, so."), *QUESTION)
    assert f"As in <{SEAM}/think>, so." in dialect.render(turns).text


def test_a_template_that_refuses_what_it_does_not_know_has_no_switch() -> None:
    template = (
        "{% if enable_thinking is defined %}{{ raise_exception('No.') }}{% endif %}"
        "{% for m in messages %}{{ m.content }}{% endfor %}"
    )
    assert in_process(template).switch.kind == "none"
