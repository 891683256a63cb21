"""Grammars and schemas that answers must follow, enforced with llguidance.

A grammar is written for llguidance (`lark`), tried in a separate process (`grammar_child`),
compiled on the answer's thread, and then followed token by token on the scheduler's thread. There,
llguidance limits each step, and a time limit covers all steps together, so no grammar holds up
other answers.
"""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from time import thread_time
from typing import TYPE_CHECKING, Any, Final

from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineUnavailable, GrammarInvalid
from engines.llamacpp import gbnf
from engines.llamacpp.json_schema import PreparedSchema, Schema, prepare, refused
from engines.llamacpp.lark import Lark
from engines.llamacpp.limits import CPU_S, MEMORY_BYTES, parser_limits
from engines.llamacpp.vocabulary import Vocabulary
from engines.sentences import N_
from engines.types import Sampling

if TYPE_CHECKING:
    import numpy as np
    from llguidance import LLMatcher, LLTokenizer

    from engines.helper.serving import ServingHelper

_WALL_S: Final = 30.0
"""Seconds for a trial on a busy computer; the process limits its own processor time."""
_ANSWER_BYTES: Final = 1 << 20
_MOST_COMPILED: Final = 256
"""The number of grammars that stay compiled: an agent sends the same tools with each request."""
_MOST_TRIES: Final = 200
_MOST_LEFT_OUT: Final = 20

_LONGEST_TOKEN: Final = 250
"""Bytes. llguidance accepts no longer tokens, so these are never drawn under a grammar."""

_SPARE_S: Final = 1.0
_TOKEN_S: Final = 0.01
"""Processor time that an answer's grammar can use at the start, and the addition for each token."""


class TokenGuides:
    """The grammars of one model's answers. Any thread can use it. Close it with the model.

    Nothing is created before the first grammar: the tokeniser takes half a second for a vocabulary
    of 150,000 tokens, and the process that tries grammars takes a quarter.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._lock = threading.Lock()
        self._trying = threading.Lock()
        self._helper: ServingHelper | None = None
        self._llg_tokenizer: LLTokenizer | None = None
        self._compiled: OrderedDict[str, LLMatcher] = OrderedDict()
        self._known_faults: OrderedDict[str, str] = OrderedDict()

    def open(
        self, grammar: str, begun: Sequence[int] = (), cancel: CancelToken | None = None
    ) -> TokenGuide:
        """Return a guide for a grammar in Lark, advanced past tokens that it covers.

        Args:
            grammar: The grammar in Lark.
            begun: Tokens that the grammar covers and that are already written.
            cancel: Ends the wait.

        Raises:
            GrammarInvalid: The grammar cannot be used, or does not allow these tokens.
            Cancelled: `cancel` was set first.
        """
        guide = TokenGuide(self.compiled(grammar, cancel).deep_copy(), self._vocabulary)
        for token in begun:
            guide.accept(token)
        return guide

    def compiled(self, grammar: str, cancel: CancelToken | None = None) -> LLMatcher:
        """Return the compiled grammar; copy it before use. Raises the same errors as `open`."""
        with self._lock:
            if (known := self._compiled.get(grammar)) is not None:
                self._compiled.move_to_end(grammar)
                return known
        if error := self.faults([grammar], cancel)[0]:
            raise gbnf.invalid(error)
        matcher = self._compile(grammar)
        with self._lock:
            self._compiled[grammar] = matcher
            while len(self._compiled) > _MOST_COMPILED:
                self._compiled.popitem(last=False)
        return matcher

    def _compile(self, grammar: str) -> LLMatcher:
        from llguidance import LLMatcher

        matcher = LLMatcher(self._tokenizer(), grammar, log_level=0, limits=parser_limits())
        if matcher.is_error():
            raise gbnf.invalid(_sentence(matcher.get_error()))
        return matcher

    def _tokenizer(self) -> LLTokenizer:
        from llguidance import LLTokenizer

        with self._lock:
            if self._llg_tokenizer is None:
                tokens = _Tokens(self._vocabulary)
                self._llg_tokenizer = LLTokenizer(tokens, eos_token=tokens.ends)  # type: ignore[arg-type]
            return self._llg_tokenizer

    def faults(self, grammars: Sequence[str], cancel: CancelToken | None = None) -> list[str]:
        """Try grammars in a separate process, and return each one's fault, "" if it has none.

        Raises:
            GrammarInvalid: One of several grammars takes too much time or memory.
            EngineUnavailable: The process does not start.
            Cancelled: `cancel` was set first.
        """
        with self._lock:
            found = {
                grammar: self._known_faults[grammar]
                for grammar in grammars
                if grammar in self._known_faults
            }
        new = [grammar for grammar in grammars if grammar not in found]
        if new:
            found |= zip(new, self._tried(new, cancel or CancelToken()), strict=True)
        with self._lock:
            self._known_faults.update(found)
            while len(self._known_faults) > _MOST_COMPILED:
                self._known_faults.popitem(last=False)
        return [found[grammar] for grammar in grammars]

    def _tried(self, grammars: Sequence[str], cancel: CancelToken) -> list[str]:
        from engines.helper.command import module_command
        from engines.helper.serving import ServingHelper

        with self._trying:
            if cancel.cancelled:
                raise Cancelled
            helper = self._helper
            if helper is None or not helper.alive:
                self._close_helper()
                try:
                    helper = ServingHelper(module_command("engines.llamacpp.grammar_child"))
                except OSError as error:
                    raise EngineUnavailable(
                        N_("The grammar cannot be read."),
                        N_(
                            "The process for it does not start: {strerror}.",
                            strerror=error.strerror or error,
                        ),
                        N_(
                            "Close other programs and try again; if it fails again, reinstall "
                            "Hearth."
                        ),
                    ) from error
                self._helper = helper
            result = helper.ask(list(grammars), _WALL_S, cancel, MEMORY_BYTES, _ANSWER_BYTES)
            if helper.alive and result.out:
                return [_sentence(fault) if fault else "" for fault in json.loads(result.out)]
            self._close_helper()
        if cancel.cancelled:
            raise Cancelled
        why = N_("Reading it takes more than {seconds} seconds, or too much memory.", seconds=CPU_S)
        if len(grammars) > 1:
            raise gbnf.invalid(why)
        return [why]

    def _close_helper(self) -> None:
        if self._helper is not None:
            self._helper.close()
            self._helper = None

    def close(self) -> None:
        """End the process that tries grammars."""
        with self._trying:
            self._close_helper()

    def enforceable(
        self, prepared: PreparedSchema, cancel: CancelToken | None = None, *, strict: bool = True
    ) -> PreparedSchema:
        """Return a schema that llguidance accepts.

        Args:
            prepared: The schema to check.
            cancel: Ends the wait.
            strict: Whether to refuse the schema if a keyword is not accepted; otherwise drop the
                keyword.

        Raises:
            GrammarInvalid: The schema is not accepted; names the place.
        """
        for _ in range(_MOST_LEFT_OUT):
            fault = self.faults([_lark_of(prepared.schema)], cancel)[0]
            if not fault:
                return prepared
            path, schema, why = self._faulty(prepared, fault, cancel)
            if strict or schema is None:
                raise refused(path, why)
            prepared = self._without(prepared, path, schema, cancel)
        raise refused("#", N_("a grammar cannot enforce too many parts of it"))

    def _faulty(
        self, prepared: PreparedSchema, fault: str, cancel: CancelToken | None
    ) -> tuple[str, Schema | None, str]:
        """Find the innermost schema that llguidance does not accept.

        Returns:
            The path of the schema, the schema (None if none was found), and the reason.
        """
        places = prepared.places[:_MOST_TRIES]
        tried = [_lark_of(_without_references(schema)) for _, schema in places]
        for (path, schema), error in zip(places, self.faults(tried, cancel), strict=True):
            if error:
                return path, schema, error.rstrip(".")
        return "#", None, fault.rstrip(".")

    def _without(
        self, prepared: PreparedSchema, path: str, schema: Schema, cancel: CancelToken | None
    ) -> PreparedSchema:
        """Drop the part of a schema that is not accepted: one keyword, or all keywords."""
        keys = [key for key in schema if key != "type"]
        tried = [
            _lark_of(
                _without_references(
                    {keyword: schema[keyword] for keyword in schema if keyword != key}
                )
            )
            for key in keys
        ]
        errors = self.faults(tried, cancel) if tried else []
        key = next((key for key, error in zip(keys, errors, strict=True) if not error), None)
        for keyword in keys if key is None else [key]:
            del schema[keyword]
        if key is None:
            schema.pop("type", None)
        unenforced = f"{path}: {key}" if key is not None else path
        return PreparedSchema(prepared.schema, prepared.places, (*prepared.unenforced, unenforced))


class TokenGuide:
    """The tokens that a grammar allows next in one answer.

    Every method raises GrammarInvalid if no token is allowed, or if finding out takes too long.
    """

    def __init__(self, matcher: LLMatcher, vocabulary: Vocabulary) -> None:
        self._matcher = matcher
        self._vocabulary = vocabulary
        self._left_s = _SPARE_S

    def allows(self, token: int) -> bool:
        """Return whether the token can come next; an end token only where the grammar can end."""
        began = thread_time()
        if self._vocabulary.ends_generation(token):
            allowed = self._matcher.is_accepting()
        else:
            allowed = self._matcher.validate_tokens([token]) == 1
        self._spend(began)
        return allowed

    def allowed(self) -> np.ndarray[Any, Any]:
        """Return the tokens that can come next, in ascending order; at least one."""
        import numpy as np

        began = thread_time()
        mask = self._matcher.compute_bitmask()
        self._spend(began)
        packed = np.frombuffer(mask, np.uint8)
        places = np.flatnonzero(packed)  # most often, few bytes of the mask are not zero
        rows, bits = np.nonzero(np.unpackbits(packed[places, None], axis=1, bitorder="little"))
        found = places[rows] * 8 + bits
        found = found[found < self._vocabulary.size]
        if not len(found):
            raise _no_token()
        return found

    def accept(self, token: int) -> None:
        """Advance the grammar past the next token."""
        self._left_s += _TOKEN_S
        if not self.allows(token):
            raise _no_token()
        if not self._vocabulary.ends_generation(token):
            began = thread_time()
            self._matcher.consume_token(token)
            self._spend(began)

    def _spend(self, began: float) -> None:
        self._left_s -= thread_time() - began
        if self._left_s < 0:
            raise _too_costly(N_("It takes too long to find the tokens that may come next."))
        if self._matcher.is_error():
            error = self._matcher.get_error()
            raise _no_token() if "NoExtension" in error else _too_costly(_sentence(error))


class _Tokens:
    """A vocabulary in the form that llguidance reads.

    Control tokens do not match the text that a grammar allows, except for the control tokens that
    tool calls are written with: those stand for their letters.
    """

    is_tokenizer_wrapper = True
    bos_token_id = None

    def __init__(self, vocabulary: Vocabulary) -> None:
        from engines.dialect.formats import CALLS

        texts = (value for form in CALLS for value in vars(form).values())
        written = "\n".join(
            text
            for value in texts
            for text in (value if isinstance(value, tuple) else [value])
            if isinstance(text, str)
        )
        marks = {text for text in vocabulary.control_texts if text and text in written}
        ends = vocabulary.ends
        self.tokens = []
        for token in range(vocabulary.size):
            piece = vocabulary.piece(token)
            if not piece and (text := vocabulary.text(token)):
                piece = text.encode() if text in marks else b"\xff" + text.encode()
            self.tokens.append(piece if len(piece) <= _LONGEST_TOKEN else b"")
        if not ends:  # llguidance needs an end token
            ends = [len(self.tokens)]
            self.tokens.append(b"\xff<end>")
        self.ends = ends
        self.eos_token_id = ends[0]
        self.special_token_ids: Iterable[int] = ()

    def __call__(self, text: str) -> list[int]:
        """Raise NotImplementedError: no text is tokenised, because the model draws every token."""
        raise NotImplementedError


def write_answer(
    sampling: Sampling, guides: TokenGuides, lark: Lark, cancel: CancelToken | None = None
) -> str:
    """Write the grammar that the answer must follow, and return the name of its rule.

    Raises:
        GrammarInvalid: The grammar or schema cannot be used.
        Cancelled: `cancel` was set first.
    """
    if sampling.schema is None:
        return gbnf.write(sampling.grammar or "", lark)
    if sampling.grammar:
        raise gbnf.invalid(
            N_("The request also has a schema, and an answer can follow only one of the two.")
        )
    return lark.json(guides.enforceable(prepare(sampling.schema), cancel).schema)


def _lark_of(schema: Schema) -> str:
    lark = Lark()
    return lark.text(lark.json(schema))


def _without_references(schema: Any) -> Any:
    """Return a schema in which every reference to another schema allows anything."""
    if isinstance(schema, list):
        return [_without_references(item) for item in schema]
    if isinstance(schema, dict):
        plain = {key: value for key, value in schema.items() if key not in ("$ref", "$defs")}
        return {key: _without_references(value) for key, value in plain.items()}
    return schema


_NOISE: Final = re.compile(r"^at \d+\(\d+\): |failed to compile JSON schema: |^\s*(\d+ )?[|^].*$")


def _sentence(error: str) -> str:
    """Return llguidance's error message without the lines that quote its own text."""
    lines = (
        _NOISE.sub("", line).strip() for line in error.splitlines() if "<non-verbose/>" not in line
    )
    return N_("llguidance says: {message}.", message=" ".join(filter(None, lines))[:300])


def _no_token() -> GrammarInvalid:
    return GrammarInvalid(
        N_("The answer cannot continue."),
        N_("No token of this model follows both the grammar and what is written so far."),
        N_("Ask with another grammar, or without one."),
    )


def _too_costly(why: str) -> GrammarInvalid:
    return GrammarInvalid(
        N_("The grammar is too costly to follow."), why, N_("Ask with a simpler grammar or schema.")
    )
