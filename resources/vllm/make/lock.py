"""Make the lock of a profile anew: `python resources/vllm/make/lock.py PROFILE [options]`.

uv resolves the requirements for all systems and versions of Python that the profile names, without
downloading the packages. A version that is locked stays as long as the recipe allows it, unless
--upgrade is given. The lock names files, never where they lie.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
import tomllib
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx2
from packaging.markers import Marker
from packaging.utils import parse_wheel_filename
from uv import find_uv_bin

MAKE = Path(__file__).resolve().parent
OUT = MAKE.parent
LARGE = re.compile(
    "nvidia|torch|triton|^vllm|flashinfer|cuda|cupy|tilelang|llvmlite|opencv|scipy|numba|xgrammar"
    "|ray$|tvm|transformers|numpy|quack|tokenspeed|fastsafetensors|outlines|mistral|llguidance"
    "|sentencepiece|pillow|grpcio|pandas|pyarrow|aiohttp|cryptography|sympy|deep"
)
"""Projects whose files may be large."""


def main(profile: str, wheels: Path | None, *, upgrade: bool) -> None:
    recipe = MAKE / profile / "pyproject.toml"
    facts = tomllib.loads(recipe.read_text(encoding="utf-8"))
    targets = environments(facts)
    lines, files = [], {}
    before = known(profile)
    preferred = [] if upgrade else versions(profile)
    for package in resolved(recipe, preferred)["packages"]:
        marker = package.get("marker")
        applies = [it for it in targets if marker is None or Marker(marker).evaluate(it)]
        suiting = [it for it in package.get("wheels", []) if suits(name_of(it), targets)]
        if not applies:
            continue
        if not suiting:
            raise SystemExit(f"{package['name']} {package['version']} has no wheel")
        needed = f"{package['name']}=={package['version']}"
        if len(applies) < len(targets):
            needed += f" ; {marker}"
        hashes = sorted({it["hashes"]["sha256"] for it in suiting})
        lines.append(" \\\n".join([needed, *(f"    --hash=sha256:{it}" for it in hashes)]))
        for wheel in suiting:
            name = name_of(wheel)
            files[name] = [size_of(wheel, wheels, before), wheel["hashes"]["sha256"]]
    own = facts["tool"]["hearth"]
    made = {
        "version": facts["project"]["dependencies"][0].partition("==")[2],
        "distribution": own["distribution"],
        "pythons": [[int(part) for part in it.split(".")] for it in own["pythons"]],
        "disk_bytes": own["disk_bytes"],
    }
    (OUT / f"{profile}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (OUT / f"{profile}.json").write_text(written(made, files), encoding="utf-8")
    unknown = sum(not size for size, _ in files.values())
    print(f"{len(lines)} packages, {len(files)} files, {unknown} of unknown size")


def resolved(recipe: Path, preferred: list[tuple[str, str]]) -> dict[str, Any]:
    """Resolve a recipe. preferred: projects and versions to keep where the recipe allows them."""
    facts = tomllib.loads(recipe.read_text(encoding="utf-8"))
    own = facts["tool"]["hearth"]
    oldest = min(own["pythons"], key=lambda it: int(it.split(".")[1]))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "pylock.toml"
        # uv prefers the versions that it finds in its output file.
        rows = [f'[[packages]]\nname = "{it}"\nversion = "{of}"\n' for it, of in preferred]
        head = 'lock-version = "1.0"\ncreated-by = "hearth"\n'
        out.write_text(head + "".join(rows), encoding="utf-8")
        command = [
            find_uv_bin(), "pip", "compile", str(recipe), "--universal", "--python-version", oldest,
            "--only-binary", ":all:", "--format", "pylock.toml", "--output-file", str(out),
        ]  # fmt: skip
        for option in ("overrides", "excludes"):
            listed = Path(folder) / f"{option}.txt"
            listed.write_text("\n".join(own[option]), encoding="utf-8")
            command += [f"--{option}", str(listed)]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=os.environ)
        return tomllib.loads(out.read_text(encoding="utf-8"))


def environments(facts: dict[str, Any]) -> list[dict[str, str]]:
    """All that a lock is for, as what markers are evaluated with."""
    machines = re.findall(
        r"platform_machine == '(\w+)'", " ".join(facts["tool"]["uv"]["environments"])
    )
    return [
        {
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "os_name": "posix",
            "sys_platform": "linux",
            "platform_system": "Linux",
            "platform_machine": machine,
            "python_version": python,
            "python_full_version": f"{python}.9",
        }
        for machine, python in product(machines, facts["tool"]["hearth"]["pythons"])
    ]


def suits(name: str, targets: list[dict[str, str]]) -> bool:
    """Whether a wheel can be what one of the targets takes, as its name tells."""
    machines = {it["platform_machine"] for it in targets}
    pythons = {"cp" + it["python_version"].replace(".", "") for it in targets}
    for tag in parse_wheel_filename(name)[3]:
        system = tag.platform == "any" or (
            re.match("(many)?linux", tag.platform) and tag.platform.endswith(tuple(machines))
        )
        old = re.fullmatch(r"cp3(\d+)", tag.interpreter)
        interpreter = (
            tag.interpreter in pythons
            or tag.interpreter.startswith("py3")
            or (tag.abi == "abi3" and old and int(old[1]) <= 14)
        )
        if system and interpreter and tag.abi in {"none", "abi3", *pythons}:
            return True
    return False


def name_of(wheel: dict[str, Any]) -> str:
    if "name" in wheel:
        return str(wheel["name"])
    return unquote(urlsplit(wheel.get("url") or wheel["path"]).path).rsplit("/", 1)[-1]


def size_of(wheel: dict[str, Any], wheels: Path | None, before: dict[str, int]) -> int:
    name = name_of(wheel)
    if "size" in wheel:
        return int(wheel["size"])
    if wheels is not None and (wheels / name).exists():
        return (wheels / name).stat().st_size
    address = wheel.get("url", "")
    if before.get(wheel["hashes"]["sha256"]) or not address.startswith("http"):
        return before.get(wheel["hashes"]["sha256"], 0)
    if not LARGE.search(name.lower()):
        return 0
    answer = httpx2.head(address, follow_redirects=True, timeout=60)
    return int(answer.raise_for_status().headers["content-length"])


def versions(profile: str) -> list[tuple[str, str]]:
    """Return the projects of the present lock with their versions; some have two."""
    lock = OUT / f"{profile}.txt"
    text = lock.read_text(encoding="utf-8") if lock.exists() else ""
    return re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)


def known(profile: str) -> dict[str, int]:
    """Sizes that the present lock has, by hash."""
    try:
        files = json.loads((OUT / f"{profile}.json").read_text(encoding="utf-8"))["files"]
    except FileNotFoundError:
        return {}
    return {sha256: size for size, sha256 in files.values()}


def written(made: dict[str, Any], files: dict[str, list[Any]]) -> str:
    """JSON with a line for each file."""
    head = json.dumps(made)[:-1]
    rows = ",\n".join(
        f"    {json.dumps(name)}: {json.dumps(files[name])}" for name in sorted(files)
    )
    return f'{head}, "files": {{\n{rows}\n}}}}\n'


if __name__ == "__main__":
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    words.add_argument("profile", choices=sorted(it.parent.name for it in MAKE.glob("*/*.toml")))
    words.add_argument(
        "--wheels",
        type=Path,
        help="a folder with wheels of this lock, to read their sizes from; of the others, the size"
        " is asked for where the project's name suggests a large file, else it counts as unknown",
    )
    words.add_argument("--upgrade", action="store_true", help="take the newest versions")
    given = words.parse_args()
    main(given.profile, given.wheels, upgrade=given.upgrade)
