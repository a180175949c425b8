"""Decoders for several threads: each has nets of its own over the same weights."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ..net import Net
from .base import Decoder

Shapes = Mapping[str, tuple[int, ...]]


class DecoderPool:
    """Lends a decoder to one thread at a time, and makes another where all are lent.

    Parameters
    ----------
    decoder
        The first, which is lent whenever it is free; the others are made like it.
    most
        How many there may be; 1 on a GPU, which one thread uses at a time. A thread that finds none free waits.

    Attributes
    ----------
    decoders
        All that there are.
    """

    def __init__(self, decoder: Decoder, most: int) -> None:
        on_cpu = all(net.device.kind == "cpu" for net in decoder.nets)
        self.decoders = [decoder]
        self.most = max(1, most) if on_cpu else 1
        self.shapes = [
            {name: net.blobs[name].shape for name in net.inputs} for net in decoder.nets
        ]  # by which it was built
        self.free, self.making = [decoder], 0
        self.change = threading.Condition()

    @contextmanager
    def borrow(self) -> Iterator[Decoder]:
        """A decoder that no other thread has."""
        decoder = self.take()
        try:
            yield decoder
        finally:
            with self.change:
                self.free.append(decoder)
                self.free.sort(key=self.decoders.index, reverse=True)
                self.change.notify()

    def take(self) -> Decoder:
        """A free decoder, or a new one where there may be more; waits for one otherwise."""
        with self.change:
            while not self.free and len(self.decoders) + self.making >= self.most:
                self.change.wait()
            if self.free:
                return self.free.pop()
            self.making += 1
        try:
            made = like(self.decoders[0], self.shapes)
        except BaseException:
            with self.change:
                self.making -= 1
                self.change.notify()
            raise
        with self.change:
            self.making -= 1
            self.decoders.append(made)
        return made


def like(decoder: Decoder, shapes: Sequence[Shapes]) -> Decoder:
    """A decoder of the same kind, whose nets share the weights of the other's, and begin with inputs of these shapes."""
    return type(decoder).build([sharing(net, of_net) for net, of_net in zip(decoder.nets, shapes, strict=True)])


def sharing(net: Net, shapes: Shapes) -> Net:
    """A copy of a net that shares its weights and has blobs of its own; inputs are of these shapes, as a decoder that is
    built looks at shapes, and pictures have changed those of the first."""
    made = copy.deepcopy(net)
    made.share_with(net)
    for name, shape in shapes.items():
        made.blobs[name].reshape(*shape)
    made.reshape()
    return made
