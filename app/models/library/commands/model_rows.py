"""The form in which `hearth models` shows a model: in the list, alone, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from app.kit.terminal.output import size
from app.models.library.values.details import ModelDetails
from app.models.library.values.entry import ModelEntry
from engines.errors import EngineError
from engines.sentences import N_

if TYPE_CHECKING:
    from app.wiring.app import App

_SOURCES = {
    "builtin": N_("builtin"),
    "added": N_("added"),
    "folder": N_("folder"),
    "server": N_("server"),
}
_LONGEST = 56
"""The longest id in the list, in characters.

A longer id, such as the path of a file on a server, appears only in the JSON. The list shows the
name instead; the user can type either.
"""


def listed(app: App, entry: ModelEntry) -> dict[str, Any]:
    """Describe a model for the list; a missing or damaged one keeps its row, with the reason."""
    try:
        return described(app, entry)
    except EngineError as error:
        return {"id": entry.id, "name": entry.name, "path": str(entry.path), "error": str(error)}


def described(app: App, entry: ModelEntry) -> dict[str, Any]:
    """Describe a model as a row.

    Raises:
        EngineError: Its file cannot be read.
    """
    facts = app.library.facts(entry)
    return {
        "id": entry.id,
        "name": entry.name,
        "repo": entry.repo,
        "files": [path.name for path in (*entry.files, facts.drafter, entry.projector) if path],
        "size_bytes": facts.size_bytes,
        "architecture": facts.architecture,
        "parameters": facts.parameters,
        "quantisation": facts.quantisation,
        "context_max": facts.context_max,
        "mtp": {"kind": facts.mtp, "ready": facts.mtp != "none"},
        "vision": "sees" in (facts.can or ()),
        "audio": "hears" in (facts.can or ()),
        "verified": entry.verified is not None,
        "path": str(entry.path),
        "source": entry.source,
        "engine": entry.engine,
        "last_used": entry.last_used,
    }


def detailed(details: ModelDetails) -> dict[str, Any]:
    """Describe the details of a model's file, which a row does not show."""
    entry, file = details.entry, details.file
    file_details = asdict(file)
    for name in ("drafter", "chat_template", "vision"):
        del file_details[name]
    return {
        "id": entry.id,
        "name": entry.name,
        "source": entry.source,
        "title": file.title,
        **file_details,
        "tensors": {tensor.type: tensor.size_bytes for tensor in file.tensors},
        "template": {
            name: value for name, value in asdict(details.template).items() if value != ""
        },
        "repo": entry.repo,
        "revision": entry.revision,
        "sha256": entry.sha256,
        "verified": entry.verified,
        "last_used": entry.last_used,
    }


def model_row(model: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of a row of the list."""
    if "error" in model:
        return model["id"], "", "", "", model["error"]
    label = model["id"] if len(model["id"]) <= _LONGEST else model["name"]
    return (
        label, "" if model["engine"] == "remote" else size(model["size_bytes"]),
        model["quantisation"], _SOURCES.get(model["source"], model["source"]), model["name"],
    )  # fmt: skip


def drafter_rows(app: App) -> list[tuple[str, ...]]:
    """List the drafters, which only the table shows, below the models."""
    rows: list[tuple[str, ...]] = []
    for entry in app.library.drafters():
        *row, name = model_row(listed(app, entry))
        rows.append((*row, N_("a drafter: {name}", name=name)))
    return rows


def added_in_words(entry: ModelEntry, targets: list[str]) -> str:
    """Return the sentence that confirms that a model or drafter was added."""
    added = N_("Added {name} as {id}", name=entry.name, id=entry.id)
    return (
        N_("{added}; it drafts for {models}.", added=added, models=", ".join(targets))
        if targets
        else N_("{added}.", added=added)
    )
