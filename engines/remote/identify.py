"""Identifies the kind of server at an address from its answers.

vLLM and llama-server were tested; the facts about LM Studio, Ollama and SGLang come from their
documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from engines.openai.client import MOST_TOKENS, OpenAiClient, models_in
from engines.openai.values import ServedModel, ServerInfo, ServerKind

_OWNERS: Final[Mapping[str, ServerKind]] = {
    "vllm": "vllm",
    "llamacpp": "llama-server",
    "sglang": "sglang",
    "library": "ollama",
    "organization_owner": "lmstudio",
    "organization-owner": "lmstudio",
}
"""The values of “owned_by” in GET /v1/models."""


_SENSES: Final = ("vision", "audio")
"""The kinds of media among llama-server's “modalities”."""


def identify(client: OpenAiClient) -> ServerInfo:
    """Examine a server. Raises EngineError, such as ServerRefused without the right key."""
    rows = client.model_rows()
    owners = sorted({str(row.get("owned_by", "")).lower() for row in rows})
    kind = next((_OWNERS[owner] for owner in owners if owner in _OWNERS), None) or _by_endpoints(
        client
    )
    models = models_in(rows)
    describe = {
        "vllm": _vllm,
        "llama-server": _llama,
        "lmstudio": _lmstudio,
        "sglang": _sglang,
    }.get(kind)
    if describe is not None:
        return describe(client, models)
    version = client.get("/api/version", required=False) if kind == "ollama" else None
    return ServerInfo(kind, _text(version, "version"), models, None, tokenizes=False)


def _by_endpoints(client: OpenAiClient) -> ServerKind:
    """Return the kind of a server that lists no model, or names an unknown owner."""
    if _rows(client.get("/api/v0/models", required=False)):
        return "lmstudio"
    if _text(client.get("/api/version", required=False), "version"):
        return "ollama"
    if isinstance(client.get("/props", required=False), dict):
        return "llama-server"
    return "openai"


def _vllm(client: OpenAiClient, models: tuple[ServedModel, ...]) -> ServerInfo:
    metrics = client.text("/metrics")
    mtp = None if metrics is None else "vllm:spec_decode_num_draft" in metrics
    question = {
        "model": models[0].id if models else "",
        "messages": [{"role": "user", "content": "?"}],
    }
    tokenizes = client.tokenize(question) is not None
    return ServerInfo("vllm", client.version() or "", models, mtp, tokenizes)


def _llama(client: OpenAiClient, models: tuple[ServedModel, ...]) -> ServerInfo:
    # Some versions list their models without a key, and require it only here.
    props = client.get("/props", required=False, check_key=True)
    settings = _object(_object(props, "default_generation_settings"), "params")
    context = _object(props, "default_generation_settings").get("n_ctx")
    drafts = settings.get("speculative.types")
    mtp = drafts not in ("none", "") if isinstance(drafts, str) else None
    senses = _object(props, "modalities")
    sees, hears = (sense if isinstance(sense, bool) else None for sense in map(senses.get, _SENSES))
    models = tuple(replace(model, sees=sees, hears=hears) for model in models)
    if isinstance(context, int) and 0 < context < MOST_TOKENS:
        # This is the context of one answer; the list can contain the one the model was trained for.
        models = tuple(replace(model, context=context) for model in models)
    question = {"messages": [{"role": "user", "content": "?"}]}
    reply = client.post("/apply-template", question, required=False)
    return ServerInfo(
        "llama-server", _text(props, "build_info"), models, mtp, bool(_text(reply, "prompt"))
    )


def _lmstudio(client: OpenAiClient, models: tuple[ServedModel, ...]) -> ServerInfo:
    """Describe LM Studio, whose own API reports the context of loaded models."""
    rows = {str(row.get("id")): row for row in _rows(client.get("/api/v0/models", required=False))}

    def with_facts(model: ServedModel) -> ServedModel:
        row = rows.get(model.id, {})
        context = row.get("loaded_context_length")
        is_known = isinstance(context, int) and 0 < context < MOST_TOKENS
        sees = {"vlm": True, "llm": False}.get(str(row.get("type")))
        return replace(model, context=context if is_known else model.context, sees=sees)

    chats = (model for model in models if rows.get(model.id, {}).get("type") != "embeddings")
    return ServerInfo(
        "lmstudio", "", tuple(with_facts(model) for model in chats), None, tokenizes=False
    )


def _sglang(client: OpenAiClient, models: tuple[ServedModel, ...]) -> ServerInfo:
    info = client.get("/get_server_info", required=False)
    algorithm = info.get("speculative_algorithm", "") if isinstance(info, dict) else ""
    mtp = None if algorithm == "" else bool(algorithm)
    return ServerInfo("sglang", _text(info, "version"), models, mtp, tokenizes=False)


def _object(value: Any, name: str) -> Mapping[str, Any]:
    field = value.get(name) if isinstance(value, dict) else None
    return field if isinstance(field, dict) else {}


def _text(value: Any, name: str) -> str:
    text = value.get(name) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""


def _rows(value: Any) -> list[Mapping[str, Any]]:
    rows = value.get("data") if isinstance(value, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
