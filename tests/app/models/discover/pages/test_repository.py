"""The page of a repository: sizes, verdicts, extra files, the card, gating and the token."""

from __future__ import annotations

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QPushButton

from app.base.errors import GatedRepository, HubUnreadable, RepositoryUnknown, TokenRefused
from app.kit.text.markdown_view import MarkdownView
from app.models.discover.pages.choice_panel import ChoicePanel
from app.models.discover.pages.repository_page import VariantRow
from app.models.discover.pages.token_question import TokenDialog
from engines.errors import NotAChatModel
from tests.support.scripted_hub import GATED, GB, SMALL, ScriptedFitting, ScriptedHub, repository
from tests.support.window import Ui, part
from tests.support.windows import models_page


def open_page(ui: Ui, repo: str = SMALL.id) -> None:
    models_page(ui.window).discover.open(repo)
    ui.qtbot.waitUntil(lambda: ui.has("choicePanel"))


def rows(ui: Ui) -> dict[str, VariantRow]:
    found = ui.window.findChildren(VariantRow)
    return {row.choice.variant.label: row for row in found if row.isVisible()}


def verdicts(ui: Ui) -> dict[str, str]:
    return {label: part(row, QLabel, "fitWord").text() for label, row in rows(ui).items()}


def sentence(ui: Ui) -> str:
    return ui.find(QLabel, "fitSentence").text()


def test_sizes_are_said_in_words_with_a_verdict_each(discover: Ui) -> None:
    open_page(discover)
    assert list(rows(discover)) == ["Q2_K", "Q4_K_M", "Q6_K", "Q8_0", "F16"]
    # 9 GB are free, and a drafter of 0.3 GB comes along.
    assert verdicts(discover) == {
        "Q2_K": "Fits",
        "Q4_K_M": "Fits",
        "Q6_K": "Fits",
        "Q8_0": "Too big",
        "F16": "Too big",
    }
    name = rows(discover)["Q4_K_M"].accessibleName()
    assert name == "Q4_K_M, Good balance, 4.4 GB, Fits in this computer’s memory."


def test_what_fits_tightly_says_so(discover: Ui, fitting: ScriptedFitting) -> None:
    fitting.free = 9 * GB
    open_page(discover)
    fitting.free = round(7.4 * GB)
    open_page(discover)
    discover.qtbot.waitUntil(lambda: verdicts(discover)["Q6_K"] == "Tight")


def test_the_recommended_size_is_marked_and_chosen(discover: Ui) -> None:
    open_page(discover)
    chosen = [label for label, row in rows(discover).items() if row.isChecked()]
    marked = [
        label for label, row in rows(discover).items() if "Recommended" in row.accessibleName()
    ]
    assert chosen == marked
    assert len(chosen) == 1


def test_files_beside_the_model_are_no_sizes_and_come_along(discover: Ui) -> None:
    open_page(discover)
    lines = discover.find(ChoicePanel).findChildren(QLabel, "comesAlong")
    assert [line.text().split(" (")[0] for line in lines] == [
        "Includes its drafter",
    ]


def test_the_projector_comes_along_where_it_is_ticked(discover: Ui) -> None:
    open_page(discover)
    discover.click("variant-Q6_K")
    box = discover.find(QCheckBox, "withProjector")
    assert box.text() == "Pictures or sounds too, with its projector (900 MB more)"
    assert discover.find(QPushButton, "getVariant").text() == "Download 6.4 GB"
    discover.press("Space", box)
    button = discover.find(QPushButton, "getVariant")
    assert button.text() == button.accessibleName() == "Download 7.3 GB"
    discover.click("getVariant")
    discover.qtbot.waitUntil(lambda: len(discover.app.downloads.downloads()) == 1)
    files = discover.app.downloads.downloads()[0].wanted.files
    assert "mmproj-small-7b-F16.gguf" in [file.path for file in files]


def test_parts_are_one_size_and_got_together(discover: Ui) -> None:
    open_page(discover)
    discover.click("variant-Q8_0")
    assert discover.find(QPushButton, "getVariant").text() == "Download 8.2 GB"
    discover.click("getVariant")
    discover.qtbot.waitUntil(lambda: len(discover.app.downloads.downloads()) == 1)
    wanted = discover.app.downloads.downloads()[0].wanted
    assert [file.path for file in wanted.files] == [
        "small-7b-Q8_0-00001-of-00002.gguf",
        "small-7b-Q8_0-00002-of-00002.gguf",
        "mtp-small-7b-Q8_0.gguf",
    ]
    assert (wanted.repo, wanted.revision, wanted.label) == (
        SMALL.id,
        "c" * 40,
        f"{SMALL.id} Q8_0",
    )


def test_arrow_keys_choose_among_the_sizes(discover: Ui, fitting: ScriptedFitting) -> None:
    open_page(discover)
    discover.qtbot.waitUntil(lambda: "Q6_K" in sentence(discover))
    rows(discover)["Q6_K"].setFocus()
    discover.press("Up")
    assert discover.window.focusWidget() is rows(discover)["Q4_K_M"]
    assert rows(discover)["Q4_K_M"].isChecked()
    discover.qtbot.waitUntil(lambda: sentence(discover) == "small-7b-Q4_K_M.gguf needs 5.9 GB.")


def test_the_sum_is_drawn_and_said(discover: Ui) -> None:
    open_page(discover)
    discover.qtbot.waitUntil(lambda: discover.has("memoryBar-memory"))
    from PySide6.QtWidgets import QWidget

    said = discover.find(QWidget, "memoryBar-memory").accessibleDescription()
    assert said == (
        "In use 7.0 GB, Weights 4.4 GB, Context 900 MB, Computing 300 MB, Faster answers 300 MB, "
        "Free 3.1 GB of 16 GB."
    )


def test_the_exact_verdict_takes_the_place_of_the_quick_one(
    discover: Ui, fitting: ScriptedFitting
) -> None:
    open_page(discover)
    assert verdicts(discover)["F16"] == "Too big"
    discover.click("variant-F16")
    discover.qtbot.waitUntil(lambda: verdicts(discover)["F16"] == "Fits")
    assert part(discover.find(ChoicePanel), QLabel, "fitWord").text() == "Fits"
    assert rows(discover)["F16"].accessibleName().endswith("Fits in this computer’s memory.")


def test_a_size_that_cannot_be_judged_says_why(discover: Ui, fitting: ScriptedFitting) -> None:
    fitting.error = NotAChatModel("It is no chat model.", "It embeds.", "Choose another.")
    open_page(discover)
    discover.qtbot.waitUntil(lambda: "It is no chat model. It embeds." in sentence(discover))
    assert discover.find(QPushButton, "getVariant").isEnabled()


def test_the_card_is_shown_and_its_links_ask(discover: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    open_page(discover)
    discover.qtbot.waitUntil(lambda: discover.has("modelCard"))
    card = discover.find(MarkdownView, "modelCard")
    assert "A model for tests." in card.toPlainText()
    card.anchorClicked.emit(QUrl("https://example.com/"))
    assert discover.find(QLabel, "line2").text() == "https://example.com/"
    assert opened == []
    discover.click("cancel")


def test_a_repository_without_a_card_has_no_empty_box(discover: Ui) -> None:
    open_page(discover, GATED.id)
    discover.settle()
    assert not discover.has("modelCardBox")


def test_a_card_that_cannot_be_read_is_left_out(
    discover: Ui, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def broken(repository: object) -> str:
        asked.append(repository)
        raise HubUnreadable("No card.", "It is broken.", "Go on without.")

    monkeypatch.setattr(hub, "card", broken)
    open_page(discover, SMALL.id)
    discover.qtbot.waitUntil(lambda: bool(asked))
    discover.settle()
    assert discover.has("choicePanel")
    assert not discover.has("modelCardBox")


def test_a_repository_without_models_says_what_to_do(discover: Ui, hub: ScriptedHub) -> None:
    hub.repositories["ada/Text"] = repository("ada/Text", files=(("README.md", 0.0),))
    models_page(discover.window).discover.open("ada/Text")
    discover.qtbot.waitUntil(lambda: discover.has("nothingToGet"))


def test_a_page_that_cannot_be_opened_is_explained(discover: Ui, hub: ScriptedHub) -> None:
    hub.error = RepositoryUnknown("There is no such model.", "It was removed.", "Search again.")
    models_page(discover.window).discover.open(SMALL.id)
    assert discover.find(QLabel, "problemWhy").text() == "It was removed."
    assert not discover.has("enterToken")
    hub.error = None
    discover.click("openAgain")
    discover.qtbot.waitUntil(lambda: discover.has("choicePanel"))


def test_the_page_of_an_older_wish_does_not_come_back(discover: Ui, hub: ScriptedHub) -> None:
    hub.hold.clear()
    models_page(discover.window).discover.open(GATED.id)
    discover.qtbot.waitUntil(lambda: hub.asked == [GATED.id])
    models_page(discover.window).discover.open(SMALL.id)
    hub.hold.set()
    discover.qtbot.waitUntil(lambda: discover.has("choicePanel"))
    assert discover.find(QLabel, "repositoryName").text() == "Small-7B-GGUF"
    assert not discover.has("gateCard")


def test_a_gate_leads_to_its_page(discover: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    open_page(discover, GATED.id)
    discover.click("openLicence")
    assert discover.find(QLabel, "line2").text() == f"https://huggingface.co/{GATED.id}"
    discover.click("open")
    assert opened == [QUrl(f"https://huggingface.co/{GATED.id}")]


@pytest.fixture
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "get_keyring", NoKeyring)
    monkeypatch.delenv("HF_TOKEN", raising=False)


def ask_for_token(ui: Ui) -> TokenDialog:
    ui.click("enterToken")
    return ui.find(TokenDialog)


@pytest.mark.usefixtures("no_keyring")
def test_a_token_is_hidden_tested_and_kept(
    discover: Ui, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def who(token: str) -> str:
        asked.append(token)
        return "ada"

    monkeypatch.setattr(discover.app.tokens, "_account_of", who)
    open_page(discover, GATED.id)
    dialog = ask_for_token(discover)
    assert "no keyring" in part(dialog, QLabel, "tokenKept").text()
    field = part(dialog, QLineEdit, "token")
    assert field.echoMode() is QLineEdit.EchoMode.Password
    assert not part(dialog, QPushButton, "saveToken").isEnabled()
    QTest.keyClicks(field, "hf_secret")
    discover.press("Return", field)
    discover.qtbot.waitUntil(lambda: "belongs to ada" in part(dialog, QLabel, "tokenResult").text())
    assert asked == ["hf_secret"]
    assert field.text() == ""
    assert discover.app.tokens.for_hub() == "hf_secret"
    discover.click("cancelToken")
    discover.qtbot.waitUntil(
        lambda: discover.find(QPushButton, "enterToken").text() == "Another token…"
    )


@pytest.mark.usefixtures("no_keyring")
def test_a_token_that_is_refused_can_be_corrected(
    discover: Ui, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def who(_: str) -> str:
        raise TokenRefused("The token was refused.", "The Hub does not know it.", "Make another.")

    monkeypatch.setattr(discover.app.tokens, "_account_of", who)
    open_page(discover, GATED.id)
    dialog = ask_for_token(discover)
    QTest.keyClicks(part(dialog, QLineEdit, "token"), "hf_wrong")
    discover.click("saveToken")
    discover.qtbot.waitUntil(lambda: "refused" in part(dialog, QLabel, "tokenResult").text())
    assert part(dialog, QLineEdit, "token").isEnabled()
    assert discover.app.tokens.for_hub() is None
    discover.press("Esc", dialog)
    discover.qtbot.waitUntil(lambda: not discover.has("tokenDialog"))


def test_a_closed_repository_offers_page_and_token(discover: Ui, hub: ScriptedHub) -> None:
    hub.error = GatedRepository(
        "This model is not open.", "Accept its terms.", "Open its page.", "https://example.com"
    )
    models_page(discover.window).discover.open(GATED.id)
    discover.qtbot.waitUntil(lambda: discover.has("enterToken"))
    assert discover.has("openLicence")
