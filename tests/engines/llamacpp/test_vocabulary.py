"""Vocabularies and prompts on which llama.cpp would end the process."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import ModelDamaged, TemplateFailed, Unsupported
from engines.llamacpp import prompting
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.prompting import TurnTokens
from engines.llamacpp.sampling import Greedy
from engines.llamacpp.vocabulary import Vocabulary
from engines.text import SEAM
from engines.types import Event, LlamaPlan
from tests.engines.contract import ask, done_of, run, text_of
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.random_models import (
    byte_tokenizer,
    sentencepiece_tokenizer,
    write_random_llama,
)
from tests.support.made_gguf import STARTER


def vocabulary_of(engine: LlamaCppEngine) -> Vocabulary:
    return engine.chat_model.model.vocabulary


def spelled(vocabulary: Vocabulary, text: str) -> str:
    return b"".join(vocabulary.piece(token) for token in vocabulary.tokenise(text)).decode()


@pytest.mark.parametrize("pre", ["gpt-4o", "tekken", "deepseek-v3"])
def test_a_run_without_an_end_is_tokenised(load: Load, tmp_path: Path, pre: str) -> None:
    """With std::regex a match of some thousand characters overflows the stack."""
    tokenizer = byte_tokenizer(pre)
    vocabulary = vocabulary_of(load(write_random_llama(tmp_path / "m.gguf", tokenizer=tokenizer)))
    for part in ("a", " ", "\n", "-", "ž", "!\x1c", "\t \N{NO-BREAK SPACE}"):
        assert spelled(vocabulary, part * 60_000) == part * 60_000


def test_a_cut_changes_no_token_around_it(load: Load) -> None:
    """Words and their blanks stay together; it cuts only where no token would span anyway."""
    vocabulary = vocabulary_of(load())
    text = "Tell me all about Hearth and where it keeps its chats. " * 200
    sentence = vocabulary.tokenise(text)
    assert sentence == vocabulary._tokenise(text)
    assert vocabulary.tokenise(f"Hel{SEAM}lo") == [
        *vocabulary.tokenise("Hel"),
        *vocabulary.tokenise("lo"),
    ]


@pytest.mark.parametrize("before", [*range(390, 402), 799])
def test_a_long_run_is_not_cut_inside_a_special_token(load: Load, before: int) -> None:
    vocabulary = vocabulary_of(load())
    for marker in ("<turn|>", "<|turn>"):
        (token,) = vocabulary.tokenise(marker)
        tokens = vocabulary.tokenise("é" * before + marker + "a" * 400)
        assert tokens.count(token) == 1
        assert b"<" not in b"".join(vocabulary.piece(token) for token in tokens)


def test_a_sentencepiece_model_needs_a_token_for_each_byte(load: Load, tmp_path: Path) -> None:
    whole = sentencepiece_tokenizer(256)
    vocabulary = vocabulary_of(load(write_random_llama(tmp_path / "m.gguf", tokenizer=whole)))
    assert spelled(vocabulary, "ž").strip() == "ž"
    part = sentencepiece_tokenizer(200)
    model = write_random_llama(tmp_path / "part.gguf", tokenizer=part)
    with pytest.raises(ModelDamaged, match="byte tokens"):
        LlamaCppEngine().load(LlamaPlan(model, 256, 1, 1), lambda _: None, CancelToken())


def test_an_empty_prompt_is_refused(load: Load, tmp_path: Path) -> None:
    template = "{% for m in messages %}{{ m['content'] | trim }}{% endfor %}"
    tokenizer = byte_tokenizer("qwen2", template)
    engine = load(write_random_llama(tmp_path / "m.gguf", tokenizer=tokenizer))
    with pytest.raises(TemplateFailed, match="nothing to answer"):
        run(engine, ask(" "))
    assert done_of(run(engine, ask("Hello", max_tokens=2))).usage.prompt_tokens == 5


def test_an_answer_cut_inside_a_character_goes_on_with_the_whole_of_it(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = byte_tokenizer("llama-bpe")
    engine = load(write_random_llama(tmp_path / "m.gguf", tokenizer=tokenizer))
    loaded = engine.chat_model
    says = [*loaded.model.vocabulary.tokenise("ok 🙂!"), 257]
    begins: list[int] = []

    def draw(_self: Greedy, _context: object, _row: int = -1) -> int:
        held = len(loaded.slots[0].cache.tokens)
        begins.append(held)
        return says[held - begins[0]]

    monkeypatch.setattr(Greedy, "draw", draw)

    def shown(*turns: str, max_tokens: int) -> tuple[str, list[Event]]:
        events = run(engine, ask(*turns, max_tokens=max_tokens))
        return text_of(events), events

    cut, events = shown("Hi", max_tokens=5)
    assert (cut, done_of(events).finish_reason) == ("ok ", "length")
    rest, events = shown("Hi", cut, max_tokens=20)
    assert (rest, done_of(events).finish_reason) == ("🙂!", "stop")
    assert done_of(events).usage.prompt_tokens == begins[0] + 3


def test_the_tokens_of_a_text_are_told_and_turned_back(load: Load) -> None:
    engine = load(STARTER)
    for text in ("Hello there", "Grüße aus Ulm 🌷", ""):
        tokens = engine.tokenize(text, CancelToken(), special=False)
        assert engine.detokenize(tokens, CancelToken()) == text


def test_what_spells_a_marker_is_one_only_where_that_is_wanted(load: Load) -> None:
    engine = load(STARTER)
    marker = vocabulary_of(engine).eos_text
    assert len(engine.tokenize(marker, CancelToken(), special=False)) > 1
    assert vocabulary_of(engine).token_of(marker) in engine.tokenize(marker, CancelToken())
    assert engine.detokenize(engine.tokenize(marker, CancelToken()), CancelToken()).endswith(marker)


def test_a_number_that_is_no_token_is_refused(load: Load) -> None:
    engine = load(STARTER)
    for number in (-1, 1 << 30):
        with pytest.raises(Unsupported, match="not a token"):
            engine.detokenize([number], CancelToken())


TURNS = [
    ("user", "What is 2 < 3?  \n"),
    ("assistant", "  True.\n\n"),
    ("user", "\n\tÄpfel <turn|> and <|turn>user are words, as are 🍎 and <pad>."),
    ("assistant", "a" * 900),
    ("user", ""),
    ("assistant", "Hel" + SEAM + "lo "),
]


@pytest.mark.parametrize("kind", ["the starter", "bytes", "pieces"])
def test_a_prompt_has_the_same_tokens_turn_by_turn(load: Load, tmp_path: Path, kind: str) -> None:
    made = {"bytes": byte_tokenizer("qwen2"), "pieces": sentencepiece_tokenizer(256)}.get(kind)
    engine = load(write_random_llama(tmp_path / "m.gguf", tokenizer=made)) if made else load()
    vocabulary = vocabulary_of(engine)
    begin, end = ("<s>", "</s>") if made else ("<|turn>", "<turn|>")
    text = "".join(f"{begin}{role}\n{said}{end}\n" for role, said in TURNS)
    assert vocabulary.turn_marker(text) in {begin, end}
    turns = TurnTokens(vocabulary)
    for _ in range(2):
        assert turns.of(text) == vocabulary.tokenise(text)
        assert turns.of(text + "more") == vocabulary.tokenise(text + "more")
    assert TurnTokens(vocabulary).of("no turn") == vocabulary.tokenise("no turn")


def test_turns_that_come_again_are_not_tokenised_again(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary = vocabulary_of(load())
    turns, asked = TurnTokens(vocabulary), list[str]()
    tokenise = vocabulary.tokenise

    def noted(text: str) -> list[int]:
        asked.append(text)
        return tokenise(text)

    monkeypatch.setattr(vocabulary, "tokenise", noted)
    turns.of("<|turn>user\nOne.<turn|>\n<|turn>model\n")
    asked.clear()
    turns.of("<|turn>user\nOne.<turn|>\n<|turn>model\nTwo.<turn|>\n")
    assert not any("One." in it for it in asked)
    monkeypatch.setattr(prompting, "TURNS", 10)
    turns.of("<|turn>user\nThree.<turn|>\n")
    asked.clear()
    turns.of("<|turn>user\nOne.<turn|>\n")
    assert any("One." in it for it in asked)
