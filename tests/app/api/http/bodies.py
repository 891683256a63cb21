"""Request bodies for every endpoint, and ways to break each of their fields."""

from __future__ import annotations

import copy
from base64 import b64encode
from collections.abc import Iterator
from typing import Any, Final

from tests.support.made_media import two_colours, wav, written

_TOOL: Final = {"type": "object", "properties": {"path": {"type": "string"}}}
_CALL: Final = {
    "id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'},
}  # fmt: skip
_SCHEMA: Final = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 2}}}

_PICTURE: Final = b64encode(written(two_colours(), "PNG")).decode()
_SOUND: Final = b64encode(wav(0.2)).decode()

BODIES: Final[dict[str, dict[str, Any]]] = {
    "/v1/chat/completions": {
        "model": "starter",
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "name": "Ann", "content": [{"type": "text", "text": "Read a."}]},
            {"role": "assistant", "content": None, "reasoning": "Hm.", "tool_calls": [_CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": "It is b."},
        ],
        "tools": [
            {"type": "function", "function": {"name": "read", "description": "Reads.",
                                              "parameters": _TOOL, "strict": True}},
        ],
        "tool_choice": {"type": "function", "function": {"name": "read"}},
        "max_tokens": 1,
        "max_completion_tokens": 1,
        "stream": False,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 5,
        "min_p": 0.1,
        "repeat_penalty": 1.1,
        "presence_penalty": 0.1,
        "frequency_penalty": 0.1,
        "logit_bias": {"5": 1.5},
        "logprobs": True,
        "top_logprobs": 2,
        "seed": 3,
        "stop": ["#"],
        "n": 1,
        "parallel_tool_calls": False,
        "reasoning_effort": "low",
        "thinking_budget": 5,
        "chat_template_kwargs": {"enable_thinking": False},
    },
    "/v1/chat/completions#format": {
        "model": "starter",
        "messages": [{"role": "user", "content": "Hi"}],
        "response_format": {
            "type": "json_schema", "json_schema": {"name": "a", "schema": _SCHEMA, "strict": True},
        },
        "max_tokens": 1,
    },
    "/v1/chat/completions#parts": {
        "model": "starter",
        "messages": [
            {"role": "user", "content": [
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PICTURE}"}},
                {"type": "input_audio", "input_audio": {"data": _SOUND, "format": "wav"}},
                {"type": "file", "file": {"filename": "a.txt", "file_data": "QQ=="}},
                {"type": "refusal", "refusal": "No."},
            ]},
        ],
        "grammar": 'root ::= "a"',
        "max_tokens": 1,
    },
    "/v1/completions": {
        "model": "starter", "prompt": ["Hi", "Ho"], "max_tokens": 1, "logprobs": 1, "echo": False,
        "suffix": "", "n": 1, "stop": "#", "seed": 1, "temperature": 0.1,
    },
    "/v1/completions#tokens": {"model": "starter", "prompt": [[5, 6], [7]], "max_tokens": 1},
    "/v1/responses": {
        "model": "starter",
        "instructions": "Be short.",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "a"}],
             "content": [{"type": "reasoning_text", "text": "b"}], "encrypted_content": "c"},
            {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "b"},
            {"type": "custom_tool_call", "call_id": "c2", "name": "run", "input": "ls"},
            {"type": "custom_tool_call_output", "call_id": "c2",
             "output": [{"type": "input_text", "text": "b"}]},
            {"role": "user", "content": "Go on."},
        ],
        "tools": [
            {"type": "function", "name": "read", "description": "Reads.", "parameters": _TOOL},
            {"type": "custom", "name": "run", "format": {"type": "grammar", "definition": "a"}},
            {"type": "namespace", "name": "its", "tools": [
                {"type": "function", "name": "read", "parameters": _TOOL}]},
            {"type": "web_search"},
        ],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [
            {"type": "function", "name": "read"}]},
        "parallel_tool_calls": True,
        "text": {"format": {"type": "text"}},
        "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 1,
        "temperature": 0.1,
        "top_p": 0.9,
        "top_logprobs": 1,
        "previous_response_id": None,
        "metadata": {"a": "b"},
        "store": True,
        "stream": False,
    },
    "/v1/responses#format": {
        "model": "starter",
        "input": [{"type": "item_reference", "id": "msg_1"}],
        "text": {"format": {"type": "json_schema", "name": "a", "schema": _SCHEMA}},
        "max_output_tokens": 1,
    },
    "/v1/messages": {
        "model": "starter",
        "max_tokens": 1,
        "system": [{"type": "text", "text": "Be short.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": "Read a."},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "hearth"},
                {"type": "redacted_thinking", "data": "a"},
                {"type": "text", "text": "I read."},
                {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "is_error": False,
                 "content": [{"type": "text", "text": "b"}]},
                {"type": "text", "text": "Go on."}]},
        ],
        "tools": [{"name": "read", "description": "Reads.", "input_schema": _TOOL},
                  {"type": "web_search_1", "name": "search"}],
        "tool_choice": {"type": "tool", "name": "read", "disable_parallel_tool_use": True},
        "thinking": {"type": "enabled", "budget_tokens": 5},
        "output_config": {"effort": "low"},
        "temperature": 0.1,
        "top_p": 0.9,
        "top_k": 5,
        "stop_sequences": ["#"],
        "stream": False,
    },
    "/v1/messages#parts": {
        "model": "starter",
        "max_tokens": 1,
        "messages": [{"role": "user", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                         "data": _PICTURE}},
            {"type": "document", "title": "a", "source": {"type": "text", "data": "b"}},
            {"type": "document", "source": {"type": "content", "content": [
                {"type": "text", "text": "c"}]}}]}],
        "output_config": {"format": {"type": "json_schema", "schema": _SCHEMA}},
    },
    "/v1/messages/count_tokens": {
        "model": "starter",
        "system": "Be short.",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        "tools": [{"name": "read", "input_schema": _TOOL}],
        "tool_choice": {"type": "auto"},
    },
    "/v1/embeddings": {
        "model": "starter", "input": ["a", "b"], "encoding_format": "float", "dimensions": 2,
    },
    "/v1/rerank": {
        "model": "starter", "query": "a", "documents": ["a", {"text": "b"}], "top_n": 1,
        "return_documents": True,
    },
    "/tokenize": {
        "model": "starter", "content": "Hi", "prompt": "Hi", "add_special": True,
        "add_special_tokens": True,
    },
    "/detokenize": {"model": "starter", "tokens": [5, 6]},
}  # fmt: skip
"""A body with every field of each endpoint, by path; a # marks another body of the same path."""


def deep(depth: int) -> list[Any]:
    """Return an array nested this deep."""
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


VALUES: Final[tuple[Any, ...]] = (
    None, True, "", "x" * 600, -1, 1.5, 10**30, [], [None], [{}], {}, {"type": {}},
    {"type": "no_such_thing"}, deep(40),
)  # fmt: skip
"""Values to put in place of a field's own."""

LEFT_OUT: Final = object()


def broken(body: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the body with each of its parts broken in each way, and a name for the change."""
    for path in _paths(body):
        for value in (*VALUES, LEFT_OUT):
            made = copy.deepcopy(body)
            within = made
            for step in path[:-1]:
                within = within[step]
            if value is LEFT_OUT:
                del within[path[-1]]
            else:
                within[path[-1]] = value
            told = "left out" if value is LEFT_OUT else repr(value)[:40]
            yield f"{'.'.join(map(str, path))}: {told}", made


def _paths(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for step, it in inner:
        yield (*at, step)
        if isinstance(it, dict | list):
            yield from _paths(it, (*at, step))
