"""Searching, and fetching repositories, cards and accounts from the loopback Hub."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from app.base.errors import (
    AppError,
    GatedRepository,
    HubBusy,
    HubUnreadable,
    NoConnection,
    Offline,
    RepositoryUnknown,
    TokenRefused,
)
from app.models.hub.client import Hub
from app.models.hub.values.hub import Query, SearchResult, Sort
from app.net.values.connections import LoggedConnection
from tests.hub import faults
from tests.hub.contents import Made
from tests.hub.faults import Fault
from tests.hub.testhub import TestHub

Client = Callable[[str | None], Hub]
TOKEN = "hf_secretsecret"
GB = 1_000_000_000


def small(seed: int = 0) -> Made:
    return Made(2_000_000, seed)


@pytest.fixture
def filled(hub: TestHub) -> TestHub:
    hub.add(
        "ada/Alpha-4B-GGUF", {"Alpha-Q4_K_M.gguf": small()}, licence="mit", downloads=50, likes=1,
        gguf={"total": 4 * GB, "architecture": "llama", "context_length": 8192}, created=3e8,
    )  # fmt: skip
    hub.add(
        "bob/Beta-26B-A4B-GGUF", {"Beta-Q4_K_M.gguf": small()}, licence="apache-2.0",
        downloads=90, likes=5, pipeline_tag="image-text-to-text", created=5e8,
    )  # fmt: skip
    hub.add(
        "cy/Gamma-8B-MTP-GGUF", {"Gamma-Q4_K_M.gguf": small()}, downloads=70, likes=9,
        gated="manual", created=4e8,
    )  # fmt: skip
    hub.add("di/delta-9B-GGUF", {"d-Q4_0.gguf": small()}, downloads=10, tags=["mtp"], created=2e8)
    hub.add("eve/Weights-4B", {"model.safetensors": small()}, downloads=1000)
    return hub


def ids(found: list[SearchResult]) -> list[str]:
    return [it.id.partition("/")[0] for it in found]


@pytest.mark.parametrize(
    ("query", "owners"),
    [
        (Query(), ["bob", "cy", "ada", "di"]),
        (Query("beta"), ["bob"]),
        (Query("4b gguf"), ["bob", "ada"]),
        (Query("nothing like it"), []),
        (Query(mtp=True), ["cy", "di"]),
        (Query("gamma", mtp=True), ["cy"]),
        (Query("beta", mtp=True), []),
        (Query(licence="MIT"), ["ada"]),
        (Query(most_parameters=9 * GB), ["cy", "ada", "di"]),
        (Query(most_parameters=1), []),
        (Query(limit=2), ["bob", "cy"]),
        (Query(" https://huggingface.co/ada/Alpha-4B-GGUF/tree/main "), ["ada"]),
    ],
)
def test_search(filled: TestHub, client: Client, query: Query, owners: list[str]) -> None:
    assert ids(client(None).search(query)) == owners


@pytest.mark.parametrize(
    ("sort", "owners"),
    [
        ("likes", ["cy", "bob", "ada", "di"]),
        ("updated", ["bob", "cy", "ada", "di"]),
        ("name", ["ada", "bob", "di", "cy"]),
    ],
)
def test_order(filled: TestHub, client: Client, sort: Sort, owners: list[str]) -> None:
    assert ids(client(None).search(Query(sort=sort))) == owners


def test_the_facts_of_what_is_found(filled: TestHub, client: Client) -> None:
    found = {it.id.partition("/")[0]: it for it in client(None).search(Query())}
    assert (found["ada"].licence, found["ada"].parameters) == ("mit", 4 * GB)
    assert found["bob"].parameters == 26 * GB, "told by the name where the Hub has not counted"
    assert (found["ada"].gate, found["cy"].gate) == ("open", "manual")
    assert found["ada"].updated is not None
    assert (found["di"].licence, found["di"].likes) == (None, 0)


def test_a_repository_at_its_commit(hub: TestHub, client: Client) -> None:
    revision = hub.add(
        "ada/Tiny-GGUF",
        {
            "Tiny-Q4_K_M.gguf": small(1), "Tiny-Q8_0.gguf": Made(3_000_000, 2),
            "mtp-Tiny-Q8_0.gguf": Made(100_000, 3), "mmproj-F16.gguf": Made(200_000, 4),
            "config.json": "{}",
        },
        licence="other", card_data={"license_name": "lfm1.0"}, downloads=7,
        gguf={"total": 5, "architecture": "gemma4", "context_length": 4096},
    )  # fmt: skip
    first = client(None).repository("ada/Tiny-GGUF")
    assert (first.revision, first.licence, first.downloads) == (revision, "lfm1.0", 7)
    assert (first.architecture, first.context_max, first.parameters) == ("gemma4", 4096, 5)
    assert [it.label for it in first.variants] == ["Q4_K_M", "Q8_0"]
    file = first.variants[0].files[0]
    assert (file.size, file.sha256) == (
        2_000_000, hub.sha256("ada/Tiny-GGUF", "Tiny-Q4_K_M.gguf"),
    )  # fmt: skip
    assert first.drafter is not None
    assert first.drafter.path == "mtp-Tiny-Q8_0.gguf"
    assert next(it for it in first.files if it.path == "config.json").sha256 is None

    second = hub.change("ada/Tiny-GGUF", {"Tiny-Q8_0.gguf": None})
    assert client(None).repository("ada/Tiny-GGUF").revision == second
    assert client(None).repository("ada/Tiny-GGUF", revision) == first


@pytest.mark.parametrize("page", [1, 2, 100])
def test_a_mirror_that_tells_no_sizes_is_asked_for_the_tree(
    page: int, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TestHub(page=page) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hub.add("ada/Tree-GGUF", {"Q8_0/a-Q8_0.gguf": small(), "b-Q4_0.gguf": small(), "c": "c"})
        whole = client(None).repository("ada/Tree-GGUF")
        hub.fault(faults.Redirect(path="*/revision/main", to="/api/models/ada/Tree-GGUF", times=1))
        assert client(None).repository("ada/Tree-GGUF") == whole
        assert "/tree/" in hub.requests[-1].path


def test_a_repository_that_was_renamed(filled: TestHub, client: Client) -> None:
    filled.fault(
        faults.Redirect(
            path="/api/models/ada/Old-GGUF/*",
            to="/api/models/ada/Alpha-4B-GGUF/revision/main?blobs=true",
            status=307,
        )
    )
    assert client(None).repository("ada/Old-GGUF").id == "ada/Alpha-4B-GGUF"


def test_files_that_lead_out_of_a_folder_are_no_files(hub: TestHub, client: Client) -> None:
    hub.add(
        "ada/Odd-GGUF", {"../up-Q4_0.gguf": b"GGUF", "a:b-Q8_0.gguf": b"x", "ok-Q2_K.gguf": b"x"}
    )
    repository = client(None).repository("ada/Odd-GGUF")
    assert [file.path for file in repository.files] == ["ok-Q2_K.gguf"]


def test_the_card(hub: TestHub, client: Client) -> None:
    hub.add(
        "ada/Card-GGUF", {}, card="---\nlicense: mit\n---\n# Hi <b>x</b>\n![p](https://p.example)"
    )
    hub.add("ada/Bare-GGUF", {})
    hub.add("ada/Long-GGUF", {}, card="# Long\n\n" + "x" * 2_000_000)
    hub.add("ada/Shut-GGUF", {}, card="# Shut", gated="auto")
    ask = client(None)
    assert ask.card(ask.repository("ada/Card-GGUF")).startswith("# Hi x\n\n[p](https://p.example)")
    assert ask.card(ask.repository("ada/Bare-GGUF")) == ""
    assert ask.card(ask.repository("ada/Long-GGUF")).startswith("# Long")
    assert ask.card(ask.repository("ada/Shut-GGUF")) == ""


def test_a_log_in_page_is_no_empty_card(hub: TestHub, client: Client) -> None:
    hub.add("ada/Card-GGUF", {}, card="# Hi")
    repository = client(None).repository("ada/Card-GGUF")
    hub.fault(faults.CaptivePortal(path="*/README.md"))
    with pytest.raises(HubUnreadable, match="web page"):
        client(None).card(repository)


def test_whose_a_token_is(hub: TestHub, client: Client, ledger: list[LoggedConnection]) -> None:
    hub.token(TOKEN, "ada")
    assert client(None).account_of(TOKEN) == "ada"
    with pytest.raises(TokenRefused, match="token"):
        client(None).account_of("hf_wrong")
    assert {it.purpose for it in ledger} == {"test a token"}
    assert [it.result for it in ledger] == ["200", "401"]


def test_a_token_is_sent_only_where_there_is_one(filled: TestHub, client: Client) -> None:
    filled.token(TOKEN)
    client(None).search(Query())
    client(TOKEN).search(Query())
    assert [request.token for request in filled.requests] == [None, TOKEN]
    agents = {request.headers["user-agent"] for request in filled.requests}
    assert all(agent.startswith("hearth/") for agent in agents)


def test_what_is_refused(hub: TestHub, client: Client) -> None:
    hub.add("ada/Small-GGUF", {"a-Q4_0.gguf": small()})
    hub.add("ada/Private-GGUF", {"a-Q4_0.gguf": small()}, private=True)
    hub.token(TOKEN)
    for ask in (client(None), client(TOKEN)):
        for name in ("nobody/nothing", "ada/Private-GGUF"):
            with pytest.raises(RepositoryUnknown, match=name):
                ask.repository(name)
        with pytest.raises(RepositoryUnknown, match="revision"):
            ask.repository("ada/Small-GGUF", "v2")
    with pytest.raises(TokenRefused) as caught:
        client("hf_wrong").repository("ada/Small-GGUF")
    assert "hearth token" in caught.value.terminal
    assert TOKEN not in str(caught.value)


def test_a_branch_with_a_slash(hub: TestHub, client: Client) -> None:
    hub.add("ada/Small-GGUF", {"a-Q4_0.gguf": small()})
    with pytest.raises(RepositoryUnknown):
        client(None).repository("ada/Small-GGUF", "refs/pr/1?x#y")
    assert hub.requests[-1].path.endswith("/revision/refs/pr/1?x#y")


API = "/api/*"
FAULTS: list[tuple[Fault, type[AppError], str]] = [
    (faults.CaptivePortal(path=API), HubUnreadable, "web page"),
    (faults.HalfJson(path=API), HubUnreadable, "incomplete"),
    (faults.Status(path=API, status=500), HubBusy, "500"),
    (faults.Status(path=API, status=503), HubBusy, "minutes"),
    (faults.Status(path=API, status=429), HubBusy, "in a few minutes"),
    (faults.Status(path=API, status=429, retry_after=40), HubBusy, "in 40 seconds"),
    (faults.Status(path=API, status=429, ratelimit=600), HubBusy, "in 10 minutes"),
    (faults.Status(path=API, status=429, retry_after=7200), HubBusy, "in 2 hours"),
    (faults.Status(path=API, status=429, retry_after=10**400), HubBusy, "on another day"),
    (faults.Status(path=API, status=503, now=4e9, retry_after=0), HubBusy, "minutes"),
    (faults.Status(path=API, status=429, now=4e9, retry_after=0), HubBusy, "on another day"),
    (faults.Status(path=API, status=408), HubBusy, "408"),
    (faults.Status(path=API, status=418), HubUnreadable, "418"),
    (faults.Status(path=API, status=403), HubUnreadable, "403"),
    (faults.Drop(path=API, after=-1, times=None), NoConnection, ""),
    (faults.Drop(path=API, after=10, times=None), NoConnection, ""),
    (faults.Redirect(path=API), AppError, ""),
    (faults.Redirect(path=API, to="http://1.2.3.400/", times=1), AppError, ""),
]


@pytest.mark.parametrize(("fault", "error", "words"), FAULTS, ids=[str(it[0]) for it in FAULTS])
def test_faults_are_told_in_three_parts(
    filled: TestHub, client: Client, fault: Fault, error: type[AppError], words: str
) -> None:
    asked: list[Callable[[], object]] = [
        lambda: client(None).search(Query()),
        lambda: client(None).repository("ada/Alpha-4B-GGUF"),
    ]
    for ask in asked:
        filled.clear_faults()
        filled.fault(fault)
        with pytest.raises(error) as caught:
            ask()
        assert words in str(caught.value)
        assert caught.value.what.endswith(".")
        assert caught.value.why.endswith(".")
        assert caught.value.do.endswith(".")


@pytest.mark.parametrize("fault", [it[0] for it in FAULTS], ids=[str(it[0]) for it in FAULTS])
def test_a_fault_ends_the_request_at_once(
    filled: TestHub, client: Client, ledger: list[LoggedConnection], fault: Fault
) -> None:
    """huggingface_hub would wait as long as the Hub says, and then try again."""
    filled.fault(replace(fault, times=None))
    with pytest.raises(AppError):
        client(None).search(Query())
    once = 1 if not isinstance(fault, faults.Redirect) or fault.to else 21  # a line for each hop
    assert len(ledger) == once


def test_a_listing_without_an_end_is_refused(filled: TestHub, client: Client) -> None:
    filled.fault(faults.Redirect(path="*/revision/main", to="/api/models/ada/Alpha-4B-GGUF"))
    for path, next_page in (("*/tree/*", "/ada/Alpha-4B-GGUF/tree/main"), ("*", "?search=nothing")):
        link = f'<{filled.url}/api/models{next_page}>; rel="next"'
        filled.fault(faults.Header(path=path, name="Link", text=link, times=None))
    for ask in (
        lambda: client(None).repository("ada/Alpha-4B-GGUF"),
        lambda: client(None).search(Query("nothing like it")),
    ):
        with pytest.raises(HubUnreadable, match="no end"):
            ask()


def test_a_repository_that_the_hub_has_disabled(filled: TestHub, client: Client) -> None:
    filled.fault(faults.Status(status=403, message="Access to this resource is disabled."))
    with pytest.raises(RepositoryUnknown, match="disabled"):
        client(TOKEN).repository("ada/Alpha-4B-GGUF")


def test_when_to_come_back(filled: TestHub, client: Client) -> None:
    filled.fault(faults.Status(status=429, retry_after=100, now=time.time()))
    with pytest.raises(HubBusy) as caught:
        client(None).search(Query())
    assert caught.value.retry_in_s is not None
    assert 60 < caught.value.retry_in_s <= 100


def test_json_that_says_something_else(hub: TestHub, client: Client) -> None:
    hub.add("ada/Small-GGUF", {"a-Q4_0.gguf": small()})
    hub.fault(faults.Redirect(to="/api/whoami-v2", path="/api/models*", times=2))
    hub.token(TOKEN)
    for ask in (
        lambda: client(TOKEN).repository("ada/Small-GGUF"),
        lambda: client(TOKEN).search(Query()),
    ):
        with pytest.raises(HubUnreadable, match="is missing"):
            ask()


@pytest.mark.parametrize("odd", [{"self": 1}, {"ignore_metadata_errors": 1}, {"tags": 5}])
def test_an_odd_card_spoils_neither_a_search_nor_its_repository(
    filled: TestHub, client: Client, odd: dict[str, object]
) -> None:
    """huggingface_hub cannot read a card that contains such a name or value."""
    filled.add(
        "zoe/Odd-GGUF", {"a-Q4_0.gguf": small()}, card="# Hi", card_data=odd, licence="mit",
        downloads=1,
    )  # fmt: skip
    assert ids(client(None).search(Query())) == ["bob", "cy", "ada", "di", "zoe"]
    repository = client(None).repository("zoe/Odd-GGUF")
    assert (repository.licence, repository.downloads) == ("mit", 1)
    assert [variant.size_bytes for variant in repository.variants] == [2_000_000]
    assert client(None).card(repository) == "# Hi"


def test_a_gated_repository_says_where_its_licence_is(hub: TestHub, client: Client) -> None:
    hub.add("ada/Shut-GGUF", {"a-Q4_0.gguf": small()}, gated="manual")
    hub.token(TOKEN)
    hub.token("hf_good", access={"ada/Shut-GGUF"})
    for token, words in ((None, "hearth token set hf"), (TOKEN, "account of your token")):
        ask = client(token)
        repository = ask.repository("ada/Shut-GGUF")
        assert repository.gate == "manual"
        with pytest.raises(GatedRepository) as caught:
            ask.read_part(repository, repository.variants[0].files[0], 0, 100)
        assert caught.value.licence_page == f"{hub.url}/ada/Shut-GGUF"
        assert caught.value.licence_page in caught.value.do
        assert words in caught.value.terminal
    ask = client("hf_good")
    repository = ask.repository("ada/Shut-GGUF")
    assert len(ask.read_part(repository, repository.variants[0].files[0], 0, 100)) == 100


def test_offline_nothing_is_asked(
    client: Client, ledger: list[LoggedConnection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_ENDPOINT")
    with pytest.raises(Offline):
        client(None).search(Query())
    assert [it.result for it in ledger] == ["refused"]
    assert ledger[0].purpose == "search for models"


def test_a_hub_that_is_not_there(filled: TestHub, client: Client) -> None:
    with filled.down(), pytest.raises(NoConnection):
        client(None).search(Query())
    assert ids(client(None).search(Query("alpha"))) == ["ada"]
