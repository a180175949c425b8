"""Chains: runs of layers of a Net that train as one pass each way, as long as nobody looks at what lies between them.

A script that asks for a blob inside a chain, its data or its diff, gets what the layers one by one would have left there;
from then on they run one by one, so that arrays which the script keeps are written in every pass. One that asks for the blob
that a chain reads may change it: the rest of that pass, and each pass while the script holds its array, is layer by layer.
So is the rest of a pass of which a part of the layers goes backward. Diffs inside a chain are those of the last backward until
the next forward begins.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..device import Blob
from ..graph.connect import AtWork
from ..layers.core import Layer
from ..layers.core.training import LONGEST, Link, Together


class TrainingChain:
    """Layers of a Net that train together: how far its layers have come in this pass.

    Parameters
    ----------
    first
        The number of its first layer.
    links
        What runs them.
    at_work
        The net's.

    Attributes
    ----------
    inside
        The blobs of which some time it `hides` what its layers one by one would have left there.
    read
        The blobs whose values a backward of its layers, one by one, would read from blobs that are not inside.
    """

    def __init__(self, first: int, links: Together, at_work: AtWork) -> None:
        self.at_work = at_work
        self.first, self.links, self.last = first, links, len(links.links) - 1
        self.forwards = -1  # the last link that has gone forward; all of them: `last`
        self.backwards = self.last + 1  # the last that has gone backward
        self.open = False  # whether its layers run by themselves for ever
        self.apart = False  # and in this pass
        self.settling = False
        self.shapes: dict[int, tuple[Blob, tuple[int, ...]]] = {}  # its blobs in the last forward, by their ids
        self.sizes: tuple[int, ...] = ()  # of the last forward
        # Of these a script may change the values: a ReLU in place asks its top which were below 0.
        end = links.links[-1]
        self.read = [links.bottom, *([end.top] if links.reads_top and end.bottom is end.top else [])]
        self.inside = [*links.hidden, *[link.top for link in links.links[:-1] if link.top is links.top][:1]]

    def forward(self, i: int) -> bool:
        """Layer `i` of the net goes forward; False where it has to do so by itself."""
        step = i - self.first
        if step == 0:
            self.apart = any(blob._data.held for blob in self.read)
        if self.open or self.apart:
            return False
        link = self.links.links[step]
        self.shapes.update((id(blob), (blob, blob.shape)) for blob in (link.bottom, link.top))
        self.sizes = self.links.sizes
        if step == 0:
            self.links.statistics()
        elif step != self.forwards + 1:  # a pass that began inside
            self.look()
            return False
        self.forwards, self.backwards = step, self.last + 1
        if step == self.last:
            self.links.apply()
        return True

    def backward(self, i: int, runs: Sequence[bool], needs: Sequence[Sequence[bool]]) -> bool:
        """Layer `i` of the net goes backward; False where it has to do so by itself.

        runs, needs: of each layer of the net, whether it goes backward, and which of its bottoms get a diff.
        """
        step, links, propagate = i - self.first, self.links, needs[i]
        if self.open or self.apart:
            return False
        follows = step in (self.last, self.backwards - 1) and self.forwards == self.last
        if not follows or not (all(propagate) or step == 0 or links.links[step].layer is links.scale):
            self.look()
            return False
        if step == self.last and links.changed:
            self.backwards = self.last + 1
            self.leave()
            return False
        if step == self.last:
            scale = next((j for j, link in enumerate(links.links) if link.layer is links.scale), None)
            through = scale is None or all(needs[self.first + scale])
            if runs[self.first] and not through:  # of force_backward: the first link's top has no diff
                self.look()
                return False
            links.gradients(runs[self.first] and needs[self.first][0], through)
        if links.scale is not None and links.links[step].layer is links.scale:
            links.join(links.learning)
        if step == 0:
            if links.scale is None:
                links.join(links.learning)
            if propagate[0]:
                links.backward()
        self.backwards = step
        return True

    def hides(self, blob: Blob) -> bool:
        """Whether a blob of `inside` has not what its layers one by one would have left there: the last top, which earlier
        layers write too, in the midst of a forward."""
        return blob is not self.links.top or 0 <= self.forwards < self.last

    def look(self) -> None:
        """Somebody looks inside: everything is as without a chain, now and from now on."""
        if self.settling or self.open or (self.apart and self.at_work):  # its own layers look
            return
        self.open = True
        if not self.apart:
            self.settle()

    def leave(self) -> None:
        """The blob that the chain reads is about to be changed: the rest of this pass is layer by layer."""
        if self.forwards == self.last and not (self.open or self.apart):
            self.apart = True
            self.settle()

    def settle(self) -> None:
        """Gives every blob of the chain what the layers by themselves would have left there, in the shapes of that forward.

        A script may have reshaped them since; where it has reshaped the net, nothing is left of the forward.
        """
        if self.forwards < 0 or not self.links.ready or self.sizes != self.links.sizes:
            return
        now = [(blob, blob.shape) for blob, _ in self.shapes.values()]
        for blob, shape in self.shapes.values():
            blob.shape = shape
        self.settling = True
        try:
            with self.at_work:
                self.links.settle(self.forwards)
                if self.backwards <= self.last:
                    self.links.settle_diffs(self.backwards)
        finally:
            self.settling = False
            for blob, shape in now:
                blob.shape = shape


def find_chains(
    layers: Sequence[Layer],
    names: Sequence[tuple[list[str], list[str]]],
    bottoms: Sequence[Sequence[Blob]],
    tops: Sequence[Sequence[Blob]],
    seen: Collection[str],
    loss_weights: Sequence[Sequence[float]],
    at_work: AtWork,
) -> dict[int, TrainingChain]:
    """{number of a layer: the chain that it is in}.

    Parameters
    ----------
    layers, names, bottoms, tops, loss_weights
        Of the net, layer by layer.
    at_work
        The net's.
    seen
        The net's outputs, which are not left out.
    """
    chains: dict[int, TrainingChain] = {}
    readers: dict[str, int] = {}
    for reads, _ in names:
        for name in reads:
            readers[name] = readers.get(name, 0) + 1
    for i in range(len(layers)):
        if i in chains:
            continue
        links: list[Link] = []
        for j in range(i, min(i + LONGEST, len(layers))):
            (reads, writes), loss = names[j], any(loss_weights[j])
            if len(reads) != 1 or len(writes) != 1 or (links and links[-1].top is not bottoms[j][0]):
                break
            links.append(Link(layers[j], bottoms[j][0], tops[j][0]))
            if loss or writes[0] in seen or j + 1 == len(layers):
                break
            in_place = names[j + 1][0] == names[j + 1][1] == writes
            if not in_place and reads != writes and readers.get(writes[0], 0) != 1:
                break
        together = links[0].layer.training_chain(links) if links else None
        if (
            together is not None and together.reads_top
        ):  # what its blob holds in the backward is to be what its forward wrote
            end = i + len(together.links)
            if names[end - 1][0] == names[end - 1][1] and any(names[end - 1][1] == tops for _, tops in names[end:]):
                together = links[0].layer.training_chain(links[: len(together.links) - 1])
        if together is not None:
            chain = TrainingChain(i, together, at_work)
            chains.update(dict.fromkeys(range(i, i + len(together.links)), chain))
    return chains
