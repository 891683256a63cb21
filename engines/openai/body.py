"""Builds the body of a request from a `ChatRequest`, for each kind of server. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

from engines.dialect.formats import HERMES
from engines.dialect.tool_turns import ToolTurns, instructions, numbered
from engines.dialect.tools import offered
from engines.errors import EngineFailed, GrammarInvalid, Unsupported
from engines.openai.features import BUDGET, FEATURES, TOOLS, ServerFeatures
from engines.openai.media import content_of
from engines.openai.values import ServerKind
from engines.sentences import N_
from engines.types import ChatRequest, Message, Sampling

Body = dict[str, Any]

EXTRAS = (
    "top_k", "min_p", "repetition_penalty", "repeat_penalty", "repeat_last_n", "stream_options",
    BUDGET, "skip_special_tokens", "include_reasoning", "parallel_tool_calls",
)  # fmt: skip
"""Fields beyond the protocol; if a server refuses one, the request is repeated without it."""

DECLINED = (
    "seed", "temperature", "top_p", "presence_penalty", "frequency_penalty", "logit_bias",
    "top_logprobs", "logprobs",
)  # fmt: skip
"""Fields of the protocol that some gateways and models refuse, whatever the value."""


_STRONGEST_BIAS = 100.0
"""OpenAI's limit; a bias this strong forbids or forces a token."""


def chat_body(
    request: ChatRequest,
    model: str,
    kind: ServerKind,
    messages: Sequence[Message],
    seed: int,
    max_tokens: int | None,
    *,
    drafts: bool = False,
    keep_special_tokens: bool = False,
    thinks: bool = False,
    omitted: Set[str] = frozenset(),
    enforces_calls: bool = True,
) -> Body:
    """Build the body of POST /v1/chat/completions.

    Args:
        messages: The messages of the request that fit the context.
        drafts: The server drafts tokens ahead; vLLM then refuses min_p.
        keep_special_tokens: See `ServedModelAccess`.
        thinks: The model will reason before it answers.
        omitted: See `ServedModelAccess`.
        enforces_calls: See `ServedModelAccess`.

    Raises:
        GrammarInvalid: The server cannot follow the grammar, or the schema is not JSON.
        EngineFailed: The server cannot continue an answer.
        Unsupported: The server does not know a sampling setting that would change the answer's end.
    """
    must_call = bool(request.tools) and request.tool_choice == "required"
    if must_call:  # a forced call is not an answer that could follow a grammar
        sampling = replace(request.sampling, grammar=None, schema=None)
        request = replace(request, sampling=sampling)
    is_forced = must_call and kind == "vllm" and (TOOLS in omitted or not enforces_calls)
    body = prompt_body(request, model, kind, messages, omitted)
    body |= _answer_body(
        request, kind, seed, max_tokens, drafts=drafts, keep_special_tokens=keep_special_tokens
    )
    body |= _tool_choice(request, omitted)
    if is_forced:
        body |= _forced_call(request)
    features = FEATURES[kind]
    if request.thinking_budget is not None and features.budget is not None:
        body[features.budget] = request.thinking_budget
    if (is_forced or request.sampling.guided) and kind == "vllm" and not thinks:
        # Otherwise a server with a reasoning parser applies the grammar only after some reasoning.
        body["include_reasoning"] = False
    if (likeliest := request.sampling.logprobs) is not None:
        body |= {"logprobs": True, "top_logprobs": likeliest}
    return {name: value for name, value in body.items() if name not in omitted}


def completion_body(
    request: ChatRequest,
    model: str,
    kind: ServerKind,
    seed: int,
    max_tokens: int | None,
    *,
    drafts: bool = False,
    keep_special_tokens: bool = False,
    omitted: Set[str] = frozenset(),
) -> Body:
    """Build the body of POST /v1/completions, for `ChatRequest.prompt`; see `chat_body`."""
    prompt = request.prompt
    body: Body = {
        "model": model,
        "prompt": prompt if isinstance(prompt, str) else [*(prompt or ())],
    }
    body |= _answer_body(
        request, kind, seed, max_tokens, drafts=drafts, keep_special_tokens=keep_special_tokens
    )
    if request.judges_prompt:
        if not FEATURES[kind].judges_prompt:
            raise Unsupported(
                N_("This server does not report how likely the tokens of a prompt are."),
                N_(
                    "The protocol has the field “echo” for this, but servers of this "
                    "kind ignore it."
                ),
                N_("Ask without it, or use a model on this computer."),
            )
        body["echo"] = True
    if (likeliest := request.sampling.logprobs) is not None:
        # llama-server returns no logprobs at all for 0.
        body["logprobs"] = max(1, likeliest) if kind == "llama-server" else likeliest
    return {name: value for name, value in body.items() if name not in omitted}


def _answer_body(
    request: ChatRequest,
    kind: ServerKind,
    seed: int,
    max_tokens: int | None,
    *,
    drafts: bool,
    keep_special_tokens: bool,
) -> Body:
    """Return the fields that control how the answer is written and streamed."""
    features = FEATURES[kind]
    body: Body = {"stream": True, "stream_options": {"include_usage": True}, "seed": seed}
    body |= _sampling(request.sampling, features)
    if drafts and kind == "vllm":
        body["min_p"] = 0.0  # sent anyway, because the server can have another default
        body.pop("logit_bias", None)
    if max_tokens is not None:
        body["max_tokens"] = max_tokens
    if stops := [stop for stop in request.stop if stop]:
        body["stop"] = stops[: features.most_stops]
    if kind == "vllm" and keep_special_tokens:
        body["skip_special_tokens"] = False
    if kind in ("vllm", "sglang"):
        body["stream_options"]["continuous_usage_stats"] = True
    if kind == "llama-server":
        body |= {"timings_per_token": True, "return_progress": True}
    return body | _guidance(request.sampling, kind, features)


def _sampling(sampling: Sampling, features: ServerFeatures) -> Body:
    fields: Body = {
        "temperature": min(sampling.temperature, features.max_temperature),
        "top_p": max(sampling.top_p, features.min_top_p),
    }
    if features.top_k:
        fields["top_k"] = sampling.top_k or features.top_k_off
    if features.min_p:
        fields["min_p"] = sampling.min_p
    if features.repeat is not None:
        fields[features.repeat] = sampling.repeat_penalty
    if features.repeat_last_n is not None:
        fields[features.repeat_last_n] = sampling.repeat_last_n
    if sampling.presence_penalty:
        fields["presence_penalty"] = sampling.presence_penalty
    if sampling.frequency_penalty:
        fields["frequency_penalty"] = sampling.frequency_penalty
    if sampling.logit_bias:
        fields["logit_bias"] = {
            str(token): max(-_STRONGEST_BIAS, min(_STRONGEST_BIAS, bias))
            for token, bias in sampling.logit_bias
        }
    return fields | _end_fields(sampling, features)


def _end_fields(sampling: Sampling, features: ServerFeatures) -> Body:
    """Return the fields that end the answer. Raises Unsupported if the server does not know one."""
    fields: Body = {}
    if sampling.ignore_end:
        fields["ignore_eos"] = True
    if sampling.min_tokens:
        fields["min_tokens"] = sampling.min_tokens
    if sampling.stop_tokens:
        fields["stop_token_ids"] = [*sampling.stop_tokens]
    for name in fields:
        if not (features.ignores_end if name == "ignore_eos" else features.ends_by_tokens):
            raise Unsupported(
                N_("This server does not know “{name}”.", name=name),
                N_("It would end the answer elsewhere without saying so."),
                N_("Ask without it, or use a model on this computer."),
            )
    return fields


def prompt_body(
    request: ChatRequest,
    model: str,
    kind: ServerKind,
    messages: Sequence[Message],
    omitted: Set[str] = frozenset(),
) -> Body:
    """Build the part of the body that determines the prompt; it is also used to count tokens."""
    features = FEATURES[kind]
    if TOOLS in omitted:
        messages = _tools_as_text(request, messages)
    body: Body = {
        "model": model,
        "messages": [_message(message, features) for message in numbered(messages)],
    }
    continues_answer = (
        bool(messages) and messages[-1].role == "assistant" and not messages[-1].calls
    )
    if continues_answer:
        if not features.continues:
            raise EngineFailed(
                N_("This server cannot continue an answer."),
                N_(
                    "The protocol has no way to ask for it, and this kind of server "
                    "has no way of its own."
                ),
                N_("Ask for the answer again, or write “go on” as the next message."),
            )
        body |= {"continue_final_message": True, "add_generation_prompt": False}
    if request.tools and TOOLS not in omitted:
        body[TOOLS] = offered(request.tools)
    thinking = request.thinking
    if continues_answer and messages[-1].text and kind == "llama-server":
        thinking = False  # It continues an answer only without reasoning before it.
    if features.template and thinking is not None:
        body["chat_template_kwargs"] = {"enable_thinking": thinking, "thinking": thinking}
    if request.effort is not None and request.thinking is not False:
        body["reasoning_effort"] = request.effort
    return body


def _tools_as_text(request: ChatRequest, messages: Sequence[Message]) -> Sequence[Message]:
    """Write tools, calls and results as text, for a server that takes no tools for this model."""
    prepared = ToolTurns(questions=False).prepared(messages, HERMES)
    if not request.tools or request.tool_choice == "none":
        return prepared
    words = instructions(request.tools, HERMES)
    if prepared and prepared[0].role == "system":
        return [replace(prepared[0], text=f"{prepared[0].text}\n\n{words}"), *prepared[1:]]
    return [Message("system", words), *prepared]


def _tool_choice(request: ChatRequest, omitted: Set[str]) -> Body:
    """Return the fields that restrict tool calls, if they differ from the defaults."""
    if not request.tools or TOOLS in omitted:
        return {}
    fields: Body = {}
    if request.tool_choice == "required" and request.only_tool:
        fields["tool_choice"] = {"type": "function", "function": {"name": request.only_tool}}
    elif request.tool_choice != "auto":
        fields["tool_choice"] = request.tool_choice
    if not request.parallel_tools:
        fields["parallel_tool_calls"] = False
    return fields


def _forced_call(request: ChatRequest) -> Body:
    """Force vLLM to write a call in the Hermes form as text, if none of its parsers can force one.

    Source: vLLM 0.32's `StructuredOutputsParams`, and XGrammar 0.2's structural tags.
    """
    tags = [
        {
            "type": "tag",
            "begin": HERMES.begins[0] + '\n{"name": ' + json.dumps(tool.name) + ', "arguments": ',
            "content": {
                "type": "json_schema",
                "json_schema": dict(tool.parameters),
                "max_whitespace_cnt": 1,  # else small models write blank lines without end
            },
            "end": "}\n" + HERMES.ends,
        }
        for tool in request.tools
        if request.only_tool in ("", tool.name)
    ]
    calls = {
        "type": "tags_with_separator",
        "tags": tags,
        "separator": "\n",
        "at_least_one": True,
        "stop_after_first": True,  # else a small model writes calls without end
    }
    structural_tag = json.dumps({"type": "structural_tag", "format": calls}, ensure_ascii=False)
    return {"structured_outputs": {"structural_tag": structural_tag}}


def _message(message: Message, features: ServerFeatures) -> Body:
    """Return a message as the server expects it; templates decide whether to show old reasoning."""
    fields: Body = {"role": message.role, "content": content_of(message)}
    if message.calls:
        fields["content"] = message.text or None
        fields["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments or "{}"},
            }
            for call in message.calls
        ]
    if message.role == "tool":
        fields["tool_call_id"] = message.call_id
        if features.template and message.tool:
            fields["name"] = message.tool  # not part of the protocol, but some templates show it
    if features.thoughts and message.role == "assistant" and message.reasoning:
        fields["reasoning_content"] = message.reasoning
    return fields


def _guidance(sampling: Sampling, kind: ServerKind, features: ServerFeatures) -> Body:
    """Return the fields for a schema or a grammar. Raises GrammarInvalid."""
    if sampling.schema is not None:
        try:
            schema = json.loads(sampling.schema)
        except (ValueError, RecursionError) as error:
            raise GrammarInvalid(
                N_("The schema of the answer cannot be used."),
                N_("It is not valid JSON."),
                N_("Change the schema, or ask without it."),
            ) from error
        if kind == "vllm":
            return {"structured_outputs": {"json": schema}}
        if schema == {"type": "object"}:
            return {"response_format": {"type": "json_object"}}
        schema_format = {"name": "answer", "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": schema_format}}
    if sampling.grammar is None:
        return {}
    if not features.grammar:
        raise GrammarInvalid(
            N_("This server accepts no grammar."),
            N_("The protocol has no field for one, and this kind of server has none of its own."),
            N_("Ask without the grammar, or use a model on this computer."),
        )
    if kind == "vllm":
        return {"structured_outputs": {"grammar": sampling.grammar}}
    return {"grammar": sampling.grammar}
