"""Checks huggingface_hub's values for repositories and accounts, and converts them into ours: pure.

The library itself checks nothing. A value of an unexpected kind raises ValueError.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from app.models.hub.refusals import unreadable
from app.models.hub.values.hub import Gate, RepoFile, Repository, SearchResult
from app.models.hub.values.names import is_repo, is_safe_path
from app.models.hub.values.tags import parameters_in
from engines.sentences import N_

if TYPE_CHECKING:
    from huggingface_hub import ModelInfo
    from huggingface_hub import RepoFile as TreeFile
    from huggingface_hub.hf_api import RepoFolder

_LICENCE = "license:"


def _printable(value: object) -> object:
    """Remove control characters, which could move a terminal's cursor."""
    return "".join(filter(str.isprintable, value)) if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_printable)]


class _Checked(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class _Lfs(_Checked):
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(ge=0)


class _File(_Checked):
    rfilename: str
    size: int | None = Field(None, ge=0)
    lfs: _Lfs | None = None


class _Gguf(_Checked):
    """The facts that the Hub read from one of the GGUF files."""

    total: int | None = None
    architecture: Text | None = None
    context_length: int | None = None


class _Card(_Checked):
    """The front matter of the README."""

    license: Any = None
    license_name: Any = None


class _Listed(_Checked):
    id: str
    gated: bool | Text | None = False
    downloads: int | None = None
    likes: int | None = None
    last_modified: datetime | None = None
    tags: list[Text] | None = None
    card_data: _Card | None = None
    gguf: _Gguf | None = None

    @property
    def gate(self) -> Gate:
        if not self.gated:
            return "open"
        return "manual" if self.gated == "manual" else "auto"

    @property
    def licence(self) -> str | None:
        """The licence's short name; the owner's own name for one that is not standard."""
        card = self.card_data or _Card()
        licence = card.license
        for tag in self.tags or ():
            if tag.startswith(_LICENCE):
                licence = tag.removeprefix(_LICENCE)
        if licence == "other":
            licence = card.license_name or licence
        return str(_printable(licence)) if isinstance(licence, str) and licence else None

    @property
    def facts(self) -> dict[str, Any]:
        """The fields that `SearchResult` and `Repository` share."""
        return {
            "id": self.id,
            "gate": self.gate,
            "licence": self.licence,
            "downloads": self.downloads or 0,
            "likes": self.likes or 0,
            "updated": self.last_modified.timestamp() if self.last_modified else None,
            "tags": tuple(self.tags or ()),
            "parameters": (self.gguf and self.gguf.total) or parameters_in(self.id),
        }


class _Described(_Listed):
    sha: str = Field(pattern=r"^[0-9a-f]{40}$")
    siblings: list[_File] | None = None


class _Account(_Checked):
    name: Text


def listed(models: Iterable[ModelInfo]) -> list[SearchResult]:
    """Check a list of repositories."""
    checked = map(_Listed.model_validate, models)
    return [SearchResult(**model.facts) for model in checked if is_repo(model.id)]


def described(info: ModelInfo) -> tuple[Repository, bool]:
    """Check a repository with its files; the variants are not chosen yet.

    Returns:
        The repository, and whether the Hub gave the sizes of all files.

    Raises:
        HubUnreadable: The repository's name is invalid.
    """
    model = _Described.model_validate(info)
    if not is_repo(model.id):
        raise unreadable(N_("It names a repository with an invalid name."))
    gguf = model.gguf or _Gguf()
    siblings = model.siblings or []
    repository = Repository(
        **model.facts,
        revision=model.sha,
        architecture=gguf.architecture,
        context_max=gguf.context_length,
        files=_files(siblings),
    )
    return repository, all(file.lfs or file.size is not None for file in siblings)


def tree(entries: Iterable[TreeFile | RepoFolder]) -> tuple[RepoFile, ...]:
    """Check the files of a listing."""
    return _files(_File.model_validate(entry) for entry in entries if hasattr(entry, "rfilename"))


def name_of_account(account: dict[str, Any]) -> str:
    """Check the name of an account."""
    return _Account.model_validate(account).name


def _files(files: Iterable[_File]) -> tuple[RepoFile, ...]:
    """Leave out files whose names lead out of a folder or are invalid on some system."""
    return tuple(
        RepoFile(file.rfilename, file.lfs.size, file.lfs.sha256)
        if file.lfs
        else RepoFile(file.rfilename, file.size or 0)
        for file in files
        if is_safe_path(file.rfilename)
    )
