"""The keys and passwords that are in use, kept out of what others say.

A server can quote a key in an error, a list or an answer. Whoever sends a secret tells it to
`remember`; whoever takes in a text takes it through `redacted`. The register belongs to the
process, as its environment does: a secret is one wherever its text turns up.
"""

from __future__ import annotations

import base64
import re
import threading
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from engines.text import held_back

HIDDEN: Final = "[hidden]"
_SHORTEST: Final = 4
_SHORTEST_OF_ITS_OWN: Final = 8
"""Characters of a secret that is one in any text; a shorter one may be a word."""

_STAND_INS: Final = frozenset({"sk-no-key-required", "lm-studio", "not-needed", "no-key-needed"})
"""What people write where a server wants some key, whichever: these are words, too."""

_lock = threading.Lock()
_secrets: dict[str, bool] = {}
_said: re.Pattern[str] | None = None
_own: re.Pattern[str] | None = None


def remember(secret: str) -> None:
    """From now on it is replaced, in whatever form; one that is too short to tell is not."""
    global _said, _own  # noqa: PLW0603 - the register
    secret = secret.strip()
    with _lock:
        if len(secret) < _SHORTEST or secret in _secrets:
            return
        _secrets[secret] = _is_its_own(secret)
        _said = _pattern(list(_secrets))
        _own = _pattern([it for it, own in _secrets.items() if own])


def remember_environment(environment: Mapping[str, str]) -> None:
    """The tokens, keys, and passwords in addresses that variables hold."""
    for name, value in environment.items():
        upper = name.upper()
        if upper.startswith("HEARTH_KEY_") or upper in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
            remember(value)
        elif upper.endswith("_PROXY") or upper.startswith(("UV_", "PIP_")):
            for address in value.split():
                remember_address(address)


def remember_address(address: str) -> None:
    """The password in an address, if there is one."""
    try:
        password = urlsplit(address if "://" in address else f"//{address}").password
    except ValueError:
        return
    if password:
        remember(password)
        remember(unquote(password))


def forget_all() -> None:
    """For a process that begins anew, such as a test."""
    global _said, _own  # noqa: PLW0603 - the register
    with _lock:
        _secrets.clear()
        _said = _own = None


def redacted(text: str) -> str:
    """What somebody else said, without any secret."""
    return text if _said is None else _said.sub(HIDDEN, text)


def own(text: str) -> str:
    """A text that is not only theirs, such as an answer or a log: what can be a word stays."""
    return text if _own is None else _own.sub(HIDDEN, text)


def redacted_value(value: Any) -> Any:
    """The same of all texts in a value of JSON, which may be nested as deep as JSON is read."""
    if _said is None:
        return value
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, list):
        return [redacted_value(it) for it in value]
    if isinstance(value, dict):
        return {redacted(name): redacted_value(it) for name, it in value.items()}
    return value


class Redaction:
    """A text that comes in pieces, as `own` has it; holds back what may be a secret's beginning."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        if _own is None:
            return piece
        text = own(self._held + piece)
        shown = len(text) - held_back(text, [it for it, strong in _secrets.items() if strong])
        self._held = text[shown:]
        return text[:shown]

    def finish(self) -> str:
        """What was held back, when nothing follows; not so much that the rest could be guessed."""
        rest, self._held = self._held, ""
        return rest if len(rest) < _SHORTEST_OF_ITS_OWN else HIDDEN


def _is_its_own(secret: str) -> bool:
    return (
        len(secret) >= _SHORTEST_OF_ITS_OWN
        and not secret.isalpha()
        and secret.lower() not in _STAND_INS
    )


def _pattern(secrets: list[str]) -> re.Pattern[str] | None:
    """Longest first, so that no part of one is left behind another."""
    ways = [way for it in sorted(secrets, key=len, reverse=True) for way in _ways(it)]
    return re.compile("|".join(ways), re.IGNORECASE) if ways else None


def _ways(secret: str) -> list[str]:
    """As it is, with any of its characters escaped for JSON, an address or a page; and within
    Base64, wherever it begins there."""
    data = secret.encode()
    ways = ["".join(_character(it) for it in secret), re.escape(data.hex())]
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
        # The first and last characters hold bits of what stands around it.
        inner = whole[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        if len(inner) >= _SHORTEST_OF_ITS_OWN:
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
"""As pages write them."""
