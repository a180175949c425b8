"""The chains of a program on a GPU, and the layout of each: measured for its shapes or forced, and kept (choice.py)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from functools import partial
from math import inf
from typing import Any

from ...device.cuda import Cuda
from ...device.events import median_ms
from ...graph.graph import Plan, Source
from ...layers.core.gpu_lowering import Refused
from ...proto.errors import DeviceError
from .choice import NCHW, NHWC, NOT_YET, ROUNDS, VARIABLE, Choice, choose, forced, keep, key_of, known, measuring
from .layout import Chain, find_chains, lay_out, signature


def refusal(chain: Chain, error: Refused) -> Choice:
    """The choice for a chain with a convolution that cuDNN refuses."""
    return Choice(NCHW, str(error), refused=chain.steps.index(error.layer) if error.layer in chain.steps else None)


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
        self.plan, self.source, self.inner = plan, source, inner
        self.device, self.apply, self.launch = device, apply, launch
        self.refused: set[int] = set()  # convolutions that are in no chain
        self.keys: dict[Chain, Hashable] = {}
        self.choices: dict[Chain, Choice] = dict.fromkeys(find_chains(plan, source, inner), NOT_YET)
        self.sign()

    def sign(self) -> None:
        """What the choices of chains are kept by."""
        whole = lay_out(self.plan, self.source, self.inner, self.choices)
        for chain in self.choices:
            if chain not in self.keys:
                self.keys[chain] = key_of(self.device, signature(whole, self.source, chain))

    def split(self, chain: Chain, choice: Choice) -> bool:
        """Takes the convolution that cuDNN refuses out of a chain: whether chains are left on its sides, which replace it."""
        assert choice.refused is not None
        without = {*self.refused, chain.steps[choice.refused]}
        whole = find_chains(self.plan, self.source, self.inner, without)
        parts = [part for part in whole if set(part.steps) < set(chain.steps)]
        if not parts:
            return False
        self.refused = without
        split = {chain: parts}
        self.choices = {
            each: NOT_YET if each in parts else self.choices[each]
            for old in self.choices
            for each in split.get(old, [old])
        }
        self.sign()
        return True

    @property
    def last(self) -> list[Chain]:
        """Those that are channels last."""
        return [chain for chain, choice in self.choices.items() if choice.layout == NHWC]

    def decide(self, now: bool) -> None:
        """Gives each chain that has none yet its layout; now: by measuring, where nothing else says it."""
        fresh = self.fresh
        if not fresh:
            return
        settled = [chain for chain in self.choices if chain not in fresh]
        asked = forced()
        if asked == NHWC:
            while self.fresh:
                self.force(self.fresh)
        elif asked:
            self.choices.update(dict.fromkeys(fresh, Choice(asked, f"asked for by {VARIABLE}")))
        elif self.device.debug:
            self.choices.update(dict.fromkeys(fresh, Choice(NCHW, "not measured with BOXPRESSO_DEBUG=1")))
        else:
            self.look_up()
            if now and self.fresh:
                with measuring:
                    self.look_up()  # another Net may have measured meanwhile
                    while self.fresh:
                        self.measure(self.fresh)
                        self.look_up()
        fresh = [chain for chain in self.choices if chain not in settled]
        try:
            self.apply(self.last)
        except DeviceError as error:  # memory is short here, and was not where it was measured
            if asked:
                raise
            without = Choice(NCHW, f"not laid out: {error}")
            self.choices.update({chain: without for chain in fresh if self.choices[chain].layout == NHWC})
            self.apply(self.last)

    @property
    def fresh(self) -> list[Chain]:
        """Those that have no layout yet."""
        return [chain for chain, choice in self.choices.items() if choice is NOT_YET]

    def look_up(self) -> None:
        """Takes what was chosen before in this process for chains that have no layout yet, and for the parts of those that a
        convolution which cuDNN refuses has split."""
        waiting = self.fresh
        while waiting:
            chain = waiting.pop()
            choice = known(self.keys[chain])
            if choice is None:
                continue
            if choice.refused is not None and self.split(chain, choice):
                waiting = self.fresh
            else:
                self.choices[chain] = choice

    def force(self, chains: Sequence[Chain]) -> None:
        """Launches chains that are to be channels last; where cuDNN refuses a convolution, those on its sides come next."""
        self.choices.update(dict.fromkeys(chains, Choice(NHWC, f"asked for by {VARIABLE}")))
        self.apply(self.last)
        for chain in chains:
            try:
                self.launch(chain)
            except Refused as error:
                self.choices[chain] = refusal(chain, error)
        for chain in chains:
            if self.choices[chain].refused is not None:
                self.split(chain, self.choices[chain])

    def measure(self, chains: Sequence[Chain]) -> None:
        """Times chains in both layouts, on whatever their arrays hold, and chooses."""
        before, ms = self.last, {chain: [inf, inf] for chain in chains}
        refused: dict[Chain, Choice] = {}
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
                            refused[chain] = refusal(chain, error)
        except DeviceError as error:  # as where memory is short
            refused = dict.fromkeys(chains, Choice(NCHW, f"not measured: {error}"))
        for chain, (plain, last) in ms.items():
            choice = keep(self.keys[chain], refused.get(chain) or choose((plain, last)))
            if choice.refused is None:
                self.choices[chain] = choice  # else `look_up` looks for parts of it

    def lines(self) -> list[str]:
        """Such as "conv1 ... fc7, 20 steps: NHWC, measured: 0.4120 ms, NCHW 0.6550 ms"."""
        pairs = zip(self.describe(), self.choices.values())
        return [f"{chain['layers']}, {chain['steps']} steps: {choice.describe()}" for chain, choice in pairs]

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
