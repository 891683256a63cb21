"""Grammars and schemas that are small to send and large to follow: each one is bounded."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engines.cancel import CancelToken
from engines.errors import Cancelled, GrammarInvalid
from engines.llamacpp.constraints import TokenGuides, write_answer
from engines.llamacpp.lark import Lark
from engines.llamacpp.model import Model, open_model
from engines.llamacpp.native import load_native
from engines.types import LlamaPlan, Sampling
from tests.engines.asking import ask, done_of, run
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.random_models import STARTER

CPU_S = 3.0
"""Processor seconds of this process for a grammar and 40 tokens; the reported case took 25."""
TOKENS = 40

Schema = dict[str, Any]


def text(pattern: str, **more: Any) -> Schema:
    return {"type": "string", "pattern": pattern, **more}


def tree(depth: int) -> Schema:
    """Return a schema in which each definition refers to the next one twice."""
    schema: Schema = {"$ref": "#/$defs/a0", "$defs": {f"a{depth}": {"type": "string"}}}
    for at in range(depth):
        both = [{"$ref": f"#/$defs/a{at + 1}"}, {"$ref": f"#/$defs/a{at + 1}"}]
        schema["$defs"][f"a{at}"] = {"allOf": both}
    return schema


def chain(length: int) -> Schema:
    schema: Schema = {"$ref": "#/$defs/a0", "$defs": {f"a{length}": {"type": "null"}}}
    for at in range(length):
        inner = {"properties": {"a": {"$ref": f"#/$defs/a{at + 1}"}}, "required": ["a"]}
        schema["$defs"][f"a{at}"] = inner
    return schema


def either(at: int) -> Schema:
    return {
        "anyOf": [
            {"type": "object", "properties": {f"a{at}": {"type": "string"}}},
            {"type": "object", "properties": {f"b{at}": {"type": "integer"}}},
        ]
    }


SCHEMAS: dict[str, Schema] = {
    "words": text("^([a-z]* ?){0,20}$"),
    "many words": text("^([a-z]* ?){0,2000}$"),
    "counted": text("^[a-z]{0,100000}$"),
    "counted in counted": text("^((a?){0,100}){0,100}$"),
    "three deep": text("^(((a|b)?c?){0,100} ?){0,100}$"),
    "behind a letter": text("^(.*a.{20})*$"),
    "far behind a letter": text("(a|b)*a(a|b){200}$"),
    "overlapping": text(r"^((\w+)|(\w+\s?)|(\s\w+))*$"),
    "letters of all scripts": text(r"^\p{L}{1,500}(\p{N}|\p{L}){1,500}$"),
    "many patterns": {"allOf": [text(f"a.{{{at}}}b") for at in range(3, 30)]},
    "a pattern and a format": text("(a|b)*a(a|b){30}", format="email"),
    "a large divisor": {"type": "integer", "multipleOf": 999983},
    "a divisor": {"type": "integer", "multipleOf": 997, "minimum": 12345},
    "an enormous list": {"enum": [f"value {at * 7919 % 100003}" for at in range(9000)]},
    "many alternatives": {"anyOf": [{"const": {"a": at}} for at in range(3000)]},
    "all of either": {"allOf": [either(at) for at in range(16)]},
    "many properties": {"properties": {f"p{at}": {"type": "string"} for at in range(5000)}},
    "many items": {"items": {"type": "integer"}, "minItems": 10**8},
    "at most many items": {"items": {"type": "integer"}, "maxItems": 10**9},
    "a tree": tree(40),
    "a chain": chain(900),
    "a long text": {"type": "string", "minLength": 10**6},
}
GRAMMARS: dict[str, str] = {
    "optional letters": 'root ::= ("a"?){100}',
    "many optional letters": 'root ::= ("a"?){1000}',
    "in a recursion": 'root ::= ("a"?){1000} | "(" root ")"',
    "optional words": 'root ::= ([a-z]* " "?){0,1000}',
    "ambiguous": 'root ::= s\ns ::= s s s | s s | "a" |',
    "doubling with each letter": 'root ::= " " root "x" | " " root "y" | ""',
    "at once": "\n".join(
        [
            "root ::= a0",
            *(f'a{n} ::= a{n + 1} "x" | a{n + 1} "y"' for n in range(40)),
            'a40 ::= "z"',
        ]
    ),
    "a long way down": "\n".join(
        ["root ::= a0", *(f'a{n} ::= a{n + 1} "x"' for n in range(1500)), "a1500 ::="]
    ),
    "many rules": "\n".join(
        [
            f"root ::= {' | '.join(f'r{n}' for n in range(2000))}",
            *(f'r{n} ::= "x" r{(n * 7 + 1) % 2000} "y" | "z"' for n in range(2000)),
        ]
    ),
    "many texts": "root ::= " + " | ".join(f'"x{n}y"' for n in range(4000)),
    "single letters": 'root ::= [^"]* "\\"" root?',
    "open brackets": 'root ::= "(" root ")" root |',
}
ASKED = {
    **{name: Sampling(schema=json.dumps(it)) for name, it in SCHEMAS.items()},
    **{f"grammar: {name}": Sampling(grammar=it) for name, it in GRAMMARS.items()},
}


FOLLOWED = (
    "words", "many words", "counted", "overlapping", "a tree", "at most many items",
    "grammar: optional letters", "grammar: many optional letters", "grammar: in a recursion",
    "grammar: optional words", "grammar: single letters", "grammar: open brackets",
)  # fmt: skip


@pytest.fixture
def model() -> Iterator[Model]:
    plan = LlamaPlan(STARTER, context=64, threads=1, batch_threads=1)
    model = open_model(load_native(), plan, lambda _: None, CancelToken())
    opened(model.guides, Sampling(grammar='root ::= "a"'))  # starts the process that tries grammars
    yield model
    model.close()


def opened(guides: TokenGuides, sampling: Sampling, cancel: CancelToken | None = None) -> Any:
    lark = Lark()
    start = write_answer(sampling, guides, lark, cancel)
    return guides.open(lark.text(start), cancel=cancel)


@pytest.mark.parametrize("name", ASKED)
def test_it_is_followed_or_refused_within_seconds(model: Model, name: str) -> None:
    chance, began = random.Random(1), time.process_time()
    try:
        guide = opened(model.guides, ASKED[name])
        for _ in range(TOKENS):
            token = int(chance.choice(guide.allowed()))
            guide.accept(token)
            if model.vocabulary.ends_generation(token):
                break
    except GrammarInvalid:
        assert name not in FOLLOWED
    assert time.process_time() - began < CPU_S


@pytest.mark.parametrize("name", FOLLOWED)
def test_an_answer_follows_it(load: Load, name: str) -> None:
    engine = load(context=512)
    done = done_of(run(engine, ask("?", sampling=ASKED[name], max_tokens=20)))
    assert done.finish_reason in {"stop", "length"}


class Hasty(CancelToken):
    """A token that is cancelled as soon as a listener is added."""

    def on_cancel(self, listener: Callable[[], None]) -> Callable[[], None]:
        forget = super().on_cancel(listener)
        self.cancel()
        return forget


def test_reading_one_can_be_cancelled(model: Model) -> None:
    with pytest.raises(Cancelled):
        opened(model.guides, ASKED["many patterns"], Hasty())
    opened(model.guides, ASKED["words"])


def test_a_cancelled_answer_ends_while_its_grammar_is_read(load: Load) -> None:
    engine = load(context=512)
    asked = ask("?", sampling=ASKED["many patterns"], max_tokens=20)
    assert done_of(run(engine, asked, Hasty())).finish_reason == "cancelled"
    assert done_of(run(engine, ask("?", max_tokens=4))).finish_reason == "length"
