"""The actions of the API server's card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.api.pages.api_card import ApiCard
from app.api.presenters import ApiServer
from app.api.values import short_name
from app.kit.navigation import Navigation
from app.kit.notify import Notifier
from app.models.library.presenters.models import Models
from app.settings.presenters import SettingsService
from engines.errors import UserError

if TYPE_CHECKING:
    from app.api.values import ApiClient


class ApiController(QObject):
    """Connects the card with its presenter and the settings; asks before it opens the network."""

    def __init__(
        self,
        card: ApiCard,
        server: ApiServer,
        settings: SettingsService,
        models: Models,
        notifier: Notifier,
        navigation: Navigation,
    ) -> None:
        super().__init__(card)
        self._card = card
        self._server = server
        self._settings = settings
        self._models = models
        self._notifier = notifier
        server.changed.connect(lambda _: self.show())
        server.clients_read.connect(card.show_clients)
        server.uses_read.connect(card.show_uses)
        server.failed.connect(notifier.error)
        self._settings.changed.connect(lambda _: self.show())
        card.turned.connect(lambda on: self._set("server", on))
        card.reached.connect(self._reach)
        card.copy_address.connect(self._copy_address)
        card.copy_token.connect(lambda: server.token(self._copy, notifier.error))
        card.renew_token.connect(self._confirm_renewal)
        card.settings.connect(lambda: navigation.show_settings("server_port"))
        card.add.connect(self._add)
        card.remove.connect(self._confirm_removal)
        card.refresh.connect(server.refresh_uses)
        card.became_visible.connect(self.refresh)
        self.show()

    def refresh(self) -> None:
        """Refresh the clients, the requests and the server's state."""
        self._server.refresh()
        self.show()

    def show(self) -> None:
        """Show the server's known state."""
        settings = self._settings.current
        self._card.show_server(
            self._server.status, is_wanted=settings.server, reach=settings.server_expose
        )

    def _set(self, name: str, value: object) -> None:
        try:
            self._settings.set(name, value)
        except UserError as error:
            self._notifier.error(error)
        self.show()

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._notifier.say_copied()

    def _copy_address(self) -> None:
        """Copy the address: the one for other computers, if they can connect."""
        status = self._server.status
        self._copy(f"{next(iter(status.network_urls), status.url)}/v1")

    def _reach(self, reach: str) -> None:
        """Open the server to other computers only after the user confirms."""
        if reach == "this_computer":
            self._set("server_expose", reach)
            return
        self.show()  # nothing changes until the user confirms
        if reach == "network":
            words = self.tr(
                "Every computer that can reach this one can try to connect. Anyone with the "
                "token or a program’s key can use your models. Connections are encrypted with "
                "the certificate named in the settings."
            )
        else:
            words = self.tr(
                "Every computer that can reach this one can try to connect. Anyone with the "
                "token or a program’s key can use your models. Without encryption, others on "
                "the network can read questions, answers and the token."
            )
        self._notifier.confirm(
            self.tr("Let other computers use your models?"),
            words,
            ("confirmReach", self.tr("Let them in")),
            ("keepClosed", self.tr("Keep it to this computer")),
            lambda: self._set("server_expose", reach),
        )

    def _confirm_renewal(self) -> None:
        def renewed(token: str) -> None:
            QGuiApplication.clipboard().setText(token)
            self._notifier.say(self.tr("The new token was copied."))

        self._notifier.confirm(
            self.tr("Make a new token?"),
            self.tr("Programs with the old one are refused until you give them the new one."),
            ("confirmRenew", self.tr("Make a new one")),
            ("keepToken", self.tr("Keep it")),
            lambda: self._server.renew_token(renewed, self._notifier.error),
        )

    def _add(self) -> None:
        from app.api.pages.client_dialog import ClientDialog

        def add(dialog: ClientDialog, name: str, models: tuple[str, ...], limit: int) -> None:
            failed = dialog.failure_handler(self._notifier.error)
            self._server.add(name, models, limit, dialog.show_key, failed)

        ClientDialog(self._models.list(), add, self._card.window()).open()

    def _confirm_removal(self, client: ApiClient) -> None:
        self._notifier.confirm(
            self.tr("Remove {name}?").format(name=short_name(client.name)),
            self.tr("Its key is refused from now on. Its past requests stay in the list."),
            ("confirmRemoveClient", self.tr("Remove")),
            ("keepClient", self.tr("Keep it")),
            lambda: self._server.remove(client, self._notifier.error),
        )
