"""The sums of gradients over ranks, which travel while backward still runs."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import numpy as np

from ..device import Blob
from .ranks import Ranks
from .sums import sums

if TYPE_CHECKING:
    from ..net.net import Net

SMALL = 1 << 16  # elements: smaller diffs travel together, up to about this many
TICK = 5e-3  # seconds between the calls of the thread that keeps MPI's messages moving


class Message:
    """Diffs that are summed over the ranks together: a large one, or several small ones of one dtype."""

    def __init__(self, blobs: list[Blob], layer: int) -> None:
        self.blobs, self.layer = blobs, layer  # complete when backward has finished that layer
        self.count = sum(blob.count for blob in blobs)


class Reduction:
    """Sums the diffs of a net's parameters over the ranks while backward still runs.

    A diff is sent when backward has finished the first layer that uses its parameter: the layers that share it come later
    in the net. The order of the messages is that of the layers, on all ranks. Call `begin` before the backward pass after
    which the diffs are complete (with iter_size, the last one), and `finish` after it.

    Attributes
    ----------
    sums
        What sums them.
    bytes
        How many are sent in each iteration.
    waited
        The seconds that were spent in `finish`.
    """

    def __init__(self, ranks: Ranks, net: Net) -> None:
        self.ranks, self.net = ranks, net
        self.messages = plan(net)
        self.bytes = sum(m.count * m.blobs[0].dtype.itemsize for m in self.messages)
        self.waited = 0.0
        self.next = len(self.messages)
        self.sums, self.ended = sums(ranks, net.device), threading.Event()
        self.thread: threading.Thread | None = None
        self.state, self.all_states, self.request = np.zeros(3), np.zeros((ranks.size, 3)), None
        net.after_backward.append(self.send)

    def begin(self, loss: float, stop: bool, snapshot: bool) -> None:
        """Tells the other ranks this one's loss, and whether it was asked to stop or to write a snapshot."""
        self.state[:] = loss, stop, snapshot
        self.request = self.ranks.world.Iallgather(self.state, self.all_states)
        self.next = 0
        if self.ranks.mpi.Query_thread() == self.ranks.mpi.THREAD_MULTIPLE:
            self.ended.clear()
            self.thread = threading.Thread(target=self._progress_until_ended, name="boxpresso-ranks", daemon=True)
            self.thread.start()

    def send(self, layer: int) -> None:
        """Sends the diffs that are complete when backward has finished that layer, and keeps the others moving."""
        while self.next < len(self.messages) and self.messages[self.next].layer >= layer:
            self.sums.send(self.messages[self.next].blobs)
            self.next += 1
        self.sums.progress()

    def _progress_until_ended(self) -> None:
        """The work of the thread, as the kernels of a layer can take long. With 0.2 ms between its calls the backward pass of
        SSD300 took 20 % longer on two busy cores; with TICK it takes 8 % longer, about the work of the sums themselves."""
        while not self.ended.wait(TICK):
            self.sums.progress()

    def finish(self) -> tuple[float, bool, bool]:
        """Waits for the sums. Returns the mean loss, and whether any rank was asked to stop or to write a snapshot: bitwise
        identical on all ranks."""
        start = time.perf_counter()
        if self.thread:
            self.ended.set()
            self.thread.join()
        self.sums.finish()
        self.ranks.wait([self.request])
        self.waited += time.perf_counter() - start
        loss, stop, snapshot = self.all_states.sum(axis=0)
        return float(loss) / self.ranks.size, bool(stop), bool(snapshot)


def plan(net: Net) -> list[Message]:
    """The messages of a net's gradients, in the order in which the backward pass completes them."""
    users: dict[int, list[int]] = {}  # of each diff's memory: the layers that add to it
    for number, layer in enumerate(net.layers):
        for blob, learns in zip(layer.blobs, layer.param_propagate_down):
            if learns:
                users.setdefault(id(blob._diff), []).append(number)
    ready = [(min(users[id(blob._diff)]), blob) for blob, _, _ in net.learnable if id(blob._diff) in users]
    messages: list[Message] = []
    small: list[Blob] = []
    ready.sort(key=lambda pair: -pair[0])  # stable: within a layer in its own order
    for place, (number, blob) in enumerate(ready):
        if blob.count >= SMALL:
            messages.append(Message([blob], number))
            continue
        small.append(blob)
        last = not any(b.count < SMALL for _, b in ready[place + 1 :])
        if last or sum(b.count for b in small) >= SMALL:
            messages.append(Message(small, number))
            small = []
    return sorted(messages, key=lambda m: -m.layer)
