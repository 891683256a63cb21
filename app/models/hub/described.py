"""Reads the JSON in which the Hub describes repositories and accounts: pure.

Source: huggingface_hub's ModelInfo. Unlike it, unexpected JSON raises an error for the user.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError

from app.models.hub.refusals import unreadable
from app.models.hub.values.hub import Gate, RepoFile, Repository, SearchResult
from app.models.hub.values.names import is_repo, is_safe_path
from app.models.hub.values.tags import parameters_in

_Value = TypeVar("_Value")

_LICENCE = "license:"


def _printable(value: object) -> object:
    """Remove control characters, which could move a terminal's cursor."""
    return "".join(filter(str.isprintable, value)) if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_printable)]


class _Lfs(BaseModel):
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(ge=0)


class _File(BaseModel):
    rfilename: str
    size: int | None = Field(None, ge=0)
    lfs: _Lfs | None = None


class _TreeLfs(BaseModel):
    oid: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(ge=0)


class _Entry(BaseModel):
    """An entry of a file listing: a file or a folder."""

    type: str
    path: str
    size: int = Field(0, ge=0)
    lfs: _TreeLfs | None = None


class _Gguf(BaseModel):
    """The facts that the Hub read from one of the GGUF files."""

    total: int | None = None
    architecture: Text | None = None
    context_length: int | None = None


class _Listed(BaseModel):
    id: str
    gated: bool | Text = False
    downloads: int | None = None
    likes: int | None = None
    updated: datetime | None = Field(None, alias="lastModified")
    tags: list[Text] | None = None
    card: dict[str, Any] | None = Field(None, alias="cardData")
    gguf: _Gguf | None = None

    @property
    def gate(self) -> Gate:
        if not self.gated:
            return "open"
        return "manual" if self.gated == "manual" else "auto"

    @property
    def licence(self) -> str | None:
        """The licence's short name; the owner's own name for one that is not standard."""
        card = self.card or {}
        said = card.get("license")
        for tag in self.tags or ():
            if tag.startswith(_LICENCE):
                said = tag.removeprefix(_LICENCE)
        if said == "other":
            said = card.get("license_name") or said
        return str(_printable(said)) if isinstance(said, str) and said else None

    @property
    def facts(self) -> dict[str, Any]:
        """The fields that `SearchResult` and `Repository` share."""
        return {
            "id": self.id,
            "gate": self.gate,
            "licence": self.licence,
            "downloads": self.downloads or 0,
            "likes": self.likes or 0,
            "updated": self.updated.timestamp() if self.updated else None,
            "tags": tuple(self.tags or ()),
        }


class _Described(_Listed):
    sha: str = Field(pattern=r"^[0-9a-f]{40}$")
    siblings: list[_File] = []


class _Account(BaseModel):
    name: Text


_LISTED = TypeAdapter(list[_Listed])
_DESCRIBED = TypeAdapter(_Described)
_TREE = TypeAdapter(list[_Entry])
_ACCOUNT = TypeAdapter(_Account)


def listed(body: bytes) -> list[SearchResult]:
    """Read a list of repositories.

    Raises:
        HubUnreadable: The answer is not as expected.
    """
    return [
        SearchResult(**it.facts, parameters=(it.gguf and it.gguf.total) or parameters_in(it.id))
        for it in _read(_LISTED, body)
        if is_repo(it.id)
    ]


def described(body: bytes) -> tuple[Repository, bool]:
    """Read a repository with its files; the variants are not chosen yet.

    Files are left out if their names lead out of a folder or are invalid on some system.

    Returns:
        The repository, and whether the Hub gave the sizes of all files.

    Raises:
        HubUnreadable: The answer is not as expected.
    """
    it = _read(_DESCRIBED, body)
    if not is_repo(it.id):
        raise unreadable("It names a repository with an invalid name.")
    gguf = it.gguf or _Gguf()
    repository = Repository(
        **it.facts,
        revision=it.sha,
        architecture=gguf.architecture,
        context_max=gguf.context_length,
        parameters=gguf.total or parameters_in(it.id),
        files=tuple(
            RepoFile(file.rfilename, file.lfs.size, file.lfs.sha256)
            if file.lfs
            else RepoFile(file.rfilename, file.size or 0)
            for file in it.siblings
            if is_safe_path(file.rfilename)
        ),
    )
    return repository, all(file.lfs or file.size is not None for file in it.siblings)


def tree(body: bytes) -> list[RepoFile]:
    """Read one page of a file listing, with the same files as `described`.

    Raises:
        HubUnreadable: The answer is not as expected.
    """
    return [
        RepoFile(it.path, it.lfs.size, it.lfs.oid) if it.lfs else RepoFile(it.path, it.size)
        for it in _read(_TREE, body)
        if it.type == "file" and is_safe_path(it.path)
    ]


def name_of_account(body: bytes) -> str:
    """Read the name of an account.

    Raises:
        HubUnreadable: The answer is not as expected.
    """
    return _read(_ACCOUNT, body).name


def _read(shape: TypeAdapter[_Value], body: bytes) -> _Value:
    try:
        return shape.validate_json(body)
    except ValidationError as error:
        if error.errors()[0]["type"] != "json_invalid":
            raise unreadable("Something that a Hub always sends is missing.") from error
        if body.lstrip()[:1] == b"<":
            raise unreadable("It is a web page and not data.") from None
        raise unreadable("It is incomplete or not JSON.") from None
