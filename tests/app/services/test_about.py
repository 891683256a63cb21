"""What Hearth says of itself."""

from __future__ import annotations

from app import __version__
from app.services.about import about


def test_versions_and_the_licence_of_every_part_are_known() -> None:
    found = about("")
    versions = dict(found.versions)
    assert versions["Hearth"] == __version__
    assert versions["llama-cpp-python"]
    assert "vLLM" not in versions
    assert dict(about("0.33.0").versions)["vLLM"] == "0.33.0"
    names = {it.name.lower().replace("_", "-") for it in found.parts}
    assert {"pyside6-essentials", "numpy", "llama-cpp-python", "inter"} <= names
    assert "pytest" not in names
    assert all(it.version for it in found.parts)
