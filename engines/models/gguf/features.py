"""The metadata of drafters that read the inputs of some layers of their model: Eagle-3 and DFlash.

Source: src/models/eagle3.cpp and dflash.cpp of the llama.cpp that Hearth pins, what its
conversion/llama.py and qwen.py write, and common/speculative.cpp for what it reads of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engines.models.gguf.layers import Layers
from engines.models.gguf.reader import Tensor
from engines.sentences import N_

if TYPE_CHECKING:
    from engines.models.gguf.hyperparameters import Hyperparameters

EAGLE3: Final = "eagle3"
DFLASH: Final = "dflash"

# The package `gguf` 0.19.0 has no names for these keys.
_LAYERS: Final = "{arch}.target_layers"
_WIDTH: Final = "{arch}.target_hidden_size"
_BLOCK: Final = "{arch}.block_size"
_FROM_ANCHOR: Final = "{arch}.sample_from_anchor"
_CHOICES: Final = "{arch}.selector_top_k"
_USUAL_BLOCK: Final = 16
_EAGLE_LAYERS: Final = 3

# The architectures whose graphs provide the input of each layer; any other would crash llama.cpp.
_PROVIDING: Final = {
    "bailingmoe3", "deepseek4", "gemma4", "gpt-oss", "hunyuan-dense", "hunyuan_vl", "lfm2",
    "lfm2moe", "llama", "mimo2", "minimax-01", "minimax-m2", "muse-glimmer", "nanbeige",
    "nemotron_h", "nemotron_h_moe", "qwen3", "qwen35", "qwen35moe", "qwen3moe", "qwen3next",
}  # fmt: skip
# The architectures that also provide the output of the last layer.
_PROVIDING_LAST: Final = {"deepseek4", "mimo2", "nemotron_h", "nemotron_h_moe"}


@dataclass(frozen=True)
class Block:
    """A drafter's way to predict several tokens in one call, with a mask for unknown tokens.

    Attributes:
        size: Tokens in one call, as in its training.
        mask: The token that stands for each unknown token.
        causal: Whether each token attends only to those before it.
        first: Row of the first prediction: 0 if the known token's row predicts one, else 1.
        choices: Number of tokens that it compares at each position, given the token chosen before
            (DFlash 2); 0 if it takes the likeliest.
    """

    size: int
    mask: int
    causal: bool = False
    first: int = 1
    choices: int = 0

    @property
    def most(self) -> int:
        """The most tokens that it predicts in one call."""
        return self.size - self.first


@dataclass(frozen=True)
class DrafterInputs:
    """The inputs that a drafter reads for each token: those of some layers of its model.

    Attributes:
        layers: Numbers of these layers, in the order in which the drafter reads them.
        width: Values from each layer.
        block: None for a drafter that predicts one token after another.
        own_table: Whether it has a token table, or must borrow the model's.
        own_output: Whether it has an output layer, or must borrow the model's.
    """

    layers: tuple[int, ...]
    width: int
    block: Block | None
    own_table: bool
    own_output: bool


def provides_input(architecture: str, layer: int = 0, layers: int = 1) -> bool:
    """Return whether models of this architecture provide the input of this layer.

    Args:
        layer: Index of the layer; the number after the last layer stands for its output.
        layers: Number of layers of the model.
    """
    is_known = architecture in _PROVIDING
    return is_known and (layer < layers or (layer == layers and architecture in _PROVIDING_LAST))


def read_drafter_inputs(
    hparams: Hyperparameters, mask: int, tensors: Mapping[str, Tensor]
) -> DrafterInputs | None:
    """Read what a drafter takes from its model; None if it is not a drafter of this kind.

    Args:
        mask: The mask token that the file's tokenizer names; -1 for none.
        tensors: The file's tensors by name.

    Raises:
        BadGguf: A value is malformed.
    """
    from gguf import Keys as Names

    if hparams.architecture not in (EAGLE3, DFLASH):
        return None
    width = hparams.number(Names.LLM.EMBEDDING_LENGTH)
    block = None
    if hparams.architecture == EAGLE3:
        width = hparams.number(_WIDTH)
    else:
        has_markov = "markov_w1.weight" in tensors
        block = Block(
            hparams.number(_BLOCK, 0 if has_markov else _USUAL_BLOCK),
            mask,
            hparams.flag(Names.Attention.CAUSAL, default=False),
            0 if has_markov and hparams.flag(_FROM_ANCHOR, default=True) else 1,
            hparams.number(_CHOICES) if "selector_hidden.weight" in tensors else 0,
        )
    return DrafterInputs(
        hparams.numbers(_LAYERS),
        width,
        block,
        own_table="token_embd.weight" in tensors,
        own_output="output.weight" in tensors,
    )


def why_unusable(inputs: DrafterInputs, layers: Layers, tensors: Mapping[str, Tensor]) -> str:
    """Return a sentence on why such a drafter cannot be run; "" if it can."""
    return next(_problems(inputs, layers, tensors), "")


def _problems(
    inputs: DrafterInputs, layers: Layers, tensors: Mapping[str, Tensor]
) -> Iterator[str]:
    if not inputs.layers or not inputs.width:
        yield N_("It does not say which layers of its model it reads.")
    if layers.key_length != layers.value_length:
        yield N_("Its keys and values differ in length.")
    if (token_list := tensors.get("d2t")) is not None:
        if not inputs.own_output:
            yield N_("It guesses only some of the tokens, and has no output layer for them.")
        if token_list.type != "I64":
            yield N_("Its list of the tokens that it guesses does not consist of whole numbers.")
    if inputs.block is not None:
        yield from _block_problems(inputs.block, tensors)
    elif len(inputs.layers) != _EAGLE_LAYERS or layers.count != 1:
        yield N_(
            "It is not one layer that reads {eagle_layers} layers of its model.",
            eagle_layers=_EAGLE_LAYERS,
        )


def _block_problems(block: Block, tensors: Mapping[str, Tensor]) -> Iterator[str]:
    if any(".hc_" in name for name in tensors):
        yield N_("It consists of DeepSeek 4 layers, with which Hearth has not been tested.")
    if block.mask < 0:
        yield N_("It does not say which token stands for unknown tokens.")
    if block.most < 1:
        yield N_("It does not say how many tokens it guesses at once.")
