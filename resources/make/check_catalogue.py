"""Compares the catalogue with the Hub: repositories, names and sizes of files, licences, gates.

Run from the repository root, with a network:

    python -m resources.make.check_catalogue

Every difference is a sentence. It ends with 1 if there are some, and with 2 if the Hub could not be
asked for everything. The day of a check that came through is written into the catalogue; the next
one begins with how long ago that was. HF_TOKEN is the account's that asks, if it is set, and
HF_ENDPOINT names a mirror.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path

from app.base.errors import AppError, GatedRepository, RepositoryUnknown
from app.models.discover.values.catalogue import Catalogue, Fact, Licence, Size, load_catalogue
from app.models.discover.values.catalogue_sizes import known_sizes
from app.models.discover.values.placing import file_key
from app.models.downloads.values.requests import checkpoint_request
from app.models.hub.client import Hub
from app.models.hub.values.hub import Repository
from app.net import Gate

CATALOGUE = Path(__file__).resolve().parents[1] / "catalogue.json"

Found = Mapping[str, Repository | str]
"""What the Hub says of each repository, or why it has nothing to say."""

_NEAR = 0.01
"""A size is right within this part of it, or as far as its last digit tells."""


def main(catalogue: Path, today: date) -> int:
    """Print what differs, and return the exit status."""
    text = catalogue.read_text(encoding="utf-8")
    listed = load_catalogue(text)
    print(age(listed.checked, today))
    gate = Gate(lambda _: None, lambda: False)
    try:
        found = asked(Hub(gate, lambda: os.environ.get("HF_TOKEN")), listed)
    except AppError as error:
        print(f"The catalogue could not be checked. {error.what} {error.why} {error.do}")
        return 2
    finally:
        gate.close()
    differing = list(differences(listed, found))
    print(*differing, sep="\n", end="\n" if differing else "")
    print(f"Repositories looked at: {len(found)}. Differences: {len(differing)}.")
    dated = re.sub(r'^( "checked": )[^,\n]+', rf'\1"{today}"', text, count=1, flags=re.MULTILINE)
    catalogue.write_text(dated, encoding="utf-8", newline="\n")
    return 1 if differing else 0


def age(checked: date | None, today: date) -> str:
    if checked is None:
        return "The catalogue has never been compared with the Hub as a whole."
    days = (today - checked).days
    ago = "today" if not days else "yesterday" if days == 1 else f"{days} days ago"
    return f"The catalogue was last compared with the Hub on {checked}, {ago}."


def asked(hub: Hub, catalogue: Catalogue) -> Found:
    """Ask for every repository once. Raises an AppError that would meet all of them."""
    found: dict[str, Repository | str] = {}
    for repo in dict.fromkeys(
        repo for size in catalogue.sizes.values() for repo in _repositories(size)
    ):
        try:
            found[repo] = hub.repository(repo, purpose="refresh the catalogue")
        except (RepositoryUnknown, GatedRepository) as error:
            found[repo] = f"{error.what} {error.why}"
    return found


def differences(catalogue: Catalogue, found: Found) -> Iterator[str]:
    known = {repo: it for repo, it in found.items() if isinstance(it, Repository)}
    sizes = known_sizes(catalogue, known)
    for family in catalogue.families:
        for size in family.sizes:
            licence = family.licence_of(size)
            for said in (*_terms(size, licence, found), *_files(size, sizes, found)):
                yield f"{size.name}: {said}"


def _repositories(size: Size) -> tuple[str, ...]:
    repos = [*size.repositories, *(it.repo for it in size.vllm)]
    repos += [size.projector.repo] if size.projector else []
    drafted = [it.speculative for it in size.vllm if it.speculative is not None]
    repos += [str(it["model"]) for it in drafted if "model" in it]
    return tuple(dict.fromkeys(repos))


def _terms(size: Size, licence: Licence, found: Found) -> Iterator[str]:
    """Compare which repositories there are, and under what terms."""
    for repo in _repositories(size):
        there = found[repo]
        if isinstance(there, str):
            yield f"{repo}: {there}"
            continue
        if there.id.lower() != repo.lower():
            yield f"{repo} is called {there.id} now."
        if (there.gate != "open") != licence.account:
            yield f"{repo} {'needs no' if licence.account else 'needs an'} account."
        said = {there.licence, *(it.partition("license:")[2] for it in there.tags)} - {None, ""}
        if said and licence.name not in said:
            yield f"{repo} has the licence {there.licence}, and the catalogue says {licence.name}."


def _files(size: Size, sizes: Mapping[str, int], found: Found) -> Iterator[str]:
    """Compare the files of those repositories that are there."""
    beside = filter(None, (size.drafter, size.projector))
    for key, repo, name, gb in (
        *((it.name, it.repo, it.quantisation, it.gb) for it in size.variants),
        *((file_key(it), it.repo, it.pattern, it.gb) for it in beside),
    ):
        there = found[repo]
        if key in sizes:
            yield from _bytes(key, sizes[key], gb)
        elif isinstance(there, Repository):
            has = ", ".join(it.path for it in there.files if it.path.endswith(".gguf"))
            yield f"{repo} has no {name}; it has {has or 'no GGUF file'}."
    for checkpoint in size.vllm:
        there = found[checkpoint.repo]
        if isinstance(there, Repository):
            wanted = checkpoint_request(there)
            if wanted is None:
                yield f"{checkpoint.repo} has no checkpoint."
            elif checkpoint.gb:
                yield from _bytes(checkpoint.repo, wanted.bytes_total, checkpoint.gb)


def _bytes(name: str, there: int, gb: Fact[float]) -> Iterator[str]:
    decimals = len(str(gb.value).partition(".")[2])
    if abs(there / 1e9 - gb.value) > max(_NEAR * gb.value, 0.5 * 10**-decimals):
        yield f"{name} has {there / 1e9:.3f} GB, and the catalogue says {gb.value} ({gb.source})."


if __name__ == "__main__":
    sys.exit(main(CATALOGUE, datetime.now(UTC).date()))
