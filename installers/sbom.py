"""Makes a bundle's bill of materials in CycloneDX 1.6, the same for the same commit.

It lists the parts that `licences.py` found, with the locks' hashes of the installed files, and the
dependencies between the parts.
"""

from __future__ import annotations

import json
import re
import tomllib
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from installers.licences import Part, key_of, slug

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ROOT / "installers" / "lock"
NAME = "sbom.cdx.json"
_OWN_PART = "hearth"
_TOOLS = ("pyinstaller",)
"""Parts that were also used to make the bundle."""
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "io.github.hearth.Hearth")
_LOCKED = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^\s;]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def write(bundle: Path, parts: Sequence[Part], version: str, seconds: int) -> Path:
    """Write the bill of materials into a bundle, and return its path.

    Args:
        seconds: The time of the commit, which becomes that of the bill, in seconds since 1970.
    """
    path = bundle / NAME
    value = bill(parts, version, seconds, own_bills(bundle))
    words = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)
    path.write_text(words + "\n", encoding="utf-8", newline="\n")
    return path


def own_bills(bundle: Path) -> dict[str, list[str]]:
    """Return the bills that packages have of code compiled into them, by the package's name."""
    bills: dict[str, list[str]] = {}
    for path in sorted(bundle.rglob("*.dist-info/sboms/*.json")):
        name = key_of(path.parents[1].name.split("-")[0])
        bills.setdefault(name, []).append(path.relative_to(bundle).as_posix())
    return bills


def bill(
    parts: Sequence[Part],
    version: str,
    seconds: int,
    own: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the bill of materials as a value.

    Args:
        own: The bills that parts have themselves, by the part's name.
    """
    hashes = locked()
    parts_by_key = {
        key_of(part.name): part for part in sorted(parts, key=lambda part: key_of(part.name))
    }
    own_part = parts_by_key.pop(_OWN_PART, Part("Hearth", version, "Apache-2.0", ""))
    components = [_component(part, hashes, own.get(key, ())) for key, part in parts_by_key.items()]
    refs = {key: part["bom-ref"] for key, part in zip(parts_by_key, components, strict=True)}
    root = f"hearth@{version}"
    body = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": own_part.name,
                "version": version,
                "purl": f"pkg:generic/{root}",
                "licenses": _licences(own_part.licence),
            },
            "tools": {
                "components": [
                    {"type": "application", "name": part.name, "version": part.version}
                    for key, part in parts_by_key.items()
                    if key in _TOOLS
                ]
            },
            "lifecycles": [{"phase": "build"}],
        },
        "components": components,
        "dependencies": [
            {"ref": root, "dependsOn": sorted(_roots(parts_by_key, refs))},
            *(
                {"ref": refs[key], "dependsOn": sorted(_refs(part.needs, refs))}
                for key, part in parts_by_key.items()
            ),
        ],
    }
    text = json.dumps(body, ensure_ascii=False, sort_keys=True)
    return {"serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, text)}", **body}


def locked() -> Mapping[tuple[str, str], Sequence[str]]:
    """Return the hashes in the locks, by name and version of the packages."""
    hashes: dict[tuple[str, str], list[str]] = {}
    for lock in ("app.txt", "native.txt", "package.txt"):
        path = LOCKS / lock
        current: list[str] = []
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            if match := _LOCKED.match(line):
                current = hashes.setdefault((key_of(match["name"]), match["version"]), [])
            current += _HASH.findall(line)
    return hashes


def purl(part: Part, hashes: Mapping[tuple[str, str], Sequence[str]]) -> str:
    """Return a part's package URL: that of its index, of its repository, or a generic one."""
    if part.purl:
        return part.purl
    if (key_of(part.name), part.version) in hashes:
        return f"pkg:pypi/{key_of(part.name)}@{part.version}"
    address = urlsplit(part.source)
    owner_and_name = address.path.strip("/").removesuffix(".git").split("/")
    kind = "generic"
    name = slug(part.name)
    if address.hostname == "github.com" and len(owner_and_name) == 2:
        kind, name = "github", "/".join(owner_and_name).lower()
    return f"pkg:{kind}/{name}@{part.version}" if part.version else f"pkg:{kind}/{name}"


def _component(
    part: Part, hashes: Mapping[tuple[str, str], Sequence[str]], own: Sequence[str]
) -> dict[str, Any]:
    locked_hashes = hashes.get((key_of(part.name), part.version), ())
    package_url = purl(part, hashes)
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": f"{slug(part.name)}@{part.version}",
        "name": part.name,
        "purl": package_url,
        "licenses": _licences(part.licence),
    }
    if part.version:
        component["version"] = part.version
    sources = [{"type": "vcs", "url": part.source}] if part.source else []
    if references := [*sources, *({"type": "bom", "url": entry} for entry in own)]:
        component["externalReferences"] = references
    if len(locked_hashes) == 1:
        component["hashes"] = [{"alg": "SHA-256", "content": locked_hashes[0]}]
    elif locked_hashes:
        # The lock has a hash for each system's file, and one of these files was installed.
        component["properties"] = [
            {"name": "hearth:locked:sha256", "value": entry} for entry in sorted(locked_hashes)
        ]
    return component


def _licences(expression: str) -> list[dict[str, Any]]:
    """Return a licence in CycloneDX's form: an id, or an expression."""
    if re.search(r" (AND|OR|WITH) |LicenseRef-", expression):
        return [{"expression": expression}]
    return [{"license": {"id": expression}}]


def _roots(named: Mapping[str, Part], refs: Mapping[str, str]) -> Iterable[str]:
    """Return what Hearth uses directly: its dependencies, and parts that no other part needs."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        dependencies = tomllib.load(file)["project"]["dependencies"]
    own = {key_of(re.split(r"[^\w.-]", name)[0]) for name in dependencies}
    used = {key_of(name) for part in named.values() for name in part.needs}
    return {refs[key] for key in refs if key in own or key not in used}


def _refs(needs: Iterable[str], refs: Mapping[str, str]) -> Iterator[str]:
    for name in needs:
        if key_of(name) in refs:
            yield refs[key_of(name)]
