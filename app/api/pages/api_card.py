"""The card of Hearth's API server: its switch, address, token, clients and last requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.api.values import short_name
from app.base.language import in_full
from app.kit.look.format import figure, moment
from app.kit.look.theme import GRID
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.emptying import empty
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.segments import Segments
from app.kit.widgets.switch import Switch
from app.runtime.pages.engine_card import EngineCard
from engines.errors import UserError

if TYPE_CHECKING:
    from app.api.values import ApiClient, ApiUse
    from app.net.values.serving import Reach, ServerStatus

_REFRESH_MS = 3000
_MOST_USES = 10
"""Maximum number of requests in the list."""


class ApiCard(EngineCard):
    """The card of Hearth's API server.

    Signals:
        turned(on): The user turned the switch.
        reached(reach): The user chose who can connect.
        copy_address(): The user wants to copy the address.
        copy_token(): The user wants to copy the token.
        renew_token(): The user wants a new token.
        settings(): The user wants to see the server's settings.
        add(): The user wants to add a program.
        remove(client): The user wants to remove a program.
        look(): The list of requests needs a refresh; emitted regularly while the card is visible.
        became_visible(): The card became visible.
    """

    turned = Signal(bool)
    reached = Signal(str)
    copy_address = Signal()
    copy_token = Signal()
    renew_token = Signal()
    settings = Signal()
    add = Signal()
    remove = Signal(object)
    refresh = Signal()
    became_visible = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "apiCard",
            "leaves",
            self.tr("For other programs"),
            self.tr(
                "Editors and agents that speak OpenAI’s or Anthropic’s protocol can use your "
                "models while Hearth is open. They need a key."
            ),
            parent,
        )
        self._switch = Switch()
        self._switch.setObjectName("serverSwitch")
        self._switch.setAccessibleName(self.tr("Let other programs use your models"))
        self._switch.clicked.connect(self._report_switch)
        self._state = Label("", name="serverState", wrap=True, selectable=True)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self._switch)
        row.addWidget(self._state, 1)
        self.body.addLayout(row)
        self._problem = Label("", "problem", name="serverProblem", wrap=True, selectable=True)
        self._problem.hide()
        self.body.addWidget(self._problem)
        self.reach = Segments(
            "serverReach",
            self.tr("Who can connect"),
            [
                ("this_computer", self.tr("This computer"), self.tr("Only this computer")),
                ("network", self.tr("Network"), self.tr("The network, encrypted")),
                (
                    "network_unencrypted",
                    self.tr("Network, not encrypted"),
                    self.tr("The network, not encrypted"),
                ),
            ],
        )
        self.reach.chosen.connect(self.reached)
        self.body.addWidget(self.reach)
        self._address = LabelledButton("copy", self.tr("Copy address"), "copyServerAddress")
        self._address.clicked.connect(self.copy_address)
        token = LabelledButton("key", self.tr("Copy token"), "copyServerToken")
        token.clicked.connect(self.copy_token)
        renew = LabelledButton("again", self.tr("New token…"), "renewServerToken")
        renew.clicked.connect(self.renew_token)
        more = LabelledButton("gear", self.tr("Settings…"), "serverSettings")
        more.clicked.connect(self.settings)
        self.body.addWidget(FlowRow(self._address, token, renew, more))
        self._clients = QVBoxLayout()
        self._clients.setSpacing(4)
        self.body.addWidget(Label(self.tr("Programs with a key of their own"), "strong"))
        self.body.addLayout(self._clients)
        add = LabelledButton("plus", self.tr("Add a program…"), "addClient")
        add.clicked.connect(self.add)
        self.body.addWidget(add, 0, Qt.AlignmentFlag.AlignLeft)
        self._uses_head = Label(self.tr("Last requests"), "strong")
        self._uses = Label("", "small", name="serverUses", wrap=True)
        self.body.addWidget(self._uses_head)
        self.body.addWidget(self._uses)
        self._refresh_timer = QTimer(self)
        self._refresh_timer.setInterval(_REFRESH_MS)
        self._refresh_timer.setTimerType(Qt.TimerType.CoarseTimer)
        self._refresh_timer.timeout.connect(self.refresh)
        self.show_clients(())
        self.show_uses(())

    def showEvent(self, event: QShowEvent) -> None:
        """Refresh the requests regularly while the card is visible."""
        super().showEvent(event)
        self._refresh_timer.start()
        self.became_visible.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop refreshing the requests."""
        super().hideEvent(event)
        self._refresh_timer.stop()

    def show_server(self, status: ServerStatus, *, is_wanted: bool, reach: Reach) -> None:
        """Show the state of the server.

        Args:
            wanted: The settings say that it runs.
            reach: The settings' choice of who can connect.
        """
        self._switch.setChecked(is_wanted)
        self.reach.show_choice(reach)
        self._address.setEnabled(status.running)
        if status.running:
            lines = [self.tr("Listening at {url}/v1").format(url=status.url)]
            lines += [
                self.tr("For other computers: {url}/v1").format(url=url)
                for url in status.network_urls
            ]
            self._state.setText("\n".join(lines))
        elif is_wanted and status.failure is None:
            self._state.setText(self.tr("Starting…"))
        else:
            self._state.setText(self.tr("Off"))
        failure = status.failure if is_wanted else None
        self._problem.setVisible(failure is not None)
        self._problem.setText(in_full(failure) if isinstance(failure, UserError) else "")
        self.show_status(self.tr("On") if status.running else "", good=status.running)

    def show_clients(self, clients: Sequence[ApiClient]) -> None:
        """Show the programs that have a key of their own."""
        empty(self._clients)
        for number, client in enumerate(clients, start=1):
            called = short_name(client.name)
            row = QHBoxLayout()
            row.setSpacing(GRID)
            row.addWidget(ElidedLabel(called, name=f"client{number}"))
            row.addWidget(ElidedLabel(self._limits(client), "small"), 1)
            remove = IconButton(
                "trash",
                self.tr("Remove {name}").format(name=short_name(client.name)),
                f"removeClient{number}",
            )
            remove.clicked.connect(lambda _=False, client=client: self.remove.emit(client))
            row.addWidget(remove)
            self._clients.addLayout(row)
        if not clients:
            text = self.tr("None yet. If each program has its own key, you can see who asked.")
            self._clients.addWidget(Label(text, "small", name="noClients", wrap=True))

    def show_uses(self, uses: Sequence[ApiUse]) -> None:
        """Show the last requests; hide the list if there are none."""
        self._uses_head.setVisible(bool(uses))
        self._uses.setVisible(bool(uses))
        self._uses.setText("\n".join(self._use(use) for use in uses[:_MOST_USES]))

    def _report_switch(self) -> None:
        self.turned.emit(self._switch.isChecked())

    def _limits(self, client: ApiClient) -> str:
        parts = []
        if client.models:
            parts.append(self.tr("Only {models}").format(models=", ".join(client.models)))
        if client.per_minute == 1:
            parts.append(self.tr("1 request a minute"))
        elif client.per_minute:
            parts.append(
                self.tr("{per_minute} requests a minute").format(per_minute=client.per_minute)
            )
        if client.at_once:
            parts.append(self.tr("{at_once} at once").format(at_once=client.at_once))
        return ", ".join(parts)

    def _use(self, use: ApiUse) -> str:
        client = short_name(use.client) or self.tr("no valid key")
        target = use.model or use.endpoint
        tokens = self.tr("{prompt_tokens} tokens read, {completion_tokens} written").format(
            prompt_tokens=figure(use.prompt_tokens), completion_tokens=figure(use.completion_tokens)
        )
        result = tokens if use.prompt_tokens or use.completion_tokens else str(use.status)
        return f"{moment(use.started)}  {client} ({use.address}): {target}, {result}"
