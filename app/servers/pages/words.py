"""Texts about a server, as its test found it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from app.kit.look.format import figure

if TYPE_CHECKING:
    from app.servers.values import ServerInfo

_tr = QCoreApplication.translate
_KINDS = {
    "vllm": "vLLM",
    "llama-server": "llama-server",
    "lmstudio": "LM Studio",
    "ollama": "Ollama",
    "sglang": "SGLang",
}


def found(info: ServerInfo) -> str:
    """Describe a server in one line: its kind, the number of models, and whether it uses MTP."""
    kind = _KINDS.get(info.kind) or _tr("servers", "OpenAI-compatible server")
    parts = [f"{kind} {info.version or ''}".strip()]
    count = len(info.models)
    if count == 1:
        parts.append(_tr("servers", "one model"))
    else:
        parts.append(_tr("servers", "{count} models").format(count=count))
    if info.mtp is not None:
        on = _tr("servers", "MTP on")
        parts.append(on if info.mtp else _tr("servers", "MTP off"))
    return " · ".join(parts)


def models(info: ServerInfo, most: int = 8) -> list[str]:
    """Return a line for each of the first models, and one for the number of others."""
    from app.servers.values import short_name

    lines = []
    for model in info.models[:most]:
        if model.context:
            words = _tr("servers", "{id}, context of {context} tokens")
            lines.append(words.format(id=short_name(model.id), context=figure(model.context)))
        else:
            lines.append(short_name(model.id))
    if len(info.models) > most:
        lines.append(_tr("servers", "and {count} more").format(count=len(info.models) - most))
    return lines
