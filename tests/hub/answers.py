"""The answers of the loopback Hub without faults: its addresses, and each account's access."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from urllib.parse import parse_qs, quote, urlencode

from tests.hub import descriptions
from tests.hub.messages import Reply, Request, error_reply, json_reply, ranged
from tests.hub.repositories import Commit, HostedRepo, HubFile
from tests.hub.search import found

API = re.compile(r"/api/models/(?P<repo>[^/]+/[^/]+)(?:/(?P<what>[a-z-]+)(?:/(?P<rest>.+))?)?")
FILE = re.compile(r"/(?P<repo>[^/]+/[^/]+)/(?P<what>resolve|raw)/(?P<rest>.+)")


class Refused(Exception):
    """An exception that ends an answer early with another reply."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply


@dataclass
class Account:
    """The owner of a token, and the gated or private repositories that it opens."""

    name: str
    access: set[str] = field(default_factory=set)


@dataclass
class Answers:
    """The repositories and accounts of a Hub.

    Attributes:
        page: The most entries of an answer.
    """

    page: int = 1000
    repos: dict[str, HostedRepo] = field(default_factory=dict)
    accounts: dict[str, Account] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    base: str = ""

    def answer(self, request: Request) -> Reply:
        """Return the reply to any request; 404 for an address that the Hub does not have."""
        try:
            return self._answer(request)
        except Refused as refused:
            return refused.reply

    def _answer(self, request: Request) -> Reply:
        account = self._account(request)
        if request.path == "/api/whoami-v2":
            return self._who(account)
        if request.path == "/api/models":
            return self._search(request, account)
        if match := API.fullmatch(request.path):
            repo = self._repo(request, match["repo"], account)
            what, rest = match["what"] or "revision", match["rest"] or "main"
            if what == "auth-check":
                self._let_in(repo, account)
                return json_reply({})
            if what == "revision":
                return self._model(request, repo, self._commit(repo, rest))
            revision, _, path = rest.partition("/")
            commit = self._commit(repo, revision)
            if what == "tree":
                return self._tree(request, commit, path)
            if what == "paths-info" and request.method == "POST":
                return self._paths(request, commit)
            if what == "xet-read-token":
                return self._xet_token(repo, commit, account)
        if match := FILE.fullmatch(request.path):
            repo = self._repo(request, match["repo"], account)
            revision, _, path = match["rest"].partition("/")
            commit = self._commit(repo, revision)
            self._let_in(repo, account)
            return self._file(request, repo, commit, path)
        return error_reply(404, None, "Sorry, we can't find the page you are looking for.")

    def _account(self, request: Request) -> Account | None:
        token = request.token
        if token is None:
            return None
        if token not in self.accounts:
            message = "Invalid credentials in Authorization header"
            raise Refused(error_reply(401, None, message))
        return self.accounts[token]

    def _who(self, account: Account | None) -> Reply:
        if account is None:
            return error_reply(401, None, "Invalid username or password.")
        token = {"type": "access_token", "accessToken": {"displayName": "test", "role": "read"}}
        who = {"type": "user", "id": "1", "name": account.name, "fullname": account.name.title()}
        return json_reply({**who, "isPro": False, "orgs": [], "auth": token})

    def _search(self, request: Request, account: Account | None) -> Reply:
        query = request.query
        try:
            asked = int(query.get("limit", ["1000"])[-1])
            seen = [repo for repo in self.repos.values() if self._may_see(repo, account)]
            repos = found(seen, query)
        except ValueError as error:
            return error_reply(400, None, str(error))
        start, limit = int(query.get("cursor", ["0"])[-1]), min(asked, self.page)
        fields = descriptions.LISTED_IN_FULL if request.asks("full") else descriptions.LISTED
        fields = self._expanded(request) or fields
        if request.asks("cardData"):
            fields = fields | {"cardData"}
        page = repos[start : start + limit]
        reply = json_reply([descriptions.model_json(repo, repo.head, fields) for repo in page])
        more = start + limit < len(repos)
        return self._with_next(request, reply, start + limit) if more else reply

    def _with_next(self, request: Request, reply: Reply, cursor: int) -> Reply:
        query = {**request.query, "cursor": [str(cursor)]}
        address = f"{self.base}{quote(request.path)}?{urlencode(query, doseq=True)}"
        return reply.plus(Link=f'<{address}>; rel="next"')

    def _expanded(self, request: Request) -> set[str]:
        asked = {name for given in request.query.get("expand", []) for name in given.split(",")}
        if unknown := asked - descriptions.EXPANDABLE:
            raise Refused(error_reply(400, None, f"Invalid expand: {', '.join(sorted(unknown))}"))
        return asked

    def _model(self, request: Request, repo: HostedRepo, commit: Commit) -> Reply:
        fields = self._expanded(request) or descriptions.TOLD
        blobs = request.asks("blobs")
        return json_reply(descriptions.model_json(repo, commit, fields, blobs))

    def _tree(self, request: Request, commit: Commit, path: str) -> Reply:
        expand = request.asks("expand")
        entries = descriptions.tree_json(commit, path, request.asks("recursive"), expand)
        if entries is None:
            raise Refused(self._no_entry(commit, path))
        start = int(request.query.get("cursor", ["0"])[-1])
        reply = json_reply(entries[start : start + self.page])
        more = start + self.page < len(entries)
        return self._with_next(request, reply, start + self.page) if more else reply

    def _paths(self, request: Request, commit: Commit) -> Reply:
        if request.headers.get("content-type", "").startswith("application/json"):
            asked = json.loads(request.body)
            paths, expand = asked["paths"], bool(asked.get("expand"))
        else:
            form = parse_qs(request.body.decode())
            paths, expand = form.get("paths", []), form.get("expand", [""])[0].lower() == "true"
        folders = descriptions.folders_of(commit)
        said = []
        for path in paths:
            if path in commit.files:
                said.append(descriptions.file_json(commit.files[path], commit, expand))
            elif path in folders:
                said.append(descriptions.folder_json(path, commit, expand))
        return json_reply(said)

    def _xet_token(self, repo: HostedRepo, commit: Commit, account: Account | None) -> Reply:
        self._let_in(repo, account)
        url, token, expires = f"{self.base}/cas", "xet", 4_102_444_800
        said = json_reply({"casUrl": url, "accessToken": token, "exp": expires})
        return said.plus(
            X_Xet_Cas_Url=url, X_Xet_Access_Token=token, X_Xet_Token_Expiration=str(expires)
        )

    def _file(self, request: Request, repo: HostedRepo, commit: Commit, path: str) -> Reply:
        file = commit.files.get(path)
        if file is None:
            return self._no_entry(commit, path)
        return ranged(request, Reply(200, self.file_headers(repo, commit, file), file.content))

    def file_headers(self, repo: HostedRepo, commit: Commit, file: HubFile) -> dict[str, str]:
        """Return the headers with which `resolve` describes a file."""
        name = file.path.rsplit("/", 1)[-1]
        plain = file.path.endswith((".md", ".txt", ".json"))
        headers = {
            "Accept-Ranges": "bytes",
            "Content-Disposition": f'inline; filename="{name}";',
            "Content-Type": "text/plain; charset=utf-8" if plain else "application/octet-stream",
            "ETag": file.etag,
            "X-Repo-Commit": commit.id,
        }
        if file.sha256:
            headers |= {"X-Linked-Etag": file.etag, "X-Linked-Size": str(file.size)}
        if file.xet_hash:
            token = f"{self.base}/api/models/{repo.id}/xet-read-token/{commit.id}"
            headers |= {"X-Xet-Hash": file.xet_hash, "Link": f'<{token}>; rel="xet-auth"'}
        return headers

    def _no_entry(self, commit: Commit, path: str) -> Reply:
        message = f"Entry not found: {path}"
        return error_reply(404, "EntryNotFound", message, X_Repo_Commit=commit.id)

    def _may_see(self, repo: HostedRepo, account: Account | None) -> bool:
        return not repo.private or (account is not None and repo.id in account.access)

    def _repo(self, request: Request, name: str, account: Account | None) -> HostedRepo:
        """Return a repository that exists and may be seen.

        The error is the same for a missing repository and a hidden one.
        """
        if name in self.moved:
            path = quote(request.path.replace(name, self.moved[name], 1))
            query = urlencode(request.query, doseq=True)
            raise Refused(Reply(307, {"Location": f"{path}?{query}" if query else path}))
        repo = self.repos.get(name)
        if repo is None or not self._may_see(repo, account):
            status, message = (404, "Repository not found")
            if account is None:
                status, message = (401, "Invalid username or password.")
            raise Refused(error_reply(status, "RepoNotFound", message))
        return repo

    def _commit(self, repo: HostedRepo, revision: str) -> Commit:
        commit = repo.at(revision)
        if commit is None:
            raise Refused(error_reply(404, "RevisionNotFound", f"Invalid rev id: {revision}"))
        return commit

    def _let_in(self, repo: HostedRepo, account: Account | None) -> None:
        if not repo.gated or (account is not None and repo.id in account.access):
            return
        if account is None:
            message = f"Access to model {repo.id} is restricted. Please log in."
            raise Refused(error_reply(401, "GatedRepo", message))
        message = f"Access to model {repo.id} is restricted: ask at {self.base}/{repo.id} for it."
        raise Refused(error_reply(403, "GatedRepo", message))
