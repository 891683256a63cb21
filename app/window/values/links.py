"""Hearth's links, as other programs and web pages write them, and their strict parser.

hearth:                            the window
hearth://model/OWNER/NAME          a model on the Hub
hearth://model/OWNER/NAME:QUANT    and one of its quantisations

A link only names a thing to show. Anybody can have written it, so it holds no path, no text and no
address, and nothing is fetched for it before the user agrees.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote, urlsplit

from app.base.errors import HubNameInvalid, LinkInvalid
from app.models.hub.values.names import HubName, hub_name
from engines.sentences import N_
from engines.text import on_one_line

SCHEME: Final = "hearth:"
_PLAIN: Final = ("hearth:", "hearth:/", "hearth://")
_MODEL: Final = re.compile(
    r"hearth://model/([A-Za-z0-9._-]+/[A-Za-z0-9._-]+(?::[A-Za-z0-9_-]+)?)/?"
)
_LONGEST: Final = 300
_SHOWN: Final = 80


def is_link(text: str) -> bool:
    """Return whether this text is a link of Hearth rather than a path."""
    return text.lower().startswith(SCHEME)


def linked_model(text: str) -> HubName | None:
    """Return the model that a link names; None if the link only opens the window.

    Raises:
        LinkInvalid: The text is not a link of Hearth.
    """
    if len(text) > _LONGEST:
        raise _invalid(text, N_("It is too long."))
    # Some systems and browsers write the scheme in capitals.
    link = text[: len(SCHEME)].lower() + text[len(SCHEME) :]
    if link in _PLAIN:
        return None
    match = _MODEL.fullmatch(link)
    if match is None:
        raise _invalid(text, N_("Hearth has nothing to show for this link."))
    try:
        name = hub_name(match[1], ())
    except HubNameInvalid as error:
        raise _invalid(text, error.why) from error
    return name


def path_of(text: str) -> str:
    """Return the path that an argument names; some desktops pass a file's URL instead."""
    if not text.lower().startswith("file:"):
        return text
    address = urlsplit(text)
    return unquote(address.path) if address.netloc in ("", "localhost") else text


def _invalid(text: str, why: str) -> LinkInvalid:
    short_text = on_one_line(text)
    short_text = short_text if len(short_text) <= _SHOWN else f"{short_text[: _SHOWN - 1]}…"
    return LinkInvalid(
        N_("“{link}” was not opened.", link=short_text),
        why,
        N_(
            "Links that Hearth opens are hearth: for its window and hearth://model/OWNER/NAME "
            "for a "
            "model on the Hub."
        ),
    )
