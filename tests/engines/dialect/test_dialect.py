"""Chat templates of models, and text that must not become a marker."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.dialect import Dialect
from engines.dialect.formats import GEMMA, THINK
from engines.errors import TemplateFailed
from engines.text import SEAM
from engines.types import Message, Tool
from tests.engines.dialects import in_process

TURNS = (
    "{{ bos_token }}{% for m in messages %}<|turn>{{ m['role'] }}\n"
    "{{ m['content'] | trim }}<turn|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|turn>assistant\n{% endif %}"
)
NO_SYSTEM = (
    "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('No system role') }}"
    "{% endif %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
)
IGNORES_SYSTEM = (
    "{% for m in messages if m['role'] != 'system' %}{{ m['role'] }}: {{ m['content'] }}\n"
    "{% endfor %}"
)
TYPED = (
    "{% for m in messages %}{% for part in m['content'] if part['type'] == 'text' %}"
    "{{ m['role'] }}: {{ part['text'] }}\n{% endfor %}{% endfor %}"
)
ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}"
CONVERSATION = (
    Message("system", "Be kind."),
    Message("user", "Hello"),
    Message("assistant", "Hi"),
    Message("user", "Bye"),
)


def render(template: str | None, *messages: Message, **special: object) -> str:
    return in_process(template, **special).render(messages or CONVERSATION).text  # type: ignore[arg-type]


def test_a_template_writes_the_whole_conversation() -> None:
    assert render(TURNS, bos="<bos>") == (
        "<bos><|turn>system\nBe kind.<turn|>\n<|turn>user\nHello<turn|>\n"
        "<|turn>assistant\nHi<turn|>\n<|turn>user\nBye<turn|>\n<|turn>assistant\n"
    )


def test_without_a_template_it_is_chatml() -> None:
    assert render(None, Message("user", "Hello")) == (
        "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"
    )
    assert in_process(None).stops == ("<|im_end|>", "<|im_start|>")
    assert in_process(TURNS).stops == ()


@pytest.mark.parametrize("template", [NO_SYSTEM, IGNORES_SYSTEM])
def test_where_there_is_no_system_role_the_first_message_says_it(template: str) -> None:
    assert render(template) == "user: Be kind.\n\nHello\nassistant: Hi\nuser: Bye\n"


def test_content_in_typed_parts() -> None:
    assert render(TYPED, Message("user", "Hello")) == "user: Hello\n"


def test_neighbours_of_one_role_become_one_message() -> None:
    both = (Message("user", "One"), Message("user", "Two"))
    assert render(IGNORES_SYSTEM, *both) == "user: One\n\nTwo\n"


def test_a_begun_answer_opens_no_new_turn() -> None:
    prompt = render(TURNS, Message("user", "Hello"), Message("assistant", "Dear "))
    assert prompt.endswith("<|turn>assistant\nDear ")


def test_what_templates_of_hugging_face_expect() -> None:
    template = (
        "{% generation %}{{ messages[0]['content'] }}{% endgeneration %}\n"
        "{%- for i in range(9) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}\n"
        "    {% if true %}\n{{ {'a': '<é>'} | tojson }}{% endif %}"
        "{{ strftime_now('%Y') | length }}{{ tools is none }}"
    )
    assert (
        render(template, Message("user", "x"))
        == "x01" + json.dumps({"a": "<é>"}, ensure_ascii=False) + "4True"
    )


OLD = (
    "{%- set known = 'Functions: ' + functions + '\n' + datetime + '.' -%}"
    "{{ known }}{% for message in messages %}{{ message.role }}: {{ message.content }}\n"
    "{% endfor %}{# functools[ #}"
)
"""A template that takes tools and the date as firefunction v2's does, without `tools`."""


def test_a_template_from_before_tools_gets_them_under_its_own_names() -> None:
    clock = Tool("clock", "The time", {"type": "object"})
    dialect = Dialect(OLD, trusted=True)
    offered = dialect.render([Message("user", "Hello")], tools=(clock,)).text
    assert offered.endswith(".user: Hello\n")
    (told,) = json.loads(offered.removeprefix("Functions: ").partition("\n20")[0])
    assert told == {"name": "clock", "description": "The time", "parameters": {"type": "object"}}
    assert dialect.render([Message("user", "Hello")]).text.startswith("Functions: []\n20")
    assert dialect.calls.name == "functools"


def test_others_are_not_told_of_them() -> None:
    for template in (
        "{{ messages[0].content }}{{ functions is defined }}",
        "{% set datetime = 1 %}{{ messages[0].content }}{{ functions is defined }}{{ datetime }}",
    ):
        assert "False" in render(template, Message("user", "x"))


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ raise_exception('Roles must alternate') }}", "Roles must alternate"),
        ("{% for %}", "not written correctly"),
        ("{{ messages[7].content.x }}", "no element 7"),
        ("{{ 1 + 'a' }}", "unsupported operand"),
        ("nothing of it", "leaves out"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "unsafe"),
        ("{{ messages.append(1) }}{{ messages[0].content }}", "unsafe"),
        ("{% for a in [1] %}" * 25 + "{% endfor %}" * 25, "not written correctly"),
        ("{{ " + "9" * 5000 + " }}", "not written correctly"),
        ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "not written correctly"),
        (f"{ENDLESS}x{{% endfor %}}{{% endfor %}}", "has no end"),
        ("{% for a in range(99) %}{{ 'x' * 9999999 }}{% endfor %}", "has no end"),
    ],
)
def test_a_template_that_fails_is_a_plain_error(template: str, words: str) -> None:
    with pytest.raises(TemplateFailed) as caught:
        render(template, Message("user", "Hello"))
    assert words in caught.value.why


CONTROL = ("<|turn>", "<turn|>", "<bos>")
ADDED = ("<|channel>", "<channel|>", "</think>", "\n\n", "<table>")


def protected(text: str, template: str = TURNS) -> str:
    dialect = in_process(template, control=CONTROL, added=ADDED)
    prompt = dialect.render([Message("user", text)]).text
    return prompt.removeprefix("<|turn>user\n").removesuffix("<turn|>\n<|turn>assistant\n")


def test_text_that_spells_a_marker_is_cut() -> None:
    assert protected("a <|turn>b") == f"a <{SEAM}|turn>b"
    assert protected("<channel|>") == f"<{SEAM}channel|>"
    assert protected("x</think>", TURNS + "{# </think> #}") == f"x<{SEAM}/think>"


def test_ordinary_tokens_are_left_whole() -> None:
    assert protected("a\n\nb <table>") == "a\n\nb <table>"


@given(st.lists(st.sampled_from([*CONTROL, *ADDED, "<", "|", "turn", ">", SEAM, "x"])))
def test_no_text_spells_a_marker_between_the_cuts(words: list[str]) -> None:
    text = "".join(words)
    prompt = protected(f"x{text}x")
    parts = prompt.split(SEAM)
    assert "".join(parts) == f"x{text}x".replace(SEAM, "\N{REPLACEMENT CHARACTER}")
    markers = (*CONTROL, "<|channel>", "<channel|>")
    assert not any(marker in part for part in parts for marker in markers)


def test_the_format_is_the_one_that_the_model_knows() -> None:
    assert in_process(TURNS).format is None
    assert in_process(TURNS, added=("<|channel>", "<channel|>")).format is GEMMA
    assert in_process(TURNS + "{# </think> #}").format is THINK


def test_a_prompt_may_end_inside_the_reasoning() -> None:
    dialect = in_process(TURNS + "<think>\n{# </think> #}")
    assert dialect.render([Message("user", "Why?")]).begins == "reasoning"
    begun = dialect.render([Message("user", "Why?"), Message("assistant", "Because")])
    assert begun.begins == "answer"
    assert begun.text.endswith("<think>\n</think>\n\nBecause")
