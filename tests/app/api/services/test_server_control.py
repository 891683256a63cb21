"""Running the one server of a Hearth according to the settings, with a real server."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from app.api.http.server import Server
from app.api.services.api_keys import ApiKeys
from app.api.services.server_control import ServerControl, options_of
from app.api.store import ApiClientStore
from app.base.db import Database
from app.base.errors import AddressNotFree, NotSafe, SettingsInvalid
from app.base.secrets import Secrets
from app.net.values.serving import EVERYWHERE, LOOPBACK, Address, ServeOptions
from app.settings.values.fields import Settings
from tests.app.api.http.conftest import error_body, small_app


@pytest.fixture
def made() -> list[Server]:
    return []


@pytest.fixture
def control(tmp_path: Path, made: list[Server]) -> Iterator[ServerControl]:
    with closing(Database(tmp_path / "chats.db")) as database:
        keys = ApiKeys(Secrets(), ApiClientStore(database))

        def make(options: ServeOptions) -> Server:
            made.append(Server(small_app(), options, keys, error_body))
            return made[-1]

        control = ServerControl(make)
        yield control
        control.stop()


@pytest.fixture
def settings() -> Settings:
    with socket.create_server((LOOPBACK, 0)) as free:
        port = free.getsockname()[1]
    return Settings(server=True, server_port=port)


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection((LOOPBACK, port), timeout=5):
        return True
    return False


def test_it_runs_as_long_as_the_settings_say(control: ServerControl, settings: Settings) -> None:
    assert not control.status.running
    status = control.follow(settings)
    assert status.url == f"http://127.0.0.1:{settings.server_port}"
    assert (status.exposed, status.encrypted, status.failure) == (False, False, None)
    assert listens(settings.server_port)
    assert not control.follow(replace(settings, server=False)).running
    assert not listens(settings.server_port)


def test_a_change_that_is_not_its_own_leaves_it_running(
    control: ServerControl, settings: Settings, made: list[Server]
) -> None:
    control.follow(settings)
    control.follow(replace(settings, theme="dark", server_aliases="a = starter", server_idle=5))
    assert len(made) == 1
    control.follow(replace(settings, server_sites="https://chat.example"))
    assert len(made) == 2
    assert listens(settings.server_port)


def test_why_it_could_not_start_is_known_until_it_does(
    control: ServerControl, settings: Settings
) -> None:
    with socket.create_server((LOOPBACK, settings.server_port)):
        assert isinstance(control.follow(settings).failure, AddressNotFree)
        assert not control.status.running
        with pytest.raises(AddressNotFree):
            control.start(options_of(settings))
    assert control.follow(settings).failure is None
    assert control.status.running


def test_a_change_that_is_not_safe_ends_what_ran(
    control: ServerControl, settings: Settings
) -> None:
    """The server stops instead of going on without the encryption that the settings ask for."""
    control.follow(settings)
    status = control.follow(replace(settings, server_expose="network"))
    assert isinstance(status.failure, NotSafe)
    assert not listens(settings.server_port)


def test_settings_that_cannot_be_read_are_a_failure(
    control: ServerControl, settings: Settings
) -> None:
    control.follow(settings)
    broken = replace(settings, server_sites="not a site")
    assert isinstance(control.follow(broken).failure, SettingsInvalid)
    assert not listens(settings.server_port)


def test_what_the_settings_mean() -> None:
    files = Settings(server_certificate="~/cert.pem", server_key="/key.pem")
    usual = options_of(files)
    assert (usual.address, usual.exposed) == (Address(LOOPBACK, 8117), False)
    assert usual.certificate is None
    network = options_of(replace(files, server_expose="network"))
    assert (network.address.host, network.exposed, network.encrypted) == (EVERYWHERE, True, True)
    assert network.certificate == Path.home() / "cert.pem"
    network.require_safe()
    plain = options_of(replace(files, server_expose="network_unencrypted"))
    assert (plain.exposed, plain.encrypted, plain.without_tls) == (True, False, True)
    plain.require_safe()
