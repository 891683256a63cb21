"""Calls in the text of an answer, in the form of each model family."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.dialect import CallReader
from engines.dialect.formats import ANY_CALLS, CALLS, HARMONY, HERMES, CallFormat
from engines.dialect.splitter import open_splitter
from engines.dialect.tools import Found
from engines.llamacpp.writer import Writer
from engines.text import SEAM
from engines.types import TextDelta, Tool, ToolCall, ToolCallDelta
from tests.engines.samples.calls import CALL_SAMPLES, TEXTS, TOOLS, CallSample

few = settings(max_examples=20, deadline=None)
FORMS = {form.name: form for form in CALLS}
CALL = '<tool_call>\n{"name": "clock", "arguments": {"town": "Köln"}}\n</tool_call>'
ASKED = ToolCall("clock", '{"town": "Köln"}', "call_1")


def reader_of(form: str, tools: Sequence[Tool] = TOOLS) -> CallReader:
    """Return a reader as a dialect makes it, with the formats that begin alike."""
    own = FORMS[form]
    alike = [it for it in ANY_CALLS if it != own and set(it.begins) & set(own.begins)]
    return CallReader((own, *alike), tools)


def found_in(reader: CallReader, pieces: Iterable[str]) -> list[Found]:
    return [it for piece in pieces for it in reader.feed(piece)] + reader.finish()


def text_and_calls(found: Iterable[object]) -> tuple[str, list[ToolCall]]:
    events = list(found)
    text = "".join(it.text for it in events if isinstance(it, TextDelta))
    return text, [it for it in events if isinstance(it, ToolCall)]


def read(pieces: Iterable[str], form: str = "hermes") -> tuple[str, list[ToolCall]]:
    return text_and_calls(found_in(reader_of(form), pieces))


def named(calls: Iterable[ToolCall]) -> tuple[tuple[str, object], ...]:
    return tuple((call.name, json.loads(call.arguments)) for call in calls)


def cut(data: st.DataObject, text: str) -> list[str]:
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=len(text)).map(sorted))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def test_each_format_has_its_samples() -> None:
    assert {it.form for it in CALL_SAMPLES} == set(FORMS) - {"harmony"}


@pytest.mark.parametrize("sample", CALL_SAMPLES, ids=str)
def test_calls_are_read_in_the_form_of_each_family(sample: CallSample) -> None:
    for pieces in ([sample.text], list(sample.text)):
        text, calls = read(pieces, sample.form)
        assert named(calls) == sample.calls
        assert text == sample.answer
        if sample.ids:
            assert tuple(call.id for call in calls) == sample.ids


@pytest.mark.parametrize("sample", CALL_SAMPLES, ids=str)
@few
@given(data=st.data())
def test_calls_are_read_however_they_are_cut(sample: CallSample, data: st.DataObject) -> None:
    assert read(cut(data, sample.text), sample.form) == read([sample.text], sample.form)


@pytest.mark.parametrize("sample", CALL_SAMPLES, ids=str)
def test_an_answer_cut_at_any_byte_has_the_same_calls(sample: CallSample) -> None:
    """Tokens also arrive like this: the text may be cut in the middle of a character."""
    whole = sample.text.encode()
    expected = read([sample.text], sample.form)
    for at in range(len(whole)):
        writer = Writer(open_splitter(None), (), reader_of(sample.form))
        found = [*writer.feed(whole[:at]), *writer.feed(whole[at:]), *writer.finish(ended=True)]
        assert text_and_calls(found) == expected


@pytest.mark.parametrize("sample", CALL_SAMPLES, ids=str)
def test_the_pieces_of_a_call_are_its_arguments(sample: CallSample) -> None:
    pieces: dict[int, str] = {}
    ended: list[ToolCall] = []
    for it in found_in(reader_of(sample.form), sample.text):
        if isinstance(it, ToolCallDelta):
            assert it.index == len(ended), "one call after the other"
            assert (it.index in pieces) == bool(it.arguments), "first its name, then the rest"
            pieces[it.index] = pieces.get(it.index, "") + it.arguments
        elif isinstance(it, ToolCall):
            assert pieces[len(ended)] == it.arguments
            ended.append(it)
    assert len(ended) == len(sample.calls)


def test_arguments_come_as_they_are_written() -> None:
    reader = reader_of("qwen_xml")
    reader.feed("<tool_call>\n<function=get_weather>\n<parameter=town>\nBo")
    (piece,) = reader.feed("nn and ")
    assert isinstance(piece, ToolCallDelta)
    assert (piece.name, piece.arguments) == ("get_weather", "nn and ")


@pytest.mark.parametrize(("form", "text"), TEXTS)
def test_what_is_no_call_stays_text(form: str, text: str) -> None:
    assert read([text], form) == (text, [])
    assert read(list(text), form) == (text, [])


MARKERS = sorted({it for form in CALLS for it in (*form.begins, form.opens, form.ends) if it})
WORDS = st.lists(
    st.sampled_from([*MARKERS, '{"name": "clock"', "clock", ": {", "}", "[", "]", '"', "\n", "x"]),
    max_size=12,
).map("".join)


@pytest.mark.parametrize("form", sorted(FORMS))
@few
@given(text=WORDS, data=st.data())
def test_any_text_is_read_alike_however_it_is_cut(
    form: str, text: str, data: st.DataObject
) -> None:
    assert read(cut(data, text), form) == read([text], form)


@pytest.mark.parametrize("form", sorted(FORMS))
@few
@given(text=WORDS)
def test_nothing_is_lost_where_there_is_no_call(form: str, text: str) -> None:
    shown, calls = read([text], form)
    if not calls and FORMS[form].text_name not in text:
        assert shown == text


def test_the_last_marker_may_be_missing() -> None:
    assert read([CALL.removesuffix("</tool_call>")]) == ("", [ASKED])


def test_a_marker_that_is_a_token_counts_only_as_such() -> None:
    vocabulary = frozenset(HERMES.tokens)
    spelt = CallReader((HERMES,), TOOLS, vocabulary)
    assert text_and_calls(found_in(spelt, [CALL])) == (CALL, [])
    tokens = CallReader((HERMES,), TOOLS, vocabulary)
    marked = CALL.replace("<tool_call>", SEAM + "<tool_call>")
    assert text_and_calls(found_in(tokens, [marked])) == ("", [ASKED])


def test_a_call_with_broken_arguments_is_told_as_it_was_written() -> None:
    """Its name was reported already; the code that runs the tool reports the error."""
    broken = CALL.replace('"Köln"', "Köln")
    text, calls = read(list(broken + " Well."))
    assert text == "Well."
    assert [call.name for call in calls] == ["clock"]
    assert '"town": Köln' in calls[0].arguments


def test_a_call_that_was_cut_off_is_none() -> None:
    reader = reader_of("hermes")
    reader.feed(CALL.partition("Kö")[0])
    assert not reader.finish(ended=False)
    named = reader_of("hermes")
    named.feed('<tool_call>{"name": "clock",')
    assert not [it for it in named.finish(ended=False) if isinstance(it, ToolCall)]
    again = reader_of("hermes")
    again.feed(CALL.partition("Kö")[0])
    assert again.finish(ended=True) == [ToolCall("clock", '{"town": "', "call_1")]


WORD_MARKERS = ("A", "f")
"""The beginnings of markers that are words: a few of their letters may be another word."""


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("sample", CALL_SAMPLES, ids=str)
def test_a_call_that_was_cut_off_anywhere_is_no_text(sample: CallSample, streamed: bool) -> None:
    """Earlier calls stay calls, and earlier text stays text."""
    for length in range(len(sample.text) + 1):
        reader, text = reader_of(sample.form), sample.text[:length]
        found = [it for piece in (text if streamed else [text]) for it in reader.feed(piece)]
        told, calls = text_and_calls([*found, *reader.finish(ended=False)])
        rest = told.removeprefix(sample.answer)
        begun = len(rest) < 4 and rest.startswith(WORD_MARKERS) and text.endswith(rest)
        assert sample.answer.startswith(told) or begun, (length, told)
        assert named(calls) == sample.calls[: len(calls)], length


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("hermes", "Is a < b and"),
        ("hermes", "The marker is <tool_call>."),
        ("hermes", "It is half"),
        ("functools", "It is fun"),
        ("glm", "Between <tool_call> and </tool_call> stands a"),
        ("mistral_named", "[TOOL_CALLS] stands before a call, and"),
        ("functionary_lines", "Hello"),
        ("functionary_lines", "Hello there, this"),
        ("llama3", '{"city": "Bo'),
        ("llama4_python", "[link](https://exa"),
        ("llama4_python", "Hello"),
        ("llama4_python", "[]"),
    ],
)
def test_a_text_that_was_cut_off_stays_text(form: str, text: str) -> None:
    reader = reader_of(form)
    found = [it for letter in text for it in reader.feed(letter)]
    assert text_and_calls([*found, *reader.finish(ended=False)]) == (text, [])


def test_values_of_tagged_arguments_are_what_the_schema_says() -> None:
    kinds = {
        "text": {"type": "string"},
        "number": {"type": "number"},
        "choice": {"enum": ["1", "2"]},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "word": {"$ref": "#/$defs/Word"},
        "flag": {"type": ["boolean"]},
    }
    schema = {"type": "object", "properties": kinds, "$defs": {"Word": {"type": "string"}}}
    values = {"text": "1", "number": "1", "choice": "1", "maybe": "1", "word": "1", "flag": "True"}
    told = "".join(f"<parameter={name}>\n{value}\n</parameter>\n" for name, value in values.items())
    reader = reader_of("qwen_xml", [Tool("set", "", schema)])
    answer = f"<tool_call>\n<function=set>\n{told}</function>\n</tool_call>"
    ((_, found),) = named(text_and_calls(found_in(reader, [answer]))[1])
    assert found == {
        "text": "1", "number": 1, "choice": "1", "maybe": 1, "word": "1", "flag": True,
    }  # fmt: skip


def test_a_stop_string_counts_in_the_text_only() -> None:
    writer = Writer(open_splitter(None), ("name",), CallReader())
    found = list(writer.feed(f"Well, {CALL}".encode())) + list(writer.finish(ended=True))
    assert text_and_calls(found) == ("Well, ", [ASKED])
    assert writer.called
    assert not writer.stopped


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("lfm2", r'<|tool_call_start|>[clock(a="\ud83d\ude00", b="\ud83d")]<|tool_call_end|>'),
        (
            "hermes",
            (
                r'<tool_call>{"name": "clock", "arguments": "{\"a\": \"\ud83d\ude00\"'
                r', \"b\": \"\ud83d\"}"}</tool_call>'
            ),
        ),
    ],
)
def test_halves_of_characters_are_no_part_of_arguments(form: str, text: str) -> None:
    (call,) = read([text], form)[1]
    assert json.loads(call.arguments) == {"a": "\N{GRINNING FACE}", "b": "\ufffd"}
    call.arguments.encode()


HARMONY_CALL = (
    "<|channel|>analysis<|message|>The weather.<|end|><|start|>assistant<|channel|>commentary "
    'to=functions.get_weather <|constrain|>json<|message|>{"town": "Bonn"}'
)
HARMONY_BEFORE = (
    " to=functions.get_weather<|channel|>commentary json<|message|>"
    '{"town": "Bonn"}<|end|><|start|>assistant<|channel|>final<|message|>There.'
)


@pytest.mark.parametrize(
    ("whole", "text"), [(HARMONY_CALL, ""), (HARMONY_BEFORE, "There.")], ids=["behind", "before"]
)
@few
@given(data=st.data())
def test_a_call_is_a_message_in_a_channel(whole: str, text: str, data: st.DataObject) -> None:
    form = HARMONY.with_tokens(HARMONY.tokens)
    for token in HARMONY.tokens:
        whole = whole.replace(token, SEAM + token)
    reader = CallReader((FORMS["harmony"],), TOOLS, frozenset(HARMONY.tokens))
    splitter = open_splitter(form, calls=reader.log)
    found = [it for piece in cut(data, whole) for it in splitter.feed(piece)]
    found += [*splitter.finish(), *reader.finish()]
    assert text_and_calls(found) == (text, [ToolCall("get_weather", '{"town": "Bonn"}', "call_1")])


def test_a_message_to_a_tool_that_was_cut_off_anywhere_is_no_text() -> None:
    whole = f"{HARMONY_CALL}<|end|><|start|>assistant{HARMONY_CALL}"
    for length in range(len(whole)):
        reader = CallReader((FORMS["harmony"],), TOOLS)
        writer = Writer(open_splitter(HARMONY, calls=reader.log), (), reader)
        found = [it for letter in whole[:length] for it in writer.feed(letter.encode())]
        text, calls = text_and_calls([*found, *writer.finish(ended=False)])
        assert text in ("", "<"), length
        assert all(json.loads(call.arguments) for call in calls)


def test_a_channel_to_a_tool_is_reasoning_where_none_was_offered() -> None:
    splitter = open_splitter(HARMONY)
    found = [*splitter.feed(HARMONY_CALL), *splitter.finish()]
    assert text_and_calls(found) == ("", [])


def test_a_server_of_which_nothing_is_known_may_write_several_forms() -> None:
    def calls_of(form: CallFormat) -> int:
        sample = next(it for it in CALL_SAMPLES if it.form == form.name)
        calls = text_and_calls(found_in(CallReader(tools=TOOLS), [sample.text]))[1]
        assert named(calls) == sample.calls
        return len(calls)

    assert all(map(calls_of, ANY_CALLS))
