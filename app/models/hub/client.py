"""The client for the Hub: search, repositories, README pages and headers.

hub = Hub(gate, token=lambda: None)
for found in hub.search(Query("gemma", mtp=True)): print(found.id)
repository = hub.repository("ggml-org/gemma-4-E2B-it-GGUF")
header = read_header(hub.headers(repository, repository.variants[0], folder))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from app.base.errors import GatedRepository, HubNameInvalid
from app.models.hub.api_request import Answer, Asking, ask
from app.models.hub.refusals import unreadable
from app.models.hub.remote_header import fetch_headers
from app.models.hub.repository import choose
from app.models.hub.values.hub import Query, RepoFile, Repository, SearchResult, Sort, Variant
from app.models.hub.values.names import HUBS, hub_name
from app.models.hub.values.tags import drafts_ahead
from app.models.library.values.quantisations import best_variant
from app.net import Gate, endpoint
from app.net.values.connections import Purpose

CARD: Final = "README.md"
_CARD_MOST: Final = 1 << 20
_PAGES: Final = 50  # pages of a file listing; each has up to a thousand files
_ASKED_MOST: Final = 200
"""The most repositories to request in one answer.

When Hearth filters the results itself, it requests more than it needs.
"""

_SORTS: Final = {
    "downloads": "downloads", "likes": "likes", "updated": "lastModified", "name": "downloads",
}  # fmt: skip
_TOLD: Final = ("cardData", "downloads", "gated", "gguf", "lastModified", "likes", "tags")


class Hub:
    """The client for the Hub, or for the mirror that HF_ENDPOINT names.

    Every method blocks, can be called from any thread, and raises the errors of `api_request.ask`.

    Args:
        token: Returns the account's token; called before each request. None means no account.
    """

    def __init__(self, gate: Gate, token: Callable[[], str | None]) -> None:
        self._gate = gate
        self._token = token

    def search(self, query: Query) -> list[SearchResult]:
        """Search for repositories that have GGUF files.

        The Hub cannot filter by MTP, so `query.mtp` is decided by names and tags. `query.words` can
        also be the pasted address of a repository's page.
        """
        words = _words(query.words)
        tags = ["gguf", *([f"license:{query.licence.lower()}"] if query.licence else [])]
        asked = [(words, tags)]
        if query.mtp:
            asked = [(f"{words} mtp".strip(), tags), (words, [*tags, "mtp"])]
        answers = (self._list(words, tags, query) for words, tags in asked)
        found = {it.id: it for it in chain.from_iterable(answers) if _wanted(it, query)}
        return sorted(found.values(), key=_ORDERS[query.sort])[: query.limit]

    def repository(
        self, repo: str, revision: str = "main", purpose: Purpose = "look at a model"
    ) -> Repository:
        """Describe a repository and its files at the commit that `revision` points to now.

        The `drafter` of the result belongs to the variant that suits most people.
        """
        from app.models.hub.described import described

        asking = Asking(
            purpose,
            f"/api/models/{quote(repo)}/revision/{quote(revision, safe='')}",
            self._token(),
            {"blobs": "true"},
            repo,
        )
        repository, sized = described(ask(self._gate, asking).body)
        if not sized:
            repository = replace(repository, files=self._tree(repository, purpose))
        choice = choose(repository.files, repository.id)
        usual = best_variant(choice.variants, lambda _: "tight")
        return replace(
            repository,
            variants=choice.variants,
            drafter=choice.along_with(usual) if usual else None,
        )

    def card(self, repository: Repository) -> str:
        """Return the README as safe markdown.

        Returns:
            An empty string if there is no README, or if this account has no access to it.
        """
        from app.models.hub.card import safe_card

        file = next((it for it in repository.files if it.path == CARD), None)
        if file is None:
            return ""
        some = (0, _CARD_MOST - 1) if file.size > _CARD_MOST else None
        try:
            answer = self._file("look at a model", repository, CARD, some)
        except GatedRepository:
            return ""
        return safe_card(answer.body.decode(errors="replace"))

    def who(self, token: str) -> str:
        """Return the name of the account that a token belongs to.

        Raises:
            TokenRefused: The Hub does not accept the token.
        """
        from app.models.hub.described import name_of_account

        asking = Asking("test a token", "/api/whoami-v2", token)
        return name_of_account(ask(self._gate, asking).body)

    def headers(self, repository: Repository, variant: Variant, folder: Path) -> Path:
        """Fetch the headers of a model's files, as sparse files of the true size.

        They are kept in `folder`, by repository and commit, and are fetched only once.

        Returns:
            The path of the first file.

        Raises:
            NotAModel, ModelDamaged, DiskFull, DataFolderReadOnly
        """
        within = folder / repository.id.replace("/", "--") / repository.revision
        return fetch_headers(partial(self.read_part, repository), variant.files, within)

    def _tree(self, repository: Repository, purpose: Purpose) -> tuple[RepoFile, ...]:
        """List the files with their sizes, for a mirror whose description lacks the sizes."""
        from app.models.hub.described import tree

        path = f"/api/models/{repository.id}/tree/{repository.revision}"
        params: dict[str, str | Sequence[str]] | None = {"recursive": "true"}
        files: list[RepoFile] = []
        for _ in range(_PAGES):
            asking = Asking(purpose, path, self._token(), params, repository.id)
            answer = ask(self._gate, asking)
            files += tree(answer.body)
            if answer.more is None:
                return tuple(files)
            if not answer.more.startswith(f"{endpoint()}/"):
                raise unreadable("Its next page is on another server.")
            path, params = answer.more.removeprefix(endpoint()), None
        raise unreadable("It has no end.")

    def read_part(self, repository: Repository, file: RepoFile, start: int, length: int) -> bytes:
        """Read a part of a file. Raises HubUnreadable if another part comes."""
        asked = (start, start + length - 1)
        answer = self._file("read a model's header", repository, file.path, asked)
        if answer.part is None:
            raise unreadable("It is not the part of a file that was asked for.")
        if answer.part != (*asked, file.size) or len(answer.body) != length:
            raise unreadable("It is another part of the file, or of another file.")
        return answer.body

    def _list(self, words: str, tags: list[str], query: Query) -> list[SearchResult]:
        from app.models.hub.described import listed

        ours = query.mtp or query.most_parameters is not None
        limit = min(query.limit * 4 if ours else query.limit, _ASKED_MOST)
        params: dict[str, str | Sequence[str]] = {
            "filter": tags,
            "expand": _TOLD,
            "sort": _SORTS[query.sort],
            "limit": str(limit),
        }
        if words:
            params["search"] = words
        asking = Asking("search for models", "/api/models", self._token(), params)
        return listed(ask(self._gate, asking).body)

    def _file(
        self, purpose: Purpose, repository: Repository, path: str, part: tuple[int, int] | None
    ) -> Answer:
        address = f"/{repository.id}/resolve/{repository.revision}/{quote(path)}"
        asking = Asking(purpose, address, self._token(), repo=repository.id, byte_range=part)
        return ask(self._gate, asking)


def _words(words: str) -> str:
    """Return the words to search for: the repository's name if `words` is a page's address."""
    words = words.strip()
    mirror = urlsplit(endpoint()).netloc
    try:
        return hub_name(words, (*HUBS, mirror)).repo
    except HubNameInvalid:
        return words


def _wanted(found: SearchResult, query: Query) -> bool:
    """Apply the filters that the Hub lacks or does not always apply."""
    if query.mtp and not drafts_ahead(found.id, found.tags):
        return False
    most = query.most_parameters
    return most is None or (found.parameters is not None and found.parameters <= most)


_ORDERS: Final[dict[Sort, Callable[[SearchResult], tuple[float | str, str]]]] = {
    "downloads": lambda it: (-it.downloads, it.id),
    "likes": lambda it: (-it.likes, it.id),
    "updated": lambda it: (-(it.updated or 0.0), it.id),
    "name": lambda it: (it.id.partition("/")[2].lower(), it.id),
}
