"""The loopback Hub with the real client: all calls of huggingface_hub that Hearth makes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import httpx2
import pytest
from huggingface_hub import HfApi, get_hf_file_metadata, hf_hub_url, scan_cache_dir
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile, RepoFolder

from tests.hub.contents import BLOCK, Bytes, Made, OnDisk
from tests.hub.testhub import Cdn, TestHub

REPO = "ada/Small-GGUF"
MODEL = "small-Q4_K_M.gguf"
CONTENT = Made(300_000, seed=1, head=b"GGUF")
GGUF = {"total": 3_000_000_000, "architecture": "llama", "context_length": 4096}


def small(hub: TestHub) -> str:
    """Add a repository with a large file, a small one in a folder and a card; return its commit."""
    return hub.add(
        REPO,
        {MODEL: CONTENT, "more/config.json": b'{"a": 1}'},
        licence="mit",
        card="# Small\n",
        card_data={"base_model": "ada/Small"},
        tags=["conversational"],
        downloads=7,
        likes=3,
        gguf=GGUF,
    )


def test_a_made_file_is_the_same_wherever_it_is_read() -> None:
    whole = Made(3 * BLOCK + 5, seed=4, head=b"GGUF" * 3)
    data = whole.read(0, whole.size)
    assert len(data) == whole.size
    assert data.startswith(b"GGUF" * 3)
    assert whole.read(0, 5) + whole.read(5, BLOCK) + whole.read(BLOCK + 5, 10**9) == data
    assert whole.read(2 * BLOCK + 1, 7) == data[2 * BLOCK + 1 :][:7]
    assert whole.read(whole.size, 7) == b""
    assert Made(whole.size, seed=5).read(0, 64) != Made(whole.size, seed=4).read(0, 64)


def test_a_file_may_be_huge(hub: TestHub, plain: httpx2.Client) -> None:
    hub.add(REPO, {MODEL: Made(5_000_000_000)})
    reply = plain.get(
        f"{hub.url}/{REPO}/resolve/main/{MODEL}", headers={"Range": "bytes=4999999990-"}
    )
    assert len(reply.content) == 10
    assert reply.headers["Content-Range"] == "bytes 4999999990-4999999999/5000000000"


def test_files_come_from_memory_and_from_the_disk(hub: TestHub, api: HfApi, tmp_path: Path) -> None:
    (tmp_path / "real.gguf").write_bytes(b"from the disk")
    hub.add(REPO, {"a.gguf": tmp_path / "real.gguf", "b.txt": "text", "c.txt": b"bytes"})
    downloaded = {name: api.hf_hub_download(REPO, name) for name in ("a.gguf", "b.txt", "c.txt")}
    assert [Path(path).read_bytes() for path in downloaded.values()] == [
        b"from the disk", b"text", b"bytes",
    ]  # fmt: skip
    assert OnDisk(tmp_path / "real.gguf").read(5, 3) == Bytes(b"from the disk").read(5, 3)


def test_model_info(hub: TestHub, api: HfApi) -> None:
    commit = small(hub)
    info = api.model_info(REPO, files_metadata=True)
    assert (info.id, info.sha, info.downloads, info.likes) == (REPO, commit, 7, 3)
    assert (info.gated, info.private, info.author) == (False, False, "ada")
    assert info.gguf == GGUF
    assert info.card_data is not None
    assert (info.card_data.license, info.card_data.base_model) == ("mit", "ada/Small")
    assert {"gguf", "license:mit", "conversational"} <= set(info.tags or ())
    files = {file.rfilename: file for file in info.siblings or ()}
    assert set(files) == {MODEL, "more/config.json", "README.md"}
    lfs = files[MODEL].lfs
    assert lfs is not None
    digest = hashlib.sha256(CONTENT.read(0, CONTENT.size)).hexdigest()
    assert (lfs.size, lfs.sha256) == (CONTENT.size, digest)
    assert hub.sha256(REPO, MODEL) == digest
    # the output of `git hash-object` for these bytes
    assert files["README.md"].blob_id == "913819ef3926e94fa3128ff1695af4717c51a204"
    assert files["README.md"].lfs is None


def test_model_info_of_a_revision_and_without_sizes(hub: TestHub, api: HfApi) -> None:
    first = small(hub)
    second = hub.change(REPO, {"new.txt": b"new", "more/config.json": None})
    assert first != second == hub.commit(REPO)
    old, new = (api.model_info(REPO, revision=name) for name in (first, "main"))
    assert (old.sha, new.sha) == (first, second)
    assert {file.rfilename for file in new.siblings or ()} == {MODEL, "README.md", "new.txt"}
    assert {file.size for file in old.siblings or ()} == {None}
    assert old.last_modified is not None
    assert new.last_modified is not None
    assert old.last_modified < new.last_modified


def test_expansions(hub: TestHub, api: HfApi) -> None:
    small(hub)
    weights = {"parameters": {"BF16": 5}, "total": 5}
    hub.add("ada/Small", {"a.safetensors": b"x"}, safetensors=weights, gated="manual")
    info = api.model_info(REPO, expand=["gguf", "cardData", "gated", "sha"])
    assert info.gguf == GGUF
    assert info.card_data is not None
    assert info.downloads is None
    other = api.model_info("ada/Small", expand=["safetensors", "gated", "gguf"])
    assert other.safetensors is not None
    assert (other.safetensors.total, other.gated, other.gguf) == (5, "manual", None)
    with pytest.raises(HfHubHTTPError, match="Invalid expand"):
        api.model_info(REPO, expand=["nonsense"])  # type: ignore[list-item]


def test_a_search_is_filtered_sorted_and_limited(hub: TestHub, api: HfApi) -> None:
    small(hub)
    hub.add("ada/Large-GGUF", {"a.gguf": b"x"}, downloads=9, gguf={"total": 70_000_000_000})
    hub.add("bob/Large", {"a.safetensors": b"x"}, downloads=100, licence="mit", gated="auto")
    hub.add("bob/Sight", {"a.gguf": b"x"}, pipeline_tag="image-text-to-text", likes=50)

    def ids(**asked: object) -> list[str]:
        return [found.id for found in api.list_models(**asked)]  # type: ignore[arg-type]

    large, sight = "ada/Large-GGUF", "bob/Sight"
    assert ids(filter="gguf", sort="downloads") == [large, REPO, sight]
    assert ids(filter=["gguf", "license:mit"]) == [REPO]
    assert ids(search="LARGE gguf") == [large]
    assert ids(sort="likes", limit=2) == [sight, REPO]
    assert ids(sort="last_modified", author="bob") == ["bob/Large", sight]
    assert ids(num_parameters="min:1B,max:8B") == [REPO]
    assert ids(pipeline_tag="image-text-to-text") == [sight]
    assert ids(gated=True) == ["bob/Large"]
    assert ids(search="nothing like it") == []


def test_a_search_says_what_it_is_asked_for(hub: TestHub, api: HfApi) -> None:
    small(hub)
    (plain,) = api.list_models()
    assert (plain.downloads, plain.gguf, plain.siblings) == (7, None, None)
    (full,) = api.list_models(full=True, cardData=True)
    assert full.card_data is not None
    assert full.siblings is not None
    assert full.sha == hub.commit(REPO)
    (chosen,) = api.list_models(expand=["gguf", "gated", "lastModified"])
    assert (chosen.gguf, chosen.gated, chosen.downloads) == (GGUF, False, None)


def test_long_answers_come_in_pages(api: HfApi) -> None:
    with TestHub(page=2) as paged:
        for number in range(5):
            paged.add(f"ada/M{number}", {f"{name}.txt": b"x" for name in "abc"}, downloads=number)
        paging = HfApi(endpoint=paged.url, token=False)
        found = [model.id for model in paging.list_models(sort="downloads", search="m")]
        assert found == ["ada/M4", "ada/M3", "ada/M2", "ada/M1", "ada/M0"]
        assert len(paged.requests) == 3
        assert len(list(paging.list_repo_tree("ada/M0"))) == 3


def test_tree_and_paths(hub: TestHub, api: HfApi) -> None:
    commit = small(hub)
    top = {entry.path: entry for entry in api.list_repo_tree(REPO)}
    assert set(top) == {MODEL, "README.md", "more"}
    assert isinstance(top["more"], RepoFolder)
    model = top[MODEL]
    assert isinstance(model, RepoFile)
    assert model.lfs is not None
    assert (model.size, model.lfs.sha256) == (CONTENT.size, hub.sha256(REPO, MODEL))
    whole = {entry.path for entry in api.list_repo_tree(REPO, recursive=True, revision=commit)}
    assert whole == {*top, "more/config.json"}
    below = list(api.list_repo_tree(REPO, "more", expand=True))
    assert [entry.path for entry in below] == ["more/config.json"]
    assert below[0].last_commit is not None
    asked = api.get_paths_info(REPO, [MODEL, "more", "missing"], expand=True)
    assert [entry.path for entry in asked] == [MODEL, "more"]
    with pytest.raises(RemoteEntryNotFoundError):
        list(api.list_repo_tree(REPO, "missing"))


def test_file_metadata(hub: TestHub, api: HfApi) -> None:
    commit = small(hub)
    url = hf_hub_url(REPO, MODEL, endpoint=hub.url)
    large = get_hf_file_metadata(url, token=False, endpoint=hub.url)
    assert (large.commit_hash, large.size) == (commit, CONTENT.size)
    assert (large.etag, large.location) == (hub.sha256(REPO, MODEL), url)
    assert large.xet_file_data is None
    card = get_hf_file_metadata(hf_hub_url(REPO, "README.md", endpoint=hub.url), token=False)
    assert (card.size, card.commit_hash) == (8, commit)
    assert len(card.etag or "") == 40
    assert {request.method for request in hub.requests} == {"HEAD"}


def test_downloads_lie_in_the_cache(hub: TestHub, api: HfApi, tmp_path: Path) -> None:
    commit = small(hub)
    path = Path(api.hf_hub_download(REPO, MODEL))
    assert path.read_bytes() == CONTENT.read(0, CONTENT.size)
    assert [request.method for request in hub.requests] == ["HEAD", "GET"]
    folder = Path(api.snapshot_download(REPO))
    assert (folder.name, path.parent) == (commit, folder)
    assert (folder / "more/config.json").read_bytes() == b'{"a": 1}'
    (cached,) = scan_cache_dir(tmp_path / "cache").repos
    assert (cached.repo_id, cached.nb_files) == (REPO, 3)
    assert api.verify_repo_checksums(REPO).mismatches == []


def test_the_card_can_be_read_as_it_is(hub: TestHub, plain: httpx2.Client) -> None:
    small(hub)
    for kind in ("raw", "resolve"):
        assert plain.get(f"{hub.url}/{REPO}/{kind}/main/README.md").text == "# Small\n"


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [("0-9", 0, 10), ("299990-", 299_990, 300_000), ("-7", 299_993, 300_000),
     ("65530-131080", 65_530, 131_081), ("299999-400000", 299_999, 300_000)],
)  # fmt: skip
def test_ranges(hub: TestHub, plain: httpx2.Client, asked: str, start: int, end: int) -> None:
    small(hub)
    url = f"{hub.url}/{REPO}/resolve/main/{MODEL}"
    reply = plain.get(url, headers={"Range": f"bytes={asked}"})
    assert reply.status_code == 206
    assert reply.content == CONTENT.read(start, end - start)
    assert reply.headers["Content-Range"] == f"bytes {start}-{end - 1}/300000"
    assert reply.headers["Accept-Ranges"] == "bytes"
    assert hub.requests[-1].range == f"bytes={asked}"


def test_if_range_and_ranges_outside(hub: TestHub, plain: httpx2.Client) -> None:
    small(hub)
    url = f"{hub.url}/{REPO}/resolve/main/{MODEL}"
    etag = plain.head(url).headers["ETag"]
    ask = {"Range": "bytes=5-"}
    assert plain.get(url, headers={**ask, "If-Range": etag}).status_code == 206
    assert plain.get(url, headers={**ask, "If-Range": '"other"'}).status_code == 200
    outside = plain.get(url, headers={"Range": "bytes=300000-"})
    assert outside.status_code == 416
    assert outside.headers["Content-Range"] == "bytes */300000"


def test_accounts(hub: TestHub, api: HfApi) -> None:
    hub.token("hf_good", name="ada")
    assert api.whoami(token="hf_good")["name"] == "ada"
    assert hub.requests[-1].token == "hf_good"
    with pytest.raises(HfHubHTTPError) as refused:
        api.whoami(token="hf_bad")
    assert refused.value.response.status_code == 401
    hub.revoke("hf_good")
    with pytest.raises(HfHubHTTPError):
        api.whoami(token="hf_good")


def test_a_gated_repository(hub: TestHub, api: HfApi) -> None:
    hub.add("ada/Gated", {MODEL: CONTENT}, gated="manual", card="# Gated")
    hub.token("hf_in", access={"ada/Gated"})
    hub.token("hf_out", name="bob")
    assert api.model_info("ada/Gated").gated == "manual"
    for token, status in ((False, 401), ("hf_out", 403)):
        with pytest.raises(GatedRepoError, match="is restricted") as refused:
            api.hf_hub_download("ada/Gated", "README.md", token=token)
        assert refused.value.response.status_code == status
        with pytest.raises(GatedRepoError):
            api.auth_check("ada/Gated", token=token)
    path = api.hf_hub_download("ada/Gated", MODEL, token="hf_in")
    assert Path(path).stat().st_size == CONTENT.size


def test_a_private_repository_looks_like_none(hub: TestHub, api: HfApi) -> None:
    hub.add("ada/Private", {MODEL: CONTENT}, private=True)
    hub.token("hf_in", access={"ada/Private"})
    hub.token("hf_out")
    for repo in ("ada/Private", "ada/None"):
        for token in (False, "hf_out"):
            with pytest.raises(RepositoryNotFoundError):
                api.model_info(repo, token=token)
    assert list(api.list_models()) == []
    assert [model.id for model in api.list_models(token="hf_in")] == ["ada/Private"]


def test_what_is_not_there(hub: TestHub, api: HfApi) -> None:
    commit = small(hub)
    with pytest.raises(RevisionNotFoundError):
        api.model_info(REPO, revision="0" * 40)
    with pytest.raises(RemoteEntryNotFoundError) as missing:
        api.hf_hub_download(REPO, "missing.gguf")
    assert missing.value.response.headers["X-Repo-Commit"] == commit
    assert httpx2.get(f"{hub.url}/api/nothing-like-it", trust_env=False).status_code == 404


def test_a_renamed_repository_is_found(hub: TestHub, api: HfApi) -> None:
    small(hub)
    hub.rename(REPO, "ada/New")
    assert api.model_info(REPO, files_metadata=True).id == "ada/New"
    assert Path(api.hf_hub_download(REPO, MODEL)).stat().st_size == CONTENT.size


def test_files_in_xet_storage_say_so(hub: TestHub, api: HfApi) -> None:
    commit = hub.add(REPO, {MODEL: CONTENT}, xet=True)
    url = hf_hub_url(REPO, MODEL, endpoint=hub.url)
    data = get_hf_file_metadata(url, token=False, endpoint=hub.url).xet_file_data
    assert data is not None
    assert data.refresh_route == f"{hub.url}/api/models/{REPO}/xet-read-token/{commit}"
    (entry,) = api.get_paths_info(REPO, MODEL)
    assert isinstance(entry, RepoFile)
    assert entry.xet_hash == data.file_hash
    token = httpx2.get(data.refresh_route, trust_env=False)
    assert token.headers["X-Xet-Cas-Url"].startswith(hub.url)
    # the plain way leads to the same bytes
    assert Path(api.hf_hub_download(REPO, MODEL)).stat().st_size == CONTENT.size


def test_files_can_come_from_a_second_server(api: HfApi) -> None:
    with TestHub(cdn=Cdn("*.gguf")) as hub:
        commit = hub.add("ada/Gated", {MODEL: CONTENT}, gated="auto", card="# Card")
        hub.token("hf_in", access={"ada/Gated"})
        away = HfApi(endpoint=hub.url, token="hf_in")
        url = hf_hub_url("ada/Gated", MODEL, endpoint=hub.url)
        metadata = get_hf_file_metadata(url, token="hf_in", endpoint=hub.url)
        assert metadata.location.startswith(hub.cdn_url)
        assert (metadata.size, metadata.commit_hash) == (CONTENT.size, commit)
        assert metadata.etag == hub.sha256("ada/Gated", MODEL)
        path = Path(away.hf_hub_download("ada/Gated", MODEL))
        assert path.read_bytes() == CONTENT.read(0, CONTENT.size)
        assert Path(away.hf_hub_download("ada/Gated", "README.md")).read_text() == "# Card"
        assert len(hub.cdn_requests) == 1
        assert hub.cdn_requests[0].authorization is None
        assert all(request.authorization for request in hub.requests)
