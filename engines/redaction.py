"""The removal of keys and passwords from the texts of servers, logs and answers.

A server can quote a key in an error, a list or an answer. Code that sends a secret passes it to
`remember`; code that receives a text passes it through `redact`. The register belongs to the
whole process, as its environment does: a secret is secret in every text.
"""

from __future__ import annotations

import base64
import re
import threading
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from engines.sentences import Sentence
from engines.text import held_back

HIDDEN: Final = "[hidden]"
_SHORTEST: Final = 4
_SHORTEST_CERTAIN: Final = 8
"""The fewest characters of a secret that is replaced in every text; a shorter one may be a word."""

_STAND_INS: Final = frozenset({"sk-no-key-required", "lm-studio", "not-needed", "no-key-needed"})
"""Placeholders that people write for servers that want a key but accept any; they are words too."""

_TOKENS: Final = frozenset({"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HEARTH_API_TOKEN"})
"""Environment variables that hold a token."""

_lock = threading.Lock()
_secrets: dict[str, bool] = {}
_said: re.Pattern[str] | None = None
_certain: re.Pattern[str] | None = None


def remember(secret: str) -> None:
    """Replace this secret from now on, in every form. Secrets of under 4 characters are ignored."""
    global _said, _certain  # noqa: PLW0603 - the register
    secret = secret.strip()
    with _lock:
        if len(secret) < _SHORTEST or secret in _secrets:
            return
        _secrets[secret] = _is_certain(secret)
        _said = _pattern(list(_secrets))
        _certain = _pattern([it for it, certain in _secrets.items() if certain])


def remember_environment(environment: Mapping[str, str]) -> None:
    """Remember the tokens, keys and address passwords in environment variables."""
    for name, value in environment.items():
        upper = name.upper()
        if upper.startswith("HEARTH_KEY_") or upper in _TOKENS:
            remember(value)
        elif upper.endswith("_PROXY") or upper.startswith(("UV_", "PIP_")):
            for address in value.split():
                remember_address(address)


def remember_address(address: str) -> None:
    """Remember the password in an address, if it has one."""
    try:
        password = urlsplit(address if "://" in address else f"//{address}").password
    except ValueError:
        return
    if password:
        remember(password)
        remember(unquote(password))


def forget_secrets() -> None:
    """Forget every secret, as in a new process; for tests."""
    global _said, _certain  # noqa: PLW0603 - the register
    with _lock:
        _secrets.clear()
        _said = _certain = None


def redact(text: str) -> str:
    """Replace every secret in a text from elsewhere, such as a server's error."""
    return text if _said is None else _said.sub(HIDDEN, text)


def redact_certain(text: str) -> str:
    """Replace the secrets that cannot be ordinary words; for answers, errors and the log."""
    if _certain is None:
        return text
    if isinstance(text, Sentence):
        return text.with_values(redact_certain)
    return _certain.sub(HIDDEN, text)


def redact_value(value: Any) -> Any:
    """Replace every secret in the texts of a JSON value, at any depth."""
    if _said is None:
        return value
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redact_value(it) for it in value]
    if isinstance(value, dict):
        return {redact(name): redact_value(it) for name, it in value.items()}
    return value


class StreamRedactor:
    """`redact_certain` for a text in pieces; it holds back text that can begin a secret."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        if _certain is None:
            return piece
        text = redact_certain(self._held + piece)
        shown = len(text) - held_back(text, [it for it, strong in _secrets.items() if strong])
        self._held = text[shown:]
        return text[:shown]

    def finish(self) -> str:
        """Return the text held back; HIDDEN if it is so long that it could give away a secret."""
        rest, self._held = self._held, ""
        return rest if len(rest) < _SHORTEST_CERTAIN else HIDDEN


def _is_certain(secret: str) -> bool:
    return (
        len(secret) >= _SHORTEST_CERTAIN
        and not secret.isalpha()
        and secret.lower() not in _STAND_INS
    )


def _pattern(secrets: list[str]) -> re.Pattern[str] | None:
    """Return a pattern for the secrets, longest first, so that no part of a longer one remains."""
    ways = [way for it in sorted(secrets, key=len, reverse=True) for way in _ways(it)]
    return re.compile("|".join(ways), re.IGNORECASE) if ways else None


def _ways(secret: str) -> list[str]:
    """List patterns for a secret: as it is, escaped for JSON, URLs or HTML, in hex, in Base64."""
    data = secret.encode()
    ways = ["".join(_character(it) for it in secret), re.escape(data.hex())]
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
        # The first and last characters also hold bits of the surrounding text.
        inner = whole[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        if len(inner) >= _SHORTEST_CERTAIN:
            ways.append(re.escape(inner).replace(r"\+", r"[+\-]").replace("/", "[/_]"))
    return ways


def _character(it: str) -> str:
    address = "".join(f"%{byte:02x}" for byte in it.encode())
    forms = [re.escape(it), rf"\\u{ord(it):04x}", address]
    forms += [f"&#{ord(it)};", f"&#x0*{ord(it):x};"]
    if it in "\"\\/'":
        forms.insert(0, r"\\+" + re.escape(it))
    if it in _NAMED:
        forms.append(_NAMED[it])
    return f"(?:{'|'.join(forms)})"


_NAMED: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
"""The characters that HTML escapes by name."""
