"""Chains: runs of layers of a Net that train as one pass each way, as long as nobody looks at what lies between them.

A script that asks for a blob inside a chain, its data or its diff, gets what the layers one by one would have left there;
from then on they run one by one, so that arrays which the script keeps are written in every pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..device import Blob
from ..layers.core import Layer
from ..layers.core.training import Link, Together


class TrainingChain:
    """Layers of a Net that train together: how far its layers have come in this pass."""

    def __init__(self, first: int, links: Together) -> None:
        self.first, self.links, self.last = first, links, len(links.links) - 1
        self.forwards = -1  # the last link that has gone forward; all of them: `last`
        self.backwards = self.last + 1  # the last that has gone backward
        self.open = False
        for blob in links.hidden:
            blob._watch = blob._watch_diff = self.look

    def forward(self, i: int) -> bool:
        """Layer `i` of the net goes forward; False where it has to do so by itself."""
        step = i - self.first
        if self.open:
            return False
        if step == 0:
            self.links.statistics()
            self.watch_inside(self.look)
        elif step != self.forwards + 1:  # a pass that began inside
            self.look(None)
            return False
        elif step == self.last:
            self.watch_inside(None)
            self.links.apply()
        self.forwards, self.backwards = step, self.last + 1
        return True

    def backward(self, i: int, propagate: Sequence[bool], down: bool) -> bool:
        """Layer `i` of the net goes backward; False where it has to do so by itself.

        down: whether the first bottom of the chain gets a diff.
        """
        step, links = i - self.first, self.links
        if self.open:
            return False
        follows = step in (self.last, self.backwards - 1) and self.forwards == self.last
        if not follows or not (all(propagate) or step == 0):
            self.look(None)
            return False
        if step == self.last:
            links.gradients(down)
        if links.scale is not None and links.links[step].layer is links.scale:
            links.join(links.learning)
        if step == 0:
            if links.scale is None:
                links.join(links.learning)
            if propagate[0]:
                links.backward()
        self.backwards = step
        return True

    def watch_inside(self, look: Callable[[Blob], None] | None) -> None:
        """A last top that earlier layers write too does not hold their values until it holds the last one's."""
        if any(link.top is self.links.top for link in self.links.links[:-1]):
            self.links.top._watch = look

    def look(self, blob: Blob | None) -> None:
        """Somebody looks inside: everything is as without a chain, now and from now on."""
        self.open = True
        for hidden in self.links.hidden:
            hidden._watch = hidden._watch_diff = None
        self.watch_inside(None)
        if self.forwards >= 0 and self.links.ready:
            self.links.settle(self.forwards)
        if self.backwards <= self.last and self.links.ready:
            self.links.settle_diffs(self.backwards)


def find_chains(
    layers: Sequence[Layer],
    names: Sequence[tuple[list[str], list[str]]],
    bottoms: Sequence[Sequence[Blob]],
    tops: Sequence[Sequence[Blob]],
    seen: Sequence[str],
    loss_weights: Sequence[Sequence[float]],
) -> dict[int, TrainingChain]:
    """{number of a layer: the chain that it is in}.

    Parameters
    ----------
    layers, names, bottoms, tops, loss_weights
        Of the net, layer by layer.
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
        for j in range(i, len(layers)):
            (reads, writes), loss = names[j], any(loss_weights[j])
            if len(reads) != 1 or len(writes) != 1 or (links and links[-1].top is not bottoms[j][0]):
                break
            links.append(Link(layers[j], bottoms[j][0], tops[j][0]))
            if loss or writes[0] in seen or j + 1 == len(layers):
                break
            in_place = names[j + 1][0] == names[j + 1][1] == writes
            if not in_place and reads != writes and readers.get(writes[0], 0) != 1:
                break
        found = links[0].layer.training_chain(links) if links else None
        if found is not None:
            chain = TrainingChain(i, found)
            chains.update(dict.fromkeys(range(i, i + len(found.links)), chain))
    return chains
