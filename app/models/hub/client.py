"""The client for the Hub: search, repositories, README pages and headers.

hub = Hub(gate, token=lambda: None)
for result in hub.search(Query("gemma", mtp=True)): print(result.id)
repository = hub.repository("ggml-org/gemma-4-E2B-it-GGUF")
header = read_header(hub.headers(repository, repository.variants[0], folder))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

from app.base.errors import GatedRepository, HubNameInvalid
from app.models.hub.api import hub_api
from app.models.hub.refusals import unreadable
from app.models.hub.remote_header import fetch_headers
from app.models.hub.repository import choose
from app.models.hub.values.hub import Query, RepoFile, Repository, SearchResult, Sort, Variant
from app.models.hub.values.names import HUBS, hub_name
from app.models.hub.values.tags import drafts_ahead
from app.models.library.values.quantisations import best_variant
from app.net import Gate, endpoint
from app.net.values.connections import Purpose
from engines.sentences import N_

if TYPE_CHECKING:
    import httpx2
    from huggingface_hub.hf_api import ExpandModelProperty_T

CARD: Final = "README.md"
_CARD_MOST: Final = 1 << 20
_PART_S: Final = 600.0
"""The timeout for part of a file: such a part has several MB, and connections can be slow."""

_MOST_REQUESTED: Final = 200
"""The most repositories to request in one answer.

When Hearth filters the results itself, it requests more than it needs.
"""

_LISTED: Final[list[ExpandModelProperty_T]] = [
    "downloads", "gated", "gguf", "lastModified", "likes", "tags",
]  # fmt: skip
"""The facts that a search requests.

The front matter of the READMEs is not one of them: the library fails on odd ones, so anyone could
make one that ends every search.
"""

_SORTS: Final[dict[Sort, Literal["downloads", "likes", "last_modified"]]] = {
    "downloads": "downloads", "likes": "likes", "updated": "last_modified", "name": "downloads",
}  # fmt: skip


class Hub:
    """The client for the Hub, or for the mirror that HF_ENDPOINT names.

    Every method blocks, can be called from any thread, and raises the errors of `hub_api`.

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
        searches = [(words, tags)]
        if query.mtp:
            searches = [(f"{words} mtp".strip(), tags), (words, [*tags, "mtp"])]
        answers = (self._list(words, tags, query) for words, tags in searches)
        results = {
            result.id: result for result in chain.from_iterable(answers) if _matches(result, query)
        }
        return sorted(results.values(), key=_ORDERS[query.sort])[: query.limit]

    def repository(
        self, repo: str, revision: str = "main", purpose: Purpose = "look at a model"
    ) -> Repository:
        """Describe a repository and its files at the commit that `revision` points to now.

        The `drafter` of the result belongs to the variant that suits most people.
        """
        from app.models.hub.described import described, tree

        with hub_api(self._gate, purpose, self._token(), repo) as api:
            try:
                info = api.model_info(repo, revision=revision, files_metadata=True)
            except (TypeError, AttributeError):
                # The library fails on odd front matter of the README, such as a key named "self".
                info = api.model_info(repo, revision=revision, expand=[*_LISTED, "sha", "siblings"])
            repository, sized = described(info)
            if not sized:  # as after `expand`, and from some mirrors
                entries = api.list_repo_tree(
                    repository.id, revision=repository.revision, recursive=True
                )
                repository = replace(repository, files=tree(entries))
        choice = choose(repository.files, repository.id)
        usual = best_variant(choice.variants, lambda _: "tight")
        return replace(
            repository,
            variants=choice.variants,
            drafter=choice.drafter_for(usual) if usual else None,
        )

    def card(self, repository: Repository) -> str:
        """Return the README as safe markdown.

        Returns:
            An empty string if there is no README, or if this account has no access to it.
        """
        from app.models.hub.card import safe_card

        file = next((file for file in repository.files if file.path == CARD), None)
        if file is None:
            return ""
        part = (0, _CARD_MOST - 1) if file.size > _CARD_MOST else None
        try:
            answer = self._file("look at a model", repository, CARD, part)
        except GatedRepository:
            return ""
        return safe_card(answer.content.decode(errors="replace"))

    def account_of(self, token: str) -> str:
        """Return the name of the account that a token belongs to.

        Raises:
            TokenRefused: The Hub does not accept the token.
        """
        from app.models.hub.described import name_of_account

        with hub_api(self._gate, "test a token", token) as api:
            return name_of_account(api.whoami(token))

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

    def read_part(self, repository: Repository, file: RepoFile, start: int, length: int) -> bytes:
        """Read a part of a file. Raises HubUnreadable if another part comes."""
        last = start + length - 1
        answer = self._file("read a model's header", repository, file.path, (start, last))
        if answer.status_code != 206:
            raise unreadable(N_("It is not the requested part of the file."))
        part = answer.headers.get("Content-Range")
        if part != f"bytes {start}-{last}/{file.size}" or len(answer.content) != length:
            raise unreadable(N_("It is another part of the file, or of another file."))
        return answer.content

    def _list(self, words: str, tags: list[str], query: Query) -> list[SearchResult]:
        from app.models.hub.described import listed

        ours = query.mtp or query.most_parameters is not None
        with hub_api(self._gate, "search for models", self._token()) as api:
            models = api.list_models(
                filter=tags,
                search=words or None,
                sort=_SORTS[query.sort],
                limit=min(query.limit * 4 if ours else query.limit, _MOST_REQUESTED),
                expand=_LISTED,
            )
            return listed(models)

    def _file(
        self, purpose: Purpose, repository: Repository, path: str, part: tuple[int, int] | None
    ) -> httpx2.Response:
        """Request a file, or its part from one byte to another."""
        from huggingface_hub import get_session, hf_hub_url

        token = self._token()
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if part:
            headers |= {"Range": f"bytes={part[0]}-{part[1]}", "Accept-Encoding": "identity"}
        more = {"within_s": _PART_S} if part else {}
        with hub_api(self._gate, purpose, token, repository.id) as api:
            url = hf_hub_url(
                repository.id, path, revision=repository.revision, endpoint=api.endpoint
            )
            answer = get_session().get(url, headers=headers, extensions=more)
        if answer.headers.get("Content-Type", "").lower().startswith("text/html"):
            raise unreadable(N_("It is a web page and not data."))
        return answer


def _words(words: str) -> str:
    """Return the words to search for: the repository's name if `words` is a page's address."""
    words = words.strip()
    mirror = urlsplit(endpoint()).netloc
    try:
        return hub_name(words, (*HUBS, mirror)).repo
    except HubNameInvalid:
        return words


def _matches(result: SearchResult, query: Query) -> bool:
    """Apply the filters that the Hub lacks or does not always apply."""
    if query.mtp and not drafts_ahead(result.id, result.tags):
        return False
    most = query.most_parameters
    return most is None or (result.parameters is not None and result.parameters <= most)


_ORDERS: Final[dict[Sort, Callable[[SearchResult], tuple[float | str, str]]]] = {
    "downloads": lambda result: (-result.downloads, result.id),
    "likes": lambda result: (-result.likes, result.id),
    "updated": lambda result: (-(result.updated or 0.0), result.id),
    "name": lambda result: (result.id.partition("/")[2].lower(), result.id),
}
