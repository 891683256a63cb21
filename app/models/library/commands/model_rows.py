"""The form in which `hearth models` shows a model: in the list, alone, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from app.kit.terminal.output import size
from app.models.library.values.details import ModelDetails
from app.models.library.values.entry import ModelEntry
from engines.errors import EngineError

if TYPE_CHECKING:
    from app.wiring.app import App

_LONGEST = 56
"""Letters of an id in the list; a longer one, such as the path of a file on a server, is in the
JSON, and the name stands for it: either may be typed."""


def listed(app: App, entry: ModelEntry) -> dict[str, Any]:
    """Describe a model for the list; one that is gone or damaged keeps its row, with the reason."""
    try:
        return described(app, entry)
    except EngineError as error:
        return {"id": entry.id, "name": entry.name, "path": str(entry.path), "error": str(error)}


def described(app: App, entry: ModelEntry) -> dict[str, Any]:
    """Describe a model as a row. Raises EngineError."""
    found = app.library.facts(entry)
    return {
        "id": entry.id,
        "name": entry.name,
        "repo": entry.repo,
        "files": [path.name for path in (*entry.files, found.drafter, entry.projector) if path],
        "size_bytes": found.size_bytes,
        "architecture": found.architecture,
        "parameters": found.parameters,
        "quantisation": found.quantisation,
        "context_max": found.context_max,
        "mtp": {"kind": found.mtp, "ready": found.mtp != "none"},
        "vision": "sees" in (found.can or ()),
        "audio": "hears" in (found.can or ()),
        "verified": entry.verified is not None,
        "path": str(entry.path),
        "source": entry.source,
        "engine": entry.engine,
        "last_used": entry.last_used,
    }


def shown(found: ModelDetails) -> dict[str, Any]:
    """Describe what goes beyond a row: the details of the file."""
    entry, file = found.entry, found.file
    said = asdict(file)
    for name in ("drafter", "chat_template", "vision"):
        del said[name]
    return {
        "id": entry.id,
        "name": entry.name,
        "source": entry.source,
        "title": file.title,
        **said,
        "tensors": {it.type: it.size_bytes for it in file.tensors},
        "template": {name: it for name, it in asdict(found.template).items() if it != ""},
        "repo": entry.repo,
        "revision": entry.revision,
        "sha256": entry.sha256,
        "verified": entry.verified,
        "last_used": entry.last_used,
    }


def model_row(model: dict[str, Any]) -> tuple[str, ...]:
    if "error" in model:
        return model["id"], "", "", "", model["error"]
    shown = model["id"] if len(model["id"]) <= _LONGEST else model["name"]
    return (
        shown, "" if model["engine"] == "remote" else size(model["size_bytes"]),
        model["quantisation"], model["source"], model["name"],
    )  # fmt: skip


def drafter_rows(app: App) -> list[tuple[str, ...]]:
    """List the drafters below the models, for people only: nobody chats with them."""
    rows: list[tuple[str, ...]] = []
    for entry in app.library.drafters():
        *row, name = model_row(listed(app, entry))
        rows.append((*row, f"a drafter: {name}"))
    return rows


def added_in_words(entry: ModelEntry, targets: list[str]) -> str:
    added = f"Added {entry.name} as {entry.id}"
    return f"{added}; it guesses ahead for {', '.join(targets)}." if targets else f"{added}."
