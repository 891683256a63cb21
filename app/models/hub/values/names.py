"""Parses names of models on the Hub as people write them, strictly: pure.

hub_name("owner/name:Q4_K_M").quantisation
hub_name("https://huggingface.co/owner/name/blob/main/model.gguf").file
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from app.base.errors import HubNameInvalid
from engines.sentences import N_

HUBS: Final = ("huggingface.co", "www.huggingface.co", "hf.co")
_PART: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?"
_REPO: Final = re.compile(rf"{_PART}/{_PART}")
_LONGEST: Final = 96  # the Hub's own limit
_QUANTISATION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_OTHER_KINDS: Final = {
    "api", "buckets", "collections", "datasets", "docs", "kernels", "models", "papers", "settings",
    "spaces",
}  # fmt: skip
_DEVICES: Final = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")


@dataclass(frozen=True)
class HubName:
    """A repository, optionally with one of its quantisations or files.

    Attributes:
        repo: "owner/name".
        quantisation: As the user wrote it.
        file: Path in the repository.
        revision: A branch, tag or commit, if the address names one.
    """

    repo: str
    quantisation: str | None = None
    file: str | None = None
    revision: str | None = None


def hub_name(text: str, hosts: Collection[str] = HUBS) -> HubName:
    """Parse owner/name, owner/name:QUANT, owner/name/file.gguf or an address on the Hub.

    Args:
        hosts: Host names that belong to the Hub.

    Raises:
        HubNameInvalid: The text is none of these.
    """
    text = text.strip()
    address = _address(text, hosts)
    if address is not None:
        return _from_address(text, address, hosts)
    name, colon, quantisation = text.partition(":")
    owner_and_name, file = _parts(text, name)
    if colon and (file is not None or not _QUANTISATION.fullmatch(quantisation)):
        raise _invalid(text, N_("After the colon there is one quantisation, such as Q4_K_M."))
    return HubName(_repo(text, owner_and_name), quantisation or None, file)


def is_hub_name(text: str, hosts: Collection[str] = HUBS) -> bool:
    """Return whether the text looks like a model on the Hub rather than a path or an id."""
    if text.startswith((".", "/", "~")) or "\\" in text:
        return False
    try:
        hub_name(text, hosts)
    except HubNameInvalid:
        return _address(text.strip(), hosts) is not None
    return True


def is_repo(name: str) -> bool:
    """Return whether the text can be a repository's name, by the Hub's own rules."""
    usual = _REPO.fullmatch(name) is not None and len(name) <= _LONGEST
    return usual and "--" not in name and ".." not in name and not name.endswith(".git")


def is_safe_path(path: str) -> bool:
    """Return whether a server's path stays inside the folder it is joined to, on any system."""
    if not path.isprintable() or "\\" in path or ":" in path or len(path.encode()) > 1024:
        return False
    parts = path.split("/")
    return all(
        part not in ("", ".", "..")
        and not part.endswith((" ", "."))
        and len(part.encode()) <= 255
        and not _DEVICES.fullmatch(part)
        for part in parts
    )


def _address(text: str, hosts: Collection[str]) -> SplitResult | None:
    """Parse the text as an address, with or without its scheme; return None if it is not one."""
    if text.lower().startswith(("http://", "https://")):
        return urlsplit(text)
    if text.lower().startswith(tuple(f"{host}/" for host in hosts)):
        return urlsplit(f"https://{text}")
    return None


def _from_address(text: str, address: SplitResult, hosts: Collection[str]) -> HubName:
    if address.netloc.lower() not in hosts:
        raise _invalid(text, N_("It is the address of a site other than the Hub."))
    parts = [unquote(part) for part in address.path.strip("/").split("/")]
    if parts and parts[0] in _OTHER_KINDS:
        raise _invalid(text, N_("It is the address of something else on the Hub."))
    if len(parts) < 2:
        raise _invalid(text, N_("It names no repository."))
    name, _, quantisation = parts[1].partition(":")
    repo = _repo(text, [parts[0], name])
    query_file = parse_qs(address.query).get("show_file_info")
    if len(parts) == 2:
        return HubName(
            repo, quantisation or None, _file(text, query_file[0]) if query_file else None
        )
    kind, revision, path_parts = parts[2], "/".join(parts[3:4]), parts[4:]
    if kind not in ("blob", "resolve", "raw", "tree") or not revision:
        return HubName(repo)
    file = (
        "/".join(path_parts)
        if path_parts and kind != "tree"
        else query_file[0]
        if query_file
        else None
    )
    return HubName(repo, None, _file(text, file) if file else None, revision)


def _parts(text: str, name: str) -> tuple[list[str], str | None]:
    parts = name.split("/")
    if len(parts) < 2:
        raise _invalid(text, N_("It has no owner."))
    file = "/".join(parts[2:]) or None
    return parts[:2], _file(text, file) if file else None


def _repo(text: str, parts: list[str]) -> str:
    repo = "/".join(parts)
    if not is_repo(repo):
        raise _invalid(
            text, N_("Owner and name consist of letters, digits, dots, dashes and underscores.")
        )
    return repo


def _file(text: str, path: str) -> str:
    if not is_safe_path(path) or PurePosixPath(path).suffix.lower() != ".gguf":
        raise _invalid(text, N_("“{path}” is not a GGUF file of a repository.", path=path))
    return path


def _invalid(text: str, why: str) -> HubNameInvalid:
    return HubNameInvalid(
        N_("“{text}” is not the name of a model on the Hub.", text=text),
        why,
        N_(
            "Write owner/name, owner/name:QUANT or owner/name/file.gguf, or paste the address of "
            "its "
            "page."
        ),
    )
