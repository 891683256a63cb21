"""Ways to damage a model file: each takes its parts and its bytes, and returns faulty bytes.

The same seed causes the same damage.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random

from tests.faults.gguf_parts import (
    ARRAY,
    SCALARS,
    STRING,
    Parts,
    Tensor,
    Value,
    is_list_of_texts,
    list_of_texts,
    put_together,
    scalar,
    size_of,
    string,
    take_apart,
    texts_of,
)

NUMBERS = (0, 1, 2, 3, 7, 127, 255, 256, 1 << 15, (1 << 16) - 1, 1 << 31, (1 << 32) - 1, 1 << 63)
REALS = (0.0, -0.0, 1.0, -1.0, 1e-40, 1e38, float("nan"), float("inf"), float("-inf"))
WORDS = (b"", b"\0", b"\xff\xfe", b"llama", b"none", b"default", b"a" * 5000, "é☃".encode())
TEMPLATES = (
    b"{{ raise_exception('no') }}",
    b"{{ messages[9].content.x.y }}",
    b"{% for a in range(999999999) %}x{% endfor %}",
    b"{{ 'x' * 9999 }}{{ messages[0].content }}",
    b"{{ messages[0].content }}{{ bos_token }}{{ eos_token }}",
    b"{{ ''.__class__.__mro__[1].__subclasses__() }}",
    b"{{ 1 / 0 }}",
    b"(" * 500,
)
TENSOR_KINDS = (0, 1, 2, 3, 6, 8, 10, 12, 14, 16, 20, 24, 26, 28, 30, 34, 39, 40, 5, 31, 99)
SCALE = {0: b"\0\0\xc0\x7f", 1: b"\0\x7e", 2: b"\0\x7e", 8: b"\0\x7e"}
"""A not-a-number at the start of a block, by type."""

Mutation = Callable[[Random, bytes, Parts], bytes]


def _at_byte(random: Random, data: bytes, parts: Parts) -> int:
    """Return a position, mostly in the header, where the structure is."""
    return random.randrange(parts.header_bytes if random.random() < 0.8 else len(data))


def flip_bits(random: Random, data: bytes, parts: Parts) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8, 40))):
        changed[_at_byte(random, data, parts)] ^= 1 << random.randrange(8)
    return bytes(changed)


def overwrite(random: Random, data: bytes, parts: Parts) -> bytes:
    at = _at_byte(random, data, parts)
    rubbish = random.choice((b"\0", b"\xff", b"\x7f", random.randbytes(1))) * random.randint(1, 16)
    return data[:at] + rubbish + data[at + len(rubbish) :]


def insert_or_delete(random: Random, data: bytes, parts: Parts) -> bytes:
    at, count = _at_byte(random, data, parts), random.choice((1, 4, 8, 32, 64))
    if random.random() < 0.5:
        return data[:at] + random.randbytes(count) + data[at:]
    return data[:at] + data[at + count :]


def truncate(random: Random, data: bytes, parts: Parts) -> bytes:
    return data[: random.choice((_at_byte(random, data, parts), len(data) - random.randint(1, 64)))]


def change_number(random: Random, data: bytes, parts: Parts) -> bytes:
    """Replace a number of a value or of its list by an unlikely one."""
    changed = parts.copy()
    value = random.choice([value for value in changed.values if _numbers(value)])
    kind, start = (value.kind, 0) if value.kind != ARRAY else (value.data[0], 12)
    size = struct.calcsize(SCALARS[kind])
    count = (len(value.data) - start) // size
    at = start + size * random.randrange(count)
    value.data = value.data[:at] + _unlikely(random, kind) + value.data[at + size :]
    return put_together(changed)


def change_shape(random: Random, data: bytes, parts: Parts) -> bytes:
    """Change a number of the architecture itself: layers, heads, lengths, experts, state."""
    changed = parts.copy()
    of_shape = [v for v in changed.values if v.kind in {4, 5, 6, 10} and b"general" not in v.key]
    for value in random.sample(of_shape, random.choice((1, 1, 2))):
        value.data = _unlikely(random, value.kind)
        if value.kind == 4 and random.random() < 0.7:
            value.data = scalar(4, random.choice((0, 1, 2, 3, 4, 5, 8, 16, 31, 64, 100, 513, 4096)))
    return put_together(changed)


def change_type(random: Random, data: bytes, parts: Parts) -> bytes:
    """Give a value another type: number for text, list for number, and so on."""
    changed = parts.copy()
    value = random.choice(changed.values)
    value.kind, value.data = _any_value(random)
    return put_together(changed)


def change_list(random: Random, data: bytes, parts: Parts) -> bytes:
    """Make a list too short, empty, or of another type."""
    changed = parts.copy()
    lists = [value for value in changed.values if value.kind == ARRAY]
    value = random.choice(lists or changed.values)
    kind = random.choice((0, 4, 5, 6, 7, 8, 10))
    count = random.choice((0, 1, 2, 5, 300))
    item = string(random.choice(WORDS)) if kind == STRING else _unlikely(random, kind)
    value.kind, value.data = ARRAY, struct.pack("<IQ", kind, count) + item * count
    return put_together(changed)


def lie_about_length(random: Random, data: bytes, parts: Parts) -> bytes:
    """Make a text or a list claim a wrong length."""
    changed = parts.copy()
    value = random.choice([value for value in changed.values if value.kind in {STRING, ARRAY}])
    at = 0 if value.kind == STRING else 4
    length = random.choice((0, 1, len(value.data) + 1, 1 << 20, 1 << 40, (1 << 64) - 1))
    value.data = value.data[:at] + struct.pack("<Q", length) + value.data[at + 8 :]
    return put_together(changed)


def change_text(random: Random, data: bytes, parts: Parts) -> bytes:
    changed = parts.copy()
    value = random.choice([value for value in changed.values if value.kind == STRING])
    value.data = string(random.choice(WORDS))
    return put_together(changed)


def change_words(random: Random, data: bytes, parts: Parts) -> bytes:
    """Change texts of a list: tokens, or merges of two tokens."""
    changed = parts.copy()
    lists = [value for value in changed.values if is_list_of_texts(value)]
    value = random.choice(lists)
    texts = texts_of(value)
    for _ in range(random.choice((1, 1, 3, 50))):
        one, other = random.randrange(len(texts)), random.randrange(len(texts))
        texts[one] = random.choice((*WORDS, texts[other] + b"x", texts[one][:-1], b"a b c", b" "))
    value.data = list_of_texts(texts[: random.choice((len(texts), len(texts), one))])
    return put_together(changed)


def change_template(random: Random, data: bytes, parts: Parts) -> bytes:
    """Change the chat template: cut it, insert rubbish, or replace it by another program."""
    changed = parts.copy()
    value = next((v for v in changed.values if v.key.endswith(b"chat_template")), None)
    if value is None:
        value = Value(b"tokenizer.chat_template", STRING, string(b"{{ messages[0].content }}"))
        changed.values.append(value)
    text = value.data[8:]
    at = random.randrange(len(text))
    rubbish = random.choice((b"{%", b"}}", b"{{", b"{% for x in messages %}", b"\xff", b"\0"))
    value.data = string(
        random.choice((text[:at], text[:at] + rubbish + text[at:], random.choice(TEMPLATES)))
    )
    return put_together(changed)


def change_values(random: Random, data: bytes, parts: Parts) -> bytes:
    """Remove a value, duplicate it, rename it, or add one that is not needed."""
    changed = parts.copy()
    at = random.randrange(len(changed.values))
    what = random.randrange(4)
    if what == 0:
        del changed.values[at]
    elif what == 1:
        changed.values.append(changed.values[at])
    elif what == 2:
        changed.values[at].key = random.choice((b"", b"x" * 70_000, b"\xff", b"general.name"))
    else:
        key, of = random.choice(_OTHER_KEYS), _architecture(parts)
        number = random.choice((0, 1, 2, 3, 4, 8, 32, 512, 1 << 20, (1 << 32) - 1))
        changed.values.append(Value(of + key, 4, scalar(4, number)))
    return put_together(changed)


def change_counts(random: Random, data: bytes, parts: Parts) -> bytes:
    changed = parts.copy()
    number = random.choice((0, 1, 1 << 20, 1 << 40, (1 << 64) - 1))
    what = random.randrange(4)
    if what == 0:
        changed.version = random.choice((0, 1, 2, 4, 3 << 24, (1 << 32) - 1))
    elif what == 1:
        changed.tensor_count = random.choice((number, len(parts.tensors) - 1))
    elif what == 2:
        changed.value_count = random.choice((number, len(parts.values) - 1))
    else:
        changed.magic = random.choice((b"GGML", b"ggjt", b"\0\0\0\0", b"FUGG"))
    return put_together(changed)


def reshape_tensor(random: Random, data: bytes, parts: Parts) -> bytes:
    """Change a tensor's shape, with as much data as it needs."""
    changed = parts.copy()
    tensor = random.choice(changed.tensors)
    shape = list(tensor.shape)
    what = random.randrange(4)
    if what == 0:
        shape.reverse()
    elif what == 1:
        at = random.randrange(len(shape))
        shape[at] = max(1, random.choice((1, 32, shape[at] // 2, shape[at] * 2, shape[at] + 32)))
    elif what == 2:
        shape.append(random.choice((1, 2)))
    else:
        shape = [sum(1 for _ in shape)] if random.random() < 0.3 else shape[:1]
    _fit(tensor, tuple(shape), tensor.kind)
    return put_together(changed)


def retype_tensor(random: Random, data: bytes, parts: Parts) -> bytes:
    """Change the type of tensors, with as much data as they need."""
    changed = parts.copy()
    for tensor in random.sample(changed.tensors, random.choice((1, 1, 3))):
        _fit(tensor, tensor.shape, random.choice(TENSOR_KINDS))
    return put_together(changed)


def lie_about_tensor(random: Random, data: bytes, parts: Parts) -> bytes:
    """Give a tensor a type, a dimension or an offset that does not match its data."""
    changed = parts.copy()
    tensor = random.choice(changed.tensors)
    what = random.randrange(3)
    if what == 0:
        tensor.kind = random.choice(TENSOR_KINDS)
    elif what == 1:
        shape = list(tensor.shape)
        shape[random.randrange(len(shape))] = random.choice((0, 1, 1 << 20, 1 << 40, (1 << 64) - 1))
        tensor.shape = tuple(shape)
    else:
        tensor.offset = random.choice((0, 1, 32, len(data), 1 << 40, (1 << 64) - 32))
    return put_together(changed)


def change_tensors(random: Random, data: bytes, parts: Parts) -> bytes:
    """Remove a tensor, duplicate it, rename it, or swap two of them."""
    changed = parts.copy()
    one, other = random.choice(changed.tensors), random.choice(changed.tensors)
    what = random.randrange(5)
    if what == 0:
        changed.tensors.remove(one)
    elif what == 1:
        changed.tensors.append(one)
    elif what == 2:
        one.name = random.choice((b"", b"x" * 64, other.name + b"x", b"\xff", b"output.weight"))
    elif what == 3:
        one.name, other.name = other.name, one.name
    else:
        one.data, other.data = other.data, one.data
    return put_together(changed)


def poison_data(random: Random, data: bytes, parts: Parts) -> bytes:
    """Put values that are no numbers, or noise, into the data of some tensors."""
    changed = parts.copy()
    for tensor in random.sample(changed.tensors, random.choice((1, 1, 3))):
        count = len(tensor.data)
        what = random.randrange(4)
        if what == 0:
            bad = SCALE.get(tensor.kind, b"\xff\x7f")
            at = random.randrange(max(1, count // len(bad))) * len(bad)
            tensor.data = (tensor.data[:at] + bad + tensor.data[at + len(bad) :])[:count]
        elif what == 1:
            tensor.data = random.randbytes(count)
        elif what == 2:
            tensor.data = random.choice((b"\xff", b"\0", b"\x7f", b"\x80")) * count
        else:
            at = random.randrange(count)
            tensor.data = (tensor.data[:at] + random.randbytes(64) + tensor.data[at + 64 :])[:count]
    return put_together(changed)


MUTATIONS: dict[Mutation, int] = {
    flip_bits: 3,
    overwrite: 2,
    insert_or_delete: 1,
    truncate: 1,
    change_number: 3,
    change_shape: 8,
    change_type: 2,
    change_list: 2,
    lie_about_length: 1,
    change_text: 2,
    change_words: 4,
    change_template: 2,
    change_values: 4,
    change_counts: 1,
    reshape_tensor: 4,
    retype_tensor: 4,
    lie_about_tensor: 2,
    change_tensors: 3,
    poison_data: 4,
}
"""How often each is chosen, in proportion."""

_OTHER_KEYS = tuple(
    key.encode()
    for key in (
        ".attention.sliding_window .attention.sliding_window_pattern .attention.key_length"
        " .attention.value_length .attention.head_count_kv .attention.causal .pooling_type"
        " .attention.shared_kv_layers .attention.key_length_swa .attention.clamp_kqv"
        " .attention.max_alibi_bias .attention.temperature_length .rope.dimension_count"
        " .rope.dimension_count_swa .rope.freq_base .rope.scaling.type .rope.scaling.factor"
        " .rope.dimension_sections .expert_count .expert_used_count .expert_group_count"
        " .expert_shared_count .expert_gating_func .nextn_predict_layers .ssm.conv_kernel"
        " .ssm.inner_size .ssm.state_size .ssm.time_step_rank .ssm.group_count .vocab_size"
        " .full_attention_interval .use_parallel_residual .leading_dense_block_count"
        " .embedding_length_per_layer_input .token_type_count .wkv.head_size .decoder_block_count"
    ).split()
)


def mutate(random: Random, data: bytes, parts: Parts | None = None) -> tuple[str, bytes]:
    """Return the kind of damage and a damaged copy of `data`.

    Args:
        random: The source of chance.
        data: The bytes of the file.
        parts: Its parts, if they are at hand.
    """
    parts = parts or take_apart(data)
    mutation = random.choices(list(MUTATIONS), list(MUTATIONS.values()))[0]
    return mutation.__name__, mutation(random, data, parts)


def _architecture(parts: Parts) -> bytes:
    return next(v.data[8:] for v in parts.values if v.key == b"general.architecture")


def _numbers(value: Value) -> bool:
    """Return whether a value contains a number to change."""
    if value.kind == ARRAY:
        return value.data[0] in SCALARS and len(value.data) > 12
    return value.kind in SCALARS


def _unlikely(random: Random, kind: int) -> bytes:
    code = SCALARS[kind]
    size = struct.calcsize(code)
    if code in "fd":
        return struct.pack(f"<{code}", random.choice(REALS))
    return (random.choice(NUMBERS) & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def _any_value(random: Random) -> tuple[int, bytes]:
    kind = random.choice((*SCALARS, STRING, ARRAY, 13, 255))
    if kind == STRING:
        return kind, string(random.choice(WORDS))
    if kind == ARRAY:
        return kind, struct.pack("<IQ", 4, 2) + scalar(4, 1) * 2
    return kind, _unlikely(random, kind) if kind in SCALARS else b"\0" * 4


def _fit(tensor: Tensor, shape: tuple[int, ...], kind: int) -> None:
    tensor.shape, tensor.kind = shape, kind
    try:
        size = size_of(shape, kind)
    except KeyError:  # a type that does not exist
        return
    repeats = -(-size // max(1, len(tensor.data)))
    tensor.data = (tensor.data * repeats)[:size]
