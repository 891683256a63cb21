"""Answers by a JSON schema: what the grammar says is valid, and what it cannot hold is refused."""

from __future__ import annotations

import datetime as dt
import enum
import json
import random
import uuid
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, StringConstraints

from engines.errors import GrammarInvalid
from engines.llamacpp.gbnf import Characters, Grammar, Rule, parse
from engines.llamacpp.guided import GrammarState
from engines.llamacpp.schema import MAX_DEPTH, schema_grammar
from engines.types import Sampling
from tests.engines.contract import ask, done_of, run, text_of
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.test_grammar import matches


class Colour(enum.Enum):
    RED = "red"
    QUOTED = 'b"l\\ue'


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(ge=1, le=9)


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    name: str = Field(min_length=2, max_length=5)


class Tree(BaseModel):
    value: int
    branches: list[Tree] = []


class Everything(BaseModel):
    """What pydantic makes of the types that people use."""

    maybe: int | None
    some: list[float] = Field(min_length=1, max_length=3)
    colour: Colour
    day: dt.date
    moment: dt.datetime
    clock: dt.time
    number: uuid.UUID
    pet: Cat | Dog = Field(discriminator="kind")
    code: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}-\d+$", max_length=8)]
    pair: tuple[int, str]
    share: float = Field(gt=0, lt=1)
    counts: dict[str, int] = {}
    tree: Tree | None = None
    weeks: Annotated[int, Field(multiple_of=7)] = 7
    usual: Colour = Colour.RED
    anything: Any = None


LISTED = {
    "type": "object",
    "properties": {
        "value": {"type": "integer"},
        "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
    },
    "required": ["value", "next"],
    "additionalProperties": False,
}

SCHEMAS: Sequence[Mapping[str, Any] | bool] = (
    True,
    {},
    {"type": "object"},
    {"type": "array"},
    {"type": ["string", "null"]},
    {"enum": ["a", 1, None, {"x": [1.5, "é\n"]}]},
    {"const": 'it’s "q" \\ ü😀'},
    {"type": "integer", "enum": ["1", 2, 3.0]},
    LISTED,
    {"$defs": {"a/b": {"type": "null"}}, "items": {"$ref": "#/$defs/a~1b"}, "type": "array"},
    {"type": "number", "minimum": -12.5, "exclusiveMaximum": 3.25},
    {"type": "number", "exclusiveMinimum": 0},
    {"type": "number", "minimum": 0.5, "maximum": 0.75},
    {"type": "number", "exclusiveMinimum": 99.5, "exclusiveMaximum": 100},
    {"type": "integer", "minimum": -17, "maximum": 12345},
    {"type": "integer", "minimum": 0.5, "exclusiveMaximum": 2},
    {"type": "integer", "multipleOf": 12, "minimum": 0},
    {"type": "integer", "multipleOf": 3, "minimum": -10, "maximum": 10},
    {"type": "string", "minLength": 3},
    {"type": "string", "maxLength": 2},
    {"type": "string", "minLength": 2500, "maxLength": 5200},
    {"type": "string", "pattern": "ab+"},
    {"type": "string", "pattern": "^a|b$"},
    {"type": "string", "pattern": r"^(?:\w+@\w+|[^\s\"a-z]{2,3}|\d{2,}|\u0041|\\|\")$"},
    {"type": "string", "pattern": r"^[\d\-.]+$", "minLength": 3, "maxLength": 6},
    {"type": "string", "pattern": r"^(a|b)?(\.[^.]{1,3})*$"},
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "names": {"type": "integer"}, "n": {}},
        "additionalProperties": {"type": "boolean"},
        "required": ["names"],
    },
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "minProperties": 1},
    {"additionalProperties": {"type": "integer"}, "maxProperties": 2, "minProperties": 1},
    {"type": "object", "propertyNames": {"enum": ["x", "y"]}},
    {"patternProperties": {"^S_[a-z]+$": {"type": "integer"}}, "additionalProperties": False},
    {"type": "object", "required": ["a", "b"], "properties": {"b": {"type": "null"}}},
    {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"properties": {"b": {"format": "ipv4"}, "a": {"minimum": 5}}, "required": ["b"]},
        ]
    },
    {
        "allOf": [
            {"properties": {"a": {}, "b": {}}, "additionalProperties": False, "type": "object"},
            {"properties": {"b": {"type": "null"}, "c": {}}, "additionalProperties": True},
        ]
    },
    {"properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {"anyOf": [{"minimum": 3}, {"maxLength": 1}], "type": ["integer", "string"]},
    {"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}, {"enum": [True]}]},
    {
        "oneOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {}}, "required": ["b"]},
        ]
    },
    {"prefixItems": [{"type": "integer"}, {"type": "null"}], "items": {"const": 1}, "minItems": 3},
    {"type": "array", "prefixItems": [{"type": "integer"}]},
    {"type": "array", "maxItems": 0},
    {"type": "array", "maxItems": 1, "uniqueItems": True},
    {"type": "array", "minItems": 2, "maxItems": 5, "items": {"type": "boolean"}},
    *(
        {"type": "string", "format": form}
        for form in ("date", "date-time", "duration", "uuid", "email", "hostname", "ipv4", "ipv6")
    ),
    Everything.model_json_schema(),
)  # fmt: skip


def checker(schema: Mapping[str, Any] | bool) -> jsonschema.Validator:
    kind = jsonschema.Draft202012Validator
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


class Speaker:
    """Says texts of a grammar by chance. It does not ask llama.cpp, so it is quick."""

    def __init__(self, grammar: Grammar, dice: random.Random) -> None:
        self._grammar, self._dice = grammar, dice
        self._costs = [10**9] * len(grammar.rules)
        while True:
            costs = [min(map(self._cost, rule)) for rule in grammar.rules]
            if costs == self._costs:
                break
            self._costs = costs

    def text(self, patience: int) -> str:
        """Say a text that comes to its end the shortest way after so many choices."""
        said, stack = [], [self._grammar.names["root"]]
        steps = 0
        open_elements: list[Characters | int] = list(stack)
        while open_elements:
            element = open_elements.pop()
            if isinstance(element, Characters):
                said.append(self._character(element))
                continue
            rule: Rule = self._grammar.rules[element]
            steps += 1
            chosen = self._dice.choice(rule) if steps < patience else min(rule, key=self._cost)
            open_elements += reversed(chosen)
        return "".join(said)

    def _cost(self, sequence: Sequence[Characters | int]) -> int:
        return 1 + sum(1 if isinstance(e, Characters) else self._costs[e] for e in sequence)

    def _character(self, kind: Characters) -> str:
        while True:
            if kind.negated:
                code = self._dice.choice((self._dice.randrange(32, 127), 0xE9, 0x1F600))
                if kind.match(code):
                    return chr(code)
            else:
                low, high = self._dice.choice(kind.ranges)
                code = self._dice.randint(low, min(high, low + self._dice.choice((3, 1 << 20))))
                if not 0xD800 <= code < 0xE000:
                    return chr(code)


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda it: json.dumps(it)[:60])
def test_what_the_grammar_of_a_schema_says_is_valid_by_it(schema: Mapping[str, Any] | bool) -> None:
    dice = random.Random(5)
    speaker = Speaker(parse(schema_grammar(json.dumps(schema))), dice)
    valid = checker(schema)
    for _ in range(100):
        valid.validate(json.loads(speaker.text(dice.choice((20, 100, 400)))))


def test_what_the_grammar_of_a_pydantic_model_says_is_a_value_of_it() -> None:
    dice = random.Random(1)
    speaker = Speaker(parse(schema_grammar(json.dumps(Everything.model_json_schema()))), dice)
    for _ in range(100):
        Everything.model_validate_json(speaker.text(200))


@pytest.mark.parametrize(
    ("schema", "yes", "no"),
    [
        ({"type": "integer", "minimum": 8, "maximum": 21}, ["8", "10", "21"], ["7", "22"]),
        ({"type": "integer", "minimum": -3, "exclusiveMaximum": 0}, ["-3"], ["0", "-4"]),
        ({"type": "integer", "minimum": 100}, ["100", "123456"], ["99", "-100", "0100"]),
        ({"type": "number", "minimum": 0, "maximum": 1}, ["0", "0.5", "1.0"], ["1.01"]),
        ({"type": "number", "minimum": 1.25}, ["1.25", "1.3", "7", "20"], ["1.2", "1", "0.9"]),
        ({"type": "number"}, ["-1.5e-3", "0", "12"], ["01", "1.", ".5", "+1"]),
        ({"type": "integer", "multipleOf": 5, "minimum": 0}, ["0", "15", "100"], ["7", "-5"]),
        ({"type": "string", "maxLength": 3}, ['""', '"a\\n\\u00e9"'], ['"abcd"']),
        ({"type": "string", "pattern": "^a.c$"}, ['"abc"', '"a\\"c"'], ['"a"c"', '"abcd"']),
        ({"type": "string", "format": "date"}, ['"2024-02-29"'], ['"2023-02-29"', '"2024-13-01"']),
        (
            {"type": "object", "properties": {"b": {"type": "null"}, "a": {"type": "null"}}},
            ["{}", '{"b":null, "a": null}', '{\n  "a": null\n}'],
            ['{"a":null,"b":null}', '{"c":null}', '{"a":null,}'],
        ),
        (
            {"properties": {"ab": {"type": "null"}}, "additionalProperties": {"type": "boolean"}},
            ['{"ab":null,"a":true,"abc":false}', '{"b":true}'],
            ['{"ab":true}', '{"\\u0061b":true}', '{"a":null}'],
        ),
        ({"type": "array", "items": {"const": 1}, "maxItems": 2}, ["[]", "[1, 1]"], ["[1,1,1]"]),
        (LISTED, ['{"value":1,"next":{"value":2,"next":null}}'], ['{"value":1}']),
        (True, ['{"a":[1,{}]}', "null"], ["nul", "[1,]"]),
    ],
)  # fmt: skip
def test_what_follows_a_schema(schema: object, yes: list[str], no: list[str]) -> None:
    grammar = schema_grammar(json.dumps(schema))
    assert [text for text in yes if not matches(grammar, text)] == []
    assert [text for text in no if matches(grammar, text)] == []


def deep(levels: int) -> dict[str, Any]:
    return {"items": deep(levels - 1)} if levels else {"type": "null"}


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ("nothing", "A schema is an object"),
        ({"properties": {"a": {"not": {"type": "null"}}}}, "At #/properties/a, “not” cannot"),
        ({"if": {}, "then": {}}, "“if” cannot be held"),
        ({"type": "array", "contains": {}}, "“contains” cannot be held"),
        ({"type": "array", "uniqueItems": True}, "could name something twice"),
        ({"type": "text"}, "“text” is no type"),
        ({"$ref": "https://example.org/schema"}, "outside the schema"),
        ({"$ref": "#/$defs/Missing"}, "there is no such part"),
        ({"$ref": "#"}, "refers to nothing but itself|requires itself"),
        ({"anyOf": [{"$ref": "#"}, {"type": "null"}]}, "refers to nothing but itself"),
        ({"allOf": [{"$ref": "#"}, {"type": "null"}]}, "in a circle"),
        ({"properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "requires itself"),
        ({"oneOf": [{"type": "number"}, {"type": "integer"}]}, "follow two of “oneOf”"),
        ({"oneOf": [{"properties": {"a": {}}}, {"type": "string"}]}, "follow two of “oneOf”"),
        (
            {
                "properties": {"a": {}, "b": {}}, "type": "object",
                "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
            },
            "follow two of “oneOf”",
        ),
        ({"allOf": [{"type": "string"}, {"type": "null"}]}, "no type is left"),
        ({"allOf": [{"enum": [1]}, {"enum": [2, True]}]}, "no value is in both"),
        ({"allOf": [{"pattern": "a"}, {"pattern": "b"}]}, "two “pattern”"),
        ({"type": "string", "pattern": "(?=a)b"}, "looks ahead or behind"),
        ({"type": "string", "pattern": r"(a)\1"}, "which cannot be followed"),
        ({"type": "string", "pattern": "a(b"}, "never closed"),
        ({"type": "string", "pattern": "^ab$", "minLength": 3}, "limits of its length"),
        ({"type": "string", "minLength": 3, "maxLength": 2}, "“minLength” is above “maxLength”"),
        ({"type": "integer", "minimum": 1.2, "maximum": 1.8}, "“minimum” is above “maximum”"),
        ({"type": "number", "exclusiveMinimum": 1, "maximum": 1}, "no number is between"),
        ({"type": "number", "multipleOf": 0.5}, "whole numbers only"),
        ({"type": "integer", "minimum": "1"}, "“minimum” is no number"),
        ({"type": "object", "properties": {"a": False}, "required": ["a"]}, "is required and"),
        ({"type": "object", "properties": {"a": {}, "b": {}}, "maxProperties": 1}, "cannot"),
        (False, "the schema forbids it"),
        ({"properties": []}, "“properties” is no object"),
        (deep(MAX_DEPTH), "within each other"),
        ({"enum": ["x" * 100_000]}, "longer than"),
        ({"enum": ["\ud800"]}, "not JSON"),
        (
            {
                "$defs": {
                    f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(20)
                } | {"a20": {}},
                "$ref": "#/$defs/a0",
            },
            "too many of its schemas",
        ),
        ({"type": "string", "pattern": "(((a{1,9}){1,9}){1,9}b?){1,99}" * 40}, "so many ways"),
        ({"items": {"required": [f"{n}{'x' * 200}" for n in range(90)]},
          "prefixItems": [{"type": "string", "maxLength": n} for n in range(900, 999)]},
         "too large"),
    ],
    ids=lambda it: json.dumps(it)[:60],
)  # fmt: skip
def test_what_cannot_be_held_is_refused_with_a_sentence(schema: object, why: str) -> None:
    with pytest.raises(GrammarInvalid, match=why) as raised:
        schema_grammar(json.dumps(schema))
    assert raised.value.what == "The JSON schema cannot be used."
    assert raised.value.do


def test_what_is_no_json_is_refused() -> None:
    for text in ("", "{", '{"const": NaN}', "[" * 100_000):
        with pytest.raises(GrammarInvalid, match=r"not JSON|longer"):
            schema_grammar(text)


def test_notes_have_no_say() -> None:
    noted = {"type": "null", "title": "T", "description": "d", "default": 3, "x-note": {"not": 1}}
    assert schema_grammar(json.dumps(noted)) == schema_grammar('{"type": "null"}')


NUMBERS = st.one_of(
    st.integers(-2000, 2000),
    st.decimals(-2000, 2000, places=3).map(float),
)


@settings(deadline=None, max_examples=60)
@given(NUMBERS, NUMBERS, st.booleans(), st.sampled_from(["integer", "number"]), st.integers(0))
def test_numbers_are_between_any_bounds(
    low: float, high: float, is_open: bool, kind: str, seed: int
) -> None:
    low, high = min(low, high), max(low, high)
    schema = {"type": kind, "exclusiveMinimum" if is_open else "minimum": low, "maximum": high}
    try:
        grammar = schema_grammar(json.dumps(schema))
    except GrammarInvalid:
        assert kind == "integer" or low == high
        return
    speaker, valid = Speaker(parse(grammar), random.Random(seed)), checker(schema)
    for _ in range(20):
        valid.validate(json.loads(speaker.text(50)))
    assert matches(grammar, json.dumps(high)) or (kind == "integer")


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda it: json.dumps(it)[:60])
def test_llama_cpp_takes_the_grammar(load: Load, schema: Mapping[str, Any] | bool) -> None:
    loaded = load()._loaded
    assert loaded is not None
    GrammarState(loaded.native, loaded.model, schema_grammar(json.dumps(schema))).close()


DRAWN: Sequence[Mapping[str, Any]] = (
    LISTED,
    {"type": "array", "items": {"type": "number", "minimum": 2, "maximum": 5.5}, "maxItems": 3},
    {"type": "object", "properties": {"day": {"format": "date-time"}, "is": {"type": "boolean"}}},
    {"anyOf": [{"type": "string", "maxLength": 8}, {"type": "integer"}, {"type": "null"}]},
    {"type": "object", "additionalProperties": {"enum": ["é", 2]}, "maxProperties": 2},
)


@pytest.mark.parametrize("mtp", ["off", "on"])
@pytest.mark.parametrize("schema", DRAWN, ids=lambda it: json.dumps(it)[:60])
def test_an_answer_follows_its_schema(load: Load, schema: Mapping[str, Any], mtp: str) -> None:
    engine, valid = load(), checker(schema)
    ended = 0
    for seed in range(6):
        sampling = Sampling(1.2, seed=seed, schema=json.dumps(schema))
        events = run(engine, ask("Tell me.", sampling=sampling, max_tokens=300, mtp=mtp))
        if done_of(events).finish_reason == "stop":
            ended += 1
            valid.validate(json.loads(text_of(events)))
    assert ended > 2


def test_a_whole_model_of_pydantic_is_answered(load: Load) -> None:
    schema = json.dumps(Cat.model_json_schema())
    events = run(load(), ask("A cat?", sampling=Sampling(schema=schema, seed=3), max_tokens=90))
    assert Cat.model_validate_json(text_of(events)).kind == "cat"
    assert done_of(events).finish_reason == "stop"


def test_a_schema_that_cannot_be_held_is_refused_before_anything_is_evaluated(load: Load) -> None:
    engine = load()
    with pytest.raises(GrammarInvalid, match="“not”"):
        run(engine, ask("Hello.", sampling=Sampling(schema='{"not": {}}')))
    assert engine._loaded is not None
    assert not engine._loaded.cache.tokens
