"""Training in bfloat16 on a processor: fast arithmetic, exact sums of small steps."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn
from torch.nn import functional
from transformers.models.gemma4 import modeling_gemma4

CLIP = 1.0
BETAS = (0.9, 0.98)
WEIGHT_DECAY = 0.05


class MasterWeights:
    """AdamW on 32-bit copies of a bfloat16 model's weights.

    The model itself is trained as it will be exported, rounded to bfloat16; steps too small to
    show there still add up in the copies. Matrices decay, norms do not.
    """

    def __init__(self, model: nn.Module) -> None:
        self._weights = [p for p in model.parameters() if p.requires_grad]
        self._copies = [p.detach().float() for p in self._weights]
        model.to(torch.bfloat16)
        matrices = [copy for copy in self._copies if copy.ndim > 1]
        vectors = [copy for copy in self._copies if copy.ndim == 1]
        self._optimizer = torch.optim.AdamW(
            [
                {"params": matrices, "weight_decay": WEIGHT_DECAY},
                {"params": vectors, "weight_decay": 0.0},
            ],
            betas=BETAS,
            fused=True,
        )

    def step(self, rate: float) -> None:
        """Apply the gradients that lie on the model, with learning rate `rate`; clear them."""
        for weight, copy in zip(self._weights, self._copies, strict=True):
            copy.grad = torch.zeros_like(copy) if weight.grad is None else weight.grad.float()
            weight.grad = None
        nn.utils.clip_grad_norm_(self._copies, CLIP)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.step()
        with torch.no_grad():
            for weight, copy in zip(self._weights, self._copies, strict=True):
                weight.copy_(copy)


@contextmanager
def fused_norms() -> Iterator[None]:
    """Compute Gemma's norms with torch's fused kernel instead of step by step."""
    plain = modeling_gemma4.Gemma4RMSNorm.forward

    def fused(self: modeling_gemma4.Gemma4RMSNorm, states: torch.Tensor) -> torch.Tensor:
        weight = self.weight if self.with_scale else None
        return functional.rms_norm(states, (states.shape[-1],), weight, self.eps)

    modeling_gemma4.Gemma4RMSNorm.forward = fused
    try:
        yield
    finally:
        modeling_gemma4.Gemma4RMSNorm.forward = plain
