"""Totals over all connections."""

from __future__ import annotations

from dataclasses import replace

from app.net.values.connections import LoggedConnection
from app.net.values.traffic import matching, traffic

ONE = LoggedConnection(100.0, 0.5, "hub.example", 443, "search for models", "GET", 0, 2000, "200")
TWO = replace(ONE, started=200.0, purpose="download a model", host="cdn.example", received=10**6)
MOST_CONNECTIONS = replace(ONE, started=50.0, received=0, result="refused", host="never.example")


def test_nothing_is_nothing() -> None:
    assert traffic([]) is None


def test_what_left_is_counted_and_what_was_kept_apart() -> None:
    found = traffic([TWO, ONE, MOST_CONNECTIONS])
    assert found is not None
    assert found.hosts == ("cdn.example", "hub.example")
    assert (found.count, found.refused, found.received) == (2, 1, 1_002_000)
    assert found.since == 50.0
    assert found.purposes == ("search for models", "download a model")


def test_what_was_only_kept_has_reached_no_host() -> None:
    found = traffic([MOST_CONNECTIONS])
    assert found is not None
    assert (found.hosts, found.count, found.purposes) == ((), 0, ())


def test_words_are_found_in_host_purpose_and_result() -> None:
    assert matching([ONE, TWO, MOST_CONNECTIONS], "REFUSED") == [MOST_CONNECTIONS]
    assert matching([ONE, TWO, MOST_CONNECTIONS], "cdn download") == [TWO]
    assert matching([ONE, TWO, MOST_CONNECTIONS], "") == [ONE, TWO, MOST_CONNECTIONS]
