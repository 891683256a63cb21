"""The suggested file name for a block of code."""

from __future__ import annotations

import pytest

from app.markdown.blocks import Code
from app.markdown.code_file import file_name_of
from app.markdown.parser import Parser


@pytest.mark.parametrize(
    ("fence", "name"),
    [
        ("python", "code.py"),
        ("js", "code.js"),
        ("rust", "code.rs"),
        ("c++", "code.cpp"),
        ("diff", "code.diff"),
        ("", "code.txt"),
        ("klingon", "code.txt"),
        ('python title="app.py"', "app.py"),
        ("python filename=src/app.py", "app.py"),
        ("python:src/app.py", "app.py"),
        ("app.py", "app.py"),
        ("../../.bashrc", "code.txt"),
    ],
)
def test_a_file_has_the_name_of_the_text_or_the_ending_of_its_language(
    fence: str, name: str
) -> None:
    (code,) = Parser().parse(f"```{fence}\nx\n```")
    assert isinstance(code, Code)
    assert file_name_of(code) == name
