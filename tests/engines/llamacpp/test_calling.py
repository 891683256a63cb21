"""Tool calls in process: they follow a grammar, in the form of each family."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest

from engines.dialect.formats import CALLS, HERMES, CallFormat, call_format_of
from engines.errors import GrammarInvalid
from engines.llamacpp.calling import arguments_grammar, call_grammar, write_calls
from engines.llamacpp.gbnf import write
from engines.llamacpp.lark import Lark, literal
from engines.types import (
    Event,
    Message,
    ReasoningDelta,
    Sampling,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallDelta,
)
from tests.engines.asking import ask, done_of, run, text_of
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.grammars import matches
from tests.engines.samples.calls import CALL_SAMPLES, TOOLS
from tests.support.made_gguf import starter_tokens
from tests.support.made_thinker import (
    OFFERS_TOOLS,
    THOUGHTS,
    write_caller,
    write_thinker,
    write_walker,
)
from tests.support.suite import sampled

_USER_DEFINED = 4
"""LLAMA_TOKEN_TYPE_USER_DEFINED in llama.h."""
FORMS = {form.name: form for form in CALLS}
CLOCK = Tool(
    "clock",
    "The time of a town",
    {
        "type": "object",
        "properties": {
            "town": {"type": "string", "enum": ["Köln", "Bonn"]},
            "hours": {"type": "integer", "minimum": 0, "maximum": 24},
            "exact": {"type": "boolean"},
            "days": {"type": "array", "items": {"enum": ["today"]}, "maxItems": 2},
        },
        "required": ["town", "hours"],
        "additionalProperties": False,
    },
)
BELL = Tool("ring_bell", "Rings", {"type": "object", "properties": {}})
BOTH = (CLOCK, BELL)
OTHERS = {
    "hermes": {1, 2, 3, 4},
    "qwen_xml": {1, 2},
    "gemma": {0},
    "mistral": {0},
    "command_r": {0},
    "lfm2": {0},
    "lfm2_listed": {0},
    "phi": {1},
    "tool_calls": {0, 1},
    "llama4_python": {1},
}
"""Samples that can be read, though no model is made to write them: another order or brackets."""


def calls_in(events: Sequence[Event]) -> list[ToolCall]:
    return [it for it in events if isinstance(it, ToolCall)]


def require_valid(calls: Sequence[ToolCall], tools: Sequence[Tool] = BOTH) -> None:
    schemas = {tool.name: tool.parameters for tool in tools}
    for call in calls:
        jsonschema.validate(json.loads(call.arguments), schemas[call.name])


@cache
def grammar_of(form: CallFormat, *, parallel: bool = True) -> str:
    form = replace(form, ends="") if form.bare else form
    return call_grammar(form, TOOLS, parallel=parallel).text


def inside(form: CallFormat, text: str) -> str:
    """Return the text after the beginning of the calls."""
    begun = [text.partition(it)[2] for it in form.begins if it in text]
    return max(begun, key=len, default=text).rstrip()


@pytest.mark.parametrize("name", sorted(set(FORMS) - {"harmony"}))
def test_a_grammar_covers_what_models_write(name: str) -> None:
    samples = [it for it in CALL_SAMPLES if it.form == name]
    told = [at for at, it in enumerate(samples) if at not in OTHERS.get(name, set())]
    for at in told:
        text = inside(FORMS[name], samples[at].text)
        text = text.removesuffix(samples[at].answer.rstrip() or "\0")
        assert matches(grammar_of(FORMS[name]), text), text


def test_one_call_is_all_where_several_are_not_wanted() -> None:
    for name in ("hermes", "mistral_named", "deepseek_v31", "minimax_m2", "nemotron"):
        sample = next(it for it in CALL_SAMPLES if it.form == name and len(it.calls) > 1)
        text = inside(FORMS[name], sample.text)
        if name != "hermes":
            assert matches(grammar_of(FORMS[name]), text)
        assert not matches(grammar_of(FORMS[name], parallel=False), text)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ('{"name": "get_weather", "arguments": {"town": "Bonn"}}</tool_call>', True),
        ('{"name": "get_weather", "arguments": {"days": 3}}</tool_call>', False),
        ('{"name": "get_weather", "arguments": {"town": 3}}</tool_call>', False),
        ('{"name": "weather", "arguments": {"town": "Bonn"}}</tool_call>', False),
        ('{"name": "clock", "arguments": {"town": "Bonn"}}', False),
    ],
)
def test_names_and_arguments_are_those_of_the_tools(text: str, right: bool) -> None:
    assert matches(grammar_of(HERMES), text) == right


def test_text_between_markers_ends_at_the_marker() -> None:
    begin = "<function=get_weather>\n<parameter=town>\n"
    end = "\n</parameter>\n</function>\n</tool_call>"
    for text in ("Bonn", "<<b>\n</parameter", "\n\n", "</param</p"):
        assert matches(grammar_of(FORMS["qwen_xml"]), begin + text + end)
    assert not matches(grammar_of(FORMS["qwen_xml"]), f"{begin}a\n</parameter>b{end}")


def test_a_keyword_that_no_grammar_can_say_is_left_out_of_a_schema_and_named() -> None:
    odd = Tool(
        "odd",
        "",
        {
            "type": "object",
            "properties": {
                "a": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
            },
            "required": ["a"],
            "not": {"required": ["b"]},
        },
    )
    grammar = call_grammar(HERMES, (odd, *TOOLS), parallel=True)
    assert grammar.unenforced == (("odd", "#: not"), ("odd", "#/properties/tags: uniqueItems"))
    text = '{"name": "odd", "arguments": {"a": 1, "tags": ["x"]}}</tool_call>'
    assert matches(grammar.text, text)
    assert not matches(grammar.text, text.replace("1", '"1"'))
    assert not matches(grammar.text, text.replace("odd", "clocks"))
    assert not matches(grammar.text, '{"name": "get_weather", "arguments": {}}</tool_call>')


def test_arguments_alone_have_a_grammar() -> None:
    grammar = arguments_grammar(TOOLS[0]).text
    assert matches(grammar, '{"town": "Bonn"}')
    assert not matches(grammar, '{"days": 1}')


def test_names_hold_where_the_schemas_together_are_too_much(load: Load) -> None:
    loaded = load().chat_model
    wide = {f"argument_{at}": {"minimum": at} for at in range(100)}
    many = [
        Tool(f"tool_{at}", "", {"properties": wide, "required": [f"argument_{at}"]})
        for at in range(60)
    ]
    with pytest.raises(GrammarInvalid, match="too big"):
        loaded.model.guides.compiled(call_grammar(FORMS["glm"], many, parallel=True).text)
    grammar = call_grammar(FORMS["glm"], many, parallel=True, free=True)
    loaded.model.guides.compiled(grammar.text)
    assert grammar.unenforced == tuple((it.name, "") for it in many)
    begin = "tool_7\n<arg_key>argument_0</arg_key>\n<arg_value>x</arg_value>\n</tool_call>"
    assert matches(grammar.text, begin)
    assert not matches(grammar.text, begin.replace("tool_7", "tool_x"))


def template_of(form: CallFormat) -> str:
    return (
        f"{{# {' '.join(form.signs)} #}}{{{{ bos_token }}}}"
        "{% for tool in tools or [] %}{{ tool | tojson }}{% endfor %}"
        "{% for m in messages %}<|turn>{{ m.role }}\n{{ m.content }}<turn|>\n{% endfor %}"
        "{{ '<|turn>model\n' }}"
    )


def with_template(path: Path, template: str, markers: Sequence[str] = ()) -> Path:
    """Write a model that always says the same, with the starter's vocabulary and these markers."""
    tokens = starter_tokens()
    texts, kinds = (
        list(cast("Sequence[Any]", tokens.values[f"tokenizer.ggml.{it}"]))
        for it in ("tokens", "token_type")
    )
    new = [it for it in markers if it not in texts]
    for at, text in enumerate(new, len(texts) - len(new)):
        texts[at], kinds[at] = text, _USER_DEFINED
    values = {
        **tokens.values,
        "tokenizer.ggml.tokens": texts,
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.chat_template": template,
    }
    return write_walker(path, replace(tokens, values=values), ["\n", "s", "<turn|>"])


HELD = sorted(name for name, form in FORMS.items() if call_format_of(template_of(form)) == form)

FEW_HELD = {
    "deepseek_v31", "functionary_lines", "gemma", "glm", "harmony", "hermes", "kimi", "lfm2",
    "llama3", "llama4_python", "minicpm", "mistral", "mistral_named", "qwen_xml", "tool_calls",
}  # fmt: skip
"""Those in whose form a model is held without `--all`: each style, bare or between markers."""


def test_the_forms_are_told_by_their_signs() -> None:
    assert set(HELD) == set(FORMS)


@pytest.mark.parametrize("name", sampled(HELD, FEW_HELD))
def test_a_call_is_enforced_in_the_form_of_each_family(
    load: Load, tmp_path: Path, name: str, exhaustive: bool
) -> None:
    form = FORMS[name]
    ends = ("<|return|>", "<|call|>") if form.style == "channel" else ()
    model = with_template(tmp_path / "model.gguf", template_of(form), (*form.tokens, *ends))
    engine = load(model, context=4096)
    request = ask("How late is it?", tools=BOTH, tool_choice="required", max_tokens=1500)
    request = replace(request, thinking_budget=0)
    for seed in range(2 if exhaustive else 1):
        hot = Sampling(temperature=2.0, top_k=0, top_p=1.0, min_p=0.0, seed=seed)
        one = replace(request, sampling=hot, only_tool="clock", parallel_tools=False)
        events = run(engine, one)
        assert [call.name for call in calls_in(events)] == ["clock"], text_of(events)
        require_valid(calls_in(events))
        assert done_of(events).finish_reason == "tool"
        assert not text_of(events)
    several = run(engine, request)
    assert calls_in(several)
    require_valid(calls_in(several))


def test_what_is_offered_is_all_that_may_be_asked_for(load: Load, tmp_path: Path) -> None:
    """The model would call “clock” with any offer."""
    engine = load(write_caller(tmp_path / "caller.gguf"), context=4096)
    bell = replace(BELL, parameters={**BELL.parameters, "additionalProperties": False})
    events = run(engine, ask("How late is it?", tools=(bell,), max_tokens=300))
    assert [(it.name, it.arguments) for it in calls_in(events)] == [("ring_bell", "{}")]


def test_nothing_is_asked_for_where_that_is_not_wanted(load: Load, tmp_path: Path) -> None:
    engine = load(write_caller(tmp_path / "caller.gguf"), context=4096)
    events = run(engine, ask("How late is it?", tools=BOTH, tool_choice="none"))
    assert not [it for it in events if isinstance(it, ToolCall | ToolCallDelta)]
    assert done_of(events).finish_reason != "tool"


def test_a_call_that_begins_with_a_token_is_not_begun_where_it_is_not_wanted(
    load: Load, tmp_path: Path
) -> None:
    """The tools stay in the prompt, so that its KV state is of use to the next."""
    engine = load(write_caller(tmp_path / "caller.gguf", token=True), context=4096)
    clock = (Tool("clock", "The time", {"type": "object"}),)
    free = run(engine, ask("How late is it?", tools=clock))
    assert calls_in(free)
    kept = run(engine, ask("How late is it?", tools=clock, tool_choice="none"))
    assert not [it for it in kept if isinstance(it, ToolCall | ToolCallDelta)]
    assert "<tool_call>" not in text_of(kept)
    assert done_of(kept).usage.prompt_tokens == done_of(free).usage.prompt_tokens


def test_a_call_comes_behind_the_reasoning(load: Load, tmp_path: Path) -> None:
    engine = load(write_thinker(tmp_path / "thinker.gguf"), context=4096)
    request = ask(
        "How late is it?", tools=BOTH, tool_choice="required", thinking=True, max_tokens=1500
    )
    events = run(engine, request)
    assert [it for it in events if isinstance(it, ReasoningDelta)]
    assert calls_in(events)
    require_valid(calls_in(events))
    assert not [it for it in events if isinstance(it, TextDelta)]
    limited = run(engine, replace(request, thinking_budget=2))
    assert 0 < done_of(limited).usage.reasoning_tokens <= 2
    require_valid(calls_in(limited))
    assert calls_in(limited)


def writing(path: Path, form: CallFormat, *pieces: str) -> Path:
    """Write a model that writes these pieces for any prompt."""
    tokens = starter_tokens()
    texts = list(cast("Sequence[str]", tokens.values["tokenizer.ggml.tokens"]))
    spelled = [piece.replace(" ", "▁") for piece in pieces]
    for place, piece in zip(THOUGHTS, spelled, strict=False):
        if piece not in texts:
            texts[texts.index(place)] = piece
    values = {
        **tokens.values,
        "tokenizer.ggml.tokens": texts,
        "tokenizer.chat_template": template_of(form),
    }
    walk = ["\n", *spelled, "<turn|>"]
    return write_walker(path, replace(tokens, values=values), walk)


@pytest.mark.parametrize(
    ("name", "pieces"),
    [
        ("llama3", ['{"name":', ' "clock",', ' "parameters":', " {", '"where": 3}', "}"]),
        ("llama3", ['{"type": "function",', ' "name": "clock",', ' "arguments": {', "}}"]),
        ("llama3", [" ", '{"name": "clock", "parameters": {"town": "Köln", "hours": 25}}']),
        ("llama4", ['{"name":', ' "clock",', ' "parameters":', " {", '"where": 3}', "}"]),
        ("llama4_python", ["[clock", "(", "where=3", ")]"]),
        ("functionary_lines", ["clock\n", "{", '"where": 3', "}"]),
    ],
)
def test_a_call_that_begins_without_a_marker_is_held_to_its_schema_as_well(
    load: Load, tmp_path: Path, name: str, pieces: list[str]
) -> None:
    engine = load(writing(tmp_path / "model.gguf", FORMS[name], *pieces), context=4096)
    asked = ask("How late is it?", tools=BOTH, max_tokens=1500, parallel_tools=False)
    events = run(engine, asked)
    assert [call.name for call in calls_in(events)] == ["clock"], text_of(events)
    if not any("25" in it for it in pieces):  # one token had all of it: nothing to enforce
        require_valid(calls_in(events))
    assert not text_of(events)
    assert done_of(events).finish_reason == "tool"


@pytest.mark.parametrize(
    ("name", "pieces"),
    [
        ("llama3", ['{"name":', ' "Bonn",', ' "parameters":', " {", '"where": 3}', "}"]),
        ("llama3", ['{"town":', ' "clock",', ' "hours": 25', "}"]),
        ("llama3", ["The clock is", ' {"name":', ' "clock",', ' "parameters": {', '"a": 3}}']),
        ("llama4_python", ["[1,", " 2", "]"]),
        ("llama4_python", ["[watch", "(", "where=3", ")]"]),
        ("functionary_lines", ["all\n", "clock", "{"]),
    ],
)
def test_an_answer_that_only_begins_like_a_call_is_free(
    load: Load, tmp_path: Path, name: str, pieces: list[str]
) -> None:
    engine = load(writing(tmp_path / "model.gguf", FORMS[name], *pieces), context=4096)
    events = run(engine, ask("How late is it?", tools=BOTH, max_tokens=100))
    assert not calls_in(events)
    assert text_of(events).split() == "".join(pieces).removeprefix("all\n").split()


def test_several_calls_without_a_marker_are_held(load: Load, tmp_path: Path) -> None:
    first = '{"name": "ring_bell", "parameters": {}}'
    model = writing(
        tmp_path / "model.gguf", FORMS["llama3"], first[:30], first[30:], "; ", "{", '"x": 1}'
    )
    engine = load(model, context=4096)
    bell = replace(BELL, parameters={**BELL.parameters, "additionalProperties": False})
    asked = ask("How late is it?", tools=(bell, CLOCK), max_tokens=1500)
    several = calls_in(run(engine, asked))
    assert len(several) > 1
    require_valid(several)
    assert len(calls_in(run(engine, replace(asked, parallel_tools=False)))) == 1


def test_drafts_change_no_call(load: Load, tmp_path: Path) -> None:
    template = template_of(HERMES)
    path = with_template(tmp_path / "model.gguf", template)
    request = ask("How late is it?", tools=BOTH, tool_choice="required", max_tokens=1500)
    plain = run(load(path, context=4096), replace(request, mtp="off"))
    drafted = run(load(path, context=4096), replace(request, mtp="on"))
    assert [(it.name, it.arguments) for it in calls_in(drafted)] == [
        (it.name, it.arguments) for it in calls_in(plain)
    ]


def test_a_schema_that_is_not_held_is_told(load: Load, tmp_path: Path) -> None:
    engine = load(write_caller(tmp_path / "caller.gguf"), context=4096)
    odd = Tool("clock", "", {"type": "object", "not": {"required": ["a"]}})
    done = done_of(run(engine, ask("How late is it?", tools=(odd,))))
    assert "clock" in " ".join(done.notes)


def test_each_call_has_an_id_of_its_own(load: Load, tmp_path: Path) -> None:
    engine = load(write_caller(tmp_path / "caller.gguf"), context=4096)
    asked = [calls_in(run(engine, ask("?", tools=(replace(CLOCK, parameters={}),)))) for _ in "ab"]
    ids = [call.id for calls in asked for call in calls]
    assert len(set(ids)) == 2
    assert all(ids)


def test_an_answer_s_grammar_gives_way_to_a_call_that_has_to_be(load: Load, tmp_path: Path) -> None:
    engine = load(with_template(tmp_path / "model.gguf", OFFERS_TOOLS), context=4096)
    strict = Sampling(temperature=0.0, grammar='root ::= "yes"')
    request = ask("?", tools=BOTH, tool_choice="required", max_tokens=1500, sampling=strict)
    assert calls_in(run(engine, request))


def test_a_message_with_calls_goes_on_with_results(load: Load, tmp_path: Path) -> None:
    engine = load(with_template(tmp_path / "model.gguf", OFFERS_TOOLS), context=4096)
    request = ask("How late is it?", tools=BOTH, tool_choice="required", max_tokens=1500)
    call = calls_in(run(engine, request))[0]
    told = (
        *request.messages,
        Message("assistant", "", calls=(call,)),
        Message("tool", "eight", tool=call.name, call_id=call.id),
    )
    events = run(engine, replace(request, messages=told, tool_choice="auto"))
    assert done_of(events).usage.prompt_tokens > 0


def test_an_answer_s_own_grammar_keeps_its_names_and_comments() -> None:
    own = 'root ::= 2nd # it\'s "one\n2nd ::= "root" | [r"#] "x"{2}  # “2nd”\n'
    lark = Lark()
    calls, _ = write_calls(lark, HERMES, TOOLS, parallel=False)
    both = lark.text(f"{write(own, lark)} | {literal('<tool_call>')} {calls}")
    for text in ("root", "rxx", '"xx', '<tool_call>{"name": "clock", "arguments": {}}</tool_call>'):
        assert matches(both, text) == ("clock" not in text or "clock" in str(TOOLS)), text
    assert not matches(both, "answer-root")


def test_an_answer_may_follow_a_schema_or_ask_for_a_tool(load: Load, tmp_path: Path) -> None:
    form = FORMS["mistral"]
    engine = load(with_template(tmp_path / "model.gguf", template_of(form)), context=4096)
    schema = json.dumps({"type": "object", "properties": {"a": {"enum": [1]}}, "required": ["a"]})
    seen: set[str] = set()
    for seed in range(40):
        hot = Sampling(3.0, top_k=0, top_p=1.0, min_p=0.0, seed=seed, schema=schema)
        events = run(engine, ask("?", tools=BOTH, max_tokens=1500, sampling=hot))
        if calls := calls_in(events):
            require_valid(calls)
            assert not text_of(events)
        else:
            assert json.loads(text_of(events)) == {"a": 1}
        seen.add(done_of(events).finish_reason)
        if len(seen) > 1:
            break
    assert seen == {"tool", "stop"}
