"""The chains of a program on a GPU, and the layout of each: measured for its shapes or forced, and kept (gpu_choice.py)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from math import inf
from typing import Any

from ..device.cuda import Cuda
from ..device.events import median_ms
from ..layers.core.gpu_lowering import Refused
from ..proto.errors import DeviceError
from .gpu_choice import NCHW, NHWC, NOT_YET, ROUNDS, VARIABLE, Choice, choose, forced, keep, key_of, known, measuring
from .gpu_layout import Chain, find_chains, lay_out, signature
from .plan import Plan, Source


class Chains:
    """The chains of a plan whose blobs have their shapes.

    Parameters
    ----------
    plan, source, inner
        As find_chains takes them.
    device
        The GPU.
    apply
        Called with the chains that are to be channels last from then on.
    launch
        Called with a chain; launches its steps as they lie then. Raises Refused.

    Attributes
    ----------
    choices
        {chain: Choice}.
    """

    def __init__(
        self, plan: Plan, source: Source, inner: Collection[str], device: Cuda,
        apply: Callable[[Collection[Chain]], None], launch: Callable[[Chain], None],
    ) -> None:  # fmt: skip
        self.source, self.device, self.apply, self.launch = source, device, apply, launch
        chains = find_chains(plan, source, inner)
        whole = lay_out(plan, source, inner, chains)
        self.keys = {chain: key_of(device, signature(whole, source, chain)) for chain in chains}
        self.choices: dict[Chain, Choice] = dict.fromkeys(chains, NOT_YET)

    @property
    def last(self) -> list[Chain]:
        """Those that are channels last."""
        return [chain for chain, choice in self.choices.items() if choice.layout == NHWC]

    def decide(self, now: bool) -> None:
        """Gives each chain that has none yet its layout; now: by measuring, where nothing else says it."""
        fresh = [chain for chain, choice in self.choices.items() if choice is NOT_YET]
        if not fresh:
            return
        asked = forced()
        if asked:
            self.choices.update(dict.fromkeys(fresh, Choice(asked, f"asked for by {VARIABLE}")))
            if asked == NHWC:
                self.apply(self.last)
                for chain in fresh:
                    self.attempt(chain)
        elif self.device.debug:
            self.choices.update(dict.fromkeys(fresh, Choice(NCHW, "not measured with BOXPRESSO_DEBUG=1")))
        else:
            self.look_up(fresh)
            if now and NOT_YET in self.choices.values():
                with measuring:
                    self.look_up(fresh)  # another Net may have measured meanwhile
                    self.measure([chain for chain in fresh if self.choices[chain] is NOT_YET])
        try:
            self.apply(self.last)
        except DeviceError as error:  # memory is short here, and was not where it was measured
            if asked:
                raise
            without = Choice(NCHW, f"not laid out: {error}")
            self.choices.update({chain: without for chain in fresh if self.choices[chain].layout == NHWC})
            self.apply(self.last)

    def look_up(self, chains: Sequence[Chain]) -> None:
        """Takes what was chosen before in this process."""
        self.choices.update({chain: known(self.keys[chain]) or self.choices[chain] for chain in chains})

    def attempt(self, chain: Chain) -> None:
        """Launches a chain that is to be channels last; where cuDNN refuses, it stays as it is."""
        try:
            self.launch(chain)
        except Refused as error:
            self.choices[chain] = Choice(NCHW, str(error))

    def measure(self, chains: Sequence[Chain]) -> None:
        """Times chains in both layouts, on whatever their arrays hold, and chooses."""
        before, ms = self.last, {chain: [inf, inf] for chain in chains}
        refused: dict[Chain, str] = {}
        try:
            for _ in range(ROUNDS):
                for layout in (0, 1):
                    self.apply([*before, *chains] if layout else before)
                    for chain in (chain for chain in chains if chain not in refused):
                        try:
                            ms[chain][layout] = min(
                                ms[chain][layout], median_ms(self.device, partial(self.launch, chain))
                            )
                        except Refused as error:
                            refused[chain] = str(error)
        except DeviceError as error:  # as where memory is short
            refused = dict.fromkeys(chains, f"not measured: {error}")
        for chain, (plain, last) in ms.items():
            choice = Choice(NCHW, refused[chain]) if chain in refused else choose((plain, last))
            self.choices[chain] = keep(self.keys[chain], choice)

    def lines(self) -> list[str]:
        """Such as "conv1 ... fc7, 20 steps: NHWC, measured: 0.4120 ms, NCHW 0.6550 ms"."""
        told = zip(self.describe(), self.choices.values())
        return [f"{chain['layers']}, {chain['steps']} steps: {choice.describe()}" for chain, choice in told]

    def describe(self) -> list[dict[str, Any]]:
        """For each chain the layers at its ends, how many steps it has, its layout, why, and the times that this rests on."""
        return [
            {
                "layers": f"{self.source.layers[chain.steps[0]].name} ... {self.source.layers[chain.steps[-1]].name}",
                "steps": len(chain.steps),
                "layout": choice.layout,
                "why": choice.why,
                "ms": None if choice.ms is None else dict(zip((NCHW, NHWC), choice.ms)),
            }
            for chain, choice in self.choices.items()
        ]
