"""Turning a choice into a download request, and finding the download of a choice."""

from __future__ import annotations

from dataclasses import replace

from app.models.discover.values.offers import Choice
from app.models.downloads.values.downloads import Download, DownloadState
from app.models.downloads.values.requests import choice_request, download_of, name_of
from app.models.hub.values.hub import RepoFile, Repository, Variant

PARTS = (RepoFile("m-00001-of-00002.gguf", 5), RepoFile("m-00002-of-00002.gguf", 4))
DRAFTER = RepoFile("mtp-m.gguf", 2)
REPOSITORY = Repository("ada/M-GGUF", revision="a" * 40)
CHOICE = Choice(Variant("QAT-Q4_0", PARTS), "Good", "fits")


def download(state: DownloadState = "running", label: str = "ada/M-GGUF QAT-Q4_0") -> Download:
    made = choice_request(REPOSITORY, CHOICE)
    return Download("1", replace(made, label=label), state)


def test_all_parts_and_what_comes_along_are_wanted() -> None:
    found = choice_request(REPOSITORY, replace(CHOICE, drafter=DRAFTER))
    assert found.files == (*PARTS, DRAFTER)
    assert found.bytes_total == 11
    assert (found.repo, found.revision) == ("ada/M-GGUF", "a" * 40)
    assert choice_request(REPOSITORY, CHOICE).files == PARTS
    assert name_of(found) == "M-GGUF QAT-Q4_0"


def test_a_download_is_found_by_what_was_chosen_or_by_the_catalogues_name() -> None:
    there = [download()]
    assert download_of(there, "ada/M-GGUF", "QAT-Q4_0") == there[0]
    assert download_of(there, "ada/M-GGUF", "Q4_0") == there[0]
    assert download_of(there, "ada/M-GGUF", "Q8_0") is None
    assert download_of(there, "bea/M-GGUF", "QAT-Q4_0") is None


def test_the_last_one_counts_and_a_cancelled_one_does_not() -> None:
    failed, done = download("failed"), download("done")
    assert download_of([failed, done], "ada/M-GGUF", "Q4_0") == done
    assert download_of([download("cancelled")], "ada/M-GGUF", "Q4_0") is None
