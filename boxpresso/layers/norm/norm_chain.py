"""NormChain: BatchNorm, Scale and ReLU trained as one, where nobody looks at what lies between them.

Each layer by itself reads and writes whole blobs: 8 passes forward and 12 backward. Together they need 3 and 5. Statistics,
parameters and their gradients are those of the layers, whose objects keep them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from ...device import AnyArray, Array, Kernels
from ..core.training import Link
from .scale import Scale


class NormChain:
    """BatchNorm, then Scale, ReLU or both, each the only reader of the one before.

    Parameters
    ----------
    links
        The layers, in order.

    Attributes
    ----------
    hidden
        The blobs that a forward leaves out: all tops but the last. `settle` computes them.
    """

    kernels = Kernels("norm_chain.cu")

    def __init__(self, links: Sequence[Link]) -> None:
        self.links = list(links)
        self.norm: Any = links[0].layer
        self.scale: Any = next((link.layer for link in links if isinstance(link.layer, Scale)), None)
        self.rectifier: Any = links[-1].layer if links[-1].layer.type == "ReLU" else None
        self.bottom, self.top = links[0].bottom, links[-1].top
        self.in_place = self.bottom is self.top
        tops = [link.top for link in links[:-1]]
        self.hidden = list({id(top): top for top in tops if top is not self.top}.values())
        self.device = self.norm.device
        # Whether a channel's statistics and values are made together: on the CPU, where its planes are in the cache then.
        self.by_channel = self.device.kind == "cpu" and not links[0].layer.running
        self.taken = self.done = False  # the statistics of this forward, the diff of this backward
        self.used: list[AnyArray | None] = [None, None]  # the scale and the bias of the last forward,
        self.counts: list[int] = []  # and how often they had been written to by then
        rectified = self.rectifier is not None and links[-1].bottom is links[-1].top
        scaled = self.scale is not None and links[1].bottom is links[1].top and (rectified or self.rectifier is None)
        self.in_places = int(rectified), 2 if scaled else int(rectified)  # without, and with a diff of Scale's bottom:
        self.keep, self.through = self.in_places[1], True  # what becomes of the last top's diff: see chain_sums

    @staticmethod
    def of(links: Sequence[Link]) -> NormChain | None:
        """The chain that `links` begin with, or None. links: a BatchNorm, and layers that read one another alone."""
        norm, taken = links[0].layer, [links[0]]
        for link in links[1:]:
            layer = link.layer
            if type(layer) is Scale and len(taken) == 1 and not norm.five:
                if not layer.learned or layer.blobs[0].shape != norm.blobs[0].shape or not layer.by_channel:
                    break
            elif layer.type == "ReLU" and layer.limits[0] >= 0:
                taken.append(link)
                break
            else:
                break
            taken.append(link)
        # In place from end to end or not at the beginning: else a blob that others may read is left half done.
        first, last = taken[0], taken[-1]
        inside = all(link.bottom is link.top for link in taken)
        if len(taken) == 1 or (first.bottom is first.top and not inside) or (last.top is first.bottom and not inside):
            return None
        return NormChain(taken)

    # What a pass does

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.norm.planes, self.norm.size

    @property
    def reads_top(self) -> bool:
        """Whether a backward reads the values of the last top, as ReLU's does."""
        return self.rectifier is not None

    @property
    def ready(self) -> bool:
        """Whether there is anything to normalise."""
        return bool(self.norm.planes)

    def statistics(self) -> None:
        """BatchNorm's part of a forward: its statistics. On the CPU `apply` takes them, unless `settle` comes first."""
        self.taken = False
        if self.ready and not self.by_channel:
            self.take_statistics()

    def take_statistics(self) -> None:
        if not self.taken:
            self.norm.statistics(self.bottom.data)
            self.taken = True

    def apply(self) -> None:
        """The rest of a forward: the last top, from the first bottom."""
        if not self.ready:
            return
        norm, (mean, inverse, *_) = self.norm, self.norm.stats
        self.note_factors()
        normal = None
        if self.in_place:
            norm.normal.reshape(*self.bottom.shape)
            normal = norm.normal.data
        x, y, factors = self.bottom.data, self.top.data, self.factors
        if self.by_channel and not self.taken:
            kernels = self.kernels
            batch = kernels.struct(
                "Batch", images=norm.images, size=norm.size, eps=norm.eps, fraction=0
            )  # of which the running averages have no part
            kernels.chain_train(len(mean), x, norm.partial, mean, inverse, *factors, normal, y, self.planes(), batch)
            norm.count()
            self.taken = True
        else:
            self.kernels.chain_forward(norm.planes, x, mean, inverse, *factors, normal, y, self.planes())

    def gradients(self, down: bool, through: bool) -> None:
        """The backward of the last layers: the sums that parameters and statistics need, and what their blob's diff becomes.

        down: whether `backward` will come; on the CPU most of its work is done here. through: whether Scale's bottom gets one.
        """
        norm, self.through, self.keep = self.norm, through, self.in_places[through]
        if not self.ready or not (self.summed or self.keep):
            return
        top_diff, factors, planes = self.top.diff, self.factors, self.planes(True)
        self.done = down and self.by_channel and not self.in_place
        if self.done:
            self.kernels.chain_back(
                len(norm.stats[0]), top_diff, *self.source(), *factors, norm.partial, self.bottom.diff, planes, self.keep,
                norm.images,
            )  # fmt: skip
        else:
            self.kernels.chain_sums(norm.planes, top_diff, *self.source(), *factors, norm.partial, planes, self.keep)

    def join(self, wanted: Sequence[AnyArray | None]) -> None:
        """The sums of all planes, added to the diffs of scale and bias where they are wanted."""
        norm = self.norm
        if self.ready and self.summed:
            norm.kernels.join_diff_sums(
                len(norm.stats[0]), norm.partial, norm.images, norm.size, *norm.stats[2:], *wanted
            )

    def backward(self) -> None:
        """The diff of the first bottom, after `gradients` and `join`."""
        if not self.ready or self.done:
            return
        means = (None, None) if self.norm.running else self.norm.stats[2:]
        self.kernels.chain_diff(
            self.norm.planes, self.top.diff, *self.source(), *self.factors, *means, self.bottom.diff, self.planes(True),
            self.keep,
        )  # fmt: skip

    # What it is made of

    @property
    def learning(self) -> list[AnyArray | None]:
        """The diffs of scale and bias, None for one that does not learn."""
        layer, first = (self.norm, 3) if self.norm.five else (self.scale, 0)
        if layer is None:
            return [None, None]
        pairs = list(zip(layer.blobs, layer.param_propagate_down))[first:]
        return [*(blob.diff if learns else None for blob, learns in pairs), None][:2]

    @property
    def summed(self) -> bool:
        return not self.norm.running or any(diff is not None for diff in self.learning)

    @property
    def factors(self) -> tuple[AnyArray | None, AnyArray | None]:
        """The scale and the bias, or None."""
        if self.norm.five:
            return self.norm.blobs[3].data, self.norm.blobs[4].data
        if self.scale is None:
            return None, None
        return self.scale.blobs[0].data, self.scale.bias.data if self.scale.bias else None

    def note_factors(self) -> None:
        """Copies the scale and the bias, which others may change before somebody looks at what this forward has left out."""
        for i, factor in enumerate(self.factors):
            if factor is not None:
                copy = self.used[i]
                if copy is None:
                    self.used[i] = copy = self.device.empty(factor.shape, factor.dtype)
                copy[...] = factor
        self.counts = self.counted()

    @property
    def changed(self) -> bool:
        """Whether the scale or the bias are others than in the last forward: by value, on a GPU by the count of writes."""
        if self.device.kind != "cpu":
            return self.counts != self.counted()
        pairs = zip(self.used, self.factors)
        return any(used is not None and not np.array_equal(used, np.asarray(factor)) for used, factor in pairs)

    def counted(self) -> list[int]:
        """How often the scale and the bias were written to on a GPU."""
        return [factor.buffer.changes for factor in self.factors if isinstance(factor, Array)]

    def source(self) -> tuple[AnyArray, AnyArray, AnyArray]:
        """What a backward reads: the bottom, normalised where it is no longer there, and the statistics."""
        mean, inverse = self.norm.stats[:2]
        return (self.norm.normal if self.in_place else self.bottom).data, mean, inverse

    def planes(self, backward: bool = False, active: bool = True) -> Any:
        """The kernels' struct."""
        slope, ceiling = self.rectifier.limits if self.rectifier is not None else (1, inf)
        return self.kernels.struct(
            "Planes", channels=len(self.norm.stats[0]), size=self.norm.size, normalised=backward and self.in_place,
            active=active and self.rectifier is not None, slope=slope, ceiling=ceiling,
        )  # fmt: skip

    # What it has left out

    def settle(self, last: int) -> None:
        """Gives every blob what the layers up to number `last` of the chain would have left, had each run by itself."""
        if last + 1 < len(self.links):
            self.take_statistics()
            for i, link in enumerate(self.links[: last + 1]):
                if i == 0:
                    self.norm.normalise(link.bottom, link.top)
                else:
                    link.layer.forward([link.bottom], [link.top])
            return
        mean, inverse = self.norm.stats[:2]
        x, planes = self.bottom.data, self.norm.planes
        if self.scale is not None:
            at = next(link for link in self.links if link.layer is self.scale)
            into = self.scale.copy if at.bottom is at.top else at.bottom
            into.reshape(*self.bottom.shape)
            if self.in_place:
                into.data[...] = self.norm.normal.data
            else:
                self.kernels.chain_normalise(planes, x, mean, inverse, into.data, self.planes())
        end = self.links[-1]
        if self.rectifier is not None and end.bottom is not end.top:
            self.kernels.chain_forward(
                planes, x, mean, inverse, *self.used, None, end.bottom.data, self.planes(active=False)
            )

    def settle_diffs(self, first: int) -> None:
        """The same for the diffs of the layers from number `first` on, after `settle`; parameters have theirs."""
        for i in range(len(self.links) - 1, max(first, 1) - 1, -1):
            link = self.links[i]
            if link.bottom is link.top and self.keep >= (2 if isinstance(link.layer, Scale) else 1):
                continue  # `gradients` has done it
            if isinstance(link.layer, Scale) and self.through:
                link.layer.affine.apply(link.top.diff, self.used[0], None, link.bottom.diff)
            elif not isinstance(link.layer, Scale):
                link.layer.backward([link.top], [True], [link.bottom])
