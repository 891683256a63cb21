"""A sentence is taken apart again into what it was made from."""

from __future__ import annotations

import pytest

from app.base.templates import Templates

KNOWN = Templates(
    (
        "“{0}” could not be loaded.",
        "It needs {0}, and {1} are free.",
        "It needs {0}, most of it for the KV cache, and {1} are free.",
        "The system says of {1}: {0}.",
        "Nothing stands here.",
    )
)


@pytest.mark.parametrize(
    ("sentence", "template", "values"),
    [
        ("“a.gguf” could not be loaded.", "“{0}” could not be loaded.", ("a.gguf",)),
        ("It needs 7.3 GB, and 5 GB are free.", "It needs {0}, and {1} are free.",
         ("7.3 GB", "5 GB")),
        ("The system says of /a (b): no [x].", "The system says of {1}: {0}.",
         ("no [x]", "/a (b)")),
        ("“a\nb” could not be loaded.", "“{0}” could not be loaded.", ("a\nb",)),
    ],
)  # fmt: skip
def test_a_template_is_found_with_its_values(
    sentence: str, template: str, values: tuple[str, ...]
) -> None:
    assert KNOWN.match(sentence) == (template, values)


def test_the_one_with_the_most_words_of_its_own_wins() -> None:
    found = KNOWN.match("It needs 7 GB, most of it for the KV cache, and 5 GB are free.")
    assert found == (
        "It needs {0}, most of it for the KV cache, and {1} are free.",
        ("7 GB", "5 GB"),
    )


@pytest.mark.parametrize("sentence", ["", "Something else.", "Nothing stands here."])
def test_what_is_not_known_is_left(sentence: str) -> None:
    assert KNOWN.match(sentence) is None


def test_a_value_that_stands_twice_cannot_be_told() -> None:
    with pytest.raises(ValueError, match="twice"):
        Templates(("{0} and {0}",)).match("a and a")
