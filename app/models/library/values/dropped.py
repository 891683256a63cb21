"""The kinds of files and folders that can be given to the list of models, and its refusals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from engines.errors import NotAModel, UserError
from engines.sentences import N_, joined

ModelKind = Literal["model", "no_model", "models", "weights"]
"""A model that can be added; a file that is only named like one; a folder with models in it; or a
safetensors file, which is a part of a model."""


def refusal(path: Path, kind: str) -> NotAModel:
    """Make the error for a file or folder that was dropped as a model and is none.

    Args:
        kind: "weights" for a safetensors file, which is a part of a model.
    """
    what = N_("“{name}” was not added.", name=path.name)
    if kind == "weights":
        return NotAModel(
            what,
            N_("It is a safetensors file: one part of a model for vLLM."),
            N_(
                "Drop its whole folder, with the config.json, or look for a GGUF version of the "
                "same model: most models have one."
            ),
        )
    return NotAModel(
        what,
        N_("This page takes models: GGUF files, and folders with models in them."),
        N_("To ask about a file, drop it on a chat; to import chats, on the list of chats."),
    )


def refuse_several(errors: Sequence[UserError]) -> NotAModel:
    """Make one error of those of several files."""
    return NotAModel(
        N_("{count} files were not added.", count=len(errors)),
        joined(" ", dict.fromkeys(error.what for error in errors)),
        N_("Add one of them by itself to see the reason."),
    )
