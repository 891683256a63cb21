"""Chats that the assistant begins, with templates that allow it and with others."""

from __future__ import annotations

from engines.types import Message
from tests.engines.dialects import in_process

GREETING = Message("assistant", "What shall we do?")
QUESTION = Message("user", "Sing.")
STRICT = (
    "{% for m in messages %}"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}"
    "[{{ m.role }}]{{ m.content }}"
    "{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
)
"""A template without a system role, in which the user has to begin."""


def test_a_greeting_is_part_of_the_prompt_where_the_template_allows_it() -> None:
    text = in_process(None).render([Message("system", "Be kind."), GREETING, QUESTION]).text
    places = [text.index(word) for word in ("Be kind.", "What shall we do?", "Sing.")]
    assert places == sorted(places)


def test_it_is_left_out_where_the_user_has_to_begin() -> None:
    text = in_process(STRICT).render([GREETING, QUESTION]).text
    assert text == "[user]Sing.[assistant]"


def test_it_stays_behind_a_system_prompt_that_becomes_the_users() -> None:
    text = in_process(STRICT).render([Message("system", "Be kind."), GREETING, QUESTION]).text
    assert text == "[user]Be kind.[assistant]What shall we do?[user]Sing.[assistant]"


def test_an_answer_that_is_gone_on_with_is_no_greeting() -> None:
    text = in_process(STRICT).render([QUESTION, Message("assistant", "La")]).text
    assert text == "[user]Sing.[assistant]La"
