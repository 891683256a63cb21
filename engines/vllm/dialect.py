"""How a checkpoint's chat template lets its model reason, from the files beside the weights."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from engines.dialect import Dialect
from engines.dialect.switch import Switch
from engines.errors import TemplateFailed
from engines.models.checkpoint import read_chat_template

logger = logging.getLogger(__name__)


def read_switch(folder: Path) -> Switch:
    """What can be chosen; nothing where there is no template, or none that can be understood."""
    config = _json(folder / "tokenizer_config.json")
    template = read_chat_template(folder)
    if template is None:
        return Switch()
    added = _json(folder / "tokenizer.json").get("added_tokens") or ()
    tokens = [it for it in added if isinstance(it, dict) and it.get("content")]
    try:
        dialect = Dialect(
            template,
            bos=_text(config.get("bos_token")),
            eos=_text(config.get("eos_token")),
            control=[it["content"] for it in tokens if it.get("special")],
            added=[it["content"] for it in tokens if not it.get("special")],
        )
    except TemplateFailed as error:
        logger.warning("the chat template of %s is not understood: %s", folder.name, error.why)
        return Switch()
    dialect.close()
    return dialect.switch


def _text(token: Any) -> str:
    return str(token.get("content", "")) if isinstance(token, dict) else str(token or "")


def _json(file: Path) -> dict[str, Any]:
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}
