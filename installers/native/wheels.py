"""The portable wheel of llama-cpp-python: its description, and whether it can be used here.

`build.py` makes it, and `run.py` installs it instead of compiling. Standard library only.
"""

import base64
import hashlib
import json
import platform
import re
import shutil
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

DESCRIPTION = "hearth.json"
"""A file in the wheel's dist-info that says how it was built, and for which computers."""
ADVICE = (
    "Make one here: python3 installers/native/build.py. Or have llama.cpp compiled: "
    "run.py --backend {}"
)
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The time of every file, so that wheels of the same content are the same. It is ZIP's earliest."""


def pinned(lock: Path) -> tuple[str, str]:
    """Return the version of llama-cpp-python in its lock, and the hash of its source."""
    match = re.search(r"llama-cpp-python==(\S+).*?sha256:(\w+)", lock.read_text(), re.DOTALL)
    return (match[1], match[2]) if match else ("", "")


def this_system() -> str:
    """Return this computer's system and kind of processor, as a wheel names them."""
    return f"{sys.platform} {platform.machine().lower()}"


def read_description(wheel: Path) -> dict[str, Any]:
    """Return the description that build.py wrote into a wheel; empty for any other wheel."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = (
                name for name in archive.namelist() if name.endswith(f".dist-info/{DESCRIPTION}")
            )
            description = json.loads(archive.read(next(names)))
    except (OSError, ValueError, StopIteration, zipfile.BadZipFile):
        return {}
    return description if isinstance(description, dict) else {}


def why_unusable(wheel: Path, lock: Path) -> str:
    """Return why a wheel cannot be used here, as a sentence; "" if it can."""
    if not wheel.is_file():
        return f"There is no file {wheel}."
    description = read_description(wheel)
    if not description:
        return f"{wheel.name} was not made by installers/native/build.py, or is damaged."
    return next((f"{wheel.name} {reason}" for reason in _reasons(description, *pinned(lock))), "")


def _reasons(description: dict[str, Any], version: str, source: str) -> Iterator[str]:
    if description["llama_cpp_python"] != version:
        other = description["llama_cpp_python"]
        yield f"has llama-cpp-python {other}, and this Hearth needs {version}."
    if description["source"] != source:
        yield "was built from another source than this Hearth is made for."
    if (system := f"{description['system']} {description['machine']}") != this_system():
        yield f"is for {system}, and this is {this_system()}."
    present = {"glibc": platform.libc_ver()[1], "macOS": platform.mac_ver()[0]}
    for library, minimum in description["needs"].items():
        if present.get(library) and numbers(present[library]) < numbers(minimum):
            yield f"needs {library} {minimum}, and this system has {present[library]}."


def numbers(version: str) -> list[int]:
    """Return the numbers of a version, for comparisons."""
    return [int(digits) for digits in re.findall(r"\d+", version)]


def in_folder(folder: Path) -> list[Path]:
    """Return the wheels in a folder, the newest first."""
    return sorted(
        folder.glob("llama_cpp_python-*.whl"), key=lambda wheel: wheel.stat().st_mtime, reverse=True
    )


def key(wheel: Path) -> str:
    """Return a hash of a wheel's list of hashes, which takes a millisecond to read."""
    with zipfile.ZipFile(wheel) as archive:
        record = next(name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
        return hashlib.sha256(archive.read(record)).hexdigest()[:16]


def copy_into(wheel: Path, folder: Path) -> None:
    """Copy a wheel into a folder of its own, which then exists completely or not at all."""
    part = folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    shutil.copy(wheel, part)
    part.replace(folder)


def store(cache: Path, name: str) -> None:
    """Store which folder of the cache has the wheel that was named last; "" forgets it."""
    new_file = cache / "wheel.new"
    new_file.write_text(name, encoding="utf-8")
    new_file.replace(cache / "wheel")


def stored(cache: Path) -> Path | None:
    """Return the wheel that was named last; None if there is none."""
    file = cache / "wheel"
    name = file.read_text(encoding="utf-8").strip() if file.exists() else ""
    return next((cache / name).glob("*.whl"), None) if name else None


def floor(contents: Iterable[bytes], name: str) -> str:
    """Return the newest version of a library's symbols in compiled files: `2.34` of GLIBC."""
    pattern = re.compile(rf"{name}_(\d+(?:\.\d+)+)\0".encode())
    versions = {version.decode() for content in contents for version in pattern.findall(content)}
    return max(versions, key=numbers, default="")


def finish(wheel: Path, out: Path, description: dict[str, Any], platform_tag: str) -> Path:
    """Rewrite pip's wheel with its description and its tag, and without the date.

    Files are sorted by name, but the dist-info comes last, as the format recommends.
    """
    with zipfile.ZipFile(wheel) as archive:
        files = {
            entry_info.filename: archive.read(entry_info)
            for entry_info in archive.infolist()
            if not entry_info.is_dir()
        }
    record = next(name for name in files if name.endswith(".dist-info/RECORD"))
    folder = record.rpartition("/")[0]
    tags, tag = f"{folder}/WHEEL", f"py3-none-{platform_tag}"
    text = re.sub(r"(?m)^Tag: .*(?:\n|\Z)", "", files[tags].decode()).rstrip()
    files[tags] = f"{text}\nTag: {tag}\n".encode()
    files[f"{folder}/{DESCRIPTION}"] = (json.dumps(description, indent=2) + "\n").encode()
    del files[record]
    names = sorted(files, key=lambda name: (name.startswith(f"{folder}/"), name))
    rows = [f"{name},sha256={_digest(files[name])},{len(files[name])}" for name in names]
    files[record] = ("\n".join([*rows, f"{record},,"]) + "\n").encode()
    out.mkdir(parents=True, exist_ok=True)
    target = out / f"{folder.removesuffix('.dist-info')}-{tag}.whl"
    part = target.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in [*names, record]:
            mode = 0o755 if name.startswith("llama_cpp/lib/") else 0o644
            archive.writestr(entry(name, mode), files[name], compresslevel=9)
    part.replace(target)
    return target


def entry(name: str, mode: int) -> zipfile.ZipInfo:
    """Return a file's entry in a ZIP, the same on every day and system."""
    info = zipfile.ZipInfo(name, _FIRST_DAY)
    info.external_attr, info.create_system = (0o100000 | mode) << 16, 3
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
