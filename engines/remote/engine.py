"""The engine for models on servers: it loads by examining a server, and answers by asking it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Final

from engines.adapters import refuse_adapter
from engines.base import Progress, nothing_loaded
from engines.cancel import CancelToken
from engines.connection import Connection
from engines.errors import (
    Cancelled,
    EngineError,
    ModelNotFound,
    MtpUnavailable,
    ServerRefused,
)
from engines.guard import UseGuard
from engines.openai.answering import ServedModelAccess, answer
from engines.openai.client import OpenAiClient
from engines.openai.reasoning import reasoning_of
from engines.openai.served import ServedEngine
from engines.openai.values import Drafted, ServedModel, ServerInfo
from engines.remote.identify import identify
from engines.sentences import N_
from engines.types import (
    ChatRequest,
    EngineStatus,
    Event,
    LoadedModel,
    MtpCheck,
    MtpReport,
    ServedPlan,
)

if TYPE_CHECKING:
    import httpx2

_DRAFTS = N_("The server guesses ahead; that is set where it is started.")
_NO_DRAFTS = N_("The server does not guess ahead; that is set where it is started.")
_NO_CONTEXT = N_(
    "The server does not say how much context it has; the oldest messages are left out "
    "when it says that a chat is too long."
)
_CUTS_OFF = N_(
    "Ollama does not say how much context it has, and silently cuts off the beginning of "
    "a chat that is too long; set the same context here as in Ollama."
)
_NO_ADAPTERS: Final = N_("A server offers an adapter as a model of its own.")
_AS_MODEL: Final = N_("Choose that model, and leave the adapter empty.")
_AT_ONCE: Final = 256
"""Largest number of simultaneous requests; the server queues those that it has no room for."""

_UNKNOWN = N_("The server does not say whether it guesses ahead.")


@dataclass(frozen=True)
class Served:
    """The connection to one server; the engine closes its client.

    Attributes:
        base: Address without "/v1".
        headers: Headers of each request.
        server_name: Name of the server in error messages.
        local: It runs on this computer, so the tokens of an unsent message can be counted there.
        on_identified: Called with the facts about the server once they are known.
        variable: Environment variable that can hold its key.
    """

    client: httpx2.Client
    base: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    server_name: str = N_("The server")
    local: bool = False
    on_identified: Callable[[ServerInfo], None] = field(default=lambda _: None)
    variable: str = ""

    def client_on(self, connection: Connection | None = None) -> OpenAiClient:
        """Return a client for the server; its requests end when `connection` is closed."""
        return OpenAiClient(
            self.client, self.base, self.headers, self.server_name, connection, self.variable
        )


class RemoteEngine(ServedEngine):
    """An `engines.base.Engine` for a model on another server.

    Args:
        connect: Returns the connection for the id of a server's profile; raises UserError.
    """

    name = "remote"

    def __init__(self, connect: Callable[[str], Served]) -> None:
        self._connect = connect
        self._served: Served | None = None
        self._access: ServedModelAccess | None = None
        self._plan: ServedPlan | None = None
        self._refused = False
        self._is_examining = False
        self._guard = UseGuard()

    def load(self, plan: ServedPlan, progress: Progress, cancel: CancelToken) -> LoadedModel:
        """Check that the server offers the model. See `Engine.load`."""
        with self._guard.exclusive():
            self._unload()
            if cancel.cancelled:
                raise Cancelled
            started = perf_counter()
            served = self._connect(plan.server)
            self._is_examining = True
            try:
                report = self._examine(served, plan, started, cancel)
            except BaseException:
                served.client.close()
                raise
            finally:
                self._is_examining = False
            self._served, self._plan, self._refused = served, plan, False
            progress(1.0)
            return report

    @property
    def is_healthy(self) -> bool:
        """True if the server has accepted the key since it was examined."""
        return not self._refused

    def revive(self, progress: Progress, cancel: CancelToken) -> None:
        """Load the model again, with the present key, if the server refused the last one.

        Raises what `load` raises.
        """
        if self._refused and self._plan is not None:
            self.load(self._plan, progress, cancel)

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        """Answer a request through the server. See `Engine.chat`."""
        refuse_adapter(request, _NO_ADAPTERS, _AS_MODEL)
        with self._guard.answering(_AT_ONCE):
            try:
                yield from answer(request, self._loaded(), cancel)
            except ServerRefused:
                self._refused = True
                raise

    def check_mtp(self, _request: ChatRequest, _depth: int, _cancel: CancelToken) -> MtpCheck:
        """Raise MtpUnavailable, because a request to a server cannot choose whether it drafts."""
        raise MtpUnavailable(
            N_("The answers cannot be compared."),
            N_("Whether a server guesses ahead is set where it is started."),
            N_("Compare with a model on this computer."),
        )

    def status(self) -> EngineStatus:
        """Return whether a model was found on a server, without asking it. See `Engine.status`."""
        if self._is_examining:
            return EngineStatus("loading", elsewhere=True)
        return EngineStatus("ready" if self._access is not None else "stopped", elsewhere=True)

    def cache_used(self) -> float | None:
        """Return None, because the load of a server concerns only its owner."""
        return None

    def close(self) -> None:
        """Close the connection to the server. See `Engine.close`."""
        with self._guard.exclusive():
            self._unload()

    def _examine(
        self, served: Served, plan: ServedPlan, started: float, cancel: CancelToken
    ) -> LoadedModel:
        name = plan.model
        try:
            with Connection.ended_by(cancel) as connection:
                client = served.client_on(connection)
                info = identify(client)
                model = _find_model(info, name, served.server_name)
                thinking, thinks = (
                    reasoning_of(client, name, info.kind) if info.tokenizes else ("none", False)
                )
        except EngineError as error:
            if cancel.cancelled:
                raise Cancelled from error
            raise
        served.on_identified(info)
        # The user's setting applies if the server does not report its context.
        context = model.context or plan.context
        load_s = perf_counter() - started
        self._access = ServedModelAccess(
            served.client_on(),
            name,
            kind=info.kind,
            context=context,
            load_s=load_s,
            report=lambda request, drafted: _report(info, request, drafted),
            tokenizes=info.tokenizes,
            measures=info.tokenizes and served.local,
            drafts=bool(info.mtp),
            thinking=thinking,
            thinks=thinks,
            keep_special_tokens=thinking != "none",
        )
        return LoadedModel(
            name=name,
            architecture="",
            parameters=model.parameters,
            size_bytes=model.size_bytes,
            context=context,
            context_trained=context,
            device=served.server_name,
            load_s=load_s,
            mtp="drafter" if info.mtp else "none",
            mtp_line=mtp_line(info.mtp),
            thinking=thinking,
            thinks=thinks,
            mtp_switch="server",
            notes=_notes(info, context),
            answers_at_once=_AT_ONCE,
            sees=model.sees,
            hears=model.hears,
        )

    def _loaded(self) -> ServedModelAccess:
        if self._access is None:
            raise nothing_loaded()
        return self._access

    def _unload(self) -> None:
        served, self._served, self._access = self._served, None, None
        if served is not None:
            served.client.close()


def _find_model(info: ServerInfo, name: str, server_name: str) -> ServedModel:
    for model in info.models:
        if model.id == name:
            return model
    offered = ", ".join(model.id for model in info.models[:5]) or "none"
    raise ModelNotFound(
        N_("{called} does not offer the model “{name}”.", called=server_name, name=name),
        N_("It offers: {offered}.", offered=offered),
        N_("Choose one of those, or start the server with this one."),
    )


def _report(info: ServerInfo, request: ChatRequest, drafted: Drafted | None) -> MtpReport:
    active = drafted.drafted > 0 if drafted else bool(info.mtp)
    return MtpReport(
        request.mtp,
        active=active,
        reason=mtp_line(True if active else info.mtp),
        kind="drafter" if active else "none",
        drafted=drafted.drafted if drafted else 0,
        accepted=drafted.accepted if drafted else 0,
    )


def mtp_line(mtp: bool | None) -> str:
    """Say whether a server predicts several tokens at once; None if it does not say."""
    if mtp is None:
        return _UNKNOWN
    return _DRAFTS if mtp else _NO_DRAFTS


def _notes(info: ServerInfo, context: int) -> tuple[str, ...]:
    if context:
        return ()
    return (_CUTS_OFF if info.kind == "ollama" else _NO_CONTEXT,)
