"""`hearth about`: prints versions and the licences of Hearth's parts."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from app.base.shipped import LICENCES
from app.help.services.licences import Licences
from app.help.values.about import Part
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output, labelled, table
from engines.sentences import N_


def show_about(args: argparse.Namespace, out: Output) -> int:
    """Print the versions, the list of parts, or the licence of one part.

    Raises PartUnknown or LicencesUnreadable.
    """
    licences = Licences(LICENCES)
    if args.part is not None:
        _show_part(licences, licences.part(args.part), out)
    elif args.licences:
        parts = licences.all()
        out.value(
            [_as_value(licences, part) for part in parts],
            lambda: table(
                [
                    (part.name, part.short_version, part.licence or N_("not stated"))
                    for part in parts
                ]
            ),
        )
    else:
        from app.help.services.about import about

        versions = about("", licences).versions
        out.value(dict(versions), lambda: labelled([version for version in versions if version[1]]))
    return 0


def _show_part(licences: Licences, part: Part, out: Output) -> None:
    licence = licences.text(part)
    head = N_(
        "{name} {short_version}: {licence}",
        name=part.name,
        short_version=part.short_version,
        licence=part.licence or N_("not stated"),
    )
    text = "\n\n".join(text for text in (head, licence.notice, licence.joined) if text)
    out.value(_as_value(licences, part), lambda: text)


def _as_value(licences: Licences, part: Part) -> dict[str, object]:
    """Return a part as a JSON value, with the full texts of its licences."""
    licence = licences.text(part)
    return {**asdict(part), "texts": dict(licence.texts), "notice": licence.notice}


COMMAND = Command(
    "about",
    "show the versions and licences of Hearth and its parts",
    run_closed=lambda _, args, out: show_about(args, out),
    arguments=(
        Argument(
            "part", N_("show the licence of this part, such as Qt"), nargs="?", metavar="PART"
        ),
        Argument("--licences", N_("list all parts with their licences"), action="store_true"),
    ),
)
