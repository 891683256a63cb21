"""Templates without any hint of reasoning are not searched for a switch."""

from __future__ import annotations

import pytest

from engines.dialect import CHATML, FORMATS, may_reason
from engines.dialect.switch import EFFORT, NAMES, WORDS

SIGNS = [
    *NAMES,
    EFFORT,
    *(word for pair in WORDS for word in pair),
    *(text for it in FORMATS for text in (*it.opens, *it.closes)),
]


@pytest.mark.parametrize("sign", SIGNS)
def test_whatever_is_looked_for_in_a_template_is_a_hint(sign: str) -> None:
    assert may_reason(CHATML.replace("user", sign) + sign)


def test_a_plain_template_has_no_hint() -> None:
    assert not may_reason(CHATML)
