"""JSON schemas as grammars; an independent validator judges the results."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from engines.cancel import CancelToken
from engines.errors import GrammarInvalid
from engines.llamacpp.constraints import TokenGuides
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.json_schema import prepare, prepare_arguments
from engines.llamacpp.lark import Lark
from engines.llamacpp.model import open_model
from engines.llamacpp.native import load_native
from engines.types import ChatRequest, LlamaPlan, Message, Sampling
from tests.engines.asking import run, text_of
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.grammars import Drawer, matches

Schema = dict[str, Any]


class Colour(Enum):
    RED = "red"
    OTHER = 'say "so"\\\n'


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(ge=0, le=9)


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    weight: float = Field(gt=0.5, lt=90.25)


class Visit(BaseModel):
    """A model that uses many of pydantic's features."""

    name: str = Field(min_length=1, max_length=20)
    when: datetime
    day: date
    at: time
    id: UUID
    code: str = Field(pattern=r"^[A-Z]{2}-\d+$")
    colour: Colour
    pet: Cat | Dog = Field(discriminator="kind")
    tags: list[str] = Field(default=[], max_length=3)
    pair: tuple[int, str]
    price: Annotated[float, Field(ge=0, le=100)] | None = None
    more: dict[str, int] = {}
    child: Visit | None = None


PERSON: Schema = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def say(schema: Schema | bool) -> str:
    lark = Lark()
    return lark.text(lark.json(prepare(json.dumps(schema)).schema))


def test_an_object_has_its_properties_in_their_order_and_only_those() -> None:
    grammar = say(PERSON)
    assert matches(grammar, '{"name":"Ada","age":36}')
    assert matches(grammar, '{\n  "name": "Ada",\n  "age": 36\n}')
    for wrong in (
        '{"age":36,"name":"Ada"}', '{"name":"Ada"}', '{"name":"Ada","age":36,"x":1}',
        '{"name":"Ada","age":3.5}', '{"name":"Ada","age":036}', "{}", '{"name":"Ada","age":36} ',
    ):  # fmt: skip
        assert not matches(grammar, wrong), wrong


YES_AND_NO: list[tuple[Schema | bool, list[str], list[str]]] = [
    (True, ["1", '"a"', "[]", '{"a":[null,true]}'], ["", "a"]),
    ({}, ["1", "{}"], []),
    ({"type": "object"}, ["{}", '{"a":{"b":[1]}}'], ["[]", "1"]),
    ({"type": "object", "properties": {}}, ["{}", "{ }"], ['{"a":1}']),
    ({"type": ["string", "null"]}, ['"a"', "null"], ["1"]),
    ({"type": "integer", "nullable": True}, ["1", "null"], ["1.5"]),
    ({"enum": ["a", 1, None, {"b": [1]}]}, ['"a"', "1", "null", '{"b": [1]}'], ["2", '"b"']),
    ({"enum": ["a", 1], "type": "string"}, ['"a"'], ["1"]),
    ({"const": 'q"\\\n'}, [r'"q\"\\\n"'], ['"q"']),
    (
        {"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}},
        ["{}", '{"a":null}', '{"b":null}', '{"a":null,"b":null}'],
        ['{"b":null,"a":null}', '{"a":null,}', '{,"b":null}'],
    ),
    (
        {
            "properties": {"name": {"type": "null"}, "names": False},
            "additionalProperties": {"type": "integer"},
            "required": ["name"],
        },
        ['{"name":null}', '{"name":null,"nam":1,"namer":2}', '{"name":null,"":1}'],
        ['{"name":null,"name":1}', '{"name":null,"names":1}', '{"name":null,"a":"b"}'],
    ),
    (
        {"additionalProperties": {"type": "boolean"}, "minProperties": 1, "maxProperties": 2},
        ['{"a":true}', '{"a":true,"b":false}'],
        ["{}", '{"a":true,"b":true,"c":true}'],
    ),
    (
        {"type": "object", "patternProperties": {"^[a-c]+$": {"type": "integer"}}},
        ["{}", '{"abc":1,"a":2}'],
        ['{"d":1}', '{"":1}'],
    ),
    (
        {"additionalProperties": {"type": "null"}, "propertyNames": {"enum": ["x", "y"]}},
        ["{}", '{"x":null,"y":null}'],
        ['{"z":null}'],
    ),
    (
        {"properties": {"a": {"type": "null"}}, "minProperties": 1},
        ['{"a":null}'],
        ["{}"],
    ),
    ({"type": "array", "items": {"type": "null"}}, ["[]", "[null]", "[null, null]"], ["[1]"]),
    (
        {"items": {"type": "null"}, "minItems": 1, "maxItems": 2},
        ["[null]", "[null,null]"],
        ["[]", "[null,null,null]"],
    ),
    ({"type": "array", "maxItems": 0}, ["[]"], ["[1]"]),
    ({"items": {"type": "null"}, "maxItems": 1, "uniqueItems": True}, ["[]", "[null]"], []),
    (
        {"prefixItems": [{"type": "integer"}, {"type": "null"}], "items": False, "minItems": 1},
        ["[1]", "[1,null]"],
        ["[]", "[1,null,1]", "[null]"],
    ),
    (
        {"prefixItems": [{"type": "null"}], "items": {"type": "integer"}, "minItems": 2},
        ["[null,1]", "[null,1,2]"],
        ["[null]", "[1]"],
    ),
    (
        {"items": [{"type": "null"}], "additionalItems": {"type": "integer"}, "maxItems": 2},
        ["[]", "[null]", "[null,1]"],
        ["[null,1,2]", "[null,null]"],
    ),
    (
        {"type": "string", "minLength": 2, "maxLength": 3},
        ['"ab"', r'"a\n\u00e9"'],
        ['"a"', '"abcd"'],
    ),
    ({"type": "string"}, [r'"\ud7ff"', '"😀"'], [r'"\ud800"', '"\n"', '"a']),
    ({"type": "string", "pattern": "^[a-z]+$", "maxLength": 2}, ['"ab"'], ['"abc"', '""', '"A"']),
    ({"type": "string", "pattern": "b"}, ['"b"', '"abc"'], ['"ac"']),
    ({"type": "string", "pattern": r'^"\\[^\\"\n]$'}, [r'"\"\\a"'], [r'"\"\\\\"', r'"\"\\\n"']),
    (
        {"type": "string", "pattern": r"^(?:ab?|\w{2,3}?)-\.[\d_-]*$"},
        ['"a-."', '"xyz-._-7"'],
        ['"-."'],
    ),
    ({"type": "string", "pattern": "^a|b$"}, ['"ax"', '"xb"'], ['"xa"']),
    ({"type": "string", "pattern": "^.$"}, ['"x"', r'"\t"', '"日"'], [r'"\n"', '""']),
    (
        {"type": "string", "format": "date"},
        ['"2024-02-29"', '"2025-12-31"'],
        ['"2025-02-29"', '"2024-04-31"', '"1900-02-29"'],
    ),
    (
        {"type": "string", "format": "date-time"},
        ['"2025-01-01T00:00:00Z"', '"2025-01-01T23:59:59.5+02:00"'],
        ['"2025-01-01"', '"2025-01-01T24:00:00Z"'],
    ),
    ({"type": "string", "format": "ipv4"}, ['"255.0.10.1"'], ['"256.0.0.1"', '"01.0.0.1"']),
    ({"type": "string", "format": "password"}, ['"any"'], []),
    (
        {"type": "integer", "minimum": -5, "maximum": 117},
        ["-5", "0", "9", "99", "117"],
        ["-6", "118", "1.0"],
    ),
    ({"type": "integer", "exclusiveMinimum": 7}, ["8", "123456789"], ["7", "-8"]),
    (
        {"type": "integer", "maximum": -3, "exclusiveMinimum": -12},
        ["-3", "-9", "-11"],
        ["-2", "-12", "3"],
    ),
    ({"type": "integer", "multipleOf": 7}, ["0", "7", "-14", "7000"], ["1", "-15", "07"]),
    ({"type": "integer", "multipleOf": 5, "minimum": 3, "maximum": 11}, ["5", "10"], ["0", "15"]),
    (
        {"type": "number", "minimum": 0, "maximum": 1},
        ["0", "1", "0.5", "1.0", "0.001"],
        ["1.1", "-0.1", "1e0"],
    ),
    (
        {"type": "number", "exclusiveMinimum": 0.25, "maximum": 3.5},
        ["0.26", "0.251", "1", "3.5", "3.49"],
        ["0.25", "0.250", "3.51", "0"],
    ),
    (
        {"type": "number", "exclusiveMinimum": -1, "exclusiveMaximum": 0},
        ["-0.5", "-0.01"],
        ["-1", "0", "-1.0"],
    ),
    ({"type": "number", "minimum": 0, "multipleOf": 0.01}, ["0", "1.25", "19.9"], ["1.255", "-1"]),
    (
        {"anyOf": [{"type": "null"}, {"type": "integer"}, False]},
        ["null", "1"],
        ['"a"'],
    ),
    (
        {"oneOf": [{"type": "integer"}, {"type": "string"}]},
        ["1", '"a"'],
        ["null"],
    ),
    (
        {
            "type": "object",
            "properties": {"a": {"type": "null"}, "b": {"type": "null"}},
            "oneOf": [{"required": ["a"], "properties": {"b": False}}, {"required": ["b"]}],
        },
        ['{"a":null}', '{"b":null}'],
        ["{}"],
    ),
    (
        {"allOf": [PERSON, {"properties": {"age": {"minimum": 18, "maximum": 20}}}]},
        ['{"name":"a","age":19}'],
        ['{"name":"a","age":21}'],
    ),
    (
        {"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "null"}}},
        ["null"],
        ["1"],
    ),
    (
        {
            "$ref": "#/definitions/list",
            "definitions": {
                "list": {
                    "type": "object",
                    "properties": {
                        "next": {"anyOf": [{"$ref": "#/definitions/list"}, {"type": "null"}]}
                    },
                    "required": ["next"],
                }
            },
        },
        ['{"next":null}', '{"next":{"next":null}}'],
        ["{}", '{"next":1}'],
    ),
]


@pytest.mark.parametrize(("schema", "yes", "no"), YES_AND_NO)
def test_what_a_schema_says(schema: Schema | bool, yes: list[str], no: list[str]) -> None:
    grammar = say(schema)
    assert [text for text in yes if not matches(grammar, text)] == []
    assert [text for text in no if matches(grammar, text)] == []


@pytest.mark.parametrize("schema", [schema for schema, _, _ in YES_AND_NO])
def test_whatever_follows_the_grammar_follows_the_schema(schema: Schema | bool) -> None:
    drawer, chance = Drawer(say(schema)), random.Random(7)
    validator = judge(schema)
    for _ in range(60):
        validator.validate(json.loads(drawer.draw(chance), parse_float=Decimal))


def test_whatever_follows_the_grammar_of_a_pydantic_model_is_one() -> None:
    drawer, chance = Drawer(say(Visit.model_json_schema())), random.Random(3)
    for _ in range(200):
        Visit.model_validate_json(drawer.draw(chance, length=400))


bounds = st.one_of(
    st.integers(-2000, 2000), st.decimals(-30, 30, places=3).map(float), st.just(0), st.none()
)


@settings(max_examples=300, deadline=None)
@given(bounds, bounds, st.booleans(), st.booleans(), st.sampled_from(["integer", "number"]))
def test_numbers_keep_their_bounds_whatever_they_are(
    least: float | None, most: float | None, above: bool, below: bool, kind: str
) -> None:
    schema: Schema = {"type": kind}
    if least is not None:
        schema["exclusiveMinimum" if above else "minimum"] = least
    if most is not None:
        schema["exclusiveMaximum" if below else "maximum"] = most
    try:
        drawer = Drawer(say(schema))
    except GrammarInvalid:
        assert least is not None
        assert most is not None
        assert most - least <= 1
        return
    chance = random.Random(1)
    for _ in range(20):
        jsonschema.validate(json.loads(drawer.draw(chance)), schema)


@settings(max_examples=200, deadline=None)
@given(st.integers(-200, 200), st.integers(0, 300), st.integers(-400, 700))
def test_whole_numbers_within_bounds_are_all_allowed(least: int, width: int, tried: int) -> None:
    grammar = say({"type": "integer", "minimum": least, "maximum": least + width})
    assert matches(grammar, str(tried)) == (least <= tried <= least + width)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 700), st.integers(0, 700))
def test_lengths_are_kept_exactly(least: int, more: int) -> None:
    grammar = say({"type": "string", "minLength": least, "maxLength": least + more})
    for length in (least - 1, least, least + more // 2, least + more, least + more + 1):
        if length >= 0:
            assert matches(grammar, f'"{"x" * length}"') == (least <= length <= least + more)


PATTERNS = (
    r"^[a-z]+$", r"^\d{3}-\d{2,4}$", r"a|b", r"^(foo|ba[rz])?$", r"x.y", r"^[^\s/]+/[^/]*$",
    r"^-?\d+(\.\d+)?$", r"\\", r"^[\w.-]+@[\w-]+\.\w{2,}$", r"^#(?:[0-9a-f]{3}){1,2}$", r"",
)  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_strings_match_their_patterns(pattern: str) -> None:
    schema = {"type": "string", "pattern": pattern}
    drawer, chance = Drawer(say(schema), pattern), random.Random(5)
    for _ in range(100):
        assert re.search(pattern, json.loads(drawer.draw(chance))) is not None


TAGS: Schema = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}


@pytest.fixture(scope="module")
def guides(random_llama: Path) -> Iterator[TokenGuides]:
    plan = LlamaPlan(random_llama, context=64, threads=1, batch_threads=1)
    model = open_model(load_native(), plan, lambda _: None, CancelToken())
    assert model.guides.faults(['start: "a"']) == [""]  # starts the process that tries grammars
    yield model.guides
    model.close()


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"not": {"type": "string"}}, "#: not cannot be enforced by a grammar."),
        ({"if": {}, "then": {}}, "#: if cannot be enforced by a grammar."),
        ({"type": "object", "properties": {"tags": TAGS}}, "#/properties/tags: uniqueItems cannot"),
        ({"items": {"$ref": "#/$defs/t"}, "$defs": {"t": TAGS}}, "#/$defs/t: uniqueItems cannot"),
        ({"type": "object", "properties": {"a/b": {"not": {}}}}, "#/properties/a~1b: not cannot"),
        ({"type": "array", "contains": {"const": 1}}, "#: contains cannot be enforced"),
        ({"dependentRequired": {"a": ["b"]}}, "#: dependentRequired cannot be enforced"),
        ({"allOf": [{"type": "object"}], "unevaluatedProperties": False}, "#: unevaluatedProp"),
        ({"items": {"pattern": "(?=a)"}}, "#/items: llguidance says: regex parse error"),
        ({"type": "string", "pattern": r"(a)\1"}, "#: llguidance says: regex parse error"),
        ({"type": "string", "pattern": "a^b"}, "lookarounds not supported"),
        ({"type": "string", "pattern": "(a"}, "unclosed group"),
        ({"type": "string", "pattern": "a)"}, "unopened group"),
        ({"type": "string", "pattern": "[b-a]"}, "invalid character class range"),
        ({"type": "string", "pattern": "*"}, "missing expression"),
        ({"type": "string", "pattern": "^[\\S-]$"}, "#: pattern cannot be enforced with "),
        ({"type": "string", "pattern": "^ab$", "maxLength": 1}, "#: llguidance says: Unsatisf"),
        ({"type": "string", "format": "regex"}, "#: format “regex” cannot be enforced"),
        ({"type": "string", "minLength": 3, "maxLength": 1}, "minLength (3) is greater than max"),
        ({"properties": {"n": {"type": "integer", "minimum": 3, "maximum": 1}}, "required": ["n"]},
         "#/properties/n: llguidance says"),
        ({"type": "number", "multipleOf": 0}, "#: multipleOf has to be above zero"),
        ({"type": "integer", "multipleOf": 999983}, "#: multipleOf 999983 cannot be enforced"),
        ({"type": "nothing"}, "#: type has to be one of"),
        ({"allOf": [{"type": "string"}, {"type": "null"}]}, "#: llguidance says: Unsatisfiable"),
        ({"$ref": "#/$defs/none"}, '#: $ref "#/$defs/none" leads nowhere'),
        ({"$ref": "https://example.com/schema"}, "leads out of the schema"),
        ({"$ref": "#"}, "#: it never ends"),
        ({"$ref": "#", "type": "string"}, "#: it never ends"),
        ({"properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "#: it never ends"),
        ({"items": {"oneOf": [{"type": "integer"}, {"type": "number"}]}},
         "#/items: llguidance says: oneOf constraints are not supported"),
        ({"enum": ["a"], "minLength": 2}, "#: llguidance says: Unsatisfiable schema"),
        ({"enum": []}, "#: llguidance says: Unsatisfiable schema"),
        ({"type": "object", "minProperties": 3}, "#: minProperties cannot be enforced"),
        (False, "#: no value matches it"),
        ({"properties": {"a": 1}}, "#/properties/a: a schema has to be an object"),
        ({"required": "a", "type": "object"}, "#: required has to be a list"),
        ({"minimum": "1"}, "#: minimum has to be a number"),
    ],
)  # fmt: skip
def test_a_keyword_that_cannot_be_held_is_refused_by_name_and_path(
    guides: TokenGuides, schema: Any, why: str
) -> None:
    with pytest.raises(GrammarInvalid) as error:
        guides.enforceable(prepare(json.dumps(schema)))
    assert why in error.value.why


@pytest.mark.parametrize(
    ("schema", "unheld", "yes", "no"),
    [
        (
            {"type": "object", "properties": {"tags": TAGS}, "required": ["tags"]},
            ("#/properties/tags: uniqueItems",),
            '{"tags":["a"]}',
            '{"tags":[1]}',
        ),
        (
            {"properties": {"a": {"type": "integer"}, "b": {"pattern": "(?=x)y"}}},
            ("#/properties/b: pattern",),
            '{"a":1,"b":"y"}',
            '{"a":"1"}',
        ),
        (
            {"items": {"oneOf": [{"type": "integer"}, {"type": "number"}]}, "maxItems": 1},
            ("#/items: oneOf",),
            "[1]",
            "[1,2]",
        ),
        (
            {"properties": {"a": {"enum": []}, "b": {"type": "null"}}, "required": ["a"]},
            ("#/properties/a: enum",),
            '{"a":7,"b":null}',
            '{"a":7,"b":1}',
        ),
    ],
)
def test_of_a_tool_s_schema_all_is_held_but_the_keywords_that_cannot_be(
    guides: TokenGuides, schema: Schema, unheld: tuple[str, ...], yes: str, no: str
) -> None:
    prepared = guides.enforceable(prepare_arguments(schema), strict=False)
    assert prepared.unenforced == unheld
    lark = Lark()
    grammar = lark.text(lark.json(prepared.schema))
    assert matches(grammar, yes)
    assert not matches(grammar, no)


@pytest.mark.parametrize(
    ("schema", "yes", "no"),
    [
        (
            {"type": "string", "format": "date", "pattern": "^2024"},
            ['"2024-02-29"'],
            ['"2023-01-01"', '"2024-02-30"'],
        ),
        ({"properties": {"a": {"type": "null"}, "b": {"type": "null"}}, "minProperties": 1},
         ['{"a":null}', '{"b":null}'], ["{}"]),
        ({"type": "object", "required": ["a"], "minProperties": 1}, ['{"a":1}'], ["{}"]),
        (
            {
                "allOf": [
                    {"$ref": "#/$defs/base"},
                    {"properties": {"b": {"type": "null"}}, "required": ["b"]},
                ],
                "$defs": {"base": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}},
            },
            ['{"a":1,"b":null}'],
            ['{"a":1}', '{"a":1,"b":null,"c":2}'],
        ),
        (
            {
                "oneOf": [{"$ref": "#/$defs/cat"}, {"$ref": "#/$defs/dog"}],
                "discriminator": {"propertyName": "kind"},
                "$defs": {
                    "cat": {"properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}},
                    "dog": {"properties": {"kind": {"const": "dog"}}},
                },
            },
            ['{"kind":"cat","lives":9}', '{"kind":"dog"}'],
            ['{"lives":9}', '{"kind":"dog","lives":9}', '{"kind":"cow"}'],
        ),
        ({"type": "string", "pattern": r"^[\x00-\x7F]{2}$"}, ['"a~"', r'"\n\""'], ['"é1"']),
        ({"type": "string", "pattern": r"^[^\\\"]$"}, ['"a"'], [r'"\\"', r'"\""']),
        ({"type": "string", "pattern": r"^[\w[&&~-]$"}, ['"["', '"&"', '"-"'], ['"é"']),
        ({"properties": {"a": {"type": "string"}}, "x-guidance": {"lenient": True}},
         ['{"a":""}'], ['{"b":""}']),
    ],
)  # fmt: skip
def test_keywords_are_held_together(schema: Schema, yes: list[str], no: list[str]) -> None:
    grammar = say(schema)
    assert [text for text in yes if not matches(grammar, text)] == []
    assert [text for text in no if matches(grammar, text)] == []


@pytest.mark.parametrize(
    "text",
    [
        '{"const": NaN}',
        '{"const": 1e999}',
        '{"enum": [-Infinity]}',
        r'{"const": "\ud800"}',
        r'{"properties": {"\udc00": {}}}',
    ],
)
def test_values_that_no_text_of_json_has_are_refused(text: str) -> None:
    with pytest.raises(GrammarInvalid, match="not JSON"):
        prepare(text)


@pytest.mark.parametrize(
    ("pattern", "least", "most", "yes", "no"),
    [
        (r"^[A-Z]{3}-\d+$", 0, 8, ["ABC-1", "ABC-1234"], ["ABC-12345", "ABC-"]),
        ("^a[bc]*d$", 4, None, ["abbd", "abcbcd"], ["ad", "abd"]),
        ("^(a|bb)[0-9]*$", 3, 4, ["a12", "bb12"], ["a1", "bb123"]),
    ],
)
def test_a_pattern_and_a_length_are_kept_together(
    pattern: str, least: int, most: int | None, yes: list[str], no: list[str]
) -> None:
    schema: Schema = {"type": "string", "pattern": pattern, "minLength": least}
    said = say(schema if most is None else {**schema, "maxLength": most})
    assert [text for text in yes if not matches(said, json.dumps(text))] == []
    assert [text for text in no if matches(said, json.dumps(text))] == []


@pytest.mark.parametrize("bound", ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"])
@pytest.mark.parametrize("text", ["19.99", "0.125", "3.14159265", "1234567.891"])
def test_a_bound_on_one_side_leaves_a_number_its_decimals(bound: str, text: str) -> None:
    at = 0 if bound.endswith("inimum") else 2_000_000
    assert matches(say({"type": "number", bound: at}), text)
    assert matches(say({"type": "number", "minimum": float(text)}), text)


def test_sizes_are_limited(guides: TokenGuides) -> None:
    deep: Any = {"type": "string"}
    for _ in range(200):
        deep = {"type": "array", "items": deep}
    wide = {"type": "object", "properties": {f"p{n}": {"const": n} for n in range(20_000)}}
    doubling: Schema = {"$ref": "#/$defs/a0", "$defs": {"a20": {"type": "string"}}}
    for n in range(20):
        both = {"oneOf": [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]}
        doubling["$defs"][f"a{n}"] = both
    for text in (json.dumps(deep), json.dumps(wide), json.dumps(doubling), "[" * 100_000, "{", "7"):
        with pytest.raises(GrammarInvalid):
            guides.enforceable(prepare(text))


def test_every_schema_is_compiled_for_a_model(guides: TokenGuides) -> None:
    for schema in [*(it for it, _, _ in YES_AND_NO), Visit.model_json_schema()]:
        guides.open(say(schema))


SMALL: list[Schema] = [
    PERSON,
    {"type": "array", "items": {"enum": ["yes", "no"]}, "minItems": 2, "maxItems": 4},
    {
        "type": "object",
        "properties": {
            "date": {"type": "string", "format": "date"},
            "score": {"type": "number", "minimum": 0, "maximum": 1},
            "title": {"type": "string", "maxLength": 12},
        },
        "required": ["date", "score"],
    },
]


@pytest.mark.parametrize("schema", SMALL)
def test_a_model_answers_as_the_schema_wants_it(load: Load, schema: Schema) -> None:
    engine = load(context=512)
    for seed in range(6):
        text = answer(engine, schema, seed)
        jsonschema.validate(
            json.loads(text), schema, format_checker=jsonschema.FormatChecker(formats=["date"])
        )


def answer(engine: LlamaCppEngine, schema: Schema, seed: int) -> str:
    sampling = Sampling(1.5, seed=seed, schema=json.dumps(_shortened(schema)))
    request = ChatRequest((Message("user", "Tell me."),), sampling, max_tokens=400)
    return text_of(run(engine, request))


def _shortened(schema: Schema) -> Schema:
    """Limit strings without a length, as a small model does not end them at this temperature."""
    if schema.get("type") == "string" and "maxLength" not in schema and "format" not in schema:
        return schema | {"maxLength": 20}
    if "properties" in schema:
        named = {name: _shortened(value) for name, value in schema["properties"].items()}
        return schema | {"properties": named}
    return schema


def judge(schema: Schema | bool) -> Any:
    """Make the validator of a schema's draft. It counts in decimals: 0.47 / 0.01 is not 47."""
    if isinstance(schema, dict) and schema.get("nullable"):
        schema = {"type": [schema["type"], "null"]}
    older = isinstance(schema, dict) and isinstance(schema.get("items"), list)
    draft = jsonschema.Draft7Validator if older else jsonschema.Draft202012Validator
    return draft(json.loads(json.dumps(schema), parse_float=Decimal))
