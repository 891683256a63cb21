"""Tools as templates take them, and calls as models write them, read while they stream.

Once the name of a call is known and its arguments have begun, it counts as a call, and its pieces
are passed on as they come. Before that it can still be text that only looks like a call, and then
it stays text. So only a marker, a name and a bracket are held back; in formats whose arguments are
not JSON, an argument as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, Final

from engines.dialect.formats import ANY_CALLS, CallFormat
from engines.dialect.values import dumped, is_text, json_of, of_braces, of_python, whole
from engines.text import SEAM, held_back
from engines.types import TextDelta, Tool, ToolCall, ToolCallDelta

Found = TextDelta | ToolCallDelta | ToolCall

_MOST_HEADER: Final = 400
"""The most characters of a call before its arguments; a name has at most some sixty."""
_MOST_DEPTH: Final = 200
"""The deepest nesting of brackets in arguments."""

_NAME: Final = re.compile(r"[\w./:-]*[A-Za-z][\w./:-]*")
_NAME_PART: Final = re.compile(r"[\w./:-]*")
_NUMBERED: Final = re.compile(r"(?:functions\.)?(.+?)(?::\d+)?")
_PLAIN: Final = re.compile(r"[-\s\w.,:+]*")
"""A pattern for JSON outside strings and brackets."""
_PYTHON_BEGUN: Final = re.compile(r"\s*\[?\s*([\w./:-]*)(\(.*)?", re.DOTALL)
"""A pattern for the beginning of a call in Python syntax: its name, and its arguments."""
_LEAST_OF_WORD: Final = 4
_NAME_KEYS: Final = ("name", "tool_name", "function")
_ARGUMENT_KEYS: Final = ("arguments", "parameters")
_ID_KEYS: Final = ("id", "tool_call_id")
_CONTROL: Final = re.compile(r"[\x00-\x1f]")

Wait = Generator[None, None, None]
"""A generator that reads on, and yields when it needs more of the answer."""


def offered(tools: Sequence[Tool]) -> list[dict[str, Any]] | None:
    """Return tools in the form of OpenAI's protocol and of templates; None if there are none."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in tools
    ] or None


class CallLog:
    """A builder of an answer's calls from their pieces; it makes ids where the model wrote none."""

    def __init__(self, ids: str = "call_") -> None:
        self._ids = ids
        self._name = self._id = ""
        self._arguments = StringIO()
        self._begun = ""
        self.called = 0
        self.open = False

    @property
    def size(self) -> int:
        """Number of characters of the latest call's arguments."""
        return self._arguments.tell()

    @property
    def arguments(self) -> str:
        """The JSON text of the open call, or of the last one."""
        return self._arguments.getvalue()

    def begin(self, name: str, id_: str = "") -> ToolCallDelta:
        """Begin a call; return its first piece, which has the name and the id."""
        self.called += 1
        self.open = True
        self._name, self._id = name, id_ or f"{self._ids}{self.called}"
        self._arguments = StringIO()
        return ToolCallDelta(self.called - 1, self._name, self._id, "")

    def more(self, text: str) -> ToolCallDelta:
        """Add a piece of the open call's arguments, and return it."""
        self._arguments.write(text)
        return ToolCallDelta(self.called - 1, self._name, self._id, text)

    def end(self) -> ToolCall:
        """Close the open call, and return it complete."""
        self.open = False
        return ToolCall(self._name, self._arguments.getvalue(), self._id)

    def drop(self) -> None:
        """Drop the open call, which was cut off."""
        self.open = False


class _NoCall(Exception):
    """The text that is being read is not a call."""


@dataclass
class _Object:
    """The parts read so far of a call that is a JSON object.

    Attributes:
        begun: Whether it has been reported as a call.
    """

    form: CallFormat
    name: str = ""
    id: str = ""
    arguments: str = ""
    first: bool = True
    begun: bool = False


@dataclass
class _Arguments:
    """A writer of a call's arguments as JSON: call `key` and write a value for each, then `end`."""

    more: Callable[[str], None]
    first: bool = field(default=True)

    def key(self, name: str) -> None:
        self.more(("{" if self.first else ", ") + json.dumps(name, ensure_ascii=False) + ": ")
        self.first = False

    def end(self) -> None:
        self.more("{}" if self.first else "}")


class CallReader:
    """A reader that takes an answer's text and returns text and calls, however the text is cut.

    Args:
        formats: The formats of the model, its own first; those that begin alike are tried in order.
        tools: The tools that were offered; if calls begin without a marker, only a call of one of
            these counts as a call.
        vocabulary: Markers that are tokens; a first call must begin with the token, which a SEAM
            precedes.
        ids: Prefix of generated call ids.

    Attributes:
        log: The calls so far.
    """

    def __init__(
        self,
        formats: Sequence[CallFormat] = ANY_CALLS,
        tools: Sequence[Tool] = (),
        vocabulary: frozenset[str] = frozenset(),
        ids: str = "call_",
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._bare = [form for form in formats if form.bare and tools]
        self._strict: dict[str, list[CallFormat]] = {}
        self._lax: dict[str, list[CallFormat]] = {}
        for form in formats:
            for marked, plain in zip(form.begins_of(vocabulary), form.begins, strict=True):
                self._strict.setdefault(marked, []).append(form)
                self._lax.setdefault(plain, []).append(form)
        self.log = CallLog(ids)
        self._text = ""
        self._found: list[Found] = []
        self._pieces: list[str] = []  # of arguments, not reported yet
        self._undecided: StringIO | None = None  # text to restore if it is not a call
        self._inside = self._ended = self._cut = self._after = False
        self._reading = self._read()

    @property
    def called(self) -> int:
        """Number of calls so far, including one that is being written."""
        return self.log.called

    @property
    def pending_chars(self) -> int:
        """Number of characters received of a call that has not ended."""
        return self.log.size * self.log.open + (self._undecided.tell() if self._undecided else 0)

    def feed(self, text: str) -> list[Found]:
        """Take the next text; return the text and calls that are certain now."""
        if self._undecided is not None:
            self._undecided.write(text)
        self._text += text.replace(SEAM, "") if self._inside else text
        return self._advance()

    def finish(self, *, ended: bool = True) -> list[Found]:
        """Return the text held back, when no more follows; a call may lack its last marker.

        Args:
            ended: Whether the model ended its answer. Then a call with incomplete arguments is
                returned as it is. If the answer was cut off, such a call is dropped, and so is text
                that can be the beginning of a call.
        """
        self._ended, self._cut = True, not ended
        found = self._advance()
        if self.log.open:
            if ended:
                found.append(self.log.end())
            else:
                self.log.drop()
        return found

    def _advance(self) -> list[Found]:
        next(self._reading, None)
        self._flush()
        found, self._found = self._found, []
        return found

    def _read(self) -> Wait:
        """Read the whole answer."""
        if self._bare:
            yield from self._begun_bare()
        while True:
            begins = self._lax if self.log.called else self._strict
            at, marker = _first(self._text, begins)
            if not marker:
                if self._ended:
                    self._emit_text(self._take(len(self._text) - self._begun_marker(begins)))
                    return
                self._emit_text(self._take(len(self._text) - held_back(self._text, tuple(begins))))
                yield
                continue
            self._emit_text(self._take(at))
            self._take(len(marker))
            yield from self._section(marker, begins[marker])

    def _begun_marker(self, begins: Mapping[str, object]) -> int:
        """Return the length of an incomplete marker at the end of an answer that was cut off."""
        if not self._cut:
            return 0
        count = held_back(self._text, tuple(begins))
        begun = self._text[len(self._text) - count :].replace(SEAM, "")
        # A few letters of a marker that is a word are just as likely to be part of another word.
        return 0 if begun[:1].isalpha() and len(begun) < _LEAST_OF_WORD else count

    def _may_go_on(self, form: CallFormat) -> bool:
        """Return whether an answer that was cut off could have continued as a call.

        The text so far must fit. If a call begins with nothing but a name, the text must be the
        beginning of the name of an offered tool.
        """
        if not self._cut or self._undecided is None:
            return False
        if not form.bare or self._marker or self.log.called:
            return True
        text = self._undecided.getvalue()
        if form.style == "named":
            name, found, _ = text.partition(form.names)
            return bool(found) or self._begins_name(name.strip(), form.text_name)
        if form.style != "python":
            return True
        begun = _PYTHON_BEGUN.fullmatch(text)
        return begun is not None and (
            begun[1] in self._tools if begun[2] else self._begins_name(begun[1])
        )

    def _begins_name(self, begun: str, *other_names: str) -> bool:
        """Return whether a text is the beginning of a tool's name, or of one of the others."""
        return any(name.startswith(begun) for name in (*self._tools, *other_names))

    def _begun_bare(self) -> Wait:
        """Read calls that begin the answer without a marker."""
        self._enter_section("")
        for form in self._bare:
            try:
                yield from self._calls(form, form.opens)
            except _NoCall:
                if self._undecided is None:
                    yield from self._rest_of_call(form)
                    break
                if self._may_go_on(form):
                    self._undecided = StringIO()
                    break
                self._text = self._undecided.getvalue().replace(SEAM, "")
            else:
                break
        self._leave_section("")

    def _section(self, marker: str, forms: Sequence[CallFormat]) -> Wait:
        """Read the calls after a marker; if there are none, the marker is text."""
        plain, before = marker.replace(SEAM, ""), self.log.called
        self._enter_section(marker)
        for form in forms:
            try:
                yield from self._calls(form, plain)
            except _NoCall:
                if self._undecided is None:
                    yield from self._rest_of_call(form)
                    break
                if self._may_go_on(form):
                    self._undecided = StringIO()
                    plain = ""
                    break
                if self.log.called > before:
                    break
                self._text = self._undecided.getvalue().replace(SEAM, "")
            else:
                break
        self._leave_section(plain if self.log.called == before else "")

    def _enter_section(self, marker: str) -> None:
        self._inside = True
        self._undecided = StringIO()
        self._undecided.write(self._text)
        self._text = self._text.replace(SEAM, "")
        self._marker = marker

    def _leave_section(self, marker: str) -> None:
        """Continue with text.

        Args:
            marker: The marker to show as text, if no call followed it.
        """
        self._inside = False
        if self._undecided is not None:
            self._text = self._undecided.getvalue()
            self._undecided = None
        self._emit_text(marker)

    def _commit(self) -> None:
        """Note that everything so far was calls: only the following text can become text again."""
        self._undecided = StringIO()
        self._undecided.write(self._text)

    def _calls(self, form: CallFormat, begun: str) -> Wait:
        """Read the calls of one section.

        Args:
            begun: The marker that was read.
        """
        count = 0
        opened = bool(form.opens) and begun == form.opens
        while True:
            if not (yield from self._blank(also=",;" if count else "")):
                if count:
                    break
                raise _NoCall
            if count and form.ends and (yield from self._literal(form.ends)):
                break
            if not self._text:
                break  # it was cut off in the marker that ends the calls
            if count and not (form.plural or form.style == "object"):
                break
            if form.opens and not opened and not (yield from self._literal(form.opens)):
                raise _NoCall
            opened = False
            before = self.log.called
            yield from self._STYLES[form.style](self, form)
            count += 1
            if self.log.called > before:
                self._after = True
            self._commit()
            if not (form.ends or form.plural):
                break
        self._commit()

    def _object(self, form: CallFormat) -> Wait:
        """Read a call that is a JSON object, or a list of them."""
        if self._text[0] == "[":
            yield from self._list(self._one_object, form)
            return
        yield from self._one_object(form)

    def _list(self, one: Callable[[CallFormat], Wait], form: CallFormat) -> Wait:
        """Read a list of calls in brackets, each by `one`."""
        self._take(1)
        before = self.log.called
        while (yield from self._blank(also=",")) and self._text[0] != "]":
            yield from one(form)
            self._commit()
        if self.log.called == before:
            raise _NoCall
        if self._text:
            self._take(1)

    def _one_object(self, form: CallFormat) -> Wait:
        if self._text[0] != "{":
            raise _NoCall
        self._take(1)
        read, closed = _Object(form), False
        while (yield from self._blank(also=",")):
            if self._text[0] == "}":
                self._take(1)
                closed = True
                break
            if read.begun and self._text[0] != '"':
                break  # its last bracket is missing
            yield from self._member(read)
            read.first = False
        if not read.begun:
            if not read.name or not (closed or read.arguments):
                raise _NoCall
            self._start(read.name, read.id)
            self._write(read.arguments or "{}")
        if self.log.open:
            self._done()

    def _member(self, read: _Object) -> Wait:
        """Read a key and a value of a call that is a JSON object."""
        form = read.form
        key = yield from self._string()
        if not (yield from self._blank()) or self._text[0] != ":":
            raise _NoCall
        self._take(1)
        if not (yield from self._blank()):
            raise _NoCall
        value = self._text[0]
        if not form.arguments and read.first:
            read.name = key
        if key in _NAME_KEYS and value == '"':
            read.name = yield from self._string()
            if form.bare and read.name not in self._tools:
                raise _NoCall
        elif key == "function" and value == "{":
            yield from self._one_object(form)
            read.begun = True
        elif key in _ARGUMENT_KEYS or (read.name and not form.arguments):
            yield from self._object_arguments(read)
        elif key in _ID_KEYS and value == '"':
            read.id = yield from self._string()
        elif form.bare and read.first and key != "type":
            raise _NoCall
        else:
            yield from self._value(lambda _: None)

    def _object_arguments(self, read: _Object) -> Wait:
        """Read the arguments of a call in JSON; some models write them as a string of JSON."""
        value = self._text[0]
        if value == '"':
            read.arguments = yield from self._string()
        elif read.name and value == "{":
            self._start(read.name, read.id)
            read.begun = True
            yield from self._value(self._write)
        else:
            buffer = StringIO()
            yield from self._value(buffer.write)
            if value == "{":
                read.arguments = buffer.getvalue()
            elif buffer.getvalue() != "null":
                raise _NoCall

    def _named(self, form: CallFormat) -> Wait:
        """Read a name, followed by JSON."""
        header = yield from self._until(form.names, most=_MOST_HEADER, solid=True)
        name, id_ = header.strip(), ""
        if form.id_before:
            id_, _, name = header.strip().rpartition(form.id_before)
        elif form.id_after:
            name, _, id_ = name.partition(form.id_after)
        elif form.numbered and (found := _NUMBERED.fullmatch(name)):
            name, id_ = found[1], name
        if form.text_name and name == form.text_name:
            return
        if not _NAME.fullmatch(name) or (form.bare and name not in self._tools):
            raise _NoCall
        begun = yield from self._blank()
        if begun and self._text[0] == "{":
            self._start(name, id_)
            yield from self._value(self._write)
        elif begun and self._text[0] == '"':
            arguments = yield from self._string()
            self._start(name, id_)
            self._write(arguments)
        elif form.closes and begun and (yield from self._literal(form.closes)):
            self._start(name, id_)
            self._write("{}")
            self._done()
            return
        else:
            raise _NoCall
        self._done()
        if form.closes:
            yield from self._blank(also="`")
            yield from self._literal(form.closes.lstrip("\n`"))

    def _tagged(self, form: CallFormat) -> Wait:
        """Read a name, followed by each argument between markers."""
        name = yield from self._name()
        if form.names:
            yield from self._until(form.names, most=_MOST_HEADER)
        yield from self._blank()
        follows = [marker for marker in (form.key, form.closes or form.ends) if marker]
        while not any(self._text.startswith(marker) for marker in follows):
            if self._ended or not any(marker.startswith(self._text) for marker in follows):
                raise _NoCall
            yield
        if self._tools and name not in self._tools and not self._text.startswith(form.key):
            raise _NoCall
        self._start(name)
        arguments, closed = _Arguments(self._write), False
        while (yield from self._blank()):
            # Check for the end of the call first: in one format an argument begins like it.
            if form.closes and (yield from self._literal(form.closes)):
                closed = True
                break
            if not (yield from self._literal(form.key)):
                break
            yield from self._tagged_argument(form, self._tools.get(name), arguments)
        if self._cut and not closed and not self._text:
            return  # more arguments could have followed
        arguments.end()
        self._done()

    def _tagged_argument(self, form: CallFormat, tool: Tool | None, arguments: _Arguments) -> Wait:
        header = yield from self._until(form.key_end, most=_MOST_HEADER)
        key, _, kind = header.partition(form.typed) if form.typed else (header, "", "")
        key = key.strip()
        if form.value:
            yield from self._blank()
            yield from self._literal(form.value)
        text = is_text(tool, key)
        if kind:
            text = kind.strip('"') in ("true", "string")
        end = form.value_end.replace("{key}", key)
        arguments.key(key)
        if text:
            self._write('"')
            yield from self._until(end, _escaping(self._write), padded=form.padded)
            self._write('"')
        else:
            value = yield from self._until(end, padded=form.padded)
            self._write(json_of(value, text=text))

    def _python(self, form: CallFormat) -> Wait:
        """Read calls in Python syntax, in a list or one after the other."""
        if self._text[0] == "{" or self._text[:2] == "[{":
            yield from self._object(form)
            return
        if self._text[0] == "[":
            yield from self._list(self._one_python, form)
            return
        yield from self._one_python(form)

    def _one_python(self, form: CallFormat) -> Wait:
        name = yield from self._name()
        if self._text[:1] != "(" or (form.bare and name not in self._tools):
            raise _NoCall
        self._take(1)
        inside = StringIO()
        yield from self._python_arguments(inside)
        arguments = of_python(inside.getvalue(), self._tools.get(name))
        if arguments is None:
            raise _NoCall
        self._start(name)
        self._write(arguments)
        self._done()

    def _python_arguments(self, inside: StringIO) -> Wait:
        """Read up to the closing bracket of the arguments."""
        depth, quote = 0, ""
        while True:
            found = re.search(r"""\\|['"]|[()\[\]{}]""", self._text)
            if found is None:
                inside.write(self._take(len(self._text)))
                yield from self._wait()
                continue
            mark = found[0]
            if mark == "\\" and len(self._text) < found.end() + 1:
                yield from self._wait()
                continue
            if not quote and not depth and mark == ")":
                inside.write(self._take(found.start()))
                self._take(1)
                return
            inside.write(self._take(found.end() + (mark == "\\")))
            if quote:
                quote = "" if mark == quote else quote
            elif mark in "'\"":
                quote = mark
            elif mark != "\\":
                depth += 1 if mark in "([{" else -1
                if depth > _MOST_DEPTH:
                    raise _NoCall

    def _braces(self, form: CallFormat) -> Wait:
        """Read a call in Gemma's form: a name, and arguments in braces without JSON quotes."""
        name = yield from self._name()
        if self._text[:1] != "{":
            raise _NoCall
        self._start(name)
        inside, quoted = StringIO(), False
        while True:
            stops = (form.quote,) if quoted else (form.quote, form.ends)
            at, stop = _first(self._text, stops)
            if not stop:
                ready = len(self._text) - (0 if self._ended else held_back(self._text, stops))
                inside.write(self._take(ready))
                if self._ended:
                    break
                yield
                continue
            if stop == form.ends:
                inside.write(self._take(at))
                break
            inside.write(self._take(at + len(stop)))
            quoted = not quoted
        values = of_braces(inside.getvalue(), form.quote)
        if values is None and self._ended and self._text == "":
            self._write(inside.getvalue())
            raise _NoCall  # it is incomplete
        self._write(inside.getvalue() if values is None else dumped(values))
        self._done()

    _STYLES: Final[Mapping[str, Callable[[CallReader, CallFormat], Wait]]] = {
        "object": _object,
        "named": _named,
        "tagged": _tagged,
        "python": _python,
        "braces": _braces,
    }

    def _rest_of_call(self, form: CallFormat) -> Wait:
        """Read a call with malformed arguments up to its end, and pass it on as it was written."""
        self._undecided = None
        end = form.closes or form.ends
        if end:
            try:
                yield from self._until(end, self._write)
            except _NoCall:
                self._write(self._take(len(self._text)))
        else:
            while not self._ended:
                self._write(self._take(len(self._text)))
                yield
            self._write(self._take(len(self._text)))
        if not self._ended:
            self._done()

    def _start(self, name: str, id_: str = "") -> None:
        """Begin a call; from here on it stays a call, whatever follows."""
        self._undecided = None
        self._found.append(self.log.begin(name, id_))

    def _write(self, text: str) -> None:
        if text:
            self._pieces.append(text)

    def _flush(self) -> None:
        if self._pieces:
            self._found.append(self.log.more("".join(self._pieces)))
            self._pieces.clear()

    def _done(self) -> None:
        self._flush()
        self._found.append(self.log.end())
        self._commit()

    def _emit_text(self, text: str) -> None:
        """Add text, without the empty lines between calls, which are not part of the answer."""
        text = text.replace(SEAM, "")
        if self._after:
            text = text.lstrip()
            self._after = not text
        if text:
            self._found.append(TextDelta(text))

    def _take(self, count: int) -> str:
        text, self._text = self._text[:count], self._text[count:]
        return text

    def _wait(self) -> Wait:
        """Wait for more text. Raises _NoCall if no more follows."""
        if self._ended:
            raise _NoCall
        yield

    def _blank(self, also: str = "") -> Generator[None, None, bool]:
        """Skip blanks; return whether anything follows them."""
        while True:
            self._text = self._text.lstrip(" \t\r\n" + also)
            if self._text or self._ended:
                return bool(self._text)
            yield

    def _literal(self, literal: str) -> Generator[None, None, bool]:
        """Take a marker; return whether it is there."""
        while not self._text.startswith(literal):
            begun = literal.startswith(self._text)
            if self._ended or not begun:
                if self._cut and begun:
                    self._take(len(self._text))
                return False
            yield
        self._take(len(literal))
        return True

    def _name(self) -> Generator[None, None, str]:
        """Take a name, and wait for the text after it."""
        if self._text[:1] in (*"./:-",):
            raise _NoCall
        while (found := _NAME_PART.match(self._text)) and found.end() == len(self._text):
            if len(self._text) > _MOST_HEADER:
                raise _NoCall
            yield from self._wait()
        name = self._take(found.end() if found else 0)
        if not _NAME.fullmatch(name):
            raise _NoCall
        return name

    def _until(
        self,
        literal: str,
        to: Callable[[str], None] | None = None,
        *,
        most: int = 0,
        padded: bool = False,
        solid: bool = False,
    ) -> Generator[None, None, str]:
        """Take the text before a marker, and the marker; return the text, or pass it to `to`.

        Args:
            literal: The marker.
            to: Receives the text in pieces.
            most: The most characters of the text; 0 for no limit.
            padded: A line break at either end is not part of the text.
            solid: The text must contain no blanks.
        """
        buffer = StringIO()
        write: Callable[[str], object] = to or buffer.write
        if padded:
            while not self._text:
                yield from self._wait()
            if self._text[0] == "\n":
                self._take(1)
        ends = (literal, "\n" + literal) if padded else (literal,)
        while True:
            at, found = _first(self._text, ends)
            if found:
                write(self._take(at))
                self._take(len(found))
                return buffer.getvalue()
            write(self._take(len(self._text) - held_back(self._text, ends)))
            if most and buffer.tell() + len(self._text) > most:
                raise _NoCall
            if solid and len(buffer.getvalue().split()) > 1:
                raise _NoCall
            yield from self._wait()

    def _string(self) -> Generator[None, None, str]:
        """Take a JSON string and return its value."""
        buffer = StringIO()
        yield from self._text_of_json(buffer.write)
        try:
            value = json.loads(buffer.getvalue())
        except ValueError as error:
            raise _NoCall from error
        return whole(str(value))

    def _value(self, to: Callable[[str], object]) -> Wait:
        """Take one JSON value, and pass it on in pieces as it comes."""
        closing: list[str] = []
        while True:
            found = re.search(r'["{}\[\]]', self._text)
            if not closing and (found is None or found.start()):
                yield from self._scalar(to)
                return
            end = found.start() if found else len(self._text)
            if not _PLAIN.fullmatch(self._text, 0, end):
                raise _NoCall
            to(self._take(end))
            if found is None:
                yield from self._wait()
                continue
            mark = found[0]
            if mark == '"':
                yield from self._text_of_json(to)
            elif mark in "{[":
                closing.append("}" if mark == "{" else "]")
                to(self._take(1))
            elif mark == closing.pop():
                to(self._take(1))
            else:
                raise _NoCall
            if len(closing) > _MOST_DEPTH:
                raise _NoCall
            if not closing:
                return

    def _scalar(self, to: Callable[[str], object]) -> Wait:
        """Take a number, true, false or null."""
        while (found := re.search(r"[^-\w.+]", self._text)) is None:
            yield from self._wait()
        word = self._take(found.start())
        try:
            json.loads(word)
        except ValueError as error:
            raise _NoCall from error
        to(word)

    def _text_of_json(self, to: Callable[[str], object]) -> Wait:
        """Take a JSON string with its quotes; escape line breaks, which JSON forbids."""
        if self._text[:1] != '"':
            raise _NoCall
        to(self._take(1))
        while True:
            found = re.search(r'["\\]', self._text)
            end = found.start() if found else len(self._text)
            to(_CONTROL.sub(lambda found: json.dumps(found[0])[1:-1], self._take(end)))
            if found is None:
                yield from self._wait()
            elif found[0] == '"':
                to(self._take(1))
                return
            else:
                while len(self._text) < 2:
                    yield from self._wait()
                to(self._take(2))


def _first(text: str, markers: Sequence[str] | Mapping[str, object]) -> tuple[int, str]:
    """Find the first of the markers, at the same place the longest; "" if there is none."""
    found = [(at, -len(marker), marker) for marker in markers if (at := text.find(marker)) >= 0]
    if not found:
        return -1, ""
    at, _, marker = min(found)
    return at, marker


def _escaping(to: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that passes a text on with JSON escapes."""
    return lambda text: to(json.dumps(text, ensure_ascii=False)[1:-1])
