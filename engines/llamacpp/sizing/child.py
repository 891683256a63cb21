"""The process that sizes a plan: llama.cpp does a whole load without allocating anything.

It opens the same objects as the engine, with the engine's own code, so that both use the same
flags. Its result are the buffers (see `protocol`).
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial

from engines.cancel import CancelToken
from engines.helper.child import WriteLine, report
from engines.helper.clock import limit_work
from engines.llamacpp.context import Context
from engines.llamacpp.load_params import loading_with
from engines.llamacpp.model import open_model
from engines.llamacpp.native import Native, load_native
from engines.llamacpp.probing.protocol import read_plan
from engines.llamacpp.sizing.account import Account, device_of, on, read_account
from engines.llamacpp.sizing.protocol import LIMIT_S
from engines.llamacpp.sizing.repacking import copies_of
from engines.llamacpp.speculative.drafting import open_draftings
from engines.memory.buffers import CPU, Buffers, DeviceBuffers
from engines.memory.formula.caches import cache_share
from engines.memory.formula.weights import Copies, nothing_copied, weights
from engines.models.gguf.header import GgufHeader, read_header
from engines.types import LlamaPlan


def size(plan: LlamaPlan) -> Buffers:
    """Return the sizes of a plan's buffers. Raises EngineError, or does not return."""
    native = load_native()
    header = read_header(plan.model)
    drafter = read_header(plan.drafter) if plan.drafter is not None else None
    with native.log.listen() as lines:
        open_without_memory(native, header, plan)
    copies = copies_of(native) if plan.repack else nothing_copied
    return buffers(read_account(lines), header, drafter, plan, copies)


def open_without_memory(native: Native, header: GgufHeader, plan: LlamaPlan) -> None:
    """Load the plan's model and open its contexts as the engine does, then close them again."""
    heads = header.mtp == "embedded" and plan.draft_max > 0
    # Without allocation, nothing can be mapped.
    bare = replace(plan, mmap=False)
    # If a model allocates no memory, its contexts allocate none either.
    with ExitStack() as opened, loading_with(native, no_alloc=True):
        model = open_model(native, bare, _no_progress, CancelToken(), mtp=heads)
        opened.callback(model.close)
        context = Context(native, model, bare)
        opened.callback(context.close)
        draftings = open_draftings(
            native, header, model, context, bare, _no_progress, CancelToken()
        )
        for drafting in reversed(draftings):
            drafting.close()


def buffers(
    account: Account,
    header: GgufHeader,
    drafter: GgufHeader | None,
    plan: LlamaPlan,
    copies: Copies,
) -> Buffers:
    """Combine the account with information that only the headers have.

    That is the device of each tensor, which follows from the devices that the layers are assigned
    to, and how the cache, of which only the total is known, divides among the devices.
    """

    def device(layer: int) -> str:
        return account.assigned.get(layer, CPU)

    heads = header.mtp == "embedded" and plan.draft_max > 0
    stay = plan.experts_in_ram if plan.gpu_layers else 0
    found = weights(header, device, mmap=plan.mmap, heads=heads, copies=copies, experts_in_ram=stay)
    last = device(header.block_count)
    drafts = {}
    if drafter is not None and plan.draft_max > 0:
        drafts = weights(
            drafter,
            lambda layer: last if layer >= 0 else CPU,
            mmap=plan.mmap,
            heads=drafter.kind != "chat",
            copies=copies,
        )
    share = partial(cache_share, header, plan.context, plan.kv_type, plan.batch, device)
    names = {CPU, *found, *drafts, *map(device, account.assigned)}
    for part in (account.model, account.drafter):
        names |= {device_of(name) for name in (*part.state, *part.compute)}

    def on_device(name: str) -> DeviceBuffers:
        own, drafter_weights = found.get(name), drafts.get(name)
        model, draft = account.model, account.drafter
        # A head's cache is one layer, on the device of the output.
        caches = draft.caches if name == last else 0
        return DeviceBuffers(
            name,
            weights=own.size if own else 0,
            kv=round(model.caches * share(name)) + on(name, model.state),
            compute=on(name, model.compute),
            drafter=(drafter_weights.size if drafter_weights else 0)
            + caches
            + on(name, draft.state, draft.compute),
            mapped=(own.mapped if own else 0) + (drafter_weights.mapped if drafter_weights else 0),
        )

    return Buffers(tuple(on_device(name) for name in sorted(names)))


def _no_progress(_part: float) -> None:
    pass


def main(arguments: list[str]) -> None:
    """Size a plan.

    Args:
        arguments: The plan, as `write_plan` writes it.
    """

    def work(_write: WriteLine) -> object:
        limit_work(LIMIT_S)
        return asdict(size(read_plan(arguments[0])))

    report(work)


if __name__ == "__main__":
    main(sys.argv[1:])
