"""Errors of the app itself, in the three parts of `engines.errors.UserError`."""

from __future__ import annotations

from engines.errors import UserError
from engines.sentences import N_, joined


class AppError(UserError):
    """An error outside the engines that is not a bug."""

    code = "app"


class CannotSave(AppError):
    """Nothing can be saved in the data folder; its files can still be read."""

    def at_start(self) -> CannotSave:
        """Return this error for a start that continues without writing."""
        reading_works = N_("Chats can still be read and exported.")
        return type(self)(
            self.what, joined(" ", (self.why, reading_works)), self.do, terminal=self.terminal
        )


class DataFolderReadOnly(CannotSave):
    """The system does not allow writing to the data folder."""

    code = "data_folder_read_only"


class NotADataFolder(AppError):
    """The chosen data folder contains files of other programs, and none of Hearth's."""

    code = "not_a_data_folder"


class DiskFull(CannotSave):
    """The disk has no free space."""

    code = "disk_full"


class DatabaseNewer(AppError):
    """A newer Hearth wrote the database."""

    code = "database_newer"


class DatabaseDamaged(AppError):
    """The database cannot be read.

    Attributes:
        copy: File name of the latest copy of all chats that can be restored; "" if there is none.
    """

    code = "database_damaged"

    def __init__(self, what: str, why: str, do: str, copy: str = "", *, terminal: str = "") -> None:
        super().__init__(what, why, do, terminal=terminal)
        self.copy = copy


class DatabaseBusy(AppError):
    """Another program keeps the database locked."""

    code = "database_busy"


class AlreadyOpen(AppError):
    """Hearth's window is open already."""

    code = "already_open"


class SettingsInvalid(AppError):
    """The text of a setting cannot be read."""

    code = "settings_invalid"


class NoSuchSetting(AppError):
    """No setting has that name."""

    code = "no_such_setting"


class SearchBroken(AppError):
    """A search index failed or was damaged."""

    code = "search"


class ExportFailed(AppError):
    """An export could not be written; no part of it was left."""

    code = "export"


class NothingImported(AppError):
    """None of the named files contained a readable chat."""

    code = "nothing_imported"


class SnapshotUnusable(AppError):
    """A copy of the database cannot be made or restored."""

    code = "snapshot"


class ChatNotFound(AppError):
    """No chat has that name or id."""

    code = "chat_not_found"


class AnswerInUse(AppError):
    """Another window or terminal is writing the answer."""

    code = "answer_in_use"


class NotWaiting(AppError):
    """A message no longer waits to be sent."""

    code = "not_waiting"


class NotReproducible(AppError):
    """An answer cannot be reproduced."""

    code = "not_reproducible"


class ReproductionMayDiffer(AppError):
    """An answer can be reproduced, but something has changed since, so the text may differ."""

    code = "perhaps_otherwise"


class ModelUnknown(AppError):
    """No model has that name or id."""

    code = "model_not_found"


class ModelBusy(AppError):
    """Another model is in use, and there is no room for a second one."""

    code = "model_busy"


class ModelAmbiguous(AppError):
    """Several models have that name."""

    code = "model_ambiguous"


class ModelNotOurs(AppError):
    """The model belongs to another program or is part of Hearth, and must not be changed."""

    code = "model_not_ours"


class ModelDiffers(AppError):
    """A model's bytes are not the expected ones."""

    code = "model_differs"


class ModelNotRead(AppError):
    """A model's file cannot be read."""

    code = "model_not_read"


class TrashFailed(AppError):
    """A file could not be moved to the trash."""

    code = "trash"


class FileNotText(AppError):
    """A file cannot be read as text."""

    code = "file_not_text"


class DocumentNotRead(AppError):
    """No text could be read from an attached file."""

    code = "document_not_read"


class CollectionUnknown(AppError):
    """No collection has that name."""

    code = "collection_not_found"


class CollectionNameInvalid(AppError):
    """A collection's name is too long, empty or taken."""

    code = "collection_name"


class NothingToIndex(AppError):
    """A path to be added to a collection does not exist."""

    code = "path_not_found"


class DocumentGone(AppError):
    """A file to be shown is no longer kept."""

    code = "document_gone"


class MicrophoneNotUsable(AppError):
    """The microphone cannot be used."""

    code = "microphone"


class NothingHeard(AppError):
    """The microphone recorded no sound."""

    code = "nothing_heard"


class PromptsNotRead(AppError):
    """A file of prompts cannot be read."""

    code = "prompts_not_read"


class AssistantUnknown(AppError):
    """No assistant has that name."""

    code = "assistant_not_found"


class GuideUnknown(AppError):
    """No guide has that name."""

    code = "guide_not_found"


class PartUnknown(AppError):
    """No component of Hearth has that name."""

    code = "part_not_found"


class LicencesUnreadable(AppError):
    """A list or a text of the licences is missing or damaged."""

    code = "licences_unreadable"


class GuidesUnreadable(AppError):
    """A file of the guides is missing or damaged."""

    code = "guides_unreadable"


class Offline(AppError):
    """Hearth is set to stay offline; nothing was sent."""

    code = "offline"


class NoConnection(AppError):
    """A host cannot be reached."""

    code = "no_connection"


class ConnectionTimedOut(AppError):
    """A host took too long to answer."""

    code = "connection_timed_out"


class CollectorRefused(AppError):
    """An OpenTelemetry collector refused the traces."""

    code = "collector_refused"


class MetricsRefused(AppError):
    """A server does not allow reading its metrics."""

    code = "metrics_refused"


class CertificateRefused(AppError):
    """A certificate cannot be trusted or used."""

    code = "certificate_refused"


class ProxyRefused(AppError):
    """A proxy cannot be used or refused a connection."""

    code = "proxy_refused"


class AddressInvalid(AppError):
    """An address is not valid."""

    code = "address_invalid"


class KeyringBroken(AppError):
    """The system's keyring does not answer or stays locked."""

    code = "keyring"


class NoKeyring(AppError):
    """This system has no keyring."""

    code = "no_keyring"


class TokenMalformed(AppError):
    """A text is not a token."""

    code = "token_malformed"


class NoSuchService(AppError):
    """Hearth stores no token for that service."""

    code = "no_such_service"


class HubNameInvalid(AppError):
    """A text is not the name of a model on the Hub."""

    code = "hub_name"


class LinkInvalid(AppError):
    """A link begins with “hearth:”, but names nothing that links can open."""

    code = "link"


class RepositoryUnknown(AppError):
    """The Hub has no repository of that name."""

    code = "repository_not_found"


class GatedRepository(AppError):
    """A repository is open only to users who have accepted its licence.

    Attributes:
        licence_page: Address of the page where the licence can be accepted.
    """

    code = "repository_gated"

    def __init__(
        self, what: str, why: str, do: str, licence_page: str, *, terminal: str = ""
    ) -> None:
        super().__init__(what, why, do, terminal=terminal)
        self.licence_page = licence_page


class TokenRefused(AppError):
    """The Hub refused the token."""

    code = "token_refused"


class HubBusy(AppError):
    """The Hub refuses for now: it got too many requests, or has a fault of its own.

    Attributes:
        retry_in_s: Seconds after which the Hub wants to be asked again; None if it does not say.
    """

    code = "hub_busy"

    def __init__(self, what: str, why: str, do: str, retry_in_s: float | None = None) -> None:
        super().__init__(what, why, do)
        self.retry_in_s = retry_in_s


class HubUnreadable(AppError):
    """The Hub's answer cannot be read."""

    code = "hub_unreadable"


class CatalogueInvalid(AppError):
    """The user's own catalogue of models cannot be used."""

    code = "catalogue"


class FileNotOnHub(AppError):
    """A repository does not have the file."""

    code = "file_not_found"


class FileChanged(AppError):
    """The Hub or a package index has another file under the same name."""

    code = "file_changed"


class WrongBytes(AppError):
    """A downloaded file does not have the SHA-256 that the Hub announced."""

    code = "wrong_bytes"


class HostFailed(AppError):
    """A host answered, but did not send the file."""

    code = "server_failed"


class DownloadUnknown(AppError):
    """No download has that name or id."""

    code = "download_not_found"


class EngineHindered(AppError):
    """Something on this computer prevents an engine from running; see its findings."""

    code = "engine_hindered"


class EngineNotInstalled(AppError):
    """An engine is not installed."""

    code = "engine_not_installed"


class EngineFileMissing(AppError):
    """None of the user's package indexes has a file that an engine needs."""

    code = "engine_file_missing"


class EngineNotMade(AppError):
    """An engine's environment could not be created or does not work; the last one stays in use."""

    code = "engine_not_made"


class EngineInUse(AppError):
    """An engine is running, so its files cannot be removed."""

    code = "engine_in_use"


class ServerUnknown(AppError):
    """No server profile has that name."""

    code = "server_not_found"


class ServerInvalid(AppError):
    """A server's profile has an error and cannot be saved."""

    code = "server_invalid"


class AddressNotFree(AppError):
    """The server cannot listen at an address: it is taken, not on this computer, or not allowed."""

    code = "address_not_free"


class NotSafe(AppError):
    """The server would let others in without the user's consent."""

    code = "not_safe"


class ClientUnknown(AppError):
    """No program with its own key has that name."""

    code = "client_not_found"


class ClientInvalid(AppError):
    """A program cannot be registered under that name."""

    code = "client_invalid"
