"""A plan made to run for given shapes: what programs for the CPU and for a GPU have in common."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..device import Device
from ..graph.graph import Plan
from ..layers.core.lowering import Constant
from .arena import Arena
from .layers import Layers


class Program:
    """A plan for the shapes that the net's blobs have now.

    Parameters
    ----------
    plan, source
        The plan, whose steps are prepared, and the net that it is of.
    device, dtype
        Where it runs, and what the net computes in.
    arena
        The memory that the net's programs share.
    layers
        The numbers of the layers that the plan is of.
    """

    def __init__(
        self, plan: Plan, source: Layers, device: Device, dtype: Any, arena: Arena, layers: Sequence[int]
    ) -> None:
        self.plan, self.source, self.layers = plan, source, layers
        self.device, self.dtype, self.arena = device, dtype, arena
        names = dict.fromkeys(name for i in layers for name in source.names[i][1])
        self.shapes = [(source.blobs[name], source.blobs[name].shape) for name in names]
        bottoms = {name for names, _ in source.names for name in names}
        self.read = {i for i in layers if bottoms.intersection(source.names[i][1])}  # layers whose tops others read
        self.first = [step.layer for step in plan.steps if isinstance(step.lowering, Constant)]

    def ready(self) -> bool:
        """Whether all is still where the program finds it, and layers remember the right shapes."""
        return False

    def shaped(self, dynamic: Collection[int]) -> bool:
        """Whether it can run as it stands; dynamic: layers that may have given their tops other shapes since."""
        return self.ready()

    def record(self) -> None:
        """Makes what runs."""

    def run(self, dynamic: Collection[int]) -> int | None:
        """Runs all steps; dynamic: layers that may give their tops other shapes.

        Returns
        -------
        int or None
            The number of another layer that has done so: then what follows it was not run.

        Raises
        ------
        OddNumbers
            On the CPU, where a number was not finite in a sum that is only then not the layer's own.
        """
        raise NotImplementedError

    def begin(self) -> None:
        """Gives the blobs the shapes of this program, and runs what depends on shapes alone."""
        for blob, shape in self.shapes:
            blob.shape = shape
        for i in self.layers:  # these shapes are not those of the layers' last reshape
            self.source.seen[i] = ()
        if not self.ready():
            for i in self.layers:  # what they launch may depend on what they remember of the last shape
                self.source.reshape(i)
            self.record()
        for i in self.first:
            self.source.forward(i)
