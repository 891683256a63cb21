"""Says which media a model takes, and why a picture or a sound cannot be sent to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

from app.documents.values.documents import Attachment
from app.models.discover.values.offers import ProjectorOffer
from app.models.library.values.entry import ModelEntry
from engines.errors import Action, MediaUnsupported
from engines.sentences import N_
from engines.text import amount
from engines.types import LoadedModel, MediaKind

ALL: Final[frozenset[MediaKind]] = frozenset({"image", "audio"})


class OffersProjectors(Protocol):
    """Looks up the projector that can be downloaded for a model; see `Projectors`."""

    def offer(self, entry: ModelEntry) -> ProjectorOffer | None:
        """Return the projector that can be downloaded for a model; None if there is none."""


def expected_of(entry: ModelEntry) -> frozenset[MediaKind]:
    """Return the media a model might take, before it is loaded.

    A llama.cpp model without a projector takes none.
    """
    if entry.engine == "llamacpp" and entry.projector is None:
        return frozenset()
    return ALL


def supported_by(loaded: LoadedModel) -> frozenset[MediaKind]:
    """Return the media a loaded model takes, counting those that its server does not mention."""
    senses: dict[MediaKind, bool | None] = {"image": loaded.sees, "audio": loaded.hears}
    return frozenset(kind for kind, has in senses.items() if has is not False)


def require_senses(
    attachments: Iterable[Attachment],
    supported: frozenset[MediaKind],
    entry: ModelEntry,
    projectors: OffersProjectors | None = None,
) -> None:
    """Refuse a question with a picture or sound that its model does not take.

    Args:
        projectors: None offers no projector.

    Raises:
        MediaUnsupported: The error says what is missing.
    """
    for attachment in attachments:
        kind = attachment.kind.medium
        if kind is not None and kind not in supported:
            offer = None
            if projectors is not None and entry.projector is None:
                offer = projectors.offer(entry)
            refusal = _no_sight if kind == "image" else _no_hearing
            raise refusal(attachment.name, entry, offer)


def _no_sight(name: str, entry: ModelEntry, offer: ProjectorOffer | None) -> MediaUnsupported:
    what = N_("“{model}” cannot see pictures, and “{file}” is one.", model=entry.name, file=name)
    if entry.builtin:
        return MediaUnsupported(
            what,
            N_("The built-in guide reads nothing but text."),
            N_("Get a model that sees, or leave the picture out."),
            Action("find_model"),
        )
    if entry.on_server:
        return MediaUnsupported(
            what,
            N_("Its server says that this model does not accept them."),
            N_("Choose a model that sees, or leave the picture out."),
        )
    if entry.engine == "vllm":
        return MediaUnsupported(
            what,
            N_("This model cannot see, or vLLM was started without room for pictures."),
            N_(
                "If the model can see, turn on “Pictures in vLLM”; otherwise choose a model "
                "that can."
            ),
            Action("open_settings", "vllm_pictures"),
            terminal=N_(
                "If the model can see, run `hearth settings set vllm_pictures on`; otherwise "
                "choose a model that can."
            ),
        )
    if offer is not None:
        size = amount(offer.size_bytes)
        return MediaUnsupported(
            what,
            N_("To see, it needs a projector, a separate file that is not on this computer."),
            N_(
                "Get the projector ({size}), choose a model that sees, or leave the picture out.",
                size=size,
            ),
            Action("get_projector", entry.id),
            terminal=N_(
                "`hearth models pull {repo} --projector` gets it ({size}); or choose a model that "
                "sees.",
                repo=offer.repo,
                size=size,
            ),
        )
    if entry.projector is None:
        return MediaUnsupported(
            what,
            N_(
                "It needs a projector for that, and there is none next to “{name}”.",
                name=entry.path.name,
            ),
            N_("Choose a model that sees, or put this model’s projector into its folder."),
            Action("find_model"),
        )
    return MediaUnsupported(
        what,
        N_(
            "Its projector, {name}, is not for pictures, or there was no memory left for it.",
            name=entry.projector.name,
        ),
        N_("Choose a model that sees; or close other programs and load this one again."),
    )


def _no_hearing(name: str, entry: ModelEntry, offer: ProjectorOffer | None) -> MediaUnsupported:
    what = N_("“{model}” cannot hear sounds, and “{file}” is one.", model=entry.name, file=name)
    if entry.builtin:
        return MediaUnsupported(
            what,
            N_("The built-in guide reads nothing but text."),
            N_("Get a model that hears, or leave the sound out."),
            Action("find_model"),
        )
    if entry.on_server:
        return MediaUnsupported(
            what,
            N_("Its server says that this model does not accept them."),
            N_("Choose a model that hears, or leave the sound out."),
        )
    if entry.engine == "vllm":
        return MediaUnsupported(
            what,
            N_("This model cannot hear, or vLLM was started without room for sounds."),
            N_(
                "If the model can hear, turn on “Sounds in vLLM”; otherwise choose a model "
                "that can."
            ),
            Action("open_settings", "vllm_sounds"),
            terminal=N_(
                "If the model can hear, run `hearth settings set vllm_sounds on`; otherwise "
                "choose a model that can."
            ),
        )
    if offer is not None:
        size = amount(offer.size_bytes)
        return MediaUnsupported(
            what,
            N_("To hear, it needs a projector, a separate file that is not on this computer."),
            N_(
                "Get its projector ({size}), which may be for pictures alone; or choose a model "
                "that "
                "hears.",
                size=size,
            ),
            Action("get_projector", entry.id),
            terminal=N_(
                "`hearth models pull {repo} --projector` gets it ({size}), which may be for "
                "pictures "
                "alone; or choose a model that hears.",
                repo=offer.repo,
                size=size,
            ),
        )
    if entry.projector is None:
        return MediaUnsupported(
            what,
            N_(
                "It needs a projector for that, and there is none next to “{name}”.",
                name=entry.path.name,
            ),
            N_("Choose a model that hears, or put this model’s projector into its folder."),
            Action("find_model"),
        )
    return MediaUnsupported(
        what,
        N_(
            "Its projector, {name}, is not for sounds, or there was no memory left for it.",
            name=entry.projector.name,
        ),
        N_("Choose a model that hears; or close other programs and load this one again."),
    )
