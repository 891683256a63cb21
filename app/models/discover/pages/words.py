"""Texts about models on the Hub and their files."""

from __future__ import annotations

import time

from PySide6.QtCore import QCoreApplication

from app.base.language import translated
from app.kit.look.format import figure, size
from app.kit.look.theme import Tone
from app.models.discover.values.offers import ModelPurpose, Offer
from app.models.hub.values.hub import Gate, Repository
from app.models.library.values.memory_use import Fits

_THOUSAND = 1000
_DAY_S = 24 * 3600

BETWEEN = "\u00a0· "
"""Separates facts in one line; a line never begins with it."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("discover", text)


def fits_word(fits: Fits) -> str:
    """Return the verdict as a word."""
    return {
        "fits": _tr("Fits"),
        "tight": _tr("Tight"),
        "partial": _tr("Partly"),
        "no": _tr("Too big"),
    }[fits]


def fits_sentence(fits: Fits) -> str:
    """Return the verdict as a sentence."""
    return {
        "fits": _tr("Fits in this computer’s memory."),
        "tight": _tr("Fits, but takes nearly all the memory that is free."),
        "partial": _tr("Fits partly on the graphics card; the rest runs on the processor."),
        "no": _tr("Needs more memory than is free on this computer."),
    }[fits]


def fits_look(fits: Fits) -> tuple[str, Tone]:
    """Return the icon and colour that go with the verdict."""
    looks: dict[Fits, tuple[str, Tone]] = {
        "fits": ("check", "good"),
        "tight": ("tight", "warn"),
        "partial": ("partly", "warn"),
        "no": ("close", "danger"),
    }
    return looks[fits]


def purpose_word(purpose: ModelPurpose) -> str:
    """Return the word for a purpose of models."""
    return {
        "everyday": _tr("Everyday chat"),
        "code": _tr("Code"),
        "sees": _tr("Sees pictures"),
        "small": _tr("Small"),
        "long": _tr("Long texts"),
    }[purpose]


def offer_facts(offer: Offer, *, licence: bool = True) -> str:
    """Return the size, the speed and the licence of an offer in one line.

    The speed is left out if it is not known, or if the model does not fit.

    Args:
        licence: Whether to name a licence that forbids nothing.
    """
    download = _tr("about {disk_bytes}") if offer.about else "{disk_bytes}"
    facts = [download.format(disk_bytes=size(offer.disk_bytes))]
    if not offer.at_least and offer.fits != "no":
        rate = figure(offer.tokens_per_s, 0 if offer.tokens_per_s >= 10 else 1)
        facts.append(_tr("about {number} tokens a second").format(number=rate))
    if offer.licence_note:
        facts.append(translated(offer.licence_note))
    elif offer.licence and licence:
        facts.append(_tr("licence {licence}").format(licence=offer.licence))
    return BETWEEN.join(facts)


def gate_word(gate: Gate) -> str:
    """Return the access that a repository requires; "" if it is open."""
    return {"open": "", "auto": _tr("Needs an account"), "manual": _tr("Needs consent")}[gate]


def count(number: int) -> str:
    """Format a number of downloads: 812, 1.2 k, 34 k, 5.6 M."""
    if number < _THOUSAND:
        return str(number)
    if number < _THOUSAND**2:
        thousands = number / _THOUSAND
        return f"{figure(thousands, 1 if thousands < 10 else 0)} k"
    return f"{figure(number / _THOUSAND**2, 1)} M"


def downloads(number: int) -> str:
    """Format a number of downloads, with the noun."""
    return (
        _tr("1 download") if number == 1 else _tr("{count} downloads").format(count=count(number))
    )


def likes(number: int) -> str:
    """Format a number of likes, with the noun."""
    return _tr("1 like") if number == 1 else _tr("{count} likes").format(count=count(number))


def parameters(number: int) -> str:
    """Format a number of parameters in billions, millions or thousands."""
    billions = number / 1e9
    if number < 1e6:
        return _tr("{number} thousand parameters").format(number=f"{number / 1e3:.0f}")
    if billions < 1:
        return _tr("{number} million parameters").format(number=f"{number / 1e6:.0f}")
    return _tr("{billions} billion parameters").format(
        billions=figure(billions, 0 if round(billions, 1) == round(billions) else 1)
    )


def ago(then: float, now: float | None = None) -> str:
    """Return how long ago a moment was, in words.

    Args:
        then: Seconds since 1970.
        now: The current time, in seconds since 1970.
    """
    days = int(((time.time() if now is None else now) - then) // _DAY_S)
    if days < 1:
        return _tr("today")
    if days == 1:
        return _tr("yesterday")
    if days < 60:
        return _tr("{days} days ago").format(days=days)
    if days < 730:
        return _tr("{days} months ago").format(days=days // 30)
    return _tr("{days} years ago").format(days=days // 365)


def split_name(repo: str) -> tuple[str, str]:
    """Return the name of a repository and its owner."""
    owner, _, name = repo.rpartition("/")
    return name, owner


def facts_of(repository: Repository) -> list[str]:
    """List the facts about a repository that are shown in one line."""
    facts = [split_name(repository.id)[1]]
    if repository.parameters:
        facts.append(parameters(repository.parameters))
    if repository.context_max:
        facts.append(
            _tr("context of {context} tokens").format(context=figure(repository.context_max))
        )
    facts += [downloads(repository.downloads), likes(repository.likes)]
    facts.append(
        _tr("licence {licence}").format(licence=repository.licence)
        if repository.licence
        else _tr("no licence given")
    )
    if repository.updated is not None:
        facts.append(_tr("changed {updated}").format(updated=ago(repository.updated)))
    return facts
