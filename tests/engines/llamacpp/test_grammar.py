"""Grammars: which are read, which are refused and where, and which llama.cpp must not get."""

from __future__ import annotations

import random
import re
import string

import pytest

from engines.errors import GrammarInvalid
from engines.llamacpp.gbnf import MAX_LENGTH
from tests.engines.llamacpp.grammars import lark_of, matches, opened

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

ARITHMETIC = r"""
root  ::= (expr "=" ws num "\n")+
expr  ::= term ([-+*/] term)*
term  ::= ident | num | "(" ws expr ")" ws
ident ::= [a-z] [a-z0-9_]* ws
num   ::= [0-9]+ ws
ws    ::= [ \t\n]*
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
        ('root ::= word "a" | "(" root ")"\nword ::= [a-z]+', ["bca", "((xa))"], ["a", "b"]),
        ('root ::= root "a" | "b"', ["b", "baa"], ["a"]),
        ('root ::= "x" sum\nsum ::= sum "+" [0-9] | [0-9]', ["x1", "x1+2"], ["x", "x1+"]),
        ('root ::= may root "x" | "y"\nmay ::= be\nbe ::= "" | "z"', ["y", "zyx"], ["z"]),
        ('root ::= "x" (root?)* "y" | (("z"?)* root)', ["xy", "zzxxyy"], ["x"]),
        ('root ::= ("a"?){100}', ["", "a" * 100], ["a" * 101]),
        ('root ::= ("a"?){1000} | "(" root ")"', ["a" * 1000, "(a)"], ["a" * 1001, "("]),
        ('root ::= "a"{0} "b"', ["b"], ["ab"]),
        (ARITHMETIC, ["a+b = 12\n", "(a+b)*3=4\n\nx=1\n"], ["a+=1\n", "a=b\n"]),
        ("root ::= one-2\r\none-2 ::= [0-9]\r\n", ["7"], ["77"]),
        (JSON, ['{"a":[1,-2.5e3,"x\\u00e9"],"b":{}}'], ["{", '{"a":}', "[1]"]),
    ],
)
def test_what_a_grammar_says(grammar: str, yes: list[str], no: list[str]) -> None:
    lark = lark_of(grammar)
    assert [text for text in yes if not matches(lark, text)] == []
    assert [text for text in no if matches(lark, text)] == []


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
    with pytest.raises(GrammarInvalid, match=re.escape(f"Line {line}, column {column}: ")) as user:
        lark_of(grammar)
    assert why in user.value.why
    assert user.value.what
    assert user.value.do


@pytest.mark.parametrize("grammar", ["", "# nothing", 'rot ::= "a"'])
def test_every_answer_begins_with_the_rule_root(grammar: str) -> None:
    with pytest.raises(GrammarInvalid, match="no rule “root”"):
        lark_of(grammar)


@pytest.mark.parametrize("grammar", ["root ::= root", 'root ::= "a" b\nb ::= "b" root'])
def test_a_grammar_that_never_ends_is_refused(grammar: str) -> None:
    with pytest.raises(GrammarInvalid, match="never end"):
        lark_of(grammar)


def doubling(depth: int) -> str:
    rules = [f'a{n} ::= a{n + 1} "x" | a{n + 1} "y"' for n in range(depth)]
    return "\n".join(["root ::= a0", *rules, f'a{depth} ::= "z"'])


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
    opened(lark_of(grammar)).compute_bitmask()


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
            opened(lark_of(mutated(JSON, dice)))
        except GrammarInvalid:
            refused += 1
    assert 100 < refused < 300
