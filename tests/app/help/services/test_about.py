"""Hearth's information about itself: versions and parts."""

from __future__ import annotations

from app import __version__
from app.base.shipped import LICENCES
from app.help.services.about import about
from app.help.services.licences import Licences


def test_versions_and_parts_are_known() -> None:
    found = about("", Licences(LICENCES))
    versions = dict(found.versions)
    assert versions["Hearth"] == __version__
    assert versions["llama-cpp-python"]
    assert "vLLM" not in versions
    assert dict(about("0.33.0", Licences(LICENCES)).versions)["vLLM"] == "0.33.0"
    assert found.parts == Licences(LICENCES).all()
