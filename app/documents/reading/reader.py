"""Reads documents in another process, so that no file can harm the app; see `child`."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from app.base.errors import DocumentNotRead
from app.documents.reading.faults import Fault
from app.documents.reading.limits import Limits
from app.documents.values.documents import Document, document_from
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.helper.command import module_command
from engines.helper.parent import ProcessResult, run_helper
from engines.helper.serving import ServingHelper
from engines.sentences import N_

_MOST_FILES: Final = 2000
"""Maximum number of files per process; anything that a file leaves behind ends with it."""

COMMAND: Final = module_command("app.documents.reading.child")


class DocumentReader:
    """Reads documents. Safe from any thread, several at once."""

    def __init__(self, limits: Limits | None = None, command: Sequence[str] = COMMAND) -> None:
        self._limits = limits or Limits()
        self._command = tuple(command)

    def read(self, path: Path, cancel: CancelToken, name: str = "") -> Document:
        """Read a file. Raises DocumentNotRead and Cancelled.

        Args:
            name: The file's name, if not the name in its path.
        """
        name = name or path.name
        try:
            self._check_path(path, name)
            ended = run_helper(
                self._command,
                json.dumps({"path": str(path), "name": name, "limits": asdict(self._limits)}),
                self._limits.seconds,
                cancel,
                self._limits.memory_bytes,
                self._limits.out_bytes,
            )
        except OSError as error:
            raise refused(name, Fault.MISSING) from error
        if cancel.cancelled:
            raise Cancelled
        return self._document(name, ended)

    def read_bytes(self, data: bytes, name: str, cancel: CancelToken) -> Document:
        """Read an untrusted file from its bytes. Raises DocumentNotRead and Cancelled.

        Args:
            name: Only shows the file's kind; no file of this name is opened.
        """
        try:
            number, place = tempfile.mkstemp(prefix="hearth-")
        except OSError as error:
            raise refused(name, Fault.MISSING) from error
        path = Path(place)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(data)
            return self.read(path, cancel, name)
        except OSError as error:
            raise refused(name, Fault.MISSING) from error
        finally:
            path.unlink(missing_ok=True)

    def many(self) -> ManyDocuments:
        """Return a reader for one file after another; the caller closes it."""
        return ManyDocuments(self._limits, self._command, self._check_path, self._document)

    def _check_path(self, path: Path, name: str) -> None:
        """Refuse a missing file or one that is too large. Raises DocumentNotRead and OSError."""
        if not path.is_file():
            raise refused(name, Fault.NO_FILE if path.exists() else Fault.MISSING)
        if path.stat().st_size > self._limits.file_bytes:
            raise refused(name, Fault.TOO_LARGE)

    def _document(self, name: str, ended: ProcessResult) -> Document:
        if not ended.in_time:
            raise refused(name, Fault.NO_TIME)
        if ended.too_much:
            raise refused(name, Fault.NO_MEMORY)
        try:
            lines = [json.loads(line) for line in ended.out.splitlines()]
            if fault := lines[-1].get("fault"):
                raise refused(name, Fault(fault))
            if lines[-1]["sections"] != len(lines) - 2:
                raise ValueError("it has not said all")
            return document_from({**lines[0], "sections": lines[1:-1]})
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            no_memory = "MemoryError" in ended.err or "bad_alloc" in ended.err
            raise refused(name, Fault.NO_MEMORY if no_memory else Fault.CRASHED) from None


class ManyDocuments:
    """Reads one file after another on one thread, without a new process for each.

    A file that crashes the process affects no other: the next file gets a new process. The crash
    can also be caused by the remains of files read before, so such a file gets a second try in a
    new process.
    """

    def __init__(
        self,
        limits: Limits,
        command: Sequence[str],
        check_path: Callable[[Path, str], None],
        document: Callable[[str, ProcessResult], Document],
    ) -> None:
        self._limits = limits
        self._command = [*command, json.dumps({"limits": asdict(limits)})]
        self._check_path = check_path
        self._document = document
        self._helper: ServingHelper | None = None

    def read(self, path: Path, cancel: CancelToken, name: str = "") -> Document:
        """Read a file, as `DocumentReader.read` does. Raises DocumentNotRead and Cancelled."""
        name = name or path.name
        try:
            self._check_path(path, name)
            ended, is_first = self._ask(path, name, cancel)
            if not is_first and (ended.code or ended.too_much) and not cancel.cancelled:
                ended, _ = self._ask(path, name, cancel)
        except OSError as error:
            raise refused(name, Fault.MISSING) from error
        if cancel.cancelled:
            raise Cancelled
        return self._document(name, ended)

    def close(self) -> None:
        """End the process that reads the files."""
        if self._helper is not None:
            self._helper.close()
            self._helper = None

    def _ask(self, path: Path, name: str, cancel: CancelToken) -> tuple[ProcessResult, bool]:
        """Have the process read a file.

        Returns:
            The result, and whether the file was the first one in its process.
        """
        helper = self._helper
        if helper is not None and (
            not helper.alive
            or helper.orders >= _MOST_FILES
            or helper.resident_bytes() > self._limits.memory_bytes // 4
        ):
            self.close()
            helper = None
        if helper is None:
            helper = self._helper = ServingHelper(self._command)
        limits = self._limits
        order = {"path": os.fsencode(path).hex(), "name": name}
        ended = helper.ask(order, limits.seconds, cancel, limits.memory_bytes, limits.out_bytes)
        return ended, helper.orders == 1


def refused(name: str, fault: Fault) -> DocumentNotRead:
    """Return the error for a file that cannot be read."""
    return DocumentNotRead(N_("{name} cannot be read.", name=name), *_WORDS[fault])


_OPEN_IT: Final = N_("Open it in its own program and copy the part that your question is about.")

_WORDS: Final = {
    Fault.MISSING: (
        N_("The file is not there, or the system does not let Hearth open it."),
        N_("Check that it still exists and that you may open it, then add it again."),
    ),
    Fault.NO_FILE: (
        N_("It is a folder, a pipe or a device, which cannot be read as a file."),
        N_("Choose a file."),
    ),
    Fault.CHANGED: (
        N_("Another program changed it while it was read."),
        N_("Wait until that program has finished with it, then add it again."),
    ),
    Fault.LOCKED: (
        N_("It is protected by a password or by copy protection."),
        N_("Save a copy without protection in its own program, and add the copy."),
    ),
    Fault.OLD_OFFICE: (
        N_("It has the format that Office used before 2007."),
        N_("Save it as DOCX, XLSX, PPTX or PDF in its own program, and add that."),
    ),
    Fault.MESSAGE_FILE: (
        N_("It is an Outlook message (.msg), which Hearth cannot read."),
        N_("Save it as EML in Outlook, or as a PDF, and add that."),
    ),
    Fault.ENCODING: (
        N_("Hearth cannot tell the encoding of this text; a wrong guess would change its words."),
        N_("Save it as UTF-8 in its own program, and add that."),
    ),
    Fault.PICTURE: (
        N_("It is a picture of a kind that Hearth does not read."),
        N_("Save it as JPEG or PNG in its own program, and add that."),
    ),
    Fault.SOUND: (
        N_("It is a sound of a kind that Hearth does not read."),
        N_("Save it as WAV, MP3 or FLAC in its own program, and add that."),
    ),
    Fault.PIXELS: (
        N_("It has more than 200 million pixels."),
        N_("Make it smaller in its own program, or cut out what your question is about."),
    ),
    Fault.LASTS: (
        N_("It lasts longer than an hour, or takes more than 64 MB."),
        N_("Cut out the part that your question is about, or save it as MP3 or FLAC."),
    ),
    Fault.MODEL: (
        N_("It is a file of a model, not a document."),
        N_("To chat with a model, add its GGUF file on the page Models."),
    ),
    Fault.UNKNOWN: (
        N_("It is not a document, picture or sound that Hearth can read."),
        N_("Save it as PDF, DOCX, JPEG or plain text in its own program, and add that."),
    ),
    Fault.DAMAGED: (
        N_("The file is damaged or not complete."),
        N_("Open it in its own program, save it again, and add that copy."),
    ),
    Fault.TOO_LARGE: (
        N_("The file is larger than 1 GB."),
        _OPEN_IT,
    ),
    Fault.TOO_LONG: (
        N_("It has more than ten million characters of text."),
        N_("Split it into smaller files, and add those that your question is about."),
    ),
    Fault.UNPACKS: (
        N_("Its content grows beyond 512 MB when it is unpacked, as that of a harmful file would."),
        _OPEN_IT,
    ),
    Fault.NO_MEMORY: (
        N_("Reading it took more than 1 GB of memory, and was stopped."),
        _OPEN_IT,
    ),
    Fault.NO_TIME: (
        N_("Reading it took more than two minutes, and was stopped."),
        _OPEN_IT,
    ),
    Fault.CRASHED: (
        N_("The part of Hearth that reads it crashed on it; the file may be damaged or harmful."),
        N_("Open it in its own program, save it again, and add that copy."),
    ),
}
"""The words of each fault: why, and what to do. The numbers in them are those of `Limits`."""
