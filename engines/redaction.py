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
_all_secrets: re.Pattern[str] | None = None
_certain_secrets: re.Pattern[str] | None = None


def remember(secret: str) -> None:
    """Replace this secret from now on, in every form. Secrets of under 4 characters are ignored."""
    global _all_secrets, _certain_secrets  # noqa: PLW0603 - the register
    secret = secret.strip()
    with _lock:
        if len(secret) < _SHORTEST or secret in _secrets:
            return
        _secrets[secret] = _is_certain(secret)
        _all_secrets = _pattern(list(_secrets))
        _certain_secrets = _pattern([secret for secret, certain in _secrets.items() if certain])


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
    global _all_secrets, _certain_secrets  # noqa: PLW0603 - the register
    with _lock:
        _secrets.clear()
        _all_secrets = _certain_secrets = None


def redact(text: str) -> str:
    """Replace every secret in a text from elsewhere, such as a server's error."""
    return text if _all_secrets is None else _all_secrets.sub(HIDDEN, text)


def redact_certain(text: str) -> str:
    """Replace the secrets that cannot be ordinary words; for answers, errors and the log."""
    if _certain_secrets is None:
        return text
    if isinstance(text, Sentence):
        return text.with_values(redact_certain)
    return _certain_secrets.sub(HIDDEN, text)


def redact_value(value: Any) -> Any:
    """Replace every secret in the texts of a JSON value, at any depth."""
    if _all_secrets is None:
        return value
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redact_value(item) for item in value]
    if isinstance(value, dict):
        return {redact(name): redact_value(item) for name, item in value.items()}
    return value


class StreamRedactor:
    """`redact_certain` for a text in pieces; it holds back text that can begin a secret."""

    def __init__(self) -> None:
        self._pending = ""

    def feed(self, piece: str) -> str:
        """Take a piece; return the text that can be shown now, without secrets."""
        if _certain_secrets is None:
            return piece
        text = redact_certain(self._pending + piece)
        ready = len(text) - held_back(
            text, [secret for secret, strong in _secrets.items() if strong]
        )
        self._pending = text[ready:]
        return text[:ready]

    def finish(self) -> str:
        """Return the text held back; HIDDEN if it is so long that it could give away a secret."""
        rest, self._pending = self._pending, ""
        return rest if len(rest) < _SHORTEST_CERTAIN else HIDDEN


def _is_certain(secret: str) -> bool:
    return (
        len(secret) >= _SHORTEST_CERTAIN
        and not secret.isalpha()
        and secret.lower() not in _STAND_INS
    )


def _pattern(secrets: list[str]) -> re.Pattern[str] | None:
    """Return a pattern for the secrets, longest first, so that no part of a longer one remains."""
    patterns = [
        pattern
        for secret in sorted(secrets, key=len, reverse=True)
        for pattern in _patterns(secret)
    ]
    return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None


def _patterns(secret: str) -> list[str]:
    """List patterns for a secret: as it is, escaped for JSON, URLs or HTML, in hex, in Base64."""
    data = secret.encode()
    patterns = ["".join(_character(character) for character in secret), re.escape(data.hex())]
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + data).decode().rstrip("=")
        # The first and last characters also hold bits of the surrounding text.
        inner = encoded[-(-shift * 8 // 6) : (shift + len(data)) * 8 // 6]
        if len(inner) >= _SHORTEST_CERTAIN:
            patterns.append(re.escape(inner).replace(r"\+", r"[+\-]").replace("/", "[/_]"))
    return patterns


def _character(character: str) -> str:
    address = "".join(f"%{byte:02x}" for byte in character.encode())
    forms = [re.escape(character), rf"\\u{ord(character):04x}", address]
    forms += [f"&#{ord(character)};", f"&#x0*{ord(character):x};"]
    if character in "\"\\/'":
        forms.insert(0, r"\\+" + re.escape(character))
    if character in _NAMED:
        forms.append(_NAMED[character])
    return f"(?:{'|'.join(forms)})"


_NAMED: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
"""The characters that HTML escapes by name."""
