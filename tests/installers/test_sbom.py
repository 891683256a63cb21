"""The bill of materials: valid by CycloneDX's own schema, complete, and the same for one commit."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from installers import licences, sbom
from installers.licences import Part

SECONDS = 1_700_000_000


@pytest.fixture(scope="module")
def parts() -> list[Part]:
    found = licences.parts_of_hearth(Path(sys.executable))
    library = Part("OpenSSL", "3.0", "Apache-2.0", "https://openssl.org", purl="pkg:deb/debian/x@3")
    return [*found, library]


@pytest.fixture(scope="module")
def bill(parts: list[Part]) -> dict[str, Any]:
    return sbom.bill(parts, "1.2.3", SECONDS)


def components(bill: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {it["name"]: it for it in bill["components"]}


def test_it_is_what_cyclonedx_says_it_should_be(bill: dict[str, Any]) -> None:
    said = JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill))
    assert said is None


def test_every_part_is_in_it_once_and_has_a_licence(
    bill: dict[str, Any], parts: list[Part]
) -> None:
    names = [it["name"] for it in bill["components"]]
    assert sorted(names) == sorted(it.name for it in parts if it.name != "Hearth")
    refs = [it["bom-ref"] for it in bill["components"]]
    assert len(refs) == len(set(refs))
    assert all(it["licenses"] for it in bill["components"])


def test_packages_are_named_and_known_by_the_hashes_of_the_lock(bill: dict[str, Any]) -> None:
    llama = components(bill)["llama_cpp_python"]
    assert llama["purl"].startswith("pkg:pypi/llama-cpp-python@0.3.")
    lock = (sbom.LOCKS / "native.txt").read_text(encoding="utf-8")
    assert [f"sha256:{it['content']}" for it in llama["hashes"]] == re.findall(r"sha256:\w+", lock)
    numpy = components(bill)["numpy"]
    assert len(numpy["properties"]) > 10
    assert components(bill)["llama.cpp"]["purl"].startswith("pkg:github/ggml-org/llama.cpp@0c1e")
    assert components(bill)["OpenSSL"]["purl"] == "pkg:deb/debian/x@3"


def test_what_uses_what_reaches_every_part(bill: dict[str, Any]) -> None:
    uses = {it["ref"]: it["dependsOn"] for it in bill["dependencies"]}
    reached, waiting = set(), [bill["metadata"]["component"]["bom-ref"]]
    while waiting:
        ref = waiting.pop()
        if ref not in reached:
            reached.add(ref)
            waiting += uses[ref]
    assert reached == set(uses)
    llama = components(bill)["llama_cpp_python"]["bom-ref"]
    assert components(bill)["llama.cpp"]["bom-ref"] in uses[llama]


def test_it_is_the_same_for_the_same_parts_and_another_for_others(
    tmp_path: Path, parts: list[Part]
) -> None:
    first = sbom.write(tmp_path, parts, "1.2.3", SECONDS).read_bytes()
    again = sbom.write(tmp_path, list(reversed(parts)), "1.2.3", SECONDS).read_bytes()
    assert first == again
    other = sbom.bill(parts[1:], "1.2.3", SECONDS)
    assert json.loads(first)["serialNumber"] != other["serialNumber"]
    assert json.loads(first)["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"


def test_a_package_that_says_what_was_compiled_into_it_is_referred_to(
    tmp_path: Path, parts: list[Part]
) -> None:
    inside = tmp_path / "_internal" / "cryptography-50.0.2.dist-info" / "sboms"
    inside.mkdir(parents=True)
    (inside / "rust.json").write_text("{}", encoding="utf-8")
    made = sbom.write(tmp_path, parts, "1.2.3", SECONDS).read_text(encoding="utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(made) is None
    references = components(json.loads(made))["cryptography"]["externalReferences"]
    assert references[-1] == {
        "type": "bom",
        "url": "_internal/cryptography-50.0.2.dist-info/sboms/rust.json",
    }
