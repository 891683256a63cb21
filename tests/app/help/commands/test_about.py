"""`hearth about`: versions and licences in the terminal."""

from __future__ import annotations

import json

import pytest

from app import __version__
from tests.support.terminal import Hearth


def test_versions_are_told(hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth("about", "--json") == 0
    assert json.loads(capsys.readouterr().out)["Hearth"] == __version__


def test_all_parts_are_listed_with_their_licences(
    hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("about", "--licences") == 0
    lines = capsys.readouterr().out.splitlines()
    assert ["Inter", "4.001", "OFL-1.1"] in [line.split() for line in lines]
    assert hearth("about", "--licences", "--json") == 0
    parts = {it["name"]: it for it in json.loads(capsys.readouterr().out)}
    assert parts["Inter"]["texts"]["OFL-Inter.txt"].startswith("Copyright")
    assert "llama.cpp" in parts["llama_cpp_python"]["needs"]


def test_the_licence_of_one_part_is_told_in_full(
    hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("about", "qt") == 0
    said = capsys.readouterr().out
    assert said.startswith("Qt 6")
    assert "which you may replace" in said
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in said


def test_what_is_no_part_is_refused(hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth("about", "banana") == 1
    assert "not a part of Hearth" in capsys.readouterr().err
