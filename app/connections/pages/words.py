"""Texts about the connections: a summary, and the cells of the table."""

from __future__ import annotations

from collections.abc import Sequence, Set
from datetime import UTC, datetime
from typing import Final

from PySide6.QtCore import QCoreApplication

from app.kit.look.format import day, small_size
from app.net.values.connections import LoggedConnection, Purpose
from app.net.values.traffic import Traffic


def _tr(text: str) -> str:
    return QCoreApplication.translate("connections", text)


def heads() -> tuple[str, ...]:
    """Return the headings of the table."""
    return (
        _tr("When"), _tr("Host"), _tr("Purpose"), _tr("Sent"), _tr("Received"), _tr("Result"),
    )  # fmt: skip


def purpose_word(purpose: Purpose) -> str:
    """Return a connection's purpose as text for the user."""
    return {
        "search for models": _tr("Search for models"),
        "look at a model": _tr("Look at a model"),
        "read a model's header": _tr("Read a model’s header"),
        "download a model": _tr("Download a model"),
        "refresh the catalogue": _tr("Refresh the catalogue"),
        "test a token": _tr("Test a token"),
        "look at a server": _tr("Check your server"),
        "list a server's models": _tr("List your server’s models"),
        "ask a server": _tr("Chat on your server"),
        "get an engine": _tr("Download an engine"),
        "send traces": _tr("Send traces"),
    }[purpose]


def result_word(result: str) -> str:
    """Return a connection's result as text; an unknown one stays as it is."""
    words = {
        "refused": _tr("Blocked"),
        "failed": _tr("Failed"),
        "cancelled": _tr("Cancelled"),
    }
    return words.get(result, result)


def cells(connection: LoggedConnection) -> tuple[str, ...]:
    """Return a connection as the cells of a row."""
    when = datetime.fromtimestamp(connection.started, tz=UTC).astimezone()
    host = f"{connection.host}:{connection.port}"
    return (
        f"{when:%Y-%m-%d %H:%M:%S}",
        _tr("{host} via {proxy}").format(host=host, proxy=connection.proxy)
        if connection.proxy
        else host,
        purpose_word(connection.purpose),
        small_size(connection.sent),
        small_size(connection.received),
        result_word(connection.result),
    )


def as_text(connections: Sequence[LoggedConnection]) -> str:
    """Return the connections as tab-separated text, which a spreadsheet can read."""
    lines = [heads(), *(cells(connection) for connection in connections)]
    return "\n".join("\t".join(line) for line in lines) + "\n"


def summary(totals: Traffic | None) -> str:
    """Summarise the connections: their hosts, the data sent and received, and blocked ones."""
    if totals is None:
        return _tr("No connection has left this computer.")
    parts = []
    if totals.hosts:
        hosts = (
            totals.hosts[0]
            if len(totals.hosts) == 1
            else _tr("{count} hosts").format(count=len(totals.hosts))
        )
        parts.append(
            _tr("Hearth has connected to {hosts} since {since}.").format(
                hosts=hosts, since=day(totals.since)
            )
        )
        parts.append(sent_words(totals))
        parts.append(_tr("It received {received}.").format(received=small_size(totals.received)))
    else:
        parts.append(_tr("No connection has left this computer."))
    if totals.refused:
        blocked = _tr("{refused} were blocked while Hearth was offline.")
        if totals.refused == 1:
            blocked = _tr("One was blocked while Hearth was offline.")
        parts.append(blocked.format(refused=totals.refused))
    return " ".join(parts)


_SENDS_NAMES: Final[Set[Purpose]] = {
    "look at a model", "read a model's header", "download a model", "refresh the catalogue",
}  # fmt: skip


def sent_words(totals: Traffic) -> str:
    """Describe the possible contents of the requests, by their purposes."""
    parts = []
    if "search for models" in totals.purposes:
        parts.append(_tr("the words of a search"))
    if "ask a server" in totals.purposes:
        parts.append(_tr("your chats, to a server that you chose"))
    if {"look at a server", "list a server's models"} & set(totals.purposes):
        parts.append(_tr("your server’s key to that server"))
    if "get an engine" in totals.purposes:
        parts.append(_tr("the names of an engine’s packages"))
    if "send traces" in totals.purposes:
        parts.append(_tr("figures of answers, without their text, to a collector that you chose"))
    if set(totals.purposes) & _SENDS_NAMES:
        parts.append(_tr("the names of models"))
    if "test a token" in totals.purposes:
        parts.append(_tr("your token to its own host"))
    return _tr("It sent only {joined}.").format(joined=_joined(parts))


def _joined(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return _tr("{first} and {second}").format(first=", ".join(parts[:-1]), second=parts[-1])
