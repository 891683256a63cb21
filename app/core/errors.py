"""Errors of the app itself, in the three parts of `engines.errors.UserError`."""

from __future__ import annotations

from engines.errors import UserError


class AppError(UserError):
    """The world's fault, met outside the engines."""

    code = "app"


class DataFolderReadOnly(AppError):
    code = "data_folder_read_only"


class DiskFull(AppError):
    code = "disk_full"


class DatabaseNewer(AppError):
    code = "database_newer"


class DatabaseDamaged(AppError):
    code = "database_damaged"


class DatabaseBusy(AppError):
    code = "database_busy"


class AlreadyOpen(AppError):
    code = "already_open"


class SettingsInvalid(AppError):
    code = "settings_invalid"


class NoSuchSetting(AppError):
    code = "no_such_setting"


class ChatNotFound(AppError):
    code = "chat_not_found"


class AnswerInUse(AppError):
    code = "answer_in_use"


class ModelUnknown(AppError):
    code = "model_not_found"


class FileNotText(AppError):
    code = "file_not_text"
