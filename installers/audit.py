"""Looks up known vulnerabilities of locked versions: `python3 installers/audit.py`.

All versions in the locks are looked up at once at OSV (osv.dev), which collects the advisories of
PyPI, GitHub and others. No name of a user or computer is sent. The findings are in `audited.json`,
with their date. If the database cannot be reached, the program prints the age of that file and
exits with 0, because being offline is not a finding.

An advisory causes exit status 1, unless `accepted_advisories.toml` says why it does not matter
here:

    [[accepted]]
    id = "GHSA-…"           # or another of its names, such as the CVE's
    why = "Hearth never calls the function."
    until = 2027-01-31      # from then on it counts again; may be left out

Libraries of the system that a package is built on, and Qt, are not in the locks; their advisories
are published by the system and by Qt.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tomllib
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATABASE = "https://api.osv.dev"
FINDINGS = ROOT / "installers" / "audited.json"
ACCEPTED = ROOT / "installers" / "accepted_advisories.toml"
LOCKS = ("installers/lock/*.txt", "resources/vllm/*.txt")
PARTS = ROOT / "resources" / "licences" / "parts.json"
_LOCKED = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_AT_ONCE = 500
"""How many versions one request contains; OSV accepts 1000."""
_TIMEOUT_S = 20


@dataclass(frozen=True)
class Version:
    """A locked version of a package, or the commit of a compiled part."""

    name: str
    version: str

    @property
    def question(self) -> dict[str, Any]:
        """The query for OSV."""
        if _COMMIT.fullmatch(self.version):
            return {"commit": self.version}
        package = {"name": self.name, "ecosystem": "PyPI"}
        return {"package": package, "version": self.version}


@dataclass(frozen=True)
class Advisory:
    """A known vulnerability of a version.

    Attributes:
        names: Its id, and the ids that others gave it.
    """

    version: Version
    names: tuple[str, ...]
    summary: str

    def __str__(self) -> str:
        return (
            f"{self.version.name} {self.version.version}: {', '.join(self.names)}. {self.summary}"
        )


@dataclass(frozen=True)
class Acceptance:
    """The reason why an advisory does not matter here.

    Attributes:
        until: The day from which the reason must be confirmed again; None for no limit.
    """

    id: str
    why: str
    until: date | None

    def applies_to(self, advisory: Advisory, today: date) -> bool:
        """Return whether the advisory is accepted on this day."""
        return self.id in advisory.names and (self.until is None or today < self.until)


class AuditError(Exception):
    """The audit's own files cannot be used; the message says what is wrong and what to do."""


class Unreachable(Exception):
    """The database did not answer."""


def main(words: Sequence[str] | None = None) -> int:
    """Look the versions up, and print and store the findings; return the exit status."""
    parser = argparse.ArgumentParser(description="Look for known vulnerabilities in the locks.")
    parser.add_argument("--database", default=DATABASE, help=f"in place of {DATABASE}")
    parser.add_argument(
        "--keep", action="store_true", help=f"write the findings to {FINDINGS.name}"
    )
    args = parser.parse_args(words)
    today = datetime.now(UTC).date()
    try:
        return audit(args.database, today, FINDINGS if args.keep else None)
    except AuditError as error:
        print(error, file=sys.stderr)
        return 1


def audit(database: str, today: date, output: Path | None) -> int:
    """Look up all locked versions, and print what the database knows.

    Returns the exit status. Raises AuditError.
    """
    accepted = list(acceptances(ACCEPTED))
    versions = sorted({*locked(), *compiled()}, key=lambda version: (version.name, version.version))
    try:
        advisories = list(ask(database, versions))
    except Unreachable as error:
        print(
            f"Known vulnerabilities could not be looked up: {error}. {last_audit(FINDINGS, today)}"
        )
        return 0
    open_advisories = []
    for advisory in advisories:
        reason = next(
            (acceptance.why for acceptance in accepted if acceptance.applies_to(advisory, today)),
            None,
        )
        print(f"{advisory} {'Accepted: ' + reason if reason else 'OPEN.'}")
        open_advisories += [] if reason else [advisory]
    names = {name for advisory in advisories for name in advisory.names}
    for acceptance in accepted:
        if acceptance.id not in names:
            print(f"{acceptance.id} is accepted but concerns no locked version: it can be deleted.")
    print(f"{len(versions)} versions were looked up: {len(open_advisories)} open advisories.")
    if output is not None:
        write(output, today, len(versions), advisories)
    return 1 if open_advisories else 0


def locked() -> Iterator[Version]:
    """Yield the versions in the locks."""
    for pattern in LOCKS:
        for path in sorted(ROOT.glob(pattern)):
            for name, version in _LOCKED.findall(path.read_text(encoding="utf-8")):
                yield Version(re.sub(r"[-_.]+", "-", name).lower(), version)


def compiled() -> Iterator[Version]:
    """Yield the commits of the sources that llama.cpp is compiled from."""
    for part in json.loads(PARTS.read_text(encoding="utf-8"))["besides"]:
        if _COMMIT.fullmatch(part.get("version", "")):
            yield Version(part["name"], part["version"])


def acceptances(path: Path) -> Iterator[Acceptance]:
    """Yield the accepted advisories. Raises AuditError."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("accepted", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise AuditError(f"{path.name} cannot be read: {error}. Correct it.") from error
    for entry in entries:
        until = entry.get("until")
        if not (entry.get("id") and str(entry.get("why", "")).strip()):
            raise AuditError(
                f"An advisory is accepted in {path.name} without its `id` or its `why`. "
                "Without a reason nobody can check that it does not matter here. Add it."
            )
        if until is not None and not isinstance(until, date):
            raise AuditError(
                f"The `until` of {entry['id']} in {path.name} is not a date. Otherwise it would "
                "never expire. Write it like 2027-01-31."
            )
        yield Acceptance(entry["id"], entry["why"].strip(), until)


def ask(database: str, versions: Sequence[Version]) -> Iterator[Advisory]:
    """Yield the database's advisories for these versions. Raises Unreachable."""
    details_by_id: dict[str, dict[str, Any]] = {}
    for start in range(0, len(versions), _AT_ONCE):
        for version, ids in _ids(database, versions[start : start + _AT_ONCE]).items():
            for name in sorted(ids):
                if name not in details_by_id:
                    details_by_id[name] = _fetch(f"{database}/v1/vulns/{name}")
                details = details_by_id[name]
                if not details.get("withdrawn"):
                    names = (
                        name,
                        *(alias for alias in details.get("aliases", ()) if alias != name),
                    )
                    summary = (
                        details.get("summary") or str(details.get("details", "")).partition("\n")[0]
                    )
                    yield Advisory(version, names, summary.rstrip(".") + ".")


def _ids(database: str, versions: Sequence[Version]) -> dict[Version, set[str]]:
    """Return the ids for all these versions, requesting further pages where there are any."""
    ids: dict[Version, set[str]] = {version: set() for version in versions}
    remaining = [(version, version.question) for version in versions]
    while remaining:
        body = {"queries": [question for _, question in remaining]}
        results = _fetch(f"{database}/v1/querybatch", body).get("results")
        if not isinstance(results, list) or len(results) != len(remaining):
            raise Unreachable("its answer was not OSV's")
        further = []
        for (version, question), result in zip(remaining, results, strict=True):
            ids[version] |= {str(finding["id"]) for finding in (result or {}).get("vulns", ())}
            if token := (result or {}).get("next_page_token"):
                further.append((version, {**question, "page_token": token}))
        remaining = further
    return ids


def _fetch(address: str, body: object = None) -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            value = json.load(answer)
    except (OSError, ValueError, HTTPException) as error:
        raise Unreachable(str(error)) from error
    if not isinstance(value, dict):
        raise Unreachable("its answer was not OSV's")
    return value


def write(path: Path, today: date, count: int, advisories: Iterable[Advisory]) -> None:
    """Write the date, the locks' digest and the findings to a file."""
    findings = {
        "date": today.isoformat(),
        "versions": count,
        "locks": _digest(),
        "found": [str(advisory) for advisory in advisories],
    }
    path.write_text(json.dumps(findings, indent=2) + "\n", encoding="utf-8", newline="\n")


def last_audit(path: Path, today: date) -> str:
    """Say when the locks were last looked up, and whether they have changed since."""
    try:
        findings = json.loads(path.read_text(encoding="utf-8"))
        days = (today - date.fromisoformat(findings["date"])).days
        is_current = findings["locks"] == _digest()
    except FileNotFoundError:
        return "They were never looked up."
    except (KeyError, TypeError, ValueError):
        return f"{path.name}, which says when they last were, is damaged."
    since = "" if is_current else " The locks have changed since."
    return f"They were last looked up {days} days ago, on {findings['date']}.{since}"


def _digest() -> str:
    versions = sorted(
        {f"{version.name}=={version.version}" for version in (*locked(), *compiled())}
    )
    return hashlib.sha256("\n".join(versions).encode()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
