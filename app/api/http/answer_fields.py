"""The request fields that all protocols share: sampling, and the rules for an answer's format.

Clients send the fields of the server they were written for, whichever protocol they speak. So each
protocol accepts the fields of all servers; `field_table.py` lists how each one is handled.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from app.api.http.field_table import judge, refusal
from app.api.http.fields import Fields, check
from app.api.http.patterns import UnreadablePattern, choice_grammar, regex_grammar
from app.api.http.request import BadRequest, thinking_settings
from app.settings.values.fields import fields as setting_fields
from engines.types import Sampling

MOST_STOPS: Final = 64
LONGEST_STOP: Final = 1024
LONGEST_GRAMMAR: Final = 65_536
MOST_CHOICES: Final = 1000
MOST_NAMED: Final = 20
NO_LIMIT: Final = -1
"""The number that other servers accept for “no limit” and for “draw a new seed”."""
_STRONGEST: Final = 1e6
"""No logit is that large, so a stronger bias has the same effect."""
_ANY_OBJECT: Final = {"type": "object"}
_OPTIONS: Final = {"num_predict": "max_tokens"}
"""Names of settings in Ollama's `options`, and the names that other servers use."""


def _no_switch(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("It should be a number, and is true or false")
    return value


Whole = Annotated[int, BeforeValidator(_no_switch)]
Number = Annotated[float, BeforeValidator(_no_switch), Field(allow_inf_nan=False)]


def _limited(setting: str) -> Any:
    """Return a field with the same limits as the app's setting."""
    its = setting_fields()[setting]
    return Field(None, ge=its.ge, gt=its.gt, le=its.le)


class JsonSchema(Fields):
    """OpenAI's wrapper around a JSON schema."""

    name: str = ""
    schema_: dict[str, Any] | None = Field(None, alias="schema")


class ResponseFormat(Fields):
    """The format of an answer, as OpenAI, TGI, Fireworks and others define it."""

    type: Literal[
        "text", "json_object", "json_schema", "json", "grammar", "regex", "structural_tag"
    ] = "text"
    json_schema: JsonSchema | None = None
    schema_: dict[str, Any] | None = Field(None, alias="schema")
    grammar: str | None = None
    pattern: str | None = None
    value: Any = None


class StructuredOutputs(Fields):
    """vLLM's `structured_outputs`."""

    json_: dict[str, Any] | str | None = Field(None, alias="json")
    regex: str | None = None
    choice: list[str] | None = None
    grammar: str | None = None
    json_object: bool | None = None
    structural_tag: Any = None
    whitespace_pattern: str | None = None
    disable_additional_properties: bool | None = None


class StreamOptions(Fields):
    """OpenAI's `stream_options`."""

    include_usage: bool = False


class TemplateValues(Fields):
    """The values in `chat_template_kwargs`."""

    model_config = ConfigDict(extra="allow")

    enable_thinking: bool | None = None
    thinking: bool | None = None
    reasoning_effort: str | None = None


class AnswerRules:
    """The schemas and grammars that a request sets for its answer; at most one can be used."""

    def __init__(self) -> None:
        self._found: list[tuple[str, str | None, str | None]] = []

    def schema(self, field: str, schema: object) -> None:
        """Add a JSON schema, as an object or as JSON text. Raises BadRequest."""
        if schema is None or schema == "":
            return
        if isinstance(schema, str):
            try:
                schema = json.loads(schema)
            except (ValueError, RecursionError):
                raise _wrong(field, "it should be a JSON schema, and is no JSON") from None
        if isinstance(schema, dict) and isinstance(schema.get("schema"), dict):
            # OpenAI wraps a schema in an object with its name, and some clients do so in these
            # fields too.
            schema = schema if "type" in schema else schema["schema"]
        if not isinstance(schema, dict | bool):
            raise _wrong(field, "it should be a JSON schema")
        self._found.append((field, json.dumps(schema), None))

    def grammar(self, field: str, grammar: str | None) -> None:
        """Add a GBNF grammar. Raises BadRequest."""
        if not grammar:
            return
        if len(grammar) > LONGEST_GRAMMAR:
            raise _wrong(field, f"it should have at most {LONGEST_GRAMMAR:,} characters")
        self._found.append((field, None, grammar))

    def regex(self, field: str, pattern: str | None) -> None:
        """Add a regular expression for the whole answer. Raises BadRequest."""
        if not pattern:
            return
        try:
            self.grammar(field, regex_grammar(pattern))
        except UnreadablePattern as error:
            raise _wrong(field, str(error)) from None

    def choice(self, field: str, texts: Sequence[str] | None) -> None:
        """Add a list of texts; the answer has to be one of them. Raises BadRequest."""
        if texts is None:
            return
        if not 0 < len(texts) <= MOST_CHOICES or not all(texts):
            raise _wrong(field, f"it should be from 1 to {MOST_CHOICES:,} texts, and none empty")
        self.grammar(field, choice_grammar(texts))

    def any_object(self, field: str, wanted: object) -> None:
        """Require a JSON object as the answer, if `wanted`."""
        if wanted:
            self.schema(field, _ANY_OBJECT)

    def one(self) -> tuple[str | None, str | None]:
        """Return the only schema (JSON text) or grammar (GBNF).

        Raises:
            BadRequest: Two of them differ.
        """
        any_object = json.dumps(_ANY_OBJECT)
        strict = [it for it in self._found if it[1] != any_object] or self._found[:1]
        # A schema already implies that the answer is an object.
        if len(strict) < len(self._found) and any(it[2] for it in strict):
            strict = self._found
        first = next(iter(strict), ("", None, None))
        for other in strict:
            if other[1:] != first[1:]:
                raise BadRequest(
                    f"“{first[0]}” and “{other[0]}” cannot be used together.",
                    "An answer can follow only one schema or grammar, and these differ.",
                    "Leave one of them out.",
                    other[0],
                )
        return first[1:]


class AnswerFields(Fields):
    """The fields that every request for an answer can have."""

    model_config = ConfigDict(extra="allow")
    endpoint: ClassVar[str]
    """The endpoint's name in `field_table.py`."""
    _unknown: tuple[str, ...] = ()

    model: str = Field(min_length=1, max_length=512)
    stream: bool = False
    stream_options: StreamOptions | None = None
    temperature: Number | None = _limited("temperature")
    top_p: Number | None = _limited("top_p")
    top_k: Whole | None = Field(None, ge=-1, le=(1 << 31) - 1)
    min_p: Number | None = _limited("min_p")
    repeat_penalty: Number | None = _limited("repeat_penalty")
    repetition_penalty: Number | None = _limited("repeat_penalty")
    repeat_last_n: Whole | None = Field(None, ge=-1, le=(1 << 31) - 1)
    presence_penalty: Number | None = Field(None, ge=-2, le=2)
    frequency_penalty: Number | None = Field(None, ge=-2, le=2)
    logit_bias: Any = None
    seed: Whole | None = None
    stop: str | list[str | None] | None = None
    max_tokens: Whole | None = Field(None, ge=NO_LIMIT)
    n_predict: Whole | None = Field(None, ge=NO_LIMIT)

    ignore_eos: bool = False
    min_tokens: Whole = Field(0, ge=0)
    stop_token_ids: list[Whole] | None = Field(None, max_length=MOST_STOPS)
    include_stop_str_in_output: bool = False

    response_format: ResponseFormat | None = None
    grammar: str | None = None
    json_schema: Any = None
    guided_json: Any = None
    guided_json_object: bool | None = None
    guided_regex: str | None = None
    guided_choice: list[str] | None = None
    guided_grammar: str | None = None
    structured_outputs: StructuredOutputs | None = None
    format: Any = None
    output_format: Any = None
    regex: str | None = None
    ebnf: str | None = None

    reasoning_effort: str | None = None
    thinking_budget: Whole | None = Field(None, ge=NO_LIMIT)
    thinking_token_budget: Whole | None = Field(None, ge=NO_LIMIT)
    reasoning_budget_tokens: Whole | None = Field(None, ge=NO_LIMIT)
    enable_thinking: bool | None = None
    think: bool | str | None = None
    chat_template_kwargs: TemplateValues | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_options(cls, value: object) -> object:
        """Treat the settings in Ollama's `options` as fields of the request."""
        if not isinstance(value, dict) or not isinstance(value.get("options"), dict):
            return value
        rest = {name: it for name, it in value.items() if name != "options"}
        options = {_OPTIONS.get(name, name): it for name, it in value["options"].items()}
        return {**options, **rest}

    @model_validator(mode="after")
    def _judged(self) -> AnswerFields:
        self._unknown = judge(self.endpoint, self.model_extra or {})
        return self

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on fields that neither the protocol nor `field_table.py` knows, if any."""
        if not self._unknown:
            return ()
        named = ", ".join(name[:60] for name in sorted(self._unknown)[:MOST_NAMED])
        return (f"These fields do not belong to this request, and were not used: {named}.",)

    @property
    def told_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage

    def limit(self) -> int | None:
        """Return the maximum number of tokens in the answer; None for no limit."""
        return unlimited(self.max_tokens if self.n_predict is None else self.n_predict)

    def settings(self) -> dict[str, object]:
        """Return the settings of the answer by their names in the app. Raises BadRequest."""
        penalty = self.repetition_penalty if self.repeat_penalty is None else self.repeat_penalty
        most = self.limit()
        if most is not None and self.min_tokens > most:
            raise _wrong("min_tokens", f"it should be at most max_tokens, {most}")
        named: dict[str, object | None] = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "top_k": None if self.top_k is None else max(0, self.top_k),
            "min_p": self.min_p,
            "repeat_penalty": penalty,
            "max_tokens": most,
            # An answer that is forced to go on is likely to repeat itself.
            "stop_repetition": False if self.ignore_eos or self.min_tokens else None,
        }
        return {name: value for name, value in named.items() if value is not None}

    def reasoning_settings(self) -> dict[str, object]:
        """Return the settings for reasoning: on or off, and the effort. Raises BadRequest."""
        template = self.chat_template_kwargs or TemplateValues()
        for name in template.model_extra or {}:
            raise refusal(f"chat_template_kwargs.{name}", "the app fills in the chat template")
        switches = (self.enable_thinking, template.enable_thinking, template.thinking)
        asked = next((it for it in switches if it is not None), None)
        effort = self.reasoning_effort or template.reasoning_effort
        if isinstance(self.think, str):
            effort = effort or self.think
        elif self.think is not None:
            asked = self.think
        return thinking_settings(effort, asked)

    def budget(self) -> int | None:
        """Return the maximum number of reasoning tokens; None if the request sets no limit."""
        given = (self.thinking_budget, self.thinking_token_budget, self.reasoning_budget_tokens)
        return unlimited(next((it for it in given if it is not None), None))

    def fresh_seed(self) -> int | None:
        """Return the seed; None draws a new one for each answer."""
        return unlimited(self.seed)

    def stops(self, more: Sequence[str | None] = ()) -> tuple[str, ...]:
        """Return the texts that end the answer. Raises BadRequest."""
        own = [self.stop] if isinstance(self.stop, str) else self.stop or ()
        found = [it for it in (*own, *more) if it]
        if len(found) > MOST_STOPS or any(len(it) > LONGEST_STOP for it in found):
            raise BadRequest(
                "There are too many stops, or one is too long.",
                f"At most {MOST_STOPS} of {LONGEST_STOP:,} characters can be watched for.",
                "Send fewer.",
                "stop",
            )
        return tuple(dict.fromkeys(found))

    def rules(self) -> AnswerRules:
        """Collect the rules for the answer's format. Raises BadRequest."""
        rules = AnswerRules()
        add_format(rules, "response_format", self.response_format)
        rules.schema("json_schema", self.json_schema)
        rules.schema("guided_json", self.guided_json)
        rules.any_object("guided_json_object", self.guided_json_object)
        if self.format == "json":
            rules.any_object("format", wanted=True)
        elif self.format != "":
            rules.schema("format", self.format)
        if self.output_format is not None:
            form = check(ResponseFormat, self.output_format, "output_format")
            add_format(rules, "output_format", form)
        rules.grammar("grammar", self.grammar)
        rules.grammar("guided_grammar", self.guided_grammar)
        rules.grammar("ebnf", self.ebnf)
        rules.regex("guided_regex", self.guided_regex)
        rules.regex("regex", self.regex)
        rules.choice("guided_choice", self.guided_choice)
        _add_structured(rules, self.structured_outputs)
        return rules

    def sampling(self, schema: str | None, likely: int | None) -> Sampling:
        """Return the sampling options that are not settings of the app. Raises BadRequest."""
        last = self.repeat_last_n
        return Sampling(
            schema=schema,
            # -1 means all tokens.
            repeat_last_n=64 if last is None else (1 << 24) if last < 0 else last,
            presence_penalty=self.presence_penalty or 0.0,
            frequency_penalty=self.frequency_penalty or 0.0,
            logit_bias=_biases(self.logit_bias),
            logprobs=likely,
            ignore_end=self.ignore_eos,
            min_tokens=self.min_tokens,
            stop_tokens=tuple(dict.fromkeys(self.stop_token_ids or ())),
        )


def unlimited(value: int | None) -> int | None:
    """Return the number, or None if it is `NO_LIMIT`."""
    return None if value == NO_LIMIT else value


def add_format(rules: AnswerRules, field: str, form: ResponseFormat | None) -> None:
    """Add the rule that a `response_format` object sets. Raises BadRequest."""
    if form is None or form.type == "text":
        return
    inner = form.json_schema.schema_ if form.json_schema else None
    schema = next((it for it in (inner, form.schema_, form.value) if it is not None), None)
    text = form.grammar or form.pattern or form.value
    match form.type:
        case "json_object" | "json":
            rules.schema(field, _ANY_OBJECT if schema is None else schema)
        case "json_schema":
            if schema is None:
                raise BadRequest(
                    f"“{field}” has no schema.",
                    "“json_schema” asks for an answer by a schema, and there is none in it.",
                    "Send it as response_format.json_schema.schema.",
                    field,
                )
            rules.schema(field, schema)
        case "grammar" | "regex":
            if not isinstance(text, str):
                raise _wrong(field, f"it has no {form.type}")
            (rules.grammar if form.type == "grammar" else rules.regex)(field, text)
        case "structural_tag":
            raise refusal(field, "a structural tag can be held by no model here")


def _add_structured(rules: AnswerRules, given: StructuredOutputs | None) -> None:
    """Add the rules in vLLM's `structured_outputs`. Raises BadRequest."""
    if given is None:
        return
    for name in ("structural_tag", "whitespace_pattern", "disable_additional_properties"):
        if getattr(given, name):
            raise refusal(f"structured_outputs.{name}", "Hearth cannot do it")
    rules.schema("structured_outputs.json", given.json_)
    rules.any_object("structured_outputs.json_object", given.json_object)
    rules.regex("structured_outputs.regex", given.regex)
    rules.choice("structured_outputs.choice", given.choice)
    rules.grammar("structured_outputs.grammar", given.grammar)


def _biases(given: object) -> tuple[tuple[int, float], ...]:
    """Read logit biases in any of the forms that servers accept. Raises BadRequest.

    Returns:
        Pairs of a token's number and the value to add to its logit.
    """
    if given is None:
        return ()
    pairs = [*given.items()] if isinstance(given, Mapping) else given
    if not isinstance(pairs, list):
        raise _wrong("logit_bias", "it should be an object, or a list of pairs")
    found: dict[int, float] = {}
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise _wrong("logit_bias", "each of its items should be a pair: a token and a number")
        token, bias = pair
        try:
            number = int(token)
        except (TypeError, ValueError):
            raise BadRequest(
                "“logit_bias” cannot be used.",
                "Its keys are no numbers of tokens.",
                "Name tokens by their numbers, as /tokenize gives them.",
                "logit_bias",
            ) from None
        found[number] = _bias(bias)
    return tuple(found.items())


def _bias(given: object) -> float:
    if given is False:
        return -math.inf  # llama-server's way to forbid a token
    try:
        bias = float(given) if isinstance(given, int | float | str) else math.nan
    except (ValueError, OverflowError):
        bias = math.nan
    if given is True or not math.isfinite(bias):
        raise _wrong("logit_bias", "its values should be finite numbers, or false")
    return max(-_STRONGEST, min(_STRONGEST, bias))


def _wrong(field: str, why: str) -> BadRequest:
    return BadRequest(
        f"“{field}” cannot be used.",
        f"{why[:1].upper()}{why[1:]}.",
        "Correct it and send the request again.",
        field,
    )
