"""Says what a model sees and hears, and why a picture or a sound cannot be sent to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from app.core.documents import Attachment
from app.core.models.entry import ModelEntry
from app.core.models.offers import ProjectorOffer
from engines.errors import Action, MediaUnsupported
from engines.text import amount
from engines.types import LoadedModel, MediaKind

ALL: Final[frozenset[MediaKind]] = frozenset({"image", "audio"})

_WORDS: Final[dict[MediaKind, tuple[str, str, str]]] = {
    "image": ("a picture", "see pictures", "sees"),
    "audio": ("a sound", "hear sounds", "hears"),
}

ProjectorOf = Callable[[ModelEntry], ProjectorOffer | None]
"""Finds the projector that could be fetched for a model."""


def expected_of(entry: ModelEntry) -> frozenset[MediaKind]:
    """Return what a model may take, before it is loaded: llama.cpp's takes nothing without one."""
    if entry.engine == "llamacpp" and entry.projector is None:
        return frozenset()
    return ALL


def taken_by(loaded: LoadedModel) -> frozenset[MediaKind]:
    """Return what a loaded model takes; a server that does not tell is tried."""
    senses: dict[MediaKind, bool | None] = {"image": loaded.sees, "audio": loaded.hears}
    return frozenset(kind for kind, has in senses.items() if has is not False)


def require_senses(
    attachments: Iterable[Attachment],
    taken: frozenset[MediaKind],
    entry: ModelEntry,
    projector_of: ProjectorOf,
) -> None:
    """Refuse a question with a picture or a sound that its model does not take.

    Raises MediaUnsupported, which says what is missing.
    """
    for it in attachments:
        kind = it.kind.medium
        if kind is not None and kind not in taken:
            raise _refusal(it.name, kind, entry, projector_of)


def _refusal(
    name: str, kind: MediaKind, entry: ModelEntry, projector_of: ProjectorOf
) -> MediaUnsupported:
    what, can, does = _WORDS[kind]
    title = f"“{entry.name}” cannot {can}, and “{name}” is {what}."
    other = f"choose a model that {does}, or take “{name}” out of the question"
    if entry.on_server:
        return MediaUnsupported(
            title, f"Its server says that this model does not {can}.", f"{other.capitalize()}."
        )
    if entry.engine == "vllm":
        return MediaUnsupported(
            title,
            f"Its configuration says that it is not made to {can}.",
            f"{other.capitalize()}.",
        )
    offer = projector_of(entry) if entry.projector is None else None
    if offer is not None:
        return MediaUnsupported(
            title,
            f"It {does} with a projector, a file of its own, which is not on this computer.",
            f"Fetch it ({amount(offer.size_bytes)}), or {other}.",
            Action("get_projector", entry.id),
            terminal=f"`hearth models pull {offer.repo} --projector` fetches it"
            f" ({amount(offer.size_bytes)}).",
        )
    if entry.projector is None:
        return MediaUnsupported(
            title,
            f"For that it would need a projector, and none lies beside “{entry.path.name}”.",
            f"{other.capitalize()}; or put the projector of this model into its folder.",
        )
    return MediaUnsupported(
        title,
        f"Its projector, {entry.projector.name}, is not for that, or was left out as memory was"
        " short when the model was loaded.",
        f"{other.capitalize()}; or close other programs and load the model again.",
    )
