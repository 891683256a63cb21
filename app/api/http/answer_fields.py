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

from app.api.http.field_table import check_extra, refusal
from app.api.http.fields import Fields, check
from app.api.http.patterns import UnreadablePattern, choice_grammar, regex_grammar
from app.api.http.request import BadRequest, thinking_settings
from app.settings.values.fields import fields as setting_fields
from engines.types import Sampling

MOST_STOPS: Final = 64
LONGEST_STOP: Final = 1024
LONGEST_GRAMMAR: Final = 65_536
MOST_CHOICES: Final = 1000
MOST_NOTED: Final = 20
NO_LIMIT: Final = -1
"""The number that other servers accept for “no limit” and for “draw a new seed”."""
_LARGEST_BIAS: Final = 1e6
"""No logit is that large, so a stronger bias has the same effect."""
_ANY_OBJECT: Final = {"type": "object"}
_OLLAMA_NAMES: Final = {"num_predict": "max_tokens"}
"""Names of settings in Ollama's `options`, and the names that other servers use."""


def _refuse_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("It should be a number, not true or false")
    return value


WholeNumber = Annotated[int, BeforeValidator(_refuse_bool)]
Number = Annotated[float, BeforeValidator(_refuse_bool), Field(allow_inf_nan=False)]


def _with_limits_of(setting: str) -> Any:
    """Return a field with the same limits as the app's setting."""
    field = setting_fields()[setting]
    return Field(None, ge=field.ge, gt=field.gt, le=field.le)


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
        self._rules: list[tuple[str, str | None, str | None]] = []

    def schema(self, field: str, schema: object) -> None:
        """Add a JSON schema, as an object or as JSON text. Raises BadRequest."""
        if schema is None or schema == "":
            return
        if isinstance(schema, str):
            try:
                schema = json.loads(schema)
            except (ValueError, RecursionError):
                raise _invalid(field, "it should be a JSON schema, but is not JSON") from None
        if isinstance(schema, dict) and isinstance(schema.get("schema"), dict):
            # OpenAI wraps a schema in an object with its name, and some clients do so in these
            # fields too.
            schema = schema if "type" in schema else schema["schema"]
        if not isinstance(schema, dict | bool):
            raise _invalid(field, "it should be a JSON schema")
        self._rules.append((field, json.dumps(schema), None))

    def grammar(self, field: str, grammar: str | None) -> None:
        """Add a GBNF grammar. Raises BadRequest."""
        if not grammar:
            return
        if len(grammar) > LONGEST_GRAMMAR:
            raise _invalid(field, f"it should have at most {LONGEST_GRAMMAR:,} characters")
        self._rules.append((field, None, grammar))

    def regex(self, field: str, pattern: str | None) -> None:
        """Add a regular expression for the whole answer. Raises BadRequest."""
        if not pattern:
            return
        try:
            self.grammar(field, regex_grammar(pattern))
        except UnreadablePattern as error:
            raise _invalid(field, str(error)) from None

    def choice(self, field: str, texts: Sequence[str] | None) -> None:
        """Add a list of texts; the answer has to be one of them. Raises BadRequest."""
        if texts is None:
            return
        if not 0 < len(texts) <= MOST_CHOICES or not all(texts):
            raise _invalid(
                field, f"it should be a list of 1 to {MOST_CHOICES:,} texts that are not empty"
            )
        self.grammar(field, choice_grammar(texts))

    def require_object(self, field: str, is_required: object) -> None:
        """Require a JSON object as the answer, if `wanted`."""
        if is_required:
            self.schema(field, _ANY_OBJECT)

    def resolve(self) -> tuple[str | None, str | None]:
        """Return the one schema (JSON text) or grammar (GBNF) that applies; None for neither.

        Raises:
            BadRequest: Two of them differ.
        """
        require_object = json.dumps(_ANY_OBJECT)
        strict = [rule for rule in self._rules if rule[1] != require_object] or self._rules[:1]
        # A schema already implies that the answer is an object.
        if len(strict) < len(self._rules) and any(rule[2] for rule in strict):
            strict = self._rules
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
    temperature: Number | None = _with_limits_of("temperature")
    top_p: Number | None = _with_limits_of("top_p")
    top_k: WholeNumber | None = Field(None, ge=-1, le=(1 << 31) - 1)
    min_p: Number | None = _with_limits_of("min_p")
    repeat_penalty: Number | None = _with_limits_of("repeat_penalty")
    repetition_penalty: Number | None = _with_limits_of("repeat_penalty")
    repeat_last_n: WholeNumber | None = Field(None, ge=-1, le=(1 << 31) - 1)
    presence_penalty: Number | None = Field(None, ge=-2, le=2)
    frequency_penalty: Number | None = Field(None, ge=-2, le=2)
    logit_bias: Any = None
    seed: WholeNumber | None = None
    stop: str | list[str | None] | None = None
    max_tokens: WholeNumber | None = Field(None, ge=NO_LIMIT)
    n_predict: WholeNumber | None = Field(None, ge=NO_LIMIT)

    ignore_eos: bool = False
    min_tokens: WholeNumber = Field(0, ge=0)
    stop_token_ids: list[WholeNumber] | None = Field(None, max_length=MOST_STOPS)
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
    thinking_budget: WholeNumber | None = Field(None, ge=NO_LIMIT)
    thinking_token_budget: WholeNumber | None = Field(None, ge=NO_LIMIT)
    reasoning_budget_tokens: WholeNumber | None = Field(None, ge=NO_LIMIT)
    enable_thinking: bool | None = None
    think: bool | str | None = None
    chat_template_kwargs: TemplateValues | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_options(cls, value: object) -> object:
        """Treat the settings in Ollama's `options` as fields of the request."""
        if not isinstance(value, dict) or not isinstance(value.get("options"), dict):
            return value
        others = {name: option for name, option in value.items() if name != "options"}
        options = {
            _OLLAMA_NAMES.get(name, name): option for name, option in value["options"].items()
        }
        return {**options, **others}

    @model_validator(mode="after")
    def _check_extra(self) -> AnswerFields:
        self._unknown = check_extra(self.endpoint, self.model_extra or {})
        return self

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on fields that neither the protocol nor `field_table.py` knows, if any."""
        if not self._unknown:
            return ()
        names = ", ".join(name[:60] for name in sorted(self._unknown)[:MOST_NOTED])
        return (f"These fields are not part of this request and were ignored: {names}.",)

    @property
    def wants_usage(self) -> bool:
        """True if the client wants the token counts at the end of a stream."""
        return self.stream_options is not None and self.stream_options.include_usage

    def limit(self) -> int | None:
        """Return the maximum number of tokens in the answer; None for no limit."""
        return unlimited(self.max_tokens if self.n_predict is None else self.n_predict)

    def settings(self) -> dict[str, object]:
        """Return the settings of the answer by their names in the app. Raises BadRequest."""
        penalty = self.repetition_penalty if self.repeat_penalty is None else self.repeat_penalty
        limit = self.limit()
        if limit is not None and self.min_tokens > limit:
            raise _invalid("min_tokens", f"it should be at most max_tokens, {limit}")
        values: dict[str, object | None] = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "top_k": None if self.top_k is None else max(0, self.top_k),
            "min_p": self.min_p,
            "repeat_penalty": penalty,
            "max_tokens": limit,
            # An answer that is forced to go on is likely to repeat itself.
            "stop_repetition": False if self.ignore_eos or self.min_tokens else None,
        }
        return {name: value for name, value in values.items() if value is not None}

    def reasoning_settings(self) -> dict[str, object]:
        """Return the settings for reasoning: on or off, and the effort. Raises BadRequest."""
        template = self.chat_template_kwargs or TemplateValues()
        for name in template.model_extra or {}:
            raise refusal(f"chat_template_kwargs.{name}", "the app fills in the chat template")
        switches = (self.enable_thinking, template.enable_thinking, template.thinking)
        is_enabled = next((switch for switch in switches if switch is not None), None)
        effort = self.reasoning_effort or template.reasoning_effort
        if isinstance(self.think, str):
            effort = effort or self.think
        elif self.think is not None:
            is_enabled = self.think
        return thinking_settings(effort, is_enabled)

    def budget(self) -> int | None:
        """Return the maximum number of reasoning tokens; None if the request sets no limit."""
        budgets = (self.thinking_budget, self.thinking_token_budget, self.reasoning_budget_tokens)
        return unlimited(next((budget for budget in budgets if budget is not None), None))

    def fixed_seed(self) -> int | None:
        """Return the seed; None draws a new one for each answer."""
        return unlimited(self.seed)

    def stop_texts(self, more: Sequence[str | None] = ()) -> tuple[str, ...]:
        """Return the texts that end the answer. Raises BadRequest."""
        own = [self.stop] if isinstance(self.stop, str) else self.stop or ()
        texts = [text for text in (*own, *more) if text]
        if len(texts) > MOST_STOPS or any(len(text) > LONGEST_STOP for text in texts):
            raise BadRequest(
                "There are too many stops, or one is too long.",
                f"At most {MOST_STOPS} with {LONGEST_STOP:,} characters each are allowed.",
                "Send fewer.",
                "stop",
            )
        return tuple(dict.fromkeys(texts))

    def answer_rules(self) -> AnswerRules:
        """Collect the rules for the answer's format. Raises BadRequest."""
        answer_rules = AnswerRules()
        add_format(answer_rules, "response_format", self.response_format)
        answer_rules.schema("json_schema", self.json_schema)
        answer_rules.schema("guided_json", self.guided_json)
        answer_rules.require_object("guided_json_object", self.guided_json_object)
        if self.format == "json":
            answer_rules.require_object("format", is_required=True)
        elif self.format != "":
            answer_rules.schema("format", self.format)
        if self.output_format is not None:
            form = check(ResponseFormat, self.output_format, "output_format")
            add_format(answer_rules, "output_format", form)
        answer_rules.grammar("grammar", self.grammar)
        answer_rules.grammar("guided_grammar", self.guided_grammar)
        answer_rules.grammar("ebnf", self.ebnf)
        answer_rules.regex("guided_regex", self.guided_regex)
        answer_rules.regex("regex", self.regex)
        answer_rules.choice("guided_choice", self.guided_choice)
        _add_structured(answer_rules, self.structured_outputs)
        return answer_rules

    def sampling(self, schema: str | None, likeliest: int | None) -> Sampling:
        """Return the sampling options that are not settings of the app. Raises BadRequest."""
        window = self.repeat_last_n
        return Sampling(
            schema=schema,
            # -1 means all tokens.
            repeat_last_n=64 if window is None else (1 << 24) if window < 0 else window,
            presence_penalty=self.presence_penalty or 0.0,
            frequency_penalty=self.frequency_penalty or 0.0,
            logit_bias=_biases(self.logit_bias),
            logprobs=likeliest,
            ignore_end=self.ignore_eos,
            min_tokens=self.min_tokens,
            stop_tokens=tuple(dict.fromkeys(self.stop_token_ids or ())),
        )


def unlimited(value: int | None) -> int | None:
    """Return the number, or None if it is `NO_LIMIT`."""
    return None if value == NO_LIMIT else value


def add_format(answer_rules: AnswerRules, field: str, format_: ResponseFormat | None) -> None:
    """Add the rule that a `response_format` object sets. Raises BadRequest."""
    if format_ is None or format_.type == "text":
        return
    inner = format_.json_schema.schema_ if format_.json_schema else None
    schema = next(
        (
            candidate
            for candidate in (inner, format_.schema_, format_.value)
            if candidate is not None
        ),
        None,
    )
    text = format_.grammar or format_.pattern or format_.value
    match format_.type:
        case "json_object" | "json":
            answer_rules.schema(field, _ANY_OBJECT if schema is None else schema)
        case "json_schema":
            if schema is None:
                raise BadRequest(
                    f"“{field}” has no schema.",
                    "“json_schema” asks for an answer that follows a schema, but contains none.",
                    "Send it as response_format.json_schema.schema.",
                    field,
                )
            answer_rules.schema(field, schema)
        case "grammar" | "regex":
            if not isinstance(text, str):
                raise _invalid(field, f"it has no {format_.type}")
            (answer_rules.grammar if format_.type == "grammar" else answer_rules.regex)(field, text)
        case "structural_tag":
            raise refusal(field, "Hearth cannot make a model follow a structural tag")


def _add_structured(answer_rules: AnswerRules, outputs: StructuredOutputs | None) -> None:
    """Add the rules in vLLM's `structured_outputs`. Raises BadRequest."""
    if outputs is None:
        return
    for name in ("structural_tag", "whitespace_pattern", "disable_additional_properties"):
        if getattr(outputs, name):
            raise refusal(f"structured_outputs.{name}", "Hearth cannot do it")
    answer_rules.schema("structured_outputs.json", outputs.json_)
    answer_rules.require_object("structured_outputs.json_object", outputs.json_object)
    answer_rules.regex("structured_outputs.regex", outputs.regex)
    answer_rules.choice("structured_outputs.choice", outputs.choice)
    answer_rules.grammar("structured_outputs.grammar", outputs.grammar)


def _biases(value: object) -> tuple[tuple[int, float], ...]:
    """Read logit biases in any of the forms that servers accept. Raises BadRequest.

    Returns:
        Pairs of a token's number and the value to add to its logit.
    """
    if value is None:
        return ()
    pairs = [*value.items()] if isinstance(value, Mapping) else value
    if not isinstance(pairs, list):
        raise _invalid("logit_bias", "it should be an object, or a list of pairs")
    biases: dict[int, float] = {}
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise _invalid("logit_bias", "each of its items should be a pair: a token and a number")
        token, bias = pair
        try:
            number = int(token)
        except (TypeError, ValueError):
            raise BadRequest(
                "“logit_bias” cannot be used.",
                "Its keys are not the numbers of tokens.",
                "Name tokens by their numbers, as /tokenize gives them.",
                "logit_bias",
            ) from None
        biases[number] = _bias(bias)
    return tuple(biases.items())


def _bias(value: object) -> float:
    if value is False:
        return -math.inf  # llama-server's way to forbid a token
    try:
        bias = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        bias = math.nan
    if value is True or not math.isfinite(bias):
        raise _invalid("logit_bias", "its values should be finite numbers, or false")
    return max(-_LARGEST_BIAS, min(_LARGEST_BIAS, bias))


def _invalid(field: str, reason: str) -> BadRequest:
    return BadRequest(
        f"“{field}” cannot be used.",
        f"{reason[:1].upper()}{reason[1:]}.",
        "Correct it and send the request again.",
        field,
    )
