"""Grammars: what is read, what is refused and where, and what llama.cpp may not be given."""

from __future__ import annotations

import random
import re
import string

import pytest

from engines.errors import GrammarInvalid
from engines.llamacpp.gbnf import MAX_LENGTH, Characters, NotGbnf, parse
from engines.llamacpp.grammar import require_grammar
from tests.engines.llamacpp.grammars import matches

JSON = r"""
# What a model may answer as JSON.
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
array  ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws     ::= | " " | "\n" [ \t]{0,20}
"""


@pytest.mark.parametrize(
    ("grammar", "yes", "no"),
    [
        ('root ::= "yes" | "no"', ["yes", "no"], ["", "ye", "yesno"]),
        ("root ::= [a-c]* [^a-c]", ["d", "abcx"], ["a", "dd"]),
        (r"root ::= [a-]+ [^\]]", ["a-ab", "--x"], ["a]", "b"]),
        (r'root ::= "\x41\u00e9\U0001F600\n\t\"\\"', ['Aé😀\n\t"\\'], ["A"]),
        ('root ::= "a"{3}', ["aaa"], ["aa", "aaaa"]),
        ('root ::= "ab"{2,}', ["abab", "ababab"], ["ab", "ababa"]),
        ('root ::= "a"{0,2} "b"?', ["", "aa", "b", "aab"], ["aaa", "bb"]),
        ('root ::= ("a" |\n "b" # one or the other\n)+\n', ["ab", "ba"], ["", "c"]),
        ("root ::= list\nlist ::= . list .|", ["", "ab", "abcd"], ["abc"]),
        ("root ::= one-2\r\none-2 ::= [0-9]\r\n", ["7"], ["77"]),
        (JSON, ['{"a":[1,-2.5e3,"x\\u00e9"],"b":{}}'], ["{", '{"a":}', "[1]"]),
    ],
)
def test_what_a_grammar_says(grammar: str, yes: list[str], no: list[str]) -> None:
    require_grammar(grammar)
    assert [text for text in yes if not matches(grammar, text)] == []
    assert [text for text in no if matches(grammar, text)] == []


@pytest.mark.parametrize(
    ("grammar", "line", "column", "why"),
    [
        ("root", 1, 5, "“::=” is expected"),
        ('root ::= "a"\n  | "b"', 2, 3, "a rule's name is expected"),
        ('root ::= "a" $', 1, 14, "does not belong"),
        ('\n\nroot ::= x "no end', 3, 12, "has no end"),
        ("root ::= [a-", 1, 10, "has no end"),
        (r'root ::= "\q"', 1, 11, "no such escape"),
        (r'root ::= "\x4"', 1, 11, "no such escape"),
        ('root ::= ("a" ("b")', 1, 10, "never closed"),
        ('root ::= "a")', 1, 13, "does not belong"),
        ("root ::= *", 1, 10, "nothing to repeat"),
        ('root ::= "a"{,3}', 1, 13, "is written {3}"),
        ('root ::= "a"{5,3}', 1, 13, "at most 3 and at least 5"),
        ('root ::= "a"{1,100000}', 1, 13, "more than 2000 times"),
        (f'root ::= "a"{{{"9" * 30}}}', 1, 13, "more than 2000 times"),
        ('root ::= ("a"{0,2000}){0,2000}', 1, 23, "more than 2000 times"),
        (f'root ::= "{"a" * 100}"{{2000}}', 1, 112, "more than 100000 parts"),
        ('root ::= a "x"\nb ::= "y"', 1, 10, "no rule “a”"),
        ('root ::= "a" !<[7]>', 1, 14, "reference to a token"),
        ("root ::= <think>", 1, 10, "reference to a token"),
        ('root ::= "\0"', 1, 11, "null character"),
        ('root ::= "\ud83d"', 1, 11, "half a character"),
        (f"root ::= {'(' * 1000}", 1, 110, "more than 100 parentheses"),
        (f'root ::= "{"a" * MAX_LENGTH}"', 1, MAX_LENGTH + 1, f"longer than {MAX_LENGTH}"),
    ],
)
def test_a_mistake_is_named_and_placed(grammar: str, line: int, column: int, why: str) -> None:
    with pytest.raises(NotGbnf) as raised:
        parse(grammar)
    assert why in raised.value.why
    assert (raised.value.line, raised.value.column) == (line, column)
    with pytest.raises(GrammarInvalid, match=re.escape(f"Line {line}, column {column}: ")) as user:
        require_grammar(grammar)
    assert user.value.what
    assert user.value.do


@pytest.mark.parametrize("grammar", ["", "# nothing", 'rot ::= "a"'])
def test_every_answer_begins_with_the_rule_root(grammar: str) -> None:
    with pytest.raises(GrammarInvalid, match="no rule “root”"):
        require_grammar(grammar)


@pytest.mark.parametrize(
    ("grammar", "rule"),
    [
        ('root ::= root "a" | "b"', "root"),
        ("root ::= root", "root"),
        ('root ::= "x" sum\nsum ::= sum "+" [0-9] | [0-9]', "sum"),
        # llama.cpp does not see that what stands before it can be empty two rules further on.
        ('root ::= may root "x" | "y"\nmay ::= be\nbe ::= "" | "z"', "root"),
        ('root ::= "x" (root?)* "y" | (("z"?)* root)', "root"),
    ],
)
def test_a_rule_that_begins_with_itself(grammar: str, rule: str) -> None:
    with pytest.raises(GrammarInvalid, match=f"“{rule}” can begin with itself"):
        require_grammar(grammar)


def doubling(depth: int) -> str:
    rules = [f'a{n} ::= a{n + 1} "x" | a{n + 1} "y"' for n in range(depth)]
    return "\n".join(["root ::= a0", *rules, f'a{depth} ::= "z"'])


@pytest.mark.parametrize(
    "grammar",
    [
        doubling(40),
        'root ::= " " root "x" | " " root "y" | ""',
        "root ::= open+\nopen ::= [a-z] open [0-9] | [a-z] open [0-8] | [a-z]",
        'root ::= [a-z]{200} (","? a)+\na ::= "#" a "x" | "#" a "y" | "."',
        "\n".join(["root ::= a0", *(f'a{n} ::= a{n + 1} "x"' for n in range(1500)), "a1500 ::="]),
    ],
    ids=["at once", "with each character", "behind a repetition", "far behind", "a long way down"],
)
def test_more_ways_to_go_on_than_memory_could_hold(grammar: str) -> None:
    with pytest.raises(GrammarInvalid, match="so many ways"):
        require_grammar(grammar)


@pytest.mark.parametrize(
    "grammar",
    [
        doubling(6),
        'root ::= ("a"?)* "b"',
        'root ::= "a"{0,2000}',
        "root ::= [a-z ]{1,500} [.]",
        f"root ::= {'(' * 100}[a-z]{')' * 100}",
        "root ::= " + " | ".join(f'"{a}{b}"' for a in string.ascii_letters for b in "0123456789"),
    ],
)
def test_large_grammars_that_can_be_followed(grammar: str) -> None:
    require_grammar(grammar)


def mutated(grammar: str, dice: random.Random) -> str:
    for _ in range(dice.randint(1, 6)):
        at = dice.randrange(len(grammar))
        piece = dice.choice([*'()[]{}|*+?".^-\\ \n:=', "{0,5}", "::=", "root", "", "ws", "é"])
        grammar = grammar[:at] + piece + grammar[at + dice.randint(0, 3) :]
    return grammar


def test_any_text_is_read_or_refused() -> None:
    dice = random.Random(1)
    refused = 0
    for _ in range(300):
        try:
            require_grammar(mutated(JSON, dice))
        except GrammarInvalid:
            refused += 1
    assert 100 < refused < 300


def test_characters() -> None:
    assert Characters(((97, 99),)).match(98)
    assert not Characters(((97, 99),), negated=True).match(98)
    assert Characters((), negated=True).match(98)
