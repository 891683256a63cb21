"""The request fields of other servers: which ones are honoured, ignored or refused.

Sources: the API references of OpenAI and Anthropic, llama.cpp's `tools/server/server-schema.cpp`,
the `protocol.py` files of vLLM and SGLang, Ollama's `docs/api.md`, and OpenRouter's parameters.

A field is honoured if a request class declares it. This table lists those fields and the ones that
no class declares. `resources/docs/server.md` shows the table; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from app.api.http.request import BadRequest
from app.settings.values.fields import fields as setting_fields

Treatment = Literal["honoured", "ignored", "refused"]
Check = Callable[[Any], bool]


@dataclass(frozen=True)
class FieldGroup:
    """Fields that are treated alike.

    Attributes:
        names: The fields, separated by spaces.
        of: The servers or APIs that have them.
        why: The reason, or how they are honoured, as half a sentence for the guide.
        unless: Returns True for a value that asks for nothing, so that a refused field is let
            through.
        at: The endpoints that the group applies to, as in `_PLACES`; all if empty.
    """

    treatment: Treatment
    names: str
    of: str
    why: str
    unless: Check | None = None
    at: tuple[str, ...] = ()


def _is_empty(value: Any) -> bool:
    return value in (None, False, 0, "", [], {})


def _is_at_most_zero(value: Any) -> bool:
    return _is_empty(value) or (isinstance(value, int | float) and value <= 0)


def _is_one(value: Any) -> bool:
    return bool(value == 1)


def _is_true(value: Any) -> bool:
    return value is True


_CHAIN: Final = ("penalties", "top_k", "top_p", "min_p", "temperature")
"""Hearth's samplers, in its order."""
_LETTERS: Final = {"e": "penalties", "k": "top_k", "p": "top_p", "m": "min_p", "t": "temperature"}


def _is_default_samplers(value: Any) -> bool:
    """Return whether a list of samplers includes all of Hearth's, in Hearth's order."""
    if isinstance(value, str):
        value = [_LETTERS.get(letter, letter) for letter in value]
    if not isinstance(value, list):
        return False
    return not value or [sampler for sampler in value if sampler in _CHAIN] == list(_CHAIN)


def _is_default_modalities(value: Any) -> bool:
    return value in ([], ["text"])


def _no_functions(value: Any) -> bool:
    return _is_empty(value) or value in ("auto", "none")


GROUPS: Final = (
    FieldGroup(
        "honoured",
        "model messages prompt input system instructions stream stream_options store include "
        "tools tool_choice parallel_tool_calls previous_response_id text reasoning thinking "
        "output_config echo suffix n logprobs top_logprobs",
        "OpenAI, Anthropic",
        "as the protocols have them",
    ),
    FieldGroup(
        "honoured",
        "max_tokens max_completion_tokens max_output_tokens n_predict",
        "all",
        "-1 is no limit, 0 no token",
    ),
    FieldGroup(
        "honoured",
        "temperature top_p top_k min_p repeat_penalty repetition_penalty repeat_last_n "
        "presence_penalty frequency_penalty seed",
        "all",
        "within the limits above; seed -1 draws a new one",
    ),
    FieldGroup(
        "honoured",
        "logit_bias",
        "OpenAI, llama-server",
        "an object or a list of pairs, by the numbers of tokens; false forbids a token",
    ),
    FieldGroup("honoured", "stop stop_sequences", "all", "up to 64 of 1,024 characters"),
    FieldGroup(
        "honoured", "include_stop_str_in_output", "vLLM", "the stop string ends the answer’s text"
    ),
    FieldGroup(
        "honoured",
        "ignore_eos min_tokens stop_token_ids",
        "vLLM, llama-server, SGLang",
        "`ignore_eos` and `min_tokens` not together with tools, a schema or a grammar",
    ),
    FieldGroup(
        "honoured",
        "response_format json_schema grammar guided_json guided_json_object guided_regex "
        "guided_choice guided_grammar structured_outputs format output_format regex ebnf",
        "OpenAI, Anthropic, llama-server, vLLM, Ollama, SGLang",
        "the answer follows it; two that differ are refused",
    ),
    FieldGroup(
        "honoured",
        "reasoning_effort thinking_budget thinking_token_budget reasoning_budget_tokens "
        "enable_thinking chat_template_kwargs think",
        "OpenAI, vLLM, llama-server, Ollama",
        "of `chat_template_kwargs` `enable_thinking`, `thinking` and `reasoning_effort`; "
        "others are refused",
    ),
    FieldGroup("honoured", "n_probs", "llama-server", "as `logprobs`"),
    FieldGroup("honoured", "options", "Ollama", "its settings count as fields of the request"),
    FieldGroup(
        "ignored",
        "user metadata safety_identifier service_tier prompt_cache_key prompt_cache_retention "
        "prompt_cache_options prediction moderation truncation max_tool_calls "
        "background_options access_programs image context_management store",
        "OpenAI",
        "they change no word of the answer; a conversation that is too long is an error",
    ),
    FieldGroup(
        "ignored", "verbosity", "OpenAI", "a hint that models have no way to take; say it in words"
    ),
    FieldGroup(
        "ignored",
        "cache_control container diagnostics inference_geo speed user_profile_id workspace_id "
        "betas billing_policy compaction fallbacks fallback_credit_token anthropic_version "
        "anthropic_beta",
        "Anthropic",
        "they change no word of the answer",
    ),
    FieldGroup(
        "ignored",
        "cache_prompt id_slot slot_id n_keep n_discard n_cache_reuse return_tokens "
        "return_progress timings_per_token sse_ping_interval verbose response_fields "
        "backend_sampling reasoning_control reasoning_budget_start_tag reasoning_budget_end_tag "
        "reasoning_budget_end_tags dynatemp_exponent dry_base dry_allowed_length "
        "dry_penalty_last_n dry_sequence_breakers xtc_threshold mirostat_tau mirostat_eta "
        "adaptive_decay speculative.n_max speculative.n_min speculative.p_min speculative.type",
        "llama-server",
        "they change no word of the answer by themselves",
    ),
    FieldGroup(
        "ignored",
        "priority request_id session_id rid cache_salt kv_transfer_params ec_transfer_params "
        "return_token_ids return_prompt_text return_token_offsets return_mm_kwargs "
        "routed_experts_prompt_start stream_interval truncation_side repetition_detection "
        "spaces_between_special_tokens length_penalty early_stopping include_reasoning "
        "separate_reasoning stream_reasoning continue_final_message add_generation_prompt "
        "guided_decoding_backend",
        "vLLM, SGLang",
        "they change no word of the answer; a last message of the assistant’s is always continued",
    ),
    FieldGroup(
        "ignored",
        "keep_alive num_ctx num_batch num_gpu main_gpu num_thread num_keep use_mmap use_mlock "
        "numa low_vram",
        "Ollama",
        "Hearth’s settings say how a model is loaded",
    ),
    FieldGroup(
        "ignored",
        "provider transforms models route plugins usage",
        "OpenRouter, LiteLLM",
        "there is nothing to route",
    ),
    FieldGroup(
        "refused",
        "functions function_call",
        "OpenAI",
        "send each function as a tool, which OpenAI has had in their place since 2023",
        _no_functions,
    ),
    FieldGroup("refused", "modalities", "OpenAI", "models write text only", _is_default_modalities),
    FieldGroup(
        "refused", "audio web_search_options", "OpenAI", "models write text only", _is_empty
    ),
    FieldGroup(
        "refused",
        "conversation background",
        "OpenAI",
        "there are no named conversations, and a program is answered only while it waits; "
        "`previous_response_id` goes on from a response",
        _is_empty,
    ),
    FieldGroup(
        "refused",
        "prompt",
        "OpenAI",
        "no prompts are kept here to be named",
        _is_empty,
        at=("responses",),
    ),
    FieldGroup("refused", "mcp_servers", "Anthropic", "Hearth calls no servers", _is_empty),
    FieldGroup("refused", "thread", "Anthropic", "send the whole conversation as `messages`"),
    FieldGroup(
        "refused", "n", "OpenAI", "one answer is written", _is_one, at=("responses", "messages")
    ),
    FieldGroup("refused", "best_of", "OpenAI, vLLM", "answers are not ranked", _is_one),
    FieldGroup("refused", "use_beam_search", "vLLM", "tokens are drawn one by one", _is_empty),
    FieldGroup(
        "refused",
        "echo",
        "vLLM, llama-server",
        "only `/v1/completions` sends a prompt back",
        _is_empty,
        at=("chat", "responses", "messages"),
    ),
    FieldGroup(
        "refused",
        "typical_p typical tfs_z",
        "llama-server, Ollama",
        "Hearth has no such sampler; 1 is off",
        _is_one,
    ),
    FieldGroup(
        "refused",
        "top_a top_n_sigma xtc_probability dynatemp_range dry_multiplier mirostat "
        "adaptive_target smoothing_factor min_keep n_indent t_max_predict_ms",
        "llama-server and others",
        "Hearth has none of them; 0 is off",
        _is_at_most_zero,
    ),
    FieldGroup(
        "refused",
        "samplers",
        "llama-server",
        "the order is fixed: penalties, top_k, top_p, min_p, temperature",
        _is_default_samplers,
    ),
    FieldGroup(
        "refused",
        "penalize_nl post_sampling_probs lora grammar_lazy grammar_triggers preserved_tokens "
        "generation_prompt chat_format chat_parser reasoning_budget_message image_data",
        "llama-server",
        "Hearth does it its own way",
        _is_empty,
    ),
    FieldGroup("refused", "parse_tool_calls", "llama-server", "calls are always read", _is_true),
    FieldGroup(
        "refused",
        "reasoning_format",
        "llama-server",
        "reasoning always has a field of its own",
        lambda value: value in ("auto", "deepseek"),
    ),
    FieldGroup(
        "refused",
        "skip_special_tokens",
        "vLLM",
        "special tokens are never part of the text",
        _is_true,
    ),
    FieldGroup(
        "refused", "truncate_prompt_tokens", "vLLM", "a prompt is never cut", _is_at_most_zero
    ),
    FieldGroup(
        "refused",
        "prompt_logprobs",
        "vLLM",
        "`echo` with `logprobs` tells them on `/v1/completions`",
        lambda value: value is None or value is False,
    ),
    FieldGroup(
        "refused",
        "allowed_token_ids bad_words logprob_token_ids logits_processors "
        "custom_logit_processor stop_regex no_stop_trim watermarking vllm_xargs "
        "return_tokens_as_token_ids return_hidden_states prompt_embeds lora_path session_params "
        "mm_processor_kwargs media_io_kwargs chat_template documents guided_whitespace_pattern",
        "vLLM, SGLang",
        "Hearth cannot do it",
        _is_empty,
    ),
    FieldGroup(
        "refused",
        "add_special_tokens",
        "vLLM",
        "the chat template says which tokens begin a prompt",
        _is_empty,
        at=("chat", "responses", "messages"),
    ),
    FieldGroup(
        "refused",
        "add_special_tokens",
        "vLLM",
        "send a prompt of tokens to leave out the first one",
        _is_true,
        at=("completions",),
    ),
    FieldGroup(
        "refused", "template raw images context", "Ollama", "Hearth cannot do it", _is_empty
    ),
)

LIMITED: Final = ("temperature", "top_p", "min_p", "repeat_penalty")
"""The numeric fields with the same limits as the app's settings of the same name."""

_BY_NAME: Final = {
    name: [group for group in GROUPS if name in group.names.split()]
    for name in {name for group in GROUPS for name in group.names.split()}
}

_PLACES: Final[Mapping[str, str]] = {
    "chat": "`/v1/chat/completions`",
    "completions": "`/v1/completions`",
    "responses": "`/v1/responses`",
    "messages": "`/v1/messages`",
}


def check_extra(endpoint: str, extra: Mapping[str, Any]) -> tuple[str, ...]:
    """Check the fields of a request that its class does not declare.

    Args:
        endpoint: One of “chat”, “completions”, “responses” and “messages”.
        extra: The fields and their values.

    Returns:
        The names of the fields that no server in the table has.

    Raises:
        BadRequest: A field asks for something that would change the answer and cannot be done.
    """
    unknown = []
    for name, value in extra.items():
        groups = [group for group in _BY_NAME.get(name, ()) if not group.at or endpoint in group.at]
        for group in groups:
            if group.treatment == "refused" and not (group.unless and group.unless(value)):
                raise refusal(name, group.why)
        if not any(group.treatment != "honoured" for group in groups):
            unknown.append(name)
    return tuple(unknown)


def refusal(name: str, reason: str) -> BadRequest:
    """Make the error for a field that would change the answer and cannot be honoured."""
    return BadRequest(
        f"“{name[:100]}” cannot be used.",
        f"{reason[:1].upper()}{reason[1:]}.",
        "Leave it out.",
        name,
    )


def fields_with(treatment: Treatment) -> Iterator[str]:
    """Yield the fields with this treatment."""
    for group in GROUPS:
        if group.treatment == treatment:
            yield from group.names.split()


def markdown() -> str:
    """Write the table for the guide."""
    return "\n".join(_lines())


def _lines() -> Iterable[str]:
    yield "| Fields | Of | |"
    yield "|---|---|---|"
    for group in GROUPS:
        fields = ", ".join(f"`{name}`" for name in group.names.split())
        places = f" at {', '.join(_PLACES[endpoint] for endpoint in group.at)}" if group.at else ""
        yield f"| {fields} | {group.of} | **{group.treatment}**{places}: {group.why} |"


def limits_markdown() -> str:
    """Write the table of numeric limits for the guide: the limits of the app's settings."""
    settings = setting_fields()
    rows = ["| Field | From | To |", "|---|---|---|"]
    for name in LIMITED:
        limit = settings[name]
        least = f"more than {limit.gt:g}" if limit.ge is None else f"{limit.ge:g}"
        rows.append(f"| `{name}` | {least} | {limit.le:g} |")
    rows += [
        "| `top_k`, `repeat_last_n` | -1 | 2147483647 |",
        "| `presence_penalty`, `frequency_penalty` | -2 | 2 |",
    ]
    return "\n".join(rows)
