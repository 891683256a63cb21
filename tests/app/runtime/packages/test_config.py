"""Finding the user's package indexes, from the real uv and from pip's files and variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.base.errors import EngineNotMade
from app.runtime.packages.config import Indexes, combined, configured_indexes, pip_settings
from engines.vllm.provision.environment import uv

STANDARD = Indexes(("https://standard.example/simple",))


@pytest.fixture
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Set up a home without settings, and return the path of pip's file, which does not exist."""
    import os

    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "xdg"))
    (tmp_path / "config" / "pip").mkdir(parents=True)
    file = tmp_path / "config" / "pip" / "pip.conf"
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    return file


def test_where_nothing_is_set_it_is_uvs_standard(nothing_set: Path) -> None:
    nothing_set.write_text("[global]\nindex-url =\nextra-index-url =\nfind-links =\n")
    found = configured_indexes(uv())
    assert len(found.indexes) == 1
    assert found.indexes[0].startswith("https://")
    assert not found.links


def test_an_index_of_pips_takes_the_standards_place(nothing_set: Path) -> None:
    nothing_set.write_text(
        "[global]\nindex-url = https://me:word@one.example/simple\n"
        "extra-index-url =\n    https://two.example/simple\n    file:///three\n"
        "[install]\nfind-links = /wheels https://four.example/links.html\n"
    )
    found = configured_indexes(uv())
    assert found.indexes == (
        "https://me:word@one.example/simple",
        "https://two.example/simple",
        "file:///three",
    )
    assert found.links == ("/wheels", "https://four.example/links.html")


def test_uvs_settings_count_as_well(
    nothing_set: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nothing_set.write_text("[global]\nextra-index-url = https://five.example/simple\nfind-links=\n")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://one.example/simple")
    monkeypatch.setenv("UV_INDEX", "https://two.example/simple")
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path))
    found = configured_indexes(uv())
    assert set(found.indexes) == {
        "https://one.example/simple",
        "https://two.example/simple",
        "https://five.example/simple",
    }
    assert found.links == (str(tmp_path),)


def test_settings_that_uv_cannot_use_are_told(
    nothing_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_FIND_LINKS", "/there/is/no/such/folder")
    with pytest.raises(EngineNotMade, match="no/such/folder"):
        configured_indexes(uv())


def test_what_uv_says_of_an_address_shows_no_password(
    nothing_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://me:word@one.example:port/simple")
    with pytest.raises(EngineNotMade) as caught:
        configured_indexes(uv())
    assert "one.example" in caught.value.why
    assert "word" not in str(caught.value)


def test_variables_win_over_files(nothing_set: Path) -> None:
    nothing_set.write_text("[global]\nindex-url = https://file.example/simple\n")
    named = {"PIP_CONFIG_FILE": str(nothing_set), "PIP_INDEX_URL": "https://variable.example/s"}
    assert pip_settings(named)["index-url"] == "https://variable.example/s"


def test_a_file_that_pip_could_not_read_either_is_left_out(nothing_set: Path) -> None:
    nothing_set.write_text("index-url without a section")
    assert "nowhere.example" not in str(pip_settings({"PIP_CONFIG_FILE": str(nothing_set)}))


def test_without_an_index_only_folders_are_looked_at() -> None:
    found = combined(STANDARD, STANDARD, {"no-index": "true", "find-links": "/wheels"})
    assert found == Indexes((), ("/wheels",))
