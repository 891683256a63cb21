"""Errors of the app itself, in the three parts of `engines.errors.UserError`."""

from __future__ import annotations

from engines.errors import UserError


class AppError(UserError):
    """An error of the world's outside the engines."""

    code = "app"


class NothingKept(AppError):
    """The data folder cannot be written; what is there can still be read."""

    def at_start(self) -> NothingKept:
        """Return this error as a start tells it that goes on without writing."""
        still = "Chats can still be read and exported."
        return type(self)(self.what, f"{self.why} {still}", self.do, terminal=self.terminal)


class DataFolderReadOnly(NothingKept):
    code = "data_folder_read_only"


class NotADataFolder(AppError):
    """The data folder that was chosen holds files of others, and none of Hearth's."""

    code = "not_a_data_folder"


class DiskFull(NothingKept):
    code = "disk_full"


class DatabaseNewer(AppError):
    code = "database_newer"


class DatabaseDamaged(AppError):
    """The database cannot be read.

    copy: the name of the last copy of all chats, where there is one that can be put back.
    """

    code = "database_damaged"

    def __init__(self, what: str, why: str, do: str, copy: str = "", *, terminal: str = "") -> None:
        super().__init__(what, why, do, terminal=terminal)
        self.copy = copy


class DatabaseBusy(AppError):
    code = "database_busy"


class AlreadyOpen(AppError):
    code = "already_open"


class SettingsInvalid(AppError):
    code = "settings_invalid"


class NoSuchSetting(AppError):
    code = "no_such_setting"


class SearchBroken(AppError):
    code = "search"


class ExportFailed(AppError):
    """An export could not be written; nothing of it was left."""

    code = "export"


class NothingImported(AppError):
    """No chat could be read in any of the files that were named."""

    code = "nothing_imported"


class SnapshotUnusable(AppError):
    code = "snapshot"


class ChatNotFound(AppError):
    code = "chat_not_found"


class AnswerInUse(AppError):
    code = "answer_in_use"


class NotWaiting(AppError):
    code = "not_waiting"


class NotReproducible(AppError):
    code = "not_reproducible"


class PerhapsOtherwise(AppError):
    """An answer would be asked for again, but something differs from then."""

    code = "perhaps_otherwise"


class ModelUnknown(AppError):
    code = "model_not_found"


class ModelBusy(AppError):
    code = "model_busy"


class ModelAmbiguous(AppError):
    code = "model_ambiguous"


class ModelNotOurs(AppError):
    """The model belongs to another program or is part of Hearth, and is not to be changed."""

    code = "model_not_ours"


class ModelDiffers(AppError):
    """A model's bytes are not those that it should have."""

    code = "model_differs"


class ModelNotRead(AppError):
    code = "model_not_read"


class TrashFailed(AppError):
    code = "trash"


class FileNotText(AppError):
    code = "file_not_text"


class DocumentNotRead(AppError):
    """No text could be read from a file that was attached."""

    code = "document_not_read"


class CollectionUnknown(AppError):
    code = "collection_not_found"


class CollectionNameInvalid(AppError):
    code = "collection_name"


class NothingToIndex(AppError):
    """A path that is to be added to a collection leads nowhere."""

    code = "path_not_found"


class DocumentGone(AppError):
    """A file that is to be looked at is not kept any more."""

    code = "document_gone"


class MicrophoneNotUsable(AppError):
    code = "microphone"


class NothingHeard(AppError):
    code = "nothing_heard"


class PromptsNotRead(AppError):
    code = "prompts_not_read"


class AssistantUnknown(AppError):
    code = "assistant_not_found"


class GuideUnknown(AppError):
    code = "guide_not_found"


class PartUnknown(AppError):
    """Nothing that Hearth is made of has this name."""

    code = "part_not_found"


class LicencesUnreadable(AppError):
    """A list or a text of the licences is missing or damaged."""

    code = "licences_unreadable"


class GuidesUnreadable(AppError):
    """A file of the guides is missing or damaged."""

    code = "guides_unreadable"


class Offline(AppError):
    """Hearth was told to stay offline; nothing was sent."""

    code = "offline"


class NoConnection(AppError):
    code = "no_connection"


class ConnectionTimedOut(AppError):
    code = "connection_timed_out"


class CollectorRefused(AppError):
    code = "collector_refused"


class MetricsRefused(AppError):
    code = "metrics_refused"


class CertificateRefused(AppError):
    code = "certificate_refused"


class ProxyRefused(AppError):
    code = "proxy_refused"


class AddressInvalid(AppError):
    code = "address_invalid"


class KeyringBroken(AppError):
    code = "keyring"


class NoKeyring(AppError):
    code = "no_keyring"


class TokenMalformed(AppError):
    code = "token_malformed"


class NoSuchService(AppError):
    code = "no_such_service"


class HubNameInvalid(AppError):
    code = "hub_name"


class LinkInvalid(AppError):
    """A link that begins with “hearth:”, but names nothing that is opened for links."""

    code = "link"


class RepositoryUnknown(AppError):
    code = "repository_not_found"


class GatedRepository(AppError):
    """A repository is open only to those who accepted its licence, at `licence_page`."""

    code = "repository_gated"

    def __init__(
        self, what: str, why: str, do: str, licence_page: str, *, terminal: str = ""
    ) -> None:
        super().__init__(what, why, do, terminal=terminal)
        self.licence_page = licence_page


class TokenRefused(AppError):
    code = "token_refused"


class HubBusy(AppError):
    """The Hub refuses for now: too many requests, or a fault of its own.

    retry_in_s: when it wants to be asked again, in seconds; None if it does not say.
    """

    code = "hub_busy"

    def __init__(self, what: str, why: str, do: str, retry_in_s: float | None = None) -> None:
        super().__init__(what, why, do)
        self.retry_in_s = retry_in_s


class HubUnreadable(AppError):
    code = "hub_unreadable"


class CatalogueInvalid(AppError):
    """The user's own catalogue of models cannot be used."""

    code = "catalogue"


class FileNotOnHub(AppError):
    code = "file_not_found"


class FileChanged(AppError):
    code = "file_changed"


class WrongBytes(AppError):
    """A downloaded file has another SHA-256 than the Hub announced."""

    code = "wrong_bytes"


class HostFailed(AppError):
    """A host answered, but did not send the file."""

    code = "server_failed"


class DownloadUnknown(AppError):
    code = "download_not_found"


class EngineHindered(AppError):
    """Something about this computer forbids an engine, see its findings."""

    code = "engine_hindered"


class EngineNotInstalled(AppError):
    code = "engine_not_installed"


class EngineFileMissing(AppError):
    """No package index of the user's has a file that an engine needs."""

    code = "engine_file_missing"


class EngineNotMade(AppError):
    """An engine's environment could not be made or did not work; the one before it stays in use."""

    code = "engine_not_made"


class EngineInUse(AppError):
    code = "engine_in_use"


class ServerUnknown(AppError):
    """No profile of another server has that name."""

    code = "server_not_found"


class ServerInvalid(AppError):
    """A server's profile has a fault and cannot be kept."""

    code = "server_invalid"


class AddressNotFree(AppError):
    """Nothing can listen at an address: it is taken, not of this computer, or not allowed."""

    code = "address_not_free"


class NotSafe(AppError):
    """The server would let others in, which was not agreed to."""

    code = "not_safe"


class ClientUnknown(AppError):
    """No program with a key of its own has that name."""

    code = "client_not_found"


class ClientInvalid(AppError):
    """A program cannot be kept under that name."""

    code = "client_invalid"
