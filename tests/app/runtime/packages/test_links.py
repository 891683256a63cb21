"""Pages of package indexes in the forms that occur."""

from __future__ import annotations

import pytest

from app.runtime.packages.links import JSON, Link, links_of

HASH = "ab" * 32


def test_html_with_relative_links_fragments_and_escapes() -> None:
    page = (
        f'<a href="../../files/a%2Bcpu-1.whl#sha256={HASH.upper()}" data-requires-python="&gt;=3">'
        'a</a><A HREF="https://cdn.example/b-1.whl">b</A><a>nothing</a>'
    )
    assert links_of(page, "text/html", "https://i.example/simple/a/") == [
        Link("a+cpu-1.whl", "https://i.example/files/a%2Bcpu-1.whl", HASH),
        Link("b-1.whl", "https://cdn.example/b-1.whl"),
    ]


def test_a_base_of_the_page_counts() -> None:
    page = '<base href="https://cdn.example/x/"><a href="a-1.whl">a</a>'
    assert links_of(page, "text/html", "https://i.example/simple/a/")[0].address == (
        "https://cdn.example/x/a-1.whl"
    )


def test_json_with_and_without_a_size() -> None:
    page = (
        '{"files": [{"filename": "a-1.whl", "url": "/f/a-1.whl", "size": 12, '
        f'"hashes": {{"sha256": "{HASH}"}}}}, '
        '{"filename": "b-1.whl", "url": "https://c.example/b-1.whl", "hashes": {}}]}'
    )
    assert links_of(page, JSON, "https://i.example/simple/a/") == [
        Link("a-1.whl", "https://i.example/f/a-1.whl", HASH, 12),
        Link("b-1.whl", "https://c.example/b-1.whl"),
    ]


@pytest.mark.parametrize("page", ["{}", "[]", "nothing", '{"files": [1]}', '{"files": [{}]}'])
def test_what_is_no_list_of_files_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        links_of(page, JSON, "https://i.example/simple/a/")


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("<a href=a>" * 200_000, "text/html"),
        ('{"files": [' + '{"filename": "a", "url": "b"},' * 200_000 + "{}]}", JSON),
        ('{"files": ' + "[" * 100_000, JSON),
    ],
)
def test_a_page_without_an_end_is_none(page: str, kind: str) -> None:
    with pytest.raises(ValueError, match=r"more files than any|not a list"):
        links_of(page, kind, "https://index.invalid/a/")
