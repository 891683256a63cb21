"""The audit of the locks, with a database on loopback that answers as OSV does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from installers import audit
from installers.audit import AuditError, Version

TODAY = date(2026, 11, 26)
GONE = "http://127.0.0.1:9"
"""An address at which nothing listens."""


class Database(ThreadingHTTPServer):
    """A database of vulnerabilities.

    Attributes:
        known: Ids by the name of a package.
        advisories: The description of an id.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.known: dict[str, list[str]] = {}
        self.advisories: dict[str, dict[str, Any]] = {}
        self.asked: list[dict[str, Any]] = []
        self.paged = False
        self.garbage = False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def result(self, question: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(question)
        name = question.get("package", {}).get("name") or question.get("commit", "")
        ids = self.known.get(name, [])
        if self.paged and len(ids) > 1 and "page_token" not in question:
            return {"vulns": [{"id": ids[0]}], "next_page_token": "more"}
        ids = ids[1:] if "page_token" in question else ids
        return {"vulns": [{"id": it} for it in ids]} if ids else {}


class Answer(BaseHTTPRequestHandler):
    server: Database

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._say({"results": [self.server.result(it) for it in body["queries"]]})

    def do_GET(self) -> None:
        self._say(self.server.advisories[self.path.rpartition("/")[2]])

    def _say(self, value: object) -> None:
        data = b"<html>Log in" if self.server.garbage else json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def database() -> Iterator[Database]:
    server = Database()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "accepted.toml"
    path.write_text("", encoding="utf-8")
    monkeypatch.setattr(audit, "ACCEPTED", path)
    monkeypatch.setattr(audit, "FINDINGS", tmp_path / "audited.json")
    return path


def vulnerable(database: Database) -> None:
    database.known["jinja2"] = ["GHSA-1"]
    database.advisories["GHSA-1"] = {"summary": "A sandbox leaks", "aliases": ["CVE-1"]}


def test_every_locked_version_is_asked_for_and_llama_cpp_by_its_commit(
    database: Database, accepted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit.audit(database.address, TODAY, None) == 0
    names = {it["package"]["name"] for it in database.asked if "package" in it}
    assert {"numpy", "llama-cpp-python", "pyside6-essentials", "pytest", "vllm"} <= names
    commits = {it["commit"] for it in database.asked if "commit" in it}
    assert any(it.startswith("0c1e57098") for it in commits)
    assert "0 open advisories" in capsys.readouterr().out


@pytest.mark.usefixtures("accepted")
def test_a_known_vulnerability_fails(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    vulnerable(database)
    assert audit.audit(database.address, TODAY, None) == 1
    said = capsys.readouterr().out
    assert "GHSA-1, CVE-1. A sandbox leaks. OPEN." in said
    assert "1 open advisories" in said


@pytest.mark.parametrize("name", ["GHSA-1", "CVE-1"])
def test_one_that_is_accepted_with_a_reason_does_not_until_its_day(
    database: Database, accepted: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    vulnerable(database)
    accepted.write_text(
        f'[[accepted]]\nid = "{name}"\nwhy = "No template of ours."\nuntil = 2026-11-27\n',
        encoding="utf-8",
    )
    assert audit.audit(database.address, TODAY, None) == 0
    assert "Accepted: No template of ours." in capsys.readouterr().out
    assert audit.audit(database.address, date(2026, 11, 27), None) == 1


@pytest.mark.parametrize("entry", ['id = "GHSA-1"', 'why = "So."', 'id = "G"\nwhy = " "'])
def test_nothing_is_accepted_without_a_reason(
    database: Database, accepted: Path, entry: str
) -> None:
    accepted.write_text(f"[[accepted]]\n{entry}\n", encoding="utf-8")
    with pytest.raises(AuditError, match="Without a reason"):
        audit.audit(database.address, TODAY, None)


def test_what_is_accepted_but_concerns_nothing_is_told(
    database: Database, accepted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    accepted.write_text('[[accepted]]\nid = "OLD-1"\nwhy = "Gone."\n', encoding="utf-8")
    assert audit.audit(database.address, TODAY, None) == 0
    assert "OLD-1 is accepted but concerns no locked version" in capsys.readouterr().out


@pytest.mark.usefixtures("accepted")
def test_what_was_withdrawn_does_not_count(database: Database) -> None:
    vulnerable(database)
    database.advisories["GHSA-1"]["withdrawn"] = "2026-01-01T00:00:00Z"
    assert audit.audit(database.address, TODAY, None) == 0


def test_all_pages_of_an_answer_are_read(database: Database) -> None:
    database.paged = True
    database.known["x"] = ["A-1", "A-2"]
    database.advisories = {name: {"summary": name} for name in ("A-1", "A-2")}
    found = audit.ask(database.address, [Version("x", "1")])
    assert [it.names for it in found] == [("A-1",), ("A-2",)]


@pytest.mark.usefixtures("accepted")
def test_without_a_database_the_age_of_the_last_answer_is_told(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit.audit(GONE, TODAY, None) == 0
    assert "They were never looked up." in capsys.readouterr().out
    assert audit.audit(database.address, date(2026, 11, 6), audit.FINDINGS) == 0
    assert audit.audit(GONE, TODAY, None) == 0
    assert "last looked up 20 days ago, on 2026-11-06." in capsys.readouterr().out
    kept = json.loads(audit.FINDINGS.read_text(encoding="utf-8"))
    audit.FINDINGS.write_text(json.dumps(kept | {"locks": "others"}), encoding="utf-8")
    assert audit.audit(GONE, TODAY, None) == 0
    assert "The locks have changed since." in capsys.readouterr().out
    audit.FINDINGS.write_text("{", encoding="utf-8")
    assert audit.audit(GONE, TODAY, None) == 0
    assert "is damaged" in capsys.readouterr().out


@pytest.mark.usefixtures("accepted")
def test_a_page_that_asks_to_log_in_is_no_answer(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    database.garbage = True
    assert audit.audit(database.address, TODAY, None) == 0
    assert "could not be looked up" in capsys.readouterr().out
