"""How `hearth models` shows a model: one shape for the list, for one of them, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.cli.output import size
from app.core.models.entry import ModelEntry
from app.services.models.about import about
from app.services.models.details import ModelDetails
from app.wiring import Core
from engines.errors import EngineError

_LONGEST = 56
"""Letters of an id in the list; a longer one, such as the path of a file on a server, is in the
JSON, and the name stands for it: either may be typed."""


def listed(core: Core, entry: ModelEntry) -> dict[str, Any]:
    """A row of the list; a file that has gone or is damaged keeps its row, with the reason."""
    try:
        return described(core, entry)
    except EngineError as error:
        return {"id": entry.id, "name": entry.name, "path": str(entry.path), "error": str(error)}


def described(core: Core, entry: ModelEntry) -> dict[str, Any]:
    """Raises EngineError."""
    found = about(core.library, entry)
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
        "vision": entry.projector is not None,
        "verified": entry.verified is not None,
        "path": str(entry.path),
        "source": entry.source,
        "engine": entry.engine,
        "last_used": entry.last_used,
    }


def shown(found: ModelDetails) -> dict[str, Any]:
    """What goes beyond a row: the details of the file."""
    value = asdict(found)
    value["template"] = {name: part for name, part in value["template"].items() if part != ""}
    value["tensors"] = {it.type: it.size_bytes for it in found.tensors}
    for name in ("files", "drafter", "projector"):
        del value[name]
    return value


def model_row(model: dict[str, Any]) -> tuple[str, ...]:
    if "error" in model:
        return model["id"], "", "", "", model["error"]
    shown = model["id"] if len(model["id"]) <= _LONGEST else model["name"]
    return (
        shown, "" if model["engine"] == "remote" else size(model["size_bytes"]),
        model["quantisation"], model["source"], model["name"],
    )  # fmt: skip


def drafter_rows(core: Core) -> list[tuple[str, ...]]:
    """They are nothing to chat with, so only people see them below the models."""
    rows: list[tuple[str, ...]] = []
    for entry in core.library.drafters():
        *row, name = model_row(listed(core, entry))
        rows.append((*row, f"a drafter: {name}"))
    return rows


def added_in_words(entry: ModelEntry, targets: list[str]) -> str:
    added = f"Added {entry.name} as {entry.id}"
    return f"{added}; it guesses ahead for {', '.join(targets)}." if targets else f"{added}."
